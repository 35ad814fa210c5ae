"""Chapter 16.  The course on two sheets of paper.

For each chapter the question it answers, a number of its own, what to keep and the formula; then
metrics and flags by name, and the table of the clinic.  Made to be printed.
"""

from ui import lesson
from ui.lesson import tr
from ui.page import summary

# What each chapter says in the state in which it opens: our blank -> act, section and blank there.
QUOTES = {
    "01_pipeline": {
        "passes": "hook/hook_outcome/passes",
        "decodes": "hook/hook_outcome/decodes",
    },
    "02_prefill_decode": {
        "turn": "hook/hook_outcome/truth",
        "ridge": "hook/hook_outcome/ridge",
        "model": "hook/hook/model",
        "gpu": "hook/hook/gpu",
    },
    "03_latency": {
        "ttft": "hook/hook_result/ttft",
        "prefill": "hook/hook_result/prefill",
        "decode": "hook/hook_outcome/decode",
    },
    "04_simulator": {
        "low": "hook/hook_outcome/low",
        "high": "hook/hook_outcome/high",
        "throughput_before": "hook/hook_outcome/throughput_8",
        "throughput_after": "hook/hook_outcome/throughput_64",
        "ttft_before": "hook/hook_outcome/ttft_8",
        "ttft_after": "hook/hook_outcome/ttft_64",
        "itl_before": "hook/hook_outcome/itl_8",
        "itl_after": "hook/hook_outcome/itl_64",
    },
    "05_batching": {
        "static": "compare/compare_result/static_utilization",
        "continuous": "compare/compare_result/continuous_utilization",
    },
    "06_kv_cache": {
        "fit": "hook/hook_outcome/fit",
        "tokens": "hook/hook/tokens",
        "model": "growth/growth_leaves_out/model",
        "gpu": "hook/hook/gpu",
        "per_token": "formulas/formulas_result/per_token",
    },
    "07_fragmentation": {
        "free": "hook/hook_result/free",
        "need": "hook/hook_result/need",
        "wait": "hook/hook_result/wait",
        "wait_in_blocks": "paged/paged_result/wait_blocks",
    },
    "08_prefix_cache": {
        "off": "hook/hook_outcome/ttft_off",
        "on": "hook/hook_outcome/ttft_on",
        "itl": "hook/hook_outcome/itl_on",
    },
    "09_chunked_prefill": {
        "gap_off": "hook/hook_outcome/worst_off",
        "gap_on": "hook/hook_outcome/worst_on",
        "ttft_off": "hook/hook_outcome/ttft_off",
        "ttft_on": "hook/hook_outcome/ttft_on",
    },
    "10_spec_decode": {
        "a": "worth/worth_result/a",
        "k": "worth/worth_result/k",
        "c": "worth/worth_result/cost",
        "tokens": "worth/worth_result/tokens",
        "gain": "worth/worth_result/gain",
    },
    "11_cuda_graph": {
        "eager": "hook/hook_outcome/eager",
        "graph": "hook/hook_outcome/graph",
        "busy": "hook/hook_outcome/busy",
        "model": "hook/hook/model",
    },
    "12_quantization": {
        "alone": "hook/hook_outcome/alone",
        "batch": "hook/hook_outcome/batch",
        "crowd": "hook/hook_outcome/crowd",
        "prefill": "hook/hook_outcome/prefill",
    },
    "13_systems": {
        "rate": "hook/hook_result/rate",
        "factor": "hook/hook_result/factor",
        "naive": "hook/hook_result/naive",
        "best": "hook/hook_result/best",
    },
    "14_clinic": {
        "rising": "hook/hook_twice/rising",
        "full": "hook/hook_twice/full",
    },
}

chapter = lesson.open(__file__)


@chapter.act("sheets", tr("两张纸", "Two sheets"))
def sheets() -> None:
    chapter.say("sheets")
    chapter.leads(
        {tr("每个概念一句话，术语随时查", "A sentence for each concept, every term"): "15_quiz"}
    )
    topics = {
        stem: chapter.words(stem, **lesson.quote(stem, places)) for stem, places in QUOTES.items()
    }
    tables = [chapter.words("diagnosis"), chapter.words("metrics"), chapter.words("flags")]
    chapter.place(lambda: summary.show(topics, tables, chapter.large))
    chapter.leaves_out("sheets_leaves_out")


chapter.show()
