"""Chapter 5 says nothing that its own runs do not show.

Every checkable sentence of the text, of the self-check and of the links is held here against the
setups that the page itself runs, over the whole range of a control where the sentence is.
"""

import json
from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from sim import engine, metrics, scheduler, workload
from sim.events import Admitted, Finished, PoolFull, Preempted, Released
from sim.request import Sequence
from sim.views import slots
from tests.chapters import ROOT
from tests.pages.rehearsal import open_page
from ui.results import runs
from ui.words.numbers import percent

BATCHING = open_page("05_batching")
TICK = BATCHING.constants["TICK_SECONDS"]
A, B, C, D = range(4)
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "05.json").read_text("utf-8"))["items"]
}
EXACT = 1e-9


def summary(setup):
    return metrics.summarize(engine.simulate(setup))


def grid(setup):
    return runs.grid(setup, TICK)


def shown(item):
    """The state into which an item's "show me" leads."""
    assert QUIZ[item]["link"]["page"] == "05_batching"
    return BATCHING.at(QUIZ[item]["link"]["query"])


def places(act, control):
    return BATCHING.play(act).controls[control]


def ran(layout):
    return [step for step in layout.steps if step]


# -- the longest one decides ------------------------------------------------------------------


def test_a_writes_10_b_100_to_begin_with_and_c_30():
    lengths = [request.output_tokens for request in BATCHING.play("hook").setup.requests]
    assert lengths == [10, 100, 30]


def test_140_of_300_slot_steps_produce_a_token():
    played = BATCHING.play("hook")
    said = played.said["hook_result"]
    assert (said["generated"], said["slot_steps"]) == ("140", "300")
    assert (said["utilization"], said["held"]) == ("46.7%", "53.3%")
    assert played.said["hook_formula"] == {
        "generated": "140",
        "slots": 3,
        "steps": "100",
        "utilization": "46.7%",
    }
    assert played.guesses["utilization"].truth == pytest.approx(100 * 140 / 300)


def test_the_page_shows_the_number_of_the_run(open_page):
    app = open_page("pages/05_batching.py", lang="en", longest=50)
    text = "\n".join(part.value for part in app.main.get("markdown"))
    utilization = summary(BATCHING.play("hook", longest=50).setup).slot_utilization
    assert f"**{percent(utilization)}**" in text


def test_all_start_together_and_leave_together():
    steps = ran(grid(BATCHING.play("hook").setup))
    assert {event.request_id for event in steps[0].events if isinstance(event, Admitted)} == {
        0,
        1,
        2,
    }
    released = [
        (step.index, event) for step in steps for event in step.events if type(event) is Released
    ]
    assert released == [(len(steps) - 1, Released((A, B, C)))]


def test_n_tokens_take_exactly_n_steps_the_first_of_which_is_the_prefill():
    for longest in range(10, 201, 10):
        (setup,) = BATCHING.setups("hook", longest=longest)
        steps = list(engine.steps(setup))
        assert len(steps) == max(longest, 30)
        assert [all(work.is_prefill for work in step.work) for step in steps[:2]] == [True, False]
        assert all(work.sampled for work in steps[0].work)


def test_all_idling_is_keeping_company_and_each_token_of_the_longest_adds_two_idle_slots():
    idle = {}
    for longest in range(10, 201, 10):
        layout = slots.slot_grid(BATCHING.setups("hook", longest=longest)[0], TICK)
        shares = layout.shares
        assert shares["free"] == shares["stalled"] == 0 < shares["held"]
        idle[longest] = round(shares["held"] * layout.num_slot_steps)
    for longest in range(30, 200, 10):
        assert idle[longest + 10] - idle[longest] == 2 * 10


def test_utilization_falls_as_the_longest_grows_and_rises_until_then():
    share = [
        summary(BATCHING.setups("hook", longest=longest)[0]).slot_utilization
        for longest in range(10, 201, 5)
    ]
    assert np.all(np.diff(share[:5]) > 0)  # up to 30, where B is as long as C
    assert np.all(np.diff(share[4:]) < 0)


