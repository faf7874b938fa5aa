"""Names of lines: at their right ends, moved apart, in light and dark; or where the lines are apart."""

import random
from itertools import combinations, pairwise
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

# Of the figure whose lines are named where they are apart: the box of each name, the lines that cross it, and
# how far it is from its own line; the lines that are drawn.
BESIDE = """() => {
  const [p] = [...document.querySelectorAll('.js-plotly-plot')].filter((p) => p.layout.meta?.apart);
  const {xaxis, yaxis} = p._fullLayout, origin = p.getBoundingClientRect();
  const drawn = p.calcdata.filter(([{trace}]) => trace.mode === 'lines');
  const lines = new Map(drawn.map((points) => [points[0].trace.name,
    points.filter(({x, y}) => Number.isFinite(x) && Number.isFinite(y)).flatMap(({x, y}, i, all) => {
      const next = all[Math.min(i + 1, all.length - 1)]; // and the way to the next
      return [...Array(40).keys()].map((k) => [x + (next.x - x) * k / 40, y + (next.y - y) * k / 40])
        .map(([u, v]) => [xaxis._offset + xaxis.c2p(u), yaxis._offset + yaxis.c2p(v)]);
    })]));
  const names = [...p.querySelectorAll('.annotation')].filter((n) => n.querySelector('text')).map((node) => {
    const {left, top, right, bottom} = node.querySelector('text').getBoundingClientRect();
    const text = node.textContent, box = [left - origin.left, top - origin.top, right - origin.left,
      bottom - origin.top];
    const inner = [box[0] + 2, box[1] + 4, box[2] - 2, box[3] - 4];
    const crossed = [...lines].filter(([, points]) => points.some(([x, y]) =>
      x > inner[0] && x < inner[2] && y > inner[1] && y < inner[3])).map(([name]) => name);
    const far = Math.min(...lines.get(text).map(([x, y]) =>
      Math.hypot(Math.max(box[0] - x, 0, x - box[2]), Math.max(box[1] - y, 0, y - box[3]))));
    return {text, box, crossed, far};
  });
  return {names, drawn: [...lines].filter(([, points]) => points.length).map(([name]) => name),
    legend: [...p.querySelectorAll('.legendtext')].map((t) => t.textContent)};
}"""


def names(tab: Any) -> Any:
    (result,) = tab.evaluate(NAMES)
    return result


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
    result = page_visit.open("models").evaluate(APART, cases)
    for (places, gap, low, high), moved in zip(cases, result, strict=True):
        order = sorted(range(len(places)), key=places.__getitem__)
        stand = [moved[i] for i in order]
        assert all(b - a >= gap - 1e-6 for a, b in pairwise(stand))
        assert low - 1e-6 <= stand[0] and stand[-1] <= high + 1e-6
        want = sorted(places)
        if all(b - a >= gap for a, b in pairwise(want)) and low <= want[0] and want[-1] <= high:
            assert stand == pytest.approx(want)
    assert result[-1] == pytest.approx([7, 17, 27])


@pytest.mark.parametrize(
    "visit", [{"scheme": "light"}, {"scheme": "dark"}], indirect=True, ids=["light", "dark"]
)
def test_lines_are_named_at_their_ends(visit: Visit) -> None:
    """On logarithmic axes: three of the four lines end at one height."""
    result = names(visit.open("diffusion-flow-matching"))
    assert [name["text"] for name in result["names"]] == list(result["ends"]) and not result["legend"]
    heights = sorted(name["middle"] for name in result["names"])
    line = result["names"][0]["height"]
    assert all(b - a > 0.8 * line for a, b in pairwise(heights))
    assert all(name["left"] >= result["right"] and name["room"] >= 0 for name in result["names"])
    reach = len(heights) * 1.3 * line
    assert all(abs(name["middle"] - result["ends"][name["text"]]) < reach for name in result["names"])
    assert len({name["color"] for name in result["names"]}) == len(heights)


def test_names_move_with_their_lines_in_a_film(page_visit: Visit) -> None:
    """From the first look, where three gradients lie together, to looks where they lie apart."""
    tab = page_visit.open("adversarial-vanishing")
    bar, ends = tab.locator(".lectern-film"), []
    for button in (".first", ".next", ".next", ".next"):
        bar.locator(button).click()
        page_visit.settle()
        result = next(one for one in tab.evaluate(NAMES) if "saturating" in one["ends"])
        ends.append(result["ends"])
        stand = {name["text"]: name["middle"] for name in result["names"]}
        line = result["names"][0]["height"]
        assert stand.keys() == result["ends"].keys() and not result["legend"]
        assert all(b - a > 0.8 * line for a, b in pairwise(sorted(stand.values())))
        reach = (len(stand) - 1) * 1.3 * line
        assert all(abs(stand[name] - end) < reach for name, end in result["ends"].items())
    moved = {name: abs(ends[-1][name] - ends[0][name]) for name in ends[0]}
    assert max(moved.values()) > reach  # a name that stayed would be too far from its line


def stand_beside(tab: Any) -> None:
    """Every line that is drawn has its name beside it, over no line and no other name."""
    result = tab.evaluate(BESIDE)
    assert [name["text"] for name in result["names"]] == result["drawn"] and not result["legend"]
    assert all(name["crossed"] == [] and name["far"] < 12 for name in result["names"]), result["names"]
    for one, other in combinations([name["box"] for name in result["names"]], 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_lines_that_end_alike_are_named_where_they_are_apart(page_visit: Visit) -> None:
    """Bells, 0 at both ends: a peak that leaves the plot, one bell upon another, a point without a line."""
    for page in ("guidance?scene=Lost diversity", "guidance?scene=Unconditional"):
        stand_beside(page_visit.open(f"diffusion-{page}"))
    stand_beside(page_visit.open("diffusion-inpainting?scene=Biased mean"))
    tab = page_visit.open("diffusion-posterior?t=3")
    stand_beside(tab)
    shown = "n => document.querySelectorAll('.annotation text').length === n"
    for t in (2, 1):  # at t = 1 the step before is x_0 itself: two of the bells are points
        tab.get_by_label("Back", exact=True).click()
        tab.locator(".lectern-film .count", has_text=f"t = {t}").wait_for()
        tab.wait_for_function(shown, arg=1 if t == 1 else 3)
        stand_beside(tab)
