"""What a reader can carry off from a run: its link, its command, its log, its numbers."""

from collections.abc import Callable, Mapping
from urllib.parse import quote, urlencode, urlsplit

import streamlit as st

from sim.engine import Setup
from ui.results import downloads, engine_log, runs, serve_command
from ui.words.language import tr

NOT_OF_A_STATE = ("lang", "view", "step")  # the link opens in the language of whoever opens it


def show(setup: Setup, memory_utilization: float | None, query: Mapping[str, str]) -> None:
    """An expander; drawn closed."""
    label = tr("带走这次运行", "Take this run along")
    with st.expander(label, icon=":material/ios_share:", key="take-along"):
        with st.container(horizontal=True, gap="small"):
            _button(
                tr("每个请求一行（CSV）", "A row per request (CSV)"),
                lambda: downloads.requests_csv(runs.run(setup)),
                "requests.csv",
                "text/csv",
            )
            _button(
                tr("设置与指标（JSON）", "Settings and metrics (JSON)"),
                lambda: downloads.results_json(runs.run(setup), runs.summary(setup)),
                "run.json",
                "application/json",
            )
        st.markdown(tr("这次运行的链接：", "A link to this run:"))
        st.code(address(query), language=None, wrap_lines=True)
        _command(serve_command.of(setup, memory_utilization))
        st.markdown(
            tr(
                "vLLM 的日志每 10 秒一行，这次运行中会是：",
                "vLLM logs a line every 10 seconds; in this run it would say:",
            )
        )
        st.code("\n".join(engine_log.lines(runs.run(setup))), language=None, wrap_lines=True)


def address(query: Mapping[str, str]) -> str:
    """The address of this page with its state, for readers of either language."""
    kept = {key: value for key, value in query.items() if key not in NOT_OF_A_STATE}
    here = urlsplit(st.context.url or "")
    asked = urlencode(kept, quote_via=quote)
    return here._replace(query=asked, fragment="").geturl()


def _button(label: str, data: Callable[[], bytes], name: str, kind: str) -> None:
    """The file is made when it is asked for."""
    st.download_button(label, data, name, kind, key=f"download-{name}", on_click="ignore")


def _command(command: serve_command.Command) -> None:
    st.markdown(tr("对应的 vLLM 命令：", "The matching vLLM command:"))
    if command.text:
        st.code(command.text, language=None, wrap_lines=True)  # coloured, it is too pale
    for note in command.notes:
        st.caption(note)
