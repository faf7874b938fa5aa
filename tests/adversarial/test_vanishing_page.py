"""A frozen generator: its gradients are those of the closed forms, and what the scenes say of them holds."""

from functools import cache

import pytest
import torch
from opening import figure, film, open_page

from lab.seeding import seeded
from modules.adversarial.gan import GAN
from modules.adversarial.toy import Logistic, Shift
from pages.adversarial.vanishing import lens


@cache
def played(turns: int, steps: int, width: int = 128, noise: float = 0.0, seed: int = 0) -> list[lens.Look]:
    *_, (_, looks) = lens.watching(turns, steps, width, noise, seed)
    return looks


@pytest.mark.parametrize(
    ("d", "sat", "ns"),  # oracle GA-O9
    [(0.5, 0.235263, 0.2647), (2.0, 0.449600, 1.5504), (4.5, 0.083502, 4.4165), (8.0, 3.92875e-4, 7.9996)],
)
def test_norms_are_those_of_two_gaussians(d: float, sat: float, ns: float) -> None:
    """A shifted Gaussian against the best D, a logistic regression: quantiles of z stand for its law."""
    generator = Shift(0.0).double()
    d_net = Logistic(-d * d / 2, d).double()  # real examples d to the right: f = d (x − d/2)
    q = (torch.arange(200_000, dtype=torch.float64) + 0.5) / 200_000
    z = 2**0.5 * torch.erfinv(2 * q - 1)[:, None]
    results = {name: lens.gradient_norm(generator, d_net, loss, z) for name, loss in lens.LOSSES.items()}
    assert results["saturating"] == pytest.approx(sat, rel=2e-3)
    assert results["non-saturating"] == pytest.approx(ns, rel=2e-3)
    assert results["critic"] == pytest.approx(d)  # the slope of f


def test_noise_makes_the_near_row_of_a_far_one() -> None:
    """Oracle GA-O11: two points at a distance of 4.5 with noise of 4.5 are Gaussians at a distance of 1."""
    generator, s = Shift(0.0).double(), 4.5
    d_net = Logistic(-0.5, 1 / s).double()  # f = (x/s) − ½ is the best D of N(0, s²) and N(s, s²)
    q = (torch.arange(100_000, dtype=torch.float64) + 0.5) / 100_000
    blur = s * 2**0.5 * torch.erfinv(2 * q - 1)[:, None]
    norm = lens.gradient_norm(generator, d_net, lens.LOSSES["saturating"], torch.zeros_like(blur), blur)
    assert norm == pytest.approx(0.397973 / s, rel=1e-3)


def test_the_generator_stands_still_and_its_own_d_goes_on() -> None:
    model = seeded(lambda: GAN(event_shape=(1, 8, 8), ema=0.0), 0)
    before = [p.clone() for p in model.generator.parameters()]
    judged = model.discriminator.head.weight.clone()
    *_, (done, looks) = lens.alone(model, lens.digits(), 5, 128, 0.0, 0)
    assert done == looks[-1].steps == 5 and [one.steps for one in looks] == [0, 1, 2, 3, 4, 5]
    assert all(torch.equal(a, b) for a, b in zip(before, model.generator.parameters(), strict=True))
    assert not torch.equal(judged, model.discriminator.head.weight)


def test_histograms_hold_every_logit() -> None:
    f = torch.tensor([-100.0, 0.0, 0.2, 100.0])
    assert lens.shares(f).sum() == 1 and lens.shares(f)[[0, -1]].tolist() == [0.25, 0.25]
    assert lens.shares(f)[lens.BINS // 2] == 0.5


def separated(one: lens.Look) -> float:
    """Share of digits with f above 0 and of samples with f below, half a bar away from it."""
    middle = lens.BINS // 2
    return float(one.real[middle + 1 :].sum() + one.fake[:middle].sum()) / 2


def part(looks: list[lens.Look], name: str) -> float:
    """What is left of a gradient at the end."""
    return looks[-1].norms[name] / looks[0].norms[name]


@pytest.mark.parametrize("turns", [lens.QUICK, 10])
def test_what_the_first_scenes_say(turns: int) -> None:
    """It held for seeds 0 to 4."""
    looks = played(turns, lens.QUICK)
    assert part(looks, "saturating") < 0.2 and part(looks, "non-saturating") > 5
    early = next(one for one in looks if one.steps == 20)
    assert separated(early) > 0.9 > separated(looks[0])
    assert lens.left(looks) in lens.OPTIONS[:2]


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 5))])
def test_what_the_longer_scenes_say(seed: int) -> None:
    plain, late = played(lens.QUICK, 1000, seed=seed), played(1000, 1000, seed=seed)
    critic = [one.norms["critic"] for one in plain]
    level = critic[len(critic) // 3 :]
    assert 5 * critic[0] < min(level) and max(level) < 1.5 * min(level)
    for looks in (plain, late):
        assert part(looks, "saturating") < 0.01 and separated(looks[-1]) > 0.98
    assert separated(played(lens.QUICK, 1000, width=8, seed=seed)[-1]) > 0.98
    noisy = played(lens.QUICK, 300, noise=1.0, seed=seed)
    assert part(noisy, "saturating") > 1 and separated(noisy[-1]) < 0.95
    assert min(one.norms["saturating"] for one in noisy) > 0.3


def test_the_page() -> None:
    page = open_page("adversarial/vanishing")
    looks = played(lens.QUICK, lens.QUICK)
    assert film(page, "look")["captions"] == lens.captions(looks)
    _, arrays = figure(page, "logits")
    assert arrays["data.1.y"].shape == (len(looks), lens.BINS)
    assert arrays["data.1.y"].sum(1) == pytest.approx(1, abs=1e-3)
