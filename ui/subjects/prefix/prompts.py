"""The texts of chapter 8, in tokens: who says what to the server.

They are bilingual by nature, so that the same link gives the same run in either language.
"""

import json
from functools import cache, lru_cache

from sim.request import Request
from sim.workload.prompts import Prompt, Tokens, as_requests
from ui import tiny_model
from ui.files import ASSETS
from ui.words.language import tr

KEPT = 256  # texts, shared by all readers
FILE = ASSETS / "prompts.json"


def scene_names() -> dict[str, str]:
    return {
        "document": tr("文档", "Docs"),
        "system": tr("系统提示", "System"),
        "shots": tr("示例", "Examples"),
        "chat": tr("对话", "Chat"),
    }


def edit_names() -> dict[str, str]:
    """What is done to the short prompt of the hash chain; the last is the reader's own."""
    return {
        "same": tr("原样", "The same"),
        "append": tr("末尾加一句", "Append a sentence"),
        "word": tr("改一个词", "Change one word"),
        "time": tr("开头加时间", "Put the time first"),
        "time_last": tr("时间放末尾", "Put the time last"),
        "own": tr("自己写", "Write my own"),
    }


@cache
def conversation(name: str) -> tuple[Prompt, ...]:
    """The prompts of one scene with their answers: all begin with its shared text, and in a chat
    each repeats everything said before."""
    scene = json.loads(FILE.read_text("utf-8"))[name]
    shared = tokens(scene["shared"])
    prompts: list[Prompt] = []
    for turn in scene["turns"]:
        before = prompts[-1].spoken if scene["is_chat"] and prompts else shared
        prompts.append(Prompt(before + tokens(turn["ask"]), tokens(turn["answer"])))
    return tuple(prompts)


def excerpt(name: str) -> tuple[str, str]:
    """How the second prompt of a scene begins, and what it asks in the end."""
    scene = json.loads(FILE.read_text("utf-8"))[name]
    begins = scene["shared"] or scene["turns"][0]["ask"]
    return begins.strip().splitlines()[0], " ".join(scene["turns"][1]["ask"].split())


@cache
def edited(edit: str) -> str:
    """The short prompt of the hash chain after an edit of it."""
    return str(json.loads(FILE.read_text("utf-8"))["edits"][edit])


def typed(text: str) -> Tokens:
    """A reader's own words, as far as `chapter.write` lets them go."""
    return tokens(text)[: tiny_model.MAX_TOKENS]


@cache
def requests(name: str, gap_seconds: float) -> tuple[Request, ...]:
    """The same scene as traffic, one request every `gap_seconds`."""
    return as_requests(conversation(name), gap_seconds)


@lru_cache(maxsize=KEPT)
def tokens(text: str) -> Tokens:
    return tuple(tiny_model.encoder().encode(text))
