"""What a question shows to be read: a table, a log or a figure, filled from runs of `observed`.

Nothing is typed: a number stands here as the run gives it, and `tests` hold each question's key
against the very same run.  Long because all panels stand in one list.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import streamlit as st

from sim import engine, specs
from sim.cost import Eager, Roofline, launches, phases
from sim.cost.formats import StoredModel
from sim.engine import Setup
from sim.metrics import Distribution, Summary
from sim.views import over_time
from sim.views.slots import DECODE, PREFILL, slot_grid
from ui import charts
from ui.charts import Series, go
from ui.course import links
from ui.practice.bank import Words
from ui.practice.exhibits import observed
from ui.results import engine_log, runs
from ui.words.language import tr
from ui.words.numbers import count, percent, seconds

RATES = (4, 8, 12, 16, 20, 24, 28)
LETTERS = "ABCDEFGH"
TAKEN = 0.92  # of the memory, by the engine, at its start: vLLM's default; it never changes


@dataclass(frozen=True)
class Table:
    """A row of values for each name; the first column has the names."""

    columns: Sequence[Words]
    rows: Sequence[tuple[Words, Sequence[str]]]

    def here(self) -> str:
        """As Markdown, in the reader's language."""
        head = ["", *(column.here() for column in self.columns)]
        body = [[name.here(), *values] for name, values in self.rows]
        ruled = [head, ["---"] + ["--:"] * len(self.columns), *body]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in ruled)


@dataclass(frozen=True)
class Log:
    """Lines as a program has written them: the same in every language."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Chart:
    """Curves, drawn in the reader's language."""

    draw: Callable[[bool], go.Figure]
    alt: Words


Exhibit = Table | Log | Chart


def show(name: str, key: str) -> None:
    """Draw the named exhibit where called."""
    match made(name):
        case Table() as table:
            st.markdown(table.here())
        case Log(lines):
            with st.container(key=f"quiz-log-{key}"):
                st.text("\n".join(lines))
        case Chart(draw, alt):
            charts.show(draw(links.is_lecture()), f"quiz-exhibit-{key}", alt.here())


@cache
def made(name: str) -> Exhibit:
    """The same for every reader, so it is made once."""
    return EXHIBITS[name]()


def is_narrow(name: str) -> bool:
    """Whether there is room beside it: long lines and long rows take the whole width."""
    exhibit = made(name)
    return isinstance(exhibit, Chart) or (isinstance(exhibit, Table) and len(exhibit.columns) <= 3)


def same(text: str) -> Words:
    return Words(text, text)


def letters(number: int) -> list[Words]:
    return [same(letter) for letter in LETTERS[:number]]


# -- panels of a server: rows by name ------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    name: Words
    read: Callable[[Setup], str]


def _of(read: Callable[[Summary], float], words: Callable[[float], str]) -> Callable[[Setup], str]:
    return lambda setup: words(read(runs.summary(setup)))


def _logged(
    read: Callable[[over_time.LogLine], float], words: Callable[[float], str] = count
) -> Callable[[Setup], str]:
    return lambda setup: words(read(late(setup)))


def late(setup: Setup) -> over_time.LogLine:
    """What the log says when nine tenths of the traffic has come, or in the middle of a batch."""
    last, run = setup.requests[-1].arrival_seconds, runs.run(setup)
    middle = float(run.series.end_seconds[-1]) / 2
    return over_time.log_line(run, 0.9 * last if last > 1 else middle)


def busy_share(setup: Setup) -> float:
    """Of the time: some kernel is running, which is what nvidia-smi counts."""
    series = runs.run(setup).series
    busy = float(np.sum(series.end_seconds - series.start_seconds))
    return busy / runs.summary(setup).duration_seconds


