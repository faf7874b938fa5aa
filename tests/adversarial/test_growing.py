"""Progressive growing: growth changes nothing at α = 0, and the old way to pixels ends at α = 1."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from modules.adversarial.diversity import MinibatchStd
from modules.adversarial.growing import (
    GrowingDiscriminator,
    GrowingGenerator,
    ProgressiveGAN,
    fade,
    halve,
    up,
)


def nets(dtype: torch.dtype = torch.float32) -> tuple[GrowingGenerator, GrowingDiscriminator]:
    torch.manual_seed(0)
    return GrowingGenerator(5, 1, (6, 4, 3)).to(dtype), GrowingDiscriminator(1, (6, 4, 3)).to(dtype)


def at(network: Any, level: int, alpha: float) -> Any:
    network.level, network.alpha = level, alpha
    return network


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("level", [1, 2])
@torch.no_grad()
def test_growth_changes_nothing_at_first(level: int) -> None:
    g, f = nets()
    z, x = randn(4, 5), randn(4, 1, 4 << (level - 1), 4 << (level - 1), seed=1)
    assert halve(torch.arange(4.0).view(1, 1, 2, 2)).item() == 1.5  # the mean, not the largest
    small, judged = at(g, level - 1, 1.0)(z), at(f, level - 1, 1.0)(x)
    assert torch.equal(at(g, level, 0.0)(z), up(small))  # to the bit
    assert torch.equal(halve(up(x)), x) and torch.equal(at(f, level, 0.0)(up(x)), judged)
    assert not torch.allclose(at(g, level, 1.0)(z), up(small))


def test_at_the_end_of_a_fade_the_old_way_gets_no_gradient() -> None:
    for alpha, reached in ((1.0, False), (0.5, True)):
        g, f = nets()
        at(f, 2, alpha)(at(g, 2, alpha)(randn(4, 5))).sum().backward()
        for old in (g.to_pixels[1].weight, f.from_pixels[1][0].weight):
            assert (old.grad is not None and bool(old.grad.abs().sum() > 0)) == reached
        for new in (g.to_pixels[2].weight, f.from_pixels[2][0].weight, g.blocks[2][0].weight,
                    f.blocks[2][0].weight, g.blocks[0][0].weight):  # fmt: skip
            assert new.grad is not None and new.grad.abs().sum() > 0
        assert g.to_pixels[0].weight.grad is None and f.from_pixels[0][0].weight.grad is None


@torch.no_grad()
def test_a_fade_is_the_mean_of_both_ways() -> None:
    g, _ = nets(torch.float64)
    z = randn(3, 5).double()
    old, new = (at(g, 1, alpha)(z).atanh() for alpha in (0.0, 1.0))
    torch.testing.assert_close(at(g, 1, 0.3)(z).atanh(), 0.7 * old + 0.3 * new)
    a, b = randn(2, 3), randn(2, 3, seed=1)
    assert torch.equal(fade(a, b, 0), a) and torch.equal(fade(a, b, 1), b)


def test_minibatch_std_knows_its_numbers() -> None:
    std = MinibatchStd(0.0)
    two = torch.stack([torch.zeros(3, 2, 2), torch.full((3, 2, 2), 2.0)])
    assert std.statistic(two).item() == 1.0  # not 1.414214
    assert std.statistic(torch.arange(8.0).view(2, 1, 2, 2)).item() == 2.0
    assert MinibatchStd(1e-8).statistic(two[:1].expand(4, -1, -1, -1)).item() == pytest.approx(1e-4)
    assert std(two).shape == (2, 4, 2, 2)


def test_real_and_made_are_judged_as_two_batches() -> None:
    _, f = nets()
    x = randn(4, 1, 4, 4)
    shuffled = f(x[[2, 0, 3, 1]])
    torch.testing.assert_close(shuffled, f(x)[[2, 0, 3, 1]])
    assert not torch.allclose(f(torch.cat([x, 3 * x]))[:4], f(x))  # one batch of both is another thing


def test_the_schedule_rests_fades_and_stays() -> None:
    model = ProgressiveGAN((1, 16, 16), 4, (4, 4, 4), phase=10)
    texts = []
    for turn in (0, 9, 10, 15, 19, 20, 29, 30, 35, 40, 49, 50, 1000):
        model.num_updates[0] = turn
        texts.append(model.schedule_position())
    assert texts == [
        (0, 1.0), (0, 1.0), (1, 0.0), (1, 0.5), (1, 0.9), (1, 1.0), (1, 1.0), (2, 0.0), (2, 0.5), (2, 1.0),
        (2, 1.0), (2, 1.0), (2, 1.0),
    ]  # fmt: skip


def test_a_game_may_begin_at_any_level() -> None:
    model = ProgressiveGAN((1, 16, 16), 4, (4, 4, 4), phase=10, first_level=1)
    texts = []
    for turn in (0, 9, 10, 15, 20, 1000):
        model.num_updates[0] = turn
        texts.append(model.schedule_position())
    assert texts == [(1, 1.0), (1, 1.0), (2, 0.0), (2, 0.5), (2, 1.0), (2, 1.0)]
    control = ProgressiveGAN((1, 16, 16), 4, (4, 4, 4), phase=10, first_level=2)
    for turn in (0, 5, 10, 1000):
        control.num_updates[0] = turn
        assert control.schedule_position() == (2, 1.0)


@torch.no_grad()
def test_real_pictures_fade_too() -> None:
    model = ProgressiveGAN((1, 16, 16), 4, (4, 4, 4), phase=10)
    x = torch.rand(3, 1, 16, 16)
    model.num_updates[0] = 15
    (seen, _), small = model.unpack(x), halve(2 * x - 1)
    torch.testing.assert_close(seen, 0.5 * up(halve(small)) + 0.5 * small)
    model.num_updates[0] = 0
    assert model.unpack(x)[0].shape == (3, 1, 4, 4)
    model.num_updates[0] = 99
    assert torch.equal(model.unpack(x)[0], 2 * x - 1)
    model.eval()  # small samples are held against whole pictures, and D halves them to its level
    model.num_updates[0] = 0
    whole, _ = model.unpack(x)
    assert torch.equal(whole, 2 * x - 1)
    torch.testing.assert_close(model.discriminate(whole), model.discriminator(halve(halve(whole))))


def test_samples_have_the_full_size_and_turns_run_at_every_stage() -> None:
    model = ProgressiveGAN((1, 16, 16), 4, (4, 4, 4), phase=2)
    for turn in (0, 2, 3, 4, 6, 7, 8):
        model.train()
        model.num_updates[0] = turn
        x, _ = model.unpack(torch.rand(4, 1, 16, 16))
        for player, loss in model.updates(x):
            loss.backward(inputs=model.players()[player])
            assert loss.isfinite()
        model.eval()
        samples = model.sample(3, generator=torch.Generator().manual_seed(0))
        assert samples.shape == (3, 1, 16, 16) and 0 <= samples.min() <= samples.max() <= 1
        side = 4 << model.generator.level
        assert (
            torch.equal(samples, model.postprocess(2 * halve_to(samples, side) - 1))
            or model.generator.alpha < 1
        )


def halve_to(x: Tensor, side: int) -> Tensor:
    while x.shape[-1] > side:
        x = halve(x)
    return x


@pytest.mark.parametrize(
    "bad",
    [
        {"image_shape": (1, 28, 28)},
        {"channels": ()},
        {"phase": 0},
        {"latent_dim": 0},
        {"first_level": 3},
        {"first_level": -1},
    ],
)
def test_hostile_settings(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\."):
        ProgressiveGAN(**bad)
    model = ProgressiveGAN((1, 8, 8), 4, (4, 4))
    for level, alpha in ((2, 1.0), (-1, 1.0), (1, 1.5), (1, math.nan)):
        with pytest.raises(ValueError, match=r"level is|alpha is"):
            model.set_level(level, alpha)
