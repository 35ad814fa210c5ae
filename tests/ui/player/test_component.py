"""What of a player travels when: its code once a session, its frames whenever they change."""

from tests.ui.visits import opened

LINKED = "pages/09_chunked_prefill.py"


def components_of(app):
    return [part.proto for part in app.get("bidi_component")]


def test_two_linked_players_bring_one_code_and_neither_holds_it():
    app = opened(LINKED, part="chunks", lang="en")
    names = [proto.component_name for proto in components_of(app)]
    assert names.count("step_player") == 2
    assert names.count("step_player_code") == 1
    code = {p.component_name: p.js_content for p in components_of(app)}
    assert "PAINTERS" in code["step_player_code"]
    assert len(code["step_player"]) < 2_000
