"""What else stands on a panel: the figures that tell a disease from its look-alikes.

All are readings that a real server, its router or its clients have; a server without a feature has
no reading of it (None).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim import metrics
from sim.engine import Run
from sim.metrics import Distribution
from sim.studies.clinic import clients
from sim.studies.clinic.deployment import Deployment

CHAT = 1_000  # tokens; longer prompts are documents
MOMENTS = 400  # at which replicas are compared


@dataclass(frozen=True)
class Signs:
    """Seconds, tokens, requests.  Pairs are (lowest or first, highest or last)."""

    batch_limit: int
    ttft_chats: Distribution
    ttft_documents: Distribution  # prompts above `CHAT`
    answers: tuple[float, float]  # median tokens of the first quarter of the requests, of the last
    engine_itl: Distribution
    itl_with_few: float  # median of the engine's gaps while the fewest run
    itl_with_many: float
    prompt_tokens: tuple[float, float, float]  # the shortest, the median, the longest
    hit_tokens: tuple[float, float, float]  # found of a prompt: the least, the median, the most
    num_users: int  # requests that somebody wanted
    num_sent: int  # with retries
    num_failed: int  # requests of users who were left without a token for too long
    most_deferred: int | None  # waiting for a grammar at one moment
    adapters: tuple[int, int] | None  # that are asked for; at most so many in a step
    requests_each: tuple[int, int] | None  # of the replicas
    running_each: tuple[int, int] | None  # at the moment at which they differ most
    kernel_seconds: tuple[float, float] | None  # in a step, of the fastest GPU and the slowest
    offloaded_bytes: float | None
    asked_seconds: float | None  # when the autoscaler asked for replicas
    ready_seconds: float | None


def found(server: Deployment, runs: Sequence[Run], seen: Sequence[Run], kernels: float) -> Signs:
    """`seen`: the runs as clients see them; `kernels`: mean seconds of kernels in a step."""
    records = [record for run in seen for record in metrics.served(run)]
    records.sort(key=lambda record: record.request.arrival_seconds)
    quarter = max(1, len(records) // 4)
    lengths = [len(record.token_seconds) for record in records]
    few, many = _by_batch(runs)
    asked = server.asked_seconds
    return Signs(
        server.max_num_seqs,
        _ttft([one for one in records if one.request.prompt_tokens <= CHAT]),
        _ttft([one for one in records if one.request.prompt_tokens > CHAT]),
        (float(np.median(lengths[:quarter])), float(np.median(lengths[-quarter:]))),
        Distribution.of(np.concatenate([metrics.ServedColumns(run).gaps() for run in runs])),
        few,
        many,
        _spread([record.request.prompt_tokens for record in records]),
        _spread([record.hit_tokens for record in records]),
        len(server.requests),
        len(server.traffic),
        _failed(server, seen),
        _most_deferred(runs, seen) if server.schemas else None,
        (len(set(server.adapters)), server.max_loras) if server.max_loras else None,
        _range([len(run.requests) for run in runs]) if len(runs) > 1 else None,
        _running_each(runs) if len(runs) > 1 else None,
        (kernels, kernels * server.slowest_gpu) if server.tensor_parallel > 1 else None,
        _offloaded(server, runs) if server.offload_gigabytes else None,
        asked,
        None if asked is None else asked + server.start_seconds,
    )


# -- inside -----------------------------------------------------------------------------------


def _ttft(records: Sequence[metrics.Record]) -> Distribution:
    return Distribution.of([metrics.ttft(record) for record in records])


def _spread(values: Sequence[int]) -> tuple[float, float, float]:
    return min(values), float(np.median(values)), max(values)


def _range(values: Sequence[int]) -> tuple[int, int]:
    return min(values), max(values)


def _by_batch(runs: Sequence[Run]) -> tuple[float, float]:
    """The median length of a step that only decodes: a tenth with the fewest running, with most."""
    running, seconds = [], []
    for run in runs:
        only = run.series.prefill_tokens == 0
        running.append(run.series.num_running[only])
        seconds.append((run.series.end_seconds - run.series.start_seconds)[only])
    order = np.argsort(np.concatenate(running), kind="stable")
    ordered = np.concatenate(seconds)[order]
    tenth = max(1, len(ordered) // 10)
    if not len(ordered):
        return float("nan"), float("nan")
    return float(np.median(ordered[:tenth])), float(np.median(ordered[-tenth:]))


def _failed(server: Deployment, seen: Sequence[Run]) -> int:
    """Users whose last attempt was left without a token for longer than they wait."""
    number = len(server.requests)
    left = {
        who
        for who, (_, longest) in clients.silences(seen).items()
        if longest > server.patience_seconds
    }
    last = server.retries * number
    return sum(request.id + last in left for request in server.requests)


def _most_deferred(runs: Sequence[Run], seen: Sequence[Run]) -> int:
    """Requests on their way to the engine at one moment."""
    changes = [
        moment
        for run, as_seen in zip(runs, seen, strict=True)
        for sent, ready in zip(as_seen.requests, run.requests, strict=True)
        if ready.arrival_seconds > sent.arrival_seconds
        for moment in ((sent.arrival_seconds, 1), (ready.arrival_seconds, -1))
    ]
    return int(np.max(np.cumsum([step for _, step in sorted(changes)]), initial=0))


def _running_each(runs: Sequence[Run]) -> tuple[int, int]:
    end = max(float(run.series.end_seconds[-1]) for run in runs)
    moments = np.linspace(0, end, MOMENTS)
    running = []
    for run in runs:
        at = np.searchsorted(run.series.end_seconds, moments)
        beyond = at == len(run.series.end_seconds)
        at = np.minimum(at, len(run.series.end_seconds) - 1)
        is_idle = beyond | (moments < run.series.start_seconds[at])
        running.append(np.where(is_idle, 0, run.series.num_running[at]))
    table = np.array(running)  # [num_replicas, MOMENTS]
    worst = int(np.argmax(table.max(axis=0) - table.min(axis=0)))
    return int(table[:, worst].min()), int(table[:, worst].max())


def _offloaded(server: Deployment, runs: Sequence[Run]) -> float:
    tokens = sum(metrics.computed_tokens(run) for run in runs)
    return tokens * server.roofline.model.kv_bytes_per_token
