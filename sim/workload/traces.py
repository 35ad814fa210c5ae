"""Who asked, when, and for how much: recorded traffic, read from a file.

`read` knows these formats and tells them apart by their columns or keys:

    azure     CSV    the Azure LLM inference traces; date and time of every request
    burstgpt  CSV    BurstGPT; seconds, and failed requests with 0 tokens
    plain     CSV    written by hand or by a program; seconds from the start of the run
    measured  JSONL  a run of vLLM, with the times the real server took
    mooncake  JSONL  milliseconds, and a hash for each block of 512 prompt tokens
    bailian   JSONL  Alibaba's Qwen traces; seconds, and a hash for each block of 16
    sharegpt  JSON   conversations in words, without times (`trace_json`)

Columns are found by name, more of them may be there.  Blank lines are passed over, rows without
prompt or answer are left out and counted, and rows are sorted by time.  Nothing else is put right:
what does not fit is an error with its line, its column and what was expected.  All lengths are in
tokens, all times in seconds; except in a plain file they count from the earliest request.

Sources: github.com/Azure/AzurePublicDataset, github.com/HPMLL/BurstGPT,
github.com/kvcache-ai/Mooncake, github.com/alibaba-edu/qwen-bailian-usagetraces-anon; the measured
file is a record of vLLM V1's `queued_ts`, `scheduled_ts`, `first_token_ts` and `last_token_ts`.
"""

import csv
import re
from collections.abc import Callable, Iterator
from datetime import datetime

from sim.errors import SimError, require
from sim.workload import trace_json
from sim.workload.trace_rows import (
    FORMATS,
    MAX_ROWS,
    MAX_SECONDS,
    MAX_TOKENS,
    Measured,
    Trace,
    TraceRow,
    bad,
    lines_of,
    made,
    recognised,
)

__all__ = ["FORMATS", "MAX_SECONDS", "MAX_TOKENS", "Measured", "Trace", "read"]

_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_COUNT = re.compile(r"\d{1,11}(?:\.0{0,9})?", re.ASCII)
_OF_A_NUMBER = frozenset("0123456789.eE+-")


def read(text: str, count_tokens: Callable[[str], int] = trace_json.about) -> Trace:
    """Read a trace in any of the formats in `FORMATS`; `count_tokens` is asked of conversations.

    Raises:
        SimError: `trace_empty`, `trace_nul`, `trace_too_long`, `trace_not_csv`, `trace_not_json`,
            `trace_not_commas`, `trace_unknown_format`, `trace_ambiguous`, `trace_column_missing`,
            `trace_column_twice`, `trace_bad_value`, `trace_no_rows`, `trace_all_failed`,
            `trace_hashes_do_not_fit`, `trace_too_many_hashes`.  Lines count from 1, as in an
            editor.
    """
    text = text.removeprefix("\ufeff")
    nul = text.find("\0")
    require(nul < 0, "trace_nul", line=text.count("\n", 0, nul) + 1)
    _, first_line = next(lines_of(text), (1, ""))
    require(first_line != "", "trace_empty")
    if first_line.lstrip().startswith(("{", "[")):
        return trace_json.read(text, count_tokens)
    return _read_csv(text)


def _read_csv(text: str) -> Trace:
    rows = _csv_rows(text)
    header_line, header = next(rows)
    for mark in ";\t":
        is_separator = len(header) == 1 and mark in header[0]
        require(not is_separator, "trace_not_commas", line=header_line, separator=mark)
    columns = [cell.strip() for cell in header]
    name = recognised(columns, ("azure", "burstgpt", "plain"), header_line)
    to_seconds = _timestamp if name == "azure" else _seconds
    when, prompt, output = FORMATS[name]
    at_when, at_prompt, at_output = (columns.index(column) for column in FORMATS[name])
    kept: list[TraceRow] = []
    earliest, latest = float("inf"), float("-inf")
    for line, cells in rows:
        row = TraceRow(
            to_seconds(_cell(cells, at_when, line, when), line, when),
            _token_count(_cell(cells, at_prompt, line, prompt), line, prompt),
            _token_count(_cell(cells, at_output, line, output), line, output),
        )
        earliest, latest = min(earliest, row.arrival), max(latest, row.arrival)
        if latest - earliest > MAX_SECONDS:
            raise bad(line, when, _cell(cells, at_when, line, when), "time_in_span")
        kept.append(row)
        require(len(kept) <= MAX_ROWS, "trace_too_long", most=MAX_ROWS)
    require(bool(kept), "trace_no_rows", line=header_line, format=name)
    return made(kept, len(kept), name)


# -- lines and rows ---------------------------------------------------------------------------


def _csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """(line on which it begins, cells) of every row; a quoted cell may go over several lines."""
    numbers: list[int] = []

    def lines() -> Iterator[str]:
        for number, line in lines_of(text):
            numbers.append(number)
            yield line

    reader, begin = csv.reader(lines(), strict=True), 0
    try:
        for row in reader:
            yield numbers[begin], row
            begin = reader.line_num  # lines handed out so far
    except csv.Error as error:
        raise SimError("trace_not_csv", line=numbers[begin], reason=str(error)) from error


# -- cells ------------------------------------------------------------------------------------


def _cell(cells: list[str], index: int, line: int, column: str) -> str:
    if index >= len(cells):
        raise bad(line, column, "", "present")
    return cells[index].strip()


def _timestamp(cell: str, line: int, column: str) -> float:
    """Unix seconds; the trace has seven digits after the point, one more than `datetime` reads."""
    found = _TIMESTAMP.fullmatch(cell)
    try:
        whole, fraction, offset = found.groups() if found else ("", None, None)
        seconds = datetime.fromisoformat(whole + (offset or "+00:00")).timestamp()
        return seconds + float(fraction or 0)
    except ValueError:
        raise bad(line, column, cell, "timestamp") from None


def _seconds(cell: str, line: int, column: str) -> float:
    try:
        seconds = float(cell) if _OF_A_NUMBER.issuperset(cell) else -1.0
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MAX_SECONDS:
        raise bad(line, column, cell, "time_in_seconds")
    return seconds


def _token_count(cell: str, line: int, column: str) -> int:
    """A whole number, also one that a table has written as 400.0."""
    count = int(float(cell)) if _COUNT.fullmatch(cell) else -1
    if not 0 <= count <= MAX_TOKENS:
        raise bad(line, column, cell, "count")
    return count
