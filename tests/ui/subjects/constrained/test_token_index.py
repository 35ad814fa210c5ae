"""outlines-core and our own automaton allow the same tokens, and no pattern ruins the server."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.errors import SimError
from sim.model.constrained import json_schema, pattern
from sim.model.constrained.automaton import compiled
from sim.model.constrained.index import Index
from ui import tiny_model
from ui.subjects.constrained import token_index

TOKENIZER = tiny_model.encoder()
SCHEMA = json_schema.pattern(
    '{"type":"object","properties":{"name":{"type":"string","maxLength":3},'
    '"size":{"type":"number"},"tags":{"type":"array","items":{"enum":["a","ab"]}}}}'
)
PATTERNS = (
    SCHEMA,
    r"20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])",
    "a|ab|abc",  # not only the first option that matches
    "(|a)b?",
    "a*",
    "",
    "^ab$",
    r"[[^&&~~\-]+",  # more than its characters to Rust
    r"\w\W\s\S\d\D",
    "[一-龥]{1,3}。?",
    "[^a][é-€😀-😂]",
    "((a+)+)+b",
    '[^"]{0,30}',  # the library also prepares for texts that begin anywhere
    "a[^b]{20}",
    r"Answer: .{0,40}",
    r'"[^"]{0,9}"|\s',  # no character is left over
)
# More than our automaton by far: the order of what may match counts as a state to the library.
ORDERED = (
    "(((c[bc]|(a|[ab]))([abc][ab]|[^a])([abc][ab]|c)a[ab]([abc]|b))*"
    "([bc]([bc]|[^b])?(((b)?)+){2})*)*"
)


@pytest.fixture(autouse=True)
def _a_busy_machine(monkeypatch):
    """May take its time by the clock; the other process is held to its time on the CPU."""
    monkeypatch.setattr(token_index, "MOST_SECONDS", 30.0)


needs_library = pytest.mark.skipif(not token_index.HAS_LIBRARY, reason="no outlines-core here")


def by_library(text):
    found = token_index.by_library(pattern.parse(text), TOKENIZER)
    assert found, text
    return found


def differences(text):
    """States, reached by the same tokens, that do not allow the same ones."""
    own = Index.of(compiled(text), TOKENIZER)
    theirs = by_library(text).index
    seen = {(0, 0)}
    found = []
    for one, other in (order := [(0, 0)]):
        if (own.allowed(one) != theirs.allowed(other)).any():
            found.append((one, other))
        allowed = own.allowed(one) & theirs.allowed(other)
        pairs = np.stack([own.after[one][allowed], theirs.after[other][allowed]], axis=1)
        new = [pair for pair in map(tuple, np.unique(pairs, axis=0).tolist()) if pair not in seen]
        seen.update(new)
        order += new
    assert {other for _, other in seen} == set(range(theirs.num_states))
    return found


@needs_library
@pytest.mark.parametrize("text", PATTERNS)
def test_the_library_allows_the_tokens_that_our_automaton_allows(text):
    assert differences(text) == []


LETTERS = st.sampled_from(["a", "b", "[ab]", "[^a]", "中", ".", r"\d", r"\.", "é", "[a-z]"])
SOME = st.recursive(
    LETTERS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join).map("({})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}"])).map(
            lambda pair: "({}){}".format(*pair)
        ),
    ),
    max_leaves=6,
)


@needs_library
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(SOME)
def test_the_library_allows_the_tokens_that_our_automaton_allows_for_any_pattern(text):
    assert differences(text) == []


@needs_library
def test_the_page_takes_its_masks_from_the_library():
    built = token_index.build("a|ab", TOKENIZER)
    theirs = by_library("a|ab")
    assert built.by_library
    assert (built.index.after == theirs.index.after).all()
    assert built.index.after.dtype == np.uint16  # as the other process sends them
    assert built.seconds > 0
    assert min(token_index.mask_seconds("a|ab", built.index)) > 0


def test_without_the_library_our_own_index_takes_its_place(monkeypatch):
    monkeypatch.setattr(token_index, "HAS_LIBRARY", False)
    built = token_index.build(SCHEMA, TOKENIZER)
    own = Index.of(compiled(SCHEMA), TOKENIZER)
    assert (built.index.after == own.after).all()


@pytest.mark.parametrize("text", ["(a|b)*a(a|b){20}", ".{256}", "((a{100}){100}){100}"])
def test_what_would_explode_is_refused_before_the_library_is_asked(text, monkeypatch):
    monkeypatch.setattr(token_index, "by_library", None)
    with pytest.raises(SimError, match="too_large"):
        token_index.build(text, TOKENIZER)


@needs_library
@pytest.mark.parametrize("text", [ORDERED, "(a|b)*a(a|b){20}"])
def test_what_explodes_in_the_library_alone_is_given_up(text):
    assert token_index.by_library(pattern.parse(text), TOKENIZER) is None


@needs_library
def test_where_the_library_gives_up_our_own_index_takes_its_place(monkeypatch):
    monkeypatch.setattr(token_index, "MOST_SECONDS", 0.001)
    built = token_index.build(SCHEMA, TOKENIZER)
    assert not built.by_library
    assert (built.index.after == Index.of(compiled(SCHEMA), TOKENIZER).after).all()


def test_our_own_automaton_is_not_enough_of_a_guard():
    assert compiled(ORDERED).num_states < token_index.MAX_STATES


def test_a_pattern_means_the_same_in_rust():
    for text, expected in (
        ("[0-9]", r"[\x{30}-\x{39}]"),
        ("[a-c]|x{2,}", r"(?:[\x{61}-\x{63}]|(?:[\x{78}-\x{78}]){2,})"),
    ):
        assert token_index.as_rust(pattern.parse(text)) == expected
    assert not re.search(r"[&~\[]{2}", token_index.as_rust(pattern.parse("[[&&~~]]")))
