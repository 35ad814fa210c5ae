"""Chapter 4 and the workbench in a real browser: what no script can stand in for."""

import csv
import json
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser import helpers
from tests.browser.helpers import expect_address, nudge
from tests.browser.verbs import chapter_link

CURVE = "[class*=st-key-17_workbench-load_curve]"
NOTES = ".st-key-cards [data-testid=stMetricDelta]"


def downloaded(page: Page, name: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_a_click_on_a_point_of_the_curve_opens_its_run(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/workbench", part="curve")
    result = page.locator(".st-key-rest")
    expect(result).to_contain_text("At 8 per second")
    points = page.locator(f"{CURVE} .trace.scatter .point")
    points.nth(10).click(force=True)  # of the 13 rates: 20 per second
    expect_address(page, "/workbench", part="curve", rate=20)
    expect(result).to_contain_text("At 20 per second")
    helpers.settle(page)
    shown = page.locator(".st-key-cards [data-testid=stMetricValue]").all_inner_texts()

    page.locator('.st-key-acts a[href*="part=explore"]').click()
    expect_address(page, "/workbench", rate=20)
    helpers.settle(page)
    ttft = page.locator(".st-key-cards [data-testid=stMetricValue]").first
    expect(ttft).to_have_text(shown[2])


def test_a_run_is_kept_compared_and_taken_along(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/workbench")
    page.get_by_role("button", name="Keep as A").click()
    expect(page.locator(NOTES).first).to_contain_text("±0%")
    nudge(page, "Batch limit", "Home")
    expect_address(page, "/workbench", seqs=1, a="~")
    expect(page.locator(NOTES).first).to_contain_text("×")

    page.locator(".st-key-take-along summary").click()
    box = page.locator(".st-key-take-along")
    expect(box).to_contain_text("vllm serve meta-llama/Llama-3.1-8B-Instruct")
    expect(box).to_contain_text("Engine 000: Avg prompt throughput:")
    expect(box).to_contain_text(page.url.replace("lang=en&", ""))
    table = list(csv.DictReader(downloaded(page, "A row per request (CSV)").splitlines()))
    assert len(table) == 240
    told = json.loads(downloaded(page, "Settings and metrics (JSON)"))
    assert told["settings"]["policy"]["max_num_seqs"] == 1
    mean = sum(float(row["ttft_s"]) for row in table) / len(table)
    assert abs(mean - told["metrics"]["ttft_seconds"]["mean"]) < 1e-3


def test_old_addresses_of_the_whole_server_lead_to_the_workbench_and_back_leads_away(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    helpers.go_on(page, "/simulator", part="curve", rate=20)
    expect_address(page, "/workbench", part="curve", rate=20)
    expect(page.locator(".st-key-rest")).to_contain_text("At 20 per second")
    seen = page.evaluate("localStorage.getItem('llm-serving-visited')")
    assert "workbench/curve" in seen
    assert "simulator/" not in seen  # nobody was there
    page.go_back()
    expect_address(page, "/batching")
    expect(page.locator(".player")).to_be_visible()
    chapter_link(page, "simulator").click()
    expect_address(page, "/simulator")
