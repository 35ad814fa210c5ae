"""Chapter 13, three answers to full memory: says nothing that its own runs do not show."""

import json
from dataclasses import replace

import pytest

from sim.studies.pressure import ANSWERS, Comparison
from tests.chapters import ROOT
from tests.pages.rehearsal import open_page
from ui.results import runs
from ui.subjects.systems import pressure

PAGE = open_page("13_systems", "en")
POOLS = PAGE.constants["POOLS"]
LINKS = {
    item["id"]: item["link"]["query"]
    for item in json.loads((ROOT / "assets" / "quiz" / "13.json").read_text("utf-8"))["items"]
}
LIMITS = [int(code) for code in pressure.limits()]


def pressed(pool=3_072, allowed=512, guess=1.0):
    return pressure.outcomes(Comparison(pressure.CLOCK, pool, allowed, guess))


def speeds(**settings):
    return {answer: one.tokens_per_second for answer, one in pressed(**settings).items()}


def numbers(found):
    return {name: value for name, value in pressure.in_blanks(found).items() if "_rule" not in name}


def preset(name):
    values = PAGE.play("pressure").presets[name]
    return PAGE.play("pressure", **values).said["pressure_result"]


@pytest.mark.parametrize("allowed", LIMITS)
def test_nobody_gives_way_where_room_is_kept_to_the_end(allowed):
    for pool in (min(POOLS), 3_072):
        reserved = pressed(pool, allowed)["tensorrt"]
        assert reserved.summary.num_preemptions == reserved.num_again == 0
        assert reserved.summary.num_served == pressure.TRAFFIC.num_requests


@pytest.mark.parametrize("allowed", LIMITS)
def test_letting_many_in_makes_more_tokens_starts_sooner_and_stops_answers_in_the_middle(allowed):
    vllm, sglang, reserved = pressed(allowed=allowed).values()
    assert vllm.tokens_per_second > sglang.tokens_per_second > reserved.tokens_per_second
    assert vllm.summary.ttft.p99 < sglang.summary.ttft.p99 < reserved.summary.ttft.p99
    assert vllm.summary.itl.p99 > 1.3 * reserved.summary.itl.p99
    assert vllm.summary.itl.max > 1 > 0.1 > reserved.summary.itl.max
    assert vllm.num_again > 0


def test_with_known_lengths_reserving_costs_a_small_part_of_the_throughput():
    known, guessed = speeds(allowed=0), speeds()
    assert known["tensorrt"] > 0.75 * known["vllm"]
    assert guessed["tensorrt"] < 0.5 * guessed["vllm"]


def test_with_unknown_lengths_most_of_what_is_reserved_is_never_written():
    series = pressed()["tensorrt"].run.series
    seconds = series.end_seconds - series.start_seconds
    assert seconds @ series.kv_promised > seconds @ series.kv_usage
    far = speeds(allowed=1_024)
    assert far["vllm"] > far["sglang"] > 2 * far["tensorrt"]


def test_where_max_tokens_is_left_high_hardly_anybody_runs():
    assert pressure.answer_tokens() == pytest.approx(1_024 / 8, rel=0.15)
    assert float(preset("pressure_far")["tensorrt_running"]) < 2.5


def test_too_bold_a_guess_retracts_some_and_one_of_them_is_away_for_seconds():
    usual, bold = (pressed(allowed=0, guess=guess)["sglang"] for guess in (1.0, 0.3))
    assert bold.summary.num_preemptions > usual.summary.num_preemptions > 0
    assert bold.summary.itl.max > 5 > 1 > usual.summary.itl.max
    assert preset("pressure_bold").items() >= numbers(pressed(allowed=0, guess=0.3)).items()


@pytest.mark.parametrize("seed", [2, 3])
def test_another_series_of_requests_says_the_same_of_the_three_rules(seed):
    requests = runs.requests(replace(pressure.TRAFFIC, seed=seed))
    for pool, allowed in ((2_048, 0), (3_072, 512), (4_096, 1_024)):
        server = Comparison(pressure.CLOCK, pool, allowed)
        vllm, sglang, reserved = (
            runs.summary(server.setup(answer, requests)) for answer in ANSWERS
        )
        speeds = [one.output_tokens_per_second for one in (vllm, sglang, reserved)]
        assert speeds == sorted(speeds, reverse=True)
        assert vllm.ttft.p99 < sglang.ttft.p99 < reserved.ttft.p99
        assert vllm.num_preemptions > sglang.num_preemptions >= reserved.num_preemptions == 0


def test_the_table_is_headed_by_rules_and_names_no_product():
    said = PAGE.play("pressure").said["pressure_result"]
    assert [said[f"{answer}_rule"] for answer in ANSWERS] == [
        "whoever fits now",
        "room by a guess",
        "room to max_tokens",
    ]


def test_the_pausing_policy_is_the_answer_of_vllm():
    said = preset("pressure_pause")
    for metric in ("speed", "running", "interrupted", "again", "ttft", "itl", "gap"):
        assert said[f"tensorrt_{metric}"] == said[f"vllm_{metric}"]


def test_with_room_for_everybody_all_three_run_alike():
    first, *others = (one.run for one in pressed(max(POOLS), allowed=0).values())
    assert all((run.token_seconds == first.token_seconds).all() for run in others)
    assert len({preset("pressure_room")[f"{name}_speed"] for name in ANSWERS}) == 1


def test_the_cards_say_what_the_table_says():
    played = PAGE.play("pressure")
    said = played.said["pressure_result"]
    for card, answer in zip(played.cards, ANSWERS, strict=True):
        assert card.value.startswith(said[f"{answer}_speed"])
        assert said[f"{answer}_gap"].replace(pressure.NO_BREAK, " ") in card.note


def test_the_links_of_the_self_check_show_what_they_are_for():
    kept, retracted = (
        PAGE.at(LINKS[item]).said["pressure_result"] for item in ("kept_for_nothing", "retracted")
    )
    assert kept["tensorrt_interrupted"] == "0"
    assert float(kept["tensorrt_ttft"].split(pressure.NO_BREAK)[0]) > 50
    assert int(retracted["sglang_interrupted"]) > 1
