"""Chapter 3 says nothing that its own runs do not show.

Every checkable sentence of the text, of the presets, of the self-check and of the links is held
here against what the page itself simulates.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from sim import metrics
from sim.views import stations, streaming
from tests.chapters import ROOT
from tests.pages.rehearsal import open_page
from ui.controls.traffic import Traffic
from ui.player.painters.timeline import Timeline
from ui.practice import quiz
from ui.results import runs
from ui.words.numbers import seconds

LATENCY = open_page("03_latency")
HOST = LATENCY.constants["HOST"]
PROMPTS, RATES, OUTPUTS, LENGTHS = (
    LATENCY.constants[name] for name in ("PROMPTS", "RATES", "OUTPUTS", "LENGTHS")
)
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "03.json").read_text("utf-8"))["items"]
}
A = 0  # the neighbour in the first act, the writer in the third
B = 1


@cache
def journey(prompt=1000):
    """B's way, as the first act draws it."""
    setup = LATENCY.play("hook", prompt=prompt).setup
    sent = next(request for request in setup.requests if request.id == B)
    arrives = sent.arrival_seconds - HOST.tokenize(prompt)
    request = stations.Request(B, arrives, prompt, sent.output_tokens)
    return stations.journey(request, runs.steps(setup), HOST)


def itl(journey):
    return np.diff(journey.seen_seconds)


def loaded(**values):
    """Arrival rate -> setup, for one mean output length."""
    setups = LATENCY.play("load", **values).setups
    slowest_first = sorted(setups, key=lambda setup: -setup.requests[-1].arrival_seconds)
    return dict(zip(RATES, slowest_first, strict=True))


@cache
def load(**values):
    return {rate: runs.summary(setup) for rate, setup in loaded(**values).items()}


def prefill(summary):
    return summary.ttft.mean - summary.queue_time.mean


@cache
def written(stalls=1, long=4000, tokens=81):
    """A's record among its visitors, and which of its gaps ran into a prefill."""
    *_, setup = LATENCY.play("gaps", stalls=stalls, long=long, tokens=tokens).setups
    run = runs.run(setup)
    return run.records[A], metrics.beside_prefill(run, run.records[A])


def statistics(**values):
    return metrics.Distribution.of(metrics.itl(written(**values)[0]))


@cache
def streamed(interval=5, ask=4000):
    played = LATENCY.play("tools", interval=interval, ask=ask)
    return streaming.stream(runs.run(played.setup).records[0], interval)


def timeline(act, **values):
    """The frames of an act's only player."""
    (frames,) = LATENCY.play(act, **values).frames
    assert isinstance(frames, Timeline)
    return frames


def shown(item):
    assert QUIZ[item]["link"]["page"] == "03_latency"
    return LATENCY.at(QUIZ[item]["link"]["query"])


# -- where the first token comes from ---------------------------------------------------------


def test_when_b_arrives_the_gpu_is_busy_with_a_step_for_a():
    for prompt in PROMPTS:
        first, *_ = journey(prompt).others
        assert (first.request_id, first.start_seconds) == (
            A,
            journey(prompt).request.arrival_seconds,
        )


def test_cpu_then_queue_then_gpu_then_text():
    for prompt in PROMPTS:
        places = [one.place for one in journey(prompt).stations if one.token == 1]
        assert places == ["cpu", "queue", "gpu", "gpu", "cpu"]


def test_ttft_is_the_sum_of_its_stations_and_no_decode_step_is_in_it():
    for prompt in PROMPTS:
        way = journey(prompt)
        kinds = ("tokenize", "queue", "prefill", "sample", "detokenize")
        assert sum(way.seconds_of(kind) for kind in kinds) == pytest.approx(way.ttft)
        assert way.seconds_of("decode", token=1) == 0
        first_decode = next(one for one in way.stations if one.kind == "decode")
        assert first_decode.token == 2


def test_the_picture_and_the_prose_show_that_very_journey():
    played, frames = LATENCY.play("hook"), timeline("hook")
    way = journey()
    (ttft, *gaps) = [span for span in frames.spans if span.kind == "measured"]
    assert ttft.end - ttft.start == pytest.approx(way.ttft)
    assert [span.end - span.start for span in gaps] == pytest.approx(itl(way))
    assert played.said["hook_result"]["ttft"] == seconds(way.ttft)
    assert played.said["hook_formula"]["decode"] == seconds(way.seconds_of("decode", token=2))


