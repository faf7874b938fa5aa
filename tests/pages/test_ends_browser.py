"""Names of lines at their right ends: moved apart, beside their lines, in light and dark."""

import random
from itertools import pairwise
from typing import Any

import pytest
from browsing import Visit

pytestmark = pytest.mark.browser

APART = """async (cases) => {
  const {apart} = await import("/lectern/js/ends.js");
  return cases.map(([places, gap, low, high]) => apart(places, gap, low, high));
}"""
# Of the figures whose lines are named so: the names and their places, the lines' ends, what the legend has.
NAMES = """() => [...document.querySelectorAll('.js-plotly-plot')]
  .filter((p) => p.layout.meta?.ends).map((p) => {
  const {xaxis, yaxis} = p._fullLayout, box = p.getBoundingClientRect();
  const ends = p.calcdata.filter(([{trace}]) => /lines/.test(trace.mode) && trace.name).map((points) => {
    const end = points.filter(({y}) => Number.isFinite(y)).at(-1); // none yet: the middle
    return [points[0].trace.name, yaxis._offset + (end ? yaxis.c2p(end.y) : yaxis._length / 2)];
  });
  const names = [...p.querySelectorAll('.annotation text')].map((node) => {
    const {top, height, left, right} = node.getBoundingClientRect(), {fill: color} = getComputedStyle(node);
    return {text: node.textContent, middle: top + height / 2 - box.top, height, left: left - box.left,
      room: box.right - right, color};
  });
  return {ends: Object.fromEntries(ends), names, right: xaxis._offset + xaxis._length,
    legend: [...p.querySelectorAll('.legendtext')].map((t) => t.textContent)};
})"""


def names(tab: Any) -> Any:
    (found,) = tab.evaluate(NAMES)
    return found


def test_places_are_moved_apart_and_no_further_than_they_must(page_visit: Visit) -> None:
    """A thousand sets of places: none nearer than the gap, none outside, none moved without need."""
    draw = random.Random(0)
    cases = []
    for _ in range(1000):
        n = draw.randint(1, 8)
        low, gap = draw.uniform(0, 5), draw.uniform(1, 20)
        high = low + gap * (n - 1) + draw.uniform(0, 200)
        cases.append(([draw.uniform(low - 20, high + 20) for _ in range(n)], gap, low, high))
    cases.append(([17.0, 17.0, 17.0], 10, 0, 100))
    found = page_visit.open("models").evaluate(APART, cases)
    for (places, gap, low, high), moved in zip(cases, found, strict=True):
        order = sorted(range(len(places)), key=places.__getitem__)
        stand = [moved[i] for i in order]
        assert all(b - a >= gap - 1e-6 for a, b in pairwise(stand))
        assert low - 1e-6 <= stand[0] and stand[-1] <= high + 1e-6
        want = sorted(places)
        if all(b - a >= gap for a, b in pairwise(want)) and low <= want[0] and want[-1] <= high:
            assert stand == pytest.approx(want)
    assert found[-1] == pytest.approx([7, 17, 27])


@pytest.mark.parametrize(
    "visit", [{"scheme": "light"}, {"scheme": "dark"}], indirect=True, ids=["light", "dark"]
)
def test_lines_are_named_at_their_ends(visit: Visit) -> None:
    """On logarithmic axes: three of the four lines end at one height."""
    found = names(visit.open("diffusion-flow-matching"))
    assert [name["text"] for name in found["names"]] == list(found["ends"]) and not found["legend"]
    heights = sorted(name["middle"] for name in found["names"])
    line = found["names"][0]["height"]
    assert all(b - a > 0.8 * line for a, b in pairwise(heights))
    assert all(name["left"] >= found["right"] and name["room"] >= 0 for name in found["names"])
    reach = len(heights) * 1.3 * line
    assert all(abs(name["middle"] - found["ends"][name["text"]]) < reach for name in found["names"])
    assert len({name["color"] for name in found["names"]}) == len(heights)


def test_names_move_with_their_lines_in_a_film(page_visit: Visit) -> None:
    """From the first look, where three gradients lie together, to looks where they lie apart."""
    tab = page_visit.open("adversarial-vanishing")
    bar, ends = tab.locator(".lectern-film"), []
    for button in (".first", ".next", ".next", ".next"):
        bar.locator(button).click()
        page_visit.settle()
        found = names(tab)
        ends.append(found["ends"])
        stand = {name["text"]: name["middle"] for name in found["names"]}
        line = found["names"][0]["height"]
        assert stand.keys() == found["ends"].keys() and not found["legend"]
        assert all(b - a > 0.8 * line for a, b in pairwise(sorted(stand.values())))
        reach = (len(stand) - 1) * 1.3 * line
        assert all(abs(stand[name] - end) < reach for name, end in found["ends"].items())
    moved = {name: abs(ends[-1][name] - ends[0][name]) for name in ends[0]}
    assert max(moved.values()) > reach  # a name that stayed would be too far from its line
