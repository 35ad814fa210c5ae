"""Lines of /metrics as series, and one scrape after the other.

A text may hold several scrapes of one server, one after the other: where a series comes again, the
next one begins.  Only series that `by_engine` knows are kept; other lines are looked at just enough
to tell a sample from what is none.

Source: Prometheus text exposition format 0.0.4; a name that Ray or OpenTelemetry rewrote begins
`ray_` and has `_` for `:`.
"""

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from sim.errors import SimError
from ui.subjects.clinic.brought import texts

Labels = tuple[tuple[str, str], ...]  # in the order of their names
Series = dict[Labels, float]
Scrape = dict[str, Series]  # name as the engine spells it -> labels -> value

LABEL = r'[a-zA-Z_][\w.]*+\s*+=\s*+"(?:[^"\\\n]|\\.)*+"'
SAMPLE = re.compile(
    r"([a-zA-Z_:][\w:]*+)"
    rf"(?:\s*+\{{\s*+((?:{LABEL}\s*+,?\s*+)*+)\}}\s*+|\s++)"
    r"([^\s{}]++)(?:\s++-?\d++(?:\.\d*+)?)?(?:\s*+\#.*+)?\s*+",
    re.ASCII,
)
PAIR = re.compile(r'([a-zA-Z_][\w.]*+)\s*+=\s*+"((?:[^"\\\n]|\\.)*+)"', re.ASCII)
VALUE = re.compile(
    r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?[Ii]nf(?:inity)?|[+-]?[Nn]a[Nn]"
)
ENGINE = re.compile(r"(?:ray_)?(vllm|sglang)[:_](\w+)", re.ASCII)
OURS = re.compile(r"(?:ray_)?(?:vllm|sglang)[:_]\w|DCGM_FI_\w", re.ASCII)
GPU = "DCGM_FI_"
MAX_PREFIX = 200  # letters before a sample
PARTS = ("_bucket", "_sum", "_count", "_total")


@dataclass
class Scrapes:
    """The first and the last scrape of a text, and what became of its other lines."""

    first: Scrape = field(default_factory=lambda: defaultdict(dict))
    last: Scrape = field(default_factory=lambda: defaultdict(dict))  # the same one if there is one
    num_scrapes: int = 1
    gpus: Scrape = field(default_factory=lambda: defaultdict(dict))  # of an exporter beside them
    num_samples: int = 0
    described: set[str] = field(default_factory=set)  # engines named by a HELP or TYPE line
    names: set[str] = field(default_factory=set)  # of all samples, as they stand in the text
    left_out: list[tuple[int, str]] = field(default_factory=list)
    cut_line: int | None = None


def read(text: str, known: Collection[str]) -> Scrapes:
    """The series of `known` names, such as "vllm:num_requests_running", without `_bucket` etc.

    Raises:
        SimError: `brought_not_metrics` with `line` and `value`: a line of an engine is broken.
    """
    found = Scrapes()
    found.last = found.first
    broken: list[tuple[int, str]] = []
    number = 0
    for number, given in texts.lines(text):
        line = given.strip()
        if line.startswith("#"):
            _describe(found, line)
            continue
        sample = SAMPLE.fullmatch(line) or _behind_a_prefix(line)
        if sample is None or not VALUE.fullmatch(sample[3]):
            broken.append((number, line))
            continue
        found.num_samples += 1
        found.names.add(sample[1])
        name = spelled(sample[1])
        if _base(name) in known:
            _add(found, name, _labels(sample[2] or ""), float(sample[3]))
    _sort_out(found, broken, number)
    return found


def spelled(name: str) -> str:
    """A name as its engine spells it: ray_vllm_x -> vllm:x."""
    own = ENGINE.fullmatch(name)
    return f"{own[1]}:{own[2]}" if own else name


def _base(name: str) -> str:
    for part in PARTS:
        if name.endswith(part):
            return name.removesuffix(part)
    return name


def _behind_a_prefix(line: str) -> re.Match[str] | None:
    """A sample behind what `grep -n`, a quotation or a listing put in front."""
    begin = OURS.search(line, 0, MAX_PREFIX)
    return SAMPLE.fullmatch(line, begin.start()) if begin and begin.start() else None


def _labels(text: str) -> Labels:
    return tuple(sorted(PAIR.findall(text)))


def _add(found: Scrapes, name: str, labels: Labels, value: float) -> None:
    if name.startswith(GPU):
        found.gpus[name][labels] = value
        return
    if labels in found.last[name]:
        found.last = defaultdict(dict)
        found.num_scrapes += 1
    found.last[name][labels] = value


def _describe(found: Scrapes, line: str) -> None:
    words = line.split(maxsplit=3)
    if len(words) > 2 and words[1] in ("HELP", "TYPE"):
        own = ENGINE.match(words[2])
        if own:
            found.described.add(own[1])


def _sort_out(found: Scrapes, broken: list[tuple[int, str]], last: int) -> None:
    """A last line that is cut, lines that are none of a server's, and those that should be."""
    for number, line in broken:
        is_ours = bool(OURS.match(line))
        if is_ours and number == last and found.num_samples:
            found.cut_line = number
        elif is_ours or not found.num_samples:
            raise SimError("brought_not_metrics", line=number, value=texts.shown(line))
        else:
            found.left_out.append((number, texts.shown(line)))
