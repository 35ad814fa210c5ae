"""What chapter 14 says is what its runs give."""

import pytest

from sim.studies.clinic import CASES, THRESHOLDS, answers, number_of
from tests.pages.rehearsal import open_page
from ui.practice import predict
from ui.results import runs
from ui.subjects.clinic import questions, treatment

FEW_SLOTS, FLEET = number_of("few_slots"), number_of("scattered")


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
    assert f"TTFT p99 is {questions.latency(here.readings.ttft_p99)} (target 10.0 s)" in said
    assert "peaks at 100%" in said


def test_run_twice_contiguous_admits_few_and_paging_preempts(page):
    said = page.play("hook").said["hook_twice"]
    assert int(said["running"]) < 15 < int(said["waiting"])
    assert int(said["preemptions"]) > 100
    assert int(said["throughput"]) < int(said["paged"].replace(",", ""))


def test_a_cure_is_judged_and_the_reading_that_tells_it_apart_is_told(page):
    assert "kept" in page.play("hook", cure="kv_cache_dtype-fp8").said
    assert "cause" not in page.play("hook").said
    cured = page.play("hook", cure="kv_cache_dtype-fp8").said
    assert cured["cause"]["cause"].startswith("KV is full")


def test_a_wrong_cure_is_told_why_it_tempts_and_the_cause_only_if_asked(page):
    wrong = {"seed": FEW_SLOTS, "cure1": "gpu_memory_utilization-0.95"}
    said = page.play("alone", **wrong).said
    assert {"not_kept", "tempts"} <= set(said)
    assert not {"kept", "cause", "tempting"} & set(said)
    assert "cause" in page.play("alone", **wrong, reveal=True).said


def test_the_tempting_one_is_run_beside_a_cure_that_works(page):
    said = page.play("alone", seed=FEW_SLOTS, cure1="max_num_seqs-64").said
    assert said["tempting"]["change"] == "--gpu-memory-utilization 0.9 → 0.95"
    lure = runs.panel("few_slots", FEW_SLOTS, CASES["few_slots"].lures[:1])
    assert questions.latency(lure.readings.ttft_p99) in said["tempting"]["reading"]


def test_a_cure_shows_what_was_before_on_its_cards(page):
    played = page.play("half", half_cure="max_num_seqs-64")
    cards = {card.label: card.note for card in played.cards}
    assert cards["TTFT p99"].startswith("before ")
    assert page.play("half").cards[0].note == ""


@pytest.mark.parametrize(
    ("number", "answer", "verdict"),
    [(2, "room", "Yes"), (2, "full", "No"), (3, "bandwidth", "Yes"), (3, "low", "No")],
)
def test_each_answer_of_the_half_worked_case_gets_its_verdict(page, number, answer, verdict):
    answers = {"half_step2": "room", f"half_step{number}": answer}
    assert page.play("half", **answers).text["answered"].startswith(f"**{verdict}**")


def test_questions_come_one_by_one_and_then_the_cure(page):
    given = {"step1": "ttft", "step2": "room", "step3": "bandwidth"}
    for number in range(3):
        answers = dict(list(given.items())[:number])
        played = page.play("alone", seed=FEW_SLOTS, **answers)
        assert [key for key in given if key in played.controls] == list(given)[: number + 1]
        assert "cure" not in played.said
    assert "cure" in page.play("alone", seed=FEW_SLOTS, **given).said


def test_half_of_both_is_half_right():
    assert questions.asked(1, "itl", "both") == "part"
    assert questions.asked(1, "neither", "both") == "wrong"
    assert questions.asked(1, "open", "both") == "open"


def test_two_changes_are_run_together_and_the_same_twice_counts_once():
    case = CASES["few_slots"]
    assert len(treatment.chosen(case, "max_num_seqs-64", "kv_cache_dtype-fp8")) == 2
    assert len(treatment.chosen(case, "max_num_seqs-64", "max_num_seqs-64")) == 1
    assert treatment.chosen(case, treatment.NOTHING, "no-such-flag") == ()


def test_a_knob_cures_as_its_change_in_the_list_does(page):
    knobs = page.play("alone", seed=FEW_SLOTS, how="knobs", max_num_seqs="64")
    listed = page.play("alone", seed=FEW_SLOTS, cure1="max_num_seqs-64")
    assert knobs.cards == listed.cards
    assert "kept" in knobs.said


def test_more_knobs_than_the_budget_are_not_run(page):
    two = {"max_num_seqs": "64", "kv_cache_dtype": "fp8"}
    assert "kept" in page.play("alone", seed=FEW_SLOTS, how="knobs", **two).said
    over = page.play("alone", seed=FEW_SLOTS, how="knobs", **two, max_num_batched_tokens="512")
    assert over.said["over_budget"] == {"turned": 3, "budget": 2}
    assert "kept" not in over.said
    assert over.cards == page.play("alone", seed=FEW_SLOTS).cards


def test_a_cure_by_more_gpus_says_how_many(page):
    said = page.play("alone", seed=FEW_SLOTS, how="knobs", num_replicas="8").said
    assert said["kept"]["gpus"] == 8
    assert said["kept"]["gpus_before"] == 1


def test_the_log_of_a_fleet_is_that_of_all_its_replicas(page):
    log = page.play("alone", seed=FLEET).said["readings"]["log"]
    assert [line.split()[1:3] for line in log.splitlines()] == [
        ["Engine", f"00{number}:"] for number in range(4)
    ]
    assert len({line.split()[0] for line in log.splitlines()}) == 1  # the same moment


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_case_has_its_story_its_cause_and_a_word_on_what_tempts(language):
    page = open_page("14_clinic", language)
    for code in CASES:
        said = page.play("alone", seed=number_of(code)).said
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