def test_a_static_batch_is_computed_at_its_full_width():
    policy, memory = BATCHING.play("hook").setup.policy, BATCHING.constants["PLENTY"].open()
    running = [Sequence(request) for request in BATCHING.play("hook").setup.requests]
    waiting = deque(running)
    batched: list[Sequence] = []
    policy.next_batch(0.0, waiting, batched, memory)
    for sequence in batched:
        sequence.num_computed_tokens = sequence.num_tokens
        sequence.append_token()
    batched[A].max_tokens = batched[A].num_tokens  # A is done
    batch = policy.next_batch(1.0, deque(), batched, memory)
    assert len(batch.work) == 2
    assert batch.load().num_tokens == 3


# -- done? leave; next, please ----------------------------------------------------------------


def compare(width=3):
    return BATCHING.play("compare", width=width).setups


def test_six_more_requests_wait():
    static, continuous = compare()
    assert static.requests == continuous.requests
    assert [request.output_tokens for request in static.requests[:3]] == [10, 100, 30]
    assert len(static.requests) == 3 + 6
    for setup in (static, continuous):
        assert len(grid(setup).steps[0].waiting) == 6


def test_d_sits_down_in_the_slot_of_a_in_the_step_after_a_is_done():
    layout = grid(compare()[1])
    done = next(step.index for step in ran(layout) if A in step.finished)
    slot = layout.owners[:, done].tolist().index(A)
    assert layout.owners[slot, done + 1] == D
    assert layout.cells[slot, done + 1] == slots.PREFILL
    assert D in layout.steps[done].waiting


@pytest.mark.parametrize("width", places("compare", "width"))
def test_fewer_steps_fuller_slots_and_less_waiting_at_every_number_of_slots(width):
    before, after = (summary(setup) for setup in compare(width))
    assert after.num_steps < before.num_steps
    assert after.slot_utilization > before.slot_utilization
    assert after.queue_time.mean < before.queue_time.mean


@pytest.mark.parametrize("width", places("compare", "width"))
def test_no_request_computes_faster_a_step_gives_each_one_token(width):
    for setup in compare(width):
        tokens = dict.fromkeys(range(len(setup.requests)), 0)
        for step in engine.steps(setup):
            for work in step.work:
                assert work.sampled
                tokens[work.request_id] += 1
        assert list(tokens.values()) == [request.output_tokens for request in setup.requests]


@pytest.mark.parametrize("width", places("compare", "width"))
def test_continuous_slots_idle_for_a_prefill_and_at_the_end_and_never_else(width):
    layout = grid(compare(width)[1])
    assert layout.shares["stalled"] > 0
    assert layout.shares["free"] > 0
    assert layout.shares["held"] == 0
    for tick, step in enumerate(layout.steps):
        column = layout.cells[:, tick]
        if np.any(column == slots.STALLED):
            assert np.any(column == slots.PREFILL)
        if np.any(column == slots.EMPTY):
            assert step.waiting == ()


def test_chunked_prefill_removes_the_wait_for_a_prefill():
    continuous = compare()[1]
    chunked = engine.Setup(
        continuous.requests, scheduler.Chunked(3), continuous.memory, continuous.clock
    )
    assert slots.slot_grid(chunked, TICK).shares["stalled"] == 0


def test_a_continuous_step_is_all_prefill_whenever_somebody_can_be_admitted():
    for step in ran(grid(compare()[1])):
        assert len({work.is_prefill for work in step.work}) == 1
    assert scheduler.Chunked().chunked_prefill  # what vLLM V1 does by default


@pytest.mark.parametrize("lengths", [(10, 100, 30), (200, 10, 5), (30, 30, 30), (5, 200, 200)])
def test_alone_the_three_take_equally_long_and_only_what_they_leave_behind_differs(lengths):
    first, longest, third = lengths
    values = {"who": "three", "first": first, "longest": longest, "third": third}
    played = BATCHING.play("compare", **values)
    static, continuous = played.setups
    assert [request.output_tokens for request in static.requests] == [first, longest, third]
    before, after = summary(static), summary(continuous)
    assert before.num_steps == after.num_steps == max(lengths)
    assert before.queue_time.mean == after.queue_time.mean == 0
    assert grid(static).shares["held"] == grid(continuous).shares["free"]
    assert grid(static).shares["free"] == grid(continuous).shares["held"] == 0
    said = played.said["compare_alone_result"]
    assert said["steps"] == str(max(lengths))
    assert said["held"] == said["empty"] == percent(grid(static).shares["held"])
    assert not {"compare_nine", "compare_result", "compare_gap"} & set(played.said)


