"""Poolings and upsamplings: the worked arrays of the texts, torch's own, and sums over all masks."""

from itertools import product

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from modules.convolution import pooling, upsampling
from modules.convolution.convolution import transposed_convolve

WORKED = torch.tensor(
    [[1.0, 3, 5, 3], [6, 2, 0, 8], [4, 6, 1, 4], [2, 8, 0, 3]], dtype=torch.float64
)  # notebook 10.4


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def of_one(values: Tensor) -> list:
    return values[0, 0].tolist()


def test_worked_array() -> None:
    x = WORKED[None, None]
    assert of_one(pooling.subsample(x)) == [[1, 5], [4, 1]]
    values, indices = pooling.max_pool(x)
    assert of_one(values) == [[6, 8], [8, 4]] and of_one(indices) == [[4, 7], [13, 11]]
    assert of_one(pooling.mean_pool(x)) == [[3, 4], [5, 2]]
    assert of_one(upsampling.max_unpool(values, indices, (4, 4))) == [
        [0, 0, 0, 0], [6, 0, 0, 8], [0, 0, 0, 4], [0, 8, 0, 0],
    ]  # fmt: skip
    assert pooling.global_mean_pool(x).item() == WORKED.mean()


@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 2), (2, 1), (3, 3)])
def test_poolings_are_torchs_own(size: int, stride: int) -> None:
    """Also where blocks overlap, and where a side is odd: what is left over is dropped."""
    x = draw(2, 3, 7, 6)
    values, indices = pooling.max_pool(x, size, stride)
    theirs = F.max_pool2d(x, size, stride, return_indices=True)
    assert torch.equal(values, theirs[0]) and torch.equal(indices, theirs[1])
    assert (pooling.mean_pool(x, size, stride) - F.avg_pool2d(x, size, stride)).abs().max() <= 1e-14
    ours = pooling.power_pool(x.abs(), 3.0, size, stride)
    assert (ours - F.lp_pool2d(x.abs(), 3.0, size, stride)).abs().max() <= 1e-12
    signal = x.flatten(2)
    assert torch.equal(pooling.max_pool(signal, size, stride)[0], F.max_pool1d(signal, size, stride))


def test_of_equal_values_the_first_is_taken() -> None:
    assert pooling.max_pool(torch.zeros(1, 1, 4, 4))[1].flatten().tolist() == [0, 2, 8, 10]


def test_unpooling_of_an_odd_grid_needs_its_size() -> None:
    x = draw(2, 3, 5, 7)
    values, indices = pooling.max_pool(x)
    restored = upsampling.max_unpool(values, indices, (5, 7))
    assert torch.equal(restored, F.max_unpool2d(values, indices, 2, output_size=(5, 7)))
    with pytest.raises(ValueError, match="size before pooling"):
        upsampling.max_unpool(values, indices, (4, 6))


def test_pooling_undoes_unpooling_of_what_is_not_negative() -> None:
    """pool(unpool(v, i)) = v for v ≥ 0; a negative value loses to the zeros beside it."""
    _, indices = pooling.max_pool(draw(1, 2, 6, 6))
    values = draw(1, 2, 3, 3)
    for v in (values.abs(), values):
        again = pooling.max_pool(upsampling.max_unpool(v, indices, (6, 6)))[0]
        assert torch.equal(again, v.clamp(min=0))
    assert (values < 0).any()


def test_powers_go_from_the_sum_to_the_maximum() -> None:
    x = torch.tensor([[[1.0, 2, 3, 4]]], dtype=torch.float64)
    sums = {1: 10, 2: 5.4772256, 4: 4.3376131, 10: 4.0223462}
    for k, expected in sums.items():
        assert pooling.power_pool(x, k, 4).item() == pytest.approx(expected, abs=1e-6)
    means = {1: 2.5, 2: 2.7386128, 4: 3.0671557, 10: 3.5016557}
    for k, expected in means.items():
        assert pooling.power_pool(x, k, 4, form="mean").item() == pytest.approx(expected, abs=1e-6)
    assert pooling.power_pool(x.float() * 1e30, 50.0, 4).isfinite().all()  # (1e30)^50 is not a float
    assert pooling.power_pool(torch.zeros(1, 1, 4), 3.0, 4).item() == 0


def test_stochastic_pooling_follows_its_probabilities() -> None:
    x = torch.tensor([1.0, 2, 3, 4], dtype=torch.float64).expand(4000, 1, 4)
    drawn = pooling.stochastic_pool(x, 4, generator=torch.Generator().manual_seed(0)).flatten()
    shares = torch.stack([(drawn == k).double().mean() for k in (1, 2, 3, 4)])
    assert (shares - torch.tensor([0.1, 0.2, 0.3, 0.4])).abs().max() < 0.03
    assert pooling.expected_stochastic_pool(x[:1], 4).item() == pytest.approx(3, abs=1e-12)
    nothing = torch.zeros(1, 1, 4)
    assert pooling.stochastic_pool(nothing, 2).tolist() == [[[0, 0]]]
    assert pooling.expected_stochastic_pool(nothing, 2).tolist() == [[[0, 0]]]


