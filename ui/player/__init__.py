"""The step player: from frames to a picture that is played, step by step, in the browser.

encoding   what may go into a player, and how it travels
component  drawing it, and where the reader stands
painters/  the kinds of pictures it can show
"""

from ui.player.component import (
    component,
    is_over,
    join_modules,
    rewind,
    show,
    stands,
    take_up,
    visit_from,
    visits,
)
from ui.player.encoding import (
    MAX_BYTES,
    MAX_STEPS,
    Frames,
    FramesError,
    changes,
    check,
    check_length,
    encode,
    packed,
    pick,
    weight,
)

__all__ = [
    "MAX_BYTES",
    "MAX_STEPS",
    "Frames",
    "FramesError",
    "changes",
    "check",
    "check_length",
    "component",
    "encode",
    "is_over",
    "join_modules",
    "packed",
    "pick",
    "rewind",
    "show",
    "stands",
    "take_up",
    "visit_from",
    "visits",
    "weight",
]
