"""A pattern's index by outlines-core, in a process that may be killed; run by `token_index`.

Reads a job as JSON: `pattern`, `lead`, `pieces` (each token's bytes as hex, the first 256 single
bytes, the end of text last) and `max_states`; writes a line of JSON, then the table [states,
tokens] of 16-bit numbers.

The library takes the first option that matches (of `a|ab` only `a`) unless the end is anchored, and
refuses an anchor that could stand at the very start.  So a character, `lead`, is put in front, and
the index begins behind it.  One that the pattern has no use for keeps the library's table small,
too: it also prepares for a text that begins anywhere.
"""

import json
import signal
import sys
import time
from array import array

from outlines_core import Index, Vocabulary

MAX_MEMORY = 512 << 20  # bytes of address space
MAX_SECONDS = 0.5  # of the CPU; most patterns take a tenth of it


def limit() -> None:
    """The library itself has no limits.  Windows has no such calls; the parent's clock is left."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)  # whose signal ends the process


def main() -> None:
    job = json.load(sys.stdin)
    pieces = [bytes.fromhex(piece) for piece in job["pieces"]]
    end = len(pieces) - 1
    vocabulary = Vocabulary(end, {piece: [token] for token, piece in enumerate(pieces[:end])})
    limit()
    begun = time.perf_counter()
    index = Index(rf"\x{{{ord(job['lead']):x}}}(?:{job['pattern']})\z", vocabulary)
    seconds = time.perf_counter() - begun
    transitions = index.get_transitions()
    start = index.get_initial_state()
    for byte in job["lead"].encode():
        start = index.get_next_state(start, byte)
    numbers = {start: 0}  # the library's states in the order in which tokens reach them
    dead = job["max_states"]
    rows = array("H")
    for state in (order := [start]):
        row = array("H", [dead]) * len(pieces)
        for token, target in sorted(transitions[state].items()):
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
                if len(order) > job["max_states"]:
                    sys.exit("too many states")
            row[token] = numbers[target]
        rows += row
    sys.stdout.write(json.dumps({"states": len(order), "seconds": seconds}) + "\n")
    sys.stdout.flush()
    sys.stdout.buffer.write(rows.tobytes())


if __name__ == "__main__":
    main()
