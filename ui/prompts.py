"""The texts of chapter 8, in tokens: who says what to the server.

They are bilingual by nature, so that the same link gives the same run in either language.
"""

import json
from functools import cache
from pathlib import Path

from sim.prompts import Prompt, Tokens, as_requests
from sim.request import Request
from ui import tiny_model

FILE = Path(__file__).resolve().parent.parent / "assets" / "prompts.json"


@cache
def conversation(name: str) -> tuple[Prompt, ...]:
    """The prompts of one scene with their answers: all begin with its shared text, and in a chat
    each repeats everything said before."""
    scene = json.loads(FILE.read_text("utf-8"))[name]
    shared = _tokens(scene["shared"])
    prompts: list[Prompt] = []
    for turn in scene["turns"]:
        before = prompts[-1].spoken if scene["is_chat"] and prompts else shared
        prompts.append(Prompt(before + _tokens(turn["ask"]), _tokens(turn["answer"])))
    return tuple(prompts)


@cache
def requests(name: str, gap_seconds: float) -> tuple[Request, ...]:
    """The same scene as traffic, one request every `gap_seconds`."""
    return as_requests(conversation(name), gap_seconds)


def _tokens(text: str) -> Tokens:
    return tuple(tiny_model.encoder().encode(text))
