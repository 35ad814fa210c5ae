"""A reader solves one case, and brings the metrics of a server of their own."""

from playwright.sync_api import expect

from tests.browser import helpers
from tests.browser.helpers import choose, expect_address

METRICS = """vllm:time_to_first_token_seconds_bucket{le="1"} 10
vllm:time_to_first_token_seconds_bucket{le="10"} 100
vllm:time_to_first_token_seconds_bucket{le="+Inf"} 100
vllm:inter_token_latency_seconds_bucket{le="0.02"} 100
vllm:inter_token_latency_seconds_bucket{le="+Inf"} 100
vllm:gpu_cache_usage_perc 0.93
vllm:num_preemptions_total 12
"""


def test_a_case_is_solved_after_a_wrong_cure(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/clinic", part="alone", case="few_slots")
    text = page.locator(".st-key-rest")
    second = page.get_by_text("② KV near its limit?")
    expect(second).to_have_count(0)
    choose(page, "① TTFT or ITL?", "TTFT: queueing or prefill")
    expect(text).to_contain_text("Yes: TTFT")
    choose(page, "② KV near its limit?", "near it: KV limits concurrency")
    expect(text).to_contain_text("No. The panel says: there is room")
    choose(page, "③ Compute, bandwidth?", "bandwidth leads: it decodes")
    expect(text).to_contain_text("Yes: bandwidth leads")
    expect(text).to_contain_text("Now the cure")

    choose(page, "First change", "--gpu-memory-utilization 0.9 → 0.95")
    expect(text).to_contain_text("Not cured.")
    expect(text).to_contain_text("Why this tempts")
    expect(text).not_to_contain_text("running requests stand at 16 exactly")
    choose(page, "First change", "--max-num-seqs 16 → 64")
    expect(text).to_contain_text("The promise is kept.")
    expect(text).to_contain_text("running requests stand at 16 exactly")
    expect(text).to_contain_text("The tempting one was run, too")
    ttft = page.locator(".st-key-cards [data-testid=stMetricDelta]").first
    expect(ttft).to_contain_text("before")
    answers = {"step1": "ttft", "step2": "full", "step3": "bandwidth"}
    here = {"part": "alone", "case": "few_slots", **answers, "cure1": "max_num_seqs-64"}
    expect_address(page, "/clinic", **here)


def test_a_link_restores_knobs_and_answers_and_the_next_case_begins_anew(new_page):
    page = new_page("en", warm=True)
    state = {"part": "alone", "case": "few_slots", "step1": "itl", "how": "knobs"}
    helpers.visit(page, "/clinic", **state, max_num_seqs=64)
    text = page.locator(".st-key-rest")
    expect(text).to_contain_text("No. The panel says: TTFT")
    expect(text).to_contain_text("The promise is kept.")
    expect(page.get_by_role("combobox", name="--max-num-seqs")).to_have_value("64")
    page.get_by_test_id("stNumberInputStepUp").click()
    expect_address(page, "/clinic", part="alone", case="few_slots", seed=1, how="knobs")
    expect(text).not_to_contain_text("The panel says")
    expect(text).not_to_contain_text("The promise is kept.")


def test_brought_metrics_are_read_and_broken_ones_lose_nothing(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/clinic", part="bring")
    box = page.get_by_role("textbox", name="Or paste it here")
    box.fill(METRICS)
    box.press("Control+Enter")
    text, figure = page.locator(".st-key-rest"), page.locator(".st-key-figure")
    expect(text).to_contain_text("Read as vLLM")
    expect(text).to_contain_text("TTFT p99 between 1.00 s and 10.0 s")
    expect(text).to_contain_text("KV limits concurrency")
    expect(text).to_contain_text("DCGM_FI_PROF_DRAM_ACTIVE")
    box.fill("<img src=x onerror=alert(1)> 1")
    box.press("Control+Enter")
    expect(figure).to_contain_text("Line 1 is no Prometheus text")
    expect(text).to_contain_text("KV limits concurrency")
    helpers.upload(page, b'{"p99_ttft_ms": ', "result.json")
    expect(figure).to_contain_text("Broken JSON at 1:17")
    expect(text).to_contain_text("KV limits concurrency")
    assert page.locator("[data-testid=stMain] img[src=x]").count() == 0
    expect(box).to_have_value("<img src=x onerror=alert(1)> 1")  # nothing of it is lost
    helpers.nudge(page, "KV counts as full")
    expect(text).to_contain_text("with 12 preemptions it was full before")
