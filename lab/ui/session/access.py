"""Access: the names that readers come by, the password, and the browser that started a run.

Served to this machine alone, everything is open, and only names of its loopback are answered. Beyond it,
training and files of one's own are closed unless $LECTERN_PASSWORD is set; then whoever types it has them for
as long as the page is open.
"""

import hmac
import ipaddress
import os
import re
import secrets
import socket
import time
from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlsplit

import filelock
import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config, runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from datamodules import sheet
from lab.experiments import runs_folder
from lab.proxy import NAMES, PROXY_ADDRESS, base_path

SERVED = "Lectern is served beyond this machine: training and files of one's own are closed"
SLOW = 0.5  # seconds that a wrong password takes, one after the other for all readers

# The browser keeps the secret that it is known by, and tells it; without storage it lasts as the page does.
REMEMBER = """
export default function ({data, setStateValue}) {
  let key = data.offer;
  try {
    key = localStorage.getItem("lectern-browser") || key;
    localStorage.setItem("lectern-browser", key);
  } catch {}
  if (!data.known.includes(key)) setStateValue("key", key);
}
"""
mount = st.components.v2.component("lectern_browser", html="<span></span>", js=REMEMBER)


HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")


def address() -> str:
    """The address at which the dashboard listens; behind a proxy (`lab app --processes`) that of the
    proxy."""
    return os.environ.get(PROXY_ADDRESS) or config.get_option("server.address") or ""


def base() -> str:
    """The path that the dashboard is served below, "/lab" (`--server.baseUrlPath`); "" is none."""
    return base_path(config.get_option("server.baseUrlPath") or "")


def is_public() -> bool:
    """True if the dashboard is served to other machines: its address is none of this machine alone, or it was
    told a name by which others come (through a proxy)."""
    return not is_loopback(address().strip("[]")) or bool(host_names())


def is_loopback(name: str) -> bool:
    """True if it is a name or an address of this machine that no other one reaches."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


# --- The names --------------------------------------------------------------------------------------
#
# Any site may let its own name lead to this machine once its page is open (DNS rebinding); to the browser
# that page then is one of ours. What tells them apart is the name: the dashboard is not served by it.


def host_names() -> set[str]:
    """The names of `lab app --host` and `--browser.serverAddress`."""
    names = [*os.environ.get(NAMES, "").split(","), config.get_option("browser.serverAddress") or ""]
    return {name.lower() for name in names if name and not is_loopback(name)}


def host_name(host: str) -> str | None:
    """The name or address in a Host header, without brackets and port; None where it is no such header."""
    if not HOST.fullmatch(host):
        return None
    return (urlsplit(f"//{host}").hostname or "").removesuffix(".")


def is_own_host(host: str) -> bool:
    """True if this dashboard is served by that Host: to this machine alone by names of its loopback, and
    beyond by its addresses, its own name, and what it was told."""
    name = host_name(host)
    if name is None or is_loopback(name):
        return name is not None
    if name in host_names():
        return True
    bound = address().strip("[]").lower()
    if is_loopback(bound):
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        own = socket.gethostname().lower()
        return name in {bound, own, own.partition(".")[0], f"{own.partition('.')[0]}.local"}
    return True  # nobody can let an address lead to another machine


def is_own_page(headers: Mapping[str, str]) -> bool:
    """True if a page of this dashboard asks, or no page of any site."""
    hosts = [headers.get("host", ""), *forwarded_hosts(headers)]
    return "origin" not in headers or urlsplit(headers["origin"]).netloc in hosts


def forwarded_hosts(headers: Mapping[str, str]) -> list[str]:
    """The hosts that proxies say they were asked for, the first one's first."""
    return [host.strip() for host in headers.get("x-forwarded-host", "").split(",") if host.strip()]


