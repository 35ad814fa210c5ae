"""What a client measures: tokens come in messages, and each tool has its own arithmetic.

A server may put several tokens into one message (`--stream-interval k`): the first token goes out
at once, then one message for every k tokens, and what is left with the last.  The engine writes no
slower, yet the gaps between messages grow.

With E2E = t_N - a and TTFT = t_1 - a, on whatever clock the client has, tools report

    after the first token    (E2E - TTFT) / (N - 1)
    over all tokens           E2E / N
    between messages          every gap, one by one; here their mean

under the names ITL and TPOT, crosswise (`DEFINITIONS`).  NaN where there is nothing to divide by.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sim.engine import Record
from sim.errors import require


@dataclass(frozen=True)
class Stream:
    """One answer as it reaches its client.  Both arrays are [num_messages]."""

    sent_seconds: float  # when the client sent the request
    message_seconds: np.ndarray
    message_tokens: np.ndarray  # int, at least 1 each

    @property
    def num_tokens(self) -> int:
        return int(np.sum(self.message_tokens))

    @property
    def ttft(self) -> float:
        return float(self.message_seconds[0]) - self.sent_seconds

    @property
    def e2e(self) -> float:
        return float(self.message_seconds[-1]) - self.sent_seconds


def stream(record: Record, interval: int = 1) -> Stream:
    """A served request whose tokens are sent `interval` at a time.

    Raises:
        SimError: `interval_below_one`.

    Source: vLLM `vllm/v1/engine/output_processor.py`.
    """
    require(interval >= 1, "interval_below_one", value=interval)
    last = len(record.token_seconds) - 1
    sent = np.unique([*range(0, last, interval), last])  # index of each message's newest token
    tokens = np.diff(sent, prepend=-1)
    return Stream(record.request.arrival_seconds, record.token_seconds[sent], tokens)


# -- what the tools make of it ----------------------------------------------------------------


def gaps(answer: Stream) -> np.ndarray:
    """Between one message and the next, [num_messages - 1]."""
    return np.diff(answer.message_seconds)


def mean_gap(answer: Stream) -> float:
    between = gaps(answer)
    return float(np.mean(between)) if len(between) else float("nan")


def after_first(answer: Stream) -> float:
    num_gaps = answer.num_tokens - 1
    return (answer.e2e - answer.ttft) / num_gaps if num_gaps else float("nan")


def over_all(answer: Stream) -> float:
    return answer.e2e / answer.num_tokens


@dataclass(frozen=True)
class Definition:
    """What a tool reports under a name."""

    tool: str
    metric: str
    of: Callable[[Stream], float]
    source: str


_VLLM = "vLLM vllm/benchmarks/serve.py"
_AIPERF = "AIPerf docs/metrics_reference.md"
_GUIDELLM = "GuideLLM docs/guides/metrics.md"
_LLMPERF = "LLMPerf token_benchmark_ray.py"

DEFINITIONS = (
    Definition("vLLM bench", "TPOT", after_first, _VLLM),
    Definition("vLLM bench", "ITL", mean_gap, _VLLM),
    Definition("AIPerf", "ITL", after_first, _AIPERF),
    Definition("AIPerf", "ICL", mean_gap, _AIPERF),
    Definition("GuideLLM", "ITL", after_first, _GUIDELLM),
    Definition("GuideLLM", "TPOT", over_all, _GUIDELLM),
    Definition("LLMPerf", "ITL", over_all, _LLMPERF),
)


def reported(answer: Stream) -> tuple[tuple[Definition, float], ...]:
    """The same answer, by every definition."""
    return tuple((one, one.of(answer)) for one in DEFINITIONS)
