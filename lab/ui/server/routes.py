"""Routes of the server besides Streamlit's: Plotly.js out of its package, what the menu's search looks
through, our own modules, short links, lectures that are followed, and addresses with steps in them."""

from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from lab.ui.browser.components import JS, PLOTLY
from lab.ui.navigation import search
from lab.ui.server import follow, short_links
from lab.ui.session import access

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


class OneStep:
    """Middleware: a page's address has one step. Under a deeper one Streamlit answers with a page whose files
    are not there, and the reader sees nothing: /flow/log_det leads to /flow-log-det instead."""

    TAKEN = ("_stcore", "app", "component", "media", "static", "lectern", "l", "f")  # Streamlit's, and ROUTES

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if not path.startswith(f"{access.base()}/"):  # below it Streamlit serves nothing either
            return await self.app(scope, receive, send)
        steps = [step for step in path.removeprefix(access.base()).split("/") if step]
        if len(steps) < 2 or steps[0] in self.TAKEN or scope.get("method") != "GET":
            return await self.app(scope, receive, send)
        asked = Request(scope)
        if "text/html" not in asked.headers.get("accept", ""):  # Streamlit looks for files below a page
            return await self.app(scope, receive, send)
        to = asked.url.replace(path=f"{access.base()}/{'-'.join(steps).replace('_', '-')}")
        await RedirectResponse(f"{to.path}?{to.query}".rstrip("?"))(scope, receive, send)


ROUTES: list[Route | Mount] = [
    Route(f"/{PLOTLY}", plotly),
    Route("/lectern/search.json", search_json),
    Mount("/lectern/js", Modules(directory=JS)),
    *short_links.ROUTES,
    *follow.ROUTES,
]


def routes_below(base: str) -> list[BaseRoute]:
    """ROUTES where the dashboard is served below a path, "/lab"."""
    return [
        Mount(base + route.path, route.app)
        if isinstance(route, Mount)
        else Route(base + route.path, route.endpoint, methods=list(route.methods or ()))
        for route in ROUTES
    ]