@pytest.mark.parametrize("keep", [0.5, 0.8, 1.0])
def test_max_pool_dropout_against_all_masks(keep: float) -> None:
    x = torch.tensor([[[3.0, 1, 4, 2]]], dtype=torch.float64)
    mean = sum(
        max(a * v for a, v in zip(mask, (3, 1, 4, 2), strict=True))
        * keep ** sum(mask) * (1 - keep) ** (4 - sum(mask))
        for mask in product((0, 1), repeat=4)
    )  # fmt: skip
    assert pooling.expected_max_pool_dropout(x, keep, 4).item() == pytest.approx(mean, abs=1e-12)
    drawn = pooling.max_pool_dropout(
        x.expand(4000, 1, 4), keep, 4, generator=torch.Generator().manual_seed(0)
    )
    assert drawn.mean().item() == pytest.approx(mean, abs=0.1)
    if keep == 0.5:
        assert mean == 3.0625
        assert pooling.rank_probabilities(4, keep).tolist() == [0.5, 0.25, 0.125, 0.0625, 0.0625]


def test_a_blur_makes_pooling_change_less() -> None:
    """(0,0,1,1,0,0,1,1) on a circle, moved by one: max pooling changes by 1, max-blur pooling by ¼."""
    x = torch.tensor([[[0.0, 0, 1, 1, 0, 0, 1, 1]]], dtype=torch.float64)

    def blurred(x: Tensor) -> list:
        return of_one(pooling.max_blur_pool(x, mode="circular"))

    assert of_one(pooling.max_pool(x)[0]) == [0, 1, 0, 1]
    assert of_one(pooling.max_pool(x.roll(1, -1))[0]) == [1, 1, 1, 1]
    assert blurred(x) == [0.5, 1, 0.5, 1] and blurred(x.roll(1, -1)) == [0.75] * 4
    picture = draw(1, 2, 6, 6)
    flat = torch.full_like(picture, 3.0)
    assert torch.allclose(pooling.max_blur_pool(flat), torch.full((1, 2, 3, 3), 3.0, dtype=torch.float64))
    taps = torch.tensor([1.0, 2, 1], dtype=torch.float64)
    kernel = (taps[:, None] * taps / 16).expand(2, 1, 3, 3)
    dense = F.max_pool2d(F.pad(picture, (0, 1, 0, 1), "reflect"), 2, 1)
    theirs = F.conv2d(F.pad(dense, (1, 1, 1, 1), "reflect"), kernel, stride=2, groups=2)
    assert (pooling.max_blur_pool(picture) - theirs).abs().max() <= 1e-14


# --- Up ------------------------------------------------------------------------------------------


def test_nearest_and_three_bilinear_grids() -> None:
    z = torch.tensor([[[[6.0, 8], [8, 4]]]], dtype=torch.float64)
    assert of_one(upsampling.nearest(z))[:2] == [[6, 6, 8, 8], [6, 6, 8, 8]]
    half = of_one(upsampling.bilinear(z))
    assert half[0] == [6, 6.5, 7.5, 8] and half[1] == [6.5, 6.625, 6.875, 7]
    corners = of_one(upsampling.bilinear(z, grid="align-corners"))
    assert corners[0] == pytest.approx([6, 6.6667, 7.3333, 8], abs=1e-4)
    assert of_one(upsampling.bilinear(z, grid="zero-insert")) == [
        [6, 7, 8, 4], [7, 6.5, 6, 3], [8, 6, 4, 2], [4, 3, 2, 1],
    ]  # fmt: skip


@pytest.mark.parametrize("factor", [2, 3])
def test_upsamplings_are_torchs_own(factor: int) -> None:
    x = draw(2, 3, 4, 1)
    how = {"scale_factor": float(factor), "mode": "bilinear"}
    assert torch.equal(upsampling.nearest(x, factor), F.interpolate(x, scale_factor=float(factor)))
    for grid, corners in (("half-pixel", False), ("align-corners", True)):
        theirs = F.interpolate(x, align_corners=corners, **how)
        assert (upsampling.bilinear(x, factor, grid) - theirs).abs().max() <= 1e-14
    triangle = 1 - torch.arange(1 - factor, factor, dtype=torch.float64).abs() / factor  # (2s − 1,)
    written = transposed_convolve(
        x[:, :1], (triangle[:, None] * triangle)[None, None], stride=factor, padding=factor - 1,
        output_padding=factor - 1,
    )  # fmt: skip
    assert (upsampling.bilinear(x[:, :1], factor, "zero-insert") - written).abs().max() <= 1e-14
    channels = draw(2, 2 * factor**2, 3, 4)
    assert torch.equal(upsampling.pixel_shuffle(channels, factor), F.pixel_shuffle(channels, factor))


def test_pixel_shuffle_of_a_signal_interleaves() -> None:
    assert of_one(upsampling.pixel_shuffle(torch.tensor([[[1, 2], [3, 4]]]))) == [1, 3, 2, 4]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: pooling.max_pool(draw(1, 1, 1)), "no block of 2"),
        (lambda: pooling.max_blur_pool(draw(1, 1, 4), filter=(1, 1)), "odd number"),
        (lambda: upsampling.pixel_shuffle(draw(1, 3, 4)), "no multiple of 2"),
        (lambda: upsampling.bilinear(draw(1, 1, 4), grid="corner"), "half-pixel"),
    ],
)
def test_bad_settings_say_what_is_wrong(call, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
