"""Generated workloads do as they are told, and real traces are read or refused with a reason."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.request import Segment
from sim.workload import (
    BurstArrivals,
    ConstantArrivals,
    FixedLength,
    LognormalLength,
    PoissonArrivals,
    SharedPrefix,
    Workload,
    of_lengths,
    on_ticks,
    read_azure,
    scaled,
)

TRACES = Path(__file__).parents[3] / "shared" / "traces"
RNG_SEED = 5


def arrivals_of(requests) -> np.ndarray:
    return np.array([request.arrival_seconds for request in requests])


# -- arrivals --------------------------------------------------------------------------------


def test_constant_arrivals_come_one_by_one():
    requests = Workload(4, ConstantArrivals(2.0), FixedLength(5), FixedLength(6)).requests()
    assert arrivals_of(requests).tolist() == [0.0, 0.5, 1.0, 1.5]


def test_a_burst_comes_at_once():
    work = Workload(5, BurstArrivals(2, every_seconds=3.0), FixedLength(5), FixedLength(6))
    assert arrivals_of(work.requests()).tolist() == [0, 0, 3, 3, 6]


def test_poisson_gaps_have_the_mean_and_the_spread_of_the_exponential():
    times = PoissonArrivals(4.0).draw(40_000, np.random.default_rng(RNG_SEED))
    gaps = np.diff(times, prepend=0.0)
    assert np.mean(gaps) == pytest.approx(0.25, rel=0.02)
    assert np.std(gaps) / np.mean(gaps) == pytest.approx(1.0, rel=0.03)
    assert np.mean(gaps > 0.25) == pytest.approx(math.exp(-1), abs=0.01)


# -- lengths ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("mean", "p99"), [(211.1, 601), (1154.7, 4142), (64, 64), (100, 1400)])
def test_lognormal_lengths_hit_mean_and_p99(mean, p99):
    drawn = LognormalLength(mean, p99).draw(200_000, np.random.default_rng(RNG_SEED))
    assert np.mean(drawn) == pytest.approx(mean, rel=0.06)
    assert np.percentile(drawn, 99) == pytest.approx(p99, rel=0.05)


def test_lengths_are_whole_positive_and_not_longer_than_the_longest():
    drawn = LognormalLength(3, 40, longest=20).draw(5000, np.random.default_rng(RNG_SEED))
    assert drawn.dtype.kind == "i"
    assert (drawn.min(), drawn.max()) == (1, 20)


def test_a_spread_of_one_makes_all_lengths_equal():
    drawn = LognormalLength.with_spread(30, 1.0).draw(50, np.random.default_rng(RNG_SEED))
    assert set(drawn.tolist()) == {30}


@pytest.mark.parametrize("p99", [99.0, 1498.0, math.nan])
def test_a_p99_that_no_lognormal_has_is_an_error_that_names_the_largest(p99):
    with pytest.raises(SimError) as error:
        LognormalLength(100, p99)
    assert error.value.code == "p99_out_of_range"
    assert error.value.values["largest"] == pytest.approx(1497, abs=1)


# -- together --------------------------------------------------------------------------------

WORK = Workload(50, PoissonArrivals(2.0), LognormalLength(40, 200), LognormalLength(20, 90))


def test_the_same_workload_gives_the_same_requests_and_another_seed_others():
    other = Workload(50, WORK.arrivals, WORK.prompt, WORK.output, seed=1)
    assert WORK.requests() == WORK.requests()
    assert WORK.requests() != other.requests()


def test_turning_one_knob_leaves_the_other_draws():
    faster = Workload(50, PoissonArrivals(4.0), WORK.prompt, WORK.output)
    shorter = Workload(50, WORK.arrivals, FixedLength(3), WORK.output)
    before, after, cut = WORK.requests(), faster.requests(), shorter.requests()
    assert arrivals_of(after) == pytest.approx(arrivals_of(before) / 2)
    assert [r.prompt_tokens for r in after] == [r.prompt_tokens for r in before]
    assert [r.output_tokens for r in cut] == [r.output_tokens for r in before]


def test_long_prompts_do_not_go_with_long_answers_or_long_gaps():
    same = LognormalLength(100, 400)
    requests = Workload(4000, PoissonArrivals(1.0), same, same).requests()
    prompts, answers = (
        [getattr(r, n) for r in requests] for n in ("prompt_tokens", "output_tokens")
    )
    gaps = np.diff(arrivals_of(requests), prepend=0.0)
    for one, other in ((prompts, answers), (prompts, gaps), (answers, gaps)):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.06


def test_more_requests_begin_with_the_same_ones():
    more = Workload(80, WORK.arrivals, WORK.prompt, WORK.output)
    assert more.requests()[:50] == WORK.requests()


def test_a_shared_prefix_comes_on_top_and_groups_take_turns():
    prefix = SharedPrefix(100, num_groups=2)
    work = Workload(3, ConstantArrivals(1), FixedLength(7), FixedLength(2), prefix)
    requests = work.requests()
    assert [request.prompt_tokens for request in requests] == [107] * 3
    assert requests[0].prefix == requests[2].prefix == (Segment("prefix-0", 100),)
    assert requests[1].prefix == (Segment("prefix-1", 100),)


def test_a_handful_by_hand():
    requests = of_lengths((10, 100, 30))
    assert [(r.id, r.prompt_tokens, r.output_tokens) for r in requests] == [
        *[(0, 16, 10), (1, 16, 100), (2, 16, 30)]
    ]


def test_ticks_are_never_before_the_arrival_and_less_than_one_tick_after():
    requests = WORK.requests()
    ticked = on_ticks(requests, 1 / 64)
    delay = arrivals_of(ticked) - arrivals_of(requests)
    assert np.all((delay >= 0) & (delay < 1 / 64))
    assert np.all(arrivals_of(ticked) * 64 % 1 == 0)
    assert on_ticks(ticked, 1 / 64) == ticked


def test_twice_the_speed_halves_the_times_and_keeps_the_work():
    fast = scaled(WORK.requests(), 2.0)
    assert arrivals_of(fast) == pytest.approx(arrivals_of(WORK.requests()) / 2)
    assert [r.prompt_tokens for r in fast] == [r.prompt_tokens for r in WORK.requests()]


@pytest.mark.parametrize(
    ("make", "code", "values"),
    [
        (lambda: ConstantArrivals(0), "rate_not_positive", {"value": 0}),
        (lambda: PoissonArrivals(-1), "rate_not_positive", {"value": -1}),
        (lambda: BurstArrivals(0), "burst_below_one", {"value": 0}),
        (lambda: BurstArrivals(1, -2.0), "burst_gap_negative", {"value": -2.0}),
        (lambda: FixedLength(0), "length_below_one", {"value": 0}),
        (lambda: LognormalLength(0.5, 3), "length_below_one", {"value": 0.5}),
        (lambda: SharedPrefix(0), "length_below_one", {"value": 0}),
        (lambda: SharedPrefix(1, 0), "groups_below_one", {"value": 0}),
        (
            lambda: Workload(0, ConstantArrivals(1), FixedLength(1), FixedLength(1)),
            "num_requests_below_one",
            {"value": 0},
        ),
        (lambda: scaled((), 0), "rate_not_positive", {"value": 0}),
        (lambda: on_ticks((), 0), "tick_not_positive", {"value": 0}),
    ],
)
def test_impossible_settings_are_codes_with_values(make, code, values):
    with pytest.raises(SimError) as error:
        make()
    assert (error.value.code, error.value.values) == (code, values)


def test_rates_that_are_not_numbers_are_errors():
    for make in (ConstantArrivals, PoissonArrivals):
        with pytest.raises(SimError, match="rate_not_positive"):
            make(math.nan)


# -- real traces -----------------------------------------------------------------------------

HEAD = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
GOOD = HEAD + "2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n"


@pytest.mark.parametrize(
    ("name", "rows", "span", "rate", "gap_cv", "prompt", "output"),
    [
        ("conv", 19_366, 3502, 5.53, 1.09, (1154.7, 1020, 4142), (211.1, 129, 601)),
        ("code", 8_819, 3436, 2.57, 13.15, (2047.8, 1469, 7436), (27.9, 13, 251)),
    ],
)
def test_the_azure_traces_have_their_published_statistics(
    name, rows, span, rate, gap_cv, prompt, output
):
    path = TRACES / f"AzureLLMInferenceTrace_{name}.csv"
    if not path.exists():
        pytest.skip(f"no {path.name} beside this checkout")
    trace = read_azure(path.read_text(encoding="utf-8"))
    assert trace.num_rows == len(trace.requests) == rows
    times = arrivals_of(trace.requests)
    gaps = np.diff(times)
    assert times[0] == 0.0
    assert times[-1] == pytest.approx(span, abs=1)
    assert rows / times[-1] == pytest.approx(rate, abs=0.005)
    assert np.std(gaps) / np.mean(gaps) == pytest.approx(gap_cv, abs=0.006)
    for field, (mean, p50, p99) in (("prompt_tokens", prompt), ("output_tokens", output)):
        values = np.array([getattr(request, field) for request in trace.requests])
        assert np.mean(values) == pytest.approx(mean, abs=0.06)
        assert np.percentile(values, 50) == p50
        assert np.percentile(values, 99) == pytest.approx(p99, abs=1)


def test_a_good_file_counts_time_from_its_first_request():
    requests = read_azure(GOOD).requests
    assert [(r.prompt_tokens, r.output_tokens) for r in requests] == [(4808, 10), (3180, 8)]
    assert arrivals_of(requests) == pytest.approx([0.0, 0.052], abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\n\n"),
        GOOD + "\n  \n,,\n",
        GOOD.rstrip("\n"),
        GOOD.replace("4808", '"4808"').replace("TIMESTAMP", '"TIMESTAMP"'),
        GOOD.replace(",", " , "),
        GOOD.replace("\n", ",extra\n"),
    ],
    ids=["bom", "crlf", "blank lines", "empty rows", "no last newline", "quotes", "spaces", "more"],
)
def test_a_file_is_read_however_its_editor_left_it(text):
    assert read_azure(text).requests == read_azure(GOOD).requests


def test_a_time_zone_moves_the_clock():
    """The trace of 2024 writes the offset out, the one of 2023 leaves it away."""
    text = GOOD.replace(".9799600", ".9799600Z").replace("18:17:04.0319600", "19:17:04.032+01:00")
    assert arrivals_of(read_azure(text).requests) == pytest.approx([0.0, 0.052], abs=1e-4)


def test_columns_are_found_by_name():
    text = "GeneratedTokens,TIMESTAMP,ContextTokens\n10,2023-11-16 18:17:03,4808\n"
    (request,) = read_azure(text).requests
    assert (request.prompt_tokens, request.output_tokens) == (4808, 10)


def test_rows_out_of_order_are_sorted_by_time():
    header, first, second = GOOD.splitlines()
    assert read_azure("\n".join((header, second, first))) == read_azure(GOOD)


def test_a_limit_keeps_the_earliest_and_still_checks_every_row():
    header, first, second = GOOD.splitlines()
    trace = read_azure("\n".join((header, second, first)), limit=1)
    assert [request.prompt_tokens for request in trace.requests] == [4808]
    assert trace.num_rows == 2
    with pytest.raises(SimError, match="trace_bad_value"):
        read_azure(GOOD + "2023-11-16 18:17:05,x,1\n", limit=1)


@pytest.mark.parametrize(
    ("row", "column", "value", "expected"),
    [
        ("2023-11-16 18:17:05,-5,1", "ContextTokens", "-5", "count"),
        ("2023-11-16 18:17:05,nan,1", "ContextTokens", "nan", "count"),
        ("2023-11-16 18:17:05,inf,1", "ContextTokens", "inf", "count"),
        ("2023-11-16 18:17:05,1.5,1", "ContextTokens", "1.5", "count"),
        ("2023-11-16 18:17:05,1e3,1", "ContextTokens", "1e3", "count"),
        ("2023-11-16 18:17:05,\u0661\u0662,1", "ContextTokens", "\u0661\u0662", "count"),
        ("2023-11-16 18:17:05,,1", "ContextTokens", "", "count"),
        ("2023-11-16 18:17:05,5,0", "GeneratedTokens", "0", "count"),
        ("2023-11-16 18:17:05,5,10000001", "GeneratedTokens", "10000001", "count"),
        (f"2023-11-16 18:17:05,5,{'9' * 5000}", "GeneratedTokens", "9" * 40, "count"),
        ("2023-11-16 18:17:05,5", "GeneratedTokens", "", "present"),
        ("2023-11-16 18:17:05", "ContextTokens", "", "present"),
        ("2023-11-16 18:17:05;5;6", "TIMESTAMP", "2023-11-16 18:17:05;5;6", "timestamp"),
        ("yesterday,5,6", "TIMESTAMP", "yesterday", "timestamp"),
        ("2023-13-16 18:17:05,5,6", "TIMESTAMP", "2023-13-16 18:17:05", "timestamp"),
        ("2023-11-16 18:17:05.x,5,6", "TIMESTAMP", "2023-11-16 18:17:05.x", "timestamp"),
        ("2023-11-16 18:17:05.1e9,5,6", "TIMESTAMP", "2023-11-16 18:17:05.1e9", "timestamp"),
        ("2023-11-16 18:17:05.1_0,5,6", "TIMESTAMP", "2023-11-16 18:17:05.1_0", "timestamp"),
        (",5,6", "TIMESTAMP", "", "timestamp"),
        ("<script>alert(1)</script>,5,6", "TIMESTAMP", "<script>alert(1)</script>", "timestamp"),
    ],
)
def test_a_bad_cell_is_named_by_line_column_value_and_what_was_expected(
    row, column, value, expected
):
    with pytest.raises(SimError) as error:
        read_azure(GOOD + row + "\n" + "2023-11-16 18:17:06,5,6\n")
    assert error.value.code == "trace_bad_value"
    assert error.value.values == {
        "line": 4,
        "column": column,
        "value": value,
        "expected": expected,
    }


def test_lines_are_counted_as_an_editor_counts_them_blank_ones_too():
    with pytest.raises(SimError) as error:
        read_azure(GOOD.replace("\n", "\r\n\r\n") + "2023-11-16 18:17:05,x,1\r\n")
    assert error.value.values["line"] == 7


def test_a_quote_that_is_never_closed_is_named_where_it_opens():
    rows = "2023-11-16 18:17:05,5,6\n" * 30_000
    for tail in (rows, rows[:2400]):
        with pytest.raises(SimError) as error:
            read_azure(GOOD + '"' + tail)
        assert error.value.values["line"] == 4


@pytest.mark.parametrize("name", ["TIMESTAMP", "ContextTokens", "GeneratedTokens"])
def test_a_missing_column_is_named(name):
    with pytest.raises(SimError) as error:
        read_azure("\n" + GOOD.replace(name, "Other"))
    assert error.value.code == "trace_column_missing"
    assert error.value.values == {"line": 2, "column": name}


@pytest.mark.parametrize("text", ["", "\ufeff", "\n\n", HEAD, HEAD + "\n ,, \n"])
def test_an_empty_file_says_what_was_expected(text):
    with pytest.raises(SimError) as error:
        read_azure(text)
    assert error.value.code == "trace_empty"
    assert error.value.values == {"expected": HEAD.strip()}


@pytest.mark.parametrize(
    "text",
    [
        HEAD + '"2023-11-16 18:17:05,5,6\n' * 3,
        HEAD + "x" * 200_000,
        HEAD.replace("\n", "\r") + "2023-11-16 18:17:05,5,6\r",
        "\x00\x01PNG\x1a\n\x89\x00" * 50,
        "{}",
    ],
    ids=["open quote", "endless cell", "old mac", "binary", "json"],
)
def test_garbage_is_an_error_with_a_line(text):
    with pytest.raises(SimError) as error:
        read_azure(text)
    assert error.value.code.startswith("trace_")
    assert error.value.values["line"] in (1, 2)


def outcome(text: str) -> str:
    try:
        return "read" if read_azure(text).requests else "nothing"
    except SimError as error:
        return "refused" if error.code.startswith("trace_") else error.code


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.booleans())
def test_no_text_makes_the_reader_fail_in_another_way(text, with_header):
    assert outcome((HEAD if with_header else "") + text) in ("read", "refused")


CELLS = st.sampled_from(
    [
        "2023-11-16 18:17:05.1234567",
        "0001-01-01",
        "9999-12-31 23:59:59.9",
        "2023",
        "7",
        "0",
        '"',
        "",
    ]
)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=5))
def test_no_mixture_of_cells_makes_the_reader_fail_in_another_way(rows):
    text = HEAD + "\n".join(",".join(row) for row in rows)
    assert outcome(text) in ("read", "refused")
