"""A student's whole way through the course, in one tab and without typing an address.

Home, a chapter, its self-check, a case of the clinic, practice; and what was answered is still
there after a reload, after everything was deleted and the file came back, and on the home page.
"""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser import helpers
from tests.browser.helpers import choose, expect_address

BATCHING, CLINIC, QUIZ = "静态批处理与连续批处理", "诊断", "测验"
WHY, WHY_RIGHT = "为什么比静态批处理高", "请求一完成就让出槽位"
WHY_WRONG = "它让每个请求的解码变快了"
ALONE, ALONE_RIGHT = "服务器空闲，只来了一个请求", "几乎不变"
DYNAMIC, DYNAMIC_WRONG = "做不到的", "不等凑满就开始一批"


def go(page: Page, place: str, link: str, path: str, **query: str) -> None:
    """Follow a link of the chapter list, of the acts or of the page."""
    page.locator(place).get_by_role("link", name=link).click()
    expect_address(page, path, **query)
    helpers.settle(page)


def question(page: Page, words: str) -> Locator:
    """The question with these words, its options and what is said to an answer."""
    return page.locator('[class*="st-key-quiz-item-"]').filter(has_text=words)


def answer(page: Page, words: str, option: str, said: str) -> None:
    question(page, words).get_by_text(option).click()
    helpers.settle(page)
    expect(question(page, words).locator('[class*="st-key-quiz-feedback-"]')).to_contain_text(said)


def test_a_student_learns_is_asked_cures_a_server_and_keeps_what_was_answered(new_page):
    page = new_page("zh", warm=True)
    helpers.visit(page, "/")

    # a chapter and its self-check: one answer right, one wrong though sure
    go(page, ".st-key-map", BATCHING, "/batching")
    expect(page.get_by_role("heading", name=BATCHING)).to_be_visible()
    go(page, ".st-key-acts", "自测", "/batching", part="check")
    answer(page, ALONE, ALONE_RIGHT, "来源")
    question(page, WHY).get_by_text("我很有把握").click()
    answer(page, WHY, WHY_WRONG, "你原本很有把握")

    # a sick server: three questions, a change, the promise kept
    go(page, ".st-key-chapter-list", CLINIC, "/clinic")
    go(page, ".st-key-acts", "独立诊断", "/clinic", part="alone")
    choose(page, "① TTFT 还是 ITL 大？", "TTFT 大")
    choose(page, "② KV 接近上限吗？", "还有余地")
    choose(page, "③ 算力和带宽？", "带宽领先")
    choose(page, "第一处改动", "换成 H200 SXM")
    helpers.settle(page)
    expect(page.get_by_text("达标了")).to_be_visible()

    # practice asks first what went wrong; one answer right, one wrong
    go(page, ".st-key-chapter-list", QUIZ, "/quiz")
    choose(page, "做哪些题", "05 批处理")
    helpers.settle(page)
    expect(page.get_by_text("上次你很有把握，却答错了")).to_be_visible()
    answer(page, WHY, WHY_RIGHT, "来源")
    while not question(page, DYNAMIC).is_visible():
        page.get_by_role("button", name="下一题").click()
        helpers.settle(page)
    answer(page, DYNAMIC, DYNAMIC_WRONG, "还不对")

    # the progress: here, after a reload, deleted, and back from a file
    page.locator(".st-key-acts").get_by_role("link", name="我的进度").click()
    progress = page.get_by_text("答过 3 题，对 2 题")
    expect(progress).to_be_visible()
    helpers.settle(page)
    page.reload()
    helpers.settle(page)
    expect(progress).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="导出进度").click()
    file = Path(download.value.path()).read_bytes()
    page.get_by_role("button", name="清空").click()
    page.get_by_role("button", name="全部删掉").click()
    expect(page.get_by_text("答过 0 题")).to_be_visible()
    helpers.settle(page)
    helpers.upload(page, file, "progress.json")
    helpers.settle(page)
    expect(page.get_by_text("导入了 3 题")).to_be_visible()
    expect(progress).to_be_visible()
    helpers.settle(page)

    go(page, ".st-key-chapter-list", "首页", "/")
    done = page.locator(".st-key-map").get_by_text(re.compile(r"自测 2 / \d+"))
    expect(done).to_have_count(1)
