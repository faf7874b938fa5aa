"""Normalisation: its axes, its backward pass by hand, what is frozen for the test."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from modules.convolution.normalization import (
    GhostNorm,
    batch_norm,
    batch_norm_backward,
    fold,
    freeze_statistics,
    ghost_norm,
    group_norm,
    instance_norm,
    layer_norm,
    normalize,
    scale_shift,
)

Z = torch.tensor([1.0, 2, 4, 7], dtype=torch.float64)[:, None]
GAMMA, DELTA = (torch.tensor([value], dtype=torch.float64) for value in (1.5, -0.5))


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def assert_equal(a: Tensor, b: Tensor, tolerance: float = 1e-12) -> None:
    assert a.shape == b.shape
    assert (a - b).abs().max() <= tolerance


def test_worked_batch_in_both_forms() -> None:
    """ε under the root ([UDL] 11.10, torch) and beside the deviation (11.8): other digits (CV-E11)."""
    root = scale_shift(batch_norm(Z), GAMMA, DELTA).flatten().tolist()
    assert root == pytest.approx([-2.13663262, -1.48197957, -0.17267348, 1.79128567], abs=1e-8)
    beside = scale_shift(batch_norm(Z, form="deviation"), GAMMA, DELTA).flatten().tolist()
    assert beside == pytest.approx([-2.13662703, -1.48197622, -0.17267459, 1.79127785], abs=1e-8)
    theirs = F.batch_norm(Z, None, None, GAMMA, DELTA, training=True)
    assert theirs.flatten().tolist() == pytest.approx(root, abs=1e-12)
    constant = scale_shift(batch_norm(torch.full((4, 1), 3.0, dtype=torch.float64)), GAMMA, DELTA)
    assert torch.equal(constant, DELTA.expand(4, 1))
    two = batch_norm(torch.tensor([[1.0, 2, 3], [3, 6, 12]], dtype=torch.float64), eps=0.0)
    assert two.tolist() == [[-1, -1, -1], [1, 1, 1]]
    with pytest.raises(ValueError, match="form"):
        normalize(Z, (0,), form="sum")


def test_backward_by_hand() -> None:
    """The Jacobian of the worked batch: symmetric, rows and columns sum to 0; finite differences agree."""
    columns = [
        batch_norm_backward(torch.eye(4, dtype=torch.float64)[:, k : k + 1], Z, GAMMA)[0] for k in range(4)
    ]
    jacobian = torch.cat(columns, 1).T  # row k: ∂ y_k / ∂ x
    assert jacobian[0].tolist() == pytest.approx([0.29615294, -0.28056537, -0.12469589, 0.10910832], abs=1e-8)
    assert_equal(jacobian, jacobian.T)
    assert jacobian.sum(0).abs().max() < 1e-12 and jacobian.sum(1).abs().max() < 1e-12
    step = 1e-6
    for k in range(4):
        move = step * torch.eye(4, dtype=torch.float64)[:, k : k + 1]
        change = GAMMA * (batch_norm(Z + move) - batch_norm(Z - move)) / (2 * step)
        assert_equal(change[:, 0], jacobian[:, k], 1e-8)


@pytest.mark.parametrize("shape", [(5, 3), (4, 3, 6), (2, 3, 4, 5)])
def test_backward_is_autograds(shape: tuple[int, ...]) -> None:
    x, gamma, delta = (draw(*s, seed=k).requires_grad_() for k, s in enumerate((shape, (3,), (3,))))
    g = draw(*shape, seed=5)
    y = F.batch_norm(x, None, None, gamma, delta, training=True)
    for ours, theirs in zip(
        batch_norm_backward(g, x.detach(), gamma.detach()),
        torch.autograd.grad(y, [x, gamma, delta], g),
        strict=True,
    ):
        assert_equal(ours, theirs, 1e-11)


def test_schemes_are_torchs_own_and_each_other() -> None:
    x = draw(6, 4, 3, 5)
    assert_equal(batch_norm(x), F.batch_norm(x, None, None, training=True))
    for groups in (1, 2, 4):
        assert_equal(group_norm(x, groups), F.group_norm(x, groups))
    assert_equal(instance_norm(x), F.instance_norm(x))
    assert_equal(layer_norm(x), F.layer_norm(x, x.shape[1:]))
    tokens = x.flatten(2).mT  # (B, C, H, W) -> (B, H·W, C)
    by_token = F.layer_norm(tokens, tokens.shape[-1:]).mT.unflatten(2, (3, 5))
    assert_equal(layer_norm(x, "channels"), by_token)
    # identities of CV-O42
    assert_equal(group_norm(x, 1), layer_norm(x))
    assert_equal(group_norm(x, 4), instance_norm(x))
    assert_equal(batch_norm(x[:1]), instance_norm(x[:1]))
    assert_equal(ghost_norm(x, 6), batch_norm(x))
    assert_equal(ghost_norm(x, 4), torch.cat([batch_norm(x[:4]), batch_norm(x[4:])]))
    assert (layer_norm(x) - layer_norm(x, "channels")).abs().max() > 0.1  # CV-E12: two different norms
    with pytest.raises(ValueError, match="divide"):
        group_norm(x, 3)
    with pytest.raises(ValueError, match="over"):
        layer_norm(x, "space")


def test_every_scheme_has_one_scale_and_shift_a_channel() -> None:
    for norm in (nn.BatchNorm2d(4), nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True), GhostNorm(4, 2)):
        assert norm.weight.shape == norm.bias.shape == (4,)


def test_over_the_batch_alone_is_another_norm() -> None:
    """[BB] takes (n, c) over the batch, [UDL] c over batch and space: equal for one position (CV-O43)."""
    x = draw(8, 3, 4)
    assert (normalize(x, (0,)) - batch_norm(x)).abs().max() > 0.1
    assert_equal(normalize(x[..., :1], (0,)), batch_norm(x[..., :1]))


def test_worked_layer_norms() -> None:
    """[LLM] prints (−.56, 1.13, −1.12, −.55) for the second, whose mean isn't 0 (CV-E14)."""
    small = layer_norm(torch.tensor([[1.0, 2, 3]], dtype=torch.float64), eps=0.0)[0].tolist()
    assert small == pytest.approx([-1.224745, 0, 1.224745], abs=1e-6)
    printed = layer_norm(torch.tensor([[0.1, 200, -150, 0.3]], dtype=torch.float64), eps=0.0)[0]
    assert printed.tolist() == pytest.approx([-0.10051, 1.50687, -1.30746, -0.09890], abs=1e-5)
    text = torch.tensor([-0.56, 1.13, -1.12, -0.55])
    assert text.mean() == pytest.approx(-0.275, abs=1e-3) and text.var(correction=0) == pytest.approx(
        0.71, abs=0.01
    )


