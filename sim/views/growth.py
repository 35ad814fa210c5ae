"""Whose KV lies on the GPU while a run goes on, step by step.

Each request keeps K and V of its prompt and of what it has written so far, until it is done; then
all of it goes at once.  So the memory in use follows the sum of those tokens, not the number of
requests.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.engine import Step


@dataclass(frozen=True)
class Growth:
    """KV over the steps of a run, while each of them runs.

    tokens: of each request, [num_requests, num_steps]; held_tokens: slots in the blocks that they
    own, [num_steps].
    """

    request_ids: tuple[int, ...]
    start_seconds: np.ndarray
    end_seconds: np.ndarray
    tokens: np.ndarray
    held_tokens: np.ndarray

    @property
    def active_tokens(self) -> np.ndarray:
        """Over all requests, [num_steps]."""
        total: np.ndarray = self.tokens.sum(axis=0)
        return total

    @property
    def num_active(self) -> np.ndarray:
        """How many requests have tokens here, [num_steps]."""
        active: np.ndarray = (self.tokens > 0).sum(axis=0)
        return active

    @property
    def longest_tokens(self) -> int:
        """The most that one request ever has."""
        return int(self.tokens.max())

    @property
    def peak_tokens(self) -> int:
        return int(self.active_tokens.max())

    @property
    def peak_guess_tokens(self) -> int:
        """The peak as "requests x longest request" would have it."""
        return int(self.num_active.max()) * self.longest_tokens


def growth(steps: Sequence[Step], block_size: int) -> Growth:
    """Who kept how much in which step of a run without shared blocks."""
    ids = sorted({who for step in steps for who in step.running})
    rows = {who: row for row, who in enumerate(ids)}
    tokens = np.zeros((len(ids), len(steps)), dtype=int)  # [num_requests, num_steps]
    for column, step in enumerate(steps):
        for who in step.running:  # who was not served in this step keeps what he had
            tokens[rows[who], column] = tokens[rows[who], column - 1] if column else 0
        for work in step.work:
            tokens[rows[work.request_id], column] = work.context
    held = [sum(map(len, step.block_tables.values())) * block_size for step in steps]
    return Growth(
        tuple(ids),
        np.array([step.start_seconds for step in steps]),
        np.array([step.end_seconds for step in steps]),
        tokens,
        np.array(held),
    )
