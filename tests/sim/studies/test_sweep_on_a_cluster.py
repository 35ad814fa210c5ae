"""A sweep over Dask's executor: two workers, one of which is killed on the way."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from sim.studies.sweep import arrival_rate, sweep
from tests.chapters import ROOT
from tests.sim.studies.test_sweep import CHAT, numbers

distributed = pytest.importorskip("distributed")


@pytest.fixture
def cluster() -> Iterator[tuple[object, list[subprocess.Popen[bytes]]]]:
    """A client, and the two processes that work for it."""
    options = {"n_workers": 0, "dashboard_address": None, "protocol": "tcp://"}
    with distributed.LocalCluster(host="127.0.0.1", **options) as own:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", own.scheduler_address]
        flags = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        workers = [subprocess.Popen([*command, *flags], cwd=ROOT) for _ in range(2)]
        try:
            with distributed.Client(own) as client:
                client.wait_for_workers(2, timeout=60)
                yield client, workers
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


def test_a_killed_worker_costs_no_point(cluster):
    client, workers = cluster
    rates = [0.5 * step for step in range(1, 41)]
    done: list[int] = []

    def kill_one(number: int, _: int) -> None:
        done.append(number)
        if number == 5:
            workers[0].send_signal(signal.SIGKILL)

    sent = client.scatter(CHAT, broadcast=True)  # once to each, not with every value
    points = sweep(sent, arrival_rate, rates, client.get_executor(), kill_one)
    assert workers[0].wait(timeout=10) == -signal.SIGKILL
    assert done == list(range(1, 41))
    assert numbers(points) == numbers(sweep(CHAT, arrival_rate, rates))
