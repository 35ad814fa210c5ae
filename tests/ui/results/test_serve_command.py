"""The command says what the setup says, and nothing it does not."""

import json

import pytest

from sim import scheduler, specs, workload
from sim.cost import Eager, Roofline, SimpleClock
from sim.engine import Setup, Speculation
from sim.kv import Paged
from sim.studies.clinic import CASES, Change, changed
from ui.results import serve_command

ONE = workload.of_lengths([5], prompt_tokens=7)
EFFICIENCY = specs.Efficiency(0.5, 0.5, 0.001)


def command(
    policy=None,
    memory=None,
    tp=1,
    weights="bf16",
    kv="bf16",
    efficiency=None,
    share=0.9,
    requests=ONE,
    speculation=None,
    graphs=True,
):
    model = specs.MODELS["Llama-3.1-8B"].in_format(weights, kv)
    roofline = Roofline(model, specs.GPUS["H100 SXM"], efficiency, tensor_parallel=tp)
    clock = roofline if graphs else Eager(roofline)
    policy = policy or scheduler.Chunked(64, 2048)
    setup = Setup(requests, policy, memory or Paged(1000), clock, speculation=speculation)
    return serve_command.of(setup, share)


def flags(**more):
    return command(**more).text.replace(" \\\n ", "").split("vllm serve ")[1].split(" --")[1:]


def test_length_limit_budget_and_memory_are_always_said_all_else_only_where_it_differs():
    assert command().text.splitlines()[0] == "vllm serve meta-llama/Llama-3.1-8B-Instruct \\"
    assert flags() == [
        "max-model-len 12",
        "max-num-seqs 64",
        "max-num-batched-tokens 2048",
        "gpu-memory-utilization 0.9",
    ]


@pytest.mark.parametrize(
    ("more", "flag"),
    [
        ({"tp": 2}, "tensor-parallel-size 2"),
        ({"memory": Paged(1000, 32)}, "block-size 32"),
        ({"memory": Paged(1000, prefix_caching=False)}, "no-enable-prefix-caching"),
        ({"weights": "fp8"}, "quantization fp8"),
        ({"kv": "fp8"}, "kv-cache-dtype fp8"),
        ({"graphs": False}, "enforce-eager"),
    ],
)
def test_every_other_setting_has_its_flag(more, flag):
    assert [said for said in flags(**more) if said not in flags()] == [flag]


def test_the_model_is_as_long_as_the_longest_request_that_the_pool_holds():
    requests = workload.of_lengths([5, 300, 40], prompt_tokens=100)
    assert flags(requests=requests)[0] == "max-model-len 400"
    small = {"requests": requests, "memory": Paged(11, 16)}  # ten blocks are usable
    assert flags(**small)[0] == "max-model-len 160"
    assert "400" in command(**small).notes[0]
    assert "400" not in command(requests=requests).notes[0]


def test_without_chunks_the_budget_is_left_to_vllm():
    whole = flags(policy=scheduler.Chunked(64, 131_072, chunked_prefill=False))
    assert "no-enable-chunked-prefill" in whole
    assert not any(flag.startswith("max-num-batched-tokens") for flag in whole)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"weights": "int4"}, "int4"),
        ({"weights": "int8"}, "int8"),
        ({"efficiency": EFFICIENCY}, "效率"),
        ({"memory": Paged(1000, 64)}, "32"),
    ],
)
def test_what_no_flag_can_say_is_noted(more, words):
    new = set(command(**more).notes) - set(command().notes)
    assert any(words in note for note in new)


@pytest.mark.parametrize(
    ("code", "changes", "said"),
    [
        ("thin_steps", (Change("static", False),), "--enforce-eager"),
        ("few_graphs", (), "--max-cudagraph-capture-size 32"),
        ("few_slots", (), "--max-num-seqs 16"),
        ("long_prompts", (), "--max-num-batched-tokens 32768"),
        ("lora_slots", (), "--enable-lora --max-loras 4"),
        (
            "long_head",
            (Change("long_prefill_token_threshold", 256),),
            "--long-prefill-token-threshold 256",
        ),
    ],
)
def test_a_sick_server_is_started_with_what_makes_it_sick(code, changes, said):
    server = changed(CASES[code].build(0), changes)
    assert said in serve_command.of(server.setups()[0], server.gpu_memory_utilization).text


@pytest.mark.parametrize("code", ["slow_rank", "offloaded_kv"])
def test_no_flag_makes_a_gpu_or_a_copy_slow(code):
    notes = serve_command.of(CASES[code].build(0).setups()[0]).notes
    assert any("慢 GPU" in note for note in notes)


def test_a_server_of_two_speeds_and_a_textbook_policy_have_no_command():
    clock = SimpleClock(10_000, 0.02)
    for policy in (scheduler.Chunked(4), scheduler.Static(4)):
        none = serve_command.of(Setup(ONE, policy, Paged(100), clock))
        assert none.text == ""
        assert none.notes
    assert command(policy=scheduler.Static(4)).text == ""


def test_every_model_has_a_name_on_the_hub():
    assert set(serve_command.CHECKPOINTS) == set(specs.MODELS)


@pytest.mark.parametrize(
    ("cost", "draft"), [(0.1, {"model": "DRAFT_MODEL"}), (0, {"method": "ngram"})]
)
def test_a_draft_is_a_model_or_if_it_costs_nothing_a_lookup(cost, draft):
    said = command(speculation=Speculation(3, 0.7, cost))
    (flag,) = [line for line in said.text.splitlines() if "speculative" in line]
    name, value = flag.strip().split(" ", 1)
    assert name == "--speculative-config"
    assert json.loads(value.strip("'")) == draft | {"num_speculative_tokens": 3}
    assert ("DRAFT_MODEL" in said.notes[-1]) == (cost > 0)
    assert "--speculative-config" not in command().text
