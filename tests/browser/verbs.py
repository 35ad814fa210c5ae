"""What a reader does and sees on every page: links, languages, cards, the player."""

from playwright.sync_api import Locator, Page, expect

PLAYER = ".player"
CARDS = ".st-key-cards"
RESULT = ".st-key-rest"


def act_link(page: Page, code: str) -> Locator:
    return page.locator(f'.st-key-acts a[href*="part={code}"]')


def chapter_link(page: Page, name: str) -> Locator:
    return page.locator(f'.st-key-chapter-list a[href^="{name}"]')


def choose_language(page: Page, words: str) -> None:
    page.get_by_role("radio", name=words, exact=True).click()


def values(page: Page) -> list[str]:
    """The numbers on the cards."""
    return page.locator(f"{CARDS} [data-testid=stMetricValue]").all_inner_texts()


def player(page: Page, number: int = 0) -> Locator:
    return page.locator(PLAYER).nth(number)


def button(page: Page, act: str) -> Locator:
    """Of the first player."""
    return player(page).locator(f'[data-act="{act}"]')


def note(page: Page, number: int = 0) -> Locator:
    return player(page, number).locator(".note")


def data(page: Page, name: str, number: int = 0) -> float:
    """What a player says of itself: its step, the moment of its clock, ..."""
    return float(player(page, number).get_attribute(f"data-{name}") or "nan")


def step_of(page: Page) -> int:
    return int(player(page).get_attribute("data-step") or 0)


def last_step(page: Page) -> int:
    return int(player(page).get_attribute("data-steps") or 0) - 1


def expect_playing(page: Page, playing: bool) -> None:
    expect(player(page)).to_have_attribute("data-playing", str(playing).lower())


def scrub(page: Page, share: float) -> None:
    """Move the scrubber to a share of its way."""
    box = player(page).locator(".scrub").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
