"""The results of a run as files: a table of requests (CSV), and everything else (JSON).

The table has the columns of the plain trace format, so it can be uploaded again.  Times in seconds;
what does not exist (a refused request's latencies, the TPOT of one token) is empty, or null.
"""

import csv
import dataclasses
import io
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from sim import metrics
from sim.engine import Record, Run, Setup
from sim.views import over_time

COLUMNS = (
    *("request", "arrival_s", "prompt_tokens", "output_tokens", "served"),
    *("queue_s", "ttft_s", "tpot_s", "e2e_s", "longest_gap_s", "hit_tokens", "preemptions"),
)
MAX_WINDOWS = 600  # of the token rates over time


def requests_csv(run: Run) -> bytes:
    """One row per request, in the order of the setup."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_row(record) for record in run.records)
    return text.getvalue().encode()


def results_json(run: Run, summary: metrics.Summary) -> bytes:
    """Settings, metrics and token rates over time."""
    everything = {
        "settings": settings(run.setup),
        "metrics": dict(_metrics(summary)) | _rounds(run),
        "over_time": _over_time(run, summary),
    }
    return json.dumps(_sound(everything), ensure_ascii=False, indent=1, allow_nan=False).encode()


def settings(setup: Setup) -> dict[str, Any]:
    """All of a setup but its requests, which are counted; each part with the name of its kind."""
    parts = {
        field.name: _named(getattr(setup, field.name))
        for field in dataclasses.fields(setup)
        if field.name != "requests"
    }
    return {"requests": len(setup.requests), **parts}


def _named(part: Any) -> Any:
    if not dataclasses.is_dataclass(part) or isinstance(part, type):
        return part
    return {"kind": type(part).__name__, **dataclasses.asdict(part)}


def _row(record: Record) -> list[object]:
    request = record.request
    row: list[object] = [request.id, _short(request.arrival_seconds), request.prompt_tokens]
    row += [request.output_tokens, int(not record.rejected)]
    if record.rejected:
        return [*row, "", "", "", "", "", 0, 0]
    gaps = metrics.itl(record)
    times = [
        metrics.queue_time(record),
        metrics.ttft(record),
        metrics.tpot(record),
        metrics.e2e(record),
        float(np.max(gaps)) if len(gaps) else math.nan,
    ]
    return [*row, *map(_short, times), record.hit_tokens, len(record.pauses)]


def _short(value: float) -> float | str:
    """To the microsecond; nothing for what is not defined."""
    return "" if math.isnan(value) else round(value, 6)


def _metrics(summary: metrics.Summary) -> Iterator[tuple[str, Any]]:
    for field in dataclasses.fields(summary):
        value = getattr(summary, field.name)
        if isinstance(value, metrics.Distribution):
            points = {"mean": value.mean, "p50": value.p50, "p90": value.p90, "p99": value.p99}
            yield field.name + "_seconds", points | {"max": value.max, "count": len(value)}
        else:
            yield field.name, value


def _rounds(run: Run) -> dict[str, int]:
    """Of speculation, under vLLM's names; nothing without it."""
    if run.setup.speculation is None:
        return {}
    return {
        "spec_decode_num_drafts": run.rounds.num_rounds,
        "spec_decode_num_draft_tokens": run.rounds.num_proposed,
        "spec_decode_num_accepted_tokens": run.rounds.num_accepted,
    }


def _over_time(run: Run, summary: metrics.Summary) -> dict[str, Any]:
    window = max(1.0, float(math.ceil(summary.duration_seconds / MAX_WINDOWS)))
    rates = over_time.rates(run, window)
    return {
        "window_seconds": window,
        "end_seconds": rates.end_seconds.tolist(),
        "prompt_tokens_per_second": rates.prompt_tokens_per_second.tolist(),
        "generation_tokens_per_second": rates.generation_tokens_per_second.tolist(),
    }


def _sound(value: Any) -> Any:
    """The same without NaN and infinity, which JSON does not know."""
    if isinstance(value, dict):
        return {key: _sound(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_sound(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
