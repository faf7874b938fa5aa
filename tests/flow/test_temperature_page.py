"""Temperature: what is drawn at each T, and the numbers beside it."""

import pytest
import torch
from opening import figure, film, open_page, prose

from lab import weights
from lab.lenses.glows import digits
from modules.flow.glow import Glow
from pages.flow.temperature import lens


@pytest.fixture(scope="module")
def model() -> Glow:
    return weights.load("glow-digits")


@pytest.fixture(scope="module")
def sweep(model: Glow) -> lens.Sweep:
    return lens.sweep(model, digits("train")[0], 24, "all", 0)


def test_both_fall_as_it_gets_colder(model: Glow, sweep: lens.Sweep) -> None:
    assert all(a < b for a, b in zip(sweep.spread, sweep.spread[1:], strict=False))
    assert all(a < b for a, b in zip(sweep.distance, sweep.distance[1:], strict=False))
    assert sweep.spread[0] == 0 and (sweep.shown[0] == sweep.shown[0, 0]).all()
    own = model.sample(lens.MANY, temperature=0.7, generator=torch.Generator().manual_seed(0))[
        :, 0
    ]  # the model's own sampler
    assert torch.equal(own[:24], sweep.shown[7])
    assert sweep.spread[7] == pytest.approx(own.flatten(1).std(0).mean().item(), rel=1e-5)
    train = digits("train")[0].flatten(1)
    nearest = ((own[:5].flatten(1)[:, None] - train) ** 2).mean(-1).sqrt().amin(1).mean().item()
    assert lens.distance_of(own[:5], digits("train")[0]) == pytest.approx(nearest, rel=1e-4)


def test_one_level_cold(model: Glow) -> None:
    """What leaves last decides the digit: without it the pictures are nearly one."""
    train = digits("train")[0]
    first, last = (lens.sweep(model, train, 24, which, 0).spread[0] for which in ("1", "2"))
    assert last < 0.6 * first


def test_the_power_of_the_base_is_not_that_of_the_model() -> None:
    base, model = lens.log_space_means(4.0)
    assert base == pytest.approx(0, abs=1e-9) and model == pytest.approx(-0.75, abs=1e-6)
    assert lens.power(0.7) == "2.04" and lens.power(1.4) == "0.51"


def test_the_page(sweep: lens.Sweep) -> None:
    page = open_page("flow/temperature", t=0.5)
    text = film(page, "t")["captions"]
    assert f"spread of a pixel {sweep.spread[5]:.2f}" in text[5] and "α = 4.00" in text[5]
    assert f"{sweep.distance[5]:.2f} away" in text[5] and "−0.75" not in prose(page)
    _, frames = figure(page, "samples")
    assert len(frames["data.0.z"]) == len(lens.TEMPERATURES)
