"""The numbers of one-dimensional, linear and elementwise flows, planar and radial ones, couplings."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import MultivariateNormal, Normal

from modules.flow import bins, change, coupling, linear, mixture, monotone, planar, spline
from modules.flow.layer import FlowLayer, FlowStack, increasing_root


def f64(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def close(value: object, expected: object, tolerance: float = 1e-6) -> None:
    if not isinstance(value, Tensor):
        value = f64([float(v) for v in value] if isinstance(value, list) else value)
    torch.testing.assert_close(value.detach().double(), f64(expected), rtol=tolerance, atol=tolerance)


def density(layer: FlowLayer, x: Tensor, log_base) -> Tensor:
    """p(x) of every number of x (N,)."""
    z, ladj = layer.normalize(x[:, None])
    return (log_base(z[:, 0]) + ladj).exp()


def gaussian(z: Tensor) -> Tensor:
    return Normal(0.0, 1.0).log_prob(z)


# --- One dimension --------------------------------------------------------------------------------


def test_square_of_a_uniform():
    layer, flat = change.Power(2), lambda z: torch.zeros_like(z)
    close(density(layer, f64([0.04, 0.25, 1.0]), flat), [2.5, 1.0, 0.5])
    z = (torch.arange(200_000, dtype=torch.float64) + 0.5) / 200_000  # the base, evenly
    x, ladj = layer.generate(z[:, None])
    close(x.mean(), 1 / 3)
    close(x.var(), 4 / 45, 1e-4)
    close((x < 0.25).double().mean(), 0.5, 1e-5)
    close(ladj.mean(), math.log(2) - 1, 1e-4)  # E[−log p], as log p_Z = 0


def test_sigmoid_of_a_gaussian():
    p = density(change.Sigmoid(), f64([0.5, 0.25, 0.1, 0.9, 0.05]), gaussian)
    close(p, [1.595769, 1.163652, 0.396575, 0.396575, 0.110055])
    x = (torch.arange(400_000, dtype=torch.float64) + 0.5) / 400_000
    p = density(change.Sigmoid(), x, gaussian) / 400_000
    close([p.sum(), (p * x).sum(), (p * (x - 0.5) ** 2).sum()], [1, 0.5, 0.043379], 1e-5)


def test_exponential_maps():
    close(density(change.Exp(), f64([1, math.e, 0.5]), gaussian), [0.398942, 0.089016, 0.627496], 2e-6)
    x, ladj = change.Exponential(2.0).generate(f64([[0.5]]))
    close(x, [[0.346574]])
    close((-ladj).exp(), [1.0])


def test_any_density_of_the_line_is_a_curve_through_the_gaussian():
    layer = change.Quantile([0.5, 0.5], [-2, 2], [0.5, 0.5])
    x, ladj = layer.generate(f64([[1.0], [-1.0], [0.5], [0.0]]))
    close(x[:, 0], [2.237616, -2.237616, 1.851096, 0])
    close(ladj.exp()[[0, 2, 3]], [0.679039, 0.922512, 1490.479], 2e-6)
    close(gaussian(f64([1.0, 0.0])) - ladj[[0, 3]], [-1.031862, -8.225791])
    z, back = layer.normalize(x)
    close(z[:, 0], [1, -1, 0.5, 0], 1e-9)
    close(back + ladj, [0, 0, 0, 0], 1e-9)


@pytest.mark.parametrize("layer", [
    change.Power(3.0), change.Exp(), change.Sigmoid(), change.Exponential(2.0),
    change.Quantile([0.3, 0.7], [-1, 2], [0.5, 1.0]),
], ids=lambda layer: type(layer).__name__)  # fmt: skip
def test_curves_keep_the_contract(layer):
    import contracts

    z = torch.rand(8, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 0.8 + 0.1
    contracts.inverts_with_its_log_determinant(layer, z)


def test_affine_maximum_likelihood():
    x = f64([1, 2, 4, 7])
    layer = linear.Diagonal(1).double()
    optimizer = torch.optim.LBFGS(layer.parameters(), max_iter=100, line_search_fn="strong_wolfe",
                                  tolerance_grad=1e-12, tolerance_change=1e-14)  # fmt: skip

    def closure() -> Tensor:
        optimizer.zero_grad()
        z, ladj = layer.normalize(x[:, None])
        loss = -(gaussian(z[:, 0]) + ladj).mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    close(torch.cat([layer.bias, layer.scale]), [3.5, 2.291288])
    close(closure(), 2.248053)


def test_the_sign_of_the_sum_in_a_stack():
    first, second = linear.Diagonal(1).double(), linear.Diagonal(1).double()
    with torch.no_grad():
        first.log_scale.fill_(math.log(2)), second.log_scale.fill_(math.log(3)), second.bias.fill_(1)
    stack = FlowStack([first, second])
    z, ladj = stack.normalize(f64([[1.0]]))
    close(gaussian(z[:, 0]) + ladj, [-2.710698])
    as_printed = gaussian(z[:, 0]) + stack.generate(z)[1]  # [GM] eq. 3.82
    close(as_printed, [0.872821])
    x = torch.linspace(-60, 60, 100_001, dtype=torch.float64)
    z, ladj = stack.normalize(x[:, None])
    close(torch.trapezoid((gaussian(z[:, 0]) - ladj).exp(), x), 36, 1e-5)


# --- Linear ---------------------------------------------------------------------------------------

OMEGA2 = [[1, 0, 0, 0], [2, 4, 0, 0], [1, -1, 2, 0], [4, -2, -2, 1]]


def dense(matrix: list, bias: list | None = None) -> linear.Linear:
    layer = linear.Linear(len(matrix)).double()
    with torch.no_grad():
        layer.weight.copy_(f64(matrix))
        if bias:
            layer.bias.copy_(f64(bias))
    return layer


def test_diagonal_and_triangular_matrices():
    layer = linear.Diagonal(4).double()
    with torch.no_grad():
        layer.log_scale.copy_(f64([2, 5, 1, 2]).log())
        layer.sign[1] = -1
    close(layer.matrix().inverse().diagonal(), [0.5, -0.2, 1, 0.5])
    close(torch.linalg.det(layer.matrix()), -20)
    close(layer.log_det(), 2.995732)
    lower = linear.Triangular(4).double()
    with torch.no_grad():
        lower.log_scale.copy_(f64([1, 4, 2, 1]).log())
        lower.entries.copy_(f64([2, 1, -1, 4, -2, -2]))
    close(lower.matrix(), [[float(v) for v in row] for row in OMEGA2], 1e-12)
    close(lower.log_det(), 2.079442)
    close(8 * lower.solve(torch.eye(4, dtype=torch.float64)).T,
          [[8.0, 0, 0, 0], [-4, 2, 0, 0], [-6, 1, 4, 0], [-52, 6, 8, 8]], 1e-12)  # fmt: skip
    close(lower.normalize(f64([[1, 2, 3, 4]]))[0], [[1.0, 0, 1, 2]], 1e-12)


def test_a_gaussian_stays_gaussian_through_a_linear_map():
    layer = dense([[2, 0], [1, 3]], [1, -1])
    start = MultivariateNormal(f64([1, 2]), torch.eye(2, dtype=torch.float64))
    mean, cov = layer.generate(start.mean[None])[0][0], layer.matrix() @ layer.matrix().T
    close(mean, [3.0, 6.0])
    close(cov, [[4.0, 2.0], [2.0, 10.0]])
    x = f64([[3, 6], [4, 8], [0, 0]])
    z, ladj = layer.normalize(x)
    log_p = start.log_prob(z) + ladj
    close(log_p[:2], [-3.629637, -3.879637])
    torch.testing.assert_close(log_p, MultivariateNormal(mean, cov).log_prob(x))


def test_lu_needs_a_unit_diagonal():
    layer = linear.LU(3).double()
    with torch.no_grad():
        layer.order.copy_(torch.tensor([1, 2, 0]))
        layer.lower.copy_(f64([0.5, -1, 2]))
        layer.upper.copy_(f64([3, -1, 0.5]))
        layer.log_scale.copy_(f64([2, 0.5, 4]).log())
        layer.sign[1] = -1
    close(layer.matrix(), [[1.0, 1, 0], [-2, -4, 6], [2, 3, -1]], 1e-12)
    close(layer.log_det(), 1.386294)
    x, ladj = layer.generate(f64([[1, 2, 3]]))
    close(x, [[3.0, 8, 5]], 1e-12)
    close(ladj, [1.386294])
    close(layer.normalize(x)[0], [[1.0, 2, 3]], 1e-12)
    # with another diagonal of L, the sum over D alone is wrong
    lower, upper = layer.factors()
    other = (lower - torch.eye(3).double() + f64([2, 3, 0.5]).diag()) @ upper
    close(torch.linalg.slogdet(other).logabsdet, 2.484907)


def test_householder():
    layer = linear.Orthogonal(3, 1).double()
    with torch.no_grad():
        layer.vectors.copy_(f64([[1, 2, 2]]))
    close(9 * layer.matrix(), [[7.0, -4, -4], [-4, 1, -8], [-4, -8, 1]], 1e-12)
    close(torch.linalg.det(layer.matrix()), -1)
    full = linear.Orthogonal(3).double()
    close(full.matrix() @ full.matrix().T, torch.eye(3).tolist(), 1e-12)
    z = torch.randn(4, 3, dtype=torch.float64)
    torch.testing.assert_close(full.generate(z)[0], z @ full.matrix().T)


# --- Elementwise ----------------------------------------------------------------------------------

PHI = [0.1, 0.2, 0.5, 0.1, 0.1]


def phi(count: int) -> Tensor:
    return f64(PHI).log().expand(count, 5)


def test_leaky_relu():
    layer = monotone.Elementwise(4, monotone.LeakyReLU(0.1))
    _, ladj = layer.generate(f64([[-1, 2, -0.5, 3]]))
    close(ladj, [-4.605170])
    close((-ladj).exp(), [100.0])
    z, slope = monotone.LeakyReLU(0.1).normalize(f64([-0.05, 0.5]), torch.zeros(2, 0))
    close((gaussian(z) + slope).exp(), [3.520653, 0.352065])
    close(slope.exp(), [10.0, 1.0])


def test_piecewise_linear_bins():
    map_ = bins.PiecewiseLinear(5)
    h = f64([0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1])
    value, _ = map_.generate(h, phi(8))
    close(value, [0, 0.05, 0.1, 0.2, 0.55, 0.85, 0.95, 1], 1e-12)
    close(map_.normalize(value, phi(8))[0], h.tolist(), 1e-12)
    knots = f64([0, 0.2, 0.4, 0.6, 0.8, 1])
    value, _ = map_.generate(knots, phi(6))
    close(value, [0, 0.1, 0.3, 0.8, 0.9, 1], 1e-12)
    close(map_.normalize(value, phi(6))[0], knots.tolist(), 1e-12)
    middle = f64([0.1, 0.3, 0.5, 0.7, 0.9])
    slope = map_.generate(middle, phi(5))[1].exp()
    close(slope, [0.5, 1, 2.5, 0.5, 0.5], 1e-12)
    rise = (map_.generate(middle + 1e-6, phi(5))[0] - map_.generate(middle, phi(5))[0]) / 1e-6
    close(rise, slope.tolist(), 1e-8)  # the slope is K φ, not φ (fig. 16.5)
    total = map_.generate(f64([0.1, 0.3, 0.5]), phi(3))[1].sum()
    close(total, 0.223144)


def test_the_bin_as_printed_lags_behind():
    def printed(h: float) -> float:  # [UDL] eq. 16.12: b = ⌊K h⌋, φ numbered from 1
        b = int(5 * h)
        return sum(PHI[: max(b - 1, 0)]) + ((5 * h - b) * PHI[b - 1] if b else 0.0)

    assert printed(0.1) == 0 and printed(0.19) == 0
    assert printed(1.0) == pytest.approx(0.9)
    assert bins.PiecewiseLinear(5).generate(f64([1.0]), phi(1))[0].item() == pytest.approx(1)


def test_square_root_bins():
    map_ = bins.SquareRootBins(5)
    knots = map_.generate(f64([0.2, 0.4, 0.6, 0.8, 1.0]), phi(5))[0]
    close(knots, [0.316228, 0.763441, 1.470548, 1.786776, 2.103004])
    h = f64([0.1, 0.3, 0.5, 0.7, 0.9])
    value, slope = map_.generate(h, phi(5))
    close(value, [0.223607, 0.632456, 1.263441, 1.694155, 2.010383])
    close(slope.exp(), [1.118034, 1.581139, 2.5, 1.118034, 1.118034])
    close(map_.normalize(f64([1.263441]), phi(1))[0], [0.5])
    assert map_.generate(f64([0.2 + 1e-9]), phi(1))[1].exp().item() > 1e3


RQ = f64([-3, -1, 1, 3]), f64([-3, -2, 2, 3]), f64([1, 0.5, 2, 1])


def rq(x: list, inverse: bool = False) -> tuple[Tensor, Tensor]:
    knots = [k.expand(len(x), 4) for k in RQ]
    return (spline.rational_quadratic_inverse if inverse else spline.rational_quadratic)(f64(x), *knots)


def test_rational_quadratic_spline():
    x = [-2.0, -1.0, 0.0, 0.5, 1.0, 2.0]
    y, slope = rq(x)
    close(y, [-2.4, -2, -0.461538, 0.836364, 2, 2.625])
    close(slope.exp(), [0.4, 0.5, 2.461538, 2.581157, 2, 0.25])
    close(rq([-2.0, 0.0, 0.5])[1].sum(), 0.932734)
    back, down = rq(y.tolist(), inverse=True)
    close(back, x, 1e-12)
    close(down + slope, [0.0] * 6, 1e-12)
    close(rq([-5.0, 4.0, 3.0, -3.0])[0], [-5.0, 4, 3, -3])
    near, slope = rq([3 - 1e-7, 3 + 1e-7, -3 + 1e-7, -3 - 1e-7])
    close(near, [3.0, 3, -3, -3])
    close(slope, [0.0] * 4, 1e-5)  # value and slope are continuous


def test_rational_quadratic_spline_keeps_finite():
    x = f64([3 - 1e-6, 3 + 1e-6, -3 + 1e-6, -3 - 1e-6]).requires_grad_()
    knots = [k.clone().requires_grad_() for k in RQ]
    for function in (spline.rational_quadratic, spline.rational_quadratic_inverse):
        value, slope = function(x, *[k.expand(4, 4) for k in knots])
        gradients = torch.autograd.grad((value + slope).sum(), [x, *knots])
        assert all(g.isfinite().all() for g in gradients)
    map_ = spline.RationalQuadratic(8, 3.0)
    theta = 4 * torch.randn(1, map_.num_params, generator=torch.Generator().manual_seed(0))
    sweep = torch.linspace(-3.5, 3.5, 100_000)  # single precision
    z, slope = map_.normalize(sweep, theta.expand(100_000, -1))
    assert z.isfinite().all() and slope.isfinite().all()
    assert (map_.generate(z, theta.expand(100_000, -1))[0] - sweep).abs().max() < 1e-3


def test_knots_stand_where_the_shares_add_up():
    raw = f64([1.0, 3.0]).log()  # a fourth and three fourths of the way from -2 to 2
    close(spline.knot_positions(raw, 2.0), [-2.0, -1.0, 2.0], 5e-3)


def test_cubic_bin():
    t = f64([0.25, 0.5, 0.75])
    value, slope = spline.cubic(t, f64(2.0), f64(0.5))
    close(value, [0.414063, 0.6875, 0.867188])
    close(slope, [1.34375, 0.875, 0.59375])
    assert spline.cubic(f64(0.5), f64(4.0), f64(4.0))[1].item() == pytest.approx(-0.5)
    map_ = spline.Cubic(4, 2.0)  # whatever θ is, it increases
    theta = 10 * torch.randn(200, 1, map_.num_params, dtype=torch.float64)
    h = torch.linspace(-2.5, 2.5, 500, dtype=torch.float64).expand(200, 500)
    assert (map_.generate(h, theta.expand(200, 500, -1))[0].diff(dim=-1) > 0).all()


def test_mixture_of_logistics():
    h = f64([-1, 0, 1, 2])
    log_pi, mu, log_s = f64([0.3, 0.7]).log(), f64([-1, 2]), f64([0.5, 1]).log()
    value, slope = mixture.logistic_mixture(h, log_pi, mu, log_s)
    close(value, [-1.494828, -0.629248, -0.068574, 0.615780])
    close(slope.exp(), [1.213765, 0.601818, 0.593601, 0.774980], 2e-6)
    value, _ = mixture.logistic_mixture(h, f64([0.0]), f64([0.4]), f64([2.0]).log())
    close(value, ((h - 0.4) / 2).tolist(), 1e-12)


def test_nonlinear_square_and_its_bound():
    value, slope = mixture.nonlinear_squared(f64([0, 1, 2]), 1, 0, 1, 1, 0)
    close(value, [1, 1.5, 2.2])
    close(slope[1], 0.5)
    u = torch.linspace(0, 3, 300_001, dtype=torch.float64)
    close(mixture.nonlinear_squared(u, 1, 0, 1, 1, 0)[1].min(), 0.350481)
    close(mixture.STEEPEST, 1.539601)
    close(mixture.nonlinear_squared(u, 1, 0, 1.6, 1, 0)[1].min(), -0.039230, 1e-5)
    assert mixture.nonlinear_squared(u, 1, 0, mixture.STEEPEST, 1, 0)[1].min().item() > -1e-9


def test_sum_of_squares():
    value, slope = mixture.sum_of_squares(f64([1, -1]), f64([[[1, 1]], [[1, 1]]]))
    close(value, [7 / 3, -1 / 3])
    close(slope[0], 4.0)


def test_an_increasing_root_has_the_implicit_gradient():
    a = f64(2.0).requires_grad_()
    y = f64([10.0, -3.0]).requires_grad_()

    def f(h):
        return a * h + h**3, (a + 3 * h**2).log()

    h = increasing_root(f, y)
    close(a * h + h**3, [10.0, -3.0], 1e-12)
    dy, da = torch.autograd.grad(h.sum(), (y, a))
    close(dy, (1 / (2 + 3 * h**2)).tolist(), 1e-9)
    close(da, float((-h / (2 + 3 * h**2)).sum().detach()), 1e-9)


def test_elementwise_layers_never_correlate():
    """FL-X3: the dependence of coordinates stays that of the base, whatever the map."""
    layer = monotone.Elementwise(2, spline.RationalQuadratic(6, 3.0)).double()
    nn.init.normal_(layer.theta, generator=torch.Generator().manual_seed(0))
    z = torch.randn(20_000, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    with torch.no_grad():
        x, _ = layer.generate(z)
        assert abs(torch.corrcoef(x.T)[0, 1]) < 0.03
        mixed, _ = dense([[1, 0.5], [0, 1]]).generate(x)
    assert torch.corrcoef(mixed.T)[0, 1] > 0.2


# --- Planar, radial, coupling ---------------------------------------------------------------------


def planar_layer(w: list, u: list, b: float, constrained: bool = True) -> planar.Planar:
    layer = planar.Planar(2, constrained=constrained).double()
    with torch.no_grad():
        layer.theta.copy_(f64([*u, *w, b]))
    return layer


def test_planar():
    layer = planar_layer([1, -0.5], [1, 0.5], 0.2, constrained=False)
    x, ladj = layer.generate(f64([[1, -1]]))
    close(x, [[1.935409, -0.532295]])
    close(ladj, [0.089619])
    close(layer.normalize(x)[0], [[1.0, -1]], 1e-9)


def test_an_unconstrained_planar_layer_folds():
    layer = planar_layer([1, 0], [-2, 0], 0.0, constrained=False)
    x, _ = layer.generate(f64([[0, 0], [1.915008, 0], [-1.915008, 0]]))
    close(x, [[0.0, 0]] * 3, 1e-5)  # three points at one place
    layer = planar_layer([1, -0.5], [-2, 0], 0.2)
    u, w, _ = layer.parts(None)
    close(u, [-1.098458, -0.450771])
    close((w * u).sum(), -0.873072)
    x, ladj = layer.generate(f64([[1, -1]]))
    close(x, [[-0.027507, -1.421655]])
    close(ladj, [-0.115571], 1e-5)


def test_radial():
    layer = planar.Radial(2).double()
    with torch.no_grad():
        layer.centre.copy_(f64([0, 1]))
        layer.raw_alpha.fill_(math.log(math.expm1(1)))
        layer.raw_beta.fill_(math.log(math.expm1(3)))
    close([layer.alpha, layer.beta], [1.0, 2.0])
    x, ladj = layer.generate(f64([[3, 5]]))
    close(x, [[4, 6.333333]])
    close(ladj, [0.341749])
    z, _ = layer.normalize(x)
    close((z - layer.centre).norm(), 5.0, 1e-12)


def test_a_radial_flow_at_the_origin_keeps_the_symmetry_of_its_base():
    layer = planar.Radial(3).double()
    with torch.no_grad():
        layer.centre.zero_()
    x = torch.randn(16, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    turn = torch.linalg.qr(torch.randn(3, 3, dtype=torch.float64)).Q

    def log_p(x):
        z, ladj = layer.normalize(x)
        return gaussian(z).sum(-1) + ladj

    torch.testing.assert_close(log_p(x @ turn.T), log_p(x), rtol=0, atol=1e-12)


class Given(nn.Module):
    """A conditioner that is said, not learned."""

    def forward(self, h: Tensor, context: Tensor | None = None) -> Tensor:
        return torch.stack([h**2, h.tanh()], -1)


def test_affine_coupling():
    layer = coupling.Coupling(2, monotone.Affine(None), Given())
    h = f64([[1, 2]])
    x, ladj = layer.generate(h)
    close(x, [[1, 5.283375]])
    close(ladj, [0.761594])
    assert x[0, 0] == h[0, 0]
    matrix = torch.autograd.functional.jacobian(lambda v: layer.generate(v[None])[0][0], h[0])
    assert matrix[0, 1] == 0 and matrix[1, 0] != 0  # block triangular, not diagonal
    additive = coupling.Coupling.of_vectors(4, monotone.Additive(), (8,))
    assert torch.equal(additive.generate(torch.randn(3, 4))[1], torch.zeros(3))


def test_without_turns_a_half_keeps_the_law_of_the_base():
    """FL-X5: what no coupling changes stays Gaussian, what they change does not."""
    from scipy.stats import kstest

    torch.manual_seed(0)
    layers = [coupling.Coupling.of_vectors(4, monotone.Affine(), (16,)) for _ in range(3)]
    for layer in layers:
        nn.init.normal_(layer.conditioner[-1].weight, std=0.5)
    with torch.no_grad():
        x, _ = FlowStack(layers).generate(torch.randn(3000, 4))
    p = [kstest(column, "norm").pvalue for column in x.T.numpy()]
    assert min(p[:2]) > 0.05 and max(p[2:]) < 1e-3


def test_halves_and_boards():
    assert coupling.halves(5) == (2, 3) and coupling.halves(1) == (0, 1)
    board = coupling.checkerboard((2, 2, 3))
    assert board.tolist() == [[[True, False, True], [False, True, False]]] * 2
    assert torch.equal(coupling.checkerboard((2, 2, 3), flip=True), ~board)


def test_typical_draws_are_not_near_the_peak():
    """FL-O38: log-density at 0 less its mean is D/2; radii concentrate; midpoints of draws lie inside."""
    from modules.flow.flow import Flow

    for d, radius in ((100, 9.975032), (784, 27.991073)):
        close(math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2)), radius)
        flow = Flow((d,))
        z = flow.noise(4000, generator=torch.Generator().manual_seed(0))
        assert (flow.log_base(torch.zeros(1, d)) - flow.log_base(z).mean()).item() == pytest.approx(
            d / 2, rel=0.02
        )
        assert z.norm(dim=-1).mean().item() == pytest.approx(radius, rel=2e-3)
        assert ((z[:2000] + z[2000:]) / 2).norm(dim=-1).mean().item() == pytest.approx(
            radius / math.sqrt(2), rel=5e-3
        )


def test_a_power_of_the_base_is_a_power_of_the_model_only_where_volumes_scale_alike():
    """FL-O37: base^4 has standard deviation ½; through x = e^z it is another density than p(x)^4."""
    alpha, x = 4.0, torch.linspace(1e-4, 12, 400_001, dtype=torch.float64)
    assert pytest.approx(2.040816, abs=1e-6) == 0.7**-2
    z = x.log()
    pushed = (Normal(0.0, alpha**-0.5).log_prob(z) - z).exp()
    powered = (alpha * (gaussian(z) - z)).exp()
    for p, mean in ((pushed, 0.0), (powered, (1 - alpha) / alpha)):
        p = p / torch.trapezoid(p, x)
        result = torch.trapezoid(p * z, x)
        close(result, mean, 1e-5)
        close(torch.trapezoid(p * (z - result) ** 2, x), 0.25, 1e-5)
