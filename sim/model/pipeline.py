"""One text on its way through the stations of a server, with a real model in the middle.

    tokenize     text to token ids
    schedule     the engine's next step: how many tokens are computed, which blocks hold their KV
    prefill      all tokens of the prompt in one pass; later `decode`, the one token before
    sample       the logits of the last position to one token
    detokenize   the token to text; half a character waits for the rest

and from `schedule` again for each further token.  The server has one request, so nobody waits.
`sim.views.stations` tells the same with many and with the times of a GPU; here the times are those
of a clock that the caller reads, say this machine's, and belong to one run.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sim import engine
from sim.cost import SimpleClock
from sim.engine import Setup, Step
from sim.kv import Paged
from sim.model.kv_store import ContiguousStore
from sim.model.sampling import Sampling, draw, probabilities
from sim.model.tokenizer import Detokenizer, Tokenizer
from sim.model.transformer import Array, Chunk, Weights, forward
from sim.request import Request
from sim.scheduler import Chunked

BLOCK_SIZE = 16
SAME_TIMES = SimpleClock(
    prefill_tokens_per_second=1.0, decode_seconds_per_step=1.0
)  # not looked at

Clock = Callable[[], float]  # seconds


@dataclass(frozen=True)
class Times:
    """What one turn of the loop took at each station, in seconds."""

    schedule: float
    forward: float
    sample: float
    detokenize: float

    @property
    def total(self) -> float:
        return self.schedule + self.forward + self.sample + self.detokenize


@dataclass(frozen=True, eq=False)
class Turn:
    """One engine step, and the token that came of it."""

    step: Step
    logits: Array  # [vocab], of the last position
    attention: Array  # [layers, q_heads, num_new, num_tokens]
    token: int
    would_end: bool  # the most probable token was the end of the text, and it was not allowed yet
    text: str  # what the token completed, perhaps nothing
    waiting: bytes  # of a character that is not whole yet
    times: Times

    @property
    def num_new(self) -> int:
        """Rows of the pass: tokens that had no K and V before it."""
        return self.step.num_tokens


@dataclass(frozen=True, eq=False)
class Passage:
    """The whole way; it ends early where the model ends its text."""

    prompt: tuple[int, ...]
    turns: tuple[Turn, ...]
    tokenize_seconds: float
    rest: str  # what waited in vain

    @property
    def answer(self) -> tuple[int, ...]:
        return tuple(turn.token for turn in self.turns)

    @property
    def is_held(self) -> bool:
        """Whether the model would have ended its text where it was not allowed to."""
        return any(turn.would_end for turn in self.turns)

    @property
    def text(self) -> str:
        return "".join(turn.text for turn in self.turns) + self.rest


def passage(
    tokenizer: Tokenizer,
    weights: Weights,
    text: str,
    num_tokens: int,
    sampling: Sampling,
    clock: Clock,
    seed: int = 0,
    max_prompt_tokens: int | None = None,
    min_tokens: int = 0,
) -> Passage:
    """Send a text through; of a long one only the first `max_prompt_tokens` are read.

    The first `min_tokens` tokens are never the end of the text (vLLM, `SamplingParams.min_tokens`).
    """
    start = clock()
    prompt = tokenizer.prompt(text)[:max_prompt_tokens]
    tokenize_seconds = clock() - start
    detokenizer = Detokenizer(tokenizer)
    turns: list[Turn] = []
    going_on = np.arange(len(weights.embedding)) != tokenizer.end  # [vocab]
    allowed = [going_on] * min_tokens + [None] * num_tokens
    for turn in _turns(weights, prompt, num_tokens, sampling, clock, seed, detokenizer, allowed):
        turns.append(turn)
        if turn.token == tokenizer.end:
            break
    return Passage(tuple(prompt), tuple(turns), tokenize_seconds, detokenizer.finish())


def _turns(
    weights: Weights,
    prompt: list[int],
    num_tokens: int,
    sampling: Sampling,
    clock: Clock,
    seed: int,
    detokenizer: Detokenizer,
    allowed: Sequence[Array | None],
) -> Iterator[Turn]:
    store = ContiguousStore(weights.model, len(prompt) + num_tokens)
    rng = np.random.default_rng(seed)
    tokens = list(prompt)
    steps = engine.steps(_alone(len(prompt), num_tokens))
    at = clock()

    def lap() -> float:
        nonlocal at
        before, at = at, clock()
        return at - before

    for step, may_come in zip(steps, allowed, strict=False):
        schedule = lap()
        attention: list[Array] = []
        chunk = Chunk(tokens[store.num_tokens :], store, attention)
        logits = forward(weights, [chunk])[0][-1]  # [vocab]
        compute = lap()
        tokens.append(draw(probabilities(logits, sampling, may_come), rng))
        sample = lap()
        would_end = may_come is not None and not may_come[logits.argmax()]
        text = detokenizer.add(tokens[-1])
        times = Times(schedule, compute, sample, lap())
        seen = np.stack(attention)
        waiting = detokenizer.waiting
        yield Turn(step, logits, seen, tokens[-1], would_end, text, waiting, times)
        at = clock()


def _alone(prompt_tokens: int, output_tokens: int) -> Setup:
    """An engine with this one request, and room for all of it."""
    memory = Paged.for_tokens(prompt_tokens + output_tokens, BLOCK_SIZE)
    request = Request(0, 0.0, prompt_tokens, output_tokens)
    return Setup((request,), Chunked(), memory, SAME_TIMES)
