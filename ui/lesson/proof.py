"""Prove it: a claim about serving, checked on the reader's own text with the real tiny model.

    chapter.prove("chunked")          asks for a text
    chapter.prove("cached", text)     takes the page's own

A folded line that computes only once it is opened: both ways, the numbers compared, and whether
they agree.  A claim is a function here, and a section of its name in `proof.zh.md`, `proof.en.md`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import streamlit as st

from sim.model import proofs
from sim.model.proofs import SameDistribution, SameLogits, SameTokens
from sim.model.sampling import GREEDY, Sampling
from ui import tiny_model
from ui.controls import widgets
from ui.course import prose, state
from ui.words import language, notes, problems
from ui.words.language import tr
from ui.words.numbers import count, significant

NUM_TOKENS = 6  # generated, where a claim is about decoding
NUM_PROPOSED = 4  # by the draft model, per round
NUM_DRAWS = 4_000
CHUNK_TOKENS = 4
BLOCK_SIZE = 4
SHOWN = 4  # rows of the table
KEPT = 64  # proofs in memory, shared by all readers
OTHERS = ("What is a KV cache?", "排队")  # who is in the batch beside the reader's text
QUESTION = " 为什么？"  # asked after a beginning that is in the cache
DIGITS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SETTINGS: dict[str, dict[str, object]] = {  # for the words of a claim
    "paged": {"size": BLOCK_SIZE},
    "chunked": {"size": CHUNK_TOKENS},
    "batched": {"others": len(OTHERS)},
    "greedy_speculation": {"tokens": 2 * NUM_TOKENS, "proposed": NUM_PROPOSED},
}


@dataclass(frozen=True)
class Proof:
    """What came out: does it hold, its numbers for the words, and some of the numbers compared."""

    holds: bool
    verdict: str  # the section that says so
    numbers: dict[str, str]
    rows: tuple[tuple[str, str, str], ...]  # what, one way, the other
    columns: tuple[str, str] = ("", "")


def panel(claim: str, text: str | None = None) -> None:
    """The claim as a folded line, where called; without a `text` it asks for one."""
    words = prose.read(__file__, language.current())
    label = tr("证明：", "Prove it: ") + words.section(claim).heading
    key = f"proof-{claim}"
    box = st.expander(label, key=key, icon=":material/balance:", on_change=state.moved)
    if not box.open:
        return
    with box:
        st.markdown(words.filled(claim, **SETTINGS.get(claim, {})))
        if text is None:
            label = tr("用你自己的文字", "On a text of your own")
            text, letters = widgets.line(state.TYPED, label, tiny_model.SAMPLE)
            if said := problems.text_cut(letters, text, tiny_model.left_out(text)):
                st.warning(said)
        proof = of(claim, text, language.current())
        st.markdown(words.filled(proof.verdict, **proof.numbers))
        st.markdown(_table(proof))
        st.caption(words.filled("model"))


@lru_cache(maxsize=KEPT)
def of(claim: str, text: str, code: str) -> Proof:
    """`code`: the language, in which a proof words its columns."""
    return CLAIMS[claim](tiny_model.prompt(text))


# -- one function per claim -----------------------------------------------------------------


def _first_token(prompt: Sequence[int]) -> Proof:
    """Greedy, and drawn with a seed."""
    both = [
        (words, proofs.first_token(tiny_model.target(), prompt, sampling))
        for words, sampling in (
            (tr("取最大", "largest"), GREEDY),
            (tr("抽样", "drawn"), Sampling(1.0)),
        )
    ]
    rows = tuple((words, _words(same.one), _words(same.other)) for words, same in both)
    columns = (tr("生成循环的第 1 个", "token 1 of the loop"), "logits[S − 1]")
    holds = all(same.holds for _, same in both)
    return Proof(holds, _verdict("tokens", holds), {"compared": count(len(both))}, rows, columns)


def _cached(prompt: Sequence[int]) -> Proof:
    same = proofs.cached_equals_recomputed(tiny_model.target(), prompt, NUM_TOKENS)
    return _logits(same, tr("用缓存", "with the cache"), tr("全部重算", "recomputed"))


def _paged(prompt: Sequence[int]) -> Proof:
    same, _ = proofs.paged_equals_contiguous(
        tiny_model.target(), prompt, NUM_TOKENS, block_size=BLOCK_SIZE
    )
    return _logits(same, tr("连续", "contiguous"), tr("分页", "paged"))


def _chunked(prompt: Sequence[int]) -> Proof:
    same = proofs.chunked_equals_whole(tiny_model.target(), prompt, CHUNK_TOKENS)
    return _logits(
        same, tr(f"每块 {CHUNK_TOKENS} 个", f"{CHUNK_TOKENS} at a time"), tr("一次算完", "whole")
    )


def _batched(prompt: Sequence[int]) -> Proof:
    prompts = [prompt, *(tiny_model.prompt(other) for other in OTHERS)]
    same = proofs.batched_equals_alone(tiny_model.target(), prompts, NUM_TOKENS)[0]
    return _logits(same, tr("在批里", "in the batch"), tr("单独", "alone"))


def _reused(prompt: Sequence[int]) -> Proof:
    own = tiny_model.encoder().encode(QUESTION)
    same, _ = proofs.reused_equals_fresh(tiny_model.target(), prompt, own, BLOCK_SIZE)
    return _logits(same, tr("复用前缀", "prefix reused"), tr("从头算", "from scratch"))


def _greedy_speculation(prompt: Sequence[int]) -> Proof:
    target, draft = tiny_model.target(), tiny_model.draft()
    same = proofs.greedy_speculation_equals_greedy(
        target, draft, prompt, 2 * NUM_TOKENS, NUM_PROPOSED
    )
    columns = (tr("大模型独自", "target alone"), tr("投机解码", "speculative"))
    return _tokens(same, columns)


def _sampled_speculation(prompt: Sequence[int]) -> Proof:
    place = proofs.hardest_place(tiny_model.target(), tiny_model.draft(), prompt, Sampling(1.0))
    same = proofs.sampled_speculation(*place[1:], NUM_DRAWS)
    return _distribution(same)


CLAIMS: dict[str, Callable[[Sequence[int]], Proof]] = {
    "first_token": _first_token,
    "cached": _cached,
    "paged": _paged,
    "chunked": _chunked,
    "batched": _batched,
    "reused": _reused,
    "greedy_speculation": _greedy_speculation,
    "sampled_speculation": _sampled_speculation,
}


# -- inside ---------------------------------------------------------------------------------


def _logits(same: SameLogits, one: str, other: str) -> Proof:
    """The largest logits of the last row, both ways."""
    largest = np.argsort(-same.one[-1])[:SHOWN]
    rows = tuple(
        (tiny_model.piece(int(token)), f"{same.one[-1, token]:.6f}", f"{same.other[-1, token]:.6f}")
        for token in largest
    )
    numbers = {"compared": count(same.one.size)}
    if not same.holds or same.tolerance:
        numbers |= {"difference": _power(same.max_difference), "limit": _power(same.tolerance)}
    claim = "logits" if same.tolerance else "bits"
    return Proof(same.holds, _verdict(claim, same.holds), numbers, rows, (one, other))


def _tokens(same: SameTokens, columns: tuple[str, str]) -> Proof:
    row = (tr("写出的", "written"), _words(same.one), _words(same.other))
    numbers = {"compared": count(len(same.one))}
    if same.holds and same.tie is not None:
        numbers |= {"alike": count(same.tie), "limit": _power(proofs.TOLERANCE)}
        return Proof(True, "tokens_tie", numbers, (row,), columns)
    return Proof(same.holds, _verdict("tokens", same.holds), numbers, (row,), columns)


def _distribution(same: SameDistribution) -> Proof:
    rows = tuple(
        (tiny_model.piece(token), count(observed), significant(expected))
        for token, observed, expected in zip(
            same.tokens[:SHOWN], same.observed.tolist(), same.expected.tolist(), strict=False
        )
    )
    numbers = {"draws": count(NUM_DRAWS), "p": significant(same.p_value, 2)}
    columns = (tr("抽到", "drawn"), tr("应有", "expected"))
    return Proof(same.holds, _verdict("draws", same.holds), numbers, rows, columns)


def _verdict(kind: str, holds: bool) -> str:
    return kind if holds else f"{kind}_differ"


def _words(tokens: Sequence[int]) -> str:
    return " ".join(map(tiny_model.piece, tokens))


def _power(value: float) -> str:
    """1.9e-06 -> "1.9 × 10⁻⁶"."""
    if value == 0:
        return "0"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits.removesuffix('.0')} × 10{str(int(power)).translate(DIGITS)}"


def _table(proof: Proof) -> str:
    head = ("", *proof.columns)
    lines = [head, ("---",) * 3, *(map(notes.as_typed, row) for row in proof.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
