"""The radix tree: bars of tokens, from the root rightwards, and a lane for each way through it.

What begins alike stands once; where ways part, one goes on in a lane of its own.  A bar stands
where its tokens stand, so splitting a node moves nothing.  Above the tree stand who runs, who
waits, and how full the KV slots are.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from ui.player import Frames, FramesError, pick
from ui.words.language import tr

ROOT = -1  # instead of the parent's lane
STATES = ("cached", "prefill", "decode", "missing", "locked", "evictable", "evicted")


@dataclass(frozen=True)
class TreeBar:
    """The tokens `start` to `end` of a lane.  `parent_lane`: where its parent ends, or ROOT.

    `state`: one of STATES; `locks`: how often the node is locked; `rank`: its place in the order
    of eviction from 1 on, 0 if it cannot be evicted now.
    """

    lane: int
    start: int
    end: int
    state: str
    parent_lane: int
    locks: int = 0
    rank: int = 0


@dataclass(frozen=True)
class TreeMoment:
    """One step: the bars, who runs and who waits by number, and whose slots are whose.

    `owners`: (lane, token at which it ends, request) for each running request's prompt.
    """

    bars: tuple[TreeBar, ...]
    running: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()
    owners: tuple[tuple[int, int, int], ...] = ()
    num_locked: int = 0  # slots that may not be taken: locked nodes, answers being written
    num_evictable: int = 0


@dataclass(frozen=True, kw_only=True)
class Tree(Frames):
    """A radix tree, step by step."""

    lanes: tuple[tuple[str, ...], ...]  # the tokens of each, as words
    moments: tuple[TreeMoment, ...]
    requests: tuple[str, ...]  # letters
    num_slots: int

    painter: ClassVar[str] = "tree"

    @property
    def num_steps(self) -> int:
        return len(self.moments)

    def meanings(self) -> tuple[str, ...]:
        return STATES

    def check(self) -> None:
        if not self.lanes:
            raise FramesError("a tree needs at least one lane")
        lanes = range(len(self.lanes))
        for number, moment in enumerate(self.moments):
            for bar in moment.bars:
                if bar.lane not in lanes or bar.parent_lane not in (ROOT, *lanes):
                    raise FramesError(f"step {number}: {bar} is outside of {len(self.lanes)} lanes")
                if not 0 <= bar.start < bar.end <= len(self.lanes[bar.lane]):
                    raise FramesError(f"step {number}: {bar} is outside of its lane")
                if bar.state not in STATES:
                    raise FramesError(f"step {number}: {bar} is in none of the states {STATES}")
            self._check_apart(number, moment)
            if moment.num_locked + moment.num_evictable > self.num_slots:
                raise FramesError(f"step {number}: more than {self.num_slots} slots are taken")

    def _check_apart(self, number: int, moment: TreeMoment) -> None:
        bars = sorted(moment.bars, key=lambda bar: (bar.lane, bar.start))
        for before, after in pairwise(bars):
            if before.lane == after.lane and after.start < before.end:
                raise FramesError(f"step {number}: {after} overlaps {before}")

    def picture(self) -> dict[str, Any]:
        return {
            "slots": self.num_slots,
            "requests": self.requests,
            "lengths": [len(lane) for lane in self.lanes],
            "moments": [
                {
                    "bars": [_numbers(bar) for bar in moment.bars],
                    "running": moment.running,
                    "waiting": moment.waiting,
                    "owners": moment.owners,
                    "locked": moment.num_locked,
                    "evictable": moment.num_evictable,
                }
                for moment in self.moments
            ],
        }

    def texts(self) -> dict[str, Any]:
        return {"lanes": self.lanes}

    def words(self) -> dict[str, str]:
        return {
            "running": tr("运行", "Running"),
            "waiting": tr("排队", "Waiting"),
            "nobody": tr("无", "nobody"),
            "slots": tr("KV 槽 {used} / {total}", "KV slots {used} / {total}"),
            "rank": tr("第 {n} 个走", "evict #{n}"),
            "tokens": tr("{n} 个 token", "tokens: {n}"),
            "locks": tr("锁 {n}", "locks: {n}"),
            "column_tree": tr("树", "Tree"),
            "column_queue": tr("请求与槽", "Requests and slots"),
            "empty": tr("空的树", "empty tree"),
        }

    def take(self, steps: np.ndarray) -> Self:
        return replace(super().take(steps), moments=pick(self.moments, steps))


def _numbers(bar: TreeBar) -> list[int]:
    state = STATES.index(bar.state)
    return [bar.lane, bar.start, bar.end, state, bar.parent_lane, bar.locks, bar.rank]
