"""A Streamlit server and a Chromium for as long as a benchmark needs them."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 30
CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def serving(script: str) -> Iterator[str]:
    """Run a page or the app; the address at which it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {
        "server.port": port,
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "logger.level": "error",
    }
    flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", script, *flags],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    )
    try:
        _wait_until_healthy(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _wait_until_healthy(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            urlopen(f"http://127.0.0.1:{port}/_stcore/health").close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit(f"the page did not start within {START_SECONDS} seconds")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser from PATH, else the one that playwright has downloaded."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM)
        yield browser
        browser.close()
