"""What speculation is worth: how many tokens a round yields, and what the round costs.

If each proposal is accepted with probability a, whatever happened before (i.i.d.), a round of k
proposals yields

    expected tokens = 1 + a + ... + a^k = (1 - a^(k + 1)) / (1 - a)

since its first proposal is accepted with a, its first two with a^2, and one token more always
comes: the correction, or the bonus.  With a draft whose step costs c of a target's step, and a
verification that costs as much as a plain step,

    speed-up = expected tokens / (1 + k c)

Verifying k + 1 tokens for each request costs as much as a plain step only while reading weights
and KV sets the pace; `UnderLoad` asks the roofline instead.

Source: Leviathan et al. 2023, equation 1, theorem 3.8 and table 2.
"""

from collections.abc import Sequence as Row
from dataclasses import dataclass

import numpy as np

from sim.cost import Clock
from sim.engine import Tally
from sim.errors import require
from sim.model.generation import Decoder
from sim.model.sampling import Sampling, probabilities
from sim.model.speculative import Round
from sim.model.transformer import Array, Weights
from sim.scheduler import Load


def expected_tokens(acceptance: float, num_proposed: int) -> float:
    """What a round yields on average; between 1 and `num_proposed` + 1.

    Raises:
        SimError: `acceptance_out_of_range`.
    """
    require(0 <= acceptance <= 1, "acceptance_out_of_range", value=acceptance)
    return float(sum(acceptance**place for place in range(num_proposed + 1)))


def accepted_share(acceptance: float, num_proposed: int) -> float:
    """Accepted of all that was proposed, as engines count: below `acceptance` for more than one
    proposal a round, since nobody looks beyond the first rejection."""
    return (expected_tokens(acceptance, num_proposed) - 1) / num_proposed


@dataclass(frozen=True)
class InRuns:
    """A text of equally long stretches, each with an acceptance of its own."""

    stretches: tuple[float, ...]
    num_proposed: int

    @property
    def tokens_per_round(self) -> float:
        """Over the whole text: where little is accepted, it takes more rounds."""
        rounds = [1 / expected_tokens(a, self.num_proposed) for a in self.stretches]
        return len(rounds) / sum(rounds)

    @property
    def tokens_if_alike(self) -> float:
        """What the formula makes of their mean."""
        mean = sum(self.stretches) / len(self.stretches)
        return expected_tokens(mean, self.num_proposed)


def simulated_tokens(acceptance: float, num_proposed: int, num_rounds: int, seed: int = 0) -> float:
    """The same by lot: the mean over so many rounds."""
    draws = np.random.default_rng(seed).random((num_rounds, num_proposed))
    accepted = np.cumprod(draws < acceptance, axis=1).sum(axis=1)  # [num_rounds]
    return float(accepted.mean() + 1)


def round_steps(num_proposed: int, draft_cost: float) -> float:
    """What a round costs, in steps of the target, while verification costs no more than one."""
    return 1 + num_proposed * draft_cost


def speedup(acceptance: float, num_proposed: int, draft_cost: float) -> float:
    """Against plain decoding, while verification costs no more than a plain step."""
    return expected_tokens(acceptance, num_proposed) / round_steps(num_proposed, draft_cost)


def best_num_proposed(acceptance: float, draft_cost: float, most: int) -> int:
    """The k from 0 (do not speculate) to `most` with the largest speed-up; of equals the least."""
    return max(range(most + 1), key=lambda k: (speedup(acceptance, k, draft_cost), -k))


# -- what has been measured -----------------------------------------------------------------


@dataclass(frozen=True)
class Published:
    """A row of table 2 of Leviathan et al.: T5-XXL with a smaller T5 as its draft."""

    task: str
    temperature: int
    draft: str
    num_proposed: int
    acceptance: float
    speedup: float  # measured

    @property
    def bound(self) -> float:
        """The speed-up that i.i.d. acceptance would allow with a draft that costs nothing."""
        return expected_tokens(self.acceptance, self.num_proposed)


PUBLISHED = (
    Published("EnDe", 0, "T5-small", 7, 0.75, 3.4),
    Published("EnDe", 0, "T5-base", 7, 0.80, 2.8),
    Published("EnDe", 0, "T5-large", 7, 0.82, 1.7),
    Published("EnDe", 1, "T5-small", 7, 0.62, 2.6),
    Published("EnDe", 1, "T5-base", 5, 0.68, 2.4),
    Published("EnDe", 1, "T5-large", 3, 0.71, 1.4),
    Published("CNNDM", 0, "T5-small", 5, 0.65, 3.1),
    Published("CNNDM", 0, "T5-base", 5, 0.73, 3.0),
    Published("CNNDM", 0, "T5-large", 3, 0.74, 2.2),
    Published("CNNDM", 1, "T5-small", 5, 0.53, 2.3),
    Published("CNNDM", 1, "T5-base", 3, 0.55, 2.2),
    Published("CNNDM", 1, "T5-large", 3, 0.56, 1.7),
)


def tally_of(rounds: Row[Round]) -> Tally:
    """Rounds of real models, added up as a server counts its own."""
    return Tally(
        len(rounds),
        sum(len(one.proposed) for one in rounds),
        sum(one.num_accepted for one in rounds),
    )


def along(target: Weights, draft: Weights, tokens: Row[int], sampling: Sampling) -> Array:
    """How probably the draft's proposal would be accepted at each place of a text, [num_tokens]."""
    p, q = (
        probabilities(Decoder.with_room(model, len(tokens)).extend(tokens), sampling)
        for model in (target, draft)
    )  # [num_tokens, vocab]
    return np.minimum(p, q).sum(axis=-1)


# -- under load -----------------------------------------------------------------------------


@dataclass(frozen=True)
class UnderLoad:
    """A round beside plain decoding, for a batch of requests that are all `context` tokens long.

    The draft is a scaled-down target: each of its steps costs `draft_cost` of a plain one, in any
    batch.  Left out: prefills in the same step, and what small kernels lose.
    """

    clock: Clock
    context: int
    num_proposed: int
    draft_cost: float

    def plain_seconds(self, batch: int) -> float:
        return float(self.clock.step_time(Load.decode(batch, batch * self.context)).seconds)

    def verify_seconds(self, batch: int) -> float:
        """All proposals of all requests, and for each request one token more."""
        num_tokens = batch * (self.num_proposed + 1)
        context = self.context + self.num_proposed
        attended = num_tokens * (context - (self.num_proposed + 1) / 2)
        load = Load(num_tokens, batch * context, attended, num_tokens, 0)
        return float(self.clock.step_time(load).seconds)

    def round_seconds(self, batch: int) -> float:
        drafting = self.num_proposed * self.draft_cost * self.plain_seconds(batch)
        return drafting + self.verify_seconds(batch)

    def speedup(self, acceptance: float, batch: int) -> float:
        tokens = expected_tokens(acceptance, self.num_proposed)
        return tokens * self.plain_seconds(batch) / self.round_seconds(batch)

    def first_batch_that_loses(self, acceptance: float, most: int) -> int | None:
        """The smallest batch that would be faster without; None if there is none up to `most`."""
        batches = range(1, most + 1)
        return next((batch for batch in batches if self.speedup(acceptance, batch) < 1), None)
