"""Flows at the edges: far out, flat, large weights, float32, and weights that are all 0."""

import math

import pytest
import torch

from datamodules.mnist import dequantize as dequantized
from modules.flow import bins, change, mixture, monotone, tangent
from modules.flow.dequantize import add_noise
from modules.flow.iresnet import Residual
from modules.flow.layer import increasing_root
from modules.flow.planar import Planar


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# --- roots ----------------------------------------------------------------------------------------


def test_a_root_that_is_not_there_is_said() -> None:
    y = torch.tensor([0.5, 3.0], dtype=torch.float64)
    with pytest.raises(ValueError, match="1 of 2 numbers, such as 3"):
        increasing_root(lambda h: (h.tanh(), (1 - h.tanh() ** 2).log()), y)
    with pytest.raises(ValueError, match="No root"):
        increasing_root(lambda h: (h * math.nan, h), y)
    with pytest.raises(ValueError, match="No root"):
        increasing_root(lambda h: (-h, torch.zeros_like(h)), y)


def test_what_is_no_number_stays_so() -> None:
    y = torch.tensor([math.nan, math.inf, -math.inf, 2.0], dtype=torch.float64)
    result = increasing_root(lambda h: (2 * h, torch.full_like(h, math.log(2))), y)
    assert result.isnan().tolist() == [True, False, False, False]
    assert result[1:].tolist() == [math.inf, -math.inf, 1.0]


@pytest.mark.parametrize("sharp", [1.0, 1e3, 1e6])
def test_a_steep_tail_is_found(sharp: float) -> None:
    """Newton's steps creep along e^h, and a root far out of 1 has the last digits too."""
    y = torch.logspace(-12, 12, 49, dtype=torch.float64)
    result = increasing_root(lambda h: ((sharp * h).exp() - 1, sharp * h + math.log(sharp)), y)
    torch.testing.assert_close(result, y.log1p() / sharp, rtol=1e-12, atol=1e-15)
    y = y.requires_grad_()
    (slope,) = torch.autograd.grad(
        increasing_root(lambda h: ((sharp * h).exp() - 1, sharp * h + math.log(sharp)), y).sum(), y
    )
    torch.testing.assert_close(slope, 1 / (sharp * (1 + y.detach())), rtol=1e-9, atol=0)


# --- quantiles --------------------------------------------------------------------------------------


