"""Every layer keeps the contract of layers (FL-O1); a layer that lies about its ladj does not."""

import math

import contracts
import pytest
import torch
from contracts import inverts_with_its_log_determinant as keeps_the_contract
from contracts import mass_on_the_plane
from torch import Tensor, nn

from modules.flow import bins, coupling, linear, maf, mixture, monotone, planar, spline
from modules.flow.layer import FlowLayer, FlowStack, Inverse


def f64(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def points(shape: tuple[int, ...], count: int = 16, seed: int = 0, unit: bool = False) -> Tensor:
    """Standard normal points, or points of the unit cube."""
    generator = torch.Generator().manual_seed(seed)
    draw = torch.rand if unit else torch.randn
    return draw(count, *shape, generator=generator, dtype=torch.float64)


MAPS = {
    "affine": monotone.Affine(),
    "free affine": monotone.Affine(None),
    "gated": monotone.Gated(),
    "additive": monotone.Additive(),
    "rational quadratic": spline.RationalQuadratic(5, 2.0),
    "cubic": spline.Cubic(5, 2.0),
    "piecewise linear": bins.PiecewiseLinear(5),
    "square roots": bins.SquareRootBins(5),
    "logistics": mixture.LogisticMixture(3),
    "flipped logistics": monotone.InverseMonotone(mixture.LogisticMixture(3)),
    "nonlinear squared": mixture.NonlinearSquared(),
    "sum of squares": mixture.SumOfSquares(2, 2),
    "integral": mixture.Integral(4),
}
LAYERS = {
    "dense": lambda: linear.Linear(4),
    "diagonal": lambda: linear.Diagonal(4),
    "lower": lambda: linear.Triangular(4),
    "upper": lambda: linear.Triangular(4, upper=True),
    "orthogonal": lambda: linear.Orthogonal(4),
    "permutation": lambda: linear.Permutation(4),
    "LU": lambda: linear.LU(4),
    "QR": lambda: linear.QR(4, 2),
    "planar": lambda: planar.Planar(4),
    "radial": lambda: planar.Radial(4),
    "leaky relu": lambda: monotone.Elementwise(4, monotone.LeakyReLU()),
    "inverse": lambda: Inverse(linear.LU(4)),
    "masked coupling": lambda: coupling.MaskedCoupling(
        torch.tensor([1, 0, 0, 1]), monotone.Affine(), coupling.MLPConditioner(4, 4, 2, (8,))
    ),
    "odd coupling": lambda: coupling.Coupling.of_vectors(4, monotone.Affine(), (8,), flip=True),
}
MIXED = lambda: FlowStack(  # noqa: E731  # any layer stacks with any other
    [
        linear.LU(4, seed=1), monotone.Elementwise(4, spline.RationalQuadratic(4, 3.0)), planar.Planar(4),
        linear.Permutation(4, seed=2), coupling.Coupling.of_vectors(4, monotone.Affine(), (8,)),
        planar.Radial(4), Inverse(maf.MaskedAutoregressive(4, monotone.Affine(), (8,))), linear.Diagonal(4),
    ]
)  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_keeps_the_contract(name):
    keeps_the_contract(LAYERS[name](), points((4,)))


@pytest.mark.parametrize("name", MAPS)
def test_a_map_keeps_it_coordinate_by_coordinate(name):
    unit = name in ("piecewise linear", "square roots")
    keeps_the_contract(monotone.Elementwise(3, MAPS[name]), points((3,), unit=unit), tolerance=1e-7)


@pytest.mark.parametrize("name", ["affine", "rational quadratic", "logistics"])
@pytest.mark.parametrize("kind", [maf.MaskedAutoregressive, maf.InverseAutoregressive])
def test_a_map_keeps_it_in_masked_layers(name, kind):
    keeps_the_contract(kind(4, MAPS[name], (8, 8), reverse=True), points((4,), 4), tolerance=1e-7)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("name", ["affine", "additive", "rational quadratic", "flipped logistics"])
def test_a_map_keeps_it_in_couplings(name, flip):
    layer = coupling.Coupling.of_vectors(5, MAPS[name], (8,), flip)  # halves of 2 and 3
    keeps_the_contract(layer, points((5,), 6), tolerance=1e-7)


@pytest.mark.parametrize("context", [
    lambda: coupling.Coupling.of_vectors(3, monotone.Affine(), (8,), context=2),
    lambda: maf.MaskedAutoregressive(3, monotone.Affine(), (8,), context=2),
    lambda: maf.InverseAutoregressive(3, monotone.Affine(), (8,), context=2),
    lambda: planar.Planar(3, context=2),
    lambda: monotone.Elementwise(3, monotone.Affine(), context=2),
])  # fmt: skip
def test_a_layer_with_context_keeps_the_contract_and_reads_the_context(context):
    layer = context()
    keeps_the_contract(layer, points((3,), 6), points((2,), 6, seed=1))
    z = points((3,), 1)
    one, other = (layer.generate(z, points((2,), 1, seed=s))[0] for s in (1, 2))
    assert not torch.allclose(one, other)


def test_any_layers_stack_and_the_stack_keeps_the_contract():
    keeps_the_contract(MIXED(), points((4,), 6), tolerance=1e-7)


class Liar(FlowLayer):
    """The mutant: a layer whose ladj is always 0."""

    def __init__(self, layer: FlowLayer) -> None:
        super().__init__()
        self.layer = layer

    def generate(self, z: Tensor, context: Tensor | None = None) -> tuple[Tensor, Tensor]:
        x, ladj = self.layer.generate(z, context)
        return x, ladj * 0

    def normalize(self, x: Tensor, context: Tensor | None = None) -> tuple[Tensor, Tensor]:
        z, ladj = self.layer.normalize(x, context)
        return z, ladj * 0


@pytest.mark.parametrize("honest", [
    lambda: linear.LU(4), lambda: coupling.Coupling.of_vectors(4, monotone.Affine(), (8,)), MIXED,
])  # fmt: skip
def test_a_layer_whose_ladj_is_zero_fails(honest):
    with pytest.raises(AssertionError, match="slogdet"):
        keeps_the_contract(Liar(honest()), points((4,), 2))


def test_a_fresh_coupling_would_hide_such_a_mutant():
    """Why parameters are randomised: a coupling that ends in zeros is the identity, whose ladj is 0."""
    fresh = coupling.Coupling.of_vectors(4, monotone.Affine(), (8,)).double()
    z = points((4,))
    x, ladj = Liar(fresh).generate(z)
    assert torch.equal(x, z) and torch.equal(ladj, torch.zeros(16, dtype=torch.float64))


@pytest.mark.parametrize("name", MAPS)
def test_maps_are_finite_at_and_beyond_their_knots(name):
    """(j), with gradients."""
    map_ = MAPS[name].double()
    theta = 0.5 * points((map_.num_params,), 1).requires_grad_()
    knots = torch.linspace(-3, 3, 121, dtype=torch.float64)
    near = torch.cat([knots, knots + 1e-9, knots - 1e-9, f64([-1e3, 1e3])]).requires_grad_()
    for direction in (map_.generate, map_.normalize):
        value, slope = direction(near, theta.expand(len(near), -1))
        assert value.isfinite().all() and slope.isfinite().all()
        gradients = torch.autograd.grad(value.sum() + slope.sum(), (near, theta))
        assert all(g.isfinite().all() for g in gradients)


@pytest.mark.parametrize("name", [n for n in MAPS if n not in ("gated", "square roots", "logistics",
                                                              "flipped logistics")])  # fmt: skip
def test_maps_start_as_the_identity(name):
    h = f64([-3.0, -0.4, 0.0, 0.3, 2.5])
    map_ = MAPS[name].double()
    value, slope = map_.generate(h, torch.zeros(5, map_.num_params, dtype=torch.float64))
    torch.testing.assert_close(value, h, rtol=0, atol=1e-9)
    torch.testing.assert_close(slope, torch.zeros_like(h), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["affine", "rational quadratic", "cubic", "logistics", "nonlinear squared",
                                  "sum of squares", "integral"])  # fmt: skip
def test_a_map_gives_a_density_that_integrates_to_one(name):
    """(e): each reaches all of R, so nothing is lost and nothing counted twice."""
    map_ = MAPS[name].double()
    theta = 0.5 * points((map_.num_params,), 1, seed=3)
    x = torch.linspace(-60, 60, 240_001, dtype=torch.float64)
    for direction in (map_.generate, map_.normalize) if name != "integral" else (map_.generate,):
        z, slope = direction(x, theta.expand(len(x), -1))
        p = (slope - 0.5 * z**2).exp() / (2 * torch.pi) ** 0.5
        assert torch.trapezoid(p, x).item() == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("model", [
    coupling.RealNVP(layers=3, hidden=(8,)), coupling.NSF(layers=2, hidden=(8,)),
    maf.MAF(layers=2, hidden=(8,)), maf.IAF(layers=2, hidden=(8,), gated=True),
    planar.PlanarFlow(layers=3), planar.RadialFlow(layers=3), coupling.LinearFlow(),
    coupling.NICE(layers=4, hidden=(8,)), maf.MAF(layers=2, hidden=(8,), spline=True),
], ids=lambda model: type(model).__name__)  # fmt: skip
def test_a_model_is_a_density(model):
    """(e) mass 1, (f) log_prob of own samples is what was carried along."""
    contracts.exact(model, scale=0.2)
    assert mass_on_the_plane(model.log_prob, reach=12, cells=601) == pytest.approx(1, abs=1e-2)
    dist = model.distribution()
    x, carried = dist.rsample_and_log_prob((50,))
    torch.testing.assert_close(dist.log_prob(x), carried, rtol=0, atol=1e-7)


def test_frozen_permutations_are_kept_with_the_weights():
    one, other = linear.Permutation(6, seed=1), linear.Permutation(6, seed=2)
    z = points((6,))
    assert not torch.equal(one.generate(z)[0], other.generate(z)[0])
    other.load_state_dict(one.state_dict())
    assert torch.equal(one.generate(z)[0], other.generate(z)[0])
    assert not list(one.parameters())


def test_a_stack_needs_a_layer():
    with pytest.raises(ValueError, match="at least one"):
        FlowStack([])


def test_no_weight_is_overwritten_by_a_mask():
    layer = maf.MaskedAutoregressive(3, monotone.Affine(), (8,))
    with torch.no_grad():
        for parameter in layer.parameters():
            nn.init.normal_(parameter)
    before = {name: p.clone() for name, p in layer.named_parameters()}
    layer.generate(torch.randn(5, 3)), layer.normalize(torch.randn(5, 3))
    assert all(torch.equal(p, before[name]) for name, p in layer.named_parameters())


def mirrored_ring() -> Tensor:
    """Eight clouds in a ring, mirrored in both axes."""
    angles = torch.arange(8) * torch.pi / 4
    ring = 3 * torch.stack([angles.cos(), angles.sin()], -1).repeat(8, 1)
    x = ring + 0.3 * torch.randn(64, 2, generator=torch.Generator().manual_seed(0))
    return torch.cat([x * torch.tensor(side) for side in ([1, 1], [1, -1], [-1, 1], [-1, -1])])


def test_nice_leaves_the_linear_model_where_the_data_are_symmetric():
    """No shift at all is a saddle there: its gradient is 0, or a rounding that Adam would enlarge."""
    x = mirrored_ring().double()
    torch.manual_seed(0)
    model = coupling.NICE(layers=4, hidden=(16,)).double()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    for _ in range(200):
        optimizer.zero_grad()
        loss = -model.log_prob(x).mean()
        loss.backward()
        optimizer.step()
    gaussian = 0.5 * torch.logdet(torch.cov(x.T)) + 1 + math.log(2 * math.pi)
    assert loss.item() < gaussian.item() - 0.3


@pytest.mark.parametrize("init_std", [0.0, 0.1])
def test_from_the_identity_symmetric_data_give_affine_couplings_no_shift(init_std: float) -> None:
    """Only their scales have a gradient; from random last weights both have."""
    x = mirrored_ring().double()
    torch.manual_seed(0)
    model = coupling.RealNVP(layers=4, hidden=(16,), init_std=init_std).double()
    assert torch.equal(model.encode(x), x) == (init_std == 0)
    (-model.log_prob(x).mean()).backward()
    shift, scale = torch.stack([layer.conditioner[-1].weight.grad for layer in model.layers]).unbind(1)
    assert scale.abs().amax(1).min() > 1e-3
    assert (shift.abs().max() < 1e-12) == (init_std == 0) and (shift.abs().amax(1).min() > 1e-3) == (
        init_std > 0
    )


PRINTED = {
    "Permutation(order=[3, 2, 1, 0])": lambda: linear.Permutation(4, reverse=True),
    "Permutation(order=[15, 14, 13, …, 0])": lambda: linear.Permutation(16, reverse=True),
    "LU(1, order=[0])": lambda: linear.LU(1),
    "Orthogonal(3, reflections=2)": lambda: linear.Orthogonal(3, 2),
    "MaskedConditioner(\n  order=[2, 1, 0], num_params=2": lambda: maf.MaskedConditioner(3, 2, (4,), True),
    "Coupling(\n  kept=3, changed=2, flip=True": lambda: coupling.Coupling.of_vectors(
        5, monotone.Affine(), (4,), flip=True
    ),
    "MaskedCoupling(\n  mask=(1, 3, 3), kept=5": lambda: coupling.MaskedCoupling(
        coupling.checkerboard((1, 3, 3)), monotone.Affine(), torch.nn.Identity()
    ),
    "PiecewiseLinear(bins=5)": lambda: bins.PiecewiseLinear(5),
    "RationalQuadratic(bins=6, bound=3.0)": lambda: spline.RationalQuadratic(6, 3),
    "LogisticMixture(components=3)": lambda: mixture.LogisticMixture(3),
    "LeakyReLU(negative_slope=0.2)": lambda: monotone.LeakyReLU(0.2),
}


@pytest.mark.parametrize("text", PRINTED)
def test_layers_print_their_sizes_and_orders(text: str) -> None:
    assert repr(PRINTED[text]()).startswith(text)


def test_an_init_std_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match=r"init_std is -0.1"):
        coupling.RealNVP(init_std=-0.1)
