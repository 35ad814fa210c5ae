"""Chapter 16.  The course on two sheets of paper.

For each chapter the question it answers, a number of its own, what to keep and the formula; then
metrics and flags by name, and the table of the clinic.  Made to be printed.
"""

from sim import clinic as sick
from sim import metrics, scheduler, specs, workload
from sim.cost import Eager, Roofline, SimpleClock, launches, phases
from sim.cost.formats import StoredModel
from sim.cost.launches import ONE_BY_ONE, REPLAY, LaunchWork
from sim.engine import Setup
from sim.kv import Contiguous, Paged, sizes
from sim.request import Request
from sim.studies.acceptance import expected_tokens, speedup
from sim.views import stations
from ui import lesson, tiny_model
from ui.lesson import tr
from ui.page import summary
from ui.results import runs
from ui.subjects.memory import blocks
from ui.subjects.pipeline import pictures
from ui.subjects.prefix import prompts
from ui.subjects.systems import ladder
from ui.words.numbers import count, memory, percent, plain, seconds, significant

OLD, NEW = specs.MODELS["Llama-2-7B"], specs.MODELS["Llama-3.1-8B"]
SMALL, LARGE = specs.GPUS["RTX 4090"], specs.GPUS["H100 SXM"]

chapter = lesson.open(__file__)


# -- a number of each chapter, in the state in which it opens -----------------------------------


def passes_of_an_answer() -> dict[str, object]:
    way = pictures.passage(tiny_model.SAMPLE, 8)
    return {"passes": count(len(way.turns)), "decodes": count(len(way.turns[1:]))}


def rows_that_turn() -> dict[str, object]:
    clock = Roofline(NEW, LARGE)
    return {
        "turn": phases.weights_crossover(clock),
        "ridge": significant(clock.ridge),
        "model": NEW.name,
        "gpu": LARGE.name,
    }


def first_token() -> dict[str, object]:
    host = stations.HostTimes()
    neighbour, ours = Request(0, 0.0, 200, 60), Request(1, 0.02, 1_000, 4)
    memory_of_kv, clock = Paged.beside(NEW, LARGE), Roofline(NEW, LARGE)
    requests = (neighbour, stations.tokenized(ours, host))
    setup = Setup(requests, scheduler.Chunked(64, 8_192), memory_of_kv, clock)
    journey = stations.journey(ours, runs.steps(setup), host)
    return {
        "ttft": seconds(journey.ttft),
        "prefill": seconds(journey.seconds_of("prefill")),
        "decode": seconds(journey.seconds_of("decode", token=2)),
    }


def served(max_num_seqs: int) -> metrics.Summary:
    """The requests that chapter 4 opens with, under a limit of the batch."""
    gpu = specs.GPUS["A100 80G SXM"]
    requests = workload.Workload(
        120,
        workload.PoissonArrivals(10),
        workload.LognormalLength(500, 2000),
        workload.LognormalLength(200, 800),
    ).requests()
    policy = scheduler.Chunked(max_num_seqs)
    return runs.summary(Setup(requests, policy, Paged.beside(NEW, gpu), Roofline(NEW, gpu)))


def two_limits() -> dict[str, object]:
    low, high = 8, 64
    before, after = served(low), served(high)
    return {
        "low": low,
        "high": high,
        "throughput_before": count(before.output_tokens_per_second),
        "throughput_after": count(after.output_tokens_per_second),
        "ttft_before": seconds(before.ttft.mean),
        "ttft_after": seconds(after.ttft.mean),
        "itl_before": seconds(before.itl.mean),
        "itl_after": seconds(after.itl.mean),
    }


def slots_in_use() -> dict[str, object]:
    requests = workload.of_lengths((10, 100, 30, 50, 20, 40, 60, 15, 25), 16)
    clock, plenty = SimpleClock(20_000, 1 / 64), Paged(num_blocks=65_536)
    static = Setup(requests, scheduler.Static(3), plenty, clock)
    continuous = Setup(requests, scheduler.Continuous(3), plenty, clock)
    return {
        "static": percent(runs.summary(static).slot_utilization),
        "continuous": percent(runs.summary(continuous).slot_utilization),
    }


def conversations() -> dict[str, object]:
    tokens = 4_096
    return {
        "fit": sizes.Division(OLD, SMALL).num_requests(tokens),
        "tokens": count(tokens),
        "model": OLD.name,
        "gpu": SMALL.name,
        "per_token": memory(OLD.kv_bytes_per_token),
    }


