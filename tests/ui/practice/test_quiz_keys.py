"""What the bank calls right is what `sim` computes, for every number and wherever else it can.

Keys that belong to a state of a page are held against it in tests/pages/test_claims_NN.py.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sim import metrics, specs, workload
from sim.cost import Eager, Roofline, SimpleClock, launches, parallel, phases
from sim.cost.formats import StoredModel
from sim.engine import Record, Setup, Users, simulate, steps
from sim.events import Preempted
from sim.kv import Paged, chain, sizes
from sim.kv.pool import Division
from sim.model import quantization, sampling, speculative
from sim.request import Request
from sim.scheduler import Chunked, Continuous, Static
from sim.studies import acceptance, caches
from sim.views.slots import slot_grid
from ui.practice import bank
from ui.practice.exhibits import observed
from ui.practice.judge import judge

TICK = 0.5
CLOCK = SimpleClock(prefill_tokens_per_second=1e12, decode_seconds_per_step=TICK)
ROOM = Paged(num_blocks=16_384)
LLAMA, H100 = specs.MODELS["Llama-3.1-8B"], specs.GPUS["H100 SXM"]
ITEMS = bank.all_items()


def served(outputs, prompts, policy, memory=ROOM, clock=CLOCK):
    return Setup(workload.of_lengths(outputs, prompts), policy, memory, clock)


def beside_decodes(num_decoding, prompt_tokens, budget):
    """Tokens of a prompt that each step computes, while others decode: [num_steps]."""
    decoding = [Request(number, 0.0, 1, 200) for number in range(num_decoding)]
    prompt = Request(num_decoding, 0.5 * TICK, prompt_tokens, 2)
    policy = Chunked(512, max_num_batched_tokens=budget)
    setup = Setup((*decoding, prompt), policy, ROOM, CLOCK)
    shares = [share for step in steps(setup) for share in step.work if share.is_prefill]
    return [share.num_tokens for share in shares if share.request_id == prompt.id]


# -- numbers: each is computed -----------------------------------------------------------------


def ridge():
    gpu = replace(H100, peak_flops=600e12, bandwidth=3e12)
    clock = Roofline(LLAMA, gpu, specs.Efficiency(bandwidth=1, flops=1))
    return phases.weights_crossover(clock) - 1  # the last batch that is not yet compute-bound


def tpot():
    token_seconds = np.linspace(0.4, 1.6, 41)
    record = Record(Request(0, 0.0, 16, 41), 0.0, token_seconds, (), 0, False)
    return 1000 * metrics.tpot(record)


def utilization():
    grid = slot_grid(served((20, 60, 120), 1, Static(3)), TICK)
    return 100 * float(grid.utilization[-1])


def computed_again():
    blocks = chain.chain(range(64), 16)
    return chain.Lookup(asked=blocks, cached=blocks).computed_tokens


def grown_by():
    proposed, vocab = (0, 1, 2, 3, 4), 6
    q = np.full((5, vocab), 1 / vocab)
    p = np.full((6, vocab), 1 / vocab)
    p[2] = np.eye(vocab)[5]  # the target would never say the third proposal
    num_accepted, token = speculative.verify(proposed, q, p, np.random.default_rng(0))
    return len(speculative.Round(proposed, q, p, num_accepted, token).tokens)


def small_beside_large():
    row = np.array([[1.4, 0.09]], dtype=np.float32)
    grid, channel = quantization.GRIDS["int4"], quantization.Granularity("channel")
    return float(quantization.rounded(row, grid, channel).after[0, 1])


def two_over_one():
    one, two = (
        parallel.Spread(LLAMA, H100, number, "tensor").tokens_per_second(32, 1_024)
        for number in (1, 2)
    )
    return two / one


def in_the_server():
    """Of a run that is steady: how many are there on average, each for about two seconds."""
    lengths = workload.FixedLength(16), workload.FixedLength(20)
    load = workload.Workload(600, workload.ConstantArrivals(12.0), *lengths)
    clock = SimpleClock(prefill_tokens_per_second=1e12, decode_seconds_per_step=0.1)
    run = simulate(Setup(load.requests(), Chunked(256), ROOM, clock))
    summary = metrics.summarize(run)
    assert summary.e2e.mean == pytest.approx(2.0, abs=0.1)
    return summary.e2e.mean * summary.num_served / summary.duration_seconds


def conversations():
    return 40 * 2**30 // sizes.request_bytes(LLAMA, 2_048)


def tokens_as_heavy_as_weights():
    return LLAMA.memory_bytes / LLAMA.kv_bytes_per_token / 10_000


def found_in_blocks():
    prompts = caches.beginning_alike(100, 50, 3)
    by_blocks, by_tree = (
        caches.found_in_blocks(prompts, 4_096, 16),
        caches.found_in_tree(prompts, 4_096),
    )
    assert by_tree[1] == 100
    return by_blocks[1]


def tokens_of_a_round():
    tally = observed.speculating().rounds
    return tally.num_tokens / tally.num_rounds


def bits_with_scales():
    row = np.linspace(-1, 1, 512, dtype=np.float32)[None]
    group = quantization.Granularity("group", 128)
    return quantization.rounded(row, quantization.GRIDS["int4"], group).bits_per_weight


def gpus_for_70b():
    large = specs.MODELS["Llama-3.1-70B"]
    assert large.kv_bytes_per_token == 320 * 1024
    pools = {
        number: Division(large, H100, tensor_parallel=number)
        for number in (1, 2, 4, 8)
    }  # fmt: skip
    return next(n for n, one in pools.items() if one.fits and one.pool_tokens >= 30 * 2_000)


NUMBERS = {
    "01/passes_for_an_answer": lambda: len(list(steps(served((10,), 40, Chunked(1))))),
    "01/passes_for_four": lambda: len(list(steps(served((10,) * 4, 16, Chunked(4))))),
    "02/ridge_by_hand": ridge,
    "03/tpot_by_hand": tpot,
    "04/output_tokens_per_second": lambda: (
        metrics.summarize(
            simulate(served((100,) * 100, 1_000, Chunked(128, max_num_batched_tokens=200_000)))
        ).output_tokens_per_second
    ),
    "04/in_the_server": in_the_server,
    "05/seed_utilization": utilization,
    "06/how_many_fit": conversations,
    "06/kv_outweighs": tokens_as_heavy_as_weights,
    "08/blocks_against_tree": found_in_blocks,
    "10/tokens_of_a_round": tokens_of_a_round,
    "12/bits_with_scales": bits_with_scales,
    "13/how_many_gpus": gpus_for_70b,
    "06/sum_of_tokens": lambda: (
        sizes.batch_bytes(specs.MODELS["Llama-2-7B"], (200, 400, 1_000, 2_400)) / 2**20
    ),
    "07/waste_of_one": lambda: 16 * ROOM.open().num_blocks_for(100) - 100,
    "08/last_block": computed_again,
    "09/left_for_prefill": lambda: beside_decodes(256, 4_096, 512)[0],
    "09/how_many_steps": lambda: len(beside_decodes(3, 8_192, 512)),
    "10/how_many": grown_by,
    "11/launching": lambda: (
        1000 * Eager.of_microseconds(Roofline(LLAMA, H100), 12, 20).launching_seconds
    ),
    "11/padding": lambda: launches.padded(41, launches.captured_sizes(64)),
    "12/outlier_scale": small_beside_large,
    "13/tensor_two": two_over_one,
}


def test_every_number_that_is_asked_for_is_computed_here():
    assert set(NUMBERS) == {key for key, item in ITEMS.items() if item.kind == "numeric"}


@pytest.mark.parametrize("key", NUMBERS)
def test_the_number_is_what_sim_computes(key):
    assert judge(ITEMS[key], float(NUMBERS[key]())).right


@pytest.mark.parametrize("key", NUMBERS)
def test_no_lure_passes_for_the_right_number(key):
    for lure in ITEMS[key].lures:
        assert not judge(ITEMS[key], lure.value).right


# -- choices: the option that `sim` picks --------------------------------------------------------


def compared(before, after, tolerance=0.02):
    """ "more", "same" or "less"."""
    if abs(after - before) <= tolerance * abs(before):
        return "same"
    return "more" if after > before else "less"


def rows_of_a_decode():
    (share,) = list(steps(served((10,), 300, Chunked(1))))[-1].work
    return share.num_tokens


def possible_tokens():
    logits = np.linspace(0, 6, 50)
    cool, hot = (
        int((sampling.probabilities(logits, sampling.Sampling(heat, top_p=0.7)) > 0).sum())
        for heat in (0.5, 1.5)
    )
    return compared(cool, hot)


def ttft(output_tokens, users=None):
    prompt, output = (workload.LognormalLength(mean, 3 * mean) for mean in (512, output_tokens))
    load = workload.Workload(300, workload.PoissonArrivals(6.0), prompt, output)
    setup = Setup(load.requests(), Chunked(32), ROOM, Roofline(LLAMA, H100), users=users)
    return metrics.summarize(simulate(setup)).ttft


def ttft_in_an_open_loop():
    return compared(ttft(128).mean, ttft(1_024).mean)


def ttft_in_a_closed_loop():
    return compared(ttft(50, Users(32)).p50, ttft(1_200, Users(32)).p50)


def the_victim():
    setup = served((40,) * 3, 16, Chunked(3), Paged(num_blocks=7))
    events = [event for step in steps(setup) for event in step.events]
    return next(event.request_id for event in events if isinstance(event, Preempted))


def replaced_by():
    found = speculative.residual(np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6]))
    return tuple((found / found[found > 0].min()).round().astype(int).tolist())


def speculating_in_a_crowd():
    plain = Roofline(LLAMA, H100)
    gain = acceptance.UnderLoad(plain, 512, 4, 0.1).speedup(0.7, 256)
    return compared(1.0, gain)


def served_apart():
    parted = parallel.Parted(Roofline(LLAMA, H100), 256, 256, 32)
    return compared(parted.together_per_second, parted.apart_per_second)


def prefill_in_w4():
    plain, int4 = (StoredModel(LLAMA, H100, weights) for weights in ("bf16", "int4"))
    return compared(plain.prefill_seconds(4_096), int4.prefill_seconds(4_096))


def tokens_of_one_user():
    ways = {way: parallel.Spread(LLAMA, H100, 2, way) for way in parallel.WAYS}
    return min(ways, key=lambda way: ways[way].itl_seconds(1, 1_024))


def yield_of_larger_k():
    four, eight = (acceptance.expected_tokens(0.5, k) for k in (4, 8))
    return compared(four, eight, tolerance=0.05)


def steps_of_a_long_prompt():
    return len(beside_decodes(0, 20_000, 2_048))


def gain_where_all_are_alike():
    alike = workload.of_lengths([100] * 40, 1)
    static, continuous = (
        float(slot_grid(Setup(alike, policy(4), ROOM, CLOCK), TICK).utilization[-1])
        for policy in (Static, Continuous)
    )
    return compared(static, continuous)


def beside_a_large_weight():
    row, channel = np.array([[1.0, 0.001]], np.float32), quantization.Granularity("channel")
    return tuple(
        bool(abs(quantization.rounded(row, quantization.GRIDS[name], channel).after[0, 1]) > 0)
        for name in ("int8", "fp8")
    )


def formats_that_serve():
    large = specs.MODELS["Llama-3.1-70B"]
    names = ("bf16", "int8", "int4")
    return tuple(name for name in names if StoredModel(large, H100, name).pool_tokens)


def seen_of_all_proposals():
    a, k = 0.7, 4
    seen = (acceptance.expected_tokens(a, k) - 1) / k
    return round(100 * seen)


def longest_gap_at_a_larger_budget():
    small, large = (
        metrics.summarize(simulate(observed.with_documents(budget))).itl
        for budget in (2_048, 8_192)
    )
    assert compared(small.p50, large.p50) == "same"
    return large.max > 3 * small.max


# item -> (what `sim` says, what it would say -> place of that option in the file)
CHOICES: dict[str, tuple[Callable[[], Any], dict[Any, int]]] = {
    "01/rows_of_a_decode": (rows_of_a_decode, {1: 0, 301: 1, 300: 2, 0: 3}),
    "01/hotter_at_the_same_top_p": (possible_tokens, {"more": 0, "same": 1, "less": 2}),
    "04/longer_outputs": (ttft_in_an_open_loop, {"more": 0, "same": 1, "less": 2}),
    "04/closed_loop": (ttft_in_a_closed_loop, {"less": 0, "more": 1}),
    "05/all_alike": (gain_where_all_are_alike, {"same": 0, "more": 2}),
    "07/who_is_the_victim": (the_victim, {2: 0, 0: 1}),
    "09/longer_than_the_budget": (steps_of_a_long_prompt, {10: 0, 1: 2}),
    "09/median_says_nothing": (longest_gap_at_a_larger_budget, {True: 0, False: 1}),
    "10/busy_server": (speculating_in_a_crowd, {"less": 0, "more": 1, "same": 3}),
    "10/after_rejection": (replaced_by, {(3, 1, 0): 0, (5, 3, 2): 1, (5, 3, 0): 2}),
    "10/larger_k": (yield_of_larger_k, {"same": 0, "more": 1, "less": 3}),
    "10/two_acceptances": (seen_of_all_proposals, {44: 0, 70: 1}),
    "12/small_beside_large": (
        beside_a_large_weight,
        {(False, True): 0, (True, True): 1, (False, False): 2, (True, False): 3},
    ),
    "12/room_for_70b": (formats_that_serve, {("int4",): 0, ("int8", "int4"): 1, (): 3}),
    "12/prefill_w4": (prefill_in_w4, {"more": 0, "less": 1}),
    "13/apart": (served_apart, {"less": 0, "more": 1, "same": 3}),
    "13/pipeline_latency": (tokens_of_one_user, {"tensor": 0, "pipeline": 1, "replicas": 2}),
}


@pytest.mark.parametrize("key", CHOICES)
def test_the_option_that_sim_picks_is_the_right_one(key):
    says, places = CHOICES[key]
    assert judge(ITEMS[key], places[says()]).right
