"""What may be turned on a sick server, out of a list and knob by knob."""

import re

import pytest

from sim.studies.clinic import CASES, Change, Deployment, changed
from tests.pages.rehearsal import Rehearsal
from ui.course import prose
from ui.subjects.clinic import treatment

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def chapter(**values):
    """A chapter whose controls stand at these values."""
    stand_in = Rehearsal(prose.Prose("", {}))
    stand_in.values = values
    return stand_in


@every_case
def test_all_that_is_offered_has_words_of_its_own_and_a_code_for_the_address(case):
    here, server = chapter(), case.build(0)
    treatment.choose_change(here, "cure", "", case, server)
    codes = here.played.controls["cure"]
    words = {treatment.change_words(change, server) for change in case.offers}
    assert len(words) == len(case.offers) == len(codes) - 1
    assert all(re.fullmatch(r"[\w.\- ]{1,64}", code) for code in codes)
    assert treatment.chosen(case, *codes) == case.offers


@every_case
def test_knobs_that_nobody_has_touched_change_nothing(case):
    assert treatment.turn_knobs(chapter(), case.build(0)) == ()


@every_case
def test_every_place_of_every_knob_is_another_server(case):
    server = case.build(0)
    here = chapter()
    treatment.turn_knobs(here, server)
    for key, places in here.played.controls.items():
        for place in places:
            turned = treatment.turn_knobs(chapter(**{key: place}), server)
            assert len(turned) == (place != treatment.AS_IT_IS)
            assert (changed(server, turned) == server) == (place == treatment.AS_IT_IS)


@every_case
def test_the_knobs_reach_every_cure_of_the_list(case):
    server = case.build(0)
    here = chapter()
    treatment.turn_knobs(here, server)
    for cure in case.cures:
        (knob,) = [knob for knob in treatment.KNOBS if knob.flag == cure.flag]
        assert knob.key in here.played.controls
        assert cure.value in knob.values


def test_keys_of_knobs_fit_into_an_address():
    assert len(set(treatment.KEYS)) == len(treatment.KNOBS)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]{0,23}", key) for key in treatment.KEYS)


def test_a_server_without_a_draft_has_no_knob_for_it():
    with_draft, without = chapter(), chapter()
    treatment.turn_knobs(with_draft, CASES["poor_draft"].build(0))
    treatment.turn_knobs(without, CASES["few_slots"].build(0))
    assert "num_speculative_tokens" in with_draft.played.controls
    assert "num_speculative_tokens" not in without.played.controls


def test_flags_are_those_of_the_real_server():
    server = Deployment((), max_num_seqs=16)
    for change, words in (
        (Change("max_num_seqs", 64), "--max-num-seqs 16 → 64"),
        (Change("api_servers", 4), "--api-server-count 1 → 4"),
        (Change("kv_cache_dtype", "fp8"), "--kv-cache-dtype bf16 → fp8"),
        (Change("chunked_prefill", False), "--no-enable-chunked-prefill"),
        (Change("num_speculative_tokens", 4), "num_speculative_tokens 0 → 4"),
        (Change("routing", "random"), "路由 轮询 → 随机"),
    ):
        assert treatment.change_words(change, server) == words


def test_only_what_seems_to_be_a_cure_tempts():
    case = CASES["few_slots"]
    assert treatment.is_tempted(case, case.lures[:1])
    assert not treatment.is_tempted(case, case.cures)
