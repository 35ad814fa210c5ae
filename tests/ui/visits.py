"""Verbs for tests of the frame under AppTest: open a page at an address, read what stands there."""

import json
from functools import partial
from typing import Any
from unittest import mock

from streamlit.testing.v1 import AppTest, local_script_runner

from tests.chapters import ROOT

BATCHING = "pages/05_batching.py"
SIMULATOR = "pages/04_simulator.py"
WORKBENCH = "pages/17_workbench.py"


def opened(file: str = "app.py", **query: object) -> AppTest:
    """A first visit by a link."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    if file != "app.py":
        app.run()
        app.switch_page(file)
    return go(app, **query)


def go(app: AppTest, **query: object) -> AppTest:
    """The same reader at another address: Back, Forward, or a link."""
    app.query_params = {key: str(value) for key, value in query.items()}
    app.run()
    assert not app.exception, app.exception
    return app


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception, app.exception
    return app


def drag(app: AppTest, control: str, place: float, number: int = 1) -> AppTest:
    """A hand is at a place of a slider: what follows it runs, and is all that stands there then."""
    (component,) = [
        part.proto
        for part in app.get("bidi_component")
        if part.proto.component_name == "live_slider"
    ]
    followed = app.session_state["_live"].sliders
    (widget,) = [widget for widget, (key, _) in followed.items() if key == control]
    hand = {"number": number, "widget": widget, "place": place, "held": True}
    states = app._tree.get_widget_states()
    states.widgets.add(id=component.id, json_value=json.dumps({"hand": hand}))
    fragments = list(app._fragment_storage._fragments)
    fragment_run = partial(local_script_runner.RerunData, fragment_id_queue=fragments)
    with mock.patch.object(local_script_runner, "RerunData", fragment_run):
        app._run(states)
    assert not app.exception, app.exception
    return app


def address(app: AppTest) -> dict[str, str]:
    """Parameters as the browser has them; AppTest gives a value as text or in a list."""
    given: dict[str, Any] = dict(app.query_params)
    return {key: value if isinstance(value, str) else value[-1] for key, value in given.items()}


def links(place: Any) -> list[tuple[str, str, str]]:
    """Page, label and query of every link of the app, its `main` or its `sidebar`, in order."""
    protos = [link.proto for link in place.get("page_link")]
    return [(link.page, link.label, link.query_string) for link in protos]


def data_of(app: AppTest, component: str) -> dict[str, Any]:
    """What a component of ours was sent last."""
    protos = [part.proto for part in app.get("bidi_component")]
    return next(json.loads(proto.json) for proto in protos if proto.component_name == component)


def text_of(app: AppTest) -> str:
    return "\n".join(str(part.value) for part in app.main.get("markdown"))  # type: ignore[union-attr]
