"""Students follow a lecturer's scenes: which one is on stands in a file that all processes share.

The speaker's window makes up a secret and says with it where the stage is (`POST /lectern/follow`). Students
know the lecture by a name that is a hash of the secret (`GET /f/<name>` leads them in), so nobody who knows
the name can turn the scenes, and several lectures at once know nothing of each other.

A student's page asks `GET /lectern/follow/<name>` every two seconds, as long as it can be seen. While nothing
has changed the answer is a 304 without a body, after one look at the date of a file: no connection stays
open, no thread waits, and two hundred students ask a hundred times a second.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from lab.experiments import runs_folder
from lab.ui.server import short_links

MOST = 1000  # lectures that are kept: the oldest go first, and come back with their next scene
LECTURES = short_links.RateLimit(60, 3600.0)  # new ones of a network in an hour; those that are on go on
SECRET = re.compile(r"[\w-]{32,64}", re.ASCII)  # 192 bits or more
NAME = re.compile(r"[a-z2-7]{16}")  # 80 bits of its hash: nobody finds another secret with the same
GONE = "There is no such lecture here, or it was let go of."


def folder() -> Path:
    return runs_folder() / ".lectures"


def name_of(secret: str) -> str:
    """The public name of a secret, which students know."""
    return base64.b32encode(hashlib.sha256(secret.encode()).digest())[:16].decode().lower()


def turn(secret: str, link: str, may: Callable[[], bool] = lambda: True) -> str:
    """The lecture of this secret is now at `link`; returns its name.

    Args:
        may: whether a new lecture may begin now.

    Raises:
        ForeignLink: the secret is too short, the link no page of this dashboard, or the lecture one too many.
    """
    if not SECRET.fullmatch(secret):
        raise short_links.ForeignLink("The secret of a lecture has 32 to 64 letters.")
    name, link = name_of(secret), short_links.check_link(link)
    new = not (folder() / name).exists()
    if new and not may():
        raise short_links.ForeignLink(
            "So many lectures began in your network that the next one has to wait a while.", 429
        )
    short_links.write_link(folder() / name, link)
    if new:
        short_links.delete_oldest(folder(), MOST)
    return name


def scene(name: str) -> tuple[str, str] | None:
    """The link at which the lecture is, and a word that is another one after each turn; None where there is
    no lecture.

    The link is judged again: the file may be anybody's."""
    if (word := stamp(name)) is None:
        return None
    try:
        with open(folder() / name, encoding="ascii") as file:
            return short_links.check_link(file.read(short_links.LONGEST + 1)), word
    except (OSError, ValueError):
        return None


def stamp(name: str) -> str | None:
    """The file's inode and time: each turn makes a new file."""
    if not NAME.fullmatch(name):
        return None
    try:
        file = (folder() / name).stat()
    except OSError:
        return None
    return f'"{file.st_mtime_ns:x}-{file.st_ino:x}"'


# --- The routes ---------------------------------------------------------------------------------------


async def speak(request: Request) -> Response:
    """{"secret", "link"} -> {"id", "address": of the students' link or null, "says": a sentence without}."""
    try:
        result = json.loads(await short_links.read_body(request, short_links.LONGEST + 200))
        may = partial(LECTURES.allows, short_links.client_address(request))
        name = await run_in_threadpool(turn, str(result["secret"]), str(result["link"]), may)
    except short_links.ForeignLink as error:
        return PlainTextResponse(str(error), error.status)
    except (ValueError, TypeError, KeyError, RecursionError):
        return PlainTextResponse("A turn names the secret of a lecture and a link.", 400)
    except OSError:
        return PlainTextResponse("The scene could not be saved: is the disk full?", 507)
    return JSONResponse(
        short_links.address_and_note(request, f"f/{name}") | {"id": name}, headers=short_links.FRESH
    )


async def listen(request: Request) -> Response:
    """The link at which the lecture is, {"link"}; 304 where the student knows."""
    name = request.path_params["name"]
    known = request.headers.get("if-none-match", "").removeprefix("W/")  # a proxy that packs has added it
    if (word := await run_in_threadpool(stamp, name)) is not None and word == known:
        return Response(status_code=304, headers={"ETag": word})
    if (now := await run_in_threadpool(scene, name)) is None:
        return PlainTextResponse(GONE, 404, short_links.FRESH)
    return JSONResponse({"link": now[0]}, headers={"ETag": now[1], "Cache-Control": "no-cache"})


async def join(request: Request) -> Response:
    """To where the lecture is now, as one who follows."""
    name = request.path_params["name"]
    if (now := await run_in_threadpool(scene, name)) is None:
        return PlainTextResponse(GONE, 404)
    return RedirectResponse(f"..{now[0]}{'&' if '?' in now[0] else '?'}follow={name}", 302, short_links.FRESH)


async def qr_code(request: Request) -> Response:
    name = request.path_params["name"]
    result = await run_in_threadpool(scene, name)
    return (
        short_links.NO_CODE
        if result is None
        else await run_in_threadpool(short_links.draw_qr_code, request, f"f/{name}")
    )


ROUTES = [
    Route("/lectern/follow", speak, methods=["POST"]),
    Route("/lectern/follow/{name}.svg", qr_code),
    Route("/lectern/follow/{name}", listen),
    Route("/f/{name}", join),
]
