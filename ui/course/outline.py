"""What a chapter's script says of its acts, read without running it."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ui.course.chapters import Chapter

SELF_CHECK = "check"  # the code of the act with the questions


@dataclass(frozen=True)
class Heading:
    """An act: its code in the address, its name in both languages, whether it is one for later."""

    code: str
    zh: str
    en: str
    deeper: bool


def of(chapter: Chapter) -> tuple[Heading, ...]:
    """All acts of a chapter, in order."""
    return _read(chapter.script, chapter.script.stat().st_mtime_ns)


def main_line(chapter: Chapter) -> tuple[Heading, ...]:
    """Those that tell its story: none that goes deeper, and not the self-check."""
    return tuple(act for act in of(chapter) if not act.deeper and act.code != SELF_CHECK)


@cache
def _read(script: Path, modified: int) -> tuple[Heading, ...]:
    tree = ast.parse(script.read_text(encoding="utf-8"))
    marks = [
        mark
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        for mark in function.decorator_list
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "chapter.act"
    ]
    return tuple(_heading(mark) for mark in marks)


def _heading(mark: ast.Call) -> Heading:
    """`@chapter.act("code", tr("zh", "en"), deeper=True)`."""
    code, name = mark.args
    zh, en = ast.literal_eval(ast.Tuple(name.args)) if isinstance(name, ast.Call) else ("", "")
    more = {word.arg: ast.literal_eval(word.value) for word in mark.keywords}
    return Heading(ast.literal_eval(code), zh, en, bool(more.get("deeper", False)))
