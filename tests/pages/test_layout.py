"""The layout that every page keeps: one screen, texts that can be read, nothing cut."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from browsing import ROOT, Visit
from rotation import changed, in_turns, within

from lab import ui

pytestmark = pytest.mark.browser

QUICK = os.environ.get("LEVEL", "quick") == "quick"
ROOMS = {page.url: str(page.path.parent.relative_to(ROOT)) for page in ui.pages()}
OTHERS = ["", "teaching", "models", "train"]
NEW = [url for url, room in ROOMS.items() if not QUICK or within(room, changed("main"))]
PATHS = [*OTHERS, *NEW]
IN_TURN = [*OTHERS, *in_turns(NEW, ROOMS.__getitem__)]
# In the dark the layout is the same and `test_pages` sees the colours: one room of each family.
DARK_PATHS = [*OTHERS, *{path.split("-")[0]: path for path in ROOMS}.values()]
# Pages whose picture has two thirds of the width
FAMILIES = ("recurrent", "transformer", "convolution", "graph", "adversarial", "diffusion")
PICTURED = [path for path in ROOMS if path.split("-")[0] in FAMILIES]
LAYOUT = (Path(__file__).parent / "layout.js").read_text(encoding="utf-8")
OURS = [
    ".lectern-nav",
    ".lectern-head",
    ".lectern-stage",
    ".lectern-figure",
    ".lectern-cells",
    ".lectern-plane",
    ".lectern-machine",
    ".lectern-wall",
    ".lectern-slider",
    ".lectern-film",
]
AXE = """(ours) => axe.run(
    {include: ours.filter((s) => document.querySelector(s)).map((s) => [s])}, {resultTypes: ["violations"]})
  .then(({violations}) => violations.filter((v) => ["serious", "critical"].includes(v.impact))
    .map((v) => `${v.id}: ${v.nodes.length} of ${v.nodes[0].html.slice(0, 120)}`))"""
LIGHT = {"width": 1280, "height": 720, "scheme": "light"}
DARK = {"width": 1280, "height": 720, "scheme": "dark"}
STAGE = {"width": 1920, "height": 1080, "scheme": "light"}
PHONE = {"width": 390, "height": 844, "scheme": "dark"}


def brightness(tab: Any) -> float:
    """Of the page's background, 0 to 255."""
    color = tab.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    red, green, blue = (float(v) for v in color.split("(")[1].rstrip(")").split(",")[:3])
    return (red + green + blue) / 3


def open_stage(visit: Visit, path: str) -> Any:
    """The page, if it is a stage; without an error."""
    tab = visit.walk(path)
    assert not tab.locator("[data-testid=stException], [data-testid=stAlertContentError]").count()
    assert not tab.locator("[data-testid=stAlert]").count(), "a fresh page complains"
    if not tab.locator(".lectern-head").count():
        pytest.skip("not yet a stage")
    return tab


def faults(tab: Any, *, phone: bool = False, stage: bool = False, pictured: bool = False) -> list[str]:
    """What is wrong once the page has come to rest: a figure may still be drawn anew to a new margin.

    Args:
        pictured: its picture has two thirds of the width, and little bare paper.
    """
    look = f"({LAYOUT})({json.dumps({'phone': phone, 'stage': stage, 'pictured': pictured})})"
    for _ in range(5):  # a busy machine takes seconds to draw
        names: list[str] = tab.evaluate(look)
        if not names:
            break
        tab.wait_for_timeout(1500)
    return names


@pytest.mark.parametrize("walker", [LIGHT], indirect=True, ids=["1280-light"])
@pytest.mark.parametrize("path", PATHS)
def test_the_first_screen_holds_the_page(walker: Visit, path: str) -> None:
    tab = open_stage(walker, path)
    assert faults(tab, pictured=path in PICTURED) == []
    assert brightness(tab) > 240
    kinds = ".lectern-figure, .lectern-cells, .lectern-plane, .lectern-wall [role=img]"
    pictures = f"[...document.querySelectorAll('{kinds}')]"
    named = f"{pictures}.every((f) => f.ariaLabel?.length > 10)"
    assert tab.evaluate(named), "a figure has no text for those who cannot see it"
    if not tab.evaluate("'axe' in window"):  # walked there, the tab has it still
        tab.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
    assert tab.evaluate(AXE, OURS) == []


