"""Which pages there are: every pages/<family>/<topic>/page.py on disk, titled by its own stage; the menu."""

import ast
import html
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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
from lab.room import knows as declares
from lab.room import load
from lab.ui.components import component
from lab.ui.room import ahead
from lab.ui.stage import show

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "pages"
LENSES = ("attention", "receptive_field", "latent", "sampling")
LINES = dict(zip(FAMILIES, (*CATEGORIES, "#5E7F2E"), strict=True))  # each family's colour, in menu and map
FIRST = {"Home": "", "Models": "models", "Train": "train"}  # title -> url
HERE = Path(__file__).parent
mount_menu, mount_map = (
    component(name, *((HERE / f"{name}.{part}").read_text(encoding="utf-8") for part in ("html", "css")))
    for name in ("nav", "map")
)
# The order in which a course meets the topics of a family; those not named come after, by name.
COURSE = {
    "adversarial": (
        "toy_gan", "optimal_discriminator", "divergences", "vanishing", "gan_bench", "live_gan", "clinic",
        "earth_mover", "critic", "dcgan", "growing", "conditional_bench", "judge", "birthday", "ais",
        "latent_pad", "translate", "cycle", "unpaired", "super_resolution", "stylegan", "inversion",
        "property_table",
    ),
    "autoregressive": (
        "parameters", "chains", "gaussian_chain", "fvsbn", "inspector", "sharing", "density", "autoencoder",
        "masks", "orders", "blind_spot",
    ),
    "convolution": ("kernel", "own_stack", "receptive_field"),
    "diffusion": (
        "noising", "schedules", "posterior", "reverse", "diffusion_as_vae", "bound_terms", "four_views",
        "denoise_digit", "unet_inside", "averaging", "inpainting", "latent_noise", "latent_diffusion",
        "score_field", "equations", "ode_likelihood", "memorise", "guidance", "flow_matching",
    ),
    "flow": (
        "change_of_variables", "monotone", "linear_flow", "coupling", "flow_bench", "live_flow", "maf_iaf",
        "distillation", "universality", "planar_radial", "reversible", "contraction", "log_det",
        "continuous", "image_flow", "dequantization", "temperature", "image_interpolation", "typicality",
        "unnormalised", "vae_or_flow",
    ),
    "graph": ("messages",),
    "latent": (
        "linear", "eigen_digits", "hidden_markov", "letters", "not_markov", "kalman", "taxonomy",
        "curve_density", "bound_staircase", "mixture", "own_table", "capacity_wall", "latent_space",
        "interpolation", "traversal", "arithmetic", "bound", "importance", "beta", "collapse", "text_vae",
        "conditional", "two_level", "codebook", "prior_posterior", "live_vae", "disentanglement",
        "attributes", "denoising", "information", "elbo_bars", "which_kl", "exponential_gaussian",
        "two_kls", "gradients", "iwae", "amortisation", "flow_posterior", "outliers",
    ),
    "language": (
        "tokenizer_workbench", "vocabularies", "perplexity", "entropy_floor", "ngrams", "rare_words",
        "count_vectors", "word2vec", "word_vectors", "analogies", "packing", "neural_lm", "shared_strength",
        "senses", "truncation", "beam_search", "beam_width", "two_strategies", "all_strategies",
        "own_mistakes",
    ),
    "transformer": ("attention", "sampling"),
}  # fmt: skip


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


def row_as_step(said: Mapping[str, str]) -> dict[str, str]:
    """The FVSBN's rows were named by their bit, "x3"; a film counts them in the order of the bits."""
    order = re.findall(r"\d", said.get("order", "1 2 3 4"))
    bit = said["row"].removeprefix("x")
    return {"step": str(order.index(bit)) if bit in order else said["row"]}


def layer_by_number(said: Mapping[str, str]) -> dict[str, str]:
    """Layers were named "words and places" and "after block 2"; a film counts them."""
    named = re.fullmatch(r"words and places|after block (\d+)", said["layer"])
    return {"layer": named[1] or "0"} if named else {"layer": said["layer"]}


