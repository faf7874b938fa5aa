"""List the pages that there are: every pages/<family>/<topic>/room.py on disk, and what it declares; the
menu."""

import ast
import html
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lab import lecture
from lab.errors import UserError
from lab.experiments import FAMILIES
from lab.figures.theme import CATEGORIES
from lab.room import Room, address, load
from lab.room import knows as declares
from lab.ui.browser.components import component
from lab.ui.page.blocks import PARSING
from lab.ui.page.stage import show
from lab.ui.rooms.room import prefetch_next

ROOT = Path(__file__).resolve().parents[3]
PAGES = ROOT / "pages"
LINES = dict(zip(FAMILIES, (*CATEGORIES, "#5E7F2E"), strict=True))  # each family's colour, in menu and map
FIRST = {"Home": "", "Teaching with it": "teaching", "Models": "models", "Train": "train"}  # title -> url
HERE = Path(__file__).parent
mount_menu, mount_map = (
    component(name, *((HERE / f"{name}.{part}").read_text(encoding="utf-8") for part in ("html", "css")))
    for name in ("nav", "map")
)

# Views of a page that have become pages: its address -> the view's key, and the page of each view; one that
# is left alone leads to itself.
SPLIT: dict[str, tuple[str, dict[str, str]]] = {
    "convolution-receptive-field": (
        "show", {"Own stack": "convolution-own-stack", "Kernel": "convolution-kernel"}
    ),
    "language-word-vectors": ("view", {"Analogies": "language-analogies"}),
    "latent-latent-space": (
        "view",
        {
            "Plane": "latent-latent-space",
            "Path": "latent-interpolation",
            "Traversal": "latent-traversal",
            "Sums": "latent-arithmetic",
            "ELBO": "latent-bound",
        },
    ),
}  # fmt: skip


def row_as_step(text: Mapping[str, str]) -> dict[str, str]:
    """The FVSBN's rows were named by their bit, "x3"; a film counts them in the order of the bits."""
    order = re.findall(r"\d", text.get("order", "1 2 3 4"))
    bit = text["row"].removeprefix("x")
    return {"step": str(order.index(bit)) if bit in order else text["row"]}


def layer_by_number(text: Mapping[str, str]) -> dict[str, str]:
    """Layers were named "words and places" and "after block 2"; a film counts them."""
    named = re.fullmatch(r"words and places|after block (\d+)", text["layer"])
    return {"layer": named[1] or "0"} if named else {"layer": text["layer"]}


def maps_of_a_layer(text: Mapping[str, str]) -> dict[str, str]:
    """The slider of the maps was called as the film of the noise is."""
    return {"maps" if text.get("show") == "Layers" else "layer": text["layer"]}


# Controls that links name otherwise today: page -> key -> what a link with that key says in its place.
RENAMED: dict[str, dict[str, Callable[[Mapping[str, str]], dict[str, str]]]] = {
    "adversarial-stylegan": {"layer": maps_of_a_layer},
    "autoregressive-fvsbn": {"row": row_as_step},
    "language-senses": {"layer": layer_by_number},
}

# Pages that were renamed: links to the old names lead to the new ones, with all that they say.
MOVED: dict[str, str | dict[str, str]] = {
    "autoregressive-bench": "autoregressive-inspector",
    "autoregressive-masks-and-pixels": "autoregressive-masks",
    "language-decoding": {  # one page with six views, the first of them its default
        "Beam tree": "language-beam-search",
        "Next token": "language-truncation",
        "Two strategies": "language-two-strategies",
        "All strategies": "language-all-strategies",
        "Width of a beam": "language-beam-width",
        "Own mistakes": "language-own-mistakes",
    },
}


@dataclass(frozen=True)
class PageInfo:
    """One page by its file, and what its room declares."""

    path: Path
    room: Room = field(compare=False)

    @property
    def family(self) -> str:
        return self.path.parts[-3]

    @property
    def topic(self) -> str:
        return self.path.parts[-2]

    @property
    def url(self) -> str:
        return address(self.path)

    @property
    def title(self) -> str:
        return self.room.title

    @property
    def idea(self) -> str:
        return self.room.idea


def pages() -> list[PageInfo]:
    """All topic pages on disk, in the order of the families and of the course."""
    results = []
    for family in FAMILIES:
        known = [describe(path.with_name("page.py")) for path in (PAGES / family).glob("*/room.py")]
        results += sorted(known, key=lambda page: (page.room.place, page.topic))
    return results


def describe(path: Path) -> PageInfo:
    """The page and what its room declares; of a wrong file its topic, at the family's end: the page itself
    says what is wrong."""
    try:
        room = load(address(path))
    except Exception:
        room = None
    name = path.parent.name.replace("_", " ").capitalize()
    return PageInfo(path, room or Room(name, "", place=10_000, minutes=0))


