"""Two-dimensional shapes lie where their definition says."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from datamodules.points import ENTROPY, SHAPES, Points, log_density, sample


def polar(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.norm(dim=1), torch.atan2(x[:, 1], x[:, 0])


@pytest.mark.parametrize("name", list(SHAPES))
def test_every_shape(name: Any) -> None:
    x, part = sample(name, 20_000)
    assert x.shape == (20_000, 2) and x.dtype == torch.float32 and torch.isfinite(x).all()
    assert x.abs().max() < 6
    assert x.mean(0).abs().max() < 4 * 2.5 / math.sqrt(20_000)
    counts = part.bincount(minlength=SHAPES[name][1])
    assert len(counts) == SHAPES[name][1]
    expected = 20_000 / len(counts)
    assert ((counts - expected).abs() < 5 * math.sqrt(expected)).all()
    again, _ = sample(name, 20_000)
    assert torch.equal(x, again)
    assert not torch.equal(x, sample(name, 20_000, seed=1)[0])


def test_moons() -> None:
    x, part = sample("moons", 5000)
    centre = torch.tensor([[-1.0, -0.5], [1.0, 0.5]])[part]
    radius, angle = polar(x - centre)
    assert (radius - 2).abs().max() < 0.6 and radius.std() < 0.12
    assert (angle[part == 0] > -0.3).float().mean() > 0.98  # the upper half of the left circle ...
    assert x[part == 0, 1].mean() > 0.5 > -0.5 > x[part == 1, 1].mean()
    # ... reaches into the right one: no straight line parts them
    assert x[part == 0, 1].min() < x[part == 1, 1].max()


def test_rings() -> None:
    x, part = sample("rings", 5000)
    radius, angle = polar(x)
    assert (radius.round() - 1 == part).float().mean() > 0.999
    assert angle.histc(8, -math.pi, math.pi).min() > 5000 / 8 * 0.8  # all around


def test_spirals() -> None:
    x, part = sample("spirals", 5000)
    radius, angle = polar(x)
    # on arm p the angle is π (radius + p), up to whole turns; π times the noise of the radius is left
    off = torch.remainder(angle - math.pi * (radius + part) + math.pi, 2 * math.pi) - math.pi
    assert (off / math.pi)[radius > 1].abs().mean() < 0.15 and off[radius > 1].mean().abs() < 0.05
    assert 2.9 < radius.max() < 3.6


def test_checkerboard() -> None:
    x, part = sample("checkerboard", 5000)
    row, column = ((x[:, 1] + 4) / 2).floor(), ((x[:, 0] + 4) / 2).floor()
    assert torch.equal((row + column) % 2, torch.zeros(5000))
    assert torch.equal(part.float(), row * 2 + (column / 2).floor())


def test_eight_gaussians() -> None:
    x, part = sample("eight_gaussians", 8000)
    for k in range(8):
        centre = 3 * torch.tensor([math.cos(k * math.pi / 4), math.sin(k * math.pi / 4)])
        assert torch.allclose(x[part == k].mean(0), centre, atol=0.05)
        assert torch.allclose(x[part == k].std(0), torch.tensor(0.25), atol=0.03)


def test_pinwheel() -> None:
    x, part = sample("pinwheel", 5000)
    # a fifth of a turn takes each arm to the next
    step = 2 * math.pi / 5
    turn = torch.tensor([[math.cos(step), -math.sin(step)], [math.sin(step), math.cos(step)]])
    for k in range(4):
        assert torch.allclose(turn @ x[part == k].mean(0), x[part == k + 1].mean(0), atol=0.08)
    # and an arm bends: farther points are turned further
    radius, _ = polar(x)
    off = torch.remainder(torch.atan2(x[:, 1], x[:, 0]) - step * part + math.pi, 2 * math.pi) - math.pi
    far, near = off[radius > 2.5].mean(), off[radius < 1.5].mean()
    assert far - near > 0.4


def test_datamodule() -> None:
    data = Points("rings", num_train=100, num_val=50, num_test=60, batch_size=10)
    data.setup()
    assert [len(s) for s in (data.train_set, data.val_set, data.test_set)] == [100, 50, 60]
    x, y = next(iter(data.train_dataloader()))
    assert x.shape == (10, 2) and y.shape == (10,)
    assert not torch.equal(data.train_set.tensors[0][:50], data.val_set.tensors[0])
    assert data.sizes["event_shape"] == (2,) and data.sizes["num_classes"] == 3
    assert data.describe()["shape"] == "rings" and Points.embedded


def test_bad_arguments() -> None:
    with pytest.raises(
        ValueError, match="moons, rings, spirals, checkerboard, eight_gaussians, pinwheel, sine"
    ):
        Points("moon")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one of moons"):
        sample("disc", 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="num_val is 0"):
        Points(num_val=0)


@pytest.mark.parametrize("name", list(ENTROPY))
def test_the_true_density_has_the_entropy_that_draws_show(name: Any) -> None:
    x, _ = sample(name, 4000, seed=5)
    surprise = -log_density(name, x.double())
    assert surprise.isfinite().all()
    error = 5 * surprise.std().item() / math.sqrt(4000) + 2e-4
    assert surprise.mean().item() == pytest.approx(ENTROPY[name], abs=error)


@pytest.mark.parametrize("name", ["moons", "rings", "eight_gaussians", "checkerboard"])
def test_the_true_density_integrates_to_one(name: Any) -> None:
    cells = {"rings": 301}.get(name, 161)
    axis = (torch.arange(cells, dtype=torch.float64) + 0.5) / cells * 10 - 5
    mass = log_density(name, torch.cartesian_prod(axis, axis)).exp().sum().item() * (10 / cells) ** 2
    assert mass == pytest.approx(1, abs=0.03 if name == "checkerboard" else 1e-3)


def test_an_unknown_density_is_named() -> None:
    with pytest.raises(ValueError, match="pinwheel"):
        log_density("pinwheel", torch.zeros(1, 2))


@pytest.mark.parametrize(("name", "count", "sd"), [("ring8", 8, 0.05), ("grid25", 25, 0.05)])
def test_mixtures_say_where_their_modes_are(name: Any, count: int, sd: float) -> None:
    sizes = Points(name).sizes
    modes = torch.tensor(sizes["modes"])
    assert modes.shape == (count, 2) and sizes["mode_sd"] == sd
    x, part = sample(name, 20_000)
    nearest = torch.cdist(x, modes).argmin(1)
    assert torch.equal(nearest, part)
    assert (x - modes[part]).std().item() == pytest.approx(sd, rel=0.02)
    if name == "ring8":
        assert torch.allclose(modes.norm(dim=1), torch.tensor(2.0))
    else:
        assert modes.unique().tolist() == [-4, -2, 0, 2, 4]
    assert "modes" not in Points("moons").sizes
