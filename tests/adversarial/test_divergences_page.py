"""The page of divergences: its curves are the measures, its slopes their slopes."""

import math

import pytest
import torch
from opening import component, film, open_page

from pages.adversarial.divergences import lens


def test_slopes_are_those_of_the_specification() -> None:
    """d(2 D_JS)/dd of two unit Gaussians, as a discriminator at its best passes it on."""
    told = lens.story("Gaussians", 1.0, 1.0)
    for d, slope in ((0.5, 0.235263), (1.0, 0.397973), (2.0, 0.449600)):
        at = lens.SHIFTS.index(d)
        assert 2 * float(told.slopes["JS"][at]) == pytest.approx(slope, abs=2e-4)
        assert float(told.slopes["W1"][at]) == pytest.approx(1.0)


def test_boxes_that_part() -> None:
    told = lens.story("boxes", 1.0, 1.0)
    at = lens.SHIFTS.index(2.0)
    assert math.isinf(told.values["KL"][at]) and told.slopes["KL"][at].isnan()
    assert float(told.values["JS"][at]) == pytest.approx(math.log(2))
    assert float(told.slopes["JS"][at]) == 0 and float(told.jump[at]) == 0
    assert lens.option(float(told.jump[at])) == lens.OPTIONS[0]
    assert lens.option(float(told.jump[lens.SHIFTS.index(0.5)])) == lens.OPTIONS[2]


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
        told = lens.story(kind, 1.0, 1.0)
        width = float(told.x[1] - told.x[0])
        near = told.q[lens.SHIFTS.index(-2.0) : lens.SHIFTS.index(2.0)]
        torch.testing.assert_close(near.sum(-1) * width, torch.ones(len(near)).double(), atol=0.03, rtol=0)


def test_the_page_says_infinity() -> None:
    page = open_page("adversarial/divergences", kind="boxes", a=1.5)
    shown = film(page, "a")
    assert shown["at"] == lens.SHIFTS.index(1.5)
    assert shown["equations"][shown["at"]].count("&#x0221E;") == 2
    assert shown["equations"][lens.SHIFTS.index(0.0)].count("&#x0221E;") == 0


def test_what_cannot_be_drawn_is_left_out() -> None:
    spec = component(open_page("adversarial/divergences", kind="boxes"), "figure-measures")[0]
    names = [trace["name"] for trace in spec["figure"]["data"]]
    assert names == ["JS", "W1", "W2²", "KL both ways: 0 here, else ∞"]
    page = open_page("adversarial/divergences", printed="true")
    names = [trace["name"] for trace in component(page, "figure-measures")[0]["figure"]["data"]]
    assert "W2² as printed" in names
