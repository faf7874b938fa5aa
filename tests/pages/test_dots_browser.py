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


def test_dots_lie_where_the_axes_put_them_and_turn_without_plotly(walker: Visit) -> None:
    tab = walker.walk("latent-mixture?step=0")
    colors = tab.evaluate(COLORS, 0)
    assert None not in colors  # others lie over some of them
    assert colors.count(theme.HIDDEN.lower()) > 0.6 * len(colors)
    assert not tab.locator(".js-plotly-plot").first.locator(".point").count()
    tab.evaluate(COUNTED)
    before = picture(tab)
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function("() => window.lecternFilm.at === 1 && !window.lecternFilm.turning")
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