# -- how different lengths share a step --------------------------------------------------------


def test_at_step_11_three_have_been_writing_for_a_while_and_one_has_just_come_in():
    step = runs.step(BATCHING.play("shapes").setup, 11)
    assert [work.is_prefill for work in step.work] == [False, False, False, True]
    lengths = [work.context for work in step.work]
    assert max(lengths) > 2 * min(lengths)


def test_the_linear_layers_see_every_token_once_and_nothing_is_padded():
    assert places("shapes", "at") == list(range(1, 61))
    for at in (1, 2, 11, 30, 31, 51, 60):
        played = BATCHING.play("shapes", at=at)
        step = runs.step(played.setup, at)
        assert step.index == at - 1
        assert len(step.work) >= 2
        said = played.said["shapes_result"]
        assert said["step"] == str(at)
        assert said["tokens"] == str(sum(work.num_tokens for work in step.work))
        assert said["requests"] == str(len(step.work))
        assert said["contexts"].split(", ") == [str(work.context) for work in step.work]
        if at > 1:
            assert step.num_tokens == sum(
                work.num_tokens if work.is_prefill else 1 for work in step.work
            )
    policy = BATCHING.play("shapes").setup.policy
    assert isinstance(policy, scheduler.Chunked)
    assert policy.chunked_prefill


# -- when does it matter -----------------------------------------------------------------------


def test_four_knobs():
    assert list(BATCHING.play("sandbox").controls) == ["slots", "requests", "spread", "arrival"]


def test_without_a_spread_and_all_at_once_the_two_policies_draw_level():
    # Equal for every number of slots and of requests; here a few of each.
    for width in (1, 3, 4, 7, 12):
        for requests in (1, 7, 12, 25, 60):
            pair = BATCHING.setups("sandbox", slots=width, requests=requests, spread=1.0)
            static, continuous = (summary(setup) for setup in pair)
            assert static.num_steps == continuous.num_steps, (width, requests)
            assert static.slot_utilization == continuous.slot_utilization
            assert static.queue_time.mean == continuous.queue_time.mean


@pytest.mark.parametrize("width", [2, 4, 8])
def test_a_larger_spread_makes_static_batching_idle_more_and_more(width):
    idle = [
        slots.slot_grid(BATCHING.setups("sandbox", slots=width, spread=spread)[0], TICK).share(
            slots.HELD
        )
        for spread in places("sandbox", "spread")
    ]
    assert np.all(np.diff(idle) > 0)


@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("width", [1, 2, 6, 12])
def test_whoever_comes_static_slots_idle_more_with_the_spread_where_there_are_two_or_more(
    seed, width
):
    idle = []
    for spread in (1.0, 2.0, 4.0, 8.0, 12.0):
        lengths = workload.LognormalLength.with_spread(30, spread)
        requests = workload.Workload(
            24, workload.BurstArrivals(60), workload.FixedLength(16), lengths, seed=seed
        ).requests()
        setup = BATCHING.constants["served"](requests, scheduler.Static(width))
        idle.append(grid(setup).share(slots.HELD))
    assert np.all(np.diff(idle) > 0) if width > 1 else not any(idle)


@pytest.mark.parametrize("arrival", places("sandbox", "arrival"))
def test_requests_of_different_lengths_leave_continuous_batching_ahead(arrival):
    for width in (2, 4, 8, 12):
        for requests in (24, 40, 60):
            pair = BATCHING.setups(
                "sandbox", slots=width, requests=requests, spread=4.0, arrival=arrival
            )
            static, continuous = (summary(setup) for setup in pair)
            assert continuous.slot_utilization > static.slot_utilization
            assert continuous.queue_time.mean < static.queue_time.mean


def test_fewer_requests_than_slots_leave_slots_empty():
    assert "limits_few" in BATCHING.play("sandbox").presets
    values = BATCHING.play("sandbox").presets["limits_few"]
    assert values["requests"] < values["slots"]
    continuous = BATCHING.play("sandbox", **values).setups[1]
    layout = grid(continuous)
    never_taken = np.all(layout.cells == slots.EMPTY, axis=1)
    assert np.sum(never_taken) == values["slots"] - values["requests"]
    assert layout.shares["free"] > 0.4


