"""Plotly's graph objects as plain dictionaries: what a figure is made of, in Plotly's words.

Plotly's own check each word as it is set, which was more than half of the server's time in a rerun;
ours are checked by the tests, which hand every figure they meet to Plotly (`tests/conftest.py`).
Used as there: `figure.add_trace(go.Bar(...))`, `figure.update_layout(margin_r=8)`,
`figure.layout.xaxis.range`.
"""

import base64
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from plotly.basedatatypes import BaseFigure

# Parts that are there, empty, before somebody fills them; axes may end in a number.
WITHIN = {"title", "font", "tickfont", "textfont", "margin", "legend", "marker", "line"}
WITHIN |= {"xaxis", "yaxis", "selected", "unselected"}
TYPED = ("int8", "int16", "int32")  # whole numbers that the browser takes as bytes


class Entries(dict[str, Any]):
    """A dictionary whose entries can be named like attributes.  None stands for nothing set."""

    def __init__(self, **given: Any):
        super().__init__()
        self.update(given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.get(name)
        if value is None and name.rstrip("0123456789") in WITHIN:
            value = self[name] = Entries()
        return tuple(value) if isinstance(value, list) else value

    def __setattr__(self, name: str, value: Any) -> None:
        self.pop(name, None)
        self.update({name: value})

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, Entries(**value) if type(value) is dict else value)

    def update(self, given: Any = (), /, **more: Any) -> "Entries":  # type: ignore[override]
        """Set what is given, also in depth: `line_width=2` is `line={"width": 2}`."""
        for name, value in {**dict(given), **more}.items():
            outer, _, inner = name.partition("_")
            if inner and outer in WITHIN:  # else a name that has a “_” of its own
                self.update({outer: Entries(**{inner: value})})
            elif value is None:
                self.pop(name, None)
            elif isinstance(value, dict) and isinstance(self.get(name), Entries):
                self[name].update(value)
            else:
                self[name] = value
        return self


class Scatter(Entries):
    def __init__(self, **given: Any):
        super().__init__(type="scatter", **given)


class Bar(Entries):
    def __init__(self, **given: Any):
        super().__init__(type="bar", **given)


class Heatmap(Entries):
    def __init__(self, **given: Any):
        super().__init__(type="heatmap", **given)


class Figure:
    """Traces and their layout."""

    def __init__(self, layout: dict[str, Any] | None = None):
        self.data: Sequence[Entries] = []
        self.layout = Entries(**(layout or {}), annotations=[], shapes=[])

    def to_dict(self) -> dict[str, Any]:
        """As it goes to the browser."""
        return {"data": [_plain(trace) for trace in self.data], "layout": _plain(self.layout)}

    def add_trace(self, trace: Entries) -> "Figure":
        return self.add_traces([trace])

    def add_traces(self, traces: Sequence[Entries]) -> "Figure":
        self.data = [*self.data, *traces]
        return self

    def add_annotation(self, **given: Any) -> "Figure":
        return self._add("annotations", given)

    def add_shape(self, **given: Any) -> "Figure":
        return self._add("shapes", given)

    def add_vline(self, x: float, **given: Any) -> "Figure":
        return self.add_shape(type="line", x0=x, x1=x, y0=0, y1=1, yref="y domain", **given)

    def add_hline(self, y: float, **given: Any) -> "Figure":
        return self.add_shape(type="line", y0=y, y1=y, x0=0, x1=1, xref="x domain", **given)

    def add_vrect(self, **given: Any) -> "Figure":
        return self.add_shape(type="rect", y0=0, y1=1, yref="y domain", **given)

    def add_hrect(self, **given: Any) -> "Figure":
        return self.add_shape(type="rect", x0=0, x1=1, xref="x domain", **given)

    def update_layout(self, given: Any = (), /, **more: Any) -> "Figure":
        self.layout.update(given, **more)
        return self

    def update_traces(self, selector: dict[str, Any] | None = None, **given: Any) -> "Figure":
        for trace in self.data:
            if not selector or selector.items() <= trace.items():
                trace.update(given)
        return self

    def update_xaxes(self, **given: Any) -> "Figure":
        return self._update_axes("xaxis", given)

    def update_yaxes(self, **given: Any) -> "Figure":
        return self._update_axes("yaxis", given)

    def select_yaxes(self) -> Iterator[Entries]:
        return self._axes("yaxis")

    def _add(self, kind: str, given: dict[str, Any]) -> "Figure":
        self.layout[kind].append(Entries(**given))
        return self

    def _update_axes(self, kind: str, given: dict[str, Any]) -> "Figure":
        for axis in self._axes(kind):
            axis.update(given)
        return self

    def _axes(self, kind: str) -> Iterator[Entries]:
        getattr(self.layout, kind)  # the first one is always there
        return (axis for name, axis in list(self.layout.items()) if name.startswith(kind))


class Checked(BaseFigure):
    """One of Plotly's own figures by name, so that nobody checks it again on its way."""

    def __init__(self, figure: Figure):  # `BaseFigure`'s would build all that ours does without
        self._figure = figure

    def to_dict(self) -> dict[str, Any]:
        return self._figure.to_dict()


def _plain(value: Any) -> Any:
    """Without parts that stayed empty, and arrays as bytes."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items() if not _is_empty(one)}
    if isinstance(value, np.ndarray):
        return _typed(value)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _is_empty(value: Any) -> bool:
    return isinstance(value, Entries) and not value


def _typed(values: np.ndarray) -> Any:
    """An array of numbers in the form in which the browser reads it fastest."""
    if values.dtype.kind in "iu" and values.size:
        low, high = values.min(), values.max()
        fits = (kind for kind in TYPED if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
        values = values.astype(next(fits, "float64"))
    if values.dtype.kind not in "if" or not values.size:
        return values.tolist()
    typed = {"dtype": values.dtype.str[1:], "bdata": base64.b64encode(values.tobytes()).decode()}
    return typed | ({"shape": ", ".join(map(str, values.shape))} if values.ndim > 1 else {})
