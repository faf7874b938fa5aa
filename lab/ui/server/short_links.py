"""Short links: a page with its state under eight letters, kept in a folder that all processes share.

`POST /lectern/short` takes a path with its query, of a page of this dashboard and of nothing else;
`GET /l/<id>` leads there, and `GET /lectern/qr/<id>.svg` draws the address that other machines reach.
"""

import base64
import hashlib
import os
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import segno
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from lab.experiments import runs_folder
from lab.ui.navigation.menu import FIRST, MOVED, pages
from lab.ui.session import access

LONGEST = 8192  # bytes of a link
MOST = 10_000  # links that are kept: the oldest go first
NAME = re.compile(r"[a-z2-7]{8}")
FRESH = {"Cache-Control": "no-store"}
ALONE = (
    "This dashboard answers this machine alone: serve it to others with `lab app --server.address 0.0.0.0`."
)


class RateLimit:
    """A bound on what one reader does: at most so many times within so many seconds."""

    READERS = 10_000  # that are remembered: those who came first are forgotten first

    def __init__(self, most: int, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self.times: dict[str, deque[float]] = {}

    def allows(self, reader: str, now: float | None = None) -> bool:
        """True if this once more is within the bound; it counts if so."""
        now = time.monotonic() if now is None else now
        if reader not in self.times and len(self.times) >= self.READERS:
            del self.times[next(iter(self.times))]
        times = self.times.setdefault(reader, deque())
        while times and times[0] <= now - self.seconds:
            times.popleft()
        if len(times) >= self.most:
            return False
        times.append(now)
        return True


# A class sits behind one router, so a reader may be two hundred.
LINKS = RateLimit(600, 600.0)  # new links in ten minutes


def client_address(request: Request) -> str:
    """The address that asks; of a proxy on this machine, the one that the proxy was asked by."""
    client = request.client.host if request.client else ""
    through = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    return through if through and (access.is_loopback(client) or not client) else client


class ForeignLink(ValueError):
    """A link to something else than a page of this dashboard, or not from there; the sentence says why."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status


# --- The folder -------------------------------------------------------------------------------------


def folder() -> Path:
    return runs_folder() / ".links"


def save_link(link: str, may: Callable[[], bool] = lambda: True) -> str:
    """The name of a link, the same for the same link.

    Args:
        may: whether a new one is kept now.

    Raises:
        ForeignLink: it is no page of this dashboard with its query, or one too many.
    """
    link = check_link(link)
    name = base64.b32encode(hashlib.sha256(link.encode()).digest())[:8].decode().lower()
    path = folder() / name
    if path.exists():
        os.utime(path)  # asked for again: it is young
        return name
    if not may():
        raise ForeignLink(
            "So many links were kept from your network that the next one has to wait a while.", 429
        )
    write_link(path, link)
    delete_oldest(path.parent, MOST)
    return name


def find_link(name: str) -> str | None:
    """The link of that name, judged again: the file may be anybody's."""
    if not NAME.fullmatch(name):
        return None
    try:
        with open(folder() / name, encoding="ascii") as file:
            return check_link(file.read(LONGEST + 1))
    except (OSError, ValueError):
        return None


def write_link(path: Path, text: str) -> None:
    """Another process sees all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="ascii")
    os.replace(part, path)


def delete_oldest(folder: Path, most: int) -> None:
    """Let go of the oldest files beyond `most`, and of a tenth more.

    They are counted as they are written, and the folder is looked through when by that count it may be full.
    """
    with _counting:
        left = _left.get(folder, 0) - 1
        if left > 0:
            _left[folder] = left
            return
        kept = sorted((stat.st_mtime_ns, path) for path, stat in files(folder))
        gone = kept[: len(kept) - most + most // 10] if len(kept) > most else []
        for _, path in gone:
            path.unlink(missing_ok=True)
        # others write too: a tenth of the way they are counted again
        _left[folder] = min(most - len(kept) + len(gone), most // 10) + 1


_counting = threading.Lock()
_left: dict[Path, int] = {}  # folder -> how many files may be written there before it is looked through


def files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of a folder that are whole; one may go while they are looked at."""
    for entry in os.scandir(folder):
        if "." not in entry.name:
            with suppress(FileNotFoundError):
                yield Path(entry.path), entry.stat()


def check_link(link: str) -> str:
    """The link, if it names a page of this dashboard: a path without host, and perhaps a query.

    Raises:
        ForeignLink: it does not.
    """
    if len(link) > LONGEST:
        raise ForeignLink(f"A link has at most {LONGEST:,} bytes.")
    # Only what a browser writes into its address line: no spaces, backslashes or ends of lines.
    if not re.fullmatch(r"/[\w-]*(\?[!-\[\]-~]*)?", link, re.ASCII) or "#" in link:
        raise ForeignLink("A short link leads to a page of this dashboard: a path and a query, no more.")
    known = {*FIRST.values(), *MOVED, *(page.url for page in pages())}
    if (page := link[1:].partition("?")[0]) not in known:
        raise ForeignLink(f"This dashboard has no page {page[:60]}.")
    return link


# --- The address --------------------------------------------------------------------------------------


def public_address(request: Request) -> str | None:
    """The address at which other machines reach this dashboard, "http://192.0.2.7:8501"; None if it is served
    to this machine alone."""
    scheme, host = scheme_and_host(request)
    if (name := access.host_name(host)) is None:
        return None
    if not is_local(name):
        return f"{scheme}://{host}{access.base()}"
    if not access.is_public() or (own := network_address()) is None:
        return None
    port = urlsplit(f"//{host}").port
    return f"{scheme}://{own}" + (f":{port}" if port else "") + access.base()


def scheme_and_host(request: Request) -> tuple[str, str]:
    """Scheme and host as the reader's browser has them, through proxies too."""
    headers = request.headers
    scheme = headers.get("x-forwarded-proto", request.url.scheme).split(",")[0].strip().lower()
    host = (access.forwarded_hosts(headers) or [headers.get("host", "")])[0]
    return scheme if scheme in ("http", "https") else "http", host


def is_local(name: str) -> bool:
    """True if this machine alone is reached by it: no other one's code may show it."""
    return access.is_loopback(name) or name.strip("0.:") == ""  # 0.0.0.0 and ::


def network_address() -> str | None:
    """This machine's address in its network; None without a network. Nothing is sent for it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address of nobody: only the way out is looked up
            own = str(probe.getsockname()[0])
        except OSError:
            return None
    return None if is_local(own) else own


# --- The routes ---------------------------------------------------------------------------------------


async def read_body(request: Request, longest: int) -> str:
    """The text that a page of this dashboard posts.

    Raises:
        ForeignLink: another site does, or it is too long, or has letters beyond ASCII.
    """
    if not access.is_own_page(request.headers):
        raise ForeignLink("Only pages of this dashboard keep links here.", 403)
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > longest:
            raise ForeignLink(f"A link has at most {LONGEST:,} bytes.", 413)
    try:
        return body.decode("ascii")
    except UnicodeDecodeError:
        raise ForeignLink("A link has no letters beyond ASCII.") from None


async def shorten(request: Request) -> Response:
    """Keep a link: {"id": …, "address": … or null, "says": a sentence where there is no address}."""
    try:
        link = await read_body(request, LONGEST)
        name = await run_in_threadpool(save_link, link, lambda: LINKS.allows(client_address(request)))
    except ForeignLink as error:
        return PlainTextResponse(str(error), error.status)
    except OSError:
        return PlainTextResponse("The link could not be saved: is the disk full?", 507)
    return JSONResponse(address_and_note(request, f"l/{name}") | {"id": name}, headers=FRESH)


def address_and_note(request: Request, path: str) -> dict[str, str | None]:
    """The address of `path` for other machines, and a sentence where there is none."""
    home = public_address(request)
    return {"address": f"{home}/{path}" if home else None, "says": "" if home else ALONE}


async def redirect(request: Request) -> Response:
    """To the page; the way is relative, so it stays on the host that was asked."""
    link = await run_in_threadpool(find_link, request.path_params["name"])
    if link is None:
        return PlainTextResponse("There is no such short link here, or it was let go of.", 404)
    return RedirectResponse(f"..{link}", 302, FRESH)


async def qr_code(request: Request) -> Response:
    name = request.path_params["name"]
    result = await run_in_threadpool(find_link, name)
    return NO_CODE if result is None else await run_in_threadpool(draw_qr_code, request, f"l/{name}")


NO_CODE = PlainTextResponse("There is no such code here.", 404)


def draw_qr_code(request: Request, path: str) -> Response:
    """A picture of the address of `path` for other machines."""
    if (home := public_address(request)) is None:
        return NO_CODE
    result = segno.make(f"{home}/{path}", error="m", micro=False)
    svg = result.svg_inline(scale=8, border=4, dark="#000", light="#fff", omitsize=True)
    svg = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return Response(svg, media_type="image/svg+xml", headers=FRESH)


ROUTES = [
    Route("/lectern/short", shorten, methods=["POST"]),
    Route("/lectern/qr/{name}.svg", qr_code),
    Route("/l/{name}", redirect),
]
