"""A hall on this machine, in the foreground: several processes of the course, nginx before them.

    python -m deploy.hall          what `make hall` runs; Ctrl+C ends it
    kill -HUP <its id>             restart the processes one after another, as for a new version

A process that dies is started again, and again after a growing pause if it does not last.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from deploy import nginx, settings
from deploy.settings import Settings, SettingsError

ROOT = Path(__file__).resolve().parent.parent
LOOK_SECONDS = 0.1
PAUSE_SECONDS, LONGEST_PAUSE = 0.2, 30.0  # before a dead process is started again
LASTING_SECONDS = 20.0  # after so long its death is a new one
START_SECONDS, STOP_SECONDS = 60.0, 10.0
NO_NGINX = """\
There is no nginx on this machine.  On Debian and Ubuntu, as root:  apt-get install nginx-light
Without it, one process alone:  make run"""
MAIN = """\
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log warn;
worker_processes auto;
events {{ worker_connections 4096; }}
http {{
    include {types};
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/hall.conf;
}}
"""
TYPES = Path("/etc/nginx/mime.types")


class Process:
    """One process of the course, kept alive."""

    def __init__(self, port: int, secret: str, log: Path):
        self.port, self.log = port, log
        self.environment = os.environ | {"STREAMLIT_SERVER_COOKIE_SECRET": secret}
        self.pause = PAUSE_SECONDS
        self.start()

    def start(self) -> None:
        self.started = time.monotonic()
        options = {"headless": "true", "address": "127.0.0.1", "fileWatcherType": "none"}
        options["port"] = str(self.port)
        given = [word for key, value in options.items() for word in (f"--server.{key}", value)]
        with self.log.open("a") as log:
            self.running = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", "serve.py", *given],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        print(f"{self.port} is {self.running.pid}", flush=True)

    def look_after(self) -> None:
        """Start it again if it has died and its pause is over."""
        if self.running.poll() is None:
            return
        lasted = time.monotonic() - self.started
        if lasted > LASTING_SECONDS:
            self.pause = PAUSE_SECONDS
        if lasted > self.pause:
            self.pause = min(2 * self.pause, LONGEST_PAUSE)
            print(f"{self.port} has died; it is started again", flush=True)
            self.start()

    def stop(self) -> None:
        self.running.terminate()
        try:
            self.running.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait()

    def wait_until_healthy(self) -> bool:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_stcore/health", timeout=2)
            except (urllib.error.URLError, OSError):
                time.sleep(LOOK_SECONDS)
            else:
                return True
        return False


class Hall:
    """All processes, and nginx.  What they write lies in `folder`."""

    def __init__(self, hall: Settings, folder: Path):
        self.settings, self.folder = hall, folder
        self.is_over = threading.Event()
        self.is_to_roll = threading.Event()

    def run(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.is_over.set())
        signal.signal(signal.SIGHUP, lambda *_: self.is_to_roll.set())
        front = self._nginx()
        self.processes = [
            Process(port, self.settings.secret, self.folder / f"{port}.log")
            for port in self.settings.ports
        ]
        try:
            for process in self.processes:
                if not process.wait_until_healthy():
                    sys.exit(f"The process at {process.port} did not start: {process.log}")
            print(f"{len(self.processes)} processes, logs in {self.folder}")
            print(f"The course: {self.settings.address}  (stop it with Ctrl+C)", flush=True)
            while not self.is_over.wait(LOOK_SECONDS):
                if front.poll() is not None:
                    sys.exit(f"nginx has ended: {self.folder / 'nginx.log'}")
                for process in self.processes:
                    process.look_after()
                if self.is_to_roll.is_set():
                    self.is_to_roll.clear()
                    self._roll()
        finally:
            for process in self.processes:
                process.running.terminate()
            for process in self.processes:
                process.stop()
            front.terminate()
            front.wait()

    def _roll(self) -> None:
        for process in self.processes:
            process.stop()
            process.start()
            if not process.wait_until_healthy():
                print(
                    f"The process at {process.port} did not come back; the rest stays", flush=True
                )
                return
        print("All processes are new", flush=True)

    def _nginx(self) -> "subprocess.Popen[bytes]":
        program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if program is None:
            sys.exit(NO_NGINX)
        conf = nginx.configuration(self.settings, nginx.lay_out(self.folder))
        (self.folder / "hall.conf").write_text(conf, encoding="utf-8")
        main = self.folder / "nginx.conf"
        types = TYPES if TYPES.exists() else Path("mime.types")
        main.write_text(MAIN.format(folder=self.folder, types=types), encoding="utf-8")
        command = [program, "-p", str(self.folder), "-c", str(main)]
        test = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
        if test.returncode != 0:
            sys.exit(f"nginx refuses its configuration:\n{test.stderr}")
        return subprocess.Popen(command)


def main() -> None:
    try:
        hall = settings.read()
    except SettingsError as error:
        sys.exit(f"deploy/settings.env: {error}")
    with tempfile.TemporaryDirectory(prefix="hall-") as folder:
        os.chmod(folder, 0o755)  # nginx's workers read from it as another user
        Hall(hall, Path(folder)).run()


if __name__ == "__main__":
    main()
