"""A panel as a real server would show it: metrics by name, lines of a log."""

import numpy as np

from sim.metrics import Distribution
from sim.studies.clinic import Deployment, Panel
from ui.results import engine_log, runs
from ui.subjects.clinic.in_words.questions import share
from ui.words.language import tr
from ui.words.numbers import count, percent, seconds


def metrics_table(here: Panel) -> str:
    """The readings of a run under the names of vLLM and SGLang, as a Markdown table."""
    own = here.over_time
    busiest = int(np.argmax(own.running + own.waiting))
    running, waiting = (count(float(column[busiest])) for column in (own.running, own.waiting))
    rows = [
        ("time_to_first_token_seconds", "time_to_first_token_seconds", _both(here.ttft)),
        ("inter_token_latency_seconds", "inter_token_latency_seconds", _both(here.itl)),
        ("request_queue_time_seconds", "", _both(here.queue_time)),
        ("kv_cache_usage_perc", "token_usage", share(here.readings.kv)),
        ("num_requests_running", "num_running_reqs", running),
        ("num_requests_waiting", "num_queue_reqs", waiting),
        ("num_preemptions_total", "num_retracted_requests_total", count(here.num_preemptions)),
        (
            "prefix_cache_hits_total / queries",
            "cached_tokens_total / prompt_tokens_total",
            percent(here.hit_rate),
        ),
        ("generation_tokens_total", "gen_throughput", f"{count(here.output_tokens_per_second)}/s"),
    ]
    if here.acceptance is not None:
        accepted = "spec_decode_num_accepted_tokens_total / draft"
        rows.append((accepted, "", percent(here.acceptance)))
    head = tr("| vLLM | SGLang | 这次运行 |", "| vLLM | SGLang | This run |")
    body = "\n".join(
        f"| `vllm:{vllm}` | {f'`sglang:{sglang}`' if sglang else '–'} | {value} |"
        for vllm, sglang, value in rows
    )
    return f"{head}\n|---|---|---|\n{body}"


def _both(values: Distribution) -> str:
    return f"p50 {seconds(values.p50)} · p99 {seconds(values.p99)}"


def log_lines(server: Deployment) -> str:
    """What vLLM's log would say in the middle of the run, a line for each replica."""
    return "\n".join(engine_log.in_the_middle([runs.run(setup) for setup in server.setups()]))
