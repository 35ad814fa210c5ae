"""All sources of numbers from elsewhere: each under the chapter that first quotes it."""

from ui.course.sources import Source, sources
from ui.page import look_up
from ui.page.look_up import Entry
from ui.words import notes
from ui.words.language import tr


def show(large: bool = False) -> None:
    example = tr("例如：PagedAttention、H100、延迟", "For example: PagedAttention, H100, graph")
    look_up.show("sources", entries(), example, large)


def entries() -> list[Entry]:
    return [Entry(one.chapters[0], _text(one), _searched(one)) for one in sources().values()]


def _text(source: Source) -> str:
    """Its title as a link, the numbers that are quoted, what a reader should know of them."""
    numbers = [source.value_words()] if source.quoted else []
    title = f"[{notes.as_typed(source.title)}]({source.address})"
    return "  \n".join([title, *numbers, *source.details()])


def _searched(source: Source) -> str:
    return " ".join(vars(source).values())
