"""The dashboard as an ASGI app: Streamlit's own routes, and ours."""

from pathlib import Path

from streamlit.starlette import App

from lab.ui.routes import ROUTES

app = App(Path(__file__).resolve().parents[2] / "app.py", routes=ROUTES)
