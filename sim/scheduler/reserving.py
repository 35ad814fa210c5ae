"""Reserve ahead: whoever is admitted has room to the end, so nobody is ever evicted.

What `chunked` lacked: it admits whoever fits now, and finds out later that the answers do not fit.
Here the first in line joins only if there are blocks for all of it, prompt and longest answer,
beside all that those who run may still take.  Blocks are taken when a token needs one; what is
promised is only counted.

How long an answer will be nobody knows, only what its client allows.  Room that is promised and
never used stands empty while others wait.

Source: TensorRT-LLM 1.x, capacity scheduler policy `GUARANTEED_NO_EVICT` (blocks that remain to
completion, `tensorrt_llm/_torch/pyexecutor/scheduler`).  Its other policy, `MAX_UTILIZATION`,
admits whoever fits now and pauses the one that was started last: that is `chunked`.
"""

from collections import deque
from dataclasses import dataclass
from typing import ClassVar

from sim.errors import require
from sim.kv import Memory
from sim.request import Sequence
from sim.scheduler.batch import Batch
from sim.scheduler.chunked import Chunked


@dataclass(frozen=True)
class Reserving(Chunked):
    """`max_new_tokens`: what every client allows an answer to take (`max_tokens` in a request).

    An answer that takes more was allowed as much as it takes; with 0 that is all of them, as if
    somebody knew.  Nobody is promised more than the whole pool, or the model's length.

    Raises:
        SimError: as `Chunked`; `max_new_tokens_negative`.
    """

    max_new_tokens: int = 0
    takes_groups: ClassVar[bool] = False  # every request is asked what it may still take

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.max_new_tokens >= 0, "max_new_tokens_negative", value=self.max_new_tokens)

    def next_batch(
        self, now: float, waiting: deque[Sequence], running: list[Sequence], memory: Memory
    ) -> Batch:
        batch = super().next_batch(now, waiting, running, memory)
        batch.num_promised_blocks = self.num_promised_blocks(running, memory)
        return batch

    def num_blocks_asked(
        self,
        sequence: Sequence,
        upto: int,
        hits: list[int],
        running: list[Sequence],
        memory: Memory,
    ) -> int:
        """For all that it may become, beside what is promised to those who run."""
        most = sequence.num_tokens + self.growth(sequence, memory)
        promised = self.num_promised_blocks(running, memory)
        return memory.num_missing_blocks(sequence, most, hits) + promised

    def growth(self, sequence: Sequence, memory: Memory) -> int:
        """Tokens that the answer may still take."""
        most = max(sequence.max_tokens, sequence.request.prompt_tokens + self.max_new_tokens)
        pool = memory.num_usable_blocks * memory.block_size
        return max(0, min(most, pool, self.max_model_len or most) - sequence.num_tokens)

    def num_promised_blocks(self, running: list[Sequence], memory: Memory) -> int:
        """Blocks that those who run do not hold yet, and may still ask for."""
        return sum(
            memory.num_missing_blocks(who, who.num_tokens + self.growth(who, memory))
            for who in running
        )
