"""One request, and how far it has come.

A `Request` is what somebody asks for and never changes.  A `Sequence` is that request inside the
server.  There is no "prefill phase" and no "decode phase": a step moves `num_computed_tokens`
toward `num_tokens`, and the two words only name how far there is to go (vLLM V1,
`vllm/v1/core/sched/scheduler.py`).
"""

from collections.abc import Hashable
from dataclasses import dataclass

from sim.errors import require


@dataclass(frozen=True)
class Segment:
    """A run of tokens known by name, so that sharing it needs no list of tokens."""

    id: str
    num_tokens: int

    def __post_init__(self) -> None:
        require(self.num_tokens >= 1, "segment_empty", segment=self.id, num_tokens=self.num_tokens)


@dataclass(frozen=True)
class Request:
    """What is asked: when, how long the prompt is, how long the answer will be.

    `prefix` names the segments the request begins with; requests that name the same segments begin
    with the same tokens.  It may reach into the answer, which the next turn of a chat repeats as
    part of its prompt.  All further tokens are this request's own.

    Raises:
        SimError: `prompt_tokens_below_one`, `output_tokens_below_one`, `arrival_negative`,
            `prefix_longer_than_request`.
    """

    id: int
    arrival_seconds: float
    prompt_tokens: int
    output_tokens: int
    prefix: tuple[Segment, ...] = ()

    def __post_init__(self) -> None:
        who = {"request_id": self.id}
        require(self.prompt_tokens >= 1, "prompt_tokens_below_one", **who, value=self.prompt_tokens)
        require(self.output_tokens >= 1, "output_tokens_below_one", **who, value=self.output_tokens)
        require(
            0 <= self.arrival_seconds < float("inf"),
            "arrival_negative",
            **who,
            value=self.arrival_seconds,
        )
        shared = self.named_tokens
        require(shared <= self.total_tokens, "prefix_longer_than_request", **who, value=shared)

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.output_tokens

    @property
    def named_tokens(self) -> int:
        """How many of its first tokens stand in segments that others may name, too."""
        return sum(segment.num_tokens for segment in self.prefix)

    def block_content(self, index: int, block_size: int) -> Hashable:
        """What stands in the index-th full block; equal for two requests only if the tokens are."""
        start, end = index * block_size, (index + 1) * block_size
        pieces = shared_content(self.prefix, start, end)
        named = self.named_tokens
        if end > named:
            pieces += ((self.id, max(start, named), end),)
        return pieces


def shared_content(
    prefix: tuple[Segment, ...], start: int, end: int
) -> tuple[tuple[object, int, int], ...]:
    """What the segments put between two positions of a prompt: (segment, first, last) each."""
    pieces, offset = [], 0
    for segment in prefix:
        first = max(start, offset) - offset
        last = min(end, offset + segment.num_tokens) - offset
        if first < last:
            pieces.append((segment.id, first, last))
        offset += segment.num_tokens
    return tuple(pieces)


class Sequence:
    """A request being served.

    Invariant between steps: `num_computed_tokens < num_tokens` until it is finished; the newest
    token is known but its K and V are not yet computed.  `num_draft_tokens` are proposals for what
    comes after it, to be computed along with it (speculation; else 0).
    """

    __slots__ = (
        "id",
        "max_tokens",
        "num_computed_tokens",
        "num_draft_tokens",
        "num_output_tokens",
        "num_preemptions",
        "num_tokens",
        "request",
    )

    def __init__(self, request: Request, max_model_len: int | None = None):
        self.request = request
        self.id = request.id
        self.num_computed_tokens = 0
        self.num_draft_tokens = 0
        self.num_output_tokens = 0
        self.num_tokens = request.prompt_tokens  # prompt + generated so far
        self.max_tokens = min(request.total_tokens, max_model_len or request.total_tokens)
        self.num_preemptions = 0

    @property
    def is_finished(self) -> bool:
        return self.num_tokens >= self.max_tokens and self.num_output_tokens > 0

    @property
    def num_missing_tokens(self) -> int:
        """Tokens whose K and V are still to be computed before the next one can be sampled."""
        return self.num_tokens - self.num_computed_tokens

    @property
    def is_decoding(self) -> bool:
        """True when exactly the newest generated token is missing."""
        return self.num_output_tokens > 0 and self.num_missing_tokens == 1

    def append_token(self) -> None:
        self.num_tokens += 1
        self.num_output_tokens += 1

    def preempt(self) -> int:
        """Drop everything computed (V1 recomputes, it never swaps); returns how much was lost."""
        lost, self.num_computed_tokens = self.num_computed_tokens, 0
        self.num_draft_tokens = 0
        self.num_preemptions += 1
        return lost
