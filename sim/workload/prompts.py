"""Who says what: prompts known token by token, as requests whose common beginnings are shared.

Generated traffic (`workload`) names what is shared and never looks inside.  Here the tokens are
given, and what two requests have in common follows from them: each is cut wherever it parts from
another one, and pieces that begin alike get the same name.
"""

from collections.abc import Hashable
from collections.abc import Sequence as Row
from dataclasses import dataclass
from itertools import pairwise

from sim.request import Request, Segment

Tokens = tuple[Hashable, ...]


@dataclass(frozen=True)
class Prompt:
    """What is asked and what will be answered, token by token."""

    tokens: Tokens
    answer: Tokens

    @property
    def spoken(self) -> Tokens:
        return self.tokens + self.answer


def as_requests(prompts: Row[Prompt], gap_seconds: float = 0.0) -> tuple[Request, ...]:
    """A request for each prompt, one every `gap_seconds`; equal beginnings are equal segments.

    What is generated counts as well: the next turn of a chat begins with the answer before it.
    """
    spoken = [prompt.spoken for prompt in prompts]
    return tuple(
        Request(
            index,
            index * gap_seconds,
            len(prompt.tokens),
            len(prompt.answer),
            _shared_segments(index, spoken),
        )
        for index, prompt in enumerate(prompts)
    )


def num_common(one: Row[Hashable], other: Row[Hashable]) -> int:
    """How many tokens two texts begin with alike."""
    for index, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return index
    return min(len(one), len(other))


def _shared_segments(index: int, spoken: Row[Tokens]) -> tuple[Segment, ...]:
    """The beginning that a text shares with others, cut where it parts from one of them.

    A piece is named after the first text that has it, so it has one name in all of them.
    """
    common = [num_common(spoken[index], other) for other in spoken]
    cuts = sorted({0, *(common[:index] + common[index + 1 :])})
    return tuple(
        Segment(f"{next(who for who, n in enumerate(common) if n >= end)}:{start}", end - start)
        for start, end in pairwise(cuts)
    )