def page_link(page: PageInfo) -> None:
    """A link to a page, by its title."""
    entry = st.session_state.get("lectern_pages", {}).get(page.url)
    if entry is None:  # the page runs alone, without the menu
        st.markdown(page.title)
    else:
        st.page_link(entry, label=page.title, help=page.idea or None)


def parse(path: Path) -> ast.Module | None:
    """The file's syntax tree, one file at a time; None where there is none: the page itself will say so."""
    with PARSING, suppress(OSError, SyntaxError):
        return ast.parse(path.read_text(encoding="utf-8"))
    return None


def navigation() -> StreamlitPage:
    """The page that is open; the menu of all pages stands in the sidebar."""
    scripts = {url: PAGES / f"{url or 'home'}.py" for url in FIRST.values()}
    first = [
        st.Page(script(scripts[url]), title=title, url_path=url or None, default=not url)
        for title, url in FIRST.items()
    ]
    known = pages()
    entries = {page.url: st.Page(script(page.path), title=page.title, url_path=page.url) for page in known}
    st.session_state["lectern_pages"] = entries
    moved = [old_page(old, entries) for old in MOVED]
    opened = st.navigation([*first, *entries.values(), *moved], position="hidden")
    keep_link(opened.url_path)
    menu(known, opened.url_path)
    return opened


def keep_link(page: str) -> None:
    """Keep the whole link with which Back, or a link of our own, enters a page. Streamlit (1.67) drops of it
    what a widget of the page before was bound to: Back would lose the model wherever two pages have one."""
    context = get_script_run_ctx()
    entered = st.session_state.get("lectern_entered") != page
    st.session_state["lectern_entered"] = page
    if context is None or not entered or not context.is_history_navigation:
        return
    with context.session_state.query_params() as link:
        if link.to_dict() != dict(parse_qsl(context.query_string)):
            link.populate_from_query_string(context.query_string)
            link.set_initial_query_params_from_current()
            link._send_query_param_msg()  # the address has lost it too


def lectures() -> list[dict[str, Any]]:
    """Title, link to the first scene, minutes and number of scenes of every lecture; one whose file is wrong
    is left out: `lab lecture` says what is wrong with it."""
    results = []
    for name in lecture.names():
        with suppress(UserError):
            read = lecture.read(name)
            results.append(
                {
                    "title": read.title,
                    "link": read.link(0),
                    "minutes": round(read.minutes),
                    "scenes": len(read.entries),
                }
            )
    return results


def neighbours(url: str) -> tuple[PageInfo | None, PageInfo | None]:
    """The pages before and after this one in the course, across families; None at its ends."""
    known = pages()
    at = next(i for i, page in enumerate(known) if page.url == url)
    return known[at - 1] if at else None, known[at + 1] if at + 1 < len(known) else None


def previous_and_next(url: str) -> None:
    """The foot of a page: the page before and the next; Home beyond the ends of the course."""
    links = []
    for rel, word, page in zip(("prev", "next"), ("before", "next"), neighbours(url), strict=True):
        to, title, family = (page.url, page.title, page.family) if page else ("", "Home", "all families")
        links.append(
            f'<a class="lectern-go {rel}" rel="{rel}" href="./{to}"><small>{word} · {family}</small>'
            f"{html.escape(title)}</a>"
        )
    st.html(f'<nav class="lectern-ways" aria-label="Before and next">{"".join(links)}</nav>')


def menu(known: list[PageInfo], current: str) -> None:
    """The lectures and the families fold, the current one is open; search on top (`js/nav.js`)."""
    families = [
        {
            "name": family,
            "color": LINES[family],
            "pages": [[page.title, page.url] for page in known if page.family == family],
        }
        for family in dict.fromkeys(page.family for page in known)
    ]
    with st.sidebar:
        mount_menu(
            key="lectern_nav",
            data={
                "first": list(FIRST.items()), "lectures": lectures(), "families": families,
                "current": current,
            },
        )  # fmt: skip


def course_map(about: Mapping[str, str], lenses: Mapping[str, str], key: str) -> None:
    """The course: families, lectures and lenses open to their pages; the search lights them up.

    Args:
        about: family -> what it is, in a few words.
        lenses: a name in rooms' `lenses` -> title.
        key: what is open, in the link.
    """
    known = pages()
    families = [
        {
            "name": family,
            "color": LINES[family],
            "about": about.get(family, ""),
            "pages": [
                {
                    "title": page.title,
                    "url": page.url,
                    "idea": page.idea,
                    "minutes": page.room.minutes,
                    "lenses": page.room.lenses,
                }
                for page in known
                if page.family == family
            ],
        }
        for family in dict.fromkeys(page.family for page in known)
    ]
    mount_map(
        key="lectern_map",
        data={
            "families": families, "lenses": list(lenses.items()), "lectures": lectures(), "key": key,
        },
    )  # fmt: skip


