"""The plane of the page Latent space in a real browser: the picture under the pointer, clicks, keys."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from lab import weights
from lab.lenses import latent, stock

pytestmark = [pytest.mark.browser, pytest.mark.heavy]

PAGE = "latent-latent-space?model=vae-digits"
INK = """() => {
  const screen = document.querySelector('.lectern-plane .side > canvas');
  const {width, height} = screen;
  const rgba = screen.getContext('2d').getImageData(0, 0, width, height).data;
  return Array.from({length: width * height}, (_, i) => rgba[4 * i + 3] / 255);
}"""


def screen(visit: Any) -> Any:
    """The small picture, once its sheet has been read."""
    canvas = visit.tab.locator(".lectern-plane .side canvas")
    visit.tab.locator(".lectern-plane .side canvas[data-ready=true]").wait_for()
    return canvas


def point(visit: Any, u: float, v: float) -> tuple[float, float]:
    """Where the place (u, v) of the plane is on the screen."""
    plot = visit.tab.locator(".lectern-plane svg.map")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    frame = "(s) => [...s.querySelectorAll('clipPath rect')[0].attributes].map((a) => [a.name, +a.value])"
    inside = dict(plot.evaluate(frame))
    side = inside["width"]
    x, y = inside["x"] + side * (u + 3.5) / 7, inside["y"] + side * (3.5 - v) / 7
    return box["x"] + x, box["y"] + y


def test_the_picture_under_the_pointer_is_decoded(visit: Any) -> None:
    """It is the model's own picture of that place, and Python is not asked: the link stays."""
    visit.open(PAGE)
    canvas = screen(visit)
    model = weights.load("vae-digits")
    codes = latent.codes(model, stock.grey(8, 500, mnist=False)[0].flatten(1))
    plane = latent.plane_of(codes)
    before = visit.parameters()
    for u, v in ((0.0, 0.0), (2.0, 1.5), (-1.0, 2.25)):  # these are points of the grid
        visit.tab.mouse.move(*point(visit, u, v))
        visit.tab.wait_for_timeout(100)
        assert float(canvas.get_attribute("data-u")) == pytest.approx(u, abs=0.02)
        assert float(canvas.get_attribute("data-v")) == pytest.approx(v, abs=0.02)
        expected = latent.decoded(model, plane.at(u, v)[None])[0].clamp(0, 1)
        shown = torch.tensor(visit.tab.evaluate(INK)).view(8, 8)
        assert (shown - expected).abs().max() < 0.06  # 64 shades, and the pointer is half a pixel off
    assert visit.parameters() == before


def test_a_click_on_the_plane_is_held_and_travels_in_the_link(visit: Any) -> None:
    visit.open(PAGE)
    screen(visit)
    visit.tab.mouse.click(*point(visit, 1.0, -1.5))
    visit.tab.wait_for_function("() => location.search.includes('z=')")
    visit.settle()
    u, v = (float(t) for t in re.search(r"z=([-\d.]+)(?:%2C|,)([-\d.]+)", visit.parameters()).groups())
    assert (u, v) == pytest.approx((1.0, -1.5), abs=0.02)
    assert "at the held place" in visit.text()
    copy = visit.context.new_page()
    visit.open(visit.tab.url, copy)
    assert visit.text(copy) == visit.text()
    copy.close()
    visit.tab.get_by_role("button", name="Let go").click()
    visit.tab.wait_for_function("() => !location.search.includes('z=')")
    visit.settle()
    assert "z at A's place" in visit.text()


@pytest.mark.heavy
def test_the_plane_by_keyboard(visit: Any) -> None:
    visit.open(PAGE)
    canvas = screen(visit)
    visit.tab.locator(".lectern-plane svg.map").focus()
    u, v = (float(canvas.get_attribute(f"data-{axis}")) for axis in "uv")  # where A is
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        visit.tab.keyboard.press(key)
    assert float(canvas.get_attribute("data-u")) == pytest.approx(u + 2 * 3.5 / 24, abs=1e-3)
    assert float(canvas.get_attribute("data-v")) == pytest.approx(v + 3.5 / 24, abs=1e-3)
    visit.tab.keyboard.press("Enter")
    visit.tab.wait_for_function("() => location.search.includes('z=')")


@pytest.mark.heavy
def test_the_plane_is_saved_as_svg(visit: Any) -> None:
    visit.open(PAGE)
    screen(visit)
    with visit.tab.expect_download() as download:
        visit.tab.locator(".lectern-plane .tools .svg").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert text.count("<circle") > 300
    assert "data:image/png" in text
