"""The page of divergences: its curves are the measures, its slopes their slopes."""

import math
from typing import Any

import pytest
import torch
from opening import component, film, open_page, plain

from pages.adversarial.divergences import lens
from pages.adversarial.divergences.figures import INFINITY, laws_and_measures


def test_slopes_are_those_of_the_specification() -> None:
    """d(2 D_JS)/dd of two unit Gaussians, as a discriminator at its best passes it on."""
    story = lens.story("Gaussians", 1.0, 1.0)
    for d, slope in ((0.5, 0.235263), (1.0, 0.397973), (2.0, 0.449600)):
        at = lens.SHIFTS.index(d)
        assert 2 * float(story.slopes["JS"][at]) == pytest.approx(slope, abs=2e-4)
        assert float(story.slopes["W1"][at]) == pytest.approx(1.0)


def test_boxes_that_part() -> None:
    story = lens.story("boxes", 1.0, 1.0)
    at = lens.SHIFTS.index(2.0)
    assert math.isinf(story.values["KL"][at]) and story.slopes["KL"][at].isnan()
    assert float(story.values["JS"][at]) == pytest.approx(math.log(2))
    assert float(story.slopes["JS"][at]) == 0 and float(story.jump[at]) == 0
    assert lens.option(float(story.jump[at])) == lens.OPTIONS[0]
    assert lens.option(float(story.jump[lens.SHIFTS.index(0.5)])) == lens.OPTIONS[2]


def test_the_printed_formula_is_right_by_luck_alone() -> None:
    """[UDL] 15.21: 4 for two equal Gaussians of σ = 2, 13 instead of 9 for σ = 1 and 4."""
    zero = lens.SHIFTS.index(0.0)
    assert float(lens.printed_w2(2.0, 2.0)[zero]) == pytest.approx(4.0)
    assert float(lens.printed_w2(1.0, 4.0)[zero]) == pytest.approx(13.0)
    assert float(lens.story("Gaussians", 1.0, 4.0).values["W2²"][zero]) == pytest.approx(9.0)
    right = lens.story("Gaussians", 1.0, 1.0).values["W2²"]
    torch.testing.assert_close(lens.printed_w2(1.0, 1.0), right)


def test_densities_have_mass_one() -> None:
    for kind in ("boxes", "Gaussians"):
        story = lens.story(kind, 1.0, 1.0)
        width = float(story.x[1] - story.x[0])
        near = story.q[lens.SHIFTS.index(-2.0) : lens.SHIFTS.index(2.0)]
        torch.testing.assert_close(near.sum(-1) * width, torch.ones(len(near)).double(), atol=0.03, rtol=0)


def test_the_page_says_infinity() -> None:
    page = open_page("adversarial/divergences", kind="boxes", a=1.5)
    shown = film(page, "a")
    assert shown["at"] == lens.SHIFTS.index(1.5)
    assert shown["equations"][shown["at"]].count("&#x0221E;") == 2
    assert shown["equations"][lens.SHIFTS.index(0.0)].count("&#x0221E;") == 0


def drawn(**link: str) -> list[dict[str, Any]]:
    """Traces of the figure."""
    spec = component(open_page("adversarial/divergences", **link), "figure-measures")[0]
    return list(spec["figure"]["data"])


def test_what_cannot_be_drawn_stands_at_infinity() -> None:
    laws = ["data p", "generator q"]
    kl, *others = (trace for trace in drawn(kind="boxes") if "name" in trace)
    assert [kl["name"], *(trace["name"] for trace in others)] == ["KL both ways", "JS", "W₁", "W₂²", *laws]
    drawn_at = dict(zip(lens.DRAWN, plain(kl["y"]), strict=True))
    assert drawn_at == {a: INFINITY if a else 0 for a in lens.DRAWN}
    assert "W₂² as printed" in [trace.get("name") for trace in drawn(printed="true")]
    assert [t["name"] for t in drawn(kind="boxes", show="slope") if "name" in t] == ["JS", "W₁", "W₂²", *laws]


@pytest.mark.parametrize("show", ["value", "slope"])
def test_a_dot_lies_on_each_curve_at_each_shift(show: str) -> None:
    results, result = lens.story("Gaussians", 1.0, 2.0), lens.curves("Gaussians", 1.0, 2.0, show)
    tree = laws_and_measures(results, result, show, None)
    dots = [trace for trace in tree["data"] if trace["mode"] == "markers"]
    assert len(dots) == len(lens.NAMES)
    at = lens.SHIFTS.index(0.5)
    for name, dot in zip(lens.NAMES, dots, strict=True):
        (x,), (y,) = dot["x"].values[at], dot["y"].values[at]
        assert x == 0.5 and y == pytest.approx(
            float((results.values if show == "value" else results.slopes)[name][at])
        )
    (mark, *_) = tree["layout"]["shapes"]
    assert mark["x0"].values[at] == mark["x1"].values[at] == 0.5