@contextmanager
def tile(title: str, says: str, page: str, **parameters: str) -> Iterator[None]:
    """A small figure that leads to a page: a click on it goes there with these parameters in the link."""
    address = html.escape(f"{page}?{urlencode(parameters)}")
    with st.container(key=f"tile-{page}-{title.replace(' ', '-')}", gap=None):
        st.html(
            f'<a class="lectern-tile" href="{address}"><b>{html.escape(title)}</b> {html.escape(says)}</a>'
        )
        yield


def script(path: Path) -> Callable[[], None]:
    """A function that runs the page in this file."""

    def draw() -> None:
        try:
            exec(compile_page(path, path.stat().st_mtime_ns), {"__name__": "__main__", "__file__": str(path)})
        finally:
            if path.name == "page.py" and (room := load(address(path))) is not None:
                prefetch_next(room)

    def run() -> None:
        redirect_old_link(path)
        show(draw, lambda key: may_have_control(path, key))
        if path.name == "page.py":
            previous_and_next(address(path))

    return run


def present_words(page: str, text: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a link to a page, in the words that the page has today."""
    now = dict(text)
    for key, read in RENAMED.get(page, {}).items():
        if key in now:
            del now[key]
            now = {**read(text), **now}  # what is said in today's words counts
    return now


def redirect_old_link(path: Path) -> None:
    """Read an old link in today's words; one to a view that has become a page leads on to it."""
    url = address(path)
    texts = st.query_params.to_dict()
    if (new := present_words(url, texts)) != texts:
        for gone in set(texts) - set(new):
            del st.query_params[gone]
        for name in new:
            if new[name] != texts.get(name):
                st.query_params[name] = new[name]
    key, views = SPLIT.get(url, ("", {}))
    now = views.get(st.query_params.get(key, ""))
    if now == url:  # the view that is left needs no name
        del st.query_params[key]
    elif now is not None:
        texts = {name: value for name, value in st.query_params.to_dict().items() if name != key}
        st.switch_page(st.session_state["lectern_pages"][now], query_params=texts)


def may_have_control(path: Path, key: str) -> bool:
    """True if a page may have a control of this name, one that is not drawn now too: its room declares it; or
    of a room that declares none, its files, what they take from another room or from `lab.ui`, or the
    controls that pages share, spell it."""
    declared = load(address(path)) if path.name == "page.py" else None
    if declared is not None and declared.state is not None:
        return declares(declared.state, key)
    room = [*path.parent.glob("*.py")] if path.name == "page.py" else [path]
    shared = [HERE.parent / name for name in ("models/language.py", "background/rewind.py")]
    taken = (other for file in room for other in imported_files(file, file.stat().st_mtime_ns))
    files = dict.fromkeys([*room, *taken, *shared])
    return any(re.fullmatch(name, key) for file in files for name in names(file, file.stat().st_mtime_ns))


@lru_cache(maxsize=512)
def imported_files(path: Path, stamp: int) -> tuple[Path, ...]:
    """The files of other rooms and of `lab.ui` that a file imports."""
    tree = parse(path) or ast.Module([], [])
    results = [
        ROOT.joinpath(*node.module.split("."), f"{name.name}.py")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(("pages.", "lab.ui"))
        for name in node.names
    ]
    return tuple(file for file in results if file.exists())


@lru_cache(maxsize=512)
def names(path: Path, stamp: int) -> frozenset[str]:
    """Patterns of what a file may name a control: its short texts, and what it puts together for a `key=`."""
    result = set()
    for node in ast.walk(parse(path) or ast.Module([], [])):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= 40:
            result.add(re.escape(node.value))
        elif isinstance(node, ast.keyword) and node.arg == "key" and isinstance(node.value, ast.JoinedStr):
            parts = [str(v.value) if isinstance(v, ast.Constant) else None for v in node.value.values]
            spelled = any(part and part.strip("-_ ") for part in parts)
            some = ".+" if spelled else r"\w+" if any(parts) else r"\w{1,2}"  # "a-planted", "k1"
            result.add("".join(some if part is None else re.escape(part) for part in parts))
    return frozenset(result)


@lru_cache(maxsize=256)
def compile_page(path: Path, stamp: int) -> CodeType:
    with PARSING:
        return compile(path.read_text(encoding="utf-8"), path, "exec")


def old_page(old: str, entries: dict[str, StreamlitPage]) -> StreamlitPage:
    """The page of an old link, not in the menu: it leads to where the page is now."""

    def leads() -> None:
        text = st.query_params.to_dict()
        now = MOVED[old]
        if isinstance(now, dict):
            now = now.get(text.pop("view", ""), next(iter(now.values())))
        st.switch_page(entries[now], query_params=text)

    return st.Page(leads, title=old, url_path=old, visibility="hidden")
