"""What lies between a user and the engine: grammars, the text of tokens, patience.

An engine's own clock starts when it has a request and stops when it has a token.  Users see more:

    compiled   a request with a new JSON schema cannot be scheduled before its grammar is compiled
    as_text    a thread of the API server turns tokens into text, one after the other
    attempts   who has waited too long sends the request again, and the server does not know

Sources: vLLM V1, `vllm/v1/structured_output` (a pool of threads compiles, the request is passed
over until then) and `vllm/v1/engine/async_llm.py` (the output handler is a task of the API server,
and ITL is taken from the engine's time stamps); two retries are what OpenAI's client library makes.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sim import metrics
from sim.engine import Run
from sim.request import Request


def compiled(
    requests: Sequence[Request],
    schemas: Sequence[int],
    each_is_new: bool,
    compile_seconds: float,
    num_threads: int,
) -> tuple[Request, ...]:
    """The requests as they may be scheduled: those with a schema once its grammar is there.

    `schemas`: by request id, 0 for none.  A grammar is kept, unless each request brings a new one.
    """
    free_at = [0.0] * num_threads
    ready: dict[object, float] = {}
    later = []
    for request in sorted(requests, key=lambda one: one.arrival_seconds):
        schema: object = schemas[request.id]
        if not schema:
            continue
        if each_is_new:
            schema = (schema, request.id)
        if schema not in ready:
            start = max(heapq.heappop(free_at), request.arrival_seconds)
            ready[schema] = start + compile_seconds
            heapq.heappush(free_at, ready[schema])
        if ready[schema] > request.arrival_seconds:
            later.append(replace(request, arrival_seconds=ready[schema]))
    moved = {request.id: request for request in later}
    return tuple(moved.get(request.id, request) for request in requests)


def as_text(run: Run, seconds_per_token: float, num_servers: int) -> Run:
    """The run with the moments at which users have the text of each token.

    A request stays with one server; its thread takes tokens in the order in which they came out.
    Of n tokens that came at t, the i-th is done at c (i + 1) + max over j <= i of (t_j - c j).
    """
    owners = np.repeat(np.arange(len(run.requests)) % num_servers, run.num_tokens)
    done = run.token_seconds.copy()
    for server in range(num_servers):
        (own,) = np.nonzero(owners == server)
        own = own[np.argsort(run.token_seconds[own], kind="stable")]
        worked = seconds_per_token * np.arange(len(own))
        behind = np.maximum.accumulate(run.token_seconds[own] - worked)
        done[own] = behind + worked + seconds_per_token
    return replace(run, token_seconds=done)


def silences(runs: Sequence[Run]) -> dict[int, tuple[float, float]]:
    """Of each request that was served, by id: its TTFT, and its longest wait for a token."""
    found = {}
    for run in runs:
        for record in metrics.served(run):
            first = metrics.ttft(record)
            found[record.request.id] = (
                first,
                max(first, float(np.max(metrics.itl(record), initial=0))),
            )
    return found


def attempts(
    requests: tuple[Request, ...],
    patience_seconds: float,
    retries: int,
    serve: Callable[[tuple[Request, ...]], Sequence[Run]],
) -> tuple[Request, ...]:
    """All that is sent: each request again when its first token has not come in time, at most
    `retries` times.  What was sent before is computed all the same.

    Who gives up until t depends on nothing that is sent after t - patience; so serving what is
    known, adding who gave up, and serving again comes to an end.
    """
    sent = requests
    while True:
        waits = silences(serve(sent))
        again = list(requests)
        for request in requests:
            for number in range(retries):
                who = request.id + number * len(requests)
                if waits.get(who, (0.0, 0.0))[0] <= patience_seconds:
                    break
                arrival = request.arrival_seconds + (number + 1) * patience_seconds
                again.append(replace(request, id=who + len(requests), arrival_seconds=arrival))
        again.sort(key=lambda one: one.arrival_seconds)
        if tuple(again) == sent:
            return sent
        sent = tuple(again)
