"""The runs that questions show: one server, one traffic, one thing that is wrong or was changed.

Every number of a panel comes from here, so a question can be held against the run it speaks of.
"""

from dataclasses import replace
from functools import cache

from sim import engine, specs, workload
from sim.cost import Roofline, SimpleClock
from sim.engine import Setup, Speculation
from sim.engine.server import Server, policy_named
from sim.kv import Paged
from sim.request import Request, Segment
from sim.studies import pressure, replicas
from ui.results import runs

LLAMA = specs.MODELS["Llama-3.1-8B"]
H100, H200, RTX4090 = (specs.GPUS[name] for name in ("H100 SXM", "H200 SXM", "RTX 4090"))
ALL_AT_ONCE = 1e6  # requests per second
TICK = 0.5  # seconds of a step where only the order counts
TICKING = SimpleClock(prefill_tokens_per_second=1e12, decode_seconds_per_step=TICK)


def server(
    max_num_seqs: int = 256,
    budget: int | None = 2_048,
    gpu: specs.Gpu = H100,
    kv_tokens: int = 400_000,
    policy: str = "chunked",
) -> Server:
    """An 8B model on one GPU; a budget of None leaves prompts whole."""
    scheduling = policy_named(policy, max_num_seqs, budget)
    return Server(scheduling, Paged.for_tokens(kv_tokens), Roofline(LLAMA, gpu))


def traffic(
    rate: float, prompt: int, output: int, number: int = 400, seed: int = 0, spread: float = 3.0
) -> tuple[Request, ...]:
    """Independent users; one length in a hundred is `spread` times the mean."""
    lengths = [workload.LognormalLength.with_spread(mean, spread) for mean in (prompt, output)]
    arrivals = workload.PoissonArrivals(rate)
    return workload.Workload(number, arrivals, lengths[0], lengths[1], seed=seed).requests()


# -- servers that have one thing wrong, or one thing changed ------------------------------------


@cache
def limited(max_num_seqs: int, seed: int = 0) -> Setup:
    """More users than the batch limit lets in, while KV has room."""
    return server(max_num_seqs, kv_tokens=60_000).serving(traffic(12, 500, 300, seed=seed))


@cache
def out_of_memory(rate: float = 12.0, max_num_seqs: int = 256, seed: int = 0) -> Setup:
    """The batch limit is high, and the pool is small for what the answers grow to."""
    return server(max_num_seqs, kv_tokens=24_000).serving(traffic(rate, 400, 500, seed=seed))


@cache
def overnight() -> Setup:
    """Everything is there at the start, and nobody waits for the first word."""
    prompts = traffic(ALL_AT_ONCE, 400, 300, number=600, spread=1.5)
    return server(256, kv_tokens=140_000).serving(prompts)


@cache
def at_rate(rate: float, seed: int = 0) -> Setup:
    return server(64).serving(traffic(rate, 500, 300, seed=seed))


@cache
def with_documents(budget: int | None, seed: int = 0) -> Setup:
    """Chats, and now and then a document of 16,000 tokens."""
    chats = traffic(6, 200, 150, number=300, seed=seed)
    long = [
        replace(chat, prompt_tokens=16_000 if number % 25 == 12 else chat.prompt_tokens)
        for number, chat in enumerate(chats)
    ]
    return server(256, budget).serving(tuple(long))


@cache
def asked_twice() -> Setup:
    """A benchmark of 80 prompts that have nothing in common, run once and then once more."""
    texts = [
        Request(number, number / 8, 1_600, 60, (Segment(f"prompt-{number}", 1_600),))
        for number in range(80)
    ]
    start = texts[-1].arrival_seconds + 10
    second = [
        replace(text, id=len(texts) + text.id, arrival_seconds=start + text.arrival_seconds)
        for text in texts
    ]
    return server(64).serving((*texts, *second))


@cache
def replicas_of(rule: str, seed: int = 0) -> tuple[Setup, ...]:
    """Four replicas behind a router, with one prefix that most requests share."""
    requests = replicas.traffic(4, 0.7, seed)
    whole = server(24, kv_tokens=60_000).serving(requests)
    return replicas.parts(whole, replicas.route(requests, 4, rule), 4)


def fleet(rule: str, seed: int = 0) -> replicas.Fleet:
    parts = replicas_of(rule, seed)
    return replicas.together(parts, [runs.summary(part) for part in parts], 4)


@cache
def admitting(answer: str, seed: int = 0) -> Setup:
    """The same crowd under another rule for full memory; every client allows 1,024 tokens."""
    compared = pressure.Comparison(Roofline(LLAMA, H100), 11_000, max_new_tokens=1_024)
    return compared.setup(answer, traffic(10, 400, 250, number=100, seed=seed))


@cache
def speculating(acceptance: float = 0.7, proposed: int = 4) -> engine.Run:
    one = replace(server(8), speculation=Speculation(proposed, acceptance, 0.1))
    return runs.run(one.serving(workload.of_lengths([600] * 8, 100)))


# -- servers to be followed step by step -------------------------------------------------------


@cache
def joined_under_way() -> Setup:
    """One request decodes; another comes during its fourth pass."""
    one = server(8)
    requests = (Request(0, 0.0, 12, 9), Request(1, 3.5 * TICK, 20, 5))
    return replace(one, clock=TICKING).serving(requests)


@cache
def in_slots(policy: str) -> Setup:
    """Eight requests of unequal length on three slots."""
    one = server(3, policy=policy)
    requests = workload.of_lengths((4, 16, 7, 12, 5, 9, 3, 8), 1)
    return replace(one, clock=TICKING).serving(requests)


@cache
def disturbed() -> Setup:
    """A lone answer, and a document that comes on the way; prompts are computed whole."""
    return server(8, None).serving((Request(0, 0.0, 200, 12), Request(1, 0.05, 12_000, 2)))
