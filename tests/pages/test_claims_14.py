"""What chapter 14 says is what its runs give."""

import pytest

from sim.studies.clinic import CASES, THRESHOLDS, answers
from tests.pages.rehearsal import open_page
from ui.practice import predict
from ui.results import runs
from ui.subjects.clinic import treatment
from ui.subjects.clinic.in_words import questions

SIGNS = {  # a row of the table, or its end
    "few_slots": "16 / 16",
    "lora_slots": "24 / 4",
    "slow_rank": "14.5 ms / 43.6 ms",
}
OF_THE_COURSE = {
    "long_prompts": {"max_num_batched_tokens-2048", "longest_prompt-16000"},
    "kv_full": {"max_num_seqs-32", "quantization-fp8", "kv_cache_dtype-fp8"},
    "thin_steps": {"static-false", "max_num_seqs-32", "largest_graph-512"},
}


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
    assert int(said["failed"]) > 20
    assert int(said["throughput"]) < int(said["paged"].replace(",", ""))


def test_a_cure_is_judged_and_the_reading_that_tells_it_apart_is_told(page):
    assert "kept" in page.play("hook", cure="kv_cache_dtype-fp8").said
    assert "cause" not in page.play("hook").said
    cured = page.play("hook", cure="kv_cache_dtype-fp8").said
    assert cured["cause"]["cause"].startswith("KV is full")


def test_a_wrong_cure_is_told_why_it_tempts_and_the_cause_only_if_asked(page):
    wrong = {"case": "few_slots", "cure1": "gpu_memory_utilization-0.95"}
    said = page.play("alone", **wrong).said
    assert {"not_kept", "tempts"} <= set(said)
    assert not {"kept", "cause", "tempting"} & set(said)
    assert "cause" in page.play("alone", **wrong, reveal=True).said


def test_the_tempting_one_is_run_beside_a_cure_that_works(page):
    said = page.play("alone", case="few_slots", cure1="max_num_seqs-64").said
    assert said["tempting"]["change"] == "--gpu-memory-utilization 0.9 → 0.95"
    lure = runs.panel("few_slots", 0, CASES["few_slots"].lures[:1])
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
        played = page.play("alone", case="few_slots", **answers)
        assert [key for key in given if key in played.controls] == list(given)[: number + 1]
        assert "cure" not in played.said
    assert "cure" in page.play("alone", case="few_slots", **given).said


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
    knobs = page.play("alone", case="few_slots", how="knobs", max_num_seqs="64")
    listed = page.play("alone", case="few_slots", cure1="max_num_seqs-64")
    assert knobs.cards == listed.cards
    assert "kept" in knobs.said


def test_more_knobs_than_the_budget_are_not_run(page):
    two = {"max_num_seqs": "64", "kv_cache_dtype": "fp8"}
    assert "kept" in page.play("alone", case="few_slots", how="knobs", **two).said
    over = page.play("alone", case="few_slots", how="knobs", **two, max_num_batched_tokens="512")
    assert over.said["over_budget"] == {"turned": 3, "budget": 2}
    assert "kept" not in over.said
    assert over.cards == page.play("alone", case="few_slots").cards


def test_a_cure_by_more_gpus_says_how_many(page):
    said = page.play("alone", case="few_slots", how="knobs", num_replicas="8").said
    assert said["kept"]["gpus"] == 8
    assert said["kept"]["gpus_before"] == 1


def test_the_log_of_a_fleet_is_that_of_all_its_replicas(page):
    log = page.play("alone", case="scattered").said["readings"]["log"]
    assert [line.split()[1:3] for line in log.splitlines()] == [
        ["Engine", f"00{number}:"] for number in range(4)
    ]
    assert len({line.split()[0] for line in log.splitlines()}) == 1  # the same moment


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_case_has_its_story_its_cause_and_a_word_on_what_tempts(language):
    page = open_page("14_clinic", language)
    for code in CASES:
        said = page.play("alone", case=code).said
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


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("code", CASES)
def test_what_tells_a_case_apart_is_told_before_anything_is_answered(language, code):
    said = open_page("14_clinic", language).play("alone", case=code)
    assert "step1" in said.controls
    assert "answered" not in said.said
    rows = said.said["more"]["table"].splitlines()
    assert len(rows) >= 10
    assert SIGNS.get(code, "") in said.said["more"]["table"]
    assert "nan" not in said.said["more"]["table"]


def test_a_trade_is_told_as_one_and_who_pays_for_it(page):
    said = page.play("alone", case="long_prompts", cure1="longest_prompt-16000")
    assert {"not_kept", "trade"} <= set(said.said)
    assert "tempts" not in said.said
    assert said.said["not_kept"]["toll"].startswith("Turned away: ")
    said = page.play("alone", case="long_answers", cure1="max_tokens-256").said
    assert said["not_kept"]["toll"].startswith("Answers cut short: ")
    said = page.play("alone", case="retry_storm", cure1="retries-0").said
    assert said["not_kept"]["toll"].startswith("Left without an answer: ")


@pytest.mark.parametrize("code", ["long_prompts", "kv_full", "thin_steps"])
def test_the_cures_of_the_course_can_be_tried(page, code):
    offered = set(page.play("alone", case=code).controls["cure1"])
    assert OF_THE_COURSE[code] <= offered


def test_another_way_to_keep_the_promise_is_taken_and_said_to_be_one(page):
    aimed = page.play("alone", case="few_slots", cure1="max_num_seqs-64").said
    assert "another" not in aimed
    other = page.play("alone", case="few_slots", how="knobs", num_replicas="8").said
    assert {"kept", "another"} <= set(other)


def test_a_server_that_vllm_would_not_start_is_not_run(page):
    said = page.play("alone", case="long_head", how="knobs", chunked_prefill="false")
    assert "no_start" in said.said
    assert "not_kept" not in said.said
    assert said.cards == page.play("alone", case="long_head").cards
