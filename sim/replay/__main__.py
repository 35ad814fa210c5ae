"""The command.  See `sim.replay`."""

import sys
from pathlib import Path

from sim.errors import SimError
from sim.replay import radix, scheduler
from sim.replay.records import read_cases

USAGE = "usage: python -m sim.replay [--radix] FILE"


def main(arguments: list[str]) -> int:
    is_radix = arguments[:1] == ["--radix"]
    paths = arguments[1:] if is_radix else arguments
    if len(paths) != 1:
        print(USAGE, file=sys.stderr)
        return 2
    replay_case = radix.replay_case if is_radix else scheduler.replay_case
    try:
        cases = read_cases(Path(paths[0]))
        replays = [replay_case(name, case) for name, case in cases.items()]
    except (SimError, OSError) as error:
        print(f"cannot replay: {error}", file=sys.stderr)
        return 2
    counted = "operations" if is_radix else "steps"
    num_compared = sum(replay.num_compared for replay in replays)
    num_mismatches = sum(len(replay.mismatches) for replay in replays)
    print(f"cases {len(replays)}, {counted} {num_compared}, mismatches {num_mismatches}")
    for replay in replays:
        if replay.unknown_settings:
            names = ", ".join(replay.unknown_settings)
            print(f"{replay.case}: settings left aside: {names}", file=sys.stderr)
        for mismatch in replay.mismatches[:1]:
            print(f"{replay.case}, {counted[:-1]} {mismatch.index}: {mismatch.what}")
            print(f"  ours   {mismatch.ours}")
            print(f"  theirs {mismatch.theirs}")
    return 1 if num_mismatches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
