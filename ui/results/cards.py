"""Cards: the numbers of a result, in one row."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True)
class Card:
    """One number of a result, with its unit in the text; `note` is a second, smaller line."""

    label: str
    value: str
    note: str = ""


def draw(cards: Sequence[Card]) -> None:
    with st.container(horizontal=True, gap="small", key="cards"):
        for card in cards:
            st.metric(
                card.label, card.value, card.note or None, delta_color="off", delta_arrow="off"
            )
