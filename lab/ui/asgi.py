"""The dashboard as an ASGI app: Streamlit's own routes, and ours."""

from pathlib import Path

from starlette.middleware import Middleware
from streamlit.starlette import App

from lab.ui.access import OwnFiles, OwnNames, base
from lab.ui.routes import OneStep, below

app = App(
    Path(__file__).resolve().parents[2] / "app.py",
    routes=below(base()),
    middleware=[Middleware(OwnNames), Middleware(OneStep), Middleware(OwnFiles)],
)
