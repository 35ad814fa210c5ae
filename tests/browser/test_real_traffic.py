"""A trace of the reader's own in the simulator: a good one, a bad one, a recorded one."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import helpers
from tests.browser.verbs import RESULT, choose_language, values

TRACES = Path(__file__).parents[3] / "shared" / "traces"


def azure(num_rows: int, prompt: object = 300) -> bytes:
    """A trace in the Azure format: one request per second; the second one's prompt as given."""
    rows = [
        f"2023-11-16 18:{second // 60:02d}:{second % 60:02d}.0000000,"
        f"{prompt if second == 1 else 300},50"
        for second in range(num_rows)
    ]
    return "\r\n".join(["TIMESTAMP,ContextTokens,GeneratedTokens", *rows]).encode()


def upload(page: Page, content: bytes, name: str = "trace.csv") -> None:
    helpers.upload(page, content, name)


def test_a_good_trace_changes_the_numbers_and_a_bad_one_leaves_them(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/workbench", part="trace")
    stand_in = values(page)
    upload(page, azure(40))
    expect(page.locator(RESULT)).to_contain_text("40")
    helpers.settle(page)
    good = values(page)
    assert good != stand_in

    warning = page.locator("[data-testid=stAlert]")
    upload(page, azure(40, prompt="many"))
    for expected in ("Line 3", "ContextTokens", "many", "expected"):
        expect(warning).to_contain_text(expected)
    assert values(page) == good

    choose_language(page, "中文")
    for expected in ("第 3 行", "ContextTokens", "many", "应为"):
        expect(warning).to_contain_text(expected)
    helpers.settle(page)
    assert values(page) == good

    upload(page, azure(40, prompt="<img src=x onerror=alert(1)>"))
    expect(warning).to_contain_text("<img")
    assert warning.locator("img").count() == 0
    upload(page, azure(60))
    expect(warning).to_have_count(0)
    helpers.settle(page)
    assert values(page) != good


def test_the_real_trace_runs(new_page):
    file = TRACES / "AzureLLMInferenceTrace_conv.csv"
    if not file.exists():
        pytest.skip("the Azure trace is not beside this checkout")
    page = new_page("en", warm=True)
    helpers.visit(page, "/workbench", part="trace")
    before = values(page)
    upload(page, file.read_bytes(), file.name)
    all_of_them = "from the earliest on: 19,366"
    expect(page.locator(RESULT)).to_contain_text(all_of_them, timeout=helpers.WAIT_MS)
    helpers.settle(page)
    numbers = values(page)
    assert numbers != before
    assert helpers.faults(page) == []
    choose_language(page, "中文")
    all_of_them = "取最早的 19,366 个请求"
    expect(page.locator(RESULT)).to_contain_text(all_of_them, timeout=helpers.WAIT_MS)
    helpers.settle(page)
    assert values(page) == numbers
    assert helpers.faults(page) == []
