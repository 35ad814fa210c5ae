"""What `settings.env` says, read and checked; what the environment says wins."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("settings.env")
MAX_PROCESSES = 64


class SettingsError(ValueError):
    """A line of the settings that cannot be."""


@dataclass(frozen=True)
class Settings:
    """Ports are of this machine; certificate and key are files, or empty."""

    port: int
    name: str
    processes: int
    first_port: int
    upload_mb: int
    secret: str
    certificate: str
    certificate_key: str

    @property
    def ports(self) -> range:
        """Of the processes."""
        return range(self.first_port, self.first_port + self.processes)

    @property
    def address(self) -> str:
        scheme, usual = ("https", 443) if self.certificate else ("http", 80)
        host = "localhost" if self.name == "_" else self.name
        return f"{scheme}://{host}" + (f":{self.port}" if self.port != usual else "")


def read(file: Path = FILE, environment: Mapping[str, str] = os.environ) -> Settings:
    """Raises SettingsError with the line that is wrong."""
    said = _lines(file)
    said |= {key: value for key, value in environment.items() if key in said}
    settings = Settings(
        port=_whole(said, "HALL_PORT", 65_535),
        name=said["HALL_NAME"],
        processes=_whole(said, "PROCESSES", MAX_PROCESSES),
        first_port=_whole(said, "FIRST_PORT", 65_535 - MAX_PROCESSES),
        upload_mb=_whole(said, "UPLOAD_MB", 1_000),
        secret=said["STREAMLIT_SERVER_COOKIE_SECRET"] or secrets.token_hex(32),
        certificate=said["CERTIFICATE"],
        certificate_key=said["CERTIFICATE_KEY"],
    )
    if settings.port in settings.ports:
        raise SettingsError(f"HALL_PORT={settings.port} is also the port of a process")
    if bool(settings.certificate) != bool(settings.certificate_key):
        raise SettingsError("CERTIFICATE and CERTIFICATE_KEY go together")
    return settings


def _lines(file: Path) -> dict[str, str]:
    lines = file.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}


def _whole(said: Mapping[str, str], key: str, highest: int) -> int:
    value = said.get(key, "")
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= highest):
        raise SettingsError(f"{key}={value} is no whole number from 1 to {highest}")
    return int(value)
