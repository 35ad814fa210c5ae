"""Random setups for properties: every policy, small pools so that somebody must give way."""

from hypothesis import strategies as st

from sim.cost import Clock, Eager, Roofline, SimpleClock
from sim.engine import Setup
from sim.request import Request, Segment
from sim.scheduler import (
    Chunked,
    Continuous,
    Dynamic,
    Estimating,
    Policy,
    Reserving,
    Static,
)
from sim.specs import GPUS, MODELS
from tests.sim.helpers import Opened

LONGEST = 60  # prompt + output; also the least budget of a server without chunks

CLOCKS: list[Clock] = [
    SimpleClock(prefill_tokens_per_second=1e12, decode_seconds_per_step=1.0),
    SimpleClock(prefill_tokens_per_second=40, decode_seconds_per_step=0.3),
    Roofline(MODELS["Llama-3.1-8B"], GPUS["RTX 4090"]),
    Roofline(MODELS["Mixtral-8x7B"].in_format("fp8"), GPUS["H100 SXM"], tensor_parallel=2),
    Eager(Roofline(MODELS["Llama-3.2-1B"], GPUS["H100 SXM"])),
    Eager(Roofline(MODELS["Llama-2-7B"], GPUS["RTX 4090"]), launch_seconds=40.2e-6),  # in between
]


@st.composite
def requests(draw: st.DrawFn, max_size: int = 12) -> tuple[Request, ...]:
    made, arrival = [], 0.0
    for number in range(draw(st.integers(1, max_size))):
        arrival += draw(st.sampled_from([0.0, 0.0, 0.05, 0.7, 1.0, 9.0]))
        prompt = draw(st.integers(1, LONGEST * 2 // 3))
        shared = min(prompt, draw(st.sampled_from([0, 8, 13, LONGEST])))
        prefix = (Segment(f"text-{number % 2}", shared),) if shared else ()
        made.append(Request(number, arrival, prompt, draw(st.integers(1, LONGEST // 3)), prefix))
    return tuple(made)


@st.composite
def chunked(draw: st.DrawFn) -> Chunked:
    whole = draw(st.booleans())
    return Chunked(
        max_num_seqs=draw(st.integers(1, 6)),
        max_num_batched_tokens=draw(st.integers(LONGEST if whole else 1, 2 * LONGEST)),
        chunked_prefill=not whole,
        long_prefill_token_threshold=draw(st.sampled_from([0, 0, 1, 7, 16])),
        reserve_full_length=draw(st.booleans()),
        max_model_len=draw(st.sampled_from([None, None, LONGEST * 2 // 3])),
    )


@st.composite
def reserving(draw: st.DrawFn) -> Reserving:
    return Reserving(
        max_num_seqs=draw(st.integers(1, 6)),
        max_num_batched_tokens=draw(st.integers(1, 2 * LONGEST)),
        max_model_len=draw(st.sampled_from([None, None, LONGEST * 2 // 3])),
        max_new_tokens=draw(st.sampled_from([0, 5, LONGEST])),
    )


@st.composite
def estimating(draw: st.DrawFn) -> Estimating:
    same = draw(reserving())
    return Estimating(
        same.max_num_seqs,
        same.max_num_batched_tokens,
        max_model_len=same.max_model_len,
        max_new_tokens=same.max_new_tokens,
        conservativeness=draw(st.sampled_from([0.0, 0.3, 1.0])),
    )


def policies() -> st.SearchStrategy[Policy]:
    seqs = st.integers(1, 6)
    return st.one_of(
        st.builds(Static, seqs),
        st.builds(Dynamic, seqs, window_seconds=st.sampled_from([0.0, 0.4, 5.0])),
        st.builds(Continuous, seqs, st.integers(1, 2 * LONGEST)),
        chunked(),
        reserving(),
        estimating(),
    )


@st.composite
def pools(draw: st.DrawFn) -> Opened:
    block_size = draw(st.sampled_from([1, 3, 4, 16]))
    tokens = draw(st.integers(LONGEST // 2, 3 * LONGEST))
    return Opened(1 + -(-tokens // block_size), block_size, draw(st.booleans()))


@st.composite
def setups(draw: st.DrawFn, policy: st.SearchStrategy[Policy] | None = None) -> Setup:
    return Setup(
        draw(requests()),
        draw(policies() if policy is None else policy),
        draw(pools()),
        draw(st.sampled_from(CLOCKS)),
    )
