"""The page "Monotone maps": values, slopes and inverses, as printed and right."""

import math
from functools import partial

import pytest
import torch
from opening import figure, film, metrics, open_page, open_warned, prose, run_page, spoken, warnings

from pages.flow.monotone import lens

opened = partial(open_page, "flow/monotone")
FIVE = [0.1, 0.2, 0.5, 0.1, 0.1]
H = torch.tensor([0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1], dtype=torch.float64)


def test_the_oracles_of_both_bins() -> None:
    linear, roots = (lens.build(kind, FIVE, 1.0, []) for kind in lens.KINDS[:2])
    assert linear.of(H)[0].tolist() == pytest.approx([0, 0.05, 0.1, 0.2, 0.55, 0.85, 0.95, 1])
    assert linear.of(H[[1, 3, 4]])[1].tolist() == pytest.approx([0.5, 1, 2.5])
    value, slope = roots.of(H[[1, 3, 4, 5, 6]])
    assert value.tolist() == pytest.approx([0.223607, 0.632456, 1.263441, 1.694155, 2.010383], abs=1e-6)
    assert slope.tolist() == pytest.approx([1.118034, 1.581139, 2.5, 1.118034, 1.118034], abs=1e-6)
    assert roots.top == pytest.approx(2.103004, abs=1e-6)
    for chosen in (linear, roots):
        torch.testing.assert_close(chosen.back(chosen.of(H)[0]), H, atol=1e-9, rtol=0)


def test_the_printed_index_lags_a_bin() -> None:
    linear, roots = (lens.build(kind, FIVE, 1.0, []) for kind in lens.KINDS[:2])
    first = torch.tensor([0, 0.1, 0.19], dtype=torch.float64)
    assert (linear.printed(first) == 0).all() and (roots.printed(first) == 0).all()
    assert linear.printed(H)[-1] == pytest.approx(0.9)
    assert roots.printed(H)[-1] == pytest.approx(2.103004 - math.sqrt(0.1), abs=1e-6)
    assert linear.printed(torch.tensor([0.3]).double()) == pytest.approx(0.05)  # half of φ_1
    assert lens.build("cubic", FIVE, 1.0, []).printed(H) is None


@pytest.mark.parametrize("kind", lens.KINDS)
def test_slope_and_inverse(kind: str) -> None:
    chosen = lens.build(kind, FIVE, 1.0, [])
    h = torch.tensor([0.03, 0.11, 0.37, 0.5, 0.81, 0.97], dtype=torch.float64)
    x, slope = chosen.of(h)
    assert not chosen.forbidden()
    torch.testing.assert_close(chosen.back(x), h, atol=1e-9, rtol=0)
    for place, s in zip(h.tolist(), slope.tolist(), strict=True):
        assert lens.difference(chosen, place) == pytest.approx(s, rel=1e-4)


def test_a_cubic_too_steep_falls_and_the_rational_quadratic_does_not() -> None:
    steep = [4.0, 4.0, 4.0]
    folded = lens.build("cubic", [0.5, 0.5], 1.0, steep)
    assert float(folded.of(torch.tensor([0.25]).double())[1]) == pytest.approx(-0.5)
    (a, b), (c, d) = folded.forbidden()
    root = math.sqrt(1 / 36)  # 4 − 18 t + 18 t² is 0 at ½ ± √(1/36)
    assert (a, b) == pytest.approx((0.25 - root / 2, 0.25 + root / 2), abs=2e-3)
    assert (c, d) == pytest.approx((a + 0.5, b + 0.5), abs=2e-3)
    assert folded.back(H) is None
    assert not lens.build("rational quadratic", [0.5, 0.5], 1.0, steep).forbidden()