def test_each_station_has_a_frame_with_a_note_of_its_own():
    frames = timeline("hook")
    assert len(frames.at) == len(journey().stations) + 1
    assert all(earlier < later for earlier, later in pairwise(frames.at))
    seen = [note for note in frames.notes if "is on the screen" in note]
    assert seen == [frames.notes[5]]
    assert seconds(journey().ttft) in seen[0]
    assert not any("decode step" in note for note in frames.notes[:6])


def test_the_common_guess_counts_a_step_too_many_and_forgets_four_pieces():
    assert LATENCY.play("hook").guesses["first_token"].truth == "all_stations"
    for prompt in PROMPTS:
        way = journey(prompt)
        guess = way.seconds_of("prefill") + way.seconds_of("decode", token=2)
        kinds = ("sample", "queue", "tokenize", "detokenize")
        forgotten = [way.seconds_of(kind) for kind in kinds]
        assert guess - way.seconds_of("decode", token=2) + sum(forgotten) == pytest.approx(way.ttft)
        assert min(forgotten) > 0
    said = LATENCY.play("hook").text["hook_outcome"]
    assert "forgets sampling, the queue and both pieces on the CPU" in said


def test_the_gpu_begins_with_token_2_at_once_while_the_cpu_makes_text():
    for prompt in PROMPTS:
        sampled, text, decode = journey(prompt).stations[3:6]
        assert (sampled.kind, text.kind, decode.kind) == ("sample", "detokenize", "decode")
        assert sampled.end_seconds == text.start_seconds == decode.start_seconds


def test_prefill_grows_almost_in_proportion_from_where_the_text_says_and_not_before():
    took = {prompt: journey(prompt).seconds_of("prefill") for prompt in PROMPTS}
    bends = 500
    assert f"from about {bends} tokens on" in LATENCY.play("hook").text["hook_result"]
    short = [took[prompt] for prompt in PROMPTS if prompt < bends]
    assert max(short) < 1.01 * min(short)
    per_token = [took[prompt] / prompt for prompt in PROMPTS if prompt >= bends]
    assert max(per_token) < 1.2 * min(per_token)


def test_the_gaps_hardly_change_with_the_prompt():
    gaps = [gap for prompt in PROMPTS for gap in itl(journey(prompt))]
    assert max(gaps) < 1.1 * min(gaps)


# -- under load, ttft is queueing -------------------------------------------------------------


def test_sixteen_at_a_time_at_random_the_same_requests_at_every_rate():
    setups = loaded()
    assert {setup.policy.max_num_seqs for setup in setups.values()} == {16}
    lengths = {
        tuple((request.prompt_tokens, request.output_tokens) for request in setup.requests)
        for setup in setups.values()
    }
    assert len(lengths) == 1
    for rate, setup in setups.items():
        last = setup.requests[-1].arrival_seconds
        assert len(setup.requests) / last == pytest.approx(rate, rel=0.2)


def test_prefill_is_almost_flat_and_the_queue_takes_off():
    by_rate = load()
    flat = [prefill(summary) for summary in by_rate.values()]
    assert max(flat) < 1.15 * min(flat)
    queue = [summary.queue_time.mean for summary in by_rate.values()]
    assert all(later > earlier for earlier, later in pairwise(queue))
    assert queue[-1] > 100 * queue[0]
    assert queue[RATES.index(8)] < 3 * queue[0]  # it is flat too, until some load


def test_the_same_server_differs_a_hundredfold_in_ttft():
    by_rate = load()
    assert by_rate[20].ttft.p99 > 50 * by_rate[1].ttft.p99
    assert by_rate[20].ttft.p50 > 100 * by_rate[1].ttft.p50


def test_quiet_busy_overloaded_and_longer_answers_are_what_they_are_called():
    loads = LATENCY.play("load").presets
    quiet, busy, over = (
        load()[loads[name]["rate"]] for name in ("load_quiet", "load_busy", "load_over")
    )
    assert quiet.queue_share < 0.25
    assert quiet.queue_time.p50 < 0.005
    assert busy.ttft.p50 < 1.4 * quiet.ttft.p50
    assert 1.6 * quiet.ttft.mean < busy.ttft.mean < 2.6 * quiet.ttft.mean
    assert busy.ttft.p99 > 4 * busy.ttft.mean
    assert over.queue_share > 0.95
    longer = loads["load_long"]
    usual, long = load()[longer["rate"]], load(output=longer["output"])[longer["rate"]]
    assert longer["output"] == 2 * 200
    assert usual.queue_share < 0.4
    assert long.ttft.mean > 10 * usual.ttft.mean
    assert prefill(long) == pytest.approx(prefill(usual), rel=0.1)


