"""A small picture for each chapter's card on the home page: its own figure, without words.

Chapters 5, 6 and 7 show the run that plays above them, chapter 2 a GPU's roofline and chapter 12 a
model's real bytes; the others are drawn.  Colours are those of `theme`, and a hatch goes with
"held" and "rejected" as everywhere.  Pictures are found by the name of the chapter, since numbers
change; a chapter that has none yet shows its number.

Long because each of the chapters has a picture.
"""

import base64
import math
from collections.abc import Callable, Iterable, Sequence

from sim import specs
from sim.specs import GB
from sim.views.slots import STATES, SlotGrid
from ui.course.chapters import Chapter
from ui.subjects.batching import race
from ui.theme import MEANINGS, SERIES

WIDTH, HEIGHT = 240, 104
GPU = specs.GPUS["RTX 4090"]
MODEL = specs.MODELS["Llama-3.1-8B"]
INTENSITIES = (0.7, 4096.0)  # FLOP per byte, from the left edge to the right
DECODE_ALONE, PREFILL = 1.0, 512.0  # one token, and so many, for each 2-byte weight that is read
LINE = 2.2
GREY = MEANINGS["free"].colour  # lines and grounds; a picture does not know the reader's theme
HATCH = (
    '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<path d="M-1 1 1-1M0 6 6 0M5 7 7 5" stroke="#fff" stroke-width="1.2"/></pattern>'
)

Points = Sequence[tuple[float, float]]
Run = tuple[SlotGrid, SlotGrid]  # static batching, continuous batching


def style(listed: Iterable[Chapter], run: Run) -> str:
    """A rule for each card's picture.  Decoration: the chapter's title stands beside it."""
    return "\n".join(
        f".st-key-card-{chapter.number:02}::before "
        f'{{ background-image: url("data:image/svg+xml;base64,{_encoded(of(chapter, run))}"); }}'
        for chapter in listed
    )


def of(chapter: Chapter, run: Run) -> str:
    """The picture of a chapter, as SVG."""
    name = chapter.stem.split("_", 1)[1]
    parts = PICTURES[name](run) if name in PICTURES else [_number(chapter.number)]
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    drawn = f"<defs>{HATCH}</defs>{''.join(parts)}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{drawn}</svg>'


def _encoded(svg: str) -> str:
    return base64.b64encode(svg.encode()).decode()


# -- what a picture is made of -----------------------------------------------------------------


def _colour(name: str) -> str:
    return MEANINGS[name].colour


