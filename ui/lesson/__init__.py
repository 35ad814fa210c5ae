"""The lesson frame: everything that is the same on every page."""

from ui.lesson.chapter import Card, Chapter, open
from ui.words.language import tr

__all__ = ["Card", "Chapter", "open", "tr"]