def test_the_time_to_tokenize_a_very_long_prompt_is_that_of_the_assumed_host():
    said = LATENCY.play("hook").said["hook_result"]
    assert said["tokenize_long"] == seconds(HOST.tokenize(100_000)) == "201 ms"
    for prompt in LATENCY.constants["PROMPTS"]:
        seen = journey(prompt)
        assert seen.seconds_of("tokenize") == pytest.approx(HOST.tokenize(prompt))


def test_on_the_edge_luck_decides_how_far_the_mean_lies_above_the_quiet_one():
    shape = Traffic(
        LATENCY.constants["NUM_REQUESTS"], prompt_tokens=500, output_tokens=200, spread=4
    )
    ratios = []
    for seed in range(6):
        quiet, busy = (
            runs.summary(LATENCY.constants["CROWDED"].serving(replace(shape, seed=seed).at(rate)))
            for rate in (2, 10)
        )
        assert quiet.queue_share < 0.25  # quiet whoever comes
        ratios.append(busy.ttft.mean / quiet.ttft.mean)
    assert ratios[0] < 2.5  # the draw of the page
    assert max(ratios) > 20
    assert min(ratios) > 2


def test_in_overload_the_later_one_arrives_the_longer_it_waits():
    waits = [metrics.queue_time(record) for record in metrics.served(runs.run(loaded()[16]))]
    thirds = [np.mean(part) for part in np.array_split(waits, 3)]
    assert thirds[0] < thirds[1] < thirds[2]


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_text_has_the_queue_take_off_only_where_it_does(output):
    by_rate = load(output=output)
    first, last = by_rate[RATES[0]], by_rate[RATES[-1]]
    for rate in (RATES[0], 16):
        played = LATENCY.play("load", output=output, rate=rate)
        if output >= 100:
            said = played.said["load_takes_off"]
            assert "load_stays_low" not in played.said
            assert last.queue_time.mean > 5 * first.queue_time.mean
        else:
            said = played.said["load_stays_low"]
            assert "load_takes_off" not in played.said
            assert max(summary.queue_share for summary in by_rate.values()) < 0.3
            assert last.ttft.mean < 1.5 * first.ttft.mean
        assert (said["quiet"], said["full"]) == (seconds(first.ttft.mean), seconds(last.ttft.mean))


def test_little_s_law_holds_for_those_who_wait():
    for setup in loaded().values():
        run, summary = runs.run(setup), runs.summary(setup)
        arrivals = [request.arrival_seconds for request in setup.requests]
        events = sorted([(at, 1) for at in arrivals] + [(at, -1) for at in run.scheduled_seconds])
        waiting = np.cumsum([change for _, change in events])[:-1]
        area = np.sum(waiting * np.diff([at for at, _ in events]))
        assert area == pytest.approx(summary.queue_time.mean * summary.num_served)


# -- a stall ----------------------------------------------------------------------------------


def test_a_diamond_is_a_gap_that_ran_into_somebody_else_s_prefill():
    for stalls in range(5):
        record, stalled = written(stalls)
        gaps = metrics.itl(record)
        assert np.sum(stalled) == stalls
        assert len(gaps) == 80
        if stalls:
            assert min(gaps[stalled]) > 10 * max(gaps[~stalled])


def steps_with(request_id, setup):
    return sum(
        work.request_id == request_id and work.is_prefill
        for step in runs.steps(setup)
        for work in step.work
    )


def test_a_long_prompt_that_comes_alone_takes_one_step_and_one_that_is_crowded_may_take_two():
    places = LATENCY.play("gaps").controls
    for long in places["long"]:
        *_, setup = LATENCY.play("gaps", stalls=1, long=long).setups
        assert steps_with(1, setup) == 1
    *_, crowded = LATENCY.play("gaps", stalls=4, long=max(places["long"])).setups
    assert max(steps_with(visitor, crowded) for visitor in range(1, 5)) == 2


