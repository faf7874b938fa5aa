"""The page "Change of variables": densities against closed forms, mass, strips, and typed points."""

import math
from functools import partial

import pytest
import torch
from opening import figure, film, metrics, open_page, open_warned, run_page, warnings
from scipy import stats

from lab.errors import UserError
from pages.flow.change_of_variables import lens

opened = partial(open_page, "flow/change_of_variables")
CURVES = {"sigmoid": 0.0, "e^z": 0.0, "leaky": 0.25, "two hills": 1.5, "z²": 0.0, "−log(1 − z)/λ": 2.0}
POINTS = [(-3.0, -3.0), (-1.0, -1.0), (1.0, -0.5), (3.0, 5.5)]


@pytest.mark.parametrize("name", [*CURVES, "typed points"])
def test_mass_is_kept_and_the_way_back_is_the_inverse(name: str) -> None:
    chosen = lens.curve(name, CURVES.get(name, 0.0), POINTS)
    z = lens.places(chosen)
    _, x, after = chosen.densities(z)
    total, due = lens.mass(chosen, z)
    assert total == pytest.approx(due, abs=1e-3) and due > 0.99
    strips = lens.strips(chosen)
    assert chosen.back(strips.x) == pytest.approx(strips.z, abs=1e-8)
    z, before, x, after = lens.inside(chosen, strips.ends_z, 400)
    if name not in ("leaky", "typed points"):  # trapezes miss their jumps
        for places, heights in ((z, before), (x, after)):
            assert torch.trapezoid(heights, places) == pytest.approx([lens.MASS] * lens.STRIPS, abs=2e-3)


KNOBS = {"leaky": (0.05, 1.0), "two hills": (0.5, 3.0), "−log(1 − z)/λ": (0.5, 4.0)}
STEEP = [
    "-20:-20 20:20",
    "-3:-20, 3:20",
    "-20:-1 20:1",
    "-1:-20 0:0 0.01:19 20:20",
    "-2:0 -1.9:10 2:10.001 2.1:20",
]


@pytest.mark.parametrize("name", [*CURVES, *STEEP])
def test_the_mass_that_is_shown_is_kept_over_the_whole_range_of_the_knob(name: str) -> None:
    """Also of typed points, as steep and as flat as they can be."""
    low, high = KNOBS.get(name, (0.0, 0.0))
    kind, points = ("typed points", lens.pairs(name)[0]) if name in STEEP else (name, POINTS)
    for knob in torch.linspace(low, high, 11 if high > low else 1).tolist():
        chosen = lens.curve(kind, knob, points)
        z = lens.places(chosen)
        total, due = lens.mass(chosen, z)
        assert total == pytest.approx(due, abs=1e-3), knob
        assert chosen.back(chosen.of(z)[0]) == pytest.approx(z, abs=1e-8)


def test_the_densities_are_those_of_scipy() -> None:
    normal = stats.norm
    laws = {
        "e^z": stats.lognorm(1),
        "−log(1 − z)/λ": stats.expon(scale=0.5),
        "z²": stats.beta(0.5, 1),
    }
    for name, law in laws.items():
        strips = lens.strips(lens.curve(name, CURVES[name], []))
        assert strips.after.tolist() == pytest.approx(law.pdf(strips.x).tolist(), rel=1e-9)
    hills = lens.strips(lens.curve("two hills", 1.5, []))
    mixture = [0.5 * (normal.pdf(x, -1.5, 0.5) + normal.pdf(x, 1.5, 0.5)) for x in hills.x.tolist()]
    assert hills.after.tolist() == pytest.approx(mixture, rel=1e-9)


def test_the_page_at_first() -> None:
    page = opened()
    shown = metrics(page)
    assert shown["f′(z)"] == "0.2500" and shown["p(z)"] == f"{1 / math.sqrt(2 * math.pi):.4f}"
    assert shown["p(x)"] == f"{4 / math.sqrt(2 * math.pi):.4f}"
    bar = film(page, "strip")
    assert len(bar["captions"]) == lens.STRIPS == bar["count"] and bar["at"] == 20
    _, frames = figure(page, "construction")
    assert frames["data.4.x"].shape == frames["data.5.y"].shape == (lens.STRIPS, 24)


def test_what_the_scenes_say() -> None:
    end = metrics(opened(strip=40))
    strips = lens.strips(lens.curve("sigmoid", 0, []))
    (z0, z1), (x0, x1) = strips.ends_z[40], strips.ends_x[40]
    assert z1 - z0 > 1.5 and x1 - x0 < 0.2 and float(end["f′(z)"]) < 0.15
    kink = lens.strips(lens.curve("leaky", 0.25, []))
    assert kink.z[8] < 0 and kink.slope[8] == 0.25 and kink.slope[40] == 1
    hills = lens.strips(lens.curve("two hills", 1.5, []))
    assert hills.after[20] < 0.02 and hills.slope[20] > 10
    law = lens.strips(lens.curve("−log(1 − z)/λ", 2.0, []))
    assert ((law.ends_x[:, 1] - law.ends_x[:, 0]).diff() > 0).all()
    assert {round(v, 9) for v in lens.strips(lens.curve("typed points", 0, POINTS)).slope.tolist()} == {
        1,
        0.25,
        3,
    }


def test_samples_agree_with_the_density() -> None:
    chosen = lens.curve("two hills", 1.5, [])
    places, heights = lens.histogram(chosen, 20_000, 0)
    expected = chosen.densities(chosen.back(places))[2]
    assert (heights - expected).abs().max() < 0.05
    fig = figure(opened(f="two hills", draws=20_000), "construction")[0]["figure"]
    assert fig["data"][3]["type"] == "bar" and fig["data"][3]["x"]


def test_typed_points() -> None:
    assert lens.pairs("0:0, 1:2 x 3:4:5 nan:1") == ([(0, 0), (1, 2)], lens.pairs("0:0 x")[1])
    page = open_warned("flow/change_of_variables", f="typed points", points="-2:-1, ?, 2:3")
    assert "“?”" in warnings(page) and metrics(page)["f′(z)"] == "1.0000"
    with pytest.raises(UserError, match="does not rise"):
        lens.Broken([(0, 0), (1, 0)])
    for text in ("", "🙂", "1:1", "0:1 1:0"):
        page = run_page("flow/change_of_variables", f="typed points", points=text)
        assert not page.exception and not page.error and page.warning
