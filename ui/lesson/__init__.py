"""The lesson frame: everything that is the same on every page.

A page opens its chapter, registers its acts, and shows it:

    chapter = lesson.open(__file__)

    @chapter.act("hook", tr("引子", "A riddle"))
    def hook() -> None:
        chapter.say("hook")                                   # prose, in the column of text
        slots = chapter.slide("slots", tr(...), 1, 16, 3)     # controls, above the figure
        chapter.play(frames, "grid")                          # the figure, staying in view

    chapter.show()

One act is on the page at a time (`part=` in the URL).  In the lecture view (`view=lecture`) only
the figure, its controls and the note of the step are there, large, on one screen.

lesson     `open`, acts, `show`; put together of
saying       its text
choosing     its controls
showing      its figures; what follows a slider stands in `following`
stage        what all of these share; `places` says where on the page
acts       the ways between acts
explain    how it is computed, what it leaves out, what real engines call it
quoting    what another chapter says, with its own settings
proof      "Prove it": a claim, checked on the reader's own text
"""

from ui.lesson.lesson import Lesson, open
from ui.lesson.quoting import quote
from ui.results.cards import Card
from ui.words.language import tr

__all__ = ["Card", "Lesson", "open", "quote", "tr"]
