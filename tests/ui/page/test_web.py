"""What the web server adds around the course, asked as a browser would ask it."""

import asyncio
import gzip

import pytest
from prometheus_client import generate_latest
from starlette.responses import PlainTextResponse
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.testing.v1 import AppTest

from ui.page import web

SCRIPT = next((web.STATIC / "static/js").glob("index.*.js"))


async def inner(scope, receive, send):
    await PlainTextResponse("from Streamlit")(scope, receive, send)


def ask(app, path, encoding="gzip, br"):
    """Headers and body of the answer."""
    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"accept-encoding", encoding.encode())]
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers}
    asyncio.run(app(scope, None, send))
    return {name.decode(): value.decode() for name, value in sent[0]["headers"]}, sent[1]["body"]


def test_a_script_comes_compressed_and_stays_in_the_browsers_cache():
    headers, body = ask(web.ScriptsCompressed(inner), f"/static/js/{SCRIPT.name}")
    assert gzip.decompress(body) == SCRIPT.read_bytes()
    assert len(body) < 0.4 * SCRIPT.stat().st_size
    assert headers["content-encoding"] == "gzip"
    assert "immutable" in headers["cache-control"]
    assert "javascript" in headers["content-type"]


@pytest.mark.parametrize(
    ("path", "encoding"),
    [
        (f"/static/js/{SCRIPT.name}", "identity"),
        ("/static/js/no-such-file.js", "gzip"),
        ("/static/../../runtime/secrets.py", "gzip"),
        ("/static/js/../../../web/cli.js", "gzip"),
        ("/", "gzip"),
    ],
)
def test_everything_else_is_left_to_streamlit(path, encoding):
    assert ask(web.ScriptsCompressed(inner), path, encoding)[1] == b"from Streamlit"


def test_browsers_are_told_what_a_page_may_do(monkeypatch):
    monkeypatch.setenv("COURSE_FRAME_ANCESTORS", "https://slides.example")
    headers, _ = ask(web.SafeHeaders(inner), "/")
    policy = headers["content-security-policy"].split("; ")
    assert "default-src 'self'" in policy
    assert "frame-ancestors https://slides.example" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_who_is_connected_and_how_long_each_waits_is_counted():
    asks, ends = BackMsg(), ForwardMsg()
    asks.rerun_script.page_name = "batching"
    ends.script_finished = ForwardMsg.ScriptFinishedStatus.FINISHED_SUCCESSFULLY
    told = iter([b"\xff not a message", asks.SerializeToString()])
    during = []

    async def receive():
        return {"type": "websocket.receive", "bytes": next(told)}

    async def session(scope, receive, send):
        await receive()
        await receive()
        await send({"type": "websocket.send", "bytes": ends.SerializeToString()})
        await send({"type": "websocket.send", "bytes": ends.SerializeToString()})
        during.append(web.SESSIONS._value.get())

    async def send(message):
        pass

    before, answered = web.SESSIONS._value.get(), _answered()
    asyncio.run(web.ReadersCounted(session)({"type": "websocket"}, receive, send))
    assert (during, web.SESSIONS._value.get()) == ([before + 1], before)
    assert _answered() == answered + 1


def _answered():
    lines = generate_latest(web.REGISTRY).decode().splitlines()
    return float(next(line for line in lines if "seconds_count" in line).split()[1])


def test_a_page_that_fails_says_so_in_both_languages_with_a_way_back(monkeypatch):
    monkeypatch.setattr(web.st, "page_link", _as_text)  # this script has no pages beside it
    page = AppTest.from_function(_failed).run()
    assert not page.exception
    assert page.text[0].value == "app.py: 回到首页 · Back home"
    assert all(words in page.error[0].value for words in ("这一页出错了", "This page has failed"))


def _as_text(page, label):
    web.st.text(f"{page}: {label}")


def _failed():
    from ui.page import web

    assert web.apologize(ValueError("not for readers"))
