"""One of several at a time, with ways to the next and to the one before."""

import streamlit as st


def standing(name: str, num_all: int) -> int:
    """Which of them is shown, from 0."""
    return int(min(st.session_state.get(f"_turn_{name}", 0), max(num_all - 1, 0)))


def go(name: str, to: int) -> None:
    st.session_state[f"_turn_{name}"] = to


def all_standing() -> dict[str, int]:
    """Name -> which one is shown, for all that were turned in this session."""
    names = (str(name) for name in st.session_state if str(name).startswith("_turn_"))
    return {name.removeprefix("_turn_"): st.session_state[name] for name in names}


def buttons(name: str, num_all: int, back: str, onward: str) -> None:
    """The two ways, under these words."""
    at = standing(name, num_all)
    with st.container(horizontal=True, gap="small", key=f"turns-{name}", width="content"):
        for way, label, to in (("back", back, at - 1), ("onward", onward, at + 1)):
            st.button(
                label,
                key=f"turn-{name}-{way}",
                disabled=not 0 <= to < num_all,
                on_click=go,
                args=(name, to),
            )