def test_tpot_is_the_mean_of_these_same_gaps():
    for tokens in LENGTHS[1:]:
        record, _ = written(tokens=tokens)
        assert metrics.tpot(record) == pytest.approx(np.mean(metrics.itl(record)))
        n, e2e, ttft = len(record.token_seconds), metrics.e2e(record), metrics.ttft(record)
        assert metrics.tpot(record) == pytest.approx((e2e - ttft) / (n - 1))


def test_of_the_four_lines_the_mean_and_the_median_hardly_move():
    calm, one, four = statistics(stalls=0), statistics(stalls=1), statistics(stalls=4)
    assert calm.max < 1.05 * calm.p50
    assert one.p50 == pytest.approx(calm.p50, rel=0.01)
    assert one.mean < 1.2 * calm.mean
    assert one.mean - calm.mean < 0.002
    assert one.p99 > 3 * calm.p99
    assert one.max > 10 * calm.max
    assert four.mean < 2 * calm.mean < 10 * calm.p99 < four.p99


def test_p99_sees_a_stall_only_when_it_is_about_one_gap_in_a_hundred():
    often, rare = statistics(tokens=81), statistics(tokens=321)
    assert often.p99 > 3 * often.p50
    assert rare.p99 < 1.05 * rare.p50
    assert rare.max > 10 * rare.p50


def test_the_three_presets_show_what_they_say():
    presets = LATENCY.play("gaps").presets
    one = statistics(**presets["gaps_one"])
    assert one.max > 10 * one.p50
    rare = statistics(**presets["gaps_rare"])
    assert rare.p99 < 1.05 * rare.p50
    single = LATENCY.play("gaps", **presets["gaps_none"])
    assert "gaps_result" not in single.said
    assert single.said["gaps_single"] == {"ttft": seconds(metrics.ttft(written(tokens=1)[0]))}
    assert [card.value for card in single.cards] == ["–"] * 4
    assert len(metrics.itl(written(tokens=1)[0])) == 0


def test_one_gap_is_all_four_lines_and_no_stall_is_spread():
    for stalls in range(5):
        played = LATENCY.play("gaps", tokens=2, stalls=stalls, long=8000)
        assert len({card.value for card in played.cards}) == 1
        assert "gaps_only_one" in played.said
        assert "gaps_spread" not in played.said


@pytest.mark.parametrize("tokens", LENGTHS[2:])
def test_the_text_spreads_stalls_wherever_there_are_some(tokens):
    for long in LATENCY.constants["LONG_PROMPTS"]:
        for stalls in range(5):
            played, found = (
                LATENCY.play("gaps", tokens=tokens, stalls=stalls, long=long),
                statistics(tokens=tokens, stalls=stalls, long=long),
            )
            assert ("gaps_spread" in played.said) == (stalls > 0)
            assert ("gaps_calm" in played.said) == (stalls == 0)
            if stalls:
                assert found.mean > 1.005 * found.p50
            else:
                assert found.max < 1.05 * found.p50


def test_each_long_prompt_is_one_step_and_stalls_a_once():
    for long in LATENCY.constants["LONG_PROMPTS"]:
        assert np.sum(written(stalls=3, long=long)[1]) == 3


# -- several rulers ---------------------------------------------------------------------------


def test_messages_change_the_lower_lane_and_not_the_upper_one():
    def lanes(interval):
        spans = timeline("tools", interval=interval).spans
        return [[span for span in spans if span.lane == lane] for lane in (0, 1)]

    upper, lower = lanes(1)
    for interval in (2, 5, 10, 20):
        assert lanes(interval)[0] == upper
        assert len(lanes(interval)[1]) == 1 + 20 // interval < len(lower)


def test_gaps_between_messages_grow_with_the_interval_and_nothing_else_does():
    single = streamed(1)
    for interval in (2, 5, 10, 20):
        answer = streamed(interval)
        assert streaming.mean_gap(answer) == pytest.approx(interval * streaming.mean_gap(single))
        assert (answer.ttft, answer.e2e) == (single.ttft, single.e2e)
        for formula in (streaming.after_first, streaming.over_all):
            assert formula(answer) == formula(single)


