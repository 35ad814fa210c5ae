"""The one style: sizes, colours, axes, titles, legends, for every figure."""

import re
from typing import Literal

from ui import theme
from ui.charts import go

Dash = Literal["solid", "dash", "dot", "dashdot"]
TEXT_PX, LARGE_TEXT_PX = 14, 18
GRID = "rgba(128,128,128,0.25)"
GROUND = "rgba(128,128,128,0.1)"
AXIS = "rgba(128,128,128,0.7)"
NEUTRAL = "#808080"  # 3:1 on both backgrounds, and no meaning of its own
TRANSPARENT = "rgba(0,0,0,0)"
ZERO_WIDTH = "\u200b"  # tells names apart that look the same
KEY_GAP = "   "  # between a title and the names of curves that follow it
ROOM_PX, LARGE_ROOM_PX = 310, 780  # beside the axis, on a phone and on a small projector
WIDTHS = {  # in em, of the widest sans-serif that a reader may have; what is not here is square
    " ijlI',.": 0.32,
    ':;|f-–()[]t!r"': 0.56,
    "/\\szJ?cL_Fkvxy*TY`aoePESbdghnpqu": 0.63,
    "$0123456789{}KAVBRXZC": 0.7,
    "UHNDG&OQw": 0.82,
    "#+<=>^~M": 0.86,
}
EMS = {letter: width for letters, width in WIDTHS.items() for letter in letters}
BOLD = 1.1  # times as wide
TAG = re.compile(r"<(?!br>)[^>]*>")  # in a text, all but a new line
REMARK = re.compile(r" \(|（|(?<=[;；])")  # where a long title may be broken
LINE = 1.3  # of text, in em, with the air below it
OUTSIDE_PX = 70  # of a figure's height that is not plot: top margin, axis, axis title
PATTERNS = {  # names in ui.theme -> Plotly's
    "solid": "",
    "none": "",
    "outline": "",
    "diagonal": "/",
    "cross": "x",
    "dots": ".",
    "horizontal": "-",
    "vertical": "|",
    "backslash": "\\",
    "grid": "+",
    "dashes": "-",
    "checks": "x",
}


def text_px(large: bool) -> int:
    """The size of all text in a figure."""
    return LARGE_TEXT_PX if large else TEXT_PX


def plain(height: int, large: bool = False) -> go.Figure:
    """An empty figure in our style."""
    size = text_px(large)
    layout = {  # set at once: an update takes four times as long
        "height": height,
        "paper_bgcolor": TRANSPARENT,
        "plot_bgcolor": TRANSPARENT,
        "font": {"size": size},
        "margin": {"l": 8, "r": 16, "t": round(size * 2.0), "b": 8, "autoexpand": True},
        "showlegend": False,
        "dragmode": False,
        "hoverlabel": {"font": {"size": size}},
        "uirevision": "kept",
    }
    return go.Figure(layout=layout)


def style_axes(
    figure: go.Figure,
    x_title: str,
    y_title: str,
    large: bool,
    log_x: bool = False,
    log_y: bool = False,
) -> None:
    size = text_px(large)
    figure.layout.xaxis = {
        "title": {"text": _in_lines(x_title, size), "font": {"size": size}, "standoff": 8},
        "tickfont": {"size": size},
        "type": "log" if log_x else None,
        "showgrid": False,
        "zeroline": False,
        "showline": True,
        "linecolor": AXIS,
        "ticks": "outside",
        "tickcolor": AXIS,
        "automargin": True,
        "fixedrange": True,
        "exponentformat": "none",
        "separatethousands": True,
        "nticks": 6 if large else 8,
    }
    figure.layout.yaxis = {**y_axis(large), "type": "log" if log_y else None}
    if y_title:
        write_above(figure, y_title, 1, size)


def y_axis(large: bool) -> dict[str, object]:
    return {
        "tickfont": {"size": text_px(large)},
        "showgrid": True,
        "gridcolor": GRID,
        "zeroline": False,
        "automargin": True,
        "fixedrange": True,
        "exponentformat": "none",
        "separatethousands": True,
        "nticks": 6,
        "title": {"text": ""},
    }


def write_above(figure: go.Figure, text: str, y: float, size: int) -> None:
    """A title at the upper left of a plot: horizontal, so that Chinese and English can be read.

    The names of curves that follow a long title get a line of their own.
    """
    figure.add_annotation(
        text=_in_lines(text, size),
        x=0,
        y=y,
        xref="paper",
        yref="paper",
        xanchor="left",
        yanchor="bottom",
        yshift=1,
        showarrow=False,
        align="left",
        font_size=size,
    )
    if y == 1:
        figure.layout.margin.t = max(figure.layout.margin.t, round(title_px(text, size) + size / 2))


def title_px(text: str, size: int) -> float:
    """How high a title is."""
    return LINE * size * (1 + _in_lines(text, size).count("<br>"))


def _in_lines(text: str, size: int) -> str:
    """One line, or two if it might not fit: broken before the names of curves, else at a remark."""
    room = LARGE_ROOM_PX if size == LARGE_TEXT_PX else ROOM_PX
    if text_width(text, size) <= room:
        return text
    gap, remark = text.find(KEY_GAP), REMARK.search(text)
    if gap >= 0:
        return text[:gap] + "<br>" + text[gap + len(KEY_GAP) :]
    return text[: remark.start()] + "<br>" + text[remark.start() :].lstrip() if remark else text


def name_above(figure: go.Figure, large: bool) -> None:
    """A legend in one row above the plot."""
    figure.update_layout(showlegend=True, legend=legend(large))


def name_in_corner(figure: go.Figure, large: bool, x: int, y: int) -> None:
    """A legend inside the plot, for traces that have no end to be named at, or ends that touch.

    `x` and `y`, 0 or 1, say in which corner.
    """
    corner = {**legend(large), "orientation": "v", "x": 0.02 + 0.96 * x, "y": 0.02 + 0.96 * y}
    corner |= {"xanchor": ("left", "right")[x], "yanchor": ("bottom", "top")[y]}
    figure.update_layout(showlegend=True, legend=corner)


def legend(large: bool) -> dict[str, object]:
    return {
        "orientation": "h",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "font": {"size": text_px(large)},
        "itemclick": False,
        "itemdoubleclick": False,
        "title": {"text": ""},
    }


def colour(name: str | int) -> str:
    """A key of ui.theme, a number in its palette, or a hex colour as it is."""
    if isinstance(name, int):
        return theme.SERIES[name % len(theme.SERIES)]
    return theme.MEANINGS[name].colour if name in theme.MEANINGS else name


def fill(name: str | int) -> str:
    """What a bar is filled with.  Where a meaning is an outline, nothing is there: as in a player,
    a pale ground with an edge."""
    return GROUND if _is_outline(name) else colour(name)


def edge(name: str | int) -> dict[str, object]:
    """The line around a bar."""
    return {"width": int(_is_outline(name)), "color": colour(name)}


def _is_outline(name: str | int) -> bool:
    return name in theme.MEANINGS and theme.MEANINGS[name].pattern in ("outline", "none")


def faint(hue: str) -> str:
    """A hex colour as the fill below its curve."""
    red, green, blue = (int(hue[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.22)"


def text_width(text: str, size: int) -> float:
    """How many px a line of text takes at most, whatever font the reader has."""
    seen = TAG.sub("", text).replace(ZERO_WIDTH, "")
    return size * (BOLD if "<b>" in text else 1) * sum(EMS.get(letter, 1.0) for letter in seen)