def test_a_long_tail_ends_with_the_longest_writing_alone():
    values = BATCHING.play("sandbox").presets["limits_tail"]
    continuous = BATCHING.play("sandbox", **values).setups[1]
    longest = max(continuous.requests, key=lambda request: request.output_tokens).id
    steps = ran(grid(continuous))
    alone = [step for step in steps if step.running == (longest,) and not step.waiting]
    assert alone == steps[-len(alone) :]
    assert len(alone) > len(steps) / 4
    assert max(step.index for step in steps if step.waiting) < len(steps) / 2  # long gone
    assert grid(continuous).shares["free"] > 0.3


def test_many_slots_and_similar_lengths_lose_more_steps_than_they_save():
    values = BATCHING.play("sandbox").presets["limits_stall"]
    static, continuous = BATCHING.play("sandbox", **values).setups
    before, after = summary(static), summary(continuous)
    assert 1 < after.num_steps / before.num_steps < 1.1  # a little slower
    assert after.duration_seconds > before.duration_seconds
    stopped = [step for step in ran(grid(continuous)) if len(step.work) < len(step.running)]
    assert len(stopped) > 5
    assert all(work.is_prefill for step in stopped for work in step.work)


def test_drawn_lengths_have_a_mean_of_their_own_further_off_the_larger_the_spread():
    def off(spread):
        requests = BATCHING.setups("sandbox", requests=60, spread=spread)[0].requests
        return abs(np.mean([request.output_tokens for request in requests]) - 30)

    assert off(1.0) == 0
    assert off(2.0) < off(4.0) < off(8.0) < off(12.0)


ALL_ACTS = [
    ("hook", {}),
    ("hook", {"longest": 200}),
    ("compare", {"width": 2}),
    ("compare", {"width": 6}),
    ("shapes", {}),
    ("sandbox", {"slots": 12, "requests": 60, "spread": 12.0}),
    ("sandbox", {"slots": 12, "requests": 60, "spread": 1.0, "arrival": "trickle"}),
    ("dynamic", {"rate": 40}),
]


@pytest.mark.parametrize(("act", "values"), ALL_ACTS)
def test_every_step_takes_equally_long_and_memory_is_never_short(act, values):
    for setup in BATCHING.setups(act, **values):
        for step in engine.steps(setup):
            assert step.seconds == TICK
            assert not any(isinstance(event, PoolFull | Preempted) for event in step.events)


# -- dynamic is not continuous -----------------------------------------------------------------

SEEDS = range(6)


@pytest.fixture(scope="module")
def dynamic():
    """(window, rate, seed) -> the runs of static, dynamic and continuous batching."""
    found = {}
    served = BATCHING.constants["served"]
    for rate in (2, 5, 11, 15, 17, 26, 40):
        own = BATCHING.setups("dynamic", rate=rate)[0].requests
        for seed in SEEDS:
            traffic = workload.Workload(
                len(own),
                workload.PoissonArrivals(rate),
                workload.FixedLength(BATCHING.constants["PROMPT_TOKENS"]),
                workload.LognormalLength.with_spread(30, 3.0),
                seed=seed,
            )
            requests = workload.on_ticks(traffic.requests(), TICK)
            assert seed or requests == own  # the page's own draw
            static, continuous = (
                engine.simulate(served(requests, policy))
                for policy in (scheduler.Static(4), scheduler.Continuous(4))
            )
            for window in (0.0, 0.25, 0.5, 1.5):
                policy = scheduler.Dynamic(4, window_seconds=window)
                waiting = engine.simulate(served(requests, policy))
                found[window, rate, seed] = [static, waiting, continuous]
    return found


def test_once_it_has_left_a_dynamic_batch_is_a_static_one():
    _, setup, _ = BATCHING.play("dynamic").setups
    assert isinstance(setup.policy, scheduler.Dynamic)
    inside: set[int] = set()
    for step in ran(grid(setup)):
        joined = {event.request_id for event in step.events if isinstance(event, Admitted)}
        assert not (joined and inside)  # nobody joins on the way
        inside |= joined
        left = {
            who for event in step.events if isinstance(event, Released) for who in event.request_ids
        }
        assert left in (set(), inside)  # and nobody leaves early
        inside -= left


