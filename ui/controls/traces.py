"""An uploaded trace is hostile until read: a bad one gets a message, the last good one stays."""

from itertools import accumulate

import streamlit as st

from sim.errors import SimError
from sim.request import Request
from sim.workload import traces
from sim.workload.traces import Trace
from ui import tiny_model
from ui.course import state
from ui.words import encodings, problems
from ui.words.language import tr
from ui.words.numbers import count

LIMIT = 20_000  # requests of a run; the rest of the file is only checked
MAX_BLOCKS = 60_000  # that are followed through a cache
MAX_OUTPUT_TOKENS = 5_000_000  # nor more than this, since each may be a step of its own
MAX_PROMPT_TOKENS = 50_000_000  # nor more than this, since they come in pieces


def read(uploaded: bytes | None) -> tuple[Trace | None, str]:
    """This reader's last good trace, and what is wrong with the newest file ("" if nothing)."""
    problem = ""
    if uploaded is not None:
        try:
            state.keep("trace", _parse(uploaded))
        except SimError as error:
            problem = problems.error(error)
    return state.kept("trace", None), problem


def in_blocks(trace: Trace) -> tuple[Request, ...]:
    """The earliest requests whose blocks can be followed through caches while a reader waits."""
    size = trace.block_tokens or 1
    blocks = accumulate(request.prompt_tokens // size for request in trace.requests)
    return trace.requests[: max(1, sum(number <= MAX_BLOCKS for number in blocks))]


def cut(trace: Trace | None) -> str:
    """What is said when a file holds more than is run; "" if it does not."""
    if trace is None or len(trace.requests) == trace.num_rows - trace.num_skipped:
        return ""
    used, given = count(len(trace.requests)), count(trace.num_rows - trace.num_skipped)
    most, prompt, output = map(count, (LIMIT, MAX_PROMPT_TOKENS, MAX_OUTPUT_TOKENS))
    return tr(
        f"文件里有 {given} 个请求，这里只跑最早的 {used} 个：一次最多模拟 {most} 个请求、"
        f"{prompt} 个提示词 token、{output} 个输出 token。",
        f"The file holds {given} requests; the earliest {used} are run. At most {most} requests, "
        f"{prompt} prompt tokens and {output} output tokens are simulated at once.",
    )


@st.cache_resource(max_entries=4, show_spinner=False)  # a trace is frozen: all may share it
def _parse(uploaded: bytes) -> Trace:
    try:
        text = encodings.decoded(uploaded)
    except UnicodeDecodeError as error:
        raise SimError("trace_not_text") from error
    return _affordable(traces.read(text, _num_tokens).first(LIMIT))


def _num_tokens(text: str) -> int:
    """As the tiny model's tokenizer cuts it."""
    return len(tiny_model.encoder().encode(text))


def _affordable(trace: Trace) -> Trace:
    """The earliest requests that can be replayed while a reader waits; at least one."""
    prompt = accumulate(request.prompt_tokens for request in trace.requests)
    output = accumulate(request.output_tokens for request in trace.requests)
    num_kept = sum(
        prompt_tokens <= MAX_PROMPT_TOKENS and output_tokens <= MAX_OUTPUT_TOKENS
        for prompt_tokens, output_tokens in zip(prompt, output, strict=True)
    )
    return trace.first(max(1, num_kept))
