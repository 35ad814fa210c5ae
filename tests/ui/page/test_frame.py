"""What surrounds every page: chapter list, language switch, the way into the lecture view."""

from tests.ui.visits import BATCHING, SIMULATOR, address, data_of, go, links, opened
from ui.course import chapters


def query(app, page):
    """The query of the chapter list's link to a page."""
    return next(found for target, _, found in links(app.sidebar) if target == page)


def switch(app, language):
    app.sidebar.button_group[0].set_value(language).run()
    assert not app.exception
    return app


def test_the_chapter_list_names_home_and_the_chapters_that_exist_in_order():
    app = opened(BATCHING)
    pages = [page for page, *_ in links(app.sidebar)][: 1 + len(chapters.in_order())]
    assert pages == ["", *[chapter.path for chapter in chapters.in_order()]]


def test_the_chapter_list_leads_back_to_a_page_as_it_was_left():
    app = opened(BATCHING, part="sandbox", slots=9)
    app.switch_page(SIMULATOR)
    go(app)
    assert set(query(app, "batching").split("&")) == {"part=sandbox", "slots=9"}


def test_the_language_switch_changes_words_and_address_and_nothing_else():
    app = opened(BATCHING, part="sandbox", slots=9, lang="zh")
    before = data_of(app, "step_player")
    switch(app, "English")
    after = data_of(app, "step_player")
    assert address(app) == {"part": "sandbox", "slots": "9", "lang": "en"}
    assert app.slider[0].label == "Slots"
    assert app.slider[0].value == 9
    assert (before["id"], before["start"]) == (after["id"], after["start"])
    assert data_of(app, "html_language") == {"code": "en"}


def test_every_link_of_the_frame_carries_the_chosen_language():
    app = switch(opened(lang="zh"), "English")
    assert all("lang=en" in found for _, _, found in links(app))


def test_the_lecture_link_keeps_the_act_and_its_values():
    app = opened(BATCHING, part="compare", width=5)
    into = [found for _, _, found in links(app) if "view=lecture" in found]
    assert [set(found.split("&")) for found in into] == [
        {"part=compare", "width=5", "view=lecture"}
    ]
