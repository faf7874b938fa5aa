"""Clouds of dots, painted beside Plotly: they stand where Plotly's axes put them, and turn without it."""

from pathlib import Path
from typing import Any

import pytest
from browsing import Visit

from lab.figures import theme

pytestmark = pytest.mark.browser

# Colours of the painted canvas at the places of a trace, "#rrggbb"; its means are the mixture's crosses.
COLORS = """
(trace) => {
  const plot = document.querySelector('.js-plotly-plot'), canvas = plot.querySelector('.dots');
  const {data} = plot.closest('.lectern-figure').lectern.spec.figure, {xaxis, yaxis} = plot._fullLayout;
  const context = canvas.getContext('2d'), sharp = canvas.width / plot.clientWidth;
  return Array.from(data[trace].x, (x, i) => {
    const px = xaxis._offset + xaxis.d2p(x), py = yaxis._offset + yaxis.d2p(data[trace].y[i]);
    const [r, g, b, a] = context.getImageData(Math.round(px * sharp), Math.round(py * sharp), 1, 1).data;
    return a < 250 ? null : '#' + [r, g, b].map((v) => v.toString(16).padStart(2, '0')).join('');
  });
}
"""
COUNTED = """() => {
  const react = Plotly.react.bind(Plotly);
  window.reacts = [];
  Plotly.react = (plot, ...rest) => { window.reacts.push(plot); return react(plot, ...rest); };
}"""


def picture(tab: Any) -> str:
    return str(tab.evaluate("() => document.querySelector('.dots').toDataURL()"))


def turn(tab: Any) -> None:
    """A step on from the first frame; on a busy machine the first key may come before the page hears keys."""
    from playwright.sync_api import TimeoutError

    for limit in (5_000, 60_000):
        tab.keyboard.press("ArrowRight")
        try:
            tab.wait_for_function(
                "() => window.lecternFilm.at >= 1 && !window.lecternFilm.turning", timeout=limit
            )
        except TimeoutError:
            continue
        return
    pytest.fail("The film does not turn.")


def test_dots_lie_where_the_axes_put_them_and_turn_without_plotly(walker: Visit) -> None:
    tab = walker.walk("latent-mixture?step=0")
    colors = tab.evaluate(COLORS, 0)
    assert None not in colors  # others lie over some of them
    assert colors.count(theme.HIDDEN.lower()) > 0.6 * len(colors)
    assert not tab.locator(".js-plotly-plot").first.locator(".point").count()
    tab.evaluate(COUNTED)
    before = picture(tab)
    turn(tab)
    assert picture(tab) != before
    drawn = tab.evaluate("() => window.reacts.map((p) => p === document.querySelector('.js-plotly-plot'))")
    assert drawn and not any(drawn)  # the staircase beside it is Plotly's


def test_a_saved_picture_has_the_dots_too(walker: Visit) -> None:
    tab = walker.walk("diffusion-reverse")
    figure = tab.locator(".lectern-figure").first
    figure.hover()
    with tab.expect_download() as saved:
        figure.get_by_role("button", name="SVG").click()
    points = Path(saved.value.path()).read_text(encoding="utf-8").count('class="point"')
    assert points >= 600 and not figure.locator(".point").count()


# Where the first plot with a painted mark has it: by its pixels, and where Plotly itself draws the shape.
MARKED = """
async () => {
  const marked = (box) => box.querySelector('.dots') && box.lectern.spec.figure.layout.shapes;
  const box = [...document.querySelectorAll('.lectern-figure')].find(marked);
  const plot = box.querySelector('.js-plotly-plot'), canvas = plot.querySelector('.dots');
  const sharp = canvas.width / plot.clientWidth;
  const {yaxis} = plot._fullLayout, row = Math.round(yaxis._offset * sharp), rows = 40, across = canvas.width;
  const seen = canvas.getContext('2d').getImageData(0, row, across, rows).data; // of a dotted line too
  const filled = Array.from({length: across}, (_, i) => i)
    .filter((i) => Array.from({length: rows}, (_, j) => seen[4 * (j * across + i) + 3]).some((a) => a > 100));
  await Plotly.relayout(plot, {'shapes[0].visible': true});
  const [, x] = /^M([\\d.]+),/.exec(plot.querySelector('.shapelayer path').getAttribute('d'));
  return {painted: (filled.at(0) + filled.at(-1) + 1) / 2 / sharp, width: filled.length / sharp, drawn: +x};
}
"""


@pytest.mark.parametrize(
    "page", ["adversarial-unpaired", "adversarial-optimal-discriminator", "adversarial-gan-bench"]
)
def test_a_mark_is_painted_where_plotly_would_draw_it(walker: Visit, page: str) -> None:
    """Over linear axes and logarithmic ones."""
    tab = walker.walk(page)
    result = tab.evaluate(MARKED)
    assert abs(result["painted"] - result["drawn"]) < 1.01 and 0 < result["width"] <= 4


def test_a_mark_moves_without_plotly(walker: Visit) -> None:
    tab = walker.walk("adversarial-unpaired")
    tab.evaluate(COUNTED)
    marks = "() => [...document.querySelectorAll('.dots')].map((c) => c.toDataURL())"
    before, at = tab.evaluate(marks), tab.evaluate("() => window.lecternFilm.at")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function(f"() => window.lecternFilm.at === {at + 1} && !window.lecternFilm.turning")
    assert all(a != b for a, b in zip(before, tab.evaluate(marks), strict=True)) and len(before) == 2
    assert tab.evaluate("() => window.reacts.length") == 0


def test_a_dot_that_moves_on_a_curve_turns_without_plotly(walker: Visit) -> None:
    tab = walker.walk("diffusion-schedules?step=0")
    tab.evaluate(COUNTED)
    before = picture(tab)
    turn(tab)
    assert picture(tab) != before
    assert not tab.evaluate("() => window.reacts.length")
