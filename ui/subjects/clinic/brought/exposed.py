"""The text of /metrics of vLLM or SGLang, read; of a GPU exporter what stands beside it.

Names: vLLM `docs/design/metrics.md`; SGLang `srt/observability/metrics_collector.py`; NVIDIA DCGM
exporter, `DCGM_FI_PROF_*`.  A latency that vLLM observes while it speculates is that of a round of
several tokens; SGLang shares a round out over its tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sim.errors import SimError, require
from ui.subjects.clinic.brought import by_engine, scrapes
from ui.subjects.clinic.brought.found import Brought, GpuReading, Note, Span
from ui.subjects.clinic.brought.scrapes import Labels, Scrape, Scrapes

ENGINES = {"vllm:": "vLLM", "sglang:": "SGLang"}
OTHERS = {  # first letters of a name -> whose metrics these are
    "tgi_": "Text Generation Inference",
    "nv_trt_llm": "TensorRT-LLM",
    "trtllm": "TensorRT-LLM",
    "nv_inference": "Triton",
    "dynamo_": "NVIDIA Dynamo",
    "llamacpp": "llama.cpp",
    "lmdeploy": "LMDeploy",
    "ollama": "Ollama",
    "DCGM_": "DCGM exporter",
    "nvidia_smi_": "nvidia_gpu_exporter",
}
GPU_NAMES = ("Hostname", "UUID", "gpu", "GPU_I_ID")  # labels that tell GPUs apart


def read(text: str, before: str = "") -> Brought:
    """What a text says; with an earlier one of the same server, of the span between.

    Raises:
        SimError: `brought_not_metrics`, `brought_no_metrics`, `brought_no_values`,
            `brought_other_metrics`.
    """
    found = scrapes.read(text, by_engine.KNOWN)
    if before:
        earlier = scrapes.read(before, by_engine.KNOWN)
        found.first, found.num_scrapes = earlier.last, earlier.num_scrapes + found.num_scrapes
    engines = {
        engine
        for prefix, engine in ENGINES.items()
        if any(scrapes.spelled(name).startswith(prefix) for name in found.names)
    }
    gpus = _gpus(found.gpus)
    if not engines and not gpus:
        _refuse(found)
    span, notes = _spanned(found)
    engine = "SGLang" if engines == {"SGLang"} else "vLLM"
    now = found.last
    kv = tuple(_shares(by_engine.gauge(now, "kv")))
    notes += _about_the_text(found) + _about_means(span.counted) + _about_engines(now, engines)
    itl = by_engine.p99(span.counted, "itl")
    reasons = by_engine.by_label(now, "waiting_by_reason", "reason")
    waiting = by_engine.gauge(now, "waiting")
    return Brought(
        " + ".join(sorted(engines, reverse=True)) or "DCGM exporter",
        span.name,
        engine,
        by_engine.p99(span.counted, "ttft"),
        itl or by_engine.p99(span.counted, "tpot"),
        itl is None and by_engine.p99(span.counted, "tpot") is not None,
        by_engine.p99(span.counted, "queue"),
        kv,
        tuple(_shares(by_engine.gauge(found.first, "kv"))) if span.name == "between" else (),
        _total(by_engine.gauge(now, "running")),
        _total(waiting) if waiting else sum(reasons.values()) if reasons else None,
        reasons.get("deferred"),
        by_engine.counter(span.counted, "preemptions"),
        by_engine.counter(now, "preemptions"),
        _hit_rate(span.counted, now),
        gpus,
        notes=tuple(notes),
    )


def _refuse(found: Scrapes) -> None:
    require(not found.described, "brought_no_values", engine=" + ".join(sorted(found.described)))
    for name in found.names:
        for begin, other in OTHERS.items():
            if name.startswith(begin):
                raise SimError("brought_other_metrics", value=other)
    raise SimError("brought_no_metrics", given=found.num_samples)


# -- between two scrapes ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Spanned:
    name: Span
    counted: Scrape  # counters and buckets of the span


def _spanned(found: Scrapes) -> tuple[_Spanned, list[Note]]:
    """What was counted between the first and the last scrape, if it can be told."""
    if found.num_scrapes == 1:
        return _Spanned("start", found.last), []
    sizes = [sum(map(len, scrape.values())) for scrape in (found.first, found.last)]
    if min(sizes) * 2 < max(sizes):  # no second scrape: lines that come again
        for name, own in found.first.items():
            found.last[name] = own | found.last.get(name, {})
        return _Spanned("start", found.last), [Note("repeated")]
    times = Note("scrapes", {"times": found.num_scrapes})
    counted = {
        name: _difference(found.first.get(name, {}), own)
        for name, own in found.last.items()
        if name.endswith(scrapes.PARTS) or name in by_engine.PLAIN_COUNTERS
    }
    if any(value < 0 for own in counted.values() for value in own.values()):
        return _Spanned("start", found.last), [times, Note("counters_fell")]
    return _Spanned("between", counted), [times]


def _difference(before: Mapping[Labels, float], now: Mapping[Labels, float]) -> dict[Labels, float]:
    return {labels: value - before.get(labels, 0.0) for labels, value in now.items()}


# -- of the last moment -------------------------------------------------------------------------


def _total(groups: Mapping[Labels, float]) -> float | None:
    return sum(groups.values()) if groups else None


def _shares(groups: Mapping[Labels, float]) -> list[float]:
    """Without what is no share: a panel that adds up percentages may show 340 %."""
    return [value for value in groups.values() if value <= 1]


def _hit_rate(counted: Scrape, now: Scrape) -> float | None:
    hits, queries = by_engine.counter(counted, "hits"), by_engine.counter(counted, "queries")
    if hits is not None and queries:
        return min(hits / queries, 1.0)
    return max(_shares(by_engine.gauge(now, "hit_rate")), default=None)


def _gpus(scrape: Scrape) -> tuple[GpuReading, ...]:
    """One for each GPU, or for each part of one."""
    bandwidth, compute = (
        _by_gpu(scrape.get(by_engine.name_of(reading, "DCGM"), {}))
        for reading in ("bandwidth", "compute")
    )
    names = dict.fromkeys([*bandwidth, *compute])
    return tuple(GpuReading(bandwidth.get(name), compute.get(name)) for name in names)


def _by_gpu(own: Mapping[Labels, float]) -> dict[tuple[str, ...], float]:
    found = {}
    for labels, value in own.items():
        if 0 <= value <= 1:
            said = dict(labels)
            found[tuple(said.get(name, "") for name in GPU_NAMES)] = value
    return found


# -- what to say of it --------------------------------------------------------------------------


def _about_the_text(found: Scrapes) -> list[Note]:
    notes = []
    if found.left_out:
        line, value = found.left_out[0]
        notes.append(Note("left_out", {"lines": len(found.left_out), "line": line, "value": value}))
    if found.cut_line:
        notes.append(Note("cut_line", {"line": found.cut_line}))
    return notes


def _about_means(counted: Scrape) -> list[Note]:
    means = {reading: by_engine.mean_alone(counted, reading) for reading in ("ttft", "itl")}
    return [
        Note("mean_alone", {"name": reading.upper(), "mean": mean})
        for reading, mean in means.items()
        if mean is not None
    ]


def _about_engines(now: Scrape, engines: set[str]) -> list[Note]:
    notes = []
    num_engines = max(len(by_engine.gauge(now, reading)) for reading in ("kv", "running"))
    if num_engines > 1:
        notes.append(Note("engines", {"engines": num_engines}))
    rounds, accepted = by_engine.counter(now, "rounds"), by_engine.counter(now, "accepted")
    if rounds and "vLLM" in engines:
        per_round = 1 + (accepted or 0.0) / rounds
        notes.append(Note("speculates", {"tokens": per_round}))
    elif rounds:
        notes.append(Note("speculates_sglang"))
    return notes
