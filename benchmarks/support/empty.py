"""A page with nothing on it: what Streamlit itself takes for a rerun."""

import streamlit as st

st.write("nothing")
