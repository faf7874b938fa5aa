"""Who may do what: the password, and the browser that started a run.

Served to this machine alone, everything is open. Beyond it, training and files of one's own are closed
unless $LECTERN_PASSWORD is set; then whoever types it has them for as long as the page is open.
"""

import hmac
import ipaddress
import os
import secrets
import time

import filelock
import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lab.experiments import runs_folder
from lab.hall import DOOR

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


def beyond() -> bool:
    """Whether the dashboard is served to other machines: its address is none of this machine alone.

    Behind a door (`lab app --processes`) what counts is where the door listens.
    """
    address = os.environ.get(DOOR) or config.get_option("server.address") or ""
    try:
        return not ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return address != "localhost"


def password() -> str:
    """$LECTERN_PASSWORD; "" where there is none."""
    return os.environ.get("LECTERN_PASSWORD", "")


def unlocked() -> bool:
    """Whether the password was typed on this page. The session holds it, as no message can forge it."""
    return bool(password()) and st.session_state.get("lectern_unlocked") == password()


def closed() -> bool:
    """Whether training and own files are closed to this reader."""
    return beyond() and not unlocked()


_unlocked: set[str] = set()  # the sessions of this process that have typed the password


def session() -> str:
    """What Streamlit calls the session of this run."""
    context = get_script_run_ctx()
    return context.session_id if context is not None else ""


class OwnFiles:
    """Middleware: beyond this machine, files are taken only from sessions that have typed the password.

    Streamlit's own address for uploads takes them from every session, whether or not a page asks.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        _, upload, rest = scope.get("path", "").partition("/_stcore/upload_file/")
        if (
            upload
            and scope.get("method") in ("PUT", "POST")
            and beyond()
            and rest.split("/")[0] not in _unlocked
        ):
            await PlainTextResponse("Files of one's own are closed here.", 403)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def at_start() -> str:
    """What the start of the dashboard says of this, "" where it is open to this machine alone."""
    if not beyond():
        return ""
    return f"{SERVED} to those without the password." if password() else f"{SERVED} (set LECTERN_PASSWORD)."


def ask(why: str) -> None:
    """A field for the password; once it is right, it is gone."""
    if not password() or unlocked():
        return

    def entered() -> None:
        given = st.session_state.pop("lectern_password", "") or ""
        if hmac.compare_digest(given.encode(), password().encode()):
            st.session_state["lectern_unlocked"] = password()
            _unlocked.add(session())
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
    if not closed():
        return
    how = "the password opens it" if password() else "whoever serves this may set a password that opens it"
    st.warning(f"Training is closed beyond the machine that serves this; {how}.", icon=":material/lock:")
    ask("Set by whoever serves this, as LECTERN_PASSWORD.")
    st.stop()


def keys() -> list[str]:
    """The secrets that this browser is known by: the one that it keeps, and one of this very page."""
    known: list[str] = st.session_state.setdefault("lectern_keys", [secrets.token_urlsafe(24)])

    def told() -> None:
        key = st.session_state["lectern_browser"]["key"]
        if isinstance(key, str) and 20 <= len(key) <= 100 and key not in known:
            known[1:] = [key]

    mount(key="lectern_browser", data={"offer": known[0], "known": known}, on_key_change=told)
    return known
