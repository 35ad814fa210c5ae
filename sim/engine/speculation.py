"""Speculation inside the server: a decode step carries proposals and may yield several tokens.

As in vLLM V1, a sequence that decodes asks for its missing token and its draft tokens together.
They take budget and KV slots like any others; those that are rejected count as not computed, and
the slots they leave are filled by the tokens after them.

No model runs here: each proposal is accepted with a probability that the reader chooses, and the
lot depends only on the seed, the request and how far its answer has come, not on the order in which
things happen.  The draft is a scaled-down target: each of its steps costs a share of a decode step
of those that speculate, before the step that checks.  It proposes no more than the answer still
needs.  Left out: the draft's own prefills, weights and KV.

Source: vLLM 0.11 `vllm/v1/core/sched/scheduler.py`; Leviathan et al. 2023 for what is accepted.
"""

import math
from dataclasses import dataclass

import numpy as np

from sim.cost import Clock
from sim.errors import require
from sim.request import Sequence
from sim.scheduler import Batch, Load


@dataclass(frozen=True)
class Speculation:
    """`num_speculative_tokens` proposals a round, each accepted with `acceptance`; a step of the
    draft costs `draft_cost` of a decode step.

    Raises:
        SimError: `proposals_below_one`, `acceptance_out_of_range`, `draft_cost_negative`.
    """

    num_speculative_tokens: int = 4
    acceptance: float = 0.7
    draft_cost: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        most, share = self.num_speculative_tokens, self.acceptance
        require(most >= 1, "proposals_below_one", value=most)
        require(0 <= share <= 1, "acceptance_out_of_range", value=share)
        cost = self.draft_cost
        require(0 <= cost < math.inf, "draft_cost_negative", value=cost)


@dataclass(frozen=True)
class Tally:
    """Rounds added up, as vLLM counts them (`vllm:spec_decode_*`)."""

    num_rounds: int = 0
    num_proposed: int = 0
    num_accepted: int = 0

    @property
    def accepted_share(self) -> float:
        """Accepted of all that was proposed: below the acceptance a of a proposal whose turn comes,
        since nobody looks beyond a rejection."""
        return self.num_accepted / self.num_proposed if self.num_proposed else math.nan

    @property
    def num_tokens(self) -> int:
        return self.num_accepted + self.num_rounds

    @property
    def tokens_per_round(self) -> float:
        """vLLM's mean acceptance length."""
        return self.num_tokens / self.num_rounds if self.num_rounds else math.nan

    def speedup(self, draft_cost: float) -> float:
        """What these rounds gain with a draft whose step costs so much of a target's step."""
        return self.num_tokens / (self.num_rounds + self.num_proposed * draft_cost)


NO_ROUNDS = Tally()


class Verifier:
    """The draft and the judge of one run."""

    def __init__(self, settings: Speculation):
        self.settings = settings
        self._lots: dict[int, list[float]] = {}  # request id -> one for each token of its answer
        self._rounds: list[tuple[int, int]] = []  # (proposed, accepted)

    @property
    def tally(self) -> Tally:
        proposed, accepted = np.array(self._rounds, int).reshape(-1, 2).sum(axis=0).tolist()
        return Tally(len(self._rounds), proposed, accepted)

    def propose(self, sequence: Sequence) -> None:
        """As many as may be; the last token of an answer is never a proposal."""
        room = sequence.max_tokens - sequence.num_tokens - 1
        sequence.num_draft_tokens = max(0, min(self.settings.num_speculative_tokens, room))

    def num_accepted(self, sequence: Sequence, num_proposed: int) -> int:
        """How many of the first proposals in a row are accepted: at least n with probability a^n.

        A uniform number below a^n says so for all n at once.
        """
        acceptance = self.settings.acceptance
        lot, least, accepted = self._lot(sequence), acceptance, 0
        while accepted < num_proposed and lot < least:
            accepted += 1
            least *= acceptance
        self._rounds.append((num_proposed, accepted))
        return accepted

    def drafting_seconds(self, batch: Batch, clock: Clock) -> float:
        """What the proposals of a batch have cost; all sequences draft side by side."""
        drafts = [
            (num_tokens - sequence.num_missing_tokens, sequence.num_tokens)
            for sequence, num_tokens in batch.work
            if num_tokens > sequence.num_missing_tokens
        ]
        if not drafts or not self.settings.draft_cost:
            return 0.0
        load = Load.decode(len(drafts), sum(context for _, context in drafts))
        num_steps = max(num_proposed for num_proposed, _ in drafts)
        return float(num_steps * self.settings.draft_cost * clock.step_time(load).seconds)

    def _lot(self, sequence: Sequence) -> float:
        if sequence.id not in self._lots:
            rng = np.random.default_rng((self.settings.seed, sequence.id))
            self._lots[sequence.id] = rng.random(sequence.request.output_tokens).tolist()
        return self._lots[sequence.id][sequence.num_output_tokens]