@pytest.mark.heavy
@pytest.mark.parametrize("walker", [DARK], indirect=True, ids=["1280-dark"])
@pytest.mark.parametrize("path", DARK_PATHS)
def test_in_the_dark(walker: Visit, path: str) -> None:
    tab = open_stage(walker, path)
    assert brightness(tab) < 60
    papers = "[...document.querySelectorAll('.js-plotly-plot')].map((p) => p._fullLayout.paper_bgcolor)"
    assert set(tab.evaluate(papers)) <= {"#12161C"}
    assert faults(tab) == []


@pytest.mark.heavy
@pytest.mark.parametrize("walker", [STAGE], indirect=True, ids=["1920-stage"])
@pytest.mark.parametrize("path", IN_TURN)
def test_on_the_stage(walker: Visit, path: str) -> None:
    tab = open_stage(walker, f"{path}?stage=1")
    assert not tab.locator("[data-testid=stSidebar]:visible, [data-testid=stHeader]:visible").count()
    assert faults(tab, stage=True) == []


@pytest.mark.heavy
@pytest.mark.parametrize("walker", [PHONE], indirect=True, ids=["390-dark"])
@pytest.mark.parametrize("path", IN_TURN)
def test_on_a_phone(walker: Visit, path: str) -> None:
    tab = open_stage(walker, path)
    assert faults(tab, phone=True) == []


def test_faults_are_found(visit: Visit) -> None:
    """Each kind, planted."""
    tab = visit.open("language-truncation")
    assert faults(tab) == []
    tab.evaluate(
        """() => {
          const [one, two] = document.querySelectorAll('.js-plotly-plot .xtick text');
          for (const name of ['x', 'y', 'transform']) one.setAttribute(name, two.getAttribute(name) ?? '');
        }"""
    )
    assert any("lies over" in fault for fault in faults(tab))
    tab.evaluate("document.querySelector('.lectern-head').style.width = '3000px'")
    assert any("wider than the screen" in fault for fault in faults(tab))
    tab.evaluate("document.querySelector('.st-key-foot').style.paddingTop = '400px'")
    tab.wait_for_timeout(500)
    text = "; ".join(faults(tab))
    assert "foot lies at" in text and "the picture is only" in text


def test_a_picture_that_is_too_small_is_found(visit: Visit) -> None:
    """A picture as wide as the chart beside it and another one; then one that leaves its box empty."""
    tab = visit.open("diffusion-flow-matching")
    assert faults(tab, pictured=True) == []
    tab.evaluate(
        """() => {
          const row = document.querySelector('.st-key-picture [data-testid=stHorizontalBlock]');
          row.style.cssText = 'display: grid; grid-template-columns: 7fr 5fr';
          for (const column of row.children) column.style.cssText = 'width: 100%; min-width: 0';
        }"""
    )
    tab.wait_for_timeout(500)
    assert any("of the width" in fault for fault in faults(tab, pictured=True))
    tab.evaluate(
        "document.querySelector('.st-key-picture').style.cssText = 'min-height: 1500px; flex-shrink: 0'"
    )
    assert any("bare paper" in fault for fault in faults(tab, pictured=True))


def test_faults_of_cells_are_found(visit: Visit) -> None:
    """A label upon another, one outside, one that is missing."""
    tab = visit.open("transformer-attention")
    assert faults(tab) == []
    tab.evaluate(
        """() => {
          const {labels} = document.querySelector('.lectern-cells').cells;
          labels[0].quad = labels[1].quad;
          labels[2].quad = labels[2].quad.map(([x, y]) => [x - 2000, y]);
          labels.splice(labels.findIndex((l) => l.names === 'row'), 1);
        }"""
    )
    text = "; ".join(faults(tab))
    assert "lies over" in text and "leaves its cells" in text and "labels of rows are skipped" in text


def test_faults_of_machines_are_found(visit: Visit) -> None:
    """A word that leaves its part, and one that is too small."""
    tab = visit.open("transformer-attention")
    tab.evaluate(
        """() => {
          const [name, shape] = document.querySelectorAll('.lectern-machine .part text');
          name.textContent = 'a name that is far too long for its part';
          shape.style.fontSize = '9px';
        }"""
    )
    text = "; ".join(faults(tab))
    assert "leaves its part of the machine" in text and "9.0 px (machine)" in text
