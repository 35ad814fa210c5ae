"""Traces whose rows are JSON: runs of vLLM, Mooncake, Alibaba's Qwen, conversations of ShareGPT.

Hashes of blocks say what prompts have in common, so a server with a prefix cache finds it.  A
conversation has no time and no lengths: its first question and the answer to it are a request, as
`vllm bench serve` takes them, and one comes every second on average; its words are counted by
whoever brings a tokenizer.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from sim.errors import SimError, require
from sim.workload.arrivals import PoissonArrivals
from sim.workload.trace_rows import (
    FORMATS,
    MAX_HASHES,
    MAX_ROWS,
    MAX_SECONDS,
    MAX_TOKENS,
    Measured,
    Trace,
    TraceRow,
    bad,
    cut,
    lines_of,
    made,
    recognised,
)

MAX_COUNTED = 400_000  # bytes of conversations: counting takes about a microsecond for each
MAX_TALKS = 20_000  # nor more than these
HUMANS, MODELS = ("human", "user"), ("gpt", "assistant", "chatgpt", "bing", "bard", "model")

Entry = dict[str, object]


def about(text: str) -> int:
    """Tokens of a text, without a tokenizer: four bytes each."""
    return -(-len(text.encode(errors="replace")) // 4)


def read(text: str, count_tokens: Callable[[str], int]) -> Trace:
    """Raises: SimError, as `traces.read`."""
    if text.lstrip().startswith("["):
        return _conversations(_listed(text), count_tokens)
    rows: list[TraceRow] = []
    name, num_hashes = "", 0
    for line, written in lines_of(text):
        entry = _json_object(written, line)
        if not name:
            if _turns(entry) is not None:
                every = (_json_object(each, at) for at, each in lines_of(text))
                return _conversations(every, count_tokens)
            name = _named(entry, line)
        rows.append(ROWS[name](entry, line))
        num_hashes += len(rows[-1].hashes)
        require(len(rows) <= MAX_ROWS, "trace_too_long", most=MAX_ROWS)
        require(num_hashes <= MAX_HASHES, "trace_too_many_hashes", most=MAX_HASHES)
    return made(rows, len(rows), name)


def _named(entry: Entry, line: int) -> str:
    """Of these two the second has all that the first has, and no milliseconds."""
    named = recognised(list(entry), ("measured", "mooncake"), line)
    has_chats = named == "mooncake" and FORMATS["bailian"][-1] in entry
    return "bailian" if has_chats else named


def _json_object(written: str, line: int) -> Entry:
    try:
        entry = _JSON.decode(written)
    except KeyError as repeated:
        raise SimError("trace_column_twice", line=line, column=repeated.args[0]) from None
    except (ValueError, RecursionError) as error:
        raise SimError("trace_not_json", line=line) from error
    if not isinstance(entry, dict):
        raise SimError("trace_not_json", line=line)
    return entry


KEYS = frozenset(key for name in ("measured", "bailian", "mooncake") for key in FORMATS[name])


def _without_repeats(pairs: list[tuple[str, object]]) -> Entry:
    """A JSON object as a dict; `json` alone would keep the last of two equal keys in silence."""
    entry = dict(pairs)
    if len(entry) < len(pairs):
        keys = [key for key, _ in pairs]
        for key in KEYS:
            if keys.count(key) > 1:
                raise KeyError(key)
    return entry


_JSON = json.JSONDecoder(object_pairs_hook=_without_repeats)


def _measured_row(entry: Entry, line: int) -> TraceRow:
    prompt_tokens = _json_count(entry, "input_toks", line)
    output_tokens = _json_count(entry, "output_toks", line)
    moments = ("queued_ts", "scheduled_ts", "first_token_ts", "last_token_ts")
    queued, scheduled, first, last = times = [_json_seconds(entry, key, line) for key in moments]
    for key, before, time in zip(moments[1:], times, times[1:], strict=False):
        if time < before:
            raise bad(line, key, str(time), "time_in_order")
    gaps = output_tokens - 1
    tpot = (last - first) / gaps if gaps > 0 else float("nan")
    measured = Measured(scheduled - queued, first - queued, tpot, last - queued)
    return TraceRow(queued, prompt_tokens, output_tokens, measured)


def _json_count(entry: Entry, key: str, line: int) -> int:
    """A whole number, also one that was written as 400.0."""
    value = _json_value(entry, key, line)
    is_number = type(value) in (int, float)  # True is an int, too
    if not is_number or not 0 <= value <= MAX_TOKENS or value != int(value):  # type: ignore
        raise bad(line, key, _as_written(value), "count")
    return int(value)  # type: ignore[call-overload]


def _json_seconds(entry: Entry, key: str, line: int, second: float = 1.0) -> float:
    value = _json_value(entry, key, line)
    is_number = type(value) in (int, float)
    if not is_number or not 0 <= value <= MAX_SECONDS * second:  # type: ignore[operator]
        raise bad(line, key, _as_written(value), "time_in_seconds")
    return float(value) / second  # type: ignore[arg-type]


def _json_value(entry: Entry, key: str, line: int) -> object:
    if key not in entry:
        raise bad(line, key, "", "present")
    return entry[key]


def _as_written(value: object) -> str:
    """A value as it stood in the file; lists and objects, however deep, by their brackets."""
    if isinstance(value, (list, dict)):
        return "[…]" if isinstance(value, list) else "{…}"
    return json.dumps(value, ensure_ascii=False)


# -- hashes of blocks -----------------------------------------------------------------------------


def _hashed_row(entry: Entry, line: int, second: float) -> TraceRow:
    """`second`: how much of the file's time a second is."""
    when, prompt, output = FORMATS["mooncake"]
    return TraceRow(
        _json_seconds(entry, when, line, second),
        _json_count(entry, prompt, line),
        _json_count(entry, output, line),
        hashes=_hashes(entry, line),
    )


