"""Who asked, when, and for how much: recorded traffic, read from a file.

`read` knows four formats and tells them apart by the first line:

    azure     CSV    the Azure LLM inference traces; date and time of every request
    burstgpt  CSV    BurstGPT; seconds, and failed requests with 0 tokens, which are left out
    plain     CSV    written by hand or by a program; seconds from the start of the run
    measured  JSONL  a run of vLLM, with the times the real server took

Columns are found by name, more of them may be there.  Blank lines are passed over and rows are
sorted by time.  Nothing else is put right: what does not fit is an error with its line, its column
and what was expected.  All lengths are in tokens, all times in seconds; except in a plain file they
count from the earliest request.

Sources: github.com/Azure/AzurePublicDataset, github.com/HPMLL/BurstGPT; the measured file is a
record of vLLM V1's `queued_ts`, `scheduled_ts`, `first_token_ts` and `last_token_ts`.

Long because four formats are told apart and every fault names its line, column and expectation.
"""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter

from sim.errors import SimError, require
from sim.request import Request

# The columns of each format: arrival, prompt tokens, output tokens; then what was measured.
FORMATS: dict[str, tuple[str, ...]] = {
    "azure": ("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
    "burstgpt": ("Timestamp", "Request tokens", "Response tokens"),
    "plain": ("arrival_s", "prompt_tokens", "output_tokens"),
    "measured": (
        *("queued_ts", "input_toks", "output_toks"),
        *("scheduled_ts", "first_token_ts", "last_token_ts"),
    ),
}
MAX_TOKENS = 10_000_000  # of one prompt or one answer
MAX_SECONDS = 1_000_000_000  # about 32 years, also between dates; a date in Unix seconds is more

_SAYS_SOMETHING = re.compile(r"^.*?[^\s,].*\n?", re.MULTILINE)
_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_OF_A_NUMBER = frozenset("0123456789.eE+-")


@dataclass(frozen=True)
class Measured:
    """What a real server took for one request, in seconds; the symbols are those of `metrics`."""

    queue_time: float
    ttft: float
    tpot: float  # NaN for an answer of one token
    e2e: float


@dataclass(frozen=True)
class Trace:
    """Requests read from a file, the earliest first.

    `num_rows` counts all rows of the file, `num_skipped` those of them that were left out.
    `measured` has one entry per request, or none if the file has no such times.
    """

    requests: tuple[Request, ...]
    num_rows: int
    format: str
    num_skipped: int = 0
    measured: tuple[Measured, ...] = ()

    def first(self, num_requests: int) -> "Trace":
        """The same trace with its earliest requests only."""
        return replace(
            self, requests=self.requests[:num_requests], measured=self.measured[:num_requests]
        )


@dataclass(slots=True)
class _Row:
    arrival: float
    prompt_tokens: int
    output_tokens: int
    measured: Measured | None = None


def read(text: str) -> Trace:
    """Read a trace in any of the formats in `FORMATS`.

    Raises:
        SimError: `trace_empty`, `trace_nul`, `trace_not_csv`, `trace_not_json`,
            `trace_not_commas`, `trace_unknown_format`, `trace_ambiguous`, `trace_column_missing`,
            `trace_column_twice`, `trace_bad_value`, `trace_no_rows`, `trace_all_failed`.  Lines
            count from 1, as in an editor.
    """
    text = text.removeprefix("\ufeff")
    nul = text.find("\0")
    require(nul < 0, "trace_nul", line=text.count("\n", 0, nul) + 1)
    _, first_line = next(_lines(text), (1, ""))
    require(first_line != "", "trace_empty")
    return _read_jsonl(text) if first_line.lstrip().startswith("{") else _read_csv(text)


def _read_csv(text: str) -> Trace:
    rows = _csv_rows(text)
    header_line, header = next(rows)
    for mark in ";\t":
        is_separator = len(header) == 1 and mark in header[0]
        require(not is_separator, "trace_not_commas", line=header_line, separator=mark)
    columns = [cell.strip() for cell in header]
    name = _recognised(columns, ("azure", "burstgpt", "plain"), header_line)
    to_seconds = _timestamp if name == "azure" else _seconds
    fewest_tokens = 0 if name == "burstgpt" else 1
    when, prompt, output = FORMATS[name]
    at_when, at_prompt, at_output = (columns.index(column) for column in FORMATS[name])
    num_rows, kept = 0, []
    earliest, latest = float("inf"), float("-inf")
    for line, cells in rows:
        row = _Row(
            to_seconds(_cell(cells, at_when, line, when), line, when),
            _token_count(_cell(cells, at_prompt, line, prompt), fewest_tokens, line, prompt),
            _token_count(_cell(cells, at_output, line, output), fewest_tokens, line, output),
        )
        earliest, latest = min(earliest, row.arrival), max(latest, row.arrival)
        if latest - earliest > MAX_SECONDS:
            raise _bad(line, when, _cell(cells, at_when, line, when), "time_in_span")
        num_rows += 1
        if row.prompt_tokens and row.output_tokens:
            kept.append(row)
    require(num_rows > 0, "trace_no_rows", line=header_line, format=name)
    require(bool(kept), "trace_all_failed", value=num_rows)
    return _trace(kept, num_rows, name)


def _read_jsonl(text: str) -> Trace:
    rows: list[_Row] = []
    for line, written in _lines(text):
        entry = _json_object(written, line)
        if not rows:
            _recognised(list(entry), ("measured",), line)
        rows.append(_measured_row(entry, line))
    return _trace(rows, len(rows), "measured")


def _trace(rows: list[_Row], num_rows: int, name: str) -> Trace:
    rows.sort(key=attrgetter("arrival"))  # stable: of two at the same time the upper is the first
    start = 0.0 if name == "plain" else rows[0].arrival
    requests = tuple(
        Request(index, row.arrival - start, row.prompt_tokens, row.output_tokens)
        for index, row in enumerate(rows)
    )
    measured = tuple(row.measured for row in rows if row.measured)
    return Trace(requests, num_rows, name, num_rows - len(rows), measured)


def _recognised(found: Sequence[str], candidates: Sequence[str], line: int) -> str:
    """The one format that has its columns among those found, each once."""
    missing = {
        name: [column for column in FORMATS[name] if column not in found] for name in candidates
    }
    complete = [name for name in candidates if not missing[name]]
    require(len(complete) < 2, "trace_ambiguous", line=line, formats=tuple(complete))
    if complete:
        for column in FORMATS[complete[0]]:
            require(found.count(column) == 1, "trace_column_twice", line=line, column=column)
        return complete[0]
    nearest = max(candidates, key=lambda name: len(FORMATS[name]) - len(missing[name]))
    is_near = len(missing[nearest]) < len(FORMATS[nearest])
    require(is_near, "trace_unknown_format", line=line, value=_cut(",".join(found)))
    raise SimError("trace_column_missing", line=line, column=missing[nearest][0], format=nearest)


# -- lines and rows ---------------------------------------------------------------------------


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """(number from 1, line with its end) of every line that is more than blanks and commas."""
    number, counted_to = 1, 0
    for found in _SAYS_SOMETHING.finditer(text):
        number += text.count("\n", counted_to, found.start())
        counted_to = found.start()
        yield number, found.group()


def _csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """(line on which it begins, cells) of every row; a quoted cell may go over several lines."""
    numbers: list[int] = []

    def lines() -> Iterator[str]:
        for number, line in _lines(text):
            numbers.append(number)
            yield line

    reader, begin = csv.reader(lines(), strict=True), 0
    try:
        for row in reader:
            yield numbers[begin], row
            begin = reader.line_num  # lines handed out so far
    except csv.Error as error:
        raise SimError("trace_not_csv", line=numbers[begin], reason=str(error)) from error


def _json_object(written: str, line: int) -> dict[str, object]:
    try:
        entry = _JSON.decode(written)
    except KeyError as repeated:
        raise SimError("trace_column_twice", line=line, column=repeated.args[0]) from None
    except (ValueError, RecursionError) as error:
        raise SimError("trace_not_json", line=line) from error
    if not isinstance(entry, dict):
        raise SimError("trace_not_json", line=line)
    return entry


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object as a dict; `json` alone would keep the last of two equal keys in silence."""
    entry = dict(pairs)
    if len(entry) < len(pairs):
        keys = [key for key, _ in pairs]
        for key in FORMATS["measured"]:
            if keys.count(key) > 1:
                raise KeyError(key)
    return entry


_JSON = json.JSONDecoder(object_pairs_hook=_without_repeats)


# -- cells ------------------------------------------------------------------------------------


def _cut(text: str) -> str:
    """As much of the reader's text as a message can show."""
    return text[:40]


def _bad(line: int, column: str, value: str, expected: str) -> SimError:
    return SimError(
        "trace_bad_value", line=line, column=column, value=_cut(value), expected=expected
    )


def _cell(cells: list[str], index: int, line: int, column: str) -> str:
    if index >= len(cells):
        raise _bad(line, column, "", "present")
    return cells[index].strip()


def _timestamp(cell: str, line: int, column: str) -> float:
    """Unix seconds; the trace has seven digits after the point, one more than `datetime` reads."""
    found = _TIMESTAMP.fullmatch(cell)
    try:
        whole, fraction, offset = found.groups() if found else ("", None, None)
        seconds = datetime.fromisoformat(whole + (offset or "+00:00")).timestamp()
        return seconds + float(fraction or 0)
    except ValueError:
        raise _bad(line, column, cell, "timestamp") from None


def _seconds(cell: str, line: int, column: str) -> float:
    try:
        seconds = float(cell) if _OF_A_NUMBER.issuperset(cell) else -1.0
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MAX_SECONDS:
        raise _bad(line, column, cell, "time_in_seconds")
    return seconds


def _token_count(cell: str, fewest: int, line: int, column: str) -> int:
    count = int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 12 else -1
    if not fewest <= count <= MAX_TOKENS:
        raise _bad(line, column, cell, "count")
    return count


# -- measured runs ----------------------------------------------------------------------------


def _measured_row(entry: dict[str, object], line: int) -> _Row:
    prompt_tokens = _json_count(entry, "input_toks", line)
    output_tokens = _json_count(entry, "output_toks", line)
    moments = ("queued_ts", "scheduled_ts", "first_token_ts", "last_token_ts")
    queued, scheduled, first, last = times = [_json_seconds(entry, key, line) for key in moments]
    for key, before, time in zip(moments[1:], times, times[1:], strict=False):
        if time < before:
            raise _bad(line, key, str(time), "time_in_order")
    gaps = output_tokens - 1
    tpot = (last - first) / gaps if gaps else float("nan")
    measured = Measured(scheduled - queued, first - queued, tpot, last - queued)
    return _Row(queued, prompt_tokens, output_tokens, measured)


def _json_count(entry: dict[str, object], key: str, line: int) -> int:
    value = _json_value(entry, key, line)
    if type(value) is not int or not 1 <= value <= MAX_TOKENS:  # True is an int, too
        raise _bad(line, key, _as_written(value), "count")
    return value


def _json_seconds(entry: dict[str, object], key: str, line: int) -> float:
    value = _json_value(entry, key, line)
    if type(value) not in (int, float) or not 0 <= value <= MAX_SECONDS:  # type: ignore[operator]
        raise _bad(line, key, _as_written(value), "time_in_seconds")
    return float(value)  # type: ignore[arg-type]


def _json_value(entry: dict[str, object], key: str, line: int) -> object:
    if key not in entry:
        raise _bad(line, key, "", "present")
    return entry[key]


def _as_written(value: object) -> str:
    """A value as it stood in the file; lists and objects, however deep, by their brackets."""
    if isinstance(value, (list, dict)):
        return "[…]" if isinstance(value, list) else "{…}"
    return json.dumps(value, ensure_ascii=False)