def room_for_d() -> dict[str, object]:
    per_gb, num_slots = 40, 136  # the scale model of chapter 7
    requests = (
        Request(0, 0, 8, 24),
        Request(22, 1, 20, 4),
        Request(1, 2, 1, 11),
        Request(21, 3, 17, 3),
        Request(2, 4, 16, 32),
        Request(3, 7, 12, 28),
    )
    clock, policy = SimpleClock(1e12, 1), scheduler.Chunked(16)
    pieces = Setup(requests, policy, Contiguous(num_slots, "exact"), clock)
    in_blocks = Paged.for_tokens(num_slots, 8, prefix_caching=False)
    before = blocks.when_it_comes(pieces, per_gb)
    after = blocks.when_it_comes(Setup(requests, policy, in_blocks, clock), per_gb)
    return {
        "free": before.free,
        "need": before.need,
        "wait": before.wait,
        "wait_in_blocks": after.wait,
    }


def asked_five_times() -> dict[str, object]:
    requests = prompts.requests("document", 2.0)
    clock, policy = Roofline(NEW, SMALL), scheduler.Chunked(8)
    nothing_kept = Paged.beside(NEW, SMALL, prefix_caching=False)
    off = runs.summary(Setup(requests, policy, nothing_kept, clock))
    on = runs.summary(Setup(requests, policy, Paged.beside(NEW, SMALL), clock))
    return {
        "off": seconds(off.ttft.mean),
        "on": seconds(on.ttft.mean),
        "itl": seconds(on.itl.mean),
    }


def one_document() -> dict[str, object]:
    model, longest_chat = specs.MODELS["Qwen3-14B"], 512
    requests = (*workload.of_lengths([48] * 3, 8), Request(3, 0.1, 8_192, 12))
    kv, clock = Paged.beside(model, LARGE), Roofline(model, LARGE)
    whole = scheduler.Chunked(512, 16_384, chunked_prefill=False)
    chunks = scheduler.Chunked(512, 512)
    before, document = runs.by_prompt(Setup(requests, whole, kv, clock), longest_chat)
    after, in_chunks = runs.by_prompt(Setup(requests, chunks, kv, clock), longest_chat)
    return {
        "gap_off": seconds(before.itl.max),
        "gap_on": seconds(after.itl.max),
        "ttft_off": seconds(document.ttft.mean),
        "ttft_on": seconds(in_chunks.ttft.mean),
    }


def a_round() -> dict[str, object]:
    a, k, c = 0.7, 4, 0.1
    return {
        "a": plain(a),
        "k": plain(k),
        "c": plain(c),
        "tokens": significant(expected_tokens(a, k)),
        "gain": significant(speedup(a, k, c)),
    }


def launches_of_a_step() -> dict[str, object]:
    model = specs.MODELS["Llama-3.2-1B"]
    work = LaunchWork.of(Eager(Roofline(model, LARGE)), phases.decode(1, 512))
    return {
        "eager": seconds(launches.step_seconds(work, ONE_BY_ONE)),
        "graph": seconds(launches.step_seconds(work, REPLAY)),
        "busy": percent(launches.busy_share(work, ONE_BY_ONE)),
        "model": model.name,
    }


def fewer_bytes() -> dict[str, object]:
    batch, context = 256, 128
    int4 = StoredModel(NEW, SMALL, "int4")
    return {
        "alone": significant(int4.decode_gain(1, context)),
        "batch": batch,
        "crowd": percent(int4.decode_gain(batch, context)),
        "prefill": percent(int4.prefill_gain(2_048)),
    }


def all_switched_on() -> dict[str, object]:
    rate = 8
    rungs = ladder.ladder(rate)
    return {
        "rate": plain(rate),
        "factor": significant(ladder.factor(rungs["chunks"], rungs["naive"])),
        "naive": significant(rungs["naive"].tokens_per_second),
        "best": significant(rungs["chunks"].tokens_per_second),
    }


def full_memory() -> dict[str, object]:
    rising, full = sick.around_full(runs.panel("kv_full", 0).over_time)
    return {"rising": count(rising), "full": count(full)}


NUMBERS = {
    "01_pipeline": passes_of_an_answer,
    "02_prefill_decode": rows_that_turn,
    "03_latency": first_token,
    "04_simulator": two_limits,
    "05_batching": slots_in_use,
    "06_kv_cache": conversations,
    "07_fragmentation": room_for_d,
    "08_prefix_cache": asked_five_times,
    "09_chunked_prefill": one_document,
    "10_spec_decode": a_round,
    "11_cuda_graph": launches_of_a_step,
    "12_quantization": fewer_bytes,
    "13_systems": all_switched_on,
    "14_clinic": full_memory,
}


@chapter.act("sheets", tr("两张纸", "Two sheets"))
def sheets() -> None:
    chapter.say("sheets")
    chapter.leads(
        {tr("每个概念一句话，术语随时查", "A sentence for each concept, every term"): "15_quiz"}
    )
    topics = {stem: chapter.words(stem, **numbers()) for stem, numbers in NUMBERS.items()}
    tables = [chapter.words("diagnosis"), chapter.words("metrics"), chapter.words("flags")]
    chapter.place(lambda: summary.show(topics, tables, chapter.large))
    chapter.leaves_out("sheets_leaves_out")


chapter.show()
