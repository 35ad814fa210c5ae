"""nginx's configuration for a hall, filled in from the settings.

    python -m deploy.nginx FOLDER > /etc/nginx/conf.d/llm-serving.conf

A reader is sent to the process their cookie names.  While that one is gone, another takes the
reader over and is named from then on; which one, the reader's own number decides, so that the
readers of a dead process spread, and all tabs of one reader go together.

FOLDER gets Streamlit's own files and a compressed twin of each, for nginx to serve by itself.
"""

import gzip
import shutil
import sys
from pathlib import Path
from string import Template

import streamlit

from deploy import settings
from deploy.settings import Settings

HERE = Path(__file__).resolve().parent
TEMPLATE = HERE / "nginx.conf.template"
PROXY = HERE / "proxy.conf"
STATIC = Path(streamlit.__file__).parent / "static" / "static"
COMPRESSED = {".js", ".css", ".json", ".svg"}


def configuration(hall: Settings, static: Path) -> str:
    """What belongs into nginx's `http {}`; `static` is the folder that `lay_out` filled."""
    is_secure = bool(hall.certificate)
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        homes="\n".join(f'    "~^{port}\\." process_{port};' for port in hall.ports),
        servers="\n".join(map(_server, hall.ports)),
        upstreams="\n".join(
            f"upstream process_{port} {{\n{_server(port)}\n}}" for port in hall.ports
        ),
        cookie="Secure; SameSite=None; Partitioned" if is_secure else "SameSite=Lax",
        port=hall.port,
        ssl=" ssl" if is_secure else "",
        name=hall.name,
        certificate=f"    ssl_certificate {hall.certificate};\n"
        f"    ssl_certificate_key {hall.certificate_key};\n"
        if is_secure
        else "",
        upload_mb=hall.upload_mb,
        static=static,
        proxy=PROXY,
    )


def _server(port: int) -> str:
    return f"    server 127.0.0.1:{port} max_fails=1 fail_timeout=2s;"


def lay_out(folder: Path) -> Path:
    """Put Streamlit's files there, each that gains from it with a compressed twin."""
    static = folder.resolve() / "static"
    shutil.copytree(STATIC, static, dirs_exist_ok=True)
    for file in static.rglob("*"):
        twin = file.with_name(f"{file.name}.gz")
        if file.suffix in COMPRESSED and not twin.exists():
            twin.write_bytes(gzip.compress(file.read_bytes(), mtime=0))
    return static


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(configuration(settings.read(), lay_out(Path(sys.argv[1]))))
