"""The index of the menu's search: of every page title, idea, the field's words, controls, symbols,
models and references; and the lectures.

Title, idea, the field's words and references are what the room declares; so are labels of controls and
names of scenes where it declares its state. All else is read from its files and those of its lenses; no page
is run.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from lab import experiments
from lab.room import Model, controls
from lab.ui.models.language import offers_next_token
from lab.ui.navigation.menu import PageInfo, lectures, pages, parse

LENSES = Path(__file__).resolve().parents[2] / "lenses"
NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega "
    "Gamma Delta Theta Lambda Pi Sigma Phi Psi Omega"
)
GREEK = dict(zip(NAMES.split(), "αβγδεζηθκλμνξπρστφχψωΓΔΘΛΠΣΦΨΩ", strict=True))
NAMED = re.compile(r"\\(?:mathrm|text|operatorname)\{+([A-Z][A-Za-z]{1,7})\}")  # KL, Var, ELBO
COMMAND = re.compile(r"\\([A-Za-z]+)")
# Controls: the first text of such a call is the label.
CONTROLS = ("slider", "choice", "number", "toggle", "text", "draw", "experiment", "film")


NOTHING: dict[str, list[str]] = {kind: [] for kind in ("words", "symbols", "models", "references")}
TEACHING = {
    "url": "teaching", "title": "Teaching with it", "family": "",
    "idea": "Of each family the rooms in order, the lecture, and what to try before the hour",
    "terms": ["course", "curriculum", "lecture", "syllabus", "teaching"], **NOTHING,
}  # fmt: skip


def index() -> list[dict[str, Any]]:
    """One entry a page: url, title, family, idea, and lists of terms, words, symbols, models and references;
    one a lecture, which says its minutes; and the page on teaching."""
    results = [entry(page, *(p.stat().st_mtime_ns for p in room(page.path))) for page in pages()]
    return [*results, *(lecture_entry(text) for text in lectures()), TEACHING]


def lecture_entry(text: dict[str, Any]) -> dict[str, Any]:
    """The index's entry of a lecture (of `navigation.lectures`)."""
    return {
        "url": text["link"], "title": text["title"], "family": "", "minutes": text["minutes"],
        "idea": f"Lecture, {text['minutes']} minutes, {text['scenes']} scenes", "terms": [], **NOTHING,
    }  # fmt: skip


def room(path: Path) -> list[Path]:
    """The Python files of the page's room, the page itself first."""
    return [path, *sorted(p for p in path.parent.glob("*.py") if p != path)]


@lru_cache(maxsize=512)
def entry(page: PageInfo, *stamps: int) -> dict[str, Any]:
    """The index's entry of one page; read again once a file of its room has changed."""
    trees = [tree for path in room(page.path) if (tree := parse(path))]
    lenses = [tree for name in page.room.lenses if (tree := parse(LENSES / f"{name}.py"))]
    known, first = page.room, trees[:1]
    table = controls(known.state) if known.state is not None else {}
    sentence = [c.label for c in table.values() if c.label and isinstance(c.label, str)]
    shown = offered_models(known.state) if known.state is not None else ()
    by_hand = trees if known.state is None else []
    return {
        "url": page.url,
        "title": page.title,
        "family": page.family,
        "idea": page.idea,
        "terms": [term for term in known.words.split("; ") if term],
        "words": unique([*sentence, *known.scenes, *(word for tree in by_hand for word in labels(tree))]),
        "symbols": unique(s for tree in [*trees, *lenses] for text in texts(tree) for s in symbols(text)),
        "models": unique([*shown, *(name for tree in first for name in models(tree))]),
        "references": unique(known.references),
    }


def unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def texts(tree: ast.AST) -> Iterator[str]:
    """All texts in it, the fixed parts of f-strings too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def symbols(text: str) -> Iterator[str]:
    """Greek letters with their names, and named functions, of LaTeX; Greek letters of plain text."""
    for name in COMMAND.findall(text):
        plain = name.removeprefix("var")
        if plain in GREEK:
            yield f"{GREEK[plain]} {plain}"
    for name, letter in GREEK.items():
        if letter in text:
            yield f"{letter} {name}"
    yield from NAMED.findall(text)


def labels(tree: ast.AST) -> Iterator[str]:
    """Labels of controls, and names of scenes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in CONTROLS and node.args and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value)
            elif node.func.attr == "scenes":
                for table in (a for a in node.args if isinstance(a, ast.Dict)):
                    yield from (k.value for k in table.keys
                                if isinstance(k, ast.Constant) and isinstance(k.value, str))  # fmt: skip


def models(tree: ast.AST) -> Iterator[str]:
    """Experiments that the page names, or lets the reader pick."""
    known = catalog()
    yield from (text for text in texts(tree) if text in known)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called == "ui.experiment":
            families = {k.value.value for k in node.keywords
                        if k.arg == "family" and isinstance(k.value, ast.Constant)}  # fmt: skip
            yield from (name for name, family in known.items() if family in families)
        elif called in ("ui.language_model", "ui.language_models"):
            yield from language_models()


def offered_models(state: type) -> Iterator[str]:
    """Experiments whose models a declared room shows, or lets the reader pick."""
    for key, control in controls(state).items():
        if isinstance(control, Model):
            of_family = [
                n for n, family in catalog().items() if family == control.family or n in control.first
            ]
            yield from control.options or of_family or [getattr(state, key)]


@lru_cache(maxsize=1)
def catalog() -> dict[str, str]:
    """Experiment -> family; they ship, so they are read once."""
    return {name: e.family for name, e in experiments.catalog().items()}


@lru_cache(maxsize=1)
def language_models() -> list[str]:
    return [name for name, e in experiments.catalog().items() if offers_next_token(e)]
