"""Three answers to full KV memory, on the same requests, the same machine and the same pool.

vllm      admits whoever fits now; when memory runs out, the newest gives way and goes in front
sglang    admits by a guess of what is still to come; who has written least gives way, and queues
          at the end
tensorrt  admits whoever has room to the end; nobody gives way

All of them compute prompts in chunks beside decodes, in blocks of 16 tokens, so only the answer to
pressure differs: these are the rules of three engines, not the engines.
"""

from dataclasses import dataclass

import numpy as np

from sim.cost import Clock
from sim.engine import Run, Setup
from sim.kv import Paged
from sim.request import Request
from sim.scheduler import Chunked, Estimating, Policy, Reserving

ANSWERS = ("vllm", "sglang", "tensorrt")


@dataclass(frozen=True)
class Comparison:
    """What the three have in common, and the settings of those that have any.

    `max_new_tokens`: what every client allows an answer to take; 0: what it will take, as if
    somebody knew.  `max_utilization`: TensorRT-LLM's other policy, which pauses as vLLM does.
    """

    clock: Clock
    pool_tokens: int
    max_new_tokens: int = 0
    conservativeness: float = 1.0
    max_utilization: bool = False
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 2_048

    def setup(self, answer: str, requests: tuple[Request, ...]) -> Setup:
        memory = Paged.for_tokens(self.pool_tokens)
        return Setup(requests, self._policy(answer), memory, self.clock)

    def rule(self, answer: str) -> str:
        """Who is let in: whoever "fits", by a "guess", or with room "reserved"."""
        if answer == "tensorrt" and not self.max_utilization:
            return "reserved"
        return "guess" if answer == "sglang" else "fits"

    def _policy(self, answer: str) -> Policy:
        shape = (self.max_num_seqs, self.max_num_batched_tokens)
        if self.rule(answer) == "guess":
            return Estimating(
                *shape,
                max_new_tokens=self.max_new_tokens,
                conservativeness=self.conservativeness,
            )
        if self.rule(answer) == "reserved":
            return Reserving(*shape, max_new_tokens=self.max_new_tokens)
        return Chunked(*shape)


def interrupted_seconds(run: Run) -> np.ndarray:
    """When somebody gave way, in the order of time, [num_preemptions]."""
    return np.sort([gone for pauses in run.pauses.values() for gone, _ in pauses])


def computed_again(run: Run) -> int:
    """Tokens that went through the model once more, since their K and V had been given up."""
    computed = int(np.sum(run.series.prefill_tokens) + np.sum(run.series.decode_tokens))
    served = ~np.isnan(run.scheduled_seconds)
    prompts = np.array([request.prompt_tokens for request in run.requests])
    once = prompts + run.num_tokens - 1 - run.hit_tokens  # the last token is never read
    return computed - int(np.sum(once[served]))