def test_the_table_is_the_list_of_definitions():
    table = LATENCY.play("tools").text["tools_table"]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]
    said = {
        (tool.replace(" serve", ""), metric): formula
        for tool, *formulas in (row for row in rows if len(row) == 3)
        for metric, formula in zip(("ITL", "TPOT"), formulas, strict=True)
    }
    words: dict[Callable[[streaming.Stream], float], str] = {
        streaming.after_first: "(E2E − TTFT) ÷ (N − 1)",
        streaming.over_all: "E2E ÷ N",
        streaming.mean_gap: "every gap between messages",
    }
    defined = {
        (one.tool, one.metric): words[one.of]
        for one in streaming.DEFINITIONS
        if one.metric != "ICL"
    }
    assert {key: formula for key, formula in said.items() if "none" not in formula} == defined


def test_the_words_itl_and_tpot_come_with_several_formulas_each():
    for word, num_formulas in (("ITL", 3), ("TPOT", 2)):
        formulas = {one.of for one in streaming.DEFINITIONS if one.metric == word}
        assert len(formulas) == num_formulas


def test_the_page_shows_the_numbers_of_the_run(open_page):
    app = open_page("pages/03_latency.py", lang="en", part="tools", interval=10)
    text = "\n".join(part.value for part in app.main.get("markdown"))
    assert f"**{seconds(streaming.mean_gap(streamed(10)))}**" in text


# -- the self-check ---------------------------------------------------------------------------


def test_right_answers_stand_in_different_places():
    places = [
        [option["right"] for option in item["options"]].index(True)
        for item in QUIZ.values()
        if item["kind"] == "single"
    ]
    assert len(set(places)) >= 4
    assert max(places.count(place) for place in places) <= len(places) / 2


def test_where_token_1_comes_from():
    shown("where_token_1")
    for kind in ("prefill", "sample"):
        assert journey().seconds_of(kind, token=1) > 0
    assert journey().seconds_of("decode", token=1) == 0


def test_stations_in_order():
    shown("stations_in_order")
    order = [one.kind for one in journey(50).stations if one.token == 1]
    named = [
        option["text"]["en"].split(":")[0].lower()
        for option in QUIZ["stations_in_order"]["options"]
    ]
    assert named == ["tokenize", "queue", "prefill", "sample", "detokenize"] == order


def test_tpot_by_hand():
    shown("tpot_by_hand")
    answer = streaming.Stream(0.0, np.linspace(0.4, 1.6, 41), np.ones(41, dtype=int))
    (item,) = [one for one in quiz.load("03") if one.id == "tpot_by_hand"]
    assert item.answer
    assert item.answer.matches(1000 * streaming.after_first(answer))
    over_all, over_n, no_ttft = item.lures
    assert over_all.matches(1000 * streaming.over_all(answer))
    assert over_n.matches(1000 * (answer.e2e - answer.ttft) / 41)
    assert no_ttft.matches(1000 * answer.e2e / 40)


def test_everybody_at_once():
    assert QUIZ["everybody_at_once"]["link"]["page"] == "17_workbench"
    summary = workbench().at(QUIZ["everybody_at_once"]["link"]["query"]).summary
    assert summary.queue_share > 0.8


@cache
def workbench():
    return open_page("17_workbench")


def test_longer_answers():
    shown("longer_answers")
    ttft = [load(output=output)[8].ttft.mean for output in (50, 100, 200, 400)]
    assert ttft[2] < 1.5 * ttft[0]  # nearly flat
    assert ttft[3] > 10 * ttft[2]  # and then


def test_one_rare_stall():
    shown("one_rare_stall")
    values = statistics(tokens=321)
    assert values.max == pytest.approx(0.1, rel=0.05)
    assert values.p50 == pytest.approx(0.0066, rel=0.01)
    assert values.mean - values.p50 == pytest.approx(0.0003, abs=0.0001)
    assert values.p99 == pytest.approx(values.p50, rel=0.01)


def test_a_single_token():
    shown("a_single_token")
    assert np.isnan(metrics.tpot(written(tokens=1)[0]))


def test_twenty_at_a_time():
    shown("twenty_at_a_time")
    single, twenty = streamed(1), streamed(20)
    assert streaming.mean_gap(twenty) == pytest.approx(20 * streaming.mean_gap(single))
    assert streaming.after_first(twenty) == streaming.after_first(single)
    assert twenty.e2e == single.e2e


def test_same_everywhere():
    shown("same_everywhere")
    differ = {
        o["text"]["en"].split(":")[0].split(",")[0]
        for o in QUIZ["same_everywhere"]["options"]
        if o["right"]
    }
    assert differ == {"ITL", "TPOT", "TTFT"}
