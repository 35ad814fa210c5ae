"""What a prefill costs those who decode beside it, and whose latency it is.

All tokens of a step come out when it ends.  So whoever decodes in a step that also computes a piece
of somebody's prompt waits until that is computed as well: in one long stall when the prompt is
computed whole, in many short ones when it is chunked.  The average over all requests hides this;
look at those with short prompts and those with long ones apart.

Source: Sarathi-Serve, Agrawal et al. 2024, section 3 ("generation stalls").
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sim import metrics
from sim.cost import Clock
from sim.engine import Record, Run, Step
from sim.errors import require
from sim.metrics import Distribution
from sim.scheduler import Load


def seconds_alone(step: Step, clock: Clock) -> float:
    """How long the step would have taken if nobody had been prefilled in it; 0 without decodes."""
    contexts = [work.context for work in step.work if not work.is_prefill]
    if not contexts:
        return 0.0
    if len(contexts) == len(step.work):
        return step.seconds
    load = Load.decode(len(contexts), sum(contexts))
    return float(clock.step_time(load).seconds)


def tokens_at(run: Run, seconds: float) -> tuple[int, int]:
    """(decode, prefill): the tokens of the first step that begins at this moment or later.

    Raises:
        SimError: `after_the_end`.
    """
    series = run.series
    step = int(np.searchsorted(series.start_seconds, seconds))
    require(step < len(series.start_seconds), "after_the_end", value=seconds)
    return int(series.decode_tokens[step]), int(series.prefill_tokens[step])


@dataclass(frozen=True)
class Latencies:
    """TTFT and ITL among some of the requests of a run, in seconds."""

    ttft: Distribution
    itl: Distribution

    @classmethod
    def of(cls, records: Iterable[Record]) -> "Latencies":
        some = list(records)
        gaps = [metrics.itl(record) for record in some]
        return cls(
            Distribution.of([metrics.ttft(record) for record in some]),
            Distribution.of(np.concatenate(gaps) if gaps else []),
        )


def by_prompt(run: Run, longest_short: int) -> tuple[Latencies, Latencies]:
    """(short, long): the served requests with prompts of up to `longest_short` tokens, and the
    others."""
    served = metrics.served(run)
    return (
        Latencies.of(one for one in served if one.request.prompt_tokens <= longest_short),
        Latencies.of(one for one in served if one.request.prompt_tokens > longest_short),
    )


@dataclass(frozen=True)
class TtftChange:
    """How much later first tokens come on one server than on another; negative is sooner.

    Differences of mean TTFT in seconds, one per load, [num_loads].
    """

    loads: tuple[float, ...]
    short: tuple[float, ...]
    long: tuple[float, ...]

    @classmethod
    def between(
        cls,
        before: Mapping[float, tuple[Latencies, Latencies]],
        after: Mapping[float, tuple[Latencies, Latencies]],
    ) -> "TtftChange":
        """Both map the same loads to what `by_prompt` gives."""
        changes = [
            [new.ttft.mean - old.ttft.mean for old, new in zip(before[at], after[at], strict=True)]
            for at in before
        ]
        short, long = zip(*changes, strict=True)
        return cls(tuple(before), short, long)


def num_sooner_at_last(changes: Sequence[TtftChange]) -> int:
    """In how many series the long prompts come sooner at the highest load."""
    return sum(change.long[-1] < 0 for change in changes)


def range_of_short(changes: Sequence[TtftChange]) -> tuple[float, float]:
    """The least and the largest change for short prompts, over all loads and series; seconds."""
    each = [seconds for change in changes for seconds in change.short]
    return min(each), max(each)


def agreed(series: Sequence[Sequence[float]], least: float) -> tuple[int, ...]:
    """What several series of differences have in common at each place: 1 where all of them are
    above `least`, -1 where all are below its negative, else 0, [num_places]."""
    return tuple(
        int(min(at_once) > least) - int(max(at_once) < -least)
        for at_once in zip(*series, strict=True)
    )