def _hashes(entry: Entry, line: int) -> Sequence[int]:
    given = entry.get("hash_ids", [])
    if not isinstance(given, list) or not set(map(type, given)) <= {int}:
        raise bad(line, "hash_ids", _as_written(given), "hashes")
    return given


ROWS: dict[str, Callable[[Entry, int], TraceRow]] = {
    "measured": _measured_row,
    "mooncake": lambda entry, line: _hashed_row(entry, line, 1000.0),
    "bailian": lambda entry, line: _hashed_row(entry, line, 1.0),
}


# -- conversations --------------------------------------------------------------------------------


def _listed(text: str) -> Iterator[Entry]:
    """The objects of a JSON array."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SimError("trace_not_json", line=getattr(error, "lineno", 1)) from error
    entries = [each for each in given if isinstance(each, dict)]
    known = any(_turns(each) is not None for each in entries)
    require(known, "trace_unknown_format", line=1, value=cut(text.strip()))
    yield from entries


def _conversations(entries: Iterator[Entry], count_tokens: Callable[[str], int]) -> Trace:
    """The first question and its answer of each; the rest once enough was counted is left out."""
    rows: list[tuple[int, int]] = []
    num_rows = counted = 0
    for entry in entries:
        num_rows += 1
        said = _first_turn(entry) if num_rows <= MAX_TALKS else ()
        size = sum(len(words.encode(errors="replace")) for words in said)
        if said and counted + size <= MAX_COUNTED:
            counted += size
            asked, answered = map(count_tokens, said)
            rows.append((asked, answered))
    arrivals = PoissonArrivals(rate=1.0).draw(len(rows), np.random.default_rng(0))
    return made(
        [TraceRow(float(at), *lengths) for at, lengths in zip(arrivals, rows, strict=True)],
        num_rows,
        "sharegpt",
    )


def _turns(entry: Entry) -> list[object] | None:
    """ShareGPT's `conversations`, or the `messages` of a chat."""
    for key in ("conversations", "conversation", "messages"):
        turns = entry.get(key)
        if isinstance(turns, list):
            return turns
    return None


def _first_turn(entry: Entry) -> tuple[str, ...]:
    """The first question and the answer to it; () where there is none."""
    said = [_said(turn) for turn in _turns(entry) or ()]
    for (who, asked), (other, answered) in pairwise(said):
        if who in HUMANS and other in MODELS and asked and answered:
            return asked, answered
    return ()


def _said(turn: object) -> tuple[str, str]:
    """Who says what in a turn."""
    if not isinstance(turn, dict):
        return "", ""
    who, words = (turn.get("from", turn.get("role")), turn.get("value", turn.get("content")))
    return (str(who), words) if isinstance(words, str) else ("", "")
