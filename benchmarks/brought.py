"""How long the worst texts of 10 MB take that a reader may bring.

    python -m benchmarks.brought

One JSON line for each kind: its bytes, the seconds of CPU until it is read or refused (best of
three), and what became of it.  All of them should stay below a second.
"""

import json
import random
import time
from collections.abc import Callable, Iterable

from sim.errors import SimError
from sim.workload import traces
from sim.workload.trace_json import MAX_HASHES
from sim.workload.trace_rows import MAX_ROWS
from ui import tiny_model
from ui.subjects.clinic import metrics_text
from ui.subjects.clinic.brought.texts import MAX_BYTES, MAX_LINES, MAX_METRICS_BYTES
from ui.words import encodings

BEST_OF = 3


def filled(lines: Iterable[str], begin: str = "", end: str = "", most: int = MAX_BYTES) -> bytes:
    """As many of the lines as there is room for."""
    taken, size = [], len(begin) + len(end)
    for line in lines:
        size += len(line.encode())
        if size > most:
            break
        taken.append(line)
    return (begin + "".join(taken) + end).encode()


# -- metrics and results --------------------------------------------------------------------------


def many_series() -> bytes:
    """Every line is a bucket of its own, and there are as many lines as are read."""
    line = 'vllm:time_to_first_token_seconds_bucket{{engine="{0}",model="m",le="{1}"}} {1}.0\n'
    lines = (line.format(each // 20, each % 20) for each in range(MAX_LINES - 1))
    return filled(lines, most=MAX_METRICS_BYTES)


def many_labels() -> bytes:
    """Few lines, each with hundreds of labels."""
    labels = ",".join(f'label_{each}="{each}"' for each in range(300))
    line = 'vllm:num_requests_running{n="%d",' + labels + "} 1.0\n"
    return filled((line % each for each in range(9999)), most=MAX_METRICS_BYTES)


def almost_samples() -> bytes:
    """Lines that are none, each found out at its end only."""
    good = "vllm:num_requests_running 1.0\n"
    bad = "x" * 40 + '{a="' + "y" * 40 + '"} nothing\n'
    return filled((bad for _ in range(MAX_LINES - 2)), good, most=MAX_METRICS_BYTES)


def detailed_result() -> bytes:
    """`vllm bench serve --save-detailed`: every gap between tokens."""
    draw = random.Random(0)
    begin = '{"completed": 1000, "ttfts": [0.1], "mean_ttft_ms": 1, "mean_itl_ms": 1, "itls": [[0.1'
    return filled((f", {draw.random()}" for _ in range(10**6)), begin, "]]}")


def short_gaps() -> bytes:
    """The same with numbers as short as they can be."""
    begin = '{"completed": 1000, "ttfts": [0.1], "mean_ttft_ms": 1, "mean_itl_ms": 1, "itls": [[0.1'
    return filled((",1" for _ in range(10**7)), begin, "]]}")


def many_results() -> bytes:
    return filled('{"mean_ttft_ms":1} ' for _ in range(10**6))


def deep_result() -> bytes:
    return filled('{"a":[{}],' + f'"b{each}":{{}}}} ' for each in range(10**6))


# -- traces ---------------------------------------------------------------------------------------


def hashed(block: int, name: str) -> bytes:
    """Prompts of 8,192 tokens, half of them shared; as many hashes as are read."""
    half = 8192 // block // 2
    num_rows = MAX_HASHES // (half * 2)
    shared = list(range(half))

    def line(each: int) -> str:
        own = list(range(half * (each + 1), half * (each + 2)))
        entry = {"timestamp": each, "input_length": 8192, "output_length": 50}
        more = {"chat_id": each} if name == "bailian" else {}
        return json.dumps(entry | more | {"hash_ids": shared + own}) + "\n"

    return filled(line(each) for each in range(num_rows))


def one_block() -> bytes:
    """As many requests as are read, each with a hash of its own."""
    line = '{{"timestamp":{0},"input_length":512,"output_length":1,"hash_ids":[{0}]}}\n'
    return filled(line.format(each) for each in range(MAX_ROWS))


def table() -> bytes:
    return filled(
        (f"{each},1,1\n" for each in range(MAX_ROWS)), "arrival_s,prompt_tokens,output_tokens\n"
    )


def dates() -> bytes:
    line = "2023-11-16 18:15:46.6805900,374,44\n"
    return filled((line for _ in range(MAX_ROWS)), "TIMESTAMP,ContextTokens,GeneratedTokens\n")


def measured() -> bytes:
    line = (
        '{{"input_toks": 1, "output_toks": 2, "queued_ts": {0}, "scheduled_ts": {0}, '
        '"first_token_ts": {0}, "last_token_ts": {0}}}\n'
    )
    return filled(line.format(each) for each in range(MAX_ROWS))


def conversations(words: str) -> bytes:
    said = '{{"conversations":[{{"from":"human","value":"{0}"}},{{"from":"gpt","value":"{0}"}}]}},'
    return filled((said.format(words) for _ in range(10**6)), "[", "{}]")


def long_talks() -> bytes:
    """No answer anywhere, which every pair of turns has to be asked for."""
    turn = '{"from":"human","value":"a"}'
    talk = '{"conversations":[' + ",".join([turn] * 1000) + "]},"
    return filled((talk for _ in range(10**6)), "[", "{}]")


METRICS: dict[str, Callable[[], bytes]] = {
    "metrics: a bucket a line": many_series,
    "metrics: 300 labels a line": many_labels,
    "metrics: lines that are none": almost_samples,
    "result: every gap": detailed_result,
    "result: every gap, short numbers": short_gaps,
    "result: a million results": many_results,
    "result: nothing known": deep_result,
}
TRACES: dict[str, Callable[[], bytes]] = {
    "trace: blocks of 512": lambda: hashed(512, "mooncake"),
    "trace: blocks of 16": lambda: hashed(16, "bailian"),
    "trace: a hash each": one_block,
    "trace: a table": table,
    "trace: dates": dates,
    "trace: measured": measured,
    "trace: short conversations": lambda: conversations("a"),
    "trace: long conversations": lambda: conversations("显存 is short, 缓存 is not. " * 40),
    "trace: talks without an answer": long_talks,
}


def read_trace(data: bytes) -> object:
    count = tiny_model.encoder().encode
    return traces.read(encodings.decoded(data), lambda text: len(count(text)))


def cost(reader: Callable[[bytes], object], data: bytes) -> tuple[float, str]:
    """(seconds of CPU, "read" or the code of the refusal)."""
    times, outcome = [], "read"
    for _ in range(BEST_OF):
        begin = time.process_time()
        try:
            reader(data)
        except SimError as error:
            outcome = error.code
        times.append(time.process_time() - begin)
    return min(times), outcome


def main() -> None:
    tiny_model.encoder()
    for kinds, reader in ((METRICS, metrics_text.read_text), (TRACES, read_trace)):
        for name, write in kinds.items():
            data = write()
            seconds, outcome = cost(reader, data)
            print(
                json.dumps(
                    {
                        "text": name,
                        "bytes": len(data),
                        "cpu_seconds": round(seconds, 3),
                        "outcome": outcome,
                    }
                )
            )


if __name__ == "__main__":
    main()
