"""The course for a class: `streamlit run serve.py` is `app.py` behind what a web server adds.

Compressed scripts, headers that browsers heed, an error page in both languages, and two addresses
for whoever runs it: `/healthz` and `/metrics` (Prometheus).  `streamlit run app.py` is the same
course without these.
"""

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from ui.page import web

app = st.App(
    "app.py",
    routes=[Route("/healthz", web.healthz), Route("/metrics", web.metrics)],
    middleware=[
        Middleware(web.ReadersCounted),
        Middleware(web.SafeHeaders),
        Middleware(web.ScriptsCompressed),
    ],
    on_script_error=web.apologize,
)