# Controls that links name otherwise today: page -> key -> what a link with that key says in its place.
RENAMED: dict[str, dict[str, Callable[[Mapping[str, str]], dict[str, str]]]] = {
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
    """One page, as its file describes itself."""

    family: str
    topic: str
    title: str
    idea: str
    path: Path
    lenses: tuple[str, ...]

    @property
    def url(self) -> str:
        return address(self.path)


def address(path: Path) -> str:
    """The address of a page's file: "latent-two-level"."""
    return "-".join(path.parts[-3:-1]).replace("_", "-")


def pages() -> list[PageInfo]:
    """All topic pages on disk, in the order of the families and of the course."""
    found = []
    for family in FAMILIES:
        course = COURSE.get(family, ())

        def place(path: Path, course: tuple[str, ...] = course) -> tuple[int, str]:
            topic = path.parent.name
            return course.index(topic) if topic in course else len(course), topic

        found += [describe(path) for path in sorted((PAGES / family).glob("*/page.py"), key=place)]
    return found


def page_link(page: PageInfo) -> None:
    """A link to a page, by its title."""
    entry = st.session_state.get("lectern_pages", {}).get(page.url)
    if entry is None:  # the page runs alone, without the menu
        st.markdown(page.title)
    else:
        st.page_link(entry, label=page.title, help=page.idea or None)


def parse(path: Path) -> ast.Module | None:
    """The file's syntax tree; None where there is none: the page itself will say so."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return None


def parsed(path: Path) -> ast.Module | None:
    """`parse`, one file at a time."""
    with _parsing:
        return parse(path)


_parsing = threading.Lock()  # CPython 3.11 counts the depth of a parse once for all threads


def describe(path: Path) -> PageInfo:
    """What its room declares; else title and idea from the page's call of `ui.stage`, and lenses from its
    imports of `lab.lenses`."""
    if (room := load(address(path))) is not None:
        family, topic = path.parts[-3:-1]
        return PageInfo(family, topic, room.title, room.idea, path, tuple(room.lenses))
    with _parsing:
        return _described(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _described(path: Path, stamp: int) -> PageInfo:
    family, topic = path.parts[-3:-1]
    title, idea, lenses = topic.replace("_", " ").capitalize(), "", []
    tree = parse(path)
    for node in ast.walk(tree or ast.Module([], [])):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "ui.stage":
            texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            title, idea = texts[0] if texts else title, texts[1] if len(texts) > 1 else idea
            lenses += [lens for k in node.keywords if k.arg == "lenses" for lens in ast.literal_eval(k.value)]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("lab.lenses"):
            named = node.module.split(".")[2:] or [a.name for a in node.names]
            lenses += [lens for lens in named if lens in LENSES]
    return PageInfo(family, topic, title, idea, path, tuple(dict.fromkeys(lenses)))


def navigation() -> StreamlitPage:
    """The page that is open; the menu of all pages stands in the sidebar."""
    scripts = {"": PAGES / "home.py", "models": PAGES / "models.py", "train": PAGES / "train.py"}
    first = [
        st.Page(script(scripts[url]), title=title, url_path=url or None, default=not url)
        for title, url in FIRST.items()
    ]
    known = pages()
    entries = {page.url: st.Page(script(page.path), title=page.title, url_path=page.url) for page in known}
    st.session_state["lectern_pages"] = entries
    moved = [forward(old, entries) for old in MOVED]
    opened = st.navigation([*first, *entries.values(), *moved], position="hidden")
    keep_link(opened.url_path)
    menu(known, opened.url_path)
    return opened


def keep_link(page: str) -> None:
    """What Back, or a link of our own, says to another page counts whole. Streamlit (1.67) drops of it what a
    widget of the page before was bound to: Back would lose the model wherever two pages have one."""
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
    """Of every lecture title, link to its first scene, minutes and number of scenes; one whose file is wrong
    is left out: `lab lecture` says what is wrong with it."""
    found = []
    for name in lecture.names():
        with suppress(UserError):
            read = lecture.read(name)
            found.append(
                {
                    "title": read.title,
                    "link": read.link(0),
                    "minutes": round(read.minutes),
                    "scenes": len(read.entries),
                }
            )
    return found


def neighbours(url: str) -> tuple[PageInfo | None, PageInfo | None]:
    """The pages before and after this one in the course, across families; None at its ends."""
    known = pages()
    at = next(i for i, page in enumerate(known) if page.url == url)
    return known[at - 1] if at else None, known[at + 1] if at + 1 < len(known) else None


def ways(url: str) -> None:
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
        lenses: of LENSES -> title.
        key: what is open, in the link.
    """
    known = pages()
    families = [
        {
            "name": family,
            "color": LINES[family],
            "about": about.get(family, ""),
            "pages": [
                {"title": page.title, "url": page.url, "idea": page.idea, "lenses": page.lenses}
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
    """What runs the page in this file."""

    def draw() -> None:
        try:
            exec(compiled(path, path.stat().st_mtime_ns), {"__name__": "__main__", "__file__": str(path)})
        finally:
            if path.name == "page.py" and (room := load(address(path))) is not None:
                ahead(room)

    def run() -> None:
        lead_on(path)
        show(draw, lambda key: knows(path, key))
        if path.name == "page.py":
            ways(address(path))

    return run


def today(page: str, said: Mapping[str, str]) -> dict[str, str]:
    """What a link to a page says, in the words that the page has today."""
    now = dict(said)
    for key, read in RENAMED.get(page, {}).items():
        if key in now:
            del now[key]
            now = {**read(said), **now}  # what is said in today's words counts
    return now


def lead_on(path: Path) -> None:
    """Read an old link in today's words; one to a view that has become a page leads on to it."""
    url = address(path)
    said = st.query_params.to_dict()
    if (new := today(url, said)) != said:
        for gone in set(said) - set(new):
            del st.query_params[gone]
        for name in new:
            if new[name] != said.get(name):
                st.query_params[name] = new[name]
    key, views = SPLIT.get(url, ("", {}))
    now = views.get(st.query_params.get(key, ""))
    if now == url:  # the view that is left needs no name
        del st.query_params[key]
    elif now is not None:
        said = {name: value for name, value in st.query_params.to_dict().items() if name != key}
        st.switch_page(st.session_state["lectern_pages"][now], query_params=said)


def knows(path: Path, key: str) -> bool:
    """Whether a page may have a control of this name, one that is not drawn now too: its room declares it; or
    of a room that declares none, its files, what it takes from another room, or the controls that pages
    share, spell it."""
    declared = load(address(path)) if path.name == "page.py" else None
    if declared is not None and declared.state is not None:
        return declares(declared.state, key)
    room = [*path.parent.glob("*.py")] if path.name == "page.py" else [path]
    shared = [Path(__file__).with_name(name) for name in ("language.py", "rewind.py")]
    files = [*room, *borrowed(path, path.stat().st_mtime_ns), *shared]
    return any(re.fullmatch(name, key) for file in files for name in names(file, file.stat().st_mtime_ns))


@lru_cache(maxsize=512)
def borrowed(path: Path, stamp: int) -> tuple[Path, ...]:
    """The files of other rooms that a page imports."""
    tree = parsed(path) or ast.Module([], [])
    found = [
        ROOT.joinpath(*node.module.split("."), f"{name.name}.py")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pages.")
        for name in node.names
    ]
    return tuple(file for file in found if file.exists())


@lru_cache(maxsize=512)
def names(path: Path, stamp: int) -> frozenset[str]:
    """Patterns of what a file may name a control: its short texts, and what it puts together for a `key=`."""
    found = set()
    for node in ast.walk(parsed(path) or ast.Module([], [])):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= 40:
            found.add(re.escape(node.value))
        elif isinstance(node, ast.keyword) and node.arg == "key" and isinstance(node.value, ast.JoinedStr):
            parts = [str(v.value) if isinstance(v, ast.Constant) else None for v in node.value.values]
            spelled = any(part and part.strip("-_ ") for part in parts)
            some = ".+" if spelled else r"\w+" if any(parts) else r"\w{1,2}"  # "a-planted", "k1"
            found.add("".join(some if part is None else re.escape(part) for part in parts))
    return frozenset(found)


@lru_cache(maxsize=256)
def compiled(path: Path, stamp: int) -> CodeType:
    with _parsing:
        return compile(path.read_text(encoding="utf-8"), path, "exec")


def forward(old: str, entries: dict[str, StreamlitPage]) -> StreamlitPage:
    """The page of an old link, not in the menu: it leads to where the page is now."""

    def leads() -> None:
        said = st.query_params.to_dict()
        now = MOVED[old]
        if isinstance(now, dict):
            now = now.get(said.pop("view", ""), next(iter(now.values())))
        st.switch_page(entries[now], query_params=said)

    return st.Page(leads, title=old, url_path=old, visibility="hidden")
