"""What readers and lecturers do, from the first click on, in a real browser.

Nothing here waits for a time: every step waits for what the reader would see.
"""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.browser import helpers
from tests.browser.helpers import expect_address, expect_step, nudge, slider

TRACES = Path(__file__).parents[3] / "shared" / "traces"
PLAYER = ".player"
CARDS = ".st-key-cards"
RESULT = ".st-key-rest"
GUESS = ".st-key-predict-utilization"
TRENDS = ".st-key-predict-batch"
EARLY_STEP = 5
DESK, PHONE = (1280, 720), (390, 844)


def act_link(page: Page, code: str) -> Locator:
    return page.locator(f'.st-key-acts a[href*="part={code}"]')


def chapter_link(page: Page, name: str) -> Locator:
    return page.locator(f'.st-key-chapter-list a[href^="{name}"]')


def button(page: Page, act: str) -> Locator:
    return page.locator(f'{PLAYER} [data-act="{act}"]')


def step_of(page: Page) -> int:
    return int(page.locator(PLAYER).get_attribute("data-step") or 0)


def time_of(page: Page) -> float:
    """Where a timeline's cursor stands, in seconds."""
    return float(page.locator(PLAYER).get_attribute("data-time") or "nan")


def last_step(page: Page) -> int:
    return int(page.locator(PLAYER).get_attribute("data-steps") or 0) - 1


def expect_playing(page: Page, playing: bool) -> None:
    expect(page.locator(PLAYER)).to_have_attribute("data-playing", str(playing).lower())


def values(page: Page) -> list[str]:
    """The numbers on the cards."""
    return page.locator(f"{CARDS} [data-testid=stMetricValue]").all_inner_texts()


def choose_language(page: Page, words: str) -> None:
    page.get_by_role("radio", name=words, exact=True).click()


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


# -- the way in --------------------------------------------------------------------------------


