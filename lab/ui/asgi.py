"""The dashboard as an ASGI app: Streamlit's own routes, and ours."""

from pathlib import Path

from starlette.middleware import Middleware
from streamlit.starlette import App

from lab.ui.access import OwnFiles
from lab.ui.routes import ROUTES, OneStep

app = App(
    Path(__file__).resolve().parents[2] / "app.py",
    routes=ROUTES,
    middleware=[Middleware(OneStep), Middleware(OwnFiles)],
)
