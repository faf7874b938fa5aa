"""Which pages there are: every pages/<family>/<topic>.py on disk, titled by its own header."""

import ast
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.navigation.page import StreamlitPage

from lab.experiments import FAMILIES

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "pages"
LENSES = ("attention", "receptive_field", "latent", "sampling")
# The order in which a course meets the topics of a family; those not named come after, by name.
COURSE = {
    "autoregressive": (
        "parameters", "chains", "gaussian_chain", "fvsbn", "bench", "sharing", "density", "autoencoder",
        "masks_and_pixels", "orders", "blind_spot",
    ),
    "language": (
        "tokenizer_workbench", "perplexity", "entropy_floor", "ngrams", "count_vectors", "word2vec",
        "word_vectors", "packing", "neural_lm", "shared_strength", "senses", "decoding",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class PageInfo:
    """One page, as its file describes itself."""

    family: str
    topic: str
    title: str
    idea: str
    path: Path
    lenses: tuple[str, ...]

    @property
    def url(self) -> str:
        return f"{self.family}-{self.topic}".replace("_", "-")


def pages() -> list[PageInfo]:
    """All topic pages on disk, in the order of the families and of the course."""
    found = []
    for family in FAMILIES:
        course = COURSE.get(family, ())

        def place(path: Path, course: tuple[str, ...] = course) -> tuple[int, str]:
            return course.index(path.stem) if path.stem in course else len(course), path.stem

        files = [path for path in (PAGES / family).glob("*.py") if not path.name.startswith("_")]
        found += [describe(path) for path in sorted(files, key=place)]
    return found


def page_link(page: PageInfo) -> None:
    """A link to a page, by its title."""
    try:
        st.page_link(page.path, label=page.title, help=page.idea or None)
    except StreamlitAPIException:  # the page runs alone, without the menu
        st.markdown(page.title)


_parsing = threading.Lock()  # CPython 3.11 counts the depth of a parse once for all threads


def describe(path: Path) -> PageInfo:
    """Title and idea from the page's call of `ui.header`; lenses from its imports of `lab.lenses`."""
    with _parsing:
        return _described(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _described(path: Path, stamp: int) -> PageInfo:
    title, idea, lenses = path.stem.replace("_", " ").capitalize(), "", []
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError:  # the page itself will say so
        tree = ast.Module([], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "ui.header":
            texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            title, idea = texts[0] if texts else title, texts[1] if len(texts) > 1 else idea
            lenses += [lens for k in node.keywords if k.arg == "lenses" for lens in ast.literal_eval(k.value)]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("lab.lenses"):
            named = node.module.split(".")[2:] or [a.name for a in node.names]
            lenses += [lens for lens in named if lens in LENSES]
    return PageInfo(path.parent.name, path.stem, title, idea, path, tuple(dict.fromkeys(lenses)))


def navigation() -> StreamlitPage:
    """The menu: Home, Models and Train, then every page under its family."""
    menu = {
        "": [
            st.Page(PAGES / "home.py", title="Home", icon=":material/home:", default=True),
            st.Page(PAGES / "models.py", title="Models", icon=":material/inventory_2:", url_path="models"),
            st.Page(PAGES / "train.py", title="Train", icon=":material/model_training:", url_path="train"),
        ]
    }
    for page in pages():
        menu.setdefault(page.family.capitalize(), []).append(
            st.Page(page.path, title=page.title, url_path=page.url)
        )
    return st.navigation(menu, expanded=True)
