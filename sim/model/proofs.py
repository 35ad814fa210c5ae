"""Proofs that the tricks of serving change nothing, on any text, with the numbers compared.

Each function does one thing in two ways with a real model and returns both results.  Only where a
store lies in memory changes no bit.  A pass over other shapes adds the same numbers in another
order, so everything else agrees to rounding: `TOLERANCE`.  Two logits closer than that may change
places, which a greedy comparison reports as a tie.

Texts are token ids that begin with `Tokenizer.end`, as the model has seen them.
"""

import math
from collections.abc import Sequence as Row
from dataclasses import dataclass

import numpy as np

from sim.kv import Paged, PagedMemory
from sim.model.generation import Decoder, generate
from sim.model.kv_store import BlockPool, PagedStore
from sim.model.sampling import GREEDY, Sampling, draw, probabilities
from sim.model.speculative import Correction, residual, rounds, verify
from sim.model.transformer import Array, Chunk, Weights, forward
from sim.request import Request, Segment, Sequence

TOLERANCE = 1e-4  # of logits, in float32
SIGNIFICANCE = 1e-3  # a true claim is rejected once in a thousand seeds
LEAST_EXPECTED = 5  # draws in a bin of a chi-square test


@dataclass(frozen=True, eq=False)
class SameLogits:
    """The same logits computed in two ways."""

    one: Array  # [num_rows, vocab]
    other: Array  # [num_rows, vocab]
    tolerance: float = TOLERANCE  # 0 promises every bit

    @property
    def max_difference(self) -> float:
        return float(np.abs(self.one - self.other).max())

    @property
    def holds(self) -> bool:
        return self.max_difference <= self.tolerance


@dataclass(frozen=True)
class SameTokens:
    """The same tokens chosen in two ways.

    `tie` is the first place where the two largest logits are as good as equal; from there on the
    two may part, since each has then read another text.
    """

    one: tuple[int, ...]
    other: tuple[int, ...]
    tie: int | None = None

    @property
    def holds(self) -> bool:
        return self.one[: self.tie] == self.other[: self.tie]


@dataclass(frozen=True, eq=False)
class SameDistribution:
    """How often tokens came, against how often they should (Pearson's chi-square test).

    `tokens` have a bin each, the most probable first; the last bin holds all the others too.
    """

    tokens: tuple[int, ...]
    observed: Array  # [num_bins]
    expected: Array  # [num_bins]

    @property
    def statistic(self) -> float:
        """Sum of (observed - expected)^2 / expected."""
        return float(((self.observed - self.expected) ** 2 / self.expected).sum())

    @property
    def p_value(self) -> float:
        """The chance of a statistic at least as large if the claim is true."""
        return chi_square_tail(self.statistic, len(self.tokens) - 1)

    @property
    def holds(self) -> bool:
        return self.p_value >= SIGNIFICANCE


# -- the cache and where it lies ------------------------------------------------------------


def first_token(
    weights: Weights, prompt: Row[int], sampling: Sampling, seed: int = 0
) -> SameTokens:
    """The first generated token is the one drawn from logits[S - 1] of the prefill."""
    generated = next(generate(_decoder(weights, len(prompt)), prompt, 1, sampling, seed))
    last = _whole(weights, prompt)[len(prompt) - 1]  # [vocab]
    drawn = draw(probabilities(last, sampling), np.random.default_rng(seed))
    tie = 0 if sampling == GREEDY and _is_tie(last) else None
    return SameTokens((generated.token,), (drawn,), tie)


def cached_equals_recomputed(weights: Weights, prompt: Row[int], num_tokens: int) -> SameLogits:
    """Each decode step with the cache against a pass over the whole text without one."""
    decoder = _decoder(weights, len(prompt) + num_tokens)
    tokens, cached, recomputed = list(prompt), [], []
    for step in generate(decoder, prompt, num_tokens, GREEDY):
        cached.append(step.logits)
        recomputed.append(_whole(weights, tokens)[-1])
        tokens.append(step.token)
    return SameLogits(np.stack(cached), np.stack(recomputed))


