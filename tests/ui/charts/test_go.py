"""Figures as plain dictionaries say what Plotly's own objects say."""

import base64
import json

import numpy as np
import plotly.graph_objects as theirs
import plotly.io
import pytest

from ui import charts
from ui.charts import go


def draw(kind, figure):
    """The same calls on either: nested names, axes by number, lines across, a trace changed."""
    figure.update_layout(paper_bgcolor="red", margin_r=9, yaxis2={"domain": [0, 0.4]})
    figure.add_trace(kind.Bar(x=np.array([1, 300]), y=["a", "b"], marker_line_width=2, text=None))
    figure.add_trace(kind.Scatter(x=np.array([0.5]), y=[1.0], line={"color": "blue"}))
    figure.data[1].update(line_width=3, selected_marker_opacity=1)
    figure.layout.xaxis = {"title": {"text": "s"}}
    figure.update_yaxes(showgrid=False)
    figure.update_traces(opacity=0.5, selector={"type": "bar"})
    figure.add_annotation(text="here", x=1, y=2, font_size=14)
    return figure


def test_a_figure_says_what_plotlys_own_says():
    figure = draw(theirs, theirs.Figure()).update_layout(template=None)
    ours = draw(go, go.Figure())
    said = json.loads(plotly.io.to_json(go.Checked(ours).to_dict(), validate=False))
    expected = json.loads(figure.to_json())
    expected["layout"].pop("template", None)
    said["layout"].pop("shapes")
    assert said == expected


def test_whole_numbers_and_fractions_go_as_bytes_and_words_as_they_are():
    figure = go.Figure().add_trace(go.Bar(x=np.array([1, 40_000]), y=np.array(["a", "b"])))
    (bar,) = figure.to_dict()["data"]
    assert bar["x"]["dtype"] == "i4"
    assert np.frombuffer(base64.b64decode(bar["x"]["bdata"]), "i4").tolist() == [1, 40_000]
    assert bar["y"] == ["a", "b"]


def test_a_part_that_nobody_filled_is_not_sent():
    figure = charts.plain(200)
    assert figure.layout.legend.orientation is None
    assert "legend" not in figure.to_dict()["layout"]


def test_a_word_that_plotly_does_not_know_fails_in_the_tests():
    with pytest.raises(ValueError, match="colour"):
        go.Figure().add_trace(go.Bar(x=[1], colour="red")).to_dict()
