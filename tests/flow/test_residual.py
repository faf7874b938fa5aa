"""Reversible blocks, invertible residual networks, their log-determinants, continuous flows."""

import math
from itertools import pairwise

import contracts
import pytest
import torch
from torch import Tensor, nn

from modules.flow.cnf import CNF, Continuous, Field, adjoint, solve
from modules.flow.coupling import Coupling
from modules.flow.iresnet import IResNet, NotConverged, Residual, fixed_point, log_det, roulette, series
from modules.flow.layer import FlowStack
from modules.flow.linear import Permutation
from modules.flow.monotone import Affine
from modules.flow.revnet import Recomputed, ReversibleBlock
from modules.flow.tangent import Lipschitz, TangentMLP, conv_norm, probes, unit_vectors


def f64(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def points(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# --- Reversible blocks ----------------------------------------------------------------------------


def blocks(depth: int, kind: type[FlowStack], stretch: bool = False) -> FlowStack:
    """Reversible blocks, or, to stretch volumes, affine couplings."""
    layers = []
    for n in range(depth):
        block = ReversibleBlock.of_vectors(4, (6,))
        layers += [
            Coupling.of_vectors(4, Affine(), (6,)) if stretch else block,
            Permutation(4, seed=n),
        ]
    return contracts.exact(kind(layers), scale=0.3)


def test_a_reversible_block_keeps_volumes_whatever_it_computes():
    block = ReversibleBlock.of_vectors(5, (6,))
    contracts.inverts_with_its_log_determinant(block, points(6, 5))
    matrix = contracts.jacobians(lambda h: block.generate(h)[0], points(1, 5))[0]
    assert torch.linalg.slogdet(matrix).logabsdet.abs() < 1e-12
    zeros = matrix == 0  # fully connected nets: zeros in the identity block alone
    assert torch.equal(zeros[:2, :2], ~torch.eye(2, dtype=torch.bool)) and not zeros[:, 2:].any()
    assert not zeros[2:, :2].any()


@pytest.mark.parametrize("stretch", [False, True])
@pytest.mark.parametrize("direction", ["generate", "normalize"])
def test_recomputed_gradients_are_those_of_the_stored_pass(direction, stretch):
    results = []
    for kind in (FlowStack, Recomputed):
        stack, h = blocks(6, kind, stretch), points(5, 4).requires_grad_()
        value, ladj = getattr(stack, direction)(h)
        results.append(torch.autograd.grad((value**3).sum() + ladj.sum(), [h, *stack.parameters()]))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-8)
    contracts.inverts_with_its_log_determinant(blocks(2, Recomputed), points(3, 4))


def test_memory_stays_the_same_however_deep():
    def kept(depth: int, kind: type[FlowStack]) -> int:
        """Bytes that the backward pass finds again, parameters aside."""
        stack, result = blocks(depth, kind), {}
        own = {p.data_ptr() for p in stack.parameters()}

        def pack(t: Tensor) -> Tensor:
            if t.data_ptr() not in own:
                result[t.data_ptr()] = t.numel() * t.element_size()
            return t

        h = points(64, 4).requires_grad_()
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            value, _ = stack.generate(h)
        value.sum().backward()
        return sum(result.values())

    assert kept(2, Recomputed) == kept(16, Recomputed) == 64 * 4 * 8
    assert kept(16, FlowStack) > 6 * kept(2, FlowStack)


# --- Contractions ---------------------------------------------------------------------------------


def test_a_fixed_point_is_found_at_the_rate_of_the_slope():
    y, x, result = f64(1.2), f64(0.0), []
    for _ in range(7):
        result.append(x.item())
        x = y - 0.5 * x.sin()
    assert [round(v, 6) for v in [*result[1:], x.item()]] == pytest.approx(
        [1.2, 0.733980, 0.865085, 0.819425, 0.834623, 0.829478, 0.831210], abs=1e-6
    )
    root, steps = fixed_point(lambda h: y - 0.5 * h.sin(), f64(0.0), 1e-13)
    assert root.item() == pytest.approx(0.830773437664, abs=1e-12) and 20 <= steps <= 32
    errors = [abs(v - root.item()) for v in result]
    ratios = [b / a for a, b in pairwise(errors)]
    assert max(ratios[1:]) <= 0.5 and ratios[-1] == pytest.approx(0.337152, abs=2e-3)
    with pytest.raises(NotConverged, match="slope"):
        fixed_point(lambda h: y - 1.8 * h, f64(0.0))


def test_eigenvalues_do_not_bound_a_map():
    """Two points with the same image: weights with eigenvalues ½ and norm 10 (E5)."""
    m = f64([[0.5, 10], [0, 0.5]])
    assert torch.linalg.eigvals(m).abs().max().item() == pytest.approx(0.5)
    assert torch.linalg.matrix_norm(m, 2).item() == pytest.approx(10.024938, abs=1e-6)
    h = f64([[0, 0], [0.5, 10.499972]])
    image = h - (h @ m.T).tanh() @ m
    torch.testing.assert_close(image, torch.zeros(2, 2).double(), rtol=0, atol=1e-5)
    layer = Lipschitz(2, 2, 0.9).double().eval()
    with torch.no_grad():
        layer.weight.copy_(m)
    expected = f64([[0.044888, 0.897761], [0, 0.044888]])
    torch.testing.assert_close(layer.matrix(), expected, rtol=0, atol=1e-6)
    with torch.no_grad():
        layer.weight.mul_(0.01)
    torch.testing.assert_close(layer.matrix(), layer.weight)  # a contraction is left alone


def test_the_norm_of_a_convolution_is_that_of_the_operator():
    kernel = torch.ones(1, 1, 3, 3, dtype=torch.float64)
    norm = conv_norm(kernel, (8, 8)).item()
    assert norm == pytest.approx((1 + 2 * math.cos(math.pi / 9)) ** 2, abs=1e-6)
    assert torch.linalg.matrix_norm(kernel.reshape(1, 9), 2).item() == pytest.approx(3)


def test_no_jacobian_exceeds_the_product_of_the_norms():
    net = contracts.exact(TangentMLP([3, 8, 8, 3], 0.9, "elu"), scale=1.0)
    h = 3 * points(1000, 3)
    _, push = net.linearise(h)
    largest = torch.linalg.matrix_norm(push(unit_vectors(h)), 2).max().item()
    product = math.prod(float(torch.linalg.matrix_norm(w, 2)) for w, _ in net.matrices())
    assert 0.05 < largest <= product + 1e-9 <= 0.9**3 + 1e-6


@pytest.mark.parametrize("activation", ["tanh", "elu"])
def test_tangents_are_those_of_autograd(activation):
    net = contracts.exact(TangentMLP([3, 8, 2], activation=activation))
    h = points(5, 3)
    _, push = net.linearise(h)
    torch.testing.assert_close(push(unit_vectors(h)).transpose(1, 2), contracts.jacobians(net, h))
    with torch.inference_mode():
        net.linearise(h.clone())[1](unit_vectors(h))  # where autograd could not


# --- Log-determinants of I + J --------------------------------------------------------------------

J = [[0.3, 0.2], [-0.1, 0.4]]


def linear(matrix: list):
    """v → J v of tangents (..., n, D)."""
    return lambda v: v @ f64(matrix).T


def test_the_power_series():
    h, push = torch.zeros(1, 2).double(), linear(J)
    assert log_det(push, h).item() == pytest.approx(0.6097655716)
    partial = [series(push, unit_vectors(h), n).sum().item() for n in range(1, 9)]
    expected = [0.7, 0.595, 0.611333, 0.610108, 0.609422, 0.609937, 0.609697, 0.609790]
    assert partial == pytest.approx(expected, abs=1e-6)
    # as printed in [UDL] 16.22, without 1/k
    diag = f64([0.5, 0.3])
    printed = sum((-1) ** (k - 1) * (diag**k).sum() for k in range(1, 200))
    assert printed.item() == pytest.approx(0.564103, abs=1e-6)
    assert series(linear([[0.5, 0], [0, 0.3]]), unit_vectors(h), 200).sum().item() == pytest.approx(
        0.667829, abs=1e-6
    )
    trace = sum((-1) ** (k - 1) * torch.linalg.matrix_power(f64(J), k).trace() for k in range(1, 100))
    assert trace.item() == pytest.approx(0.532609, abs=1e-6)
    power = sum((-1) ** (k - 1) * 0.7**k / k for k in range(1, 400))
    assert power == pytest.approx(0.530628, abs=1e-6)

    def bias(rate: float, n: int) -> float:
        return 2 * sum(rate**k / k for k in range(n + 1, 2000))

    results = [bias(0.5, 1), bias(0.5, 5), bias(0.9, 5), bias(0.9, 10)]
    assert results == pytest.approx([0.386294, 0.009211, 0.944924, 0.367675], abs=1e-6)


def test_hutchinson_estimates_a_trace():
    h = torch.zeros(1, 2).double()
    for noise, variance in (("gaussian", 0.51), ("rademacher", 0.01)):
        v = probes(h, 200_000, noise, torch.Generator().manual_seed(0))
        draws = series(linear(J), v, 1)[0]
        assert draws.mean().item() == pytest.approx(0.7, abs=5 * (variance / 200_000) ** 0.5)
        assert draws.var().item() == pytest.approx(variance, rel=0.03)


def test_roulette_is_unbiased():
    h = torch.zeros(1, 2).double()
    for p, variance in ((0.5, 0.008592), (0.75, 0.027467)):
        values = [series(linear(J), unit_vectors(h), n, roulette(n, p)).sum().item() for n in range(1, 60)]
        if p == 0.5:
            assert values[:5] == pytest.approx([0.7, 0.49, 0.555333, 0.545533, 0.534557], abs=1e-6)
        chances = [p * (1 - p) ** n for n in range(59)]
        mean = sum(c * v for c, v in zip(chances, values, strict=True))
        assert mean == pytest.approx(0.6097655716, abs=1e-7)
        assert sum(c * (v - mean) ** 2 for c, v in zip(chances, values, strict=True)) == pytest.approx(
            variance, abs=2e-6
        )


def test_residual_layers_keep_the_contract():
    layer = Residual(3, (6, 6), 0.7)
    contracts.inverts_with_its_log_determinant(
        layer, points(6, 3), stateless=False, tolerance=1e-8, scale=1.0
    )


@pytest.mark.parametrize("estimator", ["series", "hutchinson", "roulette"])
def test_estimates_are_right_on_average(estimator):
    torch.manual_seed(0)
    layer = contracts.exact(Residual(2, (6,), 0.5, estimator, terms=30, probes=50), scale=1.0)
    x = points(1, 2)
    exact = layer.normalize(x)[1]
    layer.train()
    draws = torch.stack([layer.normalize(x)[1] for _ in range(1 if estimator == "series" else 300)])
    error = 5 * draws.std().item() / 300**0.5 if len(draws) > 1 else 1e-6
    assert draws.mean().item() == pytest.approx(exact.item(), abs=error + 1e-6)
    assert len(draws) == 1 or draws.std() > 0
    with pytest.raises(ValueError, match="estimator"):
        Residual(2, estimator="guess")


# --- Continuous flows -----------------------------------------------------------------------------


class LinearField(nn.Module):
    """f = J h."""

    def __init__(self, matrix: list) -> None:
        super().__init__()
        self.matrix = nn.Parameter(f64(matrix))

    def forward(self, t: float, h: Tensor) -> Tensor:
        return h @ self.matrix.T

    def divergence(self, t: float, h: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        return self(t, h), ((v @ self.matrix.T) * v).sum((-2, -1))


class Logistic(nn.Module):
    """f = h (1 − h)."""

    def divergence(self, t: float, h: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        return h * (1 - h), ((1 - 2 * h)[:, None] * v * v).sum((-2, -1))


def test_a_linear_field():
    h = f64([[1, 2]])
    layer = Continuous(LinearField(J), "rk4", 32)
    x, ladj = layer.generate(h)
    torch.testing.assert_close(x, f64([[1.901895, 2.813338]]), rtol=0, atol=1e-6)
    assert ladj.item() == pytest.approx(0.7)  # tr J
    exact = h @ torch.matrix_exp(f64(J)).T
    errors = []
    for steps in (1, 2, 4, 8):
        (result,), calls = solve(lambda t, s: (s[0] @ f64(J).T,), (h,), 0.0, 1.0, "rk4", steps)
        assert calls == 4 * steps
        errors.append((result - exact).abs().max().item())
    assert errors == pytest.approx([1.5e-4, 1.0e-5, 6.8e-7, 4.4e-8], rel=0.06)
    eulers = [
        n * torch.linalg.slogdet(torch.eye(2, dtype=torch.float64) + f64(J) / n).logabsdet.item()
        for n in (1, 2, 4, 10, 100)
    ]
    assert eulers == pytest.approx([0.609766, 0.651400, 0.674749, 0.689662, 0.698952], abs=1e-6)
    (x, _), calls = Continuous(LinearField(J), "dopri5", tolerance=1e-9).flow(h, 0.0, 1.0)[0], 0
    torch.testing.assert_close(x, exact, rtol=0, atol=1e-8)


def test_gradients_through_the_solver_and_by_the_adjoint():
    layer = Continuous(LinearField(J), "rk4", 32)
    h = f64([[1, 2]]).requires_grad_()
    x = layer.generate(h)[0]
    through = torch.autograd.grad(0.5 * (x**2).sum(), [h, layer.field.matrix])
    torch.testing.assert_close(through[0], f64([[2.142716, 4.694679]]), rtol=0, atol=1e-6)
    grad, rest = adjoint(layer.field, x.detach(), x.detach(), [layer.field.matrix], 0.0, 1.0)
    torch.testing.assert_close(grad, through[0], rtol=0, atol=1e-6)
    torch.testing.assert_close(rest[0], through[1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("solver", ["rk4", "dopri5"])
def test_the_logistic_equation(solver):
    x, ladj = Continuous(Logistic(), solver, 32, 1e-9).generate(f64([[0.3]]))
    assert x.item() == pytest.approx(0.538102, abs=1e-6)
    assert ladj.item() == pytest.approx(0.168530, abs=1e-6)


def test_a_line_cannot_be_turned_round_but_a_plane_can():
    field = Continuous(contracts.exact(Field(1, (8,))), steps=16)
    line = torch.linspace(-2, 2, 50, dtype=torch.float64)[:, None]
    with torch.no_grad():
        assert (field.generate(line)[0].diff(dim=0) > 0).all()
    turn = Continuous(LinearField([[0, -math.pi], [math.pi, 0]]), "rk4", 200)
    x, ladj = turn.generate(f64([[1, 0], [-0.5, 0]]))
    torch.testing.assert_close(x, f64([[-1, 0], [0.5, 0]]), rtol=0, atol=1e-6)
    assert ladj.abs().max() < 1e-12


def test_continuous_layers_keep_the_contract_as_exactly_as_they_are_solved():
    layer = Continuous(Field(2, (8,)), "rk4", 200)
    contracts.inverts_with_its_log_determinant(layer, points(4, 2), scale=0.5, tolerance=1e-7)
    layer = contracts.exact(Continuous(Field(2, (8,)), "rk4"), scale=1.0)
    trips = []
    for steps in (2, 4, 8, 16):
        layer.steps = steps
        z = points(20, 2)
        with torch.no_grad():
            trips.append((layer.normalize(layer.generate(z)[0])[0] - z).abs().max().item())
    assert trips == sorted(trips, reverse=True) and trips[-1] < 1e-2 * trips[0]
    assert layer.path(points(3, 2), 5).shape == (5, 3, 2)


def test_hutchinson_trace_has_one_noise_for_a_solve():
    torch.manual_seed(0)
    layer = contracts.exact(Continuous(Field(2, (8,)), trace="hutchinson"), scale=1.0)
    x = points(1, 2).expand(4000, 2)
    with torch.no_grad():
        exact = layer.normalize(x)[1][0].item()
        draws = layer.train().normalize(x)[1]
    assert draws.std() > 0
    assert draws.mean().item() == pytest.approx(exact, abs=5 * draws.std().item() / 4000**0.5)
    with pytest.raises(ValueError, match="solver"):
        Continuous(Field(2), solver="guess")
    with pytest.raises(ValueError, match="solver"):
        solve(lambda t, s: s, (x,), 0.0, 1.0, "guess")


@pytest.mark.parametrize("model", [IResNet(blocks=2, hidden=(8,)), CNF(hidden=(8,), steps=16)],
                         ids=lambda model: type(model).__name__)  # fmt: skip
def test_models_are_densities_and_learn(model):
    contracts.exact(model, scale=0.5)
    assert contracts.mass_on_the_plane(model.log_prob, 12, 241) == pytest.approx(1, abs=1e-2)
    dist = model.distribution()
    x, carried = dist.rsample_and_log_prob((10,))
    torch.testing.assert_close(dist.log_prob(x), carried, rtol=0, atol=1e-4)
    with torch.inference_mode():
        model.log_prob(points(3, 2))


def test_a_coarse_solver_is_not_normalised():
    """FL-E17: with few steps the mass is off by more than with many."""
    model = contracts.exact(CNF(hidden=(8,), solver="euler"), scale=1.0)
    with torch.no_grad():
        model.stack.layers[1].log_scale.zero_()
    masses = []
    for steps in (1, 8, 64):
        model.stack.layers[0].steps = steps
        masses.append(contracts.mass_on_the_plane(model.log_prob, 12, 201))
    assert masses[0] > 2 > masses[1] > 1.1 and masses[2] == pytest.approx(1, abs=0.05)


def test_power_iteration_goes_on_from_step_to_step():
    """One step an evaluation is enough, as each begins where the last ended: also when the weight moves."""
    layer = Lipschitz(6, 5, steps=1).train()
    for _ in range(2):
        with torch.no_grad():
            layer.weight.normal_(generator=torch.Generator().manual_seed(int(layer.u.sum() > 9)))
            for _ in range(400):
                layer.norm()
            true = torch.linalg.matrix_norm(layer.weight, 2)
        torch.testing.assert_close(layer.norm(), true, rtol=1e-4, atol=0)
        torch.testing.assert_close(layer.eval().norm(), true, rtol=1e-4, atol=0)
        layer.train()
