"""The stations of one request, from its arrival to the last token its user sees.

The engine's clock begins where a prompt is already a list of tokens, and stamps a token where it is
sampled.  This puts the host around it:

    arrival     the text is there; TTFT counts from here (vLLM takes the time before it tokenizes)
    tokenize    text to tokens, on the CPU
    queue       until the first engine step with the request begins
    prefill     on the GPU; its last position's logits are those of token 1
    sample      token 1, out of these logits: no decode step has run
    detokenize  token to text, and on its way to the user; the GPU does not wait for it
    decode, sample, detokenize: again for each further token

Sampling is the last part of its engine step.  The host's times are assumptions, not measurements.
Sources: vLLM `docs/design/metrics.md`; course 20.3.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sim.engine import Step, StepWork
from sim.request import Request

CPU, QUEUE, GPU = "cpu", "queue", "gpu"


@dataclass(frozen=True)
class HostTimes:
    """What the host takes for one request, in seconds.  Assumed, not measured."""

    tokenize_seconds: float = 1e-3
    tokenize_seconds_per_token: float = 2e-6
    sample_seconds: float = 1e-3
    detokenize_seconds: float = 1e-3

    def tokenize(self, prompt_tokens: int) -> float:
        return self.tokenize_seconds + self.tokenize_seconds_per_token * prompt_tokens


@dataclass(frozen=True)
class Station:
    """A stretch of time in one place.

    `kind`: tokenize, queue, prefill, decode, sample or detokenize.  `token` is
    the output token it leads to, counted from 1; 0 for steps of somebody else.
    """

    place: str
    kind: str
    start_seconds: float
    end_seconds: float
    request_id: int
    token: int

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds


@dataclass(frozen=True)
class Journey:
    """One request on its user's clock.

    `others` are the engine steps without it while it is here; its first token takes all stations
    with `token` 1, one after the other.
    """

    request: Request
    stations: tuple[Station, ...]
    others: tuple[Station, ...]

    @property
    def seen_seconds(self) -> tuple[float, ...]:
        """When the user sees each token, [output_tokens]."""
        return tuple(one.end_seconds for one in self.stations if one.kind == "detokenize")

    @property
    def ttft(self) -> float:
        return self.seen_seconds[0] - self.request.arrival_seconds

    def seconds_of(self, kind: str, token: int = 1) -> float:
        """How long a token spends at the stations of one kind."""
        return sum(one.seconds for one in self.stations if (one.kind, one.token) == (kind, token))


def tokenized(request: Request, host: HostTimes) -> Request:
    """The request as it reaches the engine: later, by its tokenization."""
    ready = request.arrival_seconds + host.tokenize(request.prompt_tokens)
    return replace(request, arrival_seconds=ready)


def journey(request: Request, steps: Iterable[Step], host: HostTimes) -> Journey:
    """Follow one request through the engine's steps, in which it was `tokenized` before.

    Its steps must each be at least as long as sampling.
    """
    ready = tokenized(request, host).arrival_seconds
    stations = [Station(CPU, "tokenize", request.arrival_seconds, ready, request.id, 1)]
    others: list[Station] = []
    token, at = 1, ready
    for step in steps:
        if token > request.output_tokens:
            break
        own = next((work for work in step.work if work.request_id == request.id), None)
        if own is None:
            if step.end_seconds > request.arrival_seconds:
                others.append(_elsewhere(step, request.arrival_seconds))
            continue
        if step.start_seconds > at:
            stations.append(Station(QUEUE, "queue", at, step.start_seconds, request.id, token))
        stations += _own(step, own, token, host)
        at, token = step.end_seconds, token + own.sampled
    return Journey(request, tuple(stations), tuple(others))


def _own(step: Step, work: StepWork, token: int, host: HostTimes) -> list[Station]:
    kind, end = "prefill" if work.is_prefill else "decode", step.end_seconds
    if not work.sampled:
        return [Station(GPU, kind, step.start_seconds, end, work.request_id, token)]
    cuts = [
        (GPU, kind, step.start_seconds, end - host.sample_seconds),
        (GPU, "sample", end - host.sample_seconds, end),
        (CPU, "detokenize", end, end + host.detokenize_seconds),
    ]
    return [Station(*cut, work.request_id, token) for cut in cuts]


def _elsewhere(step: Step, since: float) -> Station:
    first = step.work[0]
    start = max(step.start_seconds, since)
    kind = "prefill" if first.is_prefill else "decode"
    return Station(GPU, kind, start, step.end_seconds, first.request_id, 0)