def paged_equals_contiguous(
    weights: Weights, prompt: Row[int], num_tokens: int, block_size: int = 16
) -> tuple[SameLogits, list[int]]:
    """A prefill and decode steps in both stores, bit for bit; also the block table.

    A neighbour takes a block after each of ours, so that the blocks do not lie side by side.
    """
    contiguous = _decoder(weights, len(prompt) + num_tokens)
    one = [step.logits for step in generate(contiguous, prompt, num_tokens, GREEDY)]
    memory = _memory(2 * (len(prompt) + num_tokens + block_size), block_size)
    pool = BlockPool(weights.model, memory.num_usable_blocks + 1, block_size)
    ours, neighbour = (_sequence(id, len(prompt), num_tokens) for id in (0, 1))
    for tokens in range(1, len(prompt) + num_tokens + 1):
        for sequence in (ours, neighbour):
            memory.allocate(sequence, tokens)
    table = memory.block_tables[ours.id]
    paged = Decoder(weights, PagedStore(pool, table))
    other = [step.logits for step in generate(paged, prompt, num_tokens, GREEDY)]
    return SameLogits(np.stack(one), np.stack(other), tolerance=0), table


def chunked_equals_whole(weights: Weights, prompt: Row[int], chunk_tokens: int) -> SameLogits:
    """A prefill in pieces of `chunk_tokens` against one in a single pass; every position."""
    decoder = _decoder(weights, len(prompt))
    ends = [*range(chunk_tokens, len(prompt), chunk_tokens), len(prompt)]
    pieces = [decoder.extend(prompt[:end]) for end in ends]
    return SameLogits(np.concatenate(pieces), _whole(weights, prompt))


def reused_equals_fresh(
    weights: Weights, shared: Row[int], own: Row[int], block_size: int = 16
) -> tuple[SameLogits, int]:
    """A prompt that finds its beginning cached against the same prompt alone.

    Another request has computed `shared` before, and its blocks are found as the server finds them.
    Also returns how many tokens came from the cache.
    """
    prompt = [*shared, *own]
    memory = _memory(len(shared) + len(prompt) + block_size, block_size)
    pool = BlockPool(weights.model, memory.num_usable_blocks + 1, block_size)
    earlier = _sequence(0, len(shared), shared=len(shared))
    memory.allocate(earlier, len(shared))
    Decoder(weights, PagedStore(pool, memory.block_tables[earlier.id])).extend(shared)
    memory.free(earlier)

    later = _sequence(1, len(prompt), shared=len(shared))
    hits = memory.match_prefix(later)
    memory.allocate(later, len(prompt), hits)
    num_cached = len(hits) * block_size
    store = PagedStore(pool, memory.block_tables[later.id], num_cached)
    reused = Decoder(weights, store).extend(prompt)
    return SameLogits(reused, _whole(weights, prompt)[num_cached:]), num_cached


def batched_equals_alone(
    weights: Weights, prompts: Row[Row[int]], num_tokens: int
) -> list[SameLogits]:
    """Each prompt in a batch that changes against the same tokens alone.

    Prompt n joins at step n and leaves after `num_tokens` tokens, so prefills and decodes mix.
    """
    decoders = [_decoder(weights, len(prompt) + num_tokens) for prompt in prompts]
    texts = [list(prompt) for prompt in prompts]
    rows: list[list[Array]] = [[] for _ in prompts]
    for step in range(len(prompts) + num_tokens - 1):
        running = range(max(0, step - num_tokens + 1), min(step + 1, len(prompts)))
        batch = [
            Chunk(texts[n][decoders[n].store.num_tokens :], decoders[n].store) for n in running
        ]
        for n, logits in zip(running, forward(weights, batch), strict=True):
            rows[n].append(logits[-1])
            texts[n].append(int(logits[-1].argmax()))
    return [
        SameLogits(np.stack(kept), _step_by_step(weights, text, len(prompt)))
        for kept, text, prompt in zip(rows, texts, prompts, strict=True)
    ]


# -- speculation ----------------------------------------------------------------------------