def test_parameters_of_batch_normalisation() -> None:
    """P11.6: ten layers of 20 units, one input, one output: 3,841; with BN 400 more."""
    layers: list[nn.Module] = [nn.Linear(1, 20)]
    for _ in range(9):
        layers += [nn.BatchNorm1d(20), nn.ReLU(), nn.Linear(20, 20)]
    layers += [nn.BatchNorm1d(20), nn.ReLU(), nn.Linear(20, 1)]
    weights = sum(p.numel() for m in layers if isinstance(m, nn.Linear) for p in m.parameters())
    assert weights == 3841 and sum(p.numel() for m in layers for p in m.parameters()) == 4241


def test_the_scale_of_what_comes_in_plays_no_part() -> None:
    """Outputs equal, gradients divided by c, weights and their gradient orthogonal; with ε only nearly."""
    x, target = draw(16, 5), draw(16, 3, seed=1)

    def run(c: float, eps: float) -> tuple[Tensor, Tensor, Tensor]:
        weight = (c * draw(3, 5, seed=2)).requires_grad_()
        y = F.batch_norm(F.linear(x, weight, c * draw(3, seed=3)), None, None, training=True, eps=eps)
        loss = (y.sigmoid() - target).square().sum()
        return y.detach(), weight.detach(), torch.autograd.grad(loss, weight)[0]

    y, weight, gradient = run(1.0, 1e-12)
    scaled, _, smaller = run(7.0, 1e-12)
    assert_equal(y, scaled, 1e-10)
    assert_equal(gradient / 7, smaller, 1e-10)
    assert (weight * gradient).sum(1).abs().max() < 1e-9  # row by row: unit by unit
    errors = [(run(1.0, eps)[0] - run(7.0, eps)[0]).abs().max().item() for eps in (1e-3, 1e-4)]
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.05)  # CV-E22: of the order ε/s²


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gradients_grow_by_root_of_pi_over_pi_minus_one(seed: int) -> None:
    """CV-E1: the text prints √π/(π−1), which is .83; of 20 layers of 400 units measured 1.21."""
    x = draw(400, 400, seed=1000 * seed).requires_grad_()
    h, points = x, []
    for k in range(20):
        points.append(h)
        weight = draw(400, 400, seed=1000 * seed + k + 1) * (2 / 400) ** 0.5
        h = F.batch_norm(h @ weight, None, None, training=True).relu()
    gradients = torch.autograd.grad(h, points, draw(*h.shape, seed=1000 * seed + 99))
    norms = torch.stack([g.norm() for g in gradients])
    growth = (norms[1] / norms[-1]) ** (1 / 18)
    assert math.sqrt(math.pi / (math.pi - 1)) == pytest.approx(1.21117, abs=1e-5)
    assert growth.item() == pytest.approx(1.2112, abs=0.02)
    assert math.sqrt(math.pi) / (math.pi - 1) == pytest.approx(0.8276, abs=1e-4)


