"""Noise stays below 1, and picks no value that cannot be."""

from typing import Any

import pytest
import torch
from torch import Tensor

from lab import weights
from modules.autoregressive import base
from modules.autoregressive.rnade import RNADE
from modules.noise import normal_like, per_example, pick, uniform, uniform32

LARGEST = 1 - 2**-53  # of what torch.rand draws in double precision


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_noise_is_below_one_in_every_precision(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    like = torch.zeros(0, dtype=dtype)
    drawn = uniform(50, 7, like=like, generator=torch.Generator().manual_seed(3))
    plain = torch.rand(50, 7, generator=torch.Generator().manual_seed(3), dtype=torch.float64).to(dtype)
    assert torch.equal(drawn[plain < 1], plain[plain < 1]), "where it was right, the noise has other bits"
    monkeypatch.setattr(torch, "rand", lambda *shape, **_: torch.full(shape, LARGEST, dtype=torch.float64))
    assert LARGEST < 1 and (uniform(2, 3, like=like) < 1).all()
    assert (uniform(2, 3, like=like) > 1 - 2 * torch.finfo(dtype).eps).all()


def test_no_noise_picks_what_has_no_probability() -> None:
    # ten tenths make 1 - 1.2e-7 in single precision: noise above that reached the impossible last value
    p = torch.tensor([0.0] + [0.1] * 10 + [0.0] * 3)
    assert p.cumsum(0)[-1] <= 1
    u = torch.tensor([0.0, 0.05, 0.15, 0.95, 1 - 2**-24])
    assert pick(p.expand(5, -1), u).tolist() == [1, 1, 2, 10, 10]
    short = torch.tensor([0.3, 0.3, 0.3999, 0.0])  # as far below 1 as half precision may leave it
    assert pick(short, torch.tensor(0.99999)).item() == 2
    certain = torch.eye(3)
    assert pick(certain, torch.tensor([0.0, 0.5, 1 - 2**-24])).tolist() == [0, 1, 2]


def test_the_example_whose_noise_was_one() -> None:
    """Example 4244 of 5,000 with seed 640: the noise of variable 23 is so near to 1 that it was rounded."""
    model: Any = weights.load("nade-greys-digits")
    seeded = torch.Generator().manual_seed(640)
    noise = uniform(5000, model.n, like=torch.empty(0), generator=seeded)[4244, 23:24]
    assert noise.item() == 1 - 2**-24
    logits = model.logits(torch.zeros(1, model.n))[:, 23].detach()
    # improbable, but that is where the noise points
    assert model.sample_conditional(logits, noise, 1.0).item() == 16
    logits[:, 14:] = -200.0
    assert model.sample_conditional(logits, noise, 1.0).item() == 13


def test_a_mixture_of_gaussians_is_drawn_from_whatever_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last component has no weight at all: noise of 1 divided by its share, 0."""
    model = RNADE(event_shape=(2,), hidden=2, components=3)
    with torch.no_grad():
        model.bias[:, :3] = torch.tensor([0.0, 0.0, -200.0])
    for level in (0.0, 0.5, LARGEST):

        def drawn(*shape: int, level: float = level, **_: Any) -> Tensor:
            return torch.full(shape, level, dtype=torch.float64)

        monkeypatch.setattr(torch, "rand", drawn)
        x = model.sample(3)
        assert x.isfinite().all() and (x.abs() < 20).all()


def test_samplers_draw_their_noise_here(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []

    def counted(*shape: int, **knobs: Any) -> Tensor:
        asked.append(shape)
        return uniform(*shape, **knobs)

    monkeypatch.setattr(base, "uniform", counted)
    for name in ("made-digits", "nade-digits", "chain-digits", "rnade-moons", "gatedpixelcnn-stripes"):
        model: Any = weights.load(name)
        model.sample(2, generator=torch.Generator().manual_seed(0))
        assert asked.pop() == (2, model.n), name


def test_a_generator_per_example_draws_the_same_in_any_batch():
    x = torch.arange(12.0).reshape(4, 3)
    whole, part = normal_like(x, per_example(x)), normal_like(x[1:3], per_example(x[1:3]))
    assert torch.equal(whole[1:3], part) and not torch.equal(whole[0], whole[1])
    u, v = uniform32((5, 4), per_example(x)), uniform32((5, 2), per_example(x[1:3]))
    assert torch.equal(u[:, 1:3], v) and not torch.equal(u[:, 0], u[:, 1])
    assert not torch.equal(normal_like(x, per_example(x, 1)), whole)


def test_one_generator_draws_for_all_examples_and_none_for_no_example():
    x = torch.zeros(4, 3, dtype=torch.float64)
    generators = [torch.Generator().manual_seed(2) for _ in range(2)]
    drawn = torch.randn(4, 3, generator=generators[0], dtype=torch.float64)
    assert torch.equal(normal_like(x, generators[1]), drawn)
    assert normal_like(x[:0], []).shape == (0, 3) and uniform32((5, 0), []).shape == (5, 0)
