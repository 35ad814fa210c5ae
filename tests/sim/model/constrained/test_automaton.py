"""Patterns and their automata: the same texts as Python's `re`, a place for every fault, caps."""

import random
import re
from contextlib import suppress

import numpy as np
import pytest

from sim.errors import SimError
from sim.model.constrained import automaton, pattern
from sim.model.constrained.automaton import compiled, utf8_spans

PATTERNS = (
    r"20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])",
    r"(a|b)*abb",
    r'[^"\\\x00-\x1f]{0,4}',
    r"[一-龥]+中?",
    r"a{2,4}b{3,}|",
    r".",
    r"(?:vLLM|SGLang)",
    r"[é-€😀-😂]+",
    r"\w+\s?\D",
    r"^ab$",
    r"[]a-]+",
)
LETTERS = 'ab201-3 9中国一é€😀😃龥\n"\\vLMx_]'
WORDS = ("2024-12-31", "2024-13-01", "abb", "aabbb", "vLLM", "SGLang", "中国中", "ab")


@pytest.mark.parametrize("text", PATTERNS)
def test_accepts_what_pythons_re_matches_as_a_whole(text):
    machine, rng = compiled(text), random.Random(1)
    found = 0
    for _ in range(1_500):
        said = "".join(rng.choices(LETTERS, k=rng.randint(0, 4)))
        if rng.random() < 0.3:
            said = rng.choice(WORDS) + said * rng.randint(0, 1)
        expected = re.fullmatch(text, said, re.ASCII) is not None
        assert machine.accepts(said) == expected, said
        found += expected
    assert found > 0


@pytest.mark.parametrize("text", PATTERNS)
def test_from_every_state_but_the_dead_one_the_end_can_be_reached(text):
    machine = compiled(text)
    reaches = machine.accepting.copy()
    for _ in range(machine.num_states):
        reaches |= reaches[machine.table].any(axis=1)
    assert reaches[: machine.dead].all()
    assert not machine.accepting[machine.dead]
    assert (machine.table[machine.dead] == machine.dead).all()


def test_spans_of_characters_are_cut_into_exactly_their_bytes():
    for low, high in ((0, 0x7F), (0x70, 0x900), (0x4E00, 0x9FA5), (0xFFF0, 0x1000F), (0x41, 0x41)):
        counted = sum(
            int(np.prod([last - first + 1 for first, last in sequence]))
            for sequence in utf8_spans((low, high))
        )
        assert counted == high - low + 1


FAULTS = {
    "a**": ("pattern_unsupported", 3),
    "a+?": ("pattern_unsupported", 3),
    "[z-a]": ("pattern_range_backwards", 2),
    r"(a)\1": ("pattern_unsupported", 4),
    "(?=a)": ("pattern_unsupported", 1),
    "a^b": ("pattern_unsupported", 2),
    "a{3,2}": ("pattern_repeat_backwards", 2),
    "a{x}": ("pattern_repeat_unreadable", 2),
    "a{": ("pattern_repeat_unreadable", 2),
    "a{999}": ("pattern_repeat_too_often", 2),
    "ab[cd": ("pattern_class_open", 3),
    "[": ("pattern_class_open", 1),
    "ab)": ("pattern_group_not_open", 3),
    "a(b": ("pattern_group_open", 2),
    "a|*": ("pattern_nothing_to_repeat", 3),
    r"a\q": ("pattern_escape_unknown", 2),
    r"a\x4": ("pattern_escape_unknown", 2),
    "\\": ("pattern_escape_unknown", 1),
    "[^\\x00-\U0010ffff]": ("pattern_class_empty", 1),
    "(" * 50: ("pattern_too_deep", pattern.MAX_DEPTH + 1),
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_is_named_with_its_place(text):
    with pytest.raises(SimError) as caught:
        compiled(text)
    assert (caught.value.code, caught.value.values["place"]) == FAULTS[text]


@pytest.mark.parametrize(
    "text", ["((a{200}){200}){200}", "(.{0,200}a){9}", r"(\W{250}){200}", "a{250}{2}"]
)
def test_a_pattern_that_is_huge_when_written_out_is_refused(text):
    with pytest.raises(SimError):
        compiled(text)


@pytest.mark.parametrize(
    "text", ["(a|b)*a(a|b){30}", "." * 160, ".{256}", "(((a?){9}){9}){9}", "(a|aa|aaa)*(.|a|b){99}"]
)
def test_a_table_that_would_be_huge_is_given_up_early(text, monkeypatch):
    worked = []
    targets = automaton._Many.targets

    def counted(self, *given):
        worked.append(self.work)
        return targets(self, *given)

    monkeypatch.setattr(automaton._Many, "targets", counted)
    with pytest.raises(SimError, match="automaton_too_large"):
        compiled(text)
    assert len(worked) <= automaton.MAX_STATES
    assert worked[-1] <= automaton.MAX_WORK


def test_a_pattern_that_hangs_a_backtracking_matcher_is_a_small_table():
    machine = compiled("((a+)+)+b")
    assert machine.num_states < 10
    assert not machine.accepts("a" * 5_000)
    assert machine.accepts("a" * 5_000 + "b")


def test_any_text_is_read_or_refused_with_a_code():
    rng = random.Random(2)
    for _ in range(1_500):
        text = "".join(rng.choices("ab()[]{}|*+?.^$\\,-0129dxé中", k=rng.randint(0, 12)))
        with suppress(SimError):
            compiled(text)


def test_a_quoted_text_matches_itself_and_nothing_else():
    text = r"a.b*[c](d){e}|^$\+?"
    machine = compiled(pattern.quoted(text))
    assert machine.accepts(text)
    assert not machine.accepts(text.replace(".", "x"))


@pytest.mark.parametrize(
    "text", [r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"[^b\s]", r"[^\x00-y]"]
)
def test_a_class_has_the_characters_that_it_has_in_python(text):
    machine = compiled(text)
    characters = [*map(chr, range(128)), "é", "中", "😀"]
    accepted = [each for each in characters if machine.accepts(each)]
    assert accepted == [each for each in characters if re.fullmatch(text, each, re.ASCII)]