# --- Test time -----------------------------------------------------------------------------------


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 3, 3), nn.BatchNorm2d(3)
    ).double()


def test_frozen_over_the_whole_set_is_the_formula_of_training() -> None:
    data = draw(12, 2, 7, 6)
    model = network()
    frozen = freeze_statistics(model, [data])
    model.train()
    assert_equal(frozen(data), model(data))
    assert not frozen.training and model[1].running_mean.abs().max() < frozen[1].running_mean.abs().max()
    # several batches: the first norm's statistics are those of all inputs; batch mates play no part
    parts = freeze_statistics(network(), data.split(5))
    first = network()[0](data)
    assert_equal(parts[1].running_mean, first.mean((0, 2, 3)).detach(), 1e-12)
    assert_equal(parts[1].running_var, first.var((0, 2, 3), correction=0).detach(), 1e-12)
    assert_equal(parts(data)[3:4], parts(data[3:4]))
    for bad in (nn.ReLU(), network()):
        with pytest.raises(ValueError, match="Nothing to freeze"):
            freeze_statistics(bad, [])


def test_torchs_running_variance_is_the_unbiased_one() -> None:
    """7 for (1, 2, 4, 7), where the normaliser takes 5.25 (CV-E24)."""
    norm = nn.BatchNorm1d(1, momentum=1.0).double()
    y = norm(Z)
    assert norm.running_var.item() == pytest.approx(7) and norm.running_mean.item() == pytest.approx(3.5)
    assert y[0].item() == pytest.approx(-2.5 / math.sqrt(5.25 + 1e-5), abs=1e-12)
    assert freeze_statistics(norm, [Z]).running_var.item() == pytest.approx(5.25)


@pytest.mark.parametrize("bias", [False, True])
def test_folded_into_the_convolution_nothing_changes(bias: bool) -> None:
    torch.manual_seed(0)
    convolution, norm = nn.Conv2d(2, 4, 3, stride=2, bias=bias).double(), nn.BatchNorm2d(4).double()
    norm.weight.data, norm.bias.data = draw(4), draw(4, seed=1)
    norm.running_mean, norm.running_var = draw(4, seed=2), draw(4, seed=3).square()
    x = draw(3, 2, 7, 6)
    assert_equal(fold(convolution, norm)(x), norm.eval()(convolution(x)), 1e-13)


def test_ghost_norm_in_training_and_at_the_test() -> None:
    norm, x = GhostNorm(4, 3).double(), draw(7, 4, 3, 3)
    assert_equal(norm(x), ghost_norm(x, 3))
    norm.eval()
    assert_equal(norm(x)[2:3], norm(x[2:3]))
    assert norm.num_batches_tracked == 3  # three parts, the last of one example


def test_torch_takes_the_derivative_zero_at_the_kink(real_data) -> None:
    """CV-E23: on raw MNIST a 3×3 convolution without biases is exactly 0 at most sites ([BB]: "never")."""
    from datamodules.mnist import MNIST

    x = torch.zeros(1, requires_grad=True)
    assert torch.autograd.grad(x.relu().sum(), x)[0] == 0
    real_data("MNIST")
    data = MNIST()
    data.setup("test")
    pictures = data.test_set[torch.arange(2000)][0].double()
    h = F.conv2d(pictures, draw(4, 1, 3, 3))
    assert (h == 0).double().mean().item() == pytest.approx(0.64, abs=0.03)
