"""The result of a benchmark, read: which tool wrote it, what it measured, and what it did not.

guidellm, AIPerf and GenAI-Perf call a request's mean gap "inter-token latency", which this course
calls TPOT.

Source: guidellm/benchmark/schemas (0.8.1), aiperf/common/models/export_models.py (0.13.0),
genai_perf/export_data/json_exporter.py (0.0.16), kubernetes-sigs/inference-perf (reports of 2025).
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sim.errors import SimError
from ui.subjects.clinic.brought import bench
from ui.subjects.clinic.brought.bench import Json
from ui.subjects.clinic.brought.client_run import MILLI, ClientRun, around_p99, at
from ui.subjects.clinic.brought.found import Brought, Interval, Note, number

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": MILLI, "sec": 1.0, "s": 1.0, "seconds": 1.0}
OTHER_FILES = (  # keys that only this file has, its name, what to take instead
    ({"experiments"}, "perf_analyzer profile_export.json", "profile_export_genai_perf.json"),
    ({"timeslices"}, "AIPerf timeslices", "profile_export_aiperf.json"),
    ({"metadata", "metrics"}, "AIPerf profile_export.jsonl", "profile_export_aiperf.json"),
)
TABLES = (  # what only this text says, its name, what to take instead
    (re.compile(r"AIPerf\b.*Metrics"), "AIPerf", "profile_export_aiperf.json"),
    (re.compile(r"GenAI-Perf\b.*Metrics"), "GenAI-Perf", "profile_export_genai_perf.json"),
    (re.compile(r"^Metric,avg,min,max", re.M), "AIPerf CSV", "profile_export_aiperf.json"),
    (re.compile(r"(?i)guidellm|^Type,Name,.*Strategy", re.M), "guidellm", "benchmarks.json"),
)
DECODER = json.JSONDecoder()
SPACE = re.compile(r"[\s,]*+")
MAX_VALUES = 100_000


def read(text: str, begin: int = 0) -> Brought:
    """What JSON or JSON lines hold, from `begin` on; of several results the last.

    Raises:
        SimError: `brought_broken_json` with `line`, `column`; `brought_other_json`;
            `brought_other_file` with `value` and `instead`.
    """
    values, is_cut = _values(text, begin)
    results = [one for one in values if isinstance(one, dict)]
    if not results:
        raise SimError("brought_other_json")
    found = _one(results[-1])
    notes = list(found.notes)
    if is_cut:
        notes.insert(0, Note("cut_value"))
    if len(results) > 1:
        notes.insert(0, Note("last_of", {"results": len(results)}))
    return replace(found, notes=tuple(notes))


def _values(text: str, begin: int) -> tuple[list[Any], bool]:
    """All values of a text, one after the other or in one list; whether the last one is cut."""
    values: list[Any] = []
    at = _next(text, begin)
    while at < len(text) and len(values) < MAX_VALUES:
        try:
            value, at = DECODER.raw_decode(text, at)
        except RecursionError as error:
            raise SimError("brought_broken_json", line=1, column=1) from error
        except json.JSONDecodeError as error:
            if values:
                return values, True
            raise SimError("brought_broken_json", line=error.lineno, column=error.colno) from error
        except ValueError as error:  # a number of thousands of digits
            raise SimError("brought_broken_json", line=1, column=1) from error
        values.append(value)
        at = _next(text, at)
    if len(values) == 1 and isinstance(values[0], list):
        return values[0], False
    return values, False


def _next(text: str, at: int) -> int:
    """Where the next value begins."""
    found = SPACE.match(text, at)
    return found.end() if found else at


def refuse_tables(text: str) -> None:
    """Raises: SimError: `brought_other_file`, for what a tool prints and we do not read."""
    for pattern, value, instead in TABLES:
        if pattern.search(text[:20_000]):
            raise SimError("brought_other_file", value=value, instead=instead)


def _one(result: Json) -> Brought:
    for keys, value, instead in OTHER_FILES:
        if keys <= set(result):
            raise SimError("brought_other_file", value=value, instead=instead)
    for fits, reader in READERS:
        if fits(result):
            return reader(result)
    raise SimError("brought_other_json")


# -- other tools ---------------------------------------------------------------------------------


def _is_guidellm(result: Json) -> bool:
    runs = result.get("benchmarks")
    return isinstance(runs, list) and bool(runs) and at(runs[-1], "metrics") is not None


def _guidellm(result: Json) -> Brought:
    runs = result["benchmarks"]
    metrics = runs[-1]["metrics"]
    totals = at(metrics, "request_totals") or at(runs[-1], "run_stats", "requests_made")
    ttft, itl = (
        around_p99(at(metrics, name, "successful", "percentiles"), MILLI)
        for name in ("time_to_first_token_ms", "inter_token_latency_ms")
    )
    return ClientRun(
        "guidellm",
        ttft,
        itl,
        number(at(totals, "successful")),
        number(at(totals, "errored")),
        itl_is_tpot=True,
        notes=(Note("last_of", {"results": len(runs)}),) if len(runs) > 1 else (),
    ).brought()


def _is_aiperf(result: Json) -> bool:
    return any(
        at(result, name, "unit") is not None
        for name in ("time_to_first_token", "inter_token_latency", "request_latency")
    )


def _aiperf(result: Json) -> Brought:
    gaps = _with_unit(result.get("inter_chunk_latency"))
    return ClientRun(
        "AIPerf" if {"aiperf_version", "schema_version"} & set(result) else "GenAI-Perf",
        _with_unit(result.get("time_to_first_token")),
        gaps or _with_unit(result.get("inter_token_latency")),
        number(at(result, "request_count", "avg")),
        number(at(result, "error_request_count", "avg")),
        itl_is_tpot=not gaps,
    ).brought()


def _with_unit(tree: object) -> Interval | None:
    unit = UNITS.get(str(at(tree, "unit")))
    return None if unit is None else around_p99(tree, unit)


def _is_inference_perf(result: Json) -> bool:
    return isinstance(result.get("successes"), Mapping) and "failures" in result


def _inference_perf(result: Json) -> Brought:
    latency = at(result, "successes", "latency")
    if latency is None:
        raise SimError(
            "brought_other_file",
            value="inference-perf *_prometheus_metrics.json",
            instead="summary_lifecycle_metrics.json",
        )
    return ClientRun(
        "inference-perf",
        around_p99(at(latency, "time_to_first_token"), 1.0),
        around_p99(at(latency, "inter_token_latency"), 1.0),
        number(at(result, "successes", "count")),
        number(at(result, "failures", "count")),
    ).brought()


READERS: tuple[tuple[Callable[[Json], bool], Callable[[Json], Brought]], ...] = (
    (bench.is_bench, bench.read),
    (_is_guidellm, _guidellm),
    (_is_aiperf, _aiperf),
    (_is_inference_perf, _inference_perf),
)
