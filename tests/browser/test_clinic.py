"""A reader solves one case, and brings the metrics of a server of their own."""

from playwright.sync_api import expect

from tests.browser import helpers
from tests.browser.helpers import choose, expect_address

FEW_SLOTS = 45  # the number that draws a batch limit that is too low
METRICS = """vllm:time_to_first_token_seconds_bucket{le="1"} 10
vllm:time_to_first_token_seconds_bucket{le="10"} 100
vllm:time_to_first_token_seconds_bucket{le="+Inf"} 100
vllm:inter_token_latency_seconds_bucket{le="0.02"} 100
vllm:inter_token_latency_seconds_bucket{le="+Inf"} 100
vllm:gpu_cache_usage_perc 0.97
"""


def test_a_case_is_solved(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/clinic", part="alone", seed=FEW_SLOTS)
    text = page.locator(".st-key-rest")
    choose(page, "① TTFT or ITL?", "TTFT: queueing or prefill")
    expect(text).to_contain_text("Yes: TTFT")
    choose(page, "② KV near its limit?", "near it: KV limits concurrency")
    expect(text).to_contain_text("No. The panel says: there is room")
    choose(page, "③ Compute, bandwidth?", "bandwidth leads: it decodes")
    expect(text).to_contain_text("Yes: bandwidth leads")

    choose(page, "First change", "--gpu-memory-utilization 0.9 → 0.95")
    expect(text).to_contain_text("Not cured.")
    choose(page, "Second change", "--max-num-seqs 16 → 64")
    expect(text).to_contain_text("The promise is kept.")
    expect(text).to_contain_text("running requests stand at 16 exactly")
    ttft = page.locator(".st-key-cards [data-testid=stMetricDelta]").first
    expect(ttft).to_contain_text("before")
    expect_address(
        page,
        "/clinic",
        part="alone",
        seed=FEW_SLOTS,
        step1="ttft",
        step2="full",
        step3="bandwidth",
        cure="gpu_memory_utilization-0.95",
        cure2="max_num_seqs-64",
    )


def test_pasted_metrics_are_read_and_a_broken_text_loses_nothing(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/clinic", part="bring")
    box = page.get_by_role("textbox", name="Or paste it here")
    box.fill(METRICS)
    box.press("Control+Enter")
    text = page.locator(".st-key-rest")
    expect(text).to_contain_text("Read as vLLM")
    expect(text).to_contain_text("KV limits concurrency")
    expect(text).to_contain_text("DCGM_FI_PROF_DRAM_ACTIVE")
    box.fill("<img src=x onerror=alert(1)> 1")
    box.press("Control+Enter")
    expect(page.locator(".st-key-figure")).to_contain_text("Line 1 is no Prometheus text")
    expect(text).to_contain_text("KV limits concurrency")
    assert page.locator("[data-testid=stMain] img[src=x]").count() == 0
