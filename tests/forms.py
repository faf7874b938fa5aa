"""How often rooms say what one declaration could say once, counted in their syntax trees.

    python tests/forms.py [transformer graph/messages …]        rooms of families or by name; none are all

The rooms are those of the folder in which this is called. A line a room, its columns:

    lines     of all its files
    skips     `# fmt: skip`
    paths     texts that are a path into a figure ("data.3.x", "layout.title.text")
    cached    uses of `ui.cached`
    ahead     what is to be computed ahead, listed: `ui.prefetch`, `ui.prefetch_result`, `ui.near`, `soon=`
    at        calls of a function that draws which are handed `at=`, `film.at`, or what stands at it; but for
              figures that are given no film
    keys      keys of controls, said again after the first time, or outside of a `room.py` that declares them
    controls  that are drawn by hand in page.py and kept in a variable, or declared; films aside
    named     how often page.py names these: by that variable, or as what the state has
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from functools import lru_cache
from pathlib import Path

CONTROLS = {
    *("beginning", "choice", "clickable", "draw", "experiment", "film", "held_text", "language_model"),
    *("language_models", "next_token_model", "number", "slider", "text", "toggle", "upload"),
}
AHEAD = {"prefetch", "prefetch_result", "near"}
PATH = re.compile(r"(data|layout)\.\S+")


@dataclass
class Counts:
    lines: int = 0
    skips: int = 0
    paths: int = 0
    cached: int = 0
    ahead: int = 0
    at: int = 0
    keys: int = 0
    controls: int = 0
    named: int = 0


def counts(room: Path) -> Counts:
    """The counts of a room, a folder `pages/<family>/<topic>`."""
    result, files = Counts(), {path: path.read_text(encoding="utf-8") for path in sorted(room.glob("*.py"))}
    trees = {path: ast.parse(text) for path, text in files.items()}
    owned = declared(room)
    keys = owned | {key for tree in trees.values() for key in keys_of(tree)}
    texts = dict.fromkeys(keys, 0)
    for path, tree in trees.items():
        result.lines += files[path].count("\n")
        result.skips += files[path].count("# fmt: skip")
        drawing = set(figure_names(tree))
        quiet, still = {id(node) for node in unsaid(tree)}, {id(node) for node in stills(tree)}
        speaks = path.name != "room.py" and not draws(".".join(path.with_suffix("").parts))
        for node in ast.walk(tree):
            if id(node) not in quiet and (text := text_of(node)) is not None:
                result.paths += bool(PATH.fullmatch(text))
                texts[text] = texts.get(text, 0) + speaks
            elif isinstance(node, ast.Attribute) and of_ui(node):
                result.cached += node.attr == "cached"
            elif isinstance(node, ast.Call):
                called = node.func
                result.ahead += of_ui(called) and called.attr in AHEAD
                result.ahead += any(keyword.arg == "soon" for keyword in node.keywords)
                drawn = ast.unparse(called).partition(".")[0] in drawing and id(node) not in still
                result.at += speaks and drawn and at_a_frame(node)
    result.keys = sum(max(0, texts[key] - (key not in owned)) for key in keys)
    page = trees[room / "page.py"]
    held = set(variables(page))
    result.controls = len(held | owned)
    result.named = sum(
        (isinstance(node, ast.Name) and node.id in held)
        or (isinstance(node, ast.arg) and node.arg in held)
        or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in owned)
        for node in ast.walk(page)
    )
    return result


def of_ui(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ui"


def declared(room: Path) -> set[str]:
    """The controls that a room's `room.py` declares, if there is one: annotated fields of its classes."""
    if not (path := room / "room.py").is_file():
        return set()
    classes = (
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ClassDef)
    )
    fields = (node for each in classes for node in each.body if isinstance(node, ast.AnnAssign))
    return {ast.unparse(node.target) for node in fields if "Annotated" in ast.unparse(node.annotation)}


def keys_of(tree: ast.Module) -> Iterator[str]:
    """The keys of controls that are drawn by hand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and of_ui(node.func) and node.func.attr in CONTROLS:
            for keyword in node.keywords:
                if keyword.arg == "key" and (text := text_of(keyword.value)) is not None:
                    yield text


def variables(tree: ast.Module) -> Iterator[str]:
    """The variables that hold the value of a control that is drawn by hand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            calls = [n.func for n in ast.walk(node.value) if isinstance(n, ast.Call)]
            if any(of_ui(f) and f.attr in CONTROLS - {"film"} for f in calls):
                yield node.targets[0].id


def stills(tree: ast.Module) -> Iterator[ast.AST]:
    """The figures that are handed to the page without a film."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and of_ui(node.func) and all(k.arg != "film" for k in node.keywords):
            yield from node.args


def unsaid(tree: ast.Module) -> Iterator[ast.AST]:
    """Texts that are no one's key or path: docstrings, columns of CSV and tables, metrics, titles, options,
    keys of figures, names of values; and the parts of a text with places, which is one text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.Subscript):
            yield from ast.walk(node.slice)
        elif isinstance(node, ast.JoinedStr):
            yield from node.values
        elif isinstance(node, ast.List | ast.Tuple):
            yield from node.elts
        elif isinstance(node, ast.keyword) and node.arg in ("data", "titles"):
            yield from ast.walk(node.value)
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in ("ui.table", "stage.metrics"):
                yield from ast.walk(node)
            elif name in ("ui.figure", "ui.button_figure"):
                yield from (keyword.value for keyword in node.keywords if keyword.arg == "key")
            elif name.endswith(".get"):
                yield from node.args


def text_of(node: ast.AST) -> str | None:
    """The text that a node spells, "{}" where it has a place for a value."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or "{}" for part in node.values)
    return None


def figure_names(tree: ast.Module) -> Iterator[str]:
    """What a file has imported of modules that draw: the modules, or functions of them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                if draws(node.module) or draws(f"{node.module}.{name.name}"):
                    yield name.asname or name.name


@lru_cache
def draws(module: str) -> bool:
    """Whether a module makes figures: it stands in `lab.figures`, or imports from there or Plotly."""
    path = Path(*module.split(".")).with_suffix(".py")
    if not path.is_file() or module.startswith("lab.ui") or path.name in ("page.py", "theme.py"):
        return False
    text = path.read_text(encoding="utf-8")
    return module.startswith("lab.figures") or bool(
        re.search(r"^\s*(from lab\.figures|import plotly)", text, re.M)
    )


def at_a_frame(call: ast.Call) -> bool:
    """Whether a call is handed a frame's number, or something that is looked up by it."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    names = {
        n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", "") for a in given for n in ast.walk(a)
    }
    return "at" in names or any(keyword.arg == "at" for keyword in call.keywords)


def rooms(asked: list[str]) -> list[Path]:
    """The rooms of these families or names, or all."""
    result = sorted(path.parent for path in Path("pages").glob("*/*/page.py"))
    return [
        room
        for room in result
        if not asked or {room.parent.name, f"{room.parent.name}/{room.name}"} & {*asked}
    ]


def main() -> None:
    table = {"/".join(room.parts[1:]): counts(room) for room in rooms(sys.argv[1:])}
    columns = [field.name for field in fields(Counts)]
    total = [sum(getattr(each, name) for each in table.values()) for name in columns]
    print(f"{'':36}", *(f"{name:>8}" for name in columns))
    for name, each in table.items():
        print(f"{name:36}", *(f"{value:8}" for value in astuple(each)))
    print(f"{f'{len(table)} rooms':36}", *(f"{value:8}" for value in total))


if __name__ == "__main__":
    main()
