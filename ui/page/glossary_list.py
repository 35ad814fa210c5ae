"""The whole glossary: each term under the chapter that first marks it."""

from ui.course import glossary
from ui.course.glossary import Term
from ui.page import look_up
from ui.page.look_up import Entry
from ui.words.language import current, tr


def show(large: bool = False) -> None:
    example = tr("例如：块、TTFT、prefix", "For example: block, TTFT, 前缀")
    look_up.show("glossary", entries(), example, large)


def entries() -> list[Entry]:
    return [Entry(term.chapter, _text(term), _searched(term)) for term in glossary.terms().values()]


def _text(term: Term) -> str:
    """Its name here, its name in the other language, what it means."""
    here, other = term.name(current()), term.name("en" if current() == "zh" else "zh")
    names = f"**{here}**" if here == other else f"**{here}** · {other}"
    return f"{names}  \n{term.definition(current())}"


def _searched(term: Term) -> str:
    return " ".join((term.zh, term.en, term.definition_zh, term.definition_en))