def test_home_leads_to_batching_and_on_to_the_simulator(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/")
    start = page.locator(".st-key-start a")
    promised = "/" + start.get_attribute("href")
    start.click()
    expect_address(page, promised)
    chapter_link(page, "batching").click()
    expect_address(page, "/batching")
    expect(page.locator(PLAYER)).to_be_visible()
    chapter_link(page, "simulator").click()
    expect_address(page, "/simulator")
    expect(page.locator(CARDS)).to_be_visible()
    chapter_link(page, "batching").click()
    expect_address(page, "/batching")
    page.locator(".st-key-onward a").last.click()
    expect_address(page, "/batching", part="compare")
    page.locator(".st-key-onward a").first.click()
    expect_address(page, "/batching")


# -- the player --------------------------------------------------------------------------------


def test_the_player_plays_pauses_at_events_steps_jumps_and_scrubs(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="compare")
    expect_playing(page, False)
    expect_step(page, 0)
    note = page.locator(f"{PLAYER} .note")
    first_note = note.inner_text()

    page.locator(f"{PLAYER} .speed").select_option("8")
    button(page, "play").click()
    expect_playing(page, True)
    expect_playing(page, False)  # by itself: something happened
    event = step_of(page)
    assert 0 < event < last_step(page)
    expect(note).not_to_have_text(first_note)
    expect(page.locator(f"{PLAYER} .spoken")).to_contain_text(note.inner_text().split("\n")[0])

    button(page, "forward").click()
    expect_step(page, event + 1)
    button(page, "back").click()
    button(page, "back").click()
    expect_step(page, event - 1)
    button(page, "next").click()
    expect_step(page, event)
    button(page, "next").click()
    assert step_of(page) > event
    button(page, "previous").click()
    expect_step(page, event)

    page.locator(f"{PLAYER} .scrub").fill("20")
    expect_step(page, 20)
    button(page, "table").click()
    rows = page.locator(f"{PLAYER} .table tbody tr")
    expect(rows.filter(visible=True)).to_have_count(21)
    expect(page.locator(f"{PLAYER} .stage canvas")).to_be_hidden()

    button(page, "autopause").click()
    button(page, "play").click()
    expect_playing(page, True)
    button(page, "play").click()
    expect_playing(page, False)
    button(page, "play").click()
    expect(page.locator(PLAYER)).to_have_attribute(
        "data-step", str(last_step(page)), timeout=helpers.WAIT_MS
    )
    expect_playing(page, False)
    button(page, "reset").click()
    expect_step(page, 0)


def test_keys_move_the_player_but_not_while_somebody_types(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    page.keyboard.press("ArrowRight")  # nobody has touched the player
    expect_step(page, 0)
    button(page, "forward").click()
    expect_step(page, 1)
    for key, expected in (("ArrowRight", 2), ("ArrowLeft", 1), ("End", last_step(page))):
        page.keyboard.press(key)
        expect_step(page, expected)
    page.keyboard.press("Home")
    expect_step(page, 0)
    page.keyboard.press("Space")
    expect_playing(page, True)
    page.keyboard.press("Space")
    expect_playing(page, False)

    stands = step_of(page)
    field = page.locator(GUESS).get_by_role("spinbutton")
    field.click()
    for key in ("4", "2", "Home", "ArrowRight", "5", "End", "Space"):
        page.keyboard.press(key)
    assert field.input_value().strip().startswith("452")
    expect_step(page, stands)
    expect_playing(page, False)


def test_with_reduced_motion_the_player_only_steps(new_page):
    page = new_page("en", reduced_motion="reduce")
    helpers.visit(page, "/batching")
    expect(button(page, "play")).to_have_attribute("aria-disabled", "true")
    button(page, "forward").click()
    page.keyboard.press("Space")  # at once, not a moment later, and no further
    assert step_of(page) == 2
    assert page.locator(PLAYER).get_attribute("data-playing") == "false"


def test_a_changed_setting_keeps_the_moment_and_says_so(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    page.locator(f"{PLAYER} .scrub").fill("60")
    nudge(page, "Tokens that B writes")
    expect(page.locator(f"{PLAYER} .notice")).to_contain_text("61")
    expect_step(page, 60)
    nudge(page, "Tokens that B writes", "Home")
    expect(page.locator(PLAYER)).to_have_attribute("data-steps", re.compile(r"^\d\d$"))
    expect_step(page, last_step(page))


def test_one_request_is_followed_to_its_first_token_back_and_on(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/latency")
    note = page.locator(f"{PLAYER} .note")
    button(page, "autopause").click()  # nothing stops it on the way
    page.locator(f"{PLAYER} .speed").select_option("8")
    button(page, "play").click()
    expect_step(page, last_step(page))
    expect_playing(page, False)

    page.keyboard.press("Home")
    button(page, "next").click()
    expect(note).to_contain_text("part of the next")
    button(page, "next").click()
    expect(note).to_contain_text("this is the TTFT")
    first_token = step_of(page)
    button(page, "back").click()
    expect(note).to_contain_text("Token 1 is sampled")
    expect_step(page, first_token - 1)
    sampled = time_of(page)

    button(page, "forward").click()
    button(page, "forward").click()
    expect(note).to_contain_text("A decode step: token 1 goes in")
    assert time_of(page) > sampled  # only after token 1
    box = page.locator(f"{PLAYER} .scrub").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(note).to_contain_text("Prefill is done")
    assert 0 < time_of(page) < sampled

    nudge(page, "Tokens in B's prompt", "End")
    expect_address(page, "/latency", prompt=8000)
    button(page, "next").click()
    expect(note).to_contain_text("this is the TTFT")
    assert time_of(page) > 4 * sampled


# -- controls, addresses, languages --------------------------------------------------------------


def test_a_moved_control_changes_prose_figure_and_address(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="sandbox")
    before = page.locator(RESULT).inner_text()
    nudge(page, "Requests", "Home")
    expect_address(page, "/batching", part="sandbox", requests=1)
    expect(page.locator(RESULT)).not_to_have_text(before, use_inner_text=True)
    expect(page.locator(PLAYER)).not_to_have_attribute("data-steps", "0")


def test_a_moved_control_changes_the_cards(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/simulator", part="explore")
    before, said = values(page), page.locator(RESULT).inner_text()
    nudge(page, "Batch limit", "Home")
    expect_address(page, "/simulator", part="explore", seqs=1)
    expect(page.locator(RESULT)).not_to_have_text(said, use_inner_text=True)
    assert values(page) != before


def test_another_language_changes_words_alone(new_page):
    page = new_page("zh", warm=True)
    helpers.visit(page, "/batching")
    nudge(page, "B 写多少 token")
    expect_address(page, "/batching", longest=101)
    page.locator(GUESS).get_by_role("spinbutton").fill("80")
    page.keyboard.press("Enter")
    page.locator(GUESS).get_by_role("button", name="画上我的预测").click()
    expect(page.locator(GUESS).get_by_role("button", name="重新预测")).to_be_visible()
    page.locator(f"{PLAYER} .scrub").fill(str(EARLY_STEP))
    note = page.locator(f"{PLAYER} .note")
    before = note.inner_text()

    choose_language(page, "English")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect_address(page, "/batching", longest=101, lang="en")
    expect(slider(page, "Tokens that B writes")).to_have_value("101")
    expect(page.locator(GUESS).get_by_role("button", name="Guess again")).to_be_visible()
    expect(note).not_to_have_text(before)
    expect_step(page, EARLY_STEP)

    act_link(page, "compare").click()
    expect_address(page, "/batching", longest=101, lang="en", part="compare")
    choose_language(page, "中文")
    expect_address(page, "/batching", longest=101, lang="zh", part="compare")
    act_link(page, "hook").click()
    expect(page.locator(GUESS).get_by_role("button", name="重新预测")).to_be_visible()
    expect_step(page, EARLY_STEP)


def test_a_link_gives_another_reader_the_same_numbers_in_either_language(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/simulator", part="explore")
    nudge(page, "Batch limit", "Home")
    expect_address(page, "/simulator", part="explore", seqs=1)
    nudge(page, "Prompt tokens")
    expect_address(page, "/simulator", part="explore", seqs=1, prompt=1000)
    helpers.settle(page)
    numbers, said = values(page), page.locator(RESULT).inner_text()

    other = new_page("en")
    other.goto(page.url)
    expect(other.locator(RESULT)).to_have_text(said, use_inner_text=True, timeout=helpers.WAIT_MS)
    helpers.settle(other)
    assert values(other) == numbers

    chinese = new_page("zh", warm=True)
    chinese.goto(page.url)
    helpers.settle(chinese)
    assert values(chinese) == numbers
    expect(chinese.locator("html")).to_have_attribute("lang", "zh-CN")


def test_a_copied_link_opens_at_its_step(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="compare", width=4, step=12)
    expect_step(page, 12)
    expect_address(page, "/batching", part="compare", width=4, step=12)
    button(page, "forward").click()
    expect_step(page, 13)
    nudge(page, "Slots")
    expect_address(page, "/batching", part="compare", width=5)
    expect_step(page, 13)


def test_a_hostile_address_is_clamped_and_cleaned(new_page):
    page = new_page("en", warm=True)
    hostile = {"slots": 999, "requests": "abc", "spread": "nan", "arrival": "<b>x</b>"}
    helpers.visit(page, "/batching", part="sandbox", lang="xx", step="²", A="1", **hostile)
    expect_address(page, "/batching", part="sandbox", slots=12)
    places = [slider(page, name) for name in ("Slots", "Requests", "Length spread")]
    assert [place.input_value() for place in places] == ["12", "24", "4"]
    assert helpers.faults(page) == []
    helpers.visit(page, "/batching", part="sandbox", slots=7)  # typed by hand
    expect(slider(page, "Slots")).to_have_value("7")


def test_back_and_forward_walk_moves_acts_and_pages_in_the_chosen_language(new_page):
    page = new_page("zh", warm=True)
    helpers.visit(page, "/")
    choose_language(page, "English")
    expect_address(page, "/", lang="en")
    page.locator('.st-key-map a[href^="batching"]').click()
    expect_address(page, "/batching", lang="en")
    act_link(page, "sandbox").click()
    expect_address(page, "/batching", lang="en", part="sandbox")
    expect(slider(page, "Slots")).to_have_value("4")
    nudge(page, "Slots")
    expect_address(page, "/batching", lang="en", part="sandbox", slots=5)
    nudge(page, "Requests")
    expect_address(page, "/batching", lang="en", part="sandbox", slots=5, requests=25)
    chapter_link(page, "simulator").click()
    expect_address(page, "/simulator", lang="en")
    helpers.settle(page)

    walked: list[tuple[str, dict[str, object], str | None]] = [
        ("/batching", {"part": "sandbox", "slots": 5, "requests": 25}, "5 25"),
        ("/batching", {"part": "sandbox", "slots": 5}, "5 24"),
        ("/batching", {"part": "sandbox"}, "4 24"),
        ("/batching", {}, None),
        ("/", {}, None),
    ]
    for place in walked:
        page.go_back()
        expect_place(page, *place)
    for place in reversed(walked[:-1]):
        page.go_forward()
        expect_place(page, *place)
    page.go_forward()
    expect_address(page, "/simulator", lang="en")
    expect(page.locator(CARDS)).to_be_visible()


def expect_place(page: Page, path: str, query: dict[str, object], sliders: str | None) -> None:
    expect_address(page, path, lang="en", **query)
    if sliders:
        slots, requests = sliders.split()
        expect(slider(page, "Slots")).to_have_value(slots)
        expect(slider(page, "Requests")).to_have_value(requests)
    helpers.settle(page)
    assert page.locator("html").get_attribute("lang") == "en"
    expect_address(page, path, lang="en", **query)  # nothing was added afterwards


def test_going_elsewhere_and_back_by_the_chapter_list_keeps_values(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="sandbox")
    nudge(page, "Slots")
    expect_address(page, "/batching", part="sandbox", slots=5)
    page.locator(f"{PLAYER} .scrub").fill(str(EARLY_STEP))
    expect_step(page, EARLY_STEP)
    helpers.settle(page)
    chapter_link(page, "simulator").click()
    expect_address(page, "/simulator")
    expect(page.locator(CARDS)).to_be_visible()
    chapter_link(page, "batching").click()
    expect_address(page, "/batching", part="sandbox", slots=5)
    expect(slider(page, "Slots")).to_have_value("5")
    expect_step(page, EARLY_STEP)


# -- fast hands, slow networks -------------------------------------------------------------------


def test_fast_hands_lose_nothing(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="sandbox")
    nudge(page, "Slots")
    nudge(page, "Requests")
    nudge(page, "Length spread")
    expect_address(page, "/batching", part="sandbox", slots=5, requests=25, spread=4.5)
    for _ in range(2):
        nudge(page, "Slots")
        button(page, "forward").click()
    expect_address(page, "/batching", part="sandbox", slots=7, requests=25, spread=4.5)
    nudge(page, "Requests")
    act_link(page, "compare").hover()
    expect_address(page, "/batching", part="sandbox", slots=7, requests=26, spread=4.5)
    page.evaluate("history.back(); history.back()")
    helpers.settle(page)
    _, query = helpers.address(page)
    for name, code in (("Slots", "slots"), ("Requests", "requests")):
        expect(slider(page, name)).to_have_value(query[code])


def test_a_slow_network_undoes_no_move(new_page):
    page = new_page("en")
    line = SlowLine()
    page.route_web_socket("**/_stcore/stream", line.connect)
    helpers.visit(page, "/batching", part="sandbox")
    line.hold()
    nudge(page, "Slots")
    line.wait_for(page, lambda: any(b"slots=5" in message for message in line.held))
    sent = line.num_sent
    button(page, "forward").click()  # while the new address is still on its way
    line.wait_for(page, lambda: line.num_sent > sent)
    line.release()
    helpers.settle(page)
    expect_address(page, "/batching", part="sandbox", slots=5)
    expect(slider(page, "Slots")).to_have_value("5")
    expect_step(page, 1)


class SlowLine:
    """The way from the server to the browser, on which messages can be held up."""

    def __init__(self) -> None:
        self.held: list[bytes] = []
        self.num_sent = 0
        self.is_held = False

    def connect(self, page_side: WebSocketRoute) -> None:
        self.page_side = page_side
        server_side = page_side.connect_to_server()

        def to_server(message: str | bytes) -> None:
            self.num_sent += 1
            server_side.send(message)

        def to_page(message: str | bytes) -> None:
            if self.is_held:
                self.held.append(message if isinstance(message, bytes) else message.encode())
            else:
                page_side.send(message)

        page_side.on_message(to_server)
        server_side.on_message(to_page)

    def hold(self) -> None:
        self.is_held = True

    def release(self) -> None:
        self.is_held = False
        for message in self.held:
            self.page_side.send(message)

    def wait_for(self, page: Page, is_true) -> None:
        frames = 0
        while not is_true():
            page.evaluate("new Promise(requestAnimationFrame)")
            frames += 1
            assert frames < 1000, "it never came"


# -- presets, predictions ------------------------------------------------------------------------


def test_presets_lead_into_the_state_they_promise(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/simulator", part="explore", prompt=4000)
    before = values(page)
    page.locator(".st-key-preset-preset_overload a").click()
    expect_address(page, "/simulator", part="explore", rate=20, seqs=32)
    expect(slider(page, "Prompt tokens")).to_have_attribute("aria-valuetext", re.compile("500"))
    assert values(page) != before
    page.go_back()
    expect_address(page, "/simulator", part="explore", prompt=4000)
    expect(slider(page, "Prompt tokens")).to_have_attribute("aria-valuetext", re.compile("4,000"))


def test_show_me_of_the_self_check_leads_into_a_state(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="check")
    page.locator("[class*=st-key-quiz-item] [role=radiogroup] label").first.click()
    link = page.get_by_role("link", name="Show me").first
    promised = dict(pair.split("=") for pair in link.get_attribute("href").split("?")[1].split("&"))
    assert "part" in promised
    link.click()
    expect_address(page, "/batching", **promised)
    page.go_back()
    expect_address(page, "/batching", part="check")
    expect(page.get_by_role("link", name="Show me").first).to_be_visible()


def test_a_guess_is_asked_answered_and_compared(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/simulator")
    charts = page.locator("[data-testid=stPlotlyChart]")
    num_charts = charts.count()
    done = page.locator(TRENDS).get_by_role("button", name="Draw my guess")
    expect(done).to_be_disabled()
    groups = page.locator(f"{TRENDS} [role=radiogroup]")
    for at in range(3):
        groups.nth(at).get_by_text("↑").click()
    expect(done).to_be_enabled()
    done.click()
    expect(page.locator(TRENDS).get_by_role("button", name="Guess again")).to_be_visible()
    expect(page.locator(TRENDS).get_by_role("table")).to_be_visible()
    expect(charts).to_have_count(num_charts + 1)
    page.locator(".st-key-controls").get_by_role("radio", name="64", exact=True).click()
    expect_address(page, "/simulator", limit=64)
    expect(page.locator(TRENDS).get_by_role("table")).to_be_visible()


def test_a_guess_is_skipped_with_one_click_and_not_asked_of_who_comes_by_a_link(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    result = page.locator(RESULT).get_by_text("slot-steps")
    expect(result).to_be_hidden()
    page.locator(GUESS).get_by_role("button", name="Skip").click()
    expect(result).to_be_visible()
    helpers.visit(page, "/batching", longest=30)
    expect(result).to_be_visible()
    expect(page.locator(GUESS)).to_have_count(0)


# -- real traffic --------------------------------------------------------------------------------


def test_a_good_trace_changes_the_numbers_and_a_bad_one_leaves_them(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/simulator", part="trace")
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
    helpers.visit(page, "/simulator", part="trace")
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


# -- the lecture hall, paper, a phone ------------------------------------------------------------


def test_a_lecturer_enters_walks_asks_reveals_resets_and_leaves(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    page.locator(".st-key-lecture-link a").click()
    expect_address(page, "/batching", view="lecture")
    bar = page.locator(".st-key-lecture-bar")
    expect(bar).to_be_visible()
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    expect_playing(page, False)

    page.get_by_role("button", name="Ask", exact=True).click()
    field = page.locator(GUESS).get_by_role("spinbutton")
    field.fill("80")
    field.press("Enter")
    page.locator(GUESS).get_by_role("button", name="Reveal").click()
    page.get_by_role("button", name="Guess and result").click()
    expect(page.get_by_role("dialog").locator("[data-testid=stPlotlyChart]")).to_be_visible()
    page.keyboard.press("Escape")

    for part in ("compare", "shapes"):
        page.keyboard.press("PageDown")
        expect_address(page, "/batching", view="lecture", part=part)
    page.keyboard.press("PageUp")
    expect_address(page, "/batching", view="lecture", part="compare")
    expect(page.locator(PLAYER)).to_be_visible()

    page.keyboard.press("End")  # the one player of the screen needs no touch
    expect_step(page, last_step(page))
    nudge(page, "Slots")
    expect_address(page, "/batching", view="lecture", part="compare", width=4)
    bar.get_by_role("button", name="Reset").click()
    expect_address(page, "/batching", view="lecture", part="compare")
    expect(slider(page, "Slots")).to_have_value("3")
    expect_step(page, 0)
    expect_playing(page, False)

    bar.get_by_role("button", name="Leave").click()
    expect_address(page, "/batching", part="compare")
    expect(page.locator("[data-testid=stSidebar]")).to_be_visible()
    act_link(page, "shapes").click()
    expect_address(page, "/batching", part="shapes")
    page.go_back()
    page.go_back()
    expect_address(page, "/batching", view="lecture", part="compare")
    expect(bar).to_be_visible()


def test_paper_shows_text_and_figure_without_sidebar_and_controls(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="compare")
    for place in ("[data-testid=stSidebar]", ".st-key-controls", ".st-key-acts", ".st-key-onward"):
        expect(page.locator(place)).to_be_visible()
    page.emulate_media(media="print")
    for place in ("[data-testid=stSidebar]", ".st-key-controls", ".st-key-acts", ".st-key-onward"):
        expect(page.locator(place)).to_be_hidden()
    expect(page.locator(f"{PLAYER} .stage canvas")).to_be_visible()
    expect(page.locator(RESULT)).to_be_visible()


def test_a_phone_shows_the_introduction_then_the_figure_then_the_rest(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="compare")
    boxes = ".st-key-intro", ".st-key-figure", RESULT
    intro, figure, rest = [page.locator(box).bounding_box() for box in boxes]
    assert figure["x"] > intro["x"] + intro["width"] - 1
    assert figure["y"] < rest["y"]
    helpers.resize(page, *PHONE)
    stacked = [page.locator(box).bounding_box() for box in boxes]
    for upper, lower in pairwise(stacked):
        assert upper["y"] + upper["height"] <= lower["y"] + 1
    assert all(box["width"] <= PHONE[0] for box in stacked)
