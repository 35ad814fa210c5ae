"""Block tables: how the logical blocks of a request are mapped to physical ones, step by step.

The chosen request's logical blocks and its table stand above the physical blocks of all, with an
arrow from each entry.  A block may stand in several tables: it is shared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ui.player import FramesError, changes, check_length, pick
from ui.player.painters.memory_map import MemoryFrames, Strip


@dataclass(frozen=True, kw_only=True)
class BlockTables(MemoryFrames):
    """tables: per step, request (index) -> its blocks, counted from 0 whatever they are called."""

    strip: Strip
    tables: tuple[Mapping[int, Sequence[int]], ...]

    painter: ClassVar[str] = "block_tables"

    def strips_shown(self) -> tuple[Strip, ...]:
        return (self.strip,)

    def check(self) -> None:
        super().check()
        check_length("tables", self.tables, self.num_steps)
        num_blocks = self.strip.states.shape[1] // self.strip.block_size
        for table in self.tables:
            for who, blocks in table.items():
                if not (0 <= who < len(self.requests) and all(0 <= b < num_blocks for b in blocks)):
                    raise FramesError(f"the table {who}: {blocks} leads out of the memory")

    def picture(self) -> dict[str, Any]:
        listed = [[[who, list(held)] for who, held in table.items()] for table in self.tables]
        return super().picture() | {"strip": self.strip.picture(), "tables": changes(listed)}

    def texts(self) -> dict[str, Any]:
        return {"strip": self.strip.texts()}

    def take(self, steps: np.ndarray) -> Self:
        taken = super().take(steps)
        return replace(taken, strip=self.strip.take(steps), tables=pick(self.tables, steps))
