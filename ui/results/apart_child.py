"""Simulates what it is given, one run after the other, in a process that may be killed; run by
`apart`.

Reads a pickle of setups and writes a pickle for each: the run and its summary, or the fault that it
ended with.
"""

import pickle
import sys
from contextlib import suppress

from sim.engine import Run, Setup, simulate
from sim.errors import SimError
from sim.metrics import Summary, summarize

MAX_MEMORY = 2 << 30  # bytes of address space


def limit(seconds: int) -> None:
    """Windows has no such calls; there only a reader who moves on ends a run."""
    if sys.platform != "win32":
        import os
        import resource

        os.nice(5)  # after whoever only moves a slider
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def outcome(setup: Setup) -> tuple[Run, Summary] | SimError:
    try:
        run = simulate(setup)
    except SimError as error:
        return error
    return run, summarize(run)


def main() -> None:
    limit(int(sys.argv[1]))
    setups = pickle.load(sys.stdin.buffer)
    with suppress(BrokenPipeError):  # nobody waits any more
        for setup in setups:
            pickle.dump(outcome(setup), sys.stdout.buffer)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