def greedy_speculation_equals_greedy(
    target: Weights, draft: Weights, prompt: Row[int], num_tokens: int, num_proposed: int
) -> SameTokens:
    """Token for token, whatever the draft proposes."""
    plain = list(generate(_decoder(target, len(prompt) + num_tokens), prompt, num_tokens, GREEDY))
    tie = next((n for n, step in enumerate(plain) if _is_tie(step.logits)), None)
    told = rounds(target, draft, prompt, num_tokens, num_proposed, GREEDY)
    speculated = [token for one in told for token in one.tokens][:num_tokens]
    return SameTokens(tuple(step.token for step in plain), tuple(speculated), tie)


def from_the_target(p: Array, q: Array) -> Array:
    """The tempting wrong correction: a rejected token is drawn again from p itself."""
    return p


def hardest_place(
    target: Weights, draft: Weights, tokens: Row[int], sampling: Sampling
) -> tuple[int, Array, Array]:
    """Where in a text the wrong correction does most harm, and p and q [vocab] there.

    With acceptance a it yields min(p, q) + (1 - a) p instead of p.
    """
    p = probabilities(_whole(target, tokens), sampling)  # [num_tokens, vocab]
    q = probabilities(_whole(draft, tokens), sampling)
    both = np.minimum(p, q)
    harm = np.abs(both - both.sum(axis=-1, keepdims=True) * p).sum(axis=-1)  # [num_tokens]
    place = int(harm.argmax())
    return place, p[place], q[place]


def sampled_speculation(
    p: Array, q: Array, num_draws: int, seed: int = 0, correction: Correction = residual
) -> SameDistribution:
    """The first token of many rounds against the target's own distribution p."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(len(p), int)  # [vocab]
    verified = np.stack([p, p])  # the bonus token is not looked at
    for _ in range(num_draws):
        proposed = draw(q, rng)
        accepted, token = verify([proposed], q[None], verified, rng, correction)
        counts[proposed if accepted else token] += 1
    return in_bins(counts, p * num_draws)


def in_bins(counts: Array, expected: Array) -> SameDistribution:
    """A bin for each token that is expected often enough; the rest joins the last of them."""
    order = np.argsort(-expected, kind="stable")
    num_bins = max(1, int((expected >= LEAST_EXPECTED).sum()))
    starts = np.arange(num_bins)
    return SameDistribution(
        tuple(order[:num_bins].tolist()),
        np.add.reduceat(counts[order], starts),
        np.add.reduceat(expected[order], starts),
    )


def chi_square_tail(statistic: float, degrees: int) -> float:
    """P(chi-square with that many degrees of freedom >= statistic); 1 without any.

    Up two degrees at a time: Q(k + 2) = Q(k) + (x/2)^(k/2) e^(-x/2) / Gamma(k/2 + 1).
    """
    if degrees == 0 or statistic == 0:
        return 1.0
    half = statistic / 2
    tail = math.erfc(math.sqrt(half)) if degrees % 2 else 0.0
    for k in range(degrees % 2, degrees, 2):
        tail += math.exp(k / 2 * math.log(half) - half - math.lgamma(k / 2 + 1))
    return tail


# -- inside ---------------------------------------------------------------------------------


def _decoder(weights: Weights, max_tokens: int) -> Decoder:
    return Decoder.with_room(weights, max_tokens)


def _whole(weights: Weights, tokens: Row[int]) -> Array:
    """Logits [num_tokens, vocab] of one pass over a whole text."""
    return _decoder(weights, len(tokens)).extend(tokens)


def _step_by_step(weights: Weights, text: Row[int], prompt_tokens: int) -> Array:
    """Logits [num_generated, vocab] that each generated token of a text was chosen from, alone."""
    decoder = _decoder(weights, len(text))
    return np.stack([decoder.extend(text[:n])[-1] for n in range(prompt_tokens, len(text))])


def _is_tie(logits: Array) -> bool:
    second, first = np.partition(logits, -2)[-2:]
    return bool(first - second < TOLERANCE)


def _memory(num_tokens: int, block_size: int) -> PagedMemory:
    return Paged.for_tokens(num_tokens, block_size).open()


def _sequence(id: int, prompt_tokens: int, output_tokens: int = 1, shared: int = 0) -> Sequence:
    """What the memory needs to know of a text; the `shared` first tokens are the same for all."""
    prefix = (Segment("shared", shared),) if shared else ()
    return Sequence(Request(id, 0.0, prompt_tokens, output_tokens, prefix))
