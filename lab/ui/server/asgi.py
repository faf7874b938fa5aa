"""The dashboard as an ASGI app: Streamlit's own routes, and ours."""

from pathlib import Path

from starlette.middleware import Middleware
from streamlit.starlette import App

from lab.ui.server.routes import OneStep, routes_below
from lab.ui.session.access import OwnFiles, OwnNames, base

app = App(
    Path(__file__).resolve().parents[3] / "app.py",
    routes=routes_below(base()),
    middleware=[Middleware(OwnNames), Middleware(OneStep), Middleware(OwnFiles)],
)