class OwnNames:
    """Middleware: answers pages and WebSockets by the names that are ours, and no other site's scripts."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        strange = next(
            (h for h in (headers.get("host", ""), *forwarded_hosts(headers)) if not is_own_host(h)), None
        )
        if strange is None and (scope["type"] == "http" or is_own_page(headers)):
            return await self.app(scope, receive, send)
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": 1008})  # policy violation
        await PlainTextResponse(refusal(strange or ""), 403)(scope, receive, send)


def refusal(host: str) -> str:
    name = host_name(host)
    if name is None:
        return "This dashboard answers nobody who does not say by which name it was asked."
    return f"This dashboard is not served as {name}; `lab app --host {name}` serves it by that name too."


# --- The password -----------------------------------------------------------------------------------


def password() -> str:
    """$LECTERN_PASSWORD; "" where there is none."""
    return os.environ.get("LECTERN_PASSWORD", "")


def is_unlocked() -> bool:
    """True if the password was typed on this page. The session holds it, as no message can forge it."""
    return bool(password()) and st.session_state.get("lectern_unlocked") == password()


def is_closed() -> bool:
    """True if training and own files are closed to this reader."""
    return is_public() and not is_unlocked()


_unlocked: set[str] = set()  # the sessions of this process that have typed the password


def session_id() -> str:
    """Streamlit's name of this run's session."""
    context = get_script_run_ctx()
    return context.session_id if context is not None else ""


MOST_FILES, MOST_BYTES = 20, 3 * sheet.MOST_BYTES  # that a session may have brought
_coming: Counter[str] = Counter()  # bytes that sessions are sending just now


def uploaded_sizes(session: str) -> list[int]:
    """The bytes of each file that a session has brought and the server still holds."""
    if not runtime.exists():
        return []
    held = getattr(runtime.get_instance().uploaded_file_mgr, "file_storage", {}).get(session, {})
    return [len(file.data) for file in list(held.values())]


def upload_refusal(session: str, more: int = sheet.MOST_BYTES) -> str:
    """Say why a session may bring no further file of so many bytes; "" where it may."""
    held = uploaded_sizes(session)
    if len(held) < MOST_FILES and sum(held) + _coming[session] + more <= MOST_BYTES:
        return ""
    return (
        f"This tab has brought {len(held)} files of {sum(held) / 1e6:.0f} MB: it may bring no more than "
        f"{MOST_FILES}, and {MOST_BYTES / 1e6:.0f} MB together. Reload the page, and they are forgotten."
    )


class OwnFiles:
    """Middleware: files are taken from a session as far as there is room for it; beyond this machine, only
    from one that has typed the password.

    Streamlit's own address for uploads takes them from every session, whether or not a page asks.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        _, upload, rest = scope.get("path", "").partition("/_stcore/upload_file/")
        if not upload or scope.get("method") not in ("PUT", "POST"):
            return await self.app(scope, receive, send)
        session = rest.split("/")[0]
        length = Headers(scope=scope).get("content-length", "")
        size = int(length) if length.isdecimal() and len(length) < 16 else None
        status, why = 413, ""
        if is_public() and session not in _unlocked:
            status, why = 403, "Files of one's own are closed here."
        elif size is None:
            status, why = 411, "Say by Content-Length how long the file is."
        else:
            why = upload_refusal(session, size)
        if why or size is None:
            return await PlainTextResponse(why, status)(scope, receive, send)
        _coming[session] += size
        try:
            await self.app(scope, receive, send)
        finally:
            _coming[session] -= size
            if _coming[session] <= 0:
                del _coming[session]


def start_message() -> str:
    """The sentence on this at the start of the dashboard, "" where it is open to this machine alone."""
    if not is_public():
        return ""
    return f"{SERVED} to those without the password." if password() else f"{SERVED} (set LECTERN_PASSWORD)."


def ask_password(why: str) -> None:
    """A field for the password; once it is right, it is gone."""
    if not password() or is_unlocked():
        return

    def entered() -> None:
        given = st.session_state.pop("lectern_password", "") or ""
        if hmac.compare_digest(given.encode(), password().encode()):
            st.session_state["lectern_unlocked"] = password()
            _unlocked.add(session_id())
            return
        runs_folder().mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(runs_folder() / ".guessing.lock"):  # in all processes that serve
            time.sleep(SLOW)
        st.session_state["_wrong"] = True

    st.text_input(
        "Password", type="password", key="lectern_password", on_change=entered, help=why, autocomplete="off"
    )
    if st.session_state.pop("_wrong", False):
        st.warning("That is not the password.", icon=":material/lock:")


def gate() -> None:
    """End the page here if training is closed to this reader; the password opens it."""
    if not is_closed():
        return
    how = "the password opens it" if password() else "whoever serves this may set a password that opens it"
    st.warning(f"Training is closed beyond the machine that serves this; {how}.", icon=":material/lock:")
    ask_password("Set by whoever serves this, as LECTERN_PASSWORD.")
    st.stop()


def browser_keys() -> list[str]:
    """The secrets that this browser is known by: the one that it keeps, and one of this very page."""
    known: list[str] = st.session_state.setdefault("lectern_keys", [secrets.token_urlsafe(24)])

    def keep_key() -> None:
        key = st.session_state["lectern_browser"]["key"]
        if isinstance(key, str) and 20 <= len(key) <= 100 and key not in known:
            known[1:] = [key]

    mount(key="lectern_browser", data={"offer": known[0], "known": known}, on_key_change=keep_key)
    return known