@pytest.mark.parametrize("kind", lens.KINDS)
def test_the_way_back_holds_over_the_whole_range_of_the_knobs(kind: str) -> None:
    """As flat as a bar may be between the steepest knots, and at random."""
    generator, h = torch.Generator().manual_seed(0), lens.places(lens.FRAMES)
    rises = [[1.0, 1e-6], [1e-6, 1.0], [1e-6, 1.0, 1e-6, 1.0], [1e-6] * 9 + [1.0], [0.1] * 10]
    rises += [torch.rand(k, generator=generator).pow(4).tolist() for k in range(2, 11)]
    splines = kind in lens.KINDS[2:]
    knots = [
        (0.1, ()),
        (1.0, ()),
        (4.0, ()),
        (1.0, (0.01,)),
        (1.0, (12.0,)),
        (1.0, (0.01, 12.0)),
        (1.0, (12.0, 0.01)),
    ]
    inverted = 0
    for bars in rises:
        phi = lens.steep([v / sum(bars) for v in bars])[0]
        for factor, slopes in knots if splines else knots[1:2]:
            typed = [slopes[i % len(slopes)] for i in range(len(phi) + 1)] if slopes else []
            chosen = lens.build(kind, phi, factor, typed)
            x, _ = chosen.of(h)
            assert float(x[-1]) == pytest.approx(chosen.top, abs=1e-9)
            back = chosen.back(x)
            if back is None:  # it folds, and the page says so
                assert kind == "cubic"
                continue
            inverted += 1
            assert (back - h).abs().max() < 1e-3, (phi, factor, typed)
    assert inverted >= len(rises)


def test_a_bar_that_is_set_leaves_a_sum_of_one() -> None:
    text = lens.with_rise(FIVE, 2, 0.3)
    values = [float(v) for v in text.split()]
    assert values[2] == 0.3 and sum(values) == pytest.approx(1, abs=2e-3)
    assert values[1] / values[0] == pytest.approx(2, rel=0.01)


def test_what_the_page_shows() -> None:
    page = opened()
    bar, shown = film(page, "h"), metrics(page)
    assert shown["f(1)"] == "1.000000" and shown["f(1) as printed"] == "0.900000"
    assert shown["Δf/Δh here"] == "1.000" and shown["K·φ of the bin"] == "1.000"
    assert "50% into bin 2" in bar["captions"][15] and "f⁻¹ of it is 0.300" in bar["captions"][15]
    assert spoken(bar["equations"][15]) == pytest.approx([0.3, 0.1, 0.5, 0.2, 0.2])
    _, frames = figure(page, "map")
    assert frames["data.0.x"][15] == pytest.approx([0.3, 0.3, 0.2, 0.2, 0.2], abs=1e-6)
    assert frames["data.0.y"][15] == pytest.approx([0, 0.2, 0.2, 0.3, 0], abs=1e-6)


def test_numbers_of_the_scenes() -> None:
    assert metrics(opened(h=0.5))["Δf/Δh here"] == "2.500"
    assert metrics(opened(kind="√ bins"))["f(1)"] == "2.103004"
    folded = opened(kind="cubic", phi="0.5 0.5", d="4 4 4")
    assert "two h have one f(h)" in prose(folded)
    assert "mirror: no function" in str(figure(folded, "map")[0])
    bent = opened(kind="rational quadratic", phi="0.5 0.5", d="4 4 4")
    assert "two h have one" not in prose(bent)


def test_what_cannot_be_used_is_named() -> None:
    assert "“x”" in warnings(open_warned("flow/monotone", phi="0.3 x 0.7"))
    assert "would be flat" in warnings(open_warned("flow/monotone", phi="0.3 0 0.7"))
    page = open_warned("flow/monotone", phi="0.3 x 0 0.7")
    assert "“x”" in warnings(page) and "would be flat" in warnings(page)
    page = open_warned("flow/monotone", kind="rational quadratic", phi="1e-12 1 1e-12 1", h=0.02)
    assert "would be flat" in warnings(page) and float(metrics(page)["|f⁻¹(f(h)) − h|"]) < 1e-9
    assert "2 to 10 weights" in warnings(run_page("flow/monotone", phi="3"))
    assert "6 knots need 6 slopes" in warnings(open_warned("flow/monotone", kind="cubic", d="1 2"))