_ROWS = {
    "running": _Row(Words("在跑的请求", "Running"), _logged(lambda log: log.num_running)),
    "waiting": _Row(Words("在等的请求", "Waiting"), _logged(lambda log: log.num_waiting)),
    "kv": _Row(Words("KV 使用率", "KV usage"), _logged(lambda log: log.kv_usage, percent)),
    "kv_peak": _Row(
        Words("KV 使用率峰值", "KV usage, peak"), _of(lambda run: run.peak_kv_usage, percent)
    ),
    "preempted": _Row(
        Words("累计抢占次数", "Preemptions so far"), _of(lambda run: run.num_preemptions, count)
    ),
    "queue": _Row(
        Words("排队时间，均值", "Queue time, mean"), _of(lambda run: run.queue_time.mean, seconds)
    ),
    "ttft": _Row(Words("TTFT，均值", "TTFT, mean"), _of(lambda run: run.ttft.mean, seconds)),
    "ttft50": _Row(Words("TTFT p50", "TTFT p50"), _of(lambda run: run.ttft.p50, seconds)),
    "ttft99": _Row(Words("TTFT p99", "TTFT p99"), _of(lambda run: run.ttft.p99, seconds)),
    "itl50": _Row(Words("ITL p50", "ITL p50"), _of(lambda run: run.itl.p50, seconds)),
    "itl99": _Row(Words("ITL p99", "ITL p99"), _of(lambda run: run.itl.p99, seconds)),
    "longest": _Row(Words("最长的 ITL", "Longest ITL"), _of(lambda run: run.itl.max, seconds)),
    "tokens": _Row(
        Words("输出 token/s", "Output tokens/s"),
        _of(lambda run: run.output_tokens_per_second, count),
    ),
    "busy": _Row(
        Words("nvidia-smi 的 GPU 利用率", "GPU utilization, nvidia-smi"),
        lambda setup: percent(busy_share(setup)),
    ),
    "taken": _Row(Words("显存占用", "GPU memory taken"), lambda setup: percent(TAKEN)),
}


def panel(names: str, *setups: Setup, columns: Sequence[Words] = ()) -> Table:
    """The named rows of one or several observed."""
    rows = [(_ROWS[name].name, [_ROWS[name].read(one) for one in setups]) for name in names.split()]
    return Table(columns or [Words("读数", "Reading")], rows)


# -- what the questions show ---------------------------------------------------------------------


def passes() -> Table:
    rows = [
        str(sum(share.num_tokens for share in step.work))
        for step in engine.steps(observed.joined_under_way())
    ]
    columns = [same(str(number)) for number in range(1, len(rows) + 1)]
    return Table(columns, [(Words("行数", "Rows"), rows)])


def two_gpus() -> Table:
    clocks = [Roofline(observed.LLAMA, gpu) for gpu in (observed.H100, observed.H200)]
    first = [seconds(clock.step_time(phases.prefill(2_048)).seconds) for clock in clocks]
    later = [seconds(clock.step_time(phases.decode(1, 2_048)).seconds) for clock in clocks]
    rows = [
        (Words("预填充 2,048 个 token", "Prefill of 2,048 tokens"), first),
        (Words("解码一步，1 个请求", "Decode step, 1 request"), later),
    ]
    return Table(letters(2), rows)


def token_times() -> Table:
    times = 1000 * np.array(runs.run(observed.disturbed()).records[0].token_seconds)
    columns = [same(str(number)) for number in range(1, len(times) + 1)]
    return Table(columns, [(Words("毫秒", "ms"), [f"{time:.0f}" for time in times])])


def slots() -> Log:
    """A letter for each request, a column for each step; a dot is a slot that yields nothing."""
    grid = slot_grid(observed.in_slots("static"), observed.TICK)
    writes = np.isin(grid.cells, (PREFILL, DECODE))  # [num_slots, num_ticks]
    return Log(
        [
            f"slot {slot + 1}  " + "".join(_letter(*tick) for tick in zip(*row, strict=True))
            for slot, row in enumerate(zip(grid.owners, writes, strict=True))
        ]
    )


def _letter(owner: int, writes: bool) -> str:
    return LETTERS[owner] if writes else "."


def load() -> Chart:
    def draw(large: bool) -> go.Figure:
        y = [runs.summary(observed.at_rate(rate)).ttft.mean * 1000 for rate in RATES]
        x_title = tr("每秒到达的请求", "requests arriving per second")
        return charts.lines(
            [Series("TTFT", RATES, y)],
            x_title,
            tr("TTFT 均值（ms）", "mean TTFT (ms)"),
            large=large,
            height=220,
        )

    return Chart(draw, Words("TTFT 均值随到达率变化", "Mean TTFT against the arrival rate"))


def twice() -> Table:
    run = runs.run(observed.asked_twice())
    half = len(run.requests) // 2
    first, second = (
        Distribution.of(
            [record.token_seconds[0] - record.request.arrival_seconds for record in part]
        )
        for part in (run.records[:half], run.records[half:])
    )
    rows = [
        (Words("TTFT，均值", "TTFT, mean"), [seconds(one.mean) for one in (first, second)]),
        (Words("TTFT p99", "TTFT p99"), [seconds(one.p99) for one in (first, second)]),
    ]
    return Table([Words("第一遍", "First run"), Words("第二遍", "Second run")], rows)


