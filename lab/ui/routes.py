"""What the server answers besides Streamlit: Plotly.js out of its package, what the menu's search looks
through, our own modules, short links, and lectures that are followed."""

from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from lab.ui import follow, search, short
from lab.ui.components import JS, PLOTLY

PLOTLY_JS = Path(str(files("plotly") / "package_data" / "plotly.min.js"))
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}  # the address carries the version


async def plotly(request: Request) -> FileResponse:
    return FileResponse(PLOTLY_JS, media_type="text/javascript", headers=FOREVER)


def search_json(request: Request) -> JSONResponse:
    return JSONResponse(search.index(), headers={"Cache-Control": "no-cache"})


class Modules(StaticFiles):
    """Files that a browser keeps, and asks each time whether they are still the same."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


ROUTES: list[BaseRoute] = [
    Route(f"/{PLOTLY}", plotly),
    Route("/lectern/search.json", search_json),
    Mount("/lectern/js", Modules(directory=JS)),
    *short.ROUTES,
    *follow.ROUTES,
]
