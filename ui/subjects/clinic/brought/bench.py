"""What `vllm bench serve` and SGLang's `bench_serving` write or print.

Source: vllm/benchmarks/serve.py (0.33.0), sglang/benchmark/serving.py (0.5.23).
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.errors import SimError
from ui.subjects.clinic.brought import texts
from ui.subjects.clinic.brought.client_run import MILLI, WANTED, ClientRun, around_p99, exactly
from ui.subjects.clinic.brought.found import Brought, Interval, Note, number

Json = Mapping[str, Any]
FloatArray = NDArray[np.float64]

REPORT = "Serving Benchmark Result"
REPORT_LINE = re.compile(r"\s*([A-Za-z][^:]{0,60}):\s+(\S+)\s*")
REPORTED = re.compile(r"(P[\d.]+|Mean|Median|Max|Std) (TTFT|ITL|TPOT|E2EL|E2E Latency) \(ms\)")
SGLANG_KEYS = {
    "accept_length",
    "mean_e2e_latency_ms",
    "random_input_len",
    "sharegpt_output_len",
    "total_output_tokens_retokenized",
}
VLLM_KEYS = {"endpoint_type", "tokenizer_id"}


def is_bench(result: Json) -> bool:
    return any(
        re.fullmatch(r"(?:p[\d.]+|mean|median|std|max)_(?:ttft|itl)_ms", key) for key in result
    )


def read(result: Json) -> Brought:
    completed, asked = number(result.get("completed")), number(result.get("num_prompts"))
    failed, errors = number(result.get("failed")), result.get("errors")
    if failed is None and isinstance(errors, list):
        failed = float(sum(bool(error) for error in errors))
    elif failed is None and completed is not None and asked is not None:
        failed = max(asked - completed, 0.0)
    tokens = number(result.get("total_output_tokens"))
    whole = _of_bench(result, "e2e_latency", "") or _of_bench(result, "e2el", "latencies")
    rounds = number(result.get("spec_decode_num_drafts")), number(result.get("accept_length"))
    return ClientRun(
        _bench_tool(result),
        _of_bench(result, "ttft", "ttfts"),
        _of_bench(result, "itl", "itls"),
        completed,
        failed,
        e2e=whole.low if whole else None,
        has_gaps=not (tokens and completed and tokens <= completed),
        notes=(Note("speculates_client"),) if any(rounds) else (),
    ).brought()


def _bench_tool(result: Json) -> str:
    by_sglang = str(result.get("backend", "")).startswith("sglang") and not VLLM_KEYS & set(result)
    return "SGLang bench_serving" if by_sglang or SGLANG_KEYS & set(result) else "vllm bench serve"


def _of_bench(result: Json, name: str, details: str) -> Interval | None:
    """The p99 that was written, else that of the details, else what the percentiles say."""
    ending = f"_{name}_ms"
    own = {key.removesuffix(ending): result[key] for key in result if key.endswith(ending)}
    values = _details(result.get(details), result.get("errors"))
    if "p99" not in own and len(values):
        return Interval.exactly(float(np.percentile(values, WANTED)))
    if "p99" in own:
        return exactly(own["p99"], MILLI)
    return around_p99(own, MILLI)


def _details(values: object, errors: object) -> FloatArray:
    """The single values of requests that did not fail, in seconds."""
    if not isinstance(values, list):
        return np.empty(0)
    failed = (
        errors if isinstance(errors, list) and len(errors) == len(values) else [""] * len(values)
    )
    kept = [one for one, error in zip(values, failed, strict=True) if not error]
    flat = list(chain.from_iterable(one if isinstance(one, list) else [one] for one in kept))
    return _numbers(flat)


def _numbers(given: list[object]) -> FloatArray:
    """Those that `number` takes; all at once where nothing else is among them."""
    if set(map(type, given)) <= {float, int}:
        with suppress(OverflowError):  # an integer of hundreds of digits
            own = np.array(given, float)
            return own[np.isfinite(own) & (own >= 0)]
    return np.array([value for each in given if (value := number(each)) is not None], float)


def is_report(text: str) -> bool:
    """Whether it is what `vllm bench serve` or `bench_serving` prints."""
    return REPORT in text


def read_report(text: str) -> Brought:
    """The report as it is printed; of several the last."""
    parts = text.split(REPORT)[1:]
    said: dict[str, str] = {}
    for _, line in texts.lines(parts[-1]):
        found = REPORT_LINE.fullmatch(line)
        if found:
            said.setdefault(found[1].strip(), found[2])
    result: dict[str, Any] = {
        "backend": said.get("Backend", "vllm"),
        "completed": _printed(said.get("Successful requests")),
        "failed": _printed(said.get("Failed requests")),
        "total_output_tokens": _printed(said.get("Total generated tokens")),
        "accept_length": _printed(said.get("Accept length")),
    }
    for key, value in said.items():
        found = REPORTED.fullmatch(key)
        if found:
            rank = found[1].lower().replace("median", "p50")
            result[f"{rank}_{'_'.join(found[2].lower().split())}_ms"] = _printed(value)
    if result["backend"] == "vllm":
        result["endpoint_type"] = "vllm"
    result = {key: value for key, value in result.items() if value is not None}
    if not is_bench(result):
        raise SimError("brought_other_json")
    own = read(result)
    if len(parts) > 1:
        own = replace(own, notes=(Note("last_of", {"results": len(parts)}), *own.notes))
    return own


def _printed(text: str | None) -> float | None:
    try:
        return number(float(text)) if text else None
    except ValueError:
        return None