def routers() -> Table:
    fleets = [observed.fleet(rule) for rule in ("round_robin", "affinity")]
    rows = [
        (Words("前缀命中率", "Prefix hit rate"), [percent(one.hit_rate) for one in fleets]),
        (Words("TTFT，均值", "TTFT, mean"), [seconds(one.ttft.mean) for one in fleets]),
        (Words("TTFT p99", "TTFT p99"), [seconds(one.ttft.p99) for one in fleets]),
        (
            Words("最忙的副本接到的请求", "Requests of the busiest replica"),
            [percent(one.shares[0]) for one in fleets],
        ),
    ]
    return Table([Words("轮询", "Round robin"), Words("按前缀亲和", "Prefix affinity")], rows)


def fleet_log() -> Log:
    fleet = [runs.run(one) for one in observed.replicas_of("affinity")]
    return Log(engine_log.in_the_middle(fleet))


def counters() -> Log:
    tally = observed.speculating().rounds
    return Log(
        [
            f"vllm:spec_decode_num_drafts_total {tally.num_rounds}",
            f"vllm:spec_decode_num_draft_tokens_total {tally.num_proposed}",
            f"vllm:spec_decode_num_accepted_tokens_total {tally.num_accepted}",
        ]
    )


def graphs() -> Table:
    steps = [
        launches.LaunchWork.of(
            Eager.of_microseconds(Roofline(specs.MODELS[model], observed.H100), 12, 20),
            phases.decode(batch, 1_024),
        )
        for model, batch in GRAPH_CASES
    ]
    ways = {
        Words("逐个启动", "Launched one by one"): launches.ONE_BY_ONE,
        Words("整图重放", "Replayed as a graph"): launches.REPLAY,
    }
    rows = [
        (name, [seconds(launches.step_seconds(step, way)) for step in steps])
        for name, way in ways.items()
    ]
    return Table(letters(2), rows)


GRAPH_CASES = (("Llama-3.1-8B", 256), ("Llama-3.2-1B", 1))  # model, batch


def formats() -> Table:
    stored = [StoredModel(observed.LLAMA, observed.RTX4090, name) for name in ("int4", "bf16")]
    rows = [
        (
            Words("池里放得下的 token", "Tokens the pool holds"),
            [count(s.pool_tokens) for s in stored],
        ),
        (
            Words("解码一步，1 个请求", "Decode step, 1 request"),
            [seconds(s.decode_seconds(1, 512)) for s in stored],
        ),
        (
            Words("预填充 4,096 个 token", "Prefill of 4,096 tokens"),
            [seconds(s.prefill_seconds(4_096)) for s in stored],
        ),
    ]
    return Table(letters(2), rows)


EXHIBITS: Mapping[str, Callable[[], Exhibit]] = {
    "passes": passes,
    "two_gpus": two_gpus,
    "token_times": token_times,
    "limit": lambda: panel("running waiting kv preempted ttft itl50", observed.limited(16)),
    "load": load,
    "night_and_noon": lambda: panel(
        "taken busy waiting kv ttft99",
        observed.out_of_memory(2),
        observed.out_of_memory(12),
        columns=[Words("夜里", "At night"), Words("中午", "At noon")],
    ),
    "overnight": lambda: panel("running waiting kv preempted tokens", observed.overnight()),
    "slots": slots,
    "log_full": lambda: Log(engine_log.lines(runs.run(observed.out_of_memory()), 6)[:3]),
    "twice": twice,
    "routers": routers,
    "budgets": lambda: panel(
        "itl50 longest ttft99",
        *(observed.with_documents(budget) for budget in (2_048, None, 512)),
        columns=letters(3),
    ),
    "counters": counters,
    "graphs": graphs,
    "formats": formats,
    "policies": lambda: panel(
        "ttft99 longest preempted",
        *(observed.admitting(rule) for rule in ("vllm", "tensorrt")),
        columns=letters(2),
    ),
    "fleet_log": fleet_log,
    "memory": lambda: panel("waiting kv preempted ttft50 itl50 longest", observed.out_of_memory(8)),
    "documents": lambda: panel(
        "waiting kv_peak preempted itl50 itl99 longest", observed.with_documents(None)
    ),
    "healthy": lambda: panel("waiting kv preempted ttft99 itl50 itl99", observed.at_rate(8)),
}
