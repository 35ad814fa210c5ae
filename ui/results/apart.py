"""Runs that take long, in a process of their own: they hold up no other reader.

Whoever asks for the same runs waits for the same process.  It ends when nobody waits any more,
since they moved on or closed the page, and after MOST_SECONDS of computing in any case.
"""

import pickle
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock, Thread
from time import thread_time

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from sim.engine import Run, Setup
from sim.errors import SimError
from sim.metrics import Summary

HERE_SECONDS = 0.3  # of computing in the reader's own turn
MOST_SECONDS = 30  # of computing, for all that is asked at once
LOOK_SECONDS = 0.2  # how often a reader who waits looks up
ROOT = Path(__file__).parent.parent.parent
Outcome = tuple[Run, Summary]
COMMAND = [sys.executable, "-m", "ui.results.apart_child", str(MOST_SECONDS)]


class OutOfPatience(Exception):  # noqa: N818 -- a signal between two functions, no error
    """A run has not come to its end in the time that it had."""


class Patience:
    """How long runs may take here, all together; called at their steps."""

    def __init__(self) -> None:
        self._until = thread_time() + HERE_SECONDS

    def __call__(self) -> None:
        if thread_time() > self._until:
            raise OutOfPatience


class _Job:
    """One process, and those who wait for it."""

    def __init__(self, setups: Sequence[Setup]):
        self.setups = setups
        self.done: list[Outcome | SimError] = []
        self.is_over = Event()
        self.num_waiting = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()
        self._is_left = False

    def work(self) -> None:
        try:
            with _turn:
                process = self._begin()
                if process is not None:
                    with process:
                        self._exchange(process)
        finally:
            self.is_over.set()

    def _begin(self) -> "subprocess.Popen[bytes] | None":
        with self._lock:
            if not self._is_left:
                self._process = subprocess.Popen(
                    COMMAND, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            return self._process

    def _exchange(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(self.setups, process.stdin)
            process.stdin.close()
            for _ in self.setups:
                self.done.append(pickle.load(process.stdout))
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            process.kill()  # it has been ended, in the middle of a word perhaps

    def leave(self) -> None:
        """Nobody waits any more."""
        with self._lock:
            self._is_left = True
            if self._process is not None:
                self._process.kill()


_turn = Lock()  # one process at a time
_jobs: dict[tuple[Setup, ...], _Job] = {}
_jobs_lock = Lock()


def each(setups: Sequence[Setup]) -> Generator[Outcome | None]:
    """The runs in their order, and None now and then while there is nothing but waiting.

    Raises:
        SimError: as `simulate`; `run_too_long` with `most`, seconds.
    """
    with _joined(tuple(setups)) as job:
        for place in range(len(setups)):
            while len(job.done) <= place and not job.is_over.wait(LOOK_SECONDS):
                _give_way()
                yield None
            if len(job.done) <= place:
                raise SimError("run_too_long", most=MOST_SECONDS)
            found = job.done[place]
            if isinstance(found, SimError):
                raise found
            yield found


@contextmanager
def _joined(setups: tuple[Setup, ...]) -> Iterator[_Job]:
    with _jobs_lock:
        job = _jobs.get(setups)
        if job is None or job.is_over.is_set():
            job = _jobs[setups] = _Job(setups)
            Thread(target=job.work, daemon=True).start()
        job.num_waiting += 1
    try:
        yield job
    finally:
        with _jobs_lock:
            job.num_waiting -= 1
            if not job.num_waiting:
                job.leave()
                if _jobs.get(setups) is job:
                    del _jobs[setups]


def _give_way() -> None:
    """Streamlit ends a script whose reader has moved on when it looks at its state."""
    if get_script_run_ctx(suppress_warning=True):
        st.session_state.get("_apart")
