"""The page of annealed importance sampling: its numbers, brute force, and what its scenes say."""

import math
from functools import cache

import pytest
import torch
from opening import figure, film, metrics, open_page, run_page, scenes

from lab import weights
from modules.adversarial import ais
from modules.adversarial.gan import GAN
from pages.adversarial.ais import lens


def model() -> GAN:
    return weights.load("gan-ring")  # type: ignore[return-value]


@cache
def ran(x: float = 1.8, y: float = 0.8, chains: int = 32, count: int = 20, seed: int = 0) -> lens.Run:
    return lens.run(model(), x, y, 0.2, chains, count, seed)


def off(run: lens.Run) -> float:
    return abs(run.log_z[-1] - run.brute[-1])


def test_it_is_the_estimate_of_the_module() -> None:
    generator = torch.Generator().manual_seed(0)
    whole = ais.log_prob(model().decode, lens.point(1.8, 0.8)[None], 16, 0.2, chains=32, count=20,
                         step=lens.STEP, steps=lens.STEPS, generator=generator)  # fmt: skip
    result = ran()
    assert result.log_z[-1] == pytest.approx(float(whole.log_prob))
    assert result.error[-1] == pytest.approx(float(whole.error))
    assert result.moved == pytest.approx(whole.acceptance)
    assert len(result.betas) == 21 == len(result.samples) and result.betas[0] == 0 and result.betas[-1] == 1


def test_brute_force() -> None:
    """Against the density's own sum, and at β = 0."""
    z = lens.draws(model(), lens.MANY, 2)
    with torch.no_grad():
        gap = (model().decode(z).double() - lens.point(1.8, 0.8).double()).square().sum(1)
    by_hand = math.log(float((-gap / (2 * 0.2**2)).exp().mean() / (2 * math.pi * 0.2**2)))
    assert ran().brute[-1] == pytest.approx(by_hand, abs=1e-4)
    assert ran().brute[0] == pytest.approx(0) and ran().brute_error[0] == pytest.approx(0)


def test_the_map_is_a_density() -> None:
    step = 2 * lens.REACH / (lens.SIDE - 1)
    for sd in (0.2, 0.4):
        assert float(lens.density(model(), sd).sum()) * step**2 == pytest.approx(1, abs=0.02)
    row, column = 24, 29  # y 0.8, x 1.8
    gap = (lens.cloud(model()) - lens.point(1.8, 0.8)).square().sum(1)
    by_hand = (-gap / (2 * 0.2**2)).exp().mean() / (2 * math.pi * 0.2**2)
    at = lens.density(model(), 0.2)[row, column]
    assert float(at) == pytest.approx(float(by_hand), rel=1e-3)
    assert float(at.log()) == pytest.approx(ran().brute[-1], abs=0.3)


def test_what_the_scenes_say() -> None:
    between = ran()
    assert lens.verdict(between) == "yes" and 2.5 < between.brute[-1] - between.plain < 3.6
    draws = ran(count=1)
    assert draws.moved is None and lens.verdict(draws) == "no"
    assert draws.log_z[-1] == pytest.approx(draws.plain) == pytest.approx(between.plain)
    mode = ran(2.0, 0.0, 128, 60)
    assert lens.verdict(mode) == "yes" and abs(mode.plain - mode.brute[-1]) < 2 * mode.plain_error
    far = ran(3.0, 3.0)
    assert far.brute[-1] < -50 and off(far) < 1
    centre = ran(0.0, 0.0, 32, 60)
    assert off(centre) > 20 and centre.error[-1] < 1


def test_the_chains_come_to_x() -> None:
    result = ran()
    gap = (result.samples - lens.point(1.8, 0.8)).norm(dim=2).median(1).values
    assert gap[-2] < gap[0] / 2


def test_the_page() -> None:
    page = open_page("adversarial/ais")
    assert film(page, "rung")["captions"] == lens.captions(ran())
    _, arrays = figure(page, "plane")
    assert arrays["data.2.x"].shape == (21, 32)
    assert metrics(page)["brute force"].startswith(f"{ran().brute[-1]:.2f}")
    assert 2 <= len(scenes(page)) <= 9
    short = open_page("adversarial/ais", count=1, chains=8)
    assert film(short, "rung")["count"] == 2


def test_nonsense_in_the_link() -> None:
    for link in ({"x": "🦊"}, {"x": "1e9", "y": "nan"}, {"count": "0", "chains": "-1"}, {"rung": "50"}):
        assert not run_page("adversarial/ais", **link).exception
