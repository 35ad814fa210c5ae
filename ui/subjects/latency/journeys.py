"""One request on its way as a timeline: station by station, then message by message."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sim.engine import Record
from sim.views.stations import CPU, GPU, QUEUE, Journey, Station
from sim.views.streaming import Stream
from ui import theme
from ui.player.painters.timeline import LaneSpan, Timeline
from ui.subjects.latency import latency_notes
from ui.subjects.latency.pictures import BEYOND
from ui.words import notes
from ui.words.language import tr

PLACES = (CPU, QUEUE, GPU)
LATER = 0.7  # of the time until something else happens


def journey_timeline(
    journey: Journey, words: Sequence[str], alt: str, guess: object = None
) -> Timeline:
    """One request on its user's clock: where it is, what the user sees, what is measured.

    `words`: its output tokens as text.  A frame for its arrival and for the end of each station;
    what has just come onto the screen is shown a moment later, when it can be read there.
    `guess`: the parts that somebody adds up to the TTFT, a key of `_sums`; it is marked.
    """
    arrival = journey.request.arrival_seconds
    seen = [moment - arrival for moment in journey.seen_seconds]
    end = 2 * seen[-1] - seen[-2]
    moments = [*(one.end_seconds - arrival for one in journey.stations), end]
    at = [
        _later(moment, after) if one.kind == "detokenize" else moment
        for one, (moment, after) in zip(journey.stations, pairwise(moments), strict=True)
    ]
    who = notes.names([journey.request.id])
    came = tr(f"{who} 到达，秒表开始走。", f"{who} arrives; the stopwatch starts.")
    return Timeline(
        lanes=("CPU", tr("队列", "queue"), "GPU", tr("用户看到", "user sees"), tr("量到", "timed")),
        spans=(
            *(_at_station(one, arrival) for one in (*journey.others, *journey.stations)),
            *_screen(3, [*seen, end], words),
            *_measured(4, seen),
        ),
        at=(0.0, *at),
        notes=(
            came,
            *(latency_notes.station_note(one, journey, words) for one in journey.stations),
        ),
        events=((), *(_kind(one, journey) for one in journey.stations)),
        alt=alt,
        marks=tuple(
            (total, tr("你猜的 TTFT", "your TTFT"))
            for code, total in _sums(journey).items()
            if code == guess
        ),
    )


def _sums(journey: Journey) -> dict[str, float]:
    """What a TTFT might be made of, in seconds after the arrival."""
    prefill, decode = journey.seconds_of("prefill"), journey.seconds_of("decode", token=2)
    return {
        "prefill": prefill,
        "plus_decode": prefill + decode,
        "all_stations": journey.ttft,
        "all_and_decode": journey.ttft + decode,
    }


def _later(moment: float, after: float) -> float:
    return moment + LATER * (after - moment)


def _at_station(station: Station, arrival: float) -> LaneSpan:
    meaning = theme.MEANINGS[station.kind]
    return LaneSpan(
        PLACES.index(station.place),
        station.start_seconds - arrival,
        station.end_seconds - arrival,
        station.kind,
        tr(meaning.zh, meaning.en),
        theme.request_letter(station.request_id),
    )


def _screen(lane: int, moments: Sequence[float], words: Sequence[str]) -> list[LaneSpan]:
    """What is on the screen from one moment to the next; one moment more than words."""
    return [
        LaneSpan(lane, start, end, "answer", word)
        for (start, end), word in zip(pairwise(moments), words, strict=True)
    ]


def _measured(lane: int, seen: Sequence[float]) -> list[LaneSpan]:
    first = LaneSpan(lane, 0, seen[0], "measured", "TTFT")
    return [
        first,
        *(LaneSpan(lane, start, end, "measured", "ITL") for start, end in pairwise(seen)),
    ]


def _kind(station: Station, journey: Journey) -> tuple[str, ...]:
    known = {
        ("queue", 1): "admitted",
        ("detokenize", 1): "first_token",
        ("detokenize", journey.request.output_tokens): "finished",
    }
    key = (station.kind, station.token)
    return (known[key],) if key in known else ()


def message_timeline(record: Record, answer: Stream, alt: str) -> Timeline:
    """Tokens as the engine samples them, above the messages in which they arrive.

    A frame for each token, a moment after it was sampled.
    """
    sent = answer.sent_seconds
    tokens = [0.0, *(record.token_seconds - sent).tolist()]
    messages = [0.0, *(answer.message_seconds - sent).tolist()]
    sizes = answer.message_tokens.tolist()
    end = BEYOND * tokens[-1]
    produced = [
        LaneSpan(0, start, stop, "decode" if number > 1 else "prefill", str(number))
        for number, (start, stop) in enumerate(pairwise(tokens), start=1)
    ]
    said = [
        latency_notes.stream_note(before + place, place, gap if place == size else 0)
        for before, size, gap in zip(
            np.cumsum([0, *sizes[:-1]]).tolist(), sizes, np.diff(messages).tolist(), strict=True
        )
        for place in range(1, size + 1)
    ]
    arrived = _screen(1, [*messages[1:], end], [f"+{size}" for size in sizes])
    return Timeline(
        lanes=(tr("引擎产出", "engine"), tr("客户端收到", "client has")),
        spans=(*produced, *arrived),
        at=(*(_later(*pair) for pair in pairwise(tokens[1:])), end),
        notes=tuple(said),
        events=(("first_token",), *[()] * (len(said) - 1)),
        alt=alt,
    )
