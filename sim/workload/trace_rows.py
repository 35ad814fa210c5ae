"""What a recorded trace is, whatever its file looks like: rows, and requests made of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from sim.errors import SimError, require
from sim.request import Request, Segment

# The columns of each format: arrival, prompt tokens, output tokens; then what was measured.
FORMATS: dict[str, tuple[str, ...]] = {
    "azure": ("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
    "burstgpt": ("Timestamp", "Request tokens", "Response tokens"),
    "plain": ("arrival_s", "prompt_tokens", "output_tokens"),
    "measured": (
        *("queued_ts", "input_toks", "output_toks"),
        *("scheduled_ts", "first_token_ts", "last_token_ts"),
    ),
    "bailian": ("timestamp", "input_length", "output_length", "chat_id"),
    "mooncake": ("timestamp", "input_length", "output_length"),
    "sharegpt": ("conversations",),
}
MAX_ROWS = 40_000  # a row takes up to twenty microseconds
MAX_HASHES = 1_000_000  # in one file; each takes about a microsecond
MAX_TOKENS = 10_000_000  # of one prompt or one answer
MAX_SECONDS = 1_000_000_000  # about 32 years, also between dates; a date in Unix seconds is more


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
    `measured` has one entry per request, or none if the file has no such times.  `block_tokens`:
    what a hash stands for, if the file has them.
    """

    requests: tuple[Request, ...]
    num_rows: int
    format: str
    num_skipped: int = 0
    measured: tuple[Measured, ...] = ()
    block_tokens: int | None = None

    def first(self, num_requests: int) -> "Trace":
        """The same trace with its earliest requests only."""
        return replace(
            self, requests=self.requests[:num_requests], measured=self.measured[:num_requests]
        )


@dataclass(slots=True)
class TraceRow:
    """One request of a file.  `hashes`: of its prompt's blocks, each of all before it, too."""

    arrival: float
    prompt_tokens: int
    output_tokens: int
    measured: Measured | None = None
    hashes: Sequence[int] = ()


def made(rows: list[TraceRow], num_rows: int, name: str) -> Trace:
    """The trace of these rows, out of `num_rows`; those without tokens are left out.

    Raises:
        SimError: `trace_all_failed`.
    """
    rows = [row for row in rows if row.prompt_tokens and row.output_tokens]
    require(bool(rows), "trace_all_failed", value=num_rows)
    rows.sort(key=attrgetter("arrival"))  # stable: of two at the same time the upper is the first
    start = 0.0 if name == "plain" else rows[0].arrival
    hashed = [row for row in rows if row.hashes]
    size = block_size(hashed) if hashed else None
    prefixes = shared_prefixes(rows, size) if size else [()] * len(rows)
    requests = tuple(
        Request(index, row.arrival - start, row.prompt_tokens, row.output_tokens, prefix)
        for index, (row, prefix) in enumerate(zip(rows, prefixes, strict=True))
    )
    measured = tuple(row.measured for row in rows if row.measured)
    return Trace(requests, num_rows, name, num_rows - len(rows), measured, size)


def shared_prefixes(rows: Sequence[TraceRow], size: int) -> list[tuple[Segment, ...]]:
    """What each prompt has in common with others, as segments; a hash stands for `size` tokens.

    Blocks that the same prompts begin with are one segment, so a prefix has as many as there are
    places where prompts part.
    """
    children: dict[tuple[int, int], int] = {}  # (node, hash) -> node; 0 is where all begin
    counts = [0]
    paths = []
    for row in rows:
        node, path = 0, []
        for each in row.hashes:
            node = children.setdefault((node, each), len(counts))
            if node == len(counts):
                counts.append(0)
            counts[node] += 1
            path.append(node)
        paths.append(path)
    return [_segments(row, path, counts, size) for row, path in zip(rows, paths, strict=True)]


def _segments(row: TraceRow, path: list[int], counts: list[int], size: int) -> tuple[Segment, ...]:
    found: list[Segment] = []
    begin = 0
    for place, node in enumerate(path):
        if counts[node] == 1:
            break
        is_last = place + 1 == len(path) or counts[path[place + 1]] != counts[node]
        end = min((place + 1) * size, row.prompt_tokens)
        if is_last and end > begin:
            found.append(Segment(f"h{path[place]}", end - begin))
            begin = end
    return tuple(found)


SIZES = (512, 16, 32, 64, 128, 256, 1024, 2048, 8, 4, 2, 1)  # tokens; the published traces first


def block_size(rows: Sequence[TraceRow]) -> int:
    """How many tokens a hash stands for: what fits all prompts.

    Raises:
        SimError: `trace_hashes_do_not_fit`.
    """
    for size in SIZES:
        if all(
            row.prompt_tokens // size <= len(row.hashes) <= -(-row.prompt_tokens // size)
            for row in rows
        ):
            return size
    raise SimError("trace_hashes_do_not_fit")


# -- lines and columns ----------------------------------------------------------------------------

_SAYS_SOMETHING = re.compile(r"^.*?[^\s,].*\n?", re.MULTILINE)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """(number from 1, line with its end) of every line that is more than blanks and commas."""
    number, counted_to = 1, 0
    for found in _SAYS_SOMETHING.finditer(text):
        number += text.count("\n", counted_to, found.start())
        counted_to = found.start()
        yield number, found.group()


def recognised(found: Sequence[str], candidates: Sequence[str], line: int) -> str:
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
    require(is_near, "trace_unknown_format", line=line, value=cut(",".join(found)))
    raise SimError("trace_column_missing", line=line, column=missing[nearest][0], format=nearest)


# -- faults ---------------------------------------------------------------------------------------


def cut(text: str) -> str:
    """As much of the reader's text as a message can show."""
    return text[:40]


def bad(line: int, column: str, value: str, expected: str) -> SimError:
    return SimError(
        "trace_bad_value", line=line, column=column, value=cut(value), expected=expected
    )