def _box(
    x: float,
    y: float,
    width: float,
    height: float,
    look: str,
    radius: float = 2,
    faint: bool = False,
) -> str:
    """A box in the colour of a meaning; "free" is an outline, "held" and "rejected" are hatched."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius}"'
    if look == "free":
        return f'<rect {place} fill="{GREY}" opacity=".2"/>'
    fill = f'<rect {place} fill="{_colour(look)}" opacity="{0.35 if faint else 1}"/>'
    is_hatched = MEANINGS[look].pattern == "cross"
    return fill + (f'<rect {place} fill="url(#hatch)" opacity=".7"/>' if is_hatched else "")


def _path(points: Points, colour: str, width: float = LINE, dash: str = "") -> str:
    d = "M" + " ".join(f"{x:.1f} {y:.1f}" for x, y in points)
    style = f'stroke="{colour}" stroke-width="{width}" stroke-linecap="round"'
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path d="{d}" fill="none" stroke-linejoin="round" {style}{dashes}/>'


def _dot(x: float, y: float, colour: str, radius: float = 5) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>'


def _axes(x: float = 22, y: float = 92) -> str:
    return f'<path d="M{x} 10V{y}H228" fill="none" stroke="{GREY}"/>'


def _faint_line(points: Points) -> str:
    return _path(points, GREY, 1.4)


def _number(number: int) -> str:
    return (
        f'<text x="{WIDTH / 2}" y="76" text-anchor="middle" font-size="64" font-weight="600" '
        f'fill="{GREY}">{number}</text>'
    )


def _row(spans: Iterable[tuple[str, float]], y: float, height: float, x: float = 12) -> str:
    """Boxes side by side, each (look, width); a look of "" is a gap."""
    drawn = []
    for look, width in spans:
        if look:
            drawn.append(_box(x, y, width - 1, height, look))
        x += width
    return "".join(drawn)


# -- the chapters ------------------------------------------------------------------------------


def _pipeline(run: Run) -> Iterable[str]:
    looks = ("tokenize", "queue", "prefill", "decode", "sample", "answer")
    yield _faint_line([(14, 52), (226, 52)])
    for number, look in enumerate(looks):
        yield _box(14 + 37 * number, 34, 27, 36, look, radius=6)
    yield "".join(_dot(20 + 8 * at, 18, _colour("tokenize"), 2.6) for at in range(3))
    yield "".join(_dot(94 + 8 * at, 86, _colour("prefill"), 2.6) for at in range(3))
    yield _dot(138, 86, _colour("decode"), 2.6)


def _roofline(run: Run) -> Iterable[str]:
    low, high = (math.log2(end) for end in INTENSITIES)

    def place(intensity: float) -> tuple[float, float]:
        share = min(1.0, intensity / GPU.ridge)  # of the peak
        x = 22 + 200 * (math.log2(intensity) - low) / (high - low)
        return x, 22 + 8.2 * -math.log2(share)

    yield _axes()
    yield _path(
        [place(INTENSITIES[0]), place(GPU.ridge), place(INTENSITIES[1])], _colour("queue"), 3
    )
    yield _dot(*place(DECODE_ALONE), _colour("decode"), 7)
    yield _dot(*place(PREFILL), _colour("prefill"), 7)


def _latency(run: Run) -> Iterable[str]:
    first = [("queue", 62.0), ("tokenize", 12.0), ("prefill", 44.0), ("sample", 8.0)]
    gaps = [11, 11, 11, 26, 11, 11, 11]
    yield _row(first, 26, 24)
    yield _faint_line([(137, 14), (137, 92)])
    x = 137.0
    for gap in gaps:
        yield _box(x, 64, 7, 18, "decode")
        x += gap
    yield _path([(12, 73), (131, 73)], GREY, 1.4, "2 5")


def _simulator(run: Run) -> Iterable[str]:
    loads = [at / 60 for at in range(56)]
    waits = [(22 + 210 * load, 84 - 7 * load / (1 - load)) for load in loads]
    yield _axes()
    yield _faint_line([(22, 90), (170, 22), (228, 20)])
    yield _path([(x, max(y, 12)) for x, y in waits], SERIES[1], 3)
    yield _dot(22 + 210 * loads[44], 84 - 7 * loads[44] / (1 - loads[44]), SERIES[0], 6)


def _batching(run: Run) -> Iterable[str]:
    longest = max(len(grid.steps) for grid in run)
    for at, grid in enumerate(run):
        for number, slot in enumerate(race.stretches(grid)):
            y = 10 + at * 46 + number * 13
            for start, end, state, _ in slot:
                x, width = 12 + 216 * start / longest, 216 * (end - start) / longest
                yield _box(x, y, width, 10, STATES[state], radius=1)


def _kv_cache(run: Run) -> Iterable[str]:
    """The tokens that the requests of the run hold, stacked: who leaves gives theirs back."""
    steps = [step for step in run[1].steps if step][::2]
    held = [{work.request_id: work.context for work in step.work} for step in steps]
    most = max(sum(tokens.values()) for tokens in held)
    wide = 206 / len(held)
    yield _axes()
    below = [0.0] * len(held)
    for who in sorted({who for tokens in held for who in tokens}):
        tops = [low + tokens.get(who, 0) for low, tokens in zip(below, held, strict=True)]
        lower = [(22 + wide * at, 92 - 78 * low / most) for at, low in enumerate(below)]
        upper = [(22 + wide * at, 92 - 78 * top / most) for at, top in enumerate(tops)]
        d = " ".join(f"{x:.0f} {y:.0f}" for x, y in [*upper, *reversed(lower)])
        yield f'<path d="M{d}Z" fill="{_colour("stored")}" opacity="{0.55 + 0.45 * (who % 2)}"/>'
        below = tops


def _fragmentation(run: Run) -> Iterable[str]:
    """Who holds which block in the middle of the run; an arrow for each block of one of them."""
    steps = [step for step in run[1].steps if step]
    tables = steps[len(steps) // 2].block_tables
    blocks = [block for table in tables.values() for block in table]
    first, columns = min(blocks), 9
    owners = {block - first: who for who, table in tables.items() for block in table}
    longest = max(tables, key=lambda who: len(tables[who]))
    for at in range(4 * columns):
        x, y = 66 + 18 * (at % columns), 10 + 22 * (at // columns)
        who = owners.get(at)
        yield _box(
            x, y, 16, 18, "free" if who is None else "stored", faint=who not in (None, longest)
        )
    for number, block in enumerate(tables[longest][:4]):
        at = block - first
        y = 19 + 22 * number
        yield _box(12, y - 6, 22, 13, "decode")
        yield _faint_line([(35, y), (65 + 18 * (at % columns), 19 + 22 * (at // columns))])


def _prefix_cache(run: Run) -> Iterable[str]:
    root, stem = (24, 52), (104, 52)
    leaves = [(196, 16), (196, 40), (196, 64), (196, 88)]
    for leaf in leaves:
        yield _faint_line([stem, (150, leaf[1]), leaf])
    yield _path([root, stem], _colour("cached"), 7)
    yield _dot(*root, _colour("cached"), 7)
    yield _dot(*stem, _colour("cached"), 9)
    for at, (x, y) in enumerate(leaves):
        yield _box(x - 14, y - 7, 40, 14, "cached" if at == 0 else "prefill", radius=7)


def _chunked_prefill(run: Run) -> Iterable[str]:
    tick = ("decode", 11.0)
    yield _row([tick, tick, tick, ("prefill", 112.0), tick, tick, tick, tick, tick], 20, 24)
    pieces = [piece for _ in range(5) for piece in (("prefill", 22.4), ("decode", 11.0))]
    yield _row([tick, tick, *pieces, tick, tick], 60, 24)


def _spec_decode(run: Run) -> Iterable[str]:
    rounds = ["accepted", "accepted", "accepted", "rejected", "corrected", "accepted", "accepted"]
    for at, look in enumerate(rounds):
        yield _box(12 + 31 * at, 18, 26, 22, "proposed", radius=5, faint=True)
        yield _box(12 + 31 * at, 60, 26, 24, look, radius=5)
        yield _faint_line([(25 + 31 * at, 43), (25 + 31 * at, 57)])


def _cuda_graph(run: Run) -> Iterable[str]:
    for at in range(7):
        yield _box(12 + 30 * at, 12, 20, 13, "launch")
        yield _box(26 + 30 * at, 29, 9, 15, "kernel")
    yield _box(12, 62, 12, 13, "launch")
    yield "".join(_box(26 + 10 * at, 79, 9, 15, "kernel") for at in range(7))
    yield _faint_line([(12, 53), (228, 53)])


def _quantization(run: Run) -> Iterable[str]:
    """One GPU's memory: weights in 16, 8 and 4 bits, and what is left for KV."""
    for at, weights in enumerate(("bf16", "int8", "int4")):
        share = MODEL.in_format(weights).memory_bytes / (24 * GB)
        yield _box(12, 12 + 29 * at, 216 * share - 1.5, 22, "weights")
        yield _box(12 + 216 * share, 12 + 29 * at, 216 * (1 - share), 22, "pool", faint=True)


