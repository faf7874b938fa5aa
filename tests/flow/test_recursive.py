"""Layers that the notes name: HINT, neural autoregressive maps, Flow++'s couplings, residual convolutions."""

import pytest
import torch
from contracts import exact, mass_on_the_plane
from contracts import inverts_with_its_log_determinant as keeps_the_contract
from torch import Tensor

from lab import weights
from lab.experiments import ZOO
from lab.seeding import seeded
from modules.flow import coupling, hint, linear, maf, mixture, monotone, naf, spline, tangent
from modules.flow.conv_residual import ConvResidual, TangentConv
from modules.flow.glow import Glow
from modules.flow.iresnet import NotConverged, fixed_point, log_det, series
from modules.flow.tangent import unit_vectors


def points(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("features", [2, 3, 4, 7])
def test_couplings_within_couplings_keep_the_contract(features: int) -> None:
    keeps_the_contract(hint.RecursiveCoupling(features, hidden=(8,)), points(6, features))


def test_of_splines_and_with_a_context() -> None:
    layer = hint.RecursiveCoupling(4, lambda: spline.RationalQuadratic(4, 2.0), (8,), context=2)
    keeps_the_contract(layer, points(6, 4), points(6, 2, seed=1), tolerance=1e-7)


def test_the_whole_triangle_is_filled() -> None:
    """Every number depends on all before it; a plain coupling's two blocks on the diagonal are diagonal."""
    z = points(8)
    deep = exact(hint.RecursiveCoupling(8, hidden=(8,)), 0, 0.3)
    flat = exact(coupling.Coupling.of_vectors(8, monotone.Affine(), (8,)), 0, 0.3)
    full = torch.autograd.functional.jacobian(lambda h: deep.generate(h)[0], z)
    half = torch.autograd.functional.jacobian(lambda h: flat.generate(h)[0], z)
    below = torch.ones(8, 8).tril().bool()
    assert bool((full[below].abs() > 1e-9).all()) and not full[~below].any()
    assert int((half[below].abs() > 1e-9).sum()) == 8 + 16
    assert float(full[0, 0]) == 1  # number 1 is never changed


def test_two_numbers_are_a_plain_coupling() -> None:
    torch.manual_seed(0)
    deep = exact(hint.RecursiveCoupling(2, hidden=(8,)), 0, 0.3)
    flat = coupling.Coupling.of_vectors(2, monotone.Affine(), (8,)).double()
    flat.conditioner.load_state_dict(deep.conditioner.state_dict())
    for one, other in zip(deep.generate(points(5, 2)), flat.generate(points(5, 2)), strict=True):
        assert torch.equal(one, other)
    with pytest.raises(ValueError, match="features"):
        hint.RecursiveCoupling(1)


def test_one_increasing_unit_is_a_line() -> None:
    """K = 1: y = c (a h + b) + d."""
    theta, h = points(6), points(9)
    y, slope = naf.NeuralMonotone(1).double().generate(h, theta.expand(9, 6))
    log_a, b, _, log_c, d, _ = theta  # the only unit starts at 0
    log_a, log_c = monotone.soft_clamp(log_a), monotone.soft_clamp(log_c)
    torch.testing.assert_close(y, log_c.exp() * (log_a.exp() * h + b) + d)
    torch.testing.assert_close(slope, (log_a + log_c).expand(9))


def test_equal_rows_are_a_mixture_of_a_mixture() -> None:
    """Where all K mixtures are one, the second layer mixes it by itself: `logistic_mixture` twice."""
    k, h = 3, points(40)
    layer = naf.NeuralMonotone(k).double()
    log_a, b, row, log_c, d, last = points(6, k, seed=1)
    theta = torch.cat([log_a, b, row.repeat(k), log_c, d, last]).expand(40, -1)
    y, slope = layer.generate(h, theta)
    b, log_a, log_c = b + layer.starts, monotone.soft_clamp(log_a), monotone.soft_clamp(log_c)
    inner, first = mixture.logistic_mixture(h, row.log_softmax(0), -b * (-log_a).exp(), -log_a)
    outer, second = mixture.logistic_mixture(inner, last.log_softmax(0), -d * (-log_c).exp(), -log_c)
    torch.testing.assert_close(y, outer)
    torch.testing.assert_close(slope, first + second)


@pytest.mark.parametrize("of", [
    lambda g: monotone.Elementwise(3, g), lambda g: maf.MaskedAutoregressive(3, g, (8,)),
    lambda g: maf.InverseAutoregressive(3, g, (8,)),
])  # fmt: skip
def test_a_neural_map_keeps_the_contract(of) -> None:  # type: ignore[no-untyped-def]
    keeps_the_contract(of(naf.NeuralMonotone(3)), points(5, 3), tolerance=1e-7)


def test_a_neural_map_reaches_all_of_the_line_and_its_density_integrates_to_one() -> None:
    layer = monotone.Elementwise(1, naf.NeuralMonotone(4)).double()
    with torch.no_grad():
        layer.theta.copy_(points(*layer.theta.shape))
        x = torch.linspace(-40, 40, 20_001, dtype=torch.float64)[:, None]
        z, ladj = layer.generate(x)  # as the way from data to noise
        density = (torch.distributions.Normal(0.0, 1.0).log_prob(z[:, 0]) + ladj).exp()
    assert float(density.sum() * 80 / 20_000) == pytest.approx(1, abs=1e-5)
    assert bool((z.diff(dim=0) > 0).all())


@pytest.mark.parametrize("build", [
    lambda: naf.NAF((2,), 2, (8,), 3), lambda: hint.HINT((2,), 3, (8,)),
])  # fmt: skip
def test_flows_of_them_are_densities_and_draw_from_them(build) -> None:  # type: ignore[no-untyped-def]
    flow = exact(seeded(build), 0, 0.3)
    assert mass_on_the_plane(flow.log_prob, 60) == pytest.approx(1, abs=0.01)
    keeps_the_contract(flow.stack, points(6, 2), tolerance=1e-7)


def test_recursive_layers_take_turns() -> None:
    """Number 1 of a layer never moves: drawn orders see to it that every number moves, and each at once."""
    flow = exact(hint.HINT((4,), 4, (8,)), 0, 0.3)
    z = points(4)
    jacobian = torch.autograd.functional.jacobian(lambda h: flow.stack.generate(h)[0], z)
    assert bool((jacobian.abs() > 1e-9).all())
    orders = [tuple(layer.order.tolist()) for layer in flow.layers if isinstance(layer, linear.Permutation)]
    assert len(orders) == 3 and len(set(orders)) > 1
    with pytest.raises(ValueError, match="features"):
        hint.HINT((1,))
    with pytest.raises(ValueError, match="layers"):
        naf.NAF(layers=0)
    with pytest.raises(ValueError, match="units"):
        naf.NAF(units=0)


@pytest.mark.parametrize("name", ["naf-moons", "flowpp-moons"])
def test_what_ships_is_a_density_and_finds_its_way_back(name: str) -> None:
    model = weights.load(name).double().requires_grad_(False)
    assert mass_on_the_plane(model.log_prob, 5, 200) == pytest.approx(1, abs=0.01)
    z = points(200, 2)
    assert float((model.encode(model.decode(z)) - z).abs().max()) < 1e-7
    nll = {
        of: weights.read_card(ZOO / of)["metrics"]["test/nll"] for of in (name, "maf-moons", "realnvp-moons")
    }
    assert 1.6755 < nll[name] < min(nll["maf-moons"], nll["realnvp-moons"])  # the entropy


def test_a_table_is_fitted_by_couplings_within_couplings() -> None:
    """Four numbers an iris: the way back, and a density that beats the Gaussian base by far."""
    model = weights.load("hint").double().requires_grad_(False)
    z = points(200, 4)
    assert float((model.encode(model.decode(z)) - z).abs().max()) < 1e-7
    nll = {of: weights.read_card(ZOO / of)["metrics"]["test/nll"] for of in ("hint", "maf")}
    assert nll["hint"] == pytest.approx(nll["maf"], abs=0.1)


def test_logistic_couplings_are_a_density_and_draw_from_it() -> None:
    flow = exact(seeded(lambda: coupling.FlowPlusPlus((2,), 3, (8,), 3)), 0, 0.3)
    assert mass_on_the_plane(flow.log_prob, 20) == pytest.approx(1, abs=0.01)
    keeps_the_contract(flow.stack, points(6, 2), tolerance=1e-7)
    assert bool(flow.log_prob(1e4 * points(9, 2)).isfinite().all())
    one = coupling.FlowPlusPlus((2,), components=1)  # K = 1 is affine and starts as the identity
    torch.testing.assert_close(one.encode(points(4, 2).float()), points(4, 2).float())
    with pytest.raises(ValueError, match="components"):
        coupling.FlowPlusPlus((2,), components=0)


def test_a_residual_convolution_keeps_the_contract() -> None:
    keeps_the_contract(ConvResidual((2, 3, 4), 5, 0.8), points(3, 2, 3, 4), tolerance=1e-7)


def test_tangents_of_convolutions_are_those_of_autograd() -> None:
    net = exact(TangentConv((2, 3, 4), 5, 0.8), 0, 0.3)
    h = points(2, 24)
    _, push = net.linearise(h)
    result = push(unit_vectors(h)).transpose(-1, -2)
    for i in range(2):
        torch.testing.assert_close(result[i], torch.autograd.functional.jacobian(net, h[i]))
    assert float(torch.linalg.matrix_norm(result, 2).detach().max()) <= 0.8**2 + 1e-9
    exactly, terms = log_det(push, h), series(push, unit_vectors(h), 60).sum(-1)
    torch.testing.assert_close(exactly, terms)


def test_the_reshaped_kernel_promises_too_much() -> None:
    """Scaled by its own norm to 0.9, a kernel of ones is 2.6 times too long as a map of pictures."""
    kernel = torch.ones(1, 1, 3, 3, dtype=torch.float64)
    wrong = kernel * 0.9 / torch.linalg.matrix_norm(kernel.flatten(1), 2)
    norm = float(tangent.conv_norm(wrong, (8, 8)))
    assert 2 < norm < 2.7
    dense = torch.stack([torch.nn.functional.conv2d(e.view(1, 1, 8, 8), wrong, padding=1).flatten()
                         for e in torch.eye(64, dtype=torch.float64)])  # fmt: skip
    assert norm == pytest.approx(float(torch.linalg.matrix_norm(dense, 2)), rel=1e-6)
    z = points(1, 1, 8, 8)
    with pytest.raises(NotConverged):
        fixed_point(lambda h: z - torch.nn.functional.conv2d(h, wrong, padding=1), z)
    right = wrong * 0.9 / norm
    x, _ = fixed_point(lambda h: z - torch.nn.functional.conv2d(h, right, padding=1), z)
    torch.testing.assert_close(x + torch.nn.functional.conv2d(x, right, padding=1), z)


@pytest.mark.parametrize("side", [1, 2, 8])
def test_the_norm_of_a_convolution_misses_no_wave(side: int) -> None:
    """A Laplacian stretches most what changes sign from pixel to pixel; a constant start is blind to it."""
    kernel = torch.tensor([[0, -1, 0], [-1, 4, -1], [0, -1, 0]], dtype=torch.float64)[None, None]
    pixels = torch.eye(side**2, dtype=torch.float64).view(-1, 1, side, side)
    dense = torch.nn.functional.conv2d(pixels, kernel, padding=1).flatten(1)
    result = float(tangent.conv_norm(kernel, (side, side)))
    assert result == pytest.approx(float(torch.linalg.matrix_norm(dense, 2)), rel=1e-3)


def test_the_norm_of_a_convolution_has_its_gradient() -> None:
    kernel = points(2, 3, 3, 3).requires_grad_()
    (result,) = torch.autograd.grad(tangent.conv_norm(kernel, (3, 4), 1000), kernel)
    way = points(2, 3, 3, 3, seed=1)
    ahead, behind = (tangent.conv_norm(kernel.detach() + h * way, (3, 4), 1000) for h in (1e-5, -1e-5))
    assert float((result * way).sum()) == pytest.approx(float(ahead - behind) / 2e-5, rel=1e-4)


def test_a_convolution_below_its_bound_stays_as_it_is() -> None:
    layer = TangentConv((1, 3, 3), 2, 0.9).requires_grad_(False)
    for convolution in layer.layers:
        convolution.weight.mul_(1e-3)
    for (kernel, _), convolution in zip(layer.matrices(), layer.layers, strict=True):
        assert torch.equal(kernel, convolution.weight)


def test_bad_settings_of_convolutions_say_what_to_change() -> None:
    with pytest.raises(ValueError, match="channels"):
        ConvResidual((1, 3, 3), channels=0)
    with pytest.raises(ValueError, match="coefficient"):
        ConvResidual((1, 3, 3), coefficient=1.0)
    with pytest.raises(ValueError, match="shape"):
        ConvResidual((1, 0, 3))


@pytest.mark.parametrize(
    "build",
    [
        lambda seed: coupling.RealNVP((16,), layers=5, hidden=[4], permute=True, seed=seed),
        lambda seed: coupling.NICE((16,), layers=5, hidden=[4], permute=True, seed=seed),
        lambda seed: hint.HINT((16,), layers=5, hidden=[4], seed=seed),
        lambda seed: Glow((4, 4, 4), levels=2, steps=2, width=2, seed=seed),
    ],
)
def test_no_two_permutations_of_a_flow_are_the_same(build) -> None:  # type: ignore[no-untyped-def]
    orders = [m.order for seed in (0, 100) for m in build(seed).modules() if hasattr(m, "order")]
    assert len(orders) == 8 and len({tuple(order.tolist()) for order in orders}) == 8
