"""Fast hands and slow networks: no move is lost, none is undone."""

from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser import helpers
from tests.browser.helpers import QUIET_MS, expect_address, expect_step, nudge, slider
from tests.browser.verbs import act_link, button


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


def test_what_has_been_shown_can_be_shown_again_while_the_line_is_slow(new_page):
    """The server refers to what the browser said it has; the browser must still have it."""
    page = new_page("en")
    line = SlowLine()
    page.route_web_socket("**/_stcore/stream", line.connect)
    helpers.visit(page, "/batching", part="sandbox", slots=1)
    nudge(page, "Slots")  # the frames of one slot are not used for a run
    expect_address(page, "/batching", part="sandbox", slots=2)
    helpers.settle(page)
    line.hold()
    for key, told in (("ArrowRight", b"slots=3"), ("Home", b"slots=1")):
        nudge(page, "Slots", key)
        line.wait_for(page, lambda told=told: any(told in message for message in line.held))
    page.wait_for_timeout(QUIET_MS)  # the rest of that run
    line.release()
    expect_address(page, "/batching", part="sandbox", slots=1)
    helpers.settle(page)
    expect(slider(page, "Slots")).to_have_value("1")


def test_a_connection_that_streamlit_gives_up_for_good_begins_anew_where_it_was(new_page):
    """As after a "Cached ForwardMsg MISS", whatever the cause: it has no way back of its own."""
    page = new_page("en")
    line = SlowLine()
    page.route_web_socket("**/_stcore/stream", line.connect)
    helpers.visit(page, "/batching", part="sandbox")
    nudge(page, "Slots")
    expect_address(page, "/batching", part="sandbox", slots=5)
    button(page, "forward").click()
    expect_step(page, 1)
    expect(page.locator(".st-key-tab-note-page")).to_contain_text('"step":1')  # the server knows
    line.page_side.send(b"\xff")  # no message
    page.wait_for_function(IS_RELOADED)
    expect(page.locator(".player")).to_be_visible()
    expect_step(page, 1)
    expect_address(page, "/batching", part="sandbox", slots=5)
    page.watch.seen.clear()


IS_RELOADED = "performance.getEntriesByType('navigation')[0].type === 'reload'"


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
