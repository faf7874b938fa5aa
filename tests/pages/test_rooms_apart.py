"""What several rooms share lives in `lab`: no room reads data of its own, and no program that a room shows
goes into another room. That none imports another, import-linter sees."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "pages"
FILES = sorted(path for path in PAGES.rglob("*.py") if len(path.relative_to(PAGES).parts) == 3)
LOADS = {"setup", "prepare_data", "load_iris", "load_digits"}
# what needs more of its data than their examples: a grammar's words, a text
OWN = {"language/shared_strength/lens.py", "language/ngrams/held_out.py"}


def loads(source: str) -> Iterator[str]:
    """Calls that make data ready or read them from where they lie."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in LOADS:
                yield f"line {node.lineno}: {ast.unparse(node)}"


def rooms(source: str) -> set[str]:
    """Rooms that are named as modules anywhere, in programs too: "family.topic"."""
    return {".".join(result) for result in re.findall(r"\bpages\.([a-z_]+)\.([a-z0-9_]+)", source)}


def test_there_are_rooms() -> None:
    assert len(FILES) > 300


def test_no_room_reads_data_itself() -> None:
    results = {str(path.relative_to(PAGES)): list(loads(path.read_text())) for path in FILES}
    assert {name: calls for name, calls in results.items() if calls and name not in OWN} == {}
    assert {name for name in OWN if not results[name]} == set()  # an exception that is none any more


def test_no_room_goes_into_another() -> None:
    for path in FILES:
        family, topic, _ = path.relative_to(PAGES).parts
        assert rooms(path.read_text()) <= {f"{family}.{topic}"}, path


@pytest.mark.parametrize(
    "source",
    ["data = Digits()\ndata.setup('fit')", "x = load_iris().data", "Text('shakespeare').prepare_data()"],
)
def test_finds_what_loads(source: str) -> None:
    assert list(loads(source))


def test_finds_a_room_in_a_program() -> None:
    assert rooms('ui.program("from pages.flow.masks.lens import look")') == {"flow.masks"}
