"""The dashboard as an ASGI app: Streamlit's own routes, Plotly.js out of its package, our own modules."""

from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from streamlit.starlette import App

ROOT = Path(__file__).resolve().parents[2]
JS = Path(__file__).parent / "js"
PLOTLY = Path(str(files("plotly") / "package_data" / "plotly.min.js"))
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}  # the address carries the version


async def plotly_js(request: Request) -> FileResponse:
    return FileResponse(PLOTLY, media_type="text/javascript", headers=FOREVER)


app = App(
    ROOT / "app.py",
    routes=[Route("/lectern/plotly.js", plotly_js), Mount("/lectern/js", StaticFiles(directory=JS))],
)
