"""What chapter 14 says is what its runs give."""

import pytest

from sim.clinic import CASES, THRESHOLDS, answers
from tests.pages.rehearsal import open_page
from ui import clinic, predict, runs


@pytest.fixture(scope="module")
def page():
    return open_page("14_clinic")


def test_raising_the_batch_limit_changes_nothing_of_what_is_asked(page):
    guess = page.play("hook").guesses["more_seqs"]
    assert isinstance(guess, predict.Trends)
    assert set(guess.truth.values()) == {"same"}


def test_the_worked_case_is_read_as_its_own_readings_are(page):
    here = runs.panel("kv_full", 0)
    assert answers(here.readings, CASES["kv_full"].slo, THRESHOLDS) == ("both", "full", "bandwidth")
    said = page.play("hook").text["hook_steps"]
    assert "TTFT p99 is 33.2 s (target 10.0 s)" in said
    assert "peaks at 100%" in said


def test_run_twice_contiguous_admits_few_and_paging_preempts(page):
    said = page.play("hook").said["hook_twice"]
    assert int(said["running"]) < 15 < int(said["waiting"])
    assert int(said["preemptions"]) > 100
    assert int(said["throughput"]) < int(said["paged"].replace(",", ""))


def test_a_cure_is_judged_and_the_reading_that_tells_it_apart_is_told(page):
    assert "kept" in page.play("hook", cure="kv_cache_dtype-fp8").said
    tempting = page.play("hook", cure="max_num_seqs-512").said
    assert "not_kept" in tempting
    assert "kept" not in tempting
    assert tempting["cause"]["cause"].startswith("KV is full")
    assert "cause" not in page.play("hook").said


def test_a_cure_shows_what_was_before_on_its_cards(page):
    cards = {card.label: card.note for card in page.play("half", cure="max_num_seqs-64").cards}
    assert cards["TTFT p99"].startswith("before ")
    assert page.play("half").cards[0].note == ""


@pytest.mark.parametrize(
    ("number", "answer", "verdict"),
    [(2, "room", "Yes"), (2, "full", "No"), (3, "bandwidth", "Yes"), (3, "low", "No")],
)
def test_each_answer_of_the_half_worked_case_gets_its_verdict(page, number, answer, verdict):
    said = page.play("half", **{f"step{number}": answer}).text["answered"]
    assert said.startswith(f"**{verdict}**")


def test_half_of_both_is_half_right():
    assert clinic.asked(1, "itl", "both") == "part"
    assert clinic.asked(1, "neither", "both") == "wrong"
    assert clinic.asked(1, "open", "both") == "open"


def test_two_changes_are_run_together_and_the_same_twice_counts_once():
    case = CASES["few_slots"]
    assert len(clinic.chosen(case, "max_num_seqs-64", "kv_cache_dtype-fp8")) == 2
    assert len(clinic.chosen(case, "max_num_seqs-64", "max_num_seqs-64")) == 1
    assert clinic.chosen(case, clinic.NOTHING, "no-such-flag") == ()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_case_has_its_story_its_cause_and_a_word_on_what_tempts(language):
    page = open_page("14_clinic", language)
    for seed in (0, 1, 2, 3, 4, 9, 13, 14, 15, 24, 28, 45):  # each case once
        said = page.play("alone", seed=seed).said
        assert said["story"]["story"]
        assert said["readings"]["log"].count("Engine 000") == 1


def test_the_example_is_read_like_the_server_it_comes_from(page):
    said = page.play("bring")
    assert "bring_example" in said.said
    assert said.text["bring_result"].count("→") == 3
    assert "KV limits concurrency" in said.text["bring_result"]


def test_thresholds_change_what_is_read(page):
    assert "→ Both." in page.play("bring").text["bring_result"]
    assert "→ Queueing or prefill." in page.play("bring", itl=0.2).text["bring_result"]
    assert "Mostly decoding" in page.play("bring", busy=0.6).text["bring_result"]
