"""Residual blocks: their sums, their order, their size at the start; what theory says of K of them."""

import math
from itertools import product

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from modules.convolution.residual import (
    Residual,
    ZeroAppend,
    convolution_block,
    dense_block,
    start_blocks,
)
from modules.convolution.residual_mlp import ResidualMLP
from modules.convolution.resnet import ResNet
from modules.convolution.variance import kappa, moments

D = torch.float64


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=D)


def size(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def assert_equal(a: Tensor, b: Tensor, tolerance: float = 1e-12) -> None:
    assert a.shape == b.shape
    assert (a - b).abs().max() <= tolerance


# --- Parameters ------------------------------------------------------------------------------------


def test_parameters_of_the_texts_blocks() -> None:
    """P11.8: one norm, ReLU, 3×3 of 512 channels, against a bottleneck through 128; 8.4 times fewer."""
    with torch.device("meta"):
        double = convolution_block(512, 512, bias=True).branch
        bottleneck = convolution_block(512, 512, bottleneck=128, bias=True).branch
        keras = convolution_block(64, 256, bottleneck=64, order="v1", bias=True)
        without = convolution_block(512, 512).branch, convolution_block(512, 512, bottleneck=128).branch
    assert [size(m) for m in double[:3]] == [1024, 0, 2_359_296 + 512] and size(double[:3]) == 2_360_832
    assert [size(m) for m in bottleneck if size(m)] == [1024, 65664, 256, 147584, 256, 66048]
    assert size(bottleneck) == 280_832 and round(2_360_832 / 280_832, 1) == 8.4
    assert (size(without[0][:3]), size(without[1])) == (2_360_320, 280_064)
    assert size(keras) == 75_648


# --- What a block computes -------------------------------------------------------------------------


def functional(block: Residual, h: Tensor, order: str) -> Tensor:
    """The branch of two 3×3 convolutions with batch norms, written out."""
    convs = [m for m in block.branch if isinstance(m, nn.Conv2d)]
    norms = [m for m in block.branch if isinstance(m, nn.BatchNorm2d)]
    for number, (conv, norm) in enumerate(zip(convs, norms, strict=True)):

        def normed(x: Tensor, norm: nn.BatchNorm2d = norm) -> Tensor:
            return F.batch_norm(x, norm.running_mean, norm.running_var, norm.weight, norm.bias)

        if order == "v2":
            h = F.conv2d(normed(h).relu(), conv.weight, stride=conv.stride, padding=1)
        else:
            h = normed(F.conv2d(h, conv.weight, stride=conv.stride, padding=1))
            if order == "linear-first" or number == 0:
                h = h.relu()
    return h  # fmt: skip


@pytest.mark.parametrize("order", ["v1", "v2", "linear-first"])
@pytest.mark.parametrize("shortcut", ["projection", "zeros", "none"])
def test_a_block_is_its_equation(order: str, shortcut: str) -> None:
    torch.manual_seed(0)
    block = convolution_block(3, 5, stride=2, order=order, shortcut=shortcut).double().eval()
    for norm in (m for m in block.modules() if isinstance(m, nn.BatchNorm2d)):
        norm.running_mean, norm.running_var = draw(norm.num_features), draw(norm.num_features).exp()
    x = draw(2, 3, 7, 6)
    expected = functional(block, x, order)
    if shortcut == "zeros":
        expected[:, :3] += x[..., ::2, ::2]
    elif shortcut == "projection":
        expected = expected + block.shortcut(x)
        assert isinstance(block.shortcut, nn.Sequential) == (order == "v1")
    assert_equal(block(x), expected.relu() if order == "v1" else expected)


@pytest.mark.parametrize(
    ("scale", "trunk", "branch"), [("none", 1, 1), ("half", 0.5**0.5, 0.5**0.5), ("depth", 1, 0.5)]
)
def test_how_the_sum_is_scaled(scale: str, trunk: float, branch: float) -> None:
    torch.manual_seed(0)
    block, h = dense_block(4, scale=scale, blocks=4).double(), draw(3, 4)
    linear = block.branch[1]
    f = h.relu() @ linear.weight.T + linear.bias
    assert_equal(block(h), trunk * h + branch * f)


def test_stride_of_a_bottleneck_is_on_the_convolution_that_is_named() -> None:
    for at, strides in (("1x1", [2, 1, 1]), ("3x3", [1, 2, 1])):
        block = convolution_block(4, 8, stride=2, bottleneck=2, stride_at=at)
        assert [m.stride[0] for m in block.branch if isinstance(m, nn.Conv2d)] == strides


def test_zeros_are_appended_after_the_channels_that_are_there() -> None:
    x = draw(1, 2, 4, 4)
    y = ZeroAppend(2, 5, 2)(x)
    assert torch.equal(y[:, :2], x[..., ::2, ::2]) and not y[:, 2:].any() and y.shape == (1, 5, 2, 2)


# --- Order -----------------------------------------------------------------------------------------


def test_linear_first_only_adds_what_is_not_negative() -> None:
    """CV-O34: and of weights that are all 0 a plain layer is a constant, a residual block x + constant."""
    torch.manual_seed(0)
    growing, h = dense_block(5, "linear-first").double(), draw(20, 5)
    assert (growing(h) >= h).all() and (growing(h) > h).any()
    first = dense_block(5, "v2").double()
    dead = -draw(20, 5).abs()
    assert_equal(first(dead), dead + first.branch[1].bias)
    for plain in (True, False):
        block = dense_block(5, "v2", "none" if plain else "identity").double()
        nn.init.zeros_(block.branch[1].weight)
        assert_equal(block(h), block.branch[1].bias + (0 * h if plain else h))


def test_a_block_can_cancel_what_comes_in() -> None:
    """CV-E15: f(h) = −h gives output and gradient 0, though a path of length 0 exists."""
    block = Residual(nn.Sequential(nn.Linear(3, 3, bias=False)), nn.Identity()).double()
    block.branch[0].weight.data = -torch.eye(3, dtype=D)
    h = draw(2, 3).requires_grad_()
    y = block(h)
    assert not y.any() and not torch.autograd.grad(y.sum(), h)[0].any()
    # σ_min(I + J) ≥ 1 − ‖J‖ says something only where ‖J‖ < 1
    for seed in range(5):
        j = draw(4, 4, seed=seed)
        j = 0.7 * j / torch.linalg.matrix_norm(j, 2)
        assert torch.linalg.svdvals(torch.eye(4, dtype=D) + j).min() >= 0.3 - 1e-12


# --- Unravelled --------------------------------------------------------------------------------------


def test_four_blocks_are_sixteen_paths() -> None:
    """h_4 of linear blocks = Σ over the subsets of blocks; C(4, k) of length k (CV-O31)."""
    a = (0.5, -0.2, 0.1, 0.3)
    blocks = []
    for value in a:
        block = Residual(nn.Sequential(nn.Linear(1, 1, bias=False)), nn.Identity()).double()
        nn.init.constant_(block.branch[0].weight, value)
        blocks.append(block)
    x = torch.ones(1, 1, dtype=D)
    by_length = [0.0] * 5
    for kept in product((False, True), repeat=4):
        by_length[sum(kept)] += math.prod(v for v, k in zip(a, kept, strict=True) if k)
    assert by_length == pytest.approx([1, 0.7, 0.05, -0.031, -0.003], abs=1e-12)
    assert nn.Sequential(*blocks)(x).item() == pytest.approx(1.716, abs=1e-12)
    assert sum(by_length) == pytest.approx(1.716, abs=1e-12)
    assert nn.Sequential(*blocks[1:])(x).item() == pytest.approx(1.144, abs=1e-12)


def test_order_of_the_jacobians() -> None:
    """CV-E10: with rows as outputs ∂y/∂f_1 = (I+J_4)(I+J_3)(I+J_2), eight terms; the printed order fails."""
    torch.manual_seed(0)
    blocks = [dense_block(3, depth=2).double() for _ in range(4)]
    h, inputs = draw(3), []
    for block in blocks:
        inputs.append(h)
        h = block(h)
    eye = torch.eye(3, dtype=D)
    j = [
        torch.autograd.functional.jacobian(b.branch, i.detach()) for b, i in zip(blocks, inputs, strict=True)
    ]
    ours = torch.autograd.functional.jacobian(
        lambda f: nn.Sequential(*blocks[1:])(inputs[0].detach() + f), blocks[0].branch(inputs[0]).detach()
    )
    assert_equal(ours, (eye + j[3]) @ (eye + j[2]) @ (eye + j[1]), 1e-14)
    terms = [
        (j[3] if c else eye) @ (j[2] if b else eye) @ (j[1] if a else eye)
        for a, b, c in product((0, 1), repeat=3)
    ]
    assert len(terms) == 8
    assert_equal(ours, torch.stack(terms).sum(0), 1e-14)
    assert (ours - (eye + j[1]) @ (eye + j[2]) @ (eye + j[3])).abs().max() > 1e-3


# --- At the start ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["skip-init", "fixup"])
@pytest.mark.parametrize("blocks", [3, 60])
def test_without_a_norm_the_network_starts_as_its_trunk(scale: str, blocks: int) -> None:
    """SkipInit and Fixup: every block is the identity, for any depth."""
    torch.manual_seed(0)
    dense = ResidualMLP(blocks=blocks, norm="none", scale=scale, block_depth=2).double()
    x = draw(4, 1, 40)
    layers = list(dense.layers)
    assert_equal(dense(x), layers[-1](layers[1](layers[0](x))), 0)
    net = ResNet((1, 8, 8), 10, (blocks,), (3,), norm="none", scale=scale).double()
    x = draw(2, 1, 8, 8)
    stem = net.layers[:2](x)
    assert_equal(net.layers[: 2 + blocks](x), stem, 0)


def test_fixup_scales_all_layers_of_a_branch_but_the_last() -> None:
    """K^{−1/(2m−2)}: .13608 for 54 blocks of two layers, .36889 of three."""
    for bottleneck, expected in ((0, 0.13608), (4, 0.36889)):
        torch.manual_seed(0)
        block = convolution_block(4, 4, bottleneck=bottleneck, norm="none", scale="fixup", blocks=54)
        before = [m.weight.clone() for m in block.branch if isinstance(m, nn.Conv2d)]
        start_blocks(block)
        *scaled, last = [m.weight for m in block.branch if isinstance(m, nn.Conv2d)]
        assert not last.any()
        for weight, old in zip(scaled, before, strict=False):
            assert torch.allclose(weight, expected * old, rtol=1e-4)


@pytest.mark.parametrize("scale", ["skip-init", "fixup", "depth"])
def test_a_thousand_blocks_have_finite_gradients(scale: str) -> None:
    torch.manual_seed(0)
    model = ResidualMLP(width=8, blocks=1000, norm="none", scale=scale, block_depth=2)
    loss = model.step((draw(4, 1, 40).float(), torch.arange(4)), "train")
    loss.backward()
    assert loss.isfinite() and all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
    assert model.layers[1].weight.grad.any()


# --- Variance ----------------------------------------------------------------------------------------


def test_two_definitions_of_variance() -> None:
    """CV-E8: E[h²] doubles, the batch variance doesn't; with the norm first 1 + k against 1 + (1 − 1/π) k."""
    plain = moments(10)
    assert [m.second for m in plain] == [2.0**k for k in range(11)]
    assert [m.batch for m in plain[1:6]] == pytest.approx([1.6817, 2.8778, 4.9931, 8.761, 15.518], abs=5e-4)
    assert plain[10].batch == pytest.approx(299.5, abs=0.1)
    half = moments(4, "half")
    assert [m.second for m in half] == [1] * 5
    assert [m.batch for m in half[1:]] == pytest.approx([0.841, 0.719, 0.624, 0.548], abs=6e-4)
    norm = moments(10, "batch norm")
    assert [m.second for m in norm[:4]] == [1, 2, 3, 4]
    assert [m.batch for m in norm[1:4]] == pytest.approx([1.682, 2.363, 3.045], abs=6e-4)
    assert norm[10].batch == pytest.approx(7.817, abs=1e-3)
    depth = {k: moments(k, "depth")[-1].second for k in (10, 100, 1000)}
    assert list(depth.values()) == pytest.approx([2.5937, 2.7048, 2.7169], abs=5e-5)
    first = [m.second for m in moments(5, order="linear-first")[1:]]
    assert first == pytest.approx([2, 4.90, 13.2, 37.1, 106], rel=5e-3)
    far = moments(40, order="linear-first")
    assert far[40].second / far[39].second == pytest.approx(2.904, abs=1e-3)
    start = moments(10, "skip-init") + moments(10, "fixup", "linear-first")
    assert all(m == (1, 1, 0) for m in start)
    pairs = zip(moments(10, "skip-init", alpha=10**-0.5), moments(10, "depth"), strict=True)
    assert all(ours == pytest.approx(theirs) for ours, theirs in pairs)
    assert (kappa(0), kappa(1)) == pytest.approx((1 / math.pi, 1))


@pytest.mark.parametrize("order", ["v2", "linear-first"])
@pytest.mark.parametrize(
    ("scheme", "how"),
    [
        ("none", {}),
        ("half", {"scale": "half"}),
        ("depth", {"scale": "depth"}),
        ("batch norm", {"norm": "batch"}),
        ("skip-init", {"scale": "skip-init"}),
        ("fixup", {"scale": "fixup"}),
    ],
)
def test_theory_is_what_blocks_do(scheme: str, how: dict, order: str) -> None:
    """512 units, 1000 examples, five blocks: within 10 % of the limit of infinite width, of these seeds."""
    torch.manual_seed(0)
    alpha = 0.5 if scheme == "skip-init" else 0.0
    expected, h = moments(5, scheme, order, alpha), draw(1000, 512).float()
    with torch.no_grad():
        for k in range(1, 6):
            block = dense_block(512, blocks=5, order=order, **how)
            if block.alpha is not None:
                block.alpha.fill_(alpha)
            linear = next(m for m in block.branch if isinstance(m, nn.Linear))
            nn.init.kaiming_normal_(linear.weight, nonlinearity="relu")
            nn.init.zeros_(linear.bias)
            block.start()
            h = block(h)
            assert h.square().mean() == pytest.approx(expected[k].second, rel=0.1)
            assert h.var(0, correction=0).mean() == pytest.approx(expected[k].batch, rel=0.05)
            assert h.mean() == pytest.approx(expected[k].mean, rel=0.05, abs=0.05 * float(h.std()))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: convolution_block(4, 2, shortcut="zeros"), "none to append"),
        (lambda: dense_block(4, shortcut="none", scale="half"), "no sum"),
        (lambda: dense_block(4, norm="group"), "batch, layer, none"),
        (lambda: moments(3, "batch"), "batch norm"),
        (lambda: moments(3, order="v1"), "linear-first"),
        (lambda: moments(3, "half", alpha=0.1), "only the scheme skip-init"),
    ],
)
def test_bad_settings_say_what_is_wrong(call, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()