def test_far_quantiles_of_one_gaussian_are_a_line() -> None:
    layer = change.Quantile([1.0], [2.0], [3.0])
    z = torch.linspace(-30, 30, 241, dtype=torch.float64)[:, None]
    x, ladj = layer.generate(z)
    torch.testing.assert_close(x, 2 + 3 * z, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(ladj, torch.full_like(ladj, math.log(3)), rtol=0, atol=1e-10)
    torch.testing.assert_close(layer.normalize(x)[0], z, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("apart", [1.0, 5.0, 20.0, 60.0])
def test_between_far_modes_a_quantile_is_a_number(apart: float) -> None:
    layer = change.Quantile([1, 1], [-apart, apart], [0.5, 0.5])
    z = (
        torch.cat([torch.linspace(-12, 12, 97), torch.tensor([1e-3, -1e-6])])
        .double()[:, None]
        .requires_grad_()
    )
    x, ladj = layer.generate(z)
    assert x.isfinite().all() and ladj.isfinite().all() and (x[:97].diff(dim=0) > 0).all()
    (slope,) = torch.autograd.grad(x.sum(), z)
    assert slope.isfinite().all()
    torch.testing.assert_close(layer.normalize(x)[0], z, rtol=1e-9, atol=1e-12)


def test_the_inverse_of_log_phi() -> None:
    z = -torch.logspace(-8, 3, 200, dtype=torch.float64)
    result = change.log_ndtri(torch.special.log_ndtr(z))
    torch.testing.assert_close(result, z, rtol=1e-12, atol=1e-15)
    log_p = torch.special.log_ndtr(z).requires_grad_()
    assert torch.autograd.gradcheck(change.log_ndtri, log_p[50:120].detach().requires_grad_())


# --- monotone maps --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_an_integral_rises_whatever_its_weights(scale: float, dtype: torch.dtype) -> None:
    """30 draws of θ: the map is increasing, its slope the derivative, and the way back the inverse."""
    layer = mixture.Integral(8).to(dtype)
    theta = scale * torch.randn(30, 1, layer.num_params, generator=seeded(), dtype=dtype)
    z = torch.linspace(-12, 12, 801, dtype=dtype).expand(30, -1)
    theta = theta.expand(30, 801, -1)
    x, slope = layer.generate(z, theta)
    assert slope.isfinite().all() and (x.diff(dim=1) >= 0).all()
    if dtype == torch.float64:
        assert (x.diff(dim=1) > 0).all()
        at = z[:, ::20].clone().requires_grad_()
        value, log_slope = layer.generate(at, theta[:, ::20])
        (derivative,) = torch.autograd.grad(value.sum(), at)
        torch.testing.assert_close(log_slope.exp(), derivative, rtol=1e-8, atol=1e-12)
        back, log_back = layer.normalize(value.detach(), theta[:, ::20])
        torch.testing.assert_close(back, at.detach(), rtol=1e-8, atol=1e-8)
        torch.testing.assert_close(log_back, -log_slope, rtol=1e-5, atol=1e-5)


def test_an_integral_is_the_integral_of_its_slope() -> None:
    layer = mixture.Integral(4).double()
    theta = 2 * torch.randn(5, 1, layer.num_params, generator=seeded(), dtype=torch.float64)
    z = torch.linspace(-10, 10, 40_001, dtype=torch.float64)
    x, slope = layer.generate(z.expand(5, -1), theta.expand(5, len(z), -1))
    due = torch.cumulative_trapezoid(slope.exp(), z, dim=1)
    torch.testing.assert_close(x[:, 1:] - x[:, :1], due, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(x[:, 20_000], theta[:, 0, 0], rtol=0, atol=1e-12)  # b at 0
    identity = layer.generate(z, torch.zeros(len(z), layer.num_params, dtype=torch.float64))
    torch.testing.assert_close(identity[0], z, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [bins.PiecewiseLinear, bins.SquareRootBins])
def test_bins_stay_in_their_interval_in_single_precision(kind: type[monotone.Monotone]) -> None:
    for count in (3, 16, 256):
        layer = kind(count)
        theta = 5 * torch.randn(500, count, generator=seeded(count))
        for h in (torch.rand(500, generator=seeded(1)), torch.full((500,), 1 - 2**-24), torch.ones(500)):
            x, _ = layer.generate(h, theta)
            if kind is bins.PiecewiseLinear:
                assert (x >= 0).all() and (x <= 1).all()
            z, slope = layer.normalize(h, theta)
            assert (z >= 0).all() and (z <= 1).all() and slope.isfinite().all()


def test_noise_never_makes_the_next_grey_level() -> None:
    levels = torch.arange(256.0)
    u = torch.full((256,), 1 - 2**-24)
    assert (levels + u == levels + 1).any()  # what a plain sum does
    noisy = add_noise(levels, u)
    assert (noisy < levels + 1).all() and torch.equal(noisy.floor(), levels)
    assert torch.equal(add_noise(levels, torch.zeros(256)), levels)
    grey = torch.full((4000, 1, 16, 16), 255.0)
    keys = torch.arange(4000)
    assert dequantized(grey, keys).max() < 256


# --- bounds --------------------------------------------------------------------------------------------


def test_a_weight_of_zeros_does_not_end_a_lipschitz_bound() -> None:
    torch.manual_seed(0)
    layer = tangent.Lipschitz(6, 5)
    with torch.no_grad():
        layer.weight.zero_()
    layer.train()
    layer(torch.randn(3, 6)).sum().backward()
    assert layer.weight.grad is not None and layer.weight.grad.isfinite().all() and layer.u.norm() > 0.5
    with torch.no_grad():
        layer.weight.copy_(20 * torch.randn(5, 6))
    for _ in range(20):
        used = layer.matrix()
    assert float(torch.linalg.matrix_norm(used, 2)) <= layer.coefficient * 1.01
    layer.eval()
    assert float(torch.linalg.matrix_norm(layer.matrix(), 2)) <= layer.coefficient * 1.0001


def test_a_residual_of_zeros_is_the_identity_and_learns() -> None:
    block = Residual(3, (8,)).double()
    with torch.no_grad():
        for parameter in block.parameters():
            parameter.zero_()
    z, ladj = block.normalize(torch.randn(4, 3, dtype=torch.float64))
    (z.square().sum() + ladj.sum()).backward()
    assert not ladj.any() and all(p.grad is None or p.grad.isfinite().all() for p in block.parameters())


@pytest.mark.parametrize("size", [0.0, 1e-30, 1e-8])
def test_a_planar_layer_without_a_direction_is_a_shift(size: float) -> None:
    layer = Planar(3).double()
    with torch.no_grad():
        layer.theta[3:6] = size
    z = torch.randn(5, 3, generator=seeded(), dtype=torch.float64)
    x, ladj = layer.generate(z)
    assert x.isfinite().all() and ladj.isfinite().all()
    if size == 0:
        torch.testing.assert_close(layer.inverse(x), z, rtol=0, atol=1e-9)
    (x.sum() + ladj.sum()).backward()
    assert layer.theta.grad is not None and layer.theta.grad.isfinite().all()
