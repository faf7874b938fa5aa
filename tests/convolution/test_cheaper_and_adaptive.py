"""Initialisations, convolutions with fewer weights, and convolutions that look at their input first."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from modules.convolution import initialization
from modules.convolution.adaptive import (
    DeformableConvolution,
    GatedConvolution,
    Inception,
    PartialConvolution,
    PredictedConvolution,
    SqueezeExcitation,
)
from modules.convolution.convolution import convolve
from modules.convolution.matrices import dense_weight
from modules.convolution.separable import DepthwiseSeparable, RankOne


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def exact(module: nn.Module) -> nn.Module:
    """The module in float64 with drawn parameters."""
    module = module.double()
    for number, parameter in enumerate(module.parameters()):
        parameter.data = draw(*parameter.shape, seed=number) / 3
    return module


def size(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def assert_equal(a: Tensor, b: Tensor, tolerance: float = 1e-12) -> None:
    assert a.shape == b.shape
    assert (a - b).abs().max() <= tolerance


# --- Initialisation ------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [8, 21])
def test_he_keeps_the_scale_whatever_the_size_of_the_picture(side: int) -> None:
    """Inside, Var h = 2 E[x²]; at the border of zero padding less (P10.19)."""
    weight = initialization.he(torch.empty(2000, 4, 3, 3), generator=torch.Generator().manual_seed(0))
    x = draw(6, 4, side, side).float()
    h = F.conv2d(x, weight, padding=1)
    assert h[..., 1:-1, 1:-1].var() == pytest.approx(2 * x.square().mean().item(), rel=0.15)
    fields = F.unfold(x, 3, padding=1).square().sum(1).unflatten(1, (side, side))  # (B, H, W): Σ x² seen
    expected = 2 / 36 * fields
    assert (h.var(1) / expected - 1).abs().max() < 0.2  # of every position, over the 2000 channels
    assert expected[:, 0, 0].mean() < 0.6 * expected[:, 1:-1, 1:-1].mean()


def test_ways_of_an_initialisation() -> None:
    weight = torch.empty(8, 3, 3, 3)
    assert initialization.standard_deviation(weight) ** 2 == pytest.approx(2 / 27)
    assert initialization.standard_deviation(weight, "backward") ** 2 == pytest.approx(2 / 72)
    assert initialization.standard_deviation(weight, "both", 1.0) ** 2 == pytest.approx(2 / (27 + 72))
    large = torch.empty(200, 100, 3, 3)
    drawn = initialization.xavier(large, torch.Generator().manual_seed(0))
    assert drawn.var() == pytest.approx(2 / (300 * 9), rel=0.02)
    with pytest.raises(ValueError, match="forward, backward or both"):
        initialization.standard_deviation(weight, "sideways")


def test_a_thousand_delta_orthogonal_layers_keep_every_length() -> None:
    """Circular and linear: the ratio of lengths is 1 to 1e-12; with Gaussian weights it drifts (CV-O26)."""
    x = draw(2, 4, 5)
    generator = torch.Generator().manual_seed(0)
    h, drifting = x, x
    for _ in range(1000):
        weight = initialization.delta_orthogonal(
            torch.empty(4, 4, 3, dtype=torch.float64), generator=generator
        )
        h = F.conv1d(F.pad(h, (1, 1), mode="circular"), weight)
        gaussian = torch.empty(4, 4, 3, dtype=torch.float64).normal_(std=12**-0.5, generator=generator)
        drifting = F.conv1d(F.pad(drifting, (1, 1), mode="circular"), gaussian)
    ratio = h.flatten(1).norm(dim=1) / x.flatten(1).norm(dim=1)
    assert (ratio - 1).abs().max() <= 1e-12
    assert (drifting.norm() / x.norm()).log().abs() > 1
    wide = initialization.delta_orthogonal(torch.empty(6, 4, 3, 3, dtype=torch.float64), gain=2.0)
    assert_equal(wide[..., 1, 1].T @ wide[..., 1, 1], 4 * torch.eye(4, dtype=torch.float64), 1e-12)
    assert wide.count_nonzero() == 24
    for shape in ((3, 4, 3), (4, 4, 2)):
        with pytest.raises(ValueError, match="odd kernel"):
            initialization.delta_orthogonal(torch.empty(shape))


# --- Fewer weights ---------------------------------------------------------------------------------


def test_weights_of_sixty_four_channels() -> None:
    counts = {groups: nn.Conv2d(64, 64, 3, groups=groups, bias=False) for groups in (1, 2, 4, 8, 64)}
    assert {g: size(layer) for g, layer in counts.items()} == {1: 36864, 2: 18432, 4: 9216, 8: 4608, 64: 576}
    assert size(RankOne(64, 64)) == 4480
    assert size(DepthwiseSeparable(64, 64)) == 4672


def test_depthwise_is_one_convolution_for_each_channel() -> None:
    x, weight = draw(2, 4, 5, 6), draw(4, 1, 3, 3)
    each = [F.conv2d(x[:, c : c + 1], weight[c : c + 1], padding=1) for c in range(4)]
    assert_equal(convolve(x, weight, padding=1, groups=4), torch.cat(each, 1))


def test_rank_one_is_the_full_convolution_with_its_kernel() -> None:
    layer, x = exact(RankOne(3, 4, 5)), draw(2, 3, 6, 7)
    kernel = layer.kernel()
    assert_equal(layer(x), F.conv2d(x, kernel, padding=2))
    for o in range(4):  # every output's kernel has rank one, whichever axis is asked
        for matrix in (kernel[o].flatten(1), kernel[o].transpose(0, 1).flatten(1)):
            assert torch.linalg.matrix_rank(matrix) == 1


def test_depthwise_separable_is_the_full_convolution_with_the_product() -> None:
    layer, x = exact(DepthwiseSeparable(3, 4)), draw(2, 3, 6, 7)
    kernel = torch.einsum("oc,ckl->ockl", layer[1].weight[..., 0, 0], layer[0].weight[:, 0])
    assert_equal(layer(x), F.conv2d(x, kernel, padding=1))
    assert torch.equal(dense_weight(layer[0].weight, 3).diagonal().movedim(-1, 0), layer[0].weight[:, 0])


# --- Adaptive --------------------------------------------------------------------------------------


def test_partial_convolution_of_a_constant_with_holes_is_constant() -> None:
    layer = PartialConvolution(1, 1).double()
    nn.init.constant_(layer.weight, 1 / 9)
    nn.init.zeros_(layer.bias)
    mask = torch.ones(1, 1, 7, 7, dtype=torch.float64)
    mask[..., 1:6, 1:6] = 0
    h, grown = layer(torch.full_like(mask, 3.0), mask)
    inside = torch.zeros(7, 7, dtype=torch.bool)
    inside[2:5, 2:5] = True  # no window of these meets what is known
    assert torch.equal(grown[0, 0] == 0, inside)
    assert_equal(h[grown > 0], torch.full_like(h[grown > 0], 3.0))
    assert not h[grown == 0].any()
    assert layer(torch.full_like(mask, 3.0), grown)[1].sum() == 48  # the hole closes to its centre


def test_partial_convolution_by_hand() -> None:
    layer, x = exact(PartialConvolution(2, 3)), draw(1, 2, 4, 5)
    mask = (draw(1, 1, 4, 5, seed=9) > 0).double()
    h, _ = layer(x, mask)
    for i, j in ((0, 0), (2, 3), (3, 4)):
        rows, columns = slice(max(i - 1, 0), i + 2), slice(max(j - 1, 0), j + 2)
        known = mask[0, 0, rows, columns].sum()
        kernel = layer.weight[:, :, max(1 - i, 0) : 5 - i, max(1 - j, 0) : 6 - j]
        total = (kernel * (x * mask)[0, :, rows, columns]).sum((1, 2, 3))
        assert_equal(h[0, :, i, j], total * 9 / known + layer.bias)


def test_gates() -> None:
    x = draw(2, 3, 5, 5)
    gated = exact(GatedConvolution(3, 4))
    weight, bias = gated.both.weight, gated.both.bias
    features, gates = (F.conv2d(x, weight[k], bias[k], padding=1) for k in (slice(4), slice(4, 8)))
    assert_equal(gated(x), features / (1 + (-gates).exp()))
    assert size(SqueezeExcitation(256, 16)) == 8192
    squeeze = SqueezeExcitation(4, 2).double()
    shut = squeeze(draw(2, 4, 3, 3))
    nn.init.zeros_(squeeze.excite.weight)
    assert_equal(squeeze(draw(2, 4, 3, 3)), draw(2, 4, 3, 3) / 2)
    assert (shut - draw(2, 4, 3, 3) / 2).abs().max() > 1e-3
    squeeze = exact(squeeze)
    s = squeeze.gates(x := draw(2, 4, 3, 3))
    means = x.mean((2, 3))
    by_hand = (squeeze.excite.weight @ (squeeze.squeeze.weight @ means[1]).clamp(min=0)).sigmoid()
    assert_equal(s[1], by_hand)


def test_inception_concatenates_its_branches() -> None:
    layer, x = exact(Inception(3, (2, 4, 1), pool=5)), draw(2, 3, 6, 6)
    h = layer(x)
    assert h.shape == (2, 12, 6, 6)
    five = layer.branches[2]
    assert_equal(h[:, 6:7], F.conv2d(x, five.weight, five.bias, padding=2))


def test_predicted_kernels_are_each_examples_own() -> None:
    layer, x = exact(PredictedConvolution(3, 4)), draw(2, 3, 5, 5)
    kernels = layer.kernels(x)
    for b in range(2):
        assert_equal(layer(x)[b : b + 1], F.conv2d(x[b : b + 1], kernels[b], padding=1))
    assert (kernels[0] - kernels[1]).abs().max() > 1e-3
    assert layer(x[:0]).shape == (0, 4, 5, 5)


def test_deformable_convolution() -> None:
    """With offsets of 0 the ordinary one; moved by whole pixels it reads the neighbour."""
    layer, x = DeformableConvolution(2, 3).double(), draw(2, 2, 5, 6)
    assert_equal(layer(x), layer.convolution(x))
    with torch.no_grad():
        layer.offsets.bias.copy_(torch.tensor([0.0, 1.0]).repeat(9))  # rows 0, columns 1
    moved = F.pad(x, (0, 1))[..., 1:]
    inner = F.conv2d(F.pad(x, (1, 2, 1, 1)), layer.convolution.weight, layer.convolution.bias)[..., 1:]
    assert_equal(layer(x), inner)
    assert_equal(layer(x)[..., 1:], layer.convolution(moved)[..., 1:])
    with torch.no_grad():
        layer.offsets.bias.copy_(torch.tensor([0.5, 0.0]).repeat(9))
    between = F.conv2d(F.pad(x, (1, 1, 1, 2)), layer.convolution.weight, layer.convolution.bias)
    assert_equal(layer(x), (between[..., :-1, :] + between[..., 1:, :]) / 2)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: RankOne(2, 2, 4), "no centre"),
        (lambda: SqueezeExcitation(8, 16), "reduce less"),
        (lambda: Inception(2, (1, 2)), "2 channels for 3 kernels"),
    ],
)
def test_bad_settings_say_what_is_wrong(call, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
