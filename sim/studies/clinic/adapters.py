"""Chunked prefill with LoRA adapters: only so many different ones in a step.

What `Chunked` lacked: a limit on the batch that no counter of the batch shows.  A request whose
adapter is not among those that run waits while `max_loras` others do; whoever comes behind it and
uses one of these passes by.

Source: vLLM `vllm/v1/core/sched/scheduler.py` (`scheduled_loras`), pull request 15422.
"""

from collections import deque
from dataclasses import dataclass

from sim.kv import Memory
from sim.request import Sequence
from sim.scheduler import Batch, Chunked


@dataclass(frozen=True)
class WithAdapters(Chunked):
    """`adapters`: of each request, by its id."""

    max_loras: int = 1
    adapters: tuple[int, ...] = ()

    @property
    def is_plain(self) -> bool:
        return False

    def _admit_waiting(
        self,
        waiting: deque[Sequence],
        running: list[Sequence],
        memory: Memory,
        batch: Batch,
        budget: int,
    ) -> None:
        """Those whose adapter runs or finds a slot, in order of arrival; the others wait on."""
        in_line = list(waiting)
        used = {self.adapters[sequence.id] for sequence in running}
        waiting.clear()
        for sequence in in_line:
            adapter = self.adapters[sequence.id]
            if adapter in used or len(used) < self.max_loras:
                used.add(adapter)
                waiting.append(sequence)
        passed_by = set(in_line) - set(waiting)
        super()._admit_waiting(waiting, running, memory, batch, budget)
        stay = passed_by | set(waiting)
        waiting.clear()
        waiting.extend(sequence for sequence in in_line if sequence in stay)