def _systems(run: Run) -> Iterable[str]:
    looks = ("queue", "decode", "stored", "cached", "kernel")
    for at, look in enumerate(looks):
        yield _box(14 + 43 * at, 78 - 15 * at, 36, 16 + 15 * at, look, radius=4)


def _workbench(run: Run) -> Iterable[str]:
    for at, share in enumerate((0.3, 0.75, 0.5)):
        y = 26 + 26 * at
        yield _faint_line([(14, y), (94, y)])
        yield _dot(14 + 80 * share, y, SERIES[0], 7)
    yield '<g transform="translate(112 8) scale(.53 .86)">' + "".join(_simulator(run)) + "</g>"


def _clinic(run: Run) -> Iterable[str]:
    sick = [62, 58, 64, 30, 60, 24, 66, 16, 56, 22, 60, 14]
    yield _axes()
    yield _path([(24 + 18 * at, y) for at, y in enumerate(sick)], _colour("held"), 2.4)
    yield _path([(24 + 18 * at, 76 + at % 2 * 4) for at in range(12)], _colour("cached"), 2.8)


def _quiz(run: Run) -> Iterable[str]:
    for at, wide in enumerate((118, 150, 96)):
        y = 24 + 29 * at
        ring = "cached" if at == 1 else "queue"
        yield _dot(32, y, _colour(ring), 9 if at == 1 else 7)
        yield _box(54, y - 5, wide, 10, ring, radius=5, faint=at != 1)
    yield _path([(28, 53), (31, 57), (37, 49)], "#fff", 2.4)


def _summary(run: Run) -> Iterable[str]:
    for at in range(2):
        x = 44 + 82 * at
        yield _box(x, 8, 68, 90, "free", radius=4)
        yield _box(x + 9, 18, 34, 7, "decode", radius=3)
        for line in range(5):
            yield _box(x + 9, 34 + 12 * line, 50 - 9 * (line % 3), 5, "queue", 2.5, faint=True)


PICTURES: dict[str, Callable[[Run], Iterable[str]]] = {
    "pipeline": _pipeline,
    "prefill_decode": _roofline,
    "latency": _latency,
    "simulator": _simulator,
    "batching": _batching,
    "kv_cache": _kv_cache,
    "fragmentation": _fragmentation,
    "prefix_cache": _prefix_cache,
    "chunked_prefill": _chunked_prefill,
    "spec_decode": _spec_decode,
    "cuda_graph": _cuda_graph,
    "quantization": _quantization,
    "systems": _systems,
    "workbench": _workbench,
    "clinic": _clinic,
    "quiz": _quiz,
    "summary": _summary,
}