def test_a_batch_starts_when_it_is_full_or_its_first_has_waited_for_the_window():
    for window, rate in ((0.5, 12), (0.125, 8), (1.5, 2), (1.5, 40)):
        setup = BATCHING.setups("dynamic", window=window, rate=rate)[1]
        free_since = 0.0
        for step in engine.steps(setup):
            joined = [event.request_id for event in step.events if isinstance(event, Admitted)]
            if joined:
                first = setup.requests[joined[0]].arrival_seconds
                waited = step.start_seconds - first
                assert len(joined) == 4 or waited >= window - EXACT
                assert (
                    len(joined) == 4 or step.start_seconds <= max(first + window, free_since) + TICK
                )
            if step.finished:
                free_since = step.end_seconds


def test_dynamic_batches_start_no_emptier_than_static_ones_whoever_comes(dynamic):
    sizes = [list(map(metrics.starting_together, runs[:2])) for runs in dynamic.values()]
    assert all(later >= at_once for at_once, later in sizes)
    assert any(later > at_once for at_once, later in sizes)


def waits(runs):
    return [metrics.summarize(run).queue_time.mean for run in runs]


def test_the_fewer_come_the_more_often_the_window_costs_more_than_it_saves(dynamic):
    def share_that_waits_longer(rates):
        longer = [
            waiting > static
            for (window, rate, _), ran in dynamic.items()
            if window and rate in rates
            for static, waiting, _ in [waits(ran)]
        ]
        return sum(longer) / len(longer)

    few, some, many = map(share_that_waits_longer, [(2, 5), (11, 15), (26, 40)])
    assert few > some > many
    assert few > 2 * many


def test_continuous_batching_waits_least_at_every_rate_and_window_whoever_comes(dynamic):
    for ran in dynamic.values():
        static, waiting, continuous = waits(ran)
        assert continuous < min(static, waiting)


@pytest.mark.parametrize("rate", [3, 12, 30])
def test_what_the_window_does_to_the_wait_is_said_as_it_is(rate):
    for window in (0.0, 1.0):
        played = BATCHING.play("dynamic", window=window, rate=rate)
        static, waiting, _ = (one.queue_time.mean for one in played.summaries)
        said = [name for name in played.said if name in ("dynamic_costs", "dynamic_saves")]
        if waiting > 1.06 * static:
            assert said == ["dynamic_costs"]
        elif waiting < 0.94 * static:
            assert said == ["dynamic_saves"]
        elif abs(waiting / static - 1) < 0.04:
            assert said == []


def test_utilization_can_flatter_a_batch_that_waited_until_it_was_full(dynamic):
    flattered = [
        dynamic_one.slot_utilization > continuous.slot_utilization
        for ran in dynamic.values()
        for _, dynamic_one, continuous in [list(map(metrics.summarize, ran))]
    ]
    assert 0.05 < sum(flattered) / len(flattered) < 0.6


def test_arrivals_stand_on_whole_steps():
    for setup in BATCHING.setups("dynamic", rate=7):
        assert all((request.arrival_seconds / TICK).is_integer() for request in setup.requests)


# -- notes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", ["hook", "compare", "sandbox", "dynamic"])
def test_a_note_speaks_of_prefill_only_where_somebody_is_prefilled(act):
    played = BATCHING.play(act)
    for index, note in enumerate(played.frames[0].notes):
        lines = note.split("\n")
        for line, setup in zip(lines, played.setups, strict=True):
            ticks = grid(setup).steps
            step = ticks[index] if index < len(ticks) else None
            is_prefill = step is not None and any(work.is_prefill for work in step.work)
            assert ("prefill" in line or "joins" in line) == is_prefill, (index, line)


# -- the self-check ----------------------------------------------------------------------------


def test_every_item_leads_into_a_state_of_this_page():
    for item in QUIZ:
        assert shown(item).setups


def test_why_continuous():
    # Without any padding A and C still idle until B ends.
    prompts = {request.prompt_tokens for request in BATCHING.play("hook").setup.requests}
    assert len(prompts) == 1
    assert grid(BATCHING.play("hook").setup).shares["held"] > 0.5
    static, continuous = (grid(setup) for setup in shown("why_continuous").setups)
    assert static.shares["held"] > 0
    assert continuous.shares["held"] == 0


