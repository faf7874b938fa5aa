"""A page file is the stage alone: controls, calls, figures. What is computed stands in `lens.py`, what is
drawn in `figures.py`, and none grows beyond what is read in one go."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "pages"
FILES = sorted(PAGES.rglob("page.py"))
LONGEST = 250
pages = pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:-1]))


def strange(source: str) -> Iterator[str]:
    """Uses of torch and of Plotly; programs in strings do not count."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names) if any(name.name.startswith("plotly") for name in names):
                yield f"line {node.lineno}: {ast.unparse(node)}"
            case ast.ImportFrom(module=str(module), names=names):
                if module.split(".")[0] in ("torch", "plotly"):
                    yield f"line {node.lineno}: {ast.unparse(node)}"
            case ast.Attribute(value=ast.Name(id="torch"), attr=attr):
                yield f"line {node.lineno}: torch.{attr}"


def written(source: str) -> list[str]:
    """Expressions whose value Streamlit writes into the page: all but calls, yields and the docstring."""
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call | ast.Constant | ast.Yield)
    ]


def test_there_are_pages() -> None:
    assert len(FILES) > 80


@pages
def test_is_read_in_one_go(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST


@pages
def test_computes_and_draws_nothing_itself(path: Path) -> None:
    assert list(strange(path.read_text())) == []


@pages
def test_writes_no_value_by_itself(path: Path) -> None:
    assert written(path.read_text()) == []


def test_finds_a_value_that_is_written() -> None:
    assert written("if x:\n    draw() if y else other()") and not written('"""Words."""\ndraw()')


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ny = torch.cat([x])",
        "import torch\ny = f'{torch.ones(1)}'",
        "from torch import cat",
        "from torch import Tensor",
        "from torch.nn.functional import pad",
        "import plotly.graph_objects as go",
        "from plotly.subplots import make_subplots",
    ],
)
def test_finds_maths_and_drawing(source: str) -> None:
    assert list(strange(source))


def test_lets_programs_be() -> None:
    assert not list(strange("ui.program('''import torch\nresult = torch.ones(3)''')"))
