"""The life of a request: queue, prefill, decode, and where it was interrupted."""

from dataclasses import dataclass

from sim.engine import Record


@dataclass(frozen=True)
class Stretch:
    """A stretch of one request's life.  `kind`: queue, prefill, decode or preempted."""

    request_id: int
    kind: str
    start_seconds: float
    end_seconds: float


def spans(record: Record) -> list[Stretch]:
    """The life of a request as a row of a timeline, in order, without gaps."""
    if record.rejected or record.scheduled_seconds is None:
        return []
    who, cuts = record.request.id, []
    first, last = float(record.token_seconds[0]), float(record.token_seconds[-1])
    cuts.append(("queue", record.request.arrival_seconds, record.scheduled_seconds))
    cuts += _interrupted("prefill", record.scheduled_seconds, first, record.pauses)
    cuts += _interrupted("decode", first, last, record.pauses)
    return [Stretch(who, kind, start, end) for kind, start, end in cuts if end > start]


def _interrupted(
    kind: str, start: float, end: float, pauses: tuple[tuple[float, float], ...]
) -> list[tuple[str, float, float]]:
    cuts, at = [], start
    for preempted, resumed in pauses:
        if start <= preempted < end:
            cuts += [(kind, at, preempted), ("preempted", preempted, resumed)]
            at = resumed
    return [*cuts, (kind, at, end)]