def test_seed_utilization():
    item, hook = QUIZ["seed_utilization"], shown("seed_utilization").setup
    requests = workload.of_lengths((20, 60, 120), hook.requests[0].prompt_tokens)
    layout = grid(replace(hook, requests=requests))
    answer, lures = item["answer"], item["lures"]
    exact = 100 * layout.utilization[-1]
    assert exact == pytest.approx(answer["value"], abs=answer["tolerance"])
    wasted, occupied, ratio, tail = (lure["value"] for lure in lures)
    assert wasted == pytest.approx(100 * layout.share(slots.HELD), abs=0.1)
    assert round(layout.share(slots.HELD) * layout.num_slot_steps) == 160
    assert occupied == 100 * np.mean(layout.cells != slots.EMPTY)
    assert ratio == pytest.approx(exact / 100, abs=0.001)
    writing = np.isin(layout.cells, (slots.PREFILL, slots.DECODE))
    assert tail == pytest.approx(100 * np.mean(writing[:, 60:]), abs=0.1)
    assert set(np.sum(writing[:, :60], axis=0)) == {2, 3}  # two or three in the first 60 steps
    assert set(np.sum(writing[:, 60:], axis=0)) == {1}  # C alone in the last 60
    assert (np.flatnonzero(writing[A])[-1], np.flatnonzero(writing[B])[-1]) == (19, 59)
    hooked = {request.output_tokens for request in hook.requests}
    assert hooked != {20, 60, 120}  # not the chapter's own example once more


def test_dynamic_is_not_continuous():
    _, waiting, continuous = shown("dynamic_is_not_continuous").setups

    def joins(setup):
        return [
            (len(joined), set(step.running) - joined)
            for step in engine.steps(setup)
            if (joined := {e.request_id for e in step.events if isinstance(e, Admitted)})
        ]

    assert any(others for _, others in joins(continuous))  # replaced under way
    assert not any(others for _, others in joins(waiting))
    assert any(size < 4 for size, _ in joins(waiting))  # it starts before it is full


def test_one_request_alone():
    static, continuous = shown("one_request_alone").summaries
    assert static.duration_seconds == continuous.duration_seconds
    assert static.queue_time.mean == continuous.queue_time.mean == 0


def test_what_static_wastes():
    static, continuous = shown("what_static_wastes").setups
    # A newcomer waits for the whole batch though a slot is done long before.
    layout = grid(static)
    done = next(step.index for step in ran(layout) if step.finished)
    joined = next(
        step.index for step in ran(layout)[1:] if any(isinstance(e, Admitted) for e in step.events)
    )
    assert joined - done > 50
    assert summary(static).queue_time.mean > 2 * summary(continuous).queue_time.mean
    # B takes 100 steps by itself and in company.
    for setup in BATCHING.setups("hook"):
        alone = engine.Setup((setup.requests[B],), setup.policy, setup.memory, setup.clock)
        assert summary(alone).num_steps == summary(setup).num_steps == 100


def test_spread_trend():
    query = QUIZ["spread_trend"]["link"]["query"]
    values = {"slots": int(query["slots"]), "requests": int(query["requests"])}
    assert values["requests"] >= 10 * values["slots"]  # many requests
    curves = np.array(
        [
            [
                summary(setup).slot_utilization
                for setup in BATCHING.setups("sandbox", spread=spread, **values)
            ]
            for spread in places("sandbox", "spread")[::2]
        ]
    )  # [num_spreads, 2]
    static, continuous = curves.T
    assert static[0] == continuous[0] == 1
    assert np.all(np.diff(static) < 0.001)  # falls and falls
    assert static[-1] < 0.65
    assert np.min(continuous) > 0.85  # stays high
    layout = grid(shown("spread_trend").setups[1])
    assert all(
        not step.waiting
        for step, free in zip(layout.steps, np.any(layout.cells == 0, axis=0), strict=True)
        if free
    )


def test_which_metric():
    static, continuous = shown("which_metric").summaries
    assert continuous.slot_utilization > 1.5 * static.slot_utilization
    assert static.output_tokens == continuous.output_tokens
    assert continuous.itl.mean == pytest.approx(static.itl.mean, rel=0.05)
    assert continuous.itl.max > static.itl.max  # the prefills that are slipped in


def test_finished_is_said_of_everybody_once():
    for setup in compare():
        done = [
            e.request_id
            for step in engine.steps(setup)
            for e in step.events
            if isinstance(e, Finished)
        ]
        assert sorted(done) == list(range(9))
