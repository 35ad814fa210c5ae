"""Who can be asked for the controls of an act: a chapter, or whoever stands in for one.

Knobs that several chapters share are asked for here, so they need not know the lesson frame.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Chooser(Protocol):
    """Further keyword arguments are those of `ui.lesson`: `group`, `unit`, `help`, `live` ..."""

    def slide(
        self, key: str, label: str, low: float, high: float, start: float, **more: Any
    ) -> Any: ...

    def pick(
        self, key: str, label: str, values: Sequence[float], start: float, **more: Any
    ) -> Any: ...

    def number(self, key: str, label: str, low: int, high: int, start: int, **more: Any) -> int: ...

    def toggle(self, key: str, label: str, start: bool = False, **more: Any) -> bool: ...

    def choose(
        self,
        key: str,
        label: str,
        options: Mapping[str, str] | Sequence[object],
        start: str,
        **more: Any,
    ) -> str: ...

    def front(self, *keys: str, live: Sequence[str] = ()) -> None: ...
