"""Around the course, on the way between server and browser: what `serve.py` puts together.

Streamlit compresses its answers but not its own scripts, which are most of a first visit; here each
is compressed once.  Nothing that a reader types is counted or logged.
"""

import asyncio
import gzip
import mimetypes
import os
import time
from functools import cache
from pathlib import Path

import prometheus_client
import streamlit as st
from google.protobuf.message import DecodeError
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

STATIC = Path(st.__file__).parent / "static"
TEXTS = {".js", ".css", ".svg"}
A_YEAR = (
    "public, immutable, max-age=31536000"  # the names of these files change with what is in them
)
SHORT_MESSAGE = 200  # bytes; that a run has ended is told in fewer

REGISTRY = CollectorRegistry()
SESSIONS = Gauge("course_sessions", "Browsers that are connected", registry=REGISTRY)
RERUNS = Histogram(
    "course_rerun_seconds",
    "From what a reader did to the end of the page's answer",
    buckets=(0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
    registry=REGISTRY,
)
ERRORS = Counter("course_errors", "Pages that failed", registry=REGISTRY)


async def healthz(request: Request) -> Response:
    """Alive, and not too busy to say so."""
    return PlainTextResponse("ok")


async def metrics(request: Request) -> Response:
    found = prometheus_client.generate_latest(REGISTRY)
    return Response(found, media_type=prometheus_client.CONTENT_TYPE_LATEST)


def apologize(error: Exception) -> bool:
    """In place of a traceback: what happened, in both languages, and a way back."""
    ERRORS.inc()
    st.error(
        "这一页出错了。错误已记在服务器的日志里；您所做的其他内容都还在。  \n"
        "This page has failed. The error is in the server's log; all else you did is still there."
    )
    st.page_link("app.py", label="回到首页 · Back home")
    return True


class SafeHeaders:
    """What the browser may do with a page.

    Streamlit's scripts build functions out of text and styles out of scripts; all else comes from
    here.  Who may show the course in a frame: `COURSE_FRAME_ANCESTORS`, by default anybody, since
    acts stand in slides.
    """

    def __init__(self, app: ASGIApp):
        self.app = app
        ancestors = os.environ.get("COURSE_FRAME_ANCESTORS", "*")
        self.headers = {
            "Content-Security-Policy": "; ".join(
                [
                    "default-src 'self'",
                    "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
                    "style-src 'self' 'unsafe-inline'",
                    "img-src 'self' data: blob:",
                    "font-src 'self' data:",
                    "connect-src 'self' ws: wss: blob: data:",
                    "worker-src 'self' blob:",
                    "object-src 'none'",
                    "base-uri 'self'",
                    f"frame-ancestors {ancestors}",
                ]
            ),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)


class ScriptsCompressed:
    """Streamlit's scripts and styles, each compressed when it is first asked for, and kept."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        file = _static(scope)
        if file is None or "gzip" not in Headers(scope=scope).get("accept-encoding", ""):
            await self.app(scope, receive, send)
            return
        body = await asyncio.to_thread(_zipped, file)
        headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding", "Cache-Control": A_YEAR}
        kind = mimetypes.guess_type(file.name)[0]
        await Response(body, headers=headers, media_type=kind)(scope, receive, send)


def _static(scope: Scope) -> Path | None:
    """The file that is asked for, if it is one of those."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    parts = scope["path"].split("/")
    if parts[:2] != ["", "static"] or ".." in parts or Path(parts[-1]).suffix not in TEXTS:
        return None
    file = STATIC.joinpath(*parts[1:])
    return file if file.is_file() else None


@cache
def _zipped(file: Path) -> bytes:
    return gzip.compress(file.read_bytes(), compresslevel=9, mtime=0)


class ReadersCounted:
    """Counts who is connected, and how long each of them waits."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        asked: list[float] = []  # when, of what has no answer yet

        async def receiving() -> Message:
            message = await receive()
            if _asks(message.get("bytes") or b""):
                asked.append(time.perf_counter())
            return message

        async def sending(message: Message) -> None:
            await send(message)
            if asked and _is_end(message.get("bytes") or b""):
                RERUNS.observe(time.perf_counter() - asked[0])
                asked.clear()

        SESSIONS.inc()
        try:
            await self.app(scope, receiving, sending)
        finally:
            SESSIONS.dec()


def _asks(message: bytes) -> bool:
    try:
        return BackMsg.FromString(message).WhichOneof("type") == "rerun_script"
    except DecodeError:  # anybody may send anything
        return False


def _is_end(message: bytes) -> bool:
    if not 0 < len(message) < SHORT_MESSAGE:
        return False
    return ForwardMsg.FromString(message).WhichOneof("type") == "script_finished"
