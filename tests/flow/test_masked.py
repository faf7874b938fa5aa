"""MAF and IAF: numbers of both directions, masks, calls, universality, distillation."""

import contracts
import pytest
import torch
from torch import Tensor, nn

from modules.flow.bins import PiecewiseLinear
from modules.flow.coupling import RealNVP
from modules.flow.flow import Flow
from modules.flow.maf import IAF, MAF, InverseAutoregressive, MaskedAutoregressive
from modules.flow.monotone import Affine, Elementwise, LeakyReLU
from modules.flow.reverse_kl import fit, importance_estimates, reverse_kl
from modules.flow.universality import couplings


def f64(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


class FixedConditioner(nn.Module):
    """μ = (0, c1², c1 c2), log σ = (0, c1/2, c2/2), instead of a network."""

    features = 3

    def forward(self, c: Tensor, context: Tensor | None = None) -> Tensor:
        zero = torch.zeros_like(c[..., 0])
        mean = torch.stack([zero, c[..., 0] ** 2, c[..., 0] * c[..., 1]], -1)
        return torch.stack([mean, torch.stack([zero, c[..., 0] / 2, c[..., 1] / 2], -1)], -1)

    def sequential(self, h: Tensor, apply, context: Tensor | None = None) -> tuple[Tensor, Tensor]:
        out, total = torch.zeros_like(h), torch.zeros_like(h[..., 0])
        for i in range(3):
            value, slope = apply(h[..., i], self(out)[..., i, :])
            out = out.clone()
            out[..., i], total = value, total + slope
        return out, total


def masked_layer(kind: type[MaskedAutoregressive]) -> MaskedAutoregressive:
    layer = kind(3, Affine(None))
    layer.conditioner = FixedConditioner()
    return layer.double()


def log_prob(layer: MaskedAutoregressive, x: Tensor) -> Tensor:
    z, ladj = layer.normalize(x)
    return torch.distributions.Normal(0.0, 1.0).log_prob(z).sum(-1) + ladj


@pytest.mark.parametrize(("kind", "x", "ladj", "log_p"), [
    (MaskedAutoregressive, [1, 4.297443, -4.276445], 2.648721, -8.405537),
    (InverseAutoregressive, [1, 4.297443, -0.718282], 1.5, -7.256816),
])  # fmt: skip
def test_one_conditioner_two_directions(kind, x, ladj, log_p):
    layer, z = masked_layer(kind), f64([[1, 2, -1]])
    result, up = layer.generate(z)
    torch.testing.assert_close(result, f64([x]), rtol=0, atol=1e-6)
    assert up.item() == pytest.approx(ladj, abs=1e-6)
    assert log_prob(layer, result).item() == pytest.approx(log_p, abs=1e-6)
    torch.testing.assert_close(layer.normalize(result)[0], z)


def test_maf_generates_as_an_iaf_with_other_outputs_normalizes():
    class Swapped(Affine):
        """x = (z − (−μ/σ)) / (1/σ): the same line, written with μ' = −μ/σ and σ' = 1/σ."""

        def shift_and_scale(self, theta: Tensor) -> tuple[Tensor, Tensor]:
            shift, s = super().shift_and_scale(theta)
            return -shift * (-s).exp(), -s

    inverse = InverseAutoregressive(3, Swapped(None)).double()
    inverse.conditioner = FixedConditioner()
    z = torch.randn(5, 3, dtype=torch.float64)
    torch.testing.assert_close(masked_layer(MaskedAutoregressive).generate(z), inverse.normalize(z))


# --- Masks and calls ------------------------------------------------------------------------------


class Counting(Affine):
    """Counts how often θ is asked for: a pass of the conditioner each."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def generate(self, z, theta):
        self.calls += 1
        return super().generate(z, theta)

    def normalize(self, x, theta):
        self.calls += 1
        return super().normalize(x, theta)


@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize(
    ("kind", "fast"), [(MaskedAutoregressive, "normalize"), (InverseAutoregressive, "generate")]
)
def test_one_call_one_way_and_one_a_variable_the_other(dim, kind, fast):
    layer = kind(dim, Counting(), (8,))
    for direction in ("generate", "normalize"):
        layer.monotone.calls = 0
        getattr(layer, direction)(torch.randn(7, dim))
        assert layer.monotone.calls == (1 if direction == fast else dim)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("monotone", [Affine(), PiecewiseLinear(5)], ids=["affine", "piecewise"])
def test_no_variable_reads_itself_or_a_later_one(reverse, monotone):
    layer = contracts.exact(MaskedAutoregressive(4, monotone, (12, 12), reverse))
    order = torch.arange(4).flip(0) if reverse else torch.arange(4)
    rank = order.argsort()
    allowed = (rank[:, None] > rank[None, :]).repeat_interleave(monotone.num_params, 0)
    x = torch.rand(4, dtype=torch.float64)
    contracts.jacobian_is_sparse(lambda h: layer.conditioner(h).flatten(), x, allowed, reached=True)


def test_the_inverse_needs_all_of_its_passes():
    """From zero, D passes reach the point; one fewer does not."""
    layer = contracts.exact(MaskedAutoregressive(4, Affine(), (16,)), scale=0.5)
    z = torch.randn(8, 4, dtype=torch.float64)
    exact = layer.generate(z)[0]
    x, errors = torch.zeros_like(z), []
    for _ in range(4):
        x = layer.monotone.generate(z, layer.conditioner(x))[0]
        errors.append((x - exact).abs().max().item())
    assert errors[3] < 1e-14 and errors[2] > 1e-3


# --- Universality ---------------------------------------------------------------------------------


def test_couplings_of_one_coordinate_make_an_autoregressive_layer():
    layer = contracts.exact(MaskedAutoregressive(4, Affine(), (16,)), scale=0.5)
    twin = InverseAutoregressive(4, Affine(), (16,)).double()
    twin.load_state_dict(layer.state_dict())
    z = torch.randn(8, 4, dtype=torch.float64)
    for stack, whole in ((couplings(layer, True), layer), (couplings(layer, False), twin)):
        x, ladj = whole.generate(z)
        result, sums = stack.generate(z)
        torch.testing.assert_close(result, x, rtol=0, atol=1e-14)
        torch.testing.assert_close(sums, ladj, rtol=0, atol=1e-13)
    assert (layer.generate(z)[0] - twin.generate(z)[0]).abs().max() > 0.05  # two different maps
    contracts.inverts_with_its_log_determinant(couplings(layer, True), z[:4])


# --- Models ---------------------------------------------------------------------------------------


def test_a_conditional_flow_is_a_density_for_each_class():
    model = contracts.exact(MAF(layers=2, hidden=(8,), conditional=True, num_classes=3), scale=0.2)
    x = torch.randn(6, 2, dtype=torch.float64)
    y = torch.arange(6) % 3
    log_p = model.log_prob(x, model.context_of(y))
    assert not torch.allclose(log_p, model.log_prob(x, model.context_of((y + 1) % 3)))
    for label in range(2):
        context = model.sample_context(1, label)
        mass = contracts.mass_on_the_plane(
            lambda part, c=context: model.log_prob(part, c.expand(len(part), -1)), 12, 301
        )
        assert mass == pytest.approx(1, abs=1e-2)
    assert model.sample(5, y=1).shape == (5, 2)
    with pytest.raises(ValueError, match="context"):
        model.log_prob(x)
    with pytest.raises(ValueError, match="from 0 to 2"):
        model.sample(2, y=3)
    with pytest.raises(ValueError, match="no classes"):
        MAF(conditional=True)
    with pytest.raises(ValueError, match="no classes"):
        MAF(layers=1).sample(2, y=0)


@pytest.mark.parametrize(
    "build",
    [
        lambda kind: kind(3, Affine()),
        lambda kind: kind(3, monotone=Affine()),
        lambda kind: kind(features=3, monotone=Affine(), hidden=(8,), reverse=True),
        lambda kind: kind((3,), Affine()),
    ],
)
def test_a_call_of_the_former_layers_names_the_present_ones(build):  # type: ignore[no-untyped-def]
    for kind, layer in ((MAF, "MaskedAutoregressive"), (IAF, "InverseAutoregressive")):
        with pytest.raises(TypeError, match=f"^{kind.__name__} is the model, .*: the layer is {layer}\\.$"):
            build(kind)


def test_former_calls_give_the_same_bits_with_a_warning():
    model = contracts.exact(RealNVP(layers=2, hidden=(8,), conditional=True, num_classes=3), scale=0.2)
    for draw in (model.sample, lambda *args, **given: model.sample_trace(*args, **given).result):
        now = draw(4, y=2, temperature=0.5, generator=torch.Generator().manual_seed(3))
        with pytest.warns(DeprecationWarning, match="give all but n by name"):
            former = draw(4, 0.5, 2, seed=3)
        assert torch.equal(now, former)


def test_y_and_a_context_are_not_both_given():
    model = RealNVP(layers=1, hidden=(8,), conditional=True, num_classes=2)
    assert torch.equal(model.sample_context(2, [1, 0]), torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(ValueError, match="leave one out"):
        model.sample(2, y=1, context=torch.tensor([0.0, 1.0]))


def test_the_distribution_has_batches_and_gradients():
    model = contracts.exact(RealNVP(layers=2, hidden=(8,), conditional=True, num_classes=4), scale=0.2)
    context = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)
    dist = model.distribution(context)
    assert dist.batch_shape == (3,) and dist.event_shape == (2,) and dist.has_rsample
    x, carried = dist.rsample_and_log_prob((5,))
    assert x.shape == (5, 3, 2) and carried.shape == (5, 3)
    torch.testing.assert_close(dist.log_prob(x), carried)
    torch.testing.assert_close(dist.log_prob(x[0, 0])[0], carried[0, 0])  # one point against all contexts
    torch.autograd.grad(x.sum(), context)
    assert model.distribution(context[0]).sample((2,)).shape == (2, 2)


def test_sampling_replays_and_temperature_scales_the_base():
    model = contracts.exact(MAF(layers=2, hidden=(8,)), scale=0.2)
    contracts.reproducible(lambda seed: model.sample(4, generator=torch.Generator().manual_seed(seed)))
    trace = contracts.trace_replays(
        lambda seed: model.sample_trace(3, generator=torch.Generator().manual_seed(seed))
    )
    torch.testing.assert_close(trace.result, model.sample(3, generator=torch.Generator().manual_seed(0)))
    torch.testing.assert_close(trace[-1].values["log_prob"], model.log_prob(trace.result))
    back = model.normalize_trace(trace.result)
    torch.testing.assert_close(back.result, trace[0].values["h"])
    torch.testing.assert_close(back[-1].values["total"], model.normalize(trace.result)[1])
    assert len(trace) == len(back) == 3
    torch.testing.assert_close(
        model.sample(3, temperature=0, generator=torch.Generator().manual_seed(0)),
        model.decode(torch.zeros(3, 2).double()),
    )
    noise = model.noise(2000, 0.5, torch.Generator().manual_seed(0))
    assert noise.std().item() == pytest.approx(0.5, rel=0.05)


def test_the_prior_is_what_log_prob_uses():
    flow = Flow((2, 3))
    z = torch.randn(4, 6)
    torch.testing.assert_close(flow.prior.log_prob(z), flow.log_base(z))


def test_a_wrong_shape_is_named():
    with pytest.raises(ValueError, match="3 numbers"):
        RealNVP().log_prob(torch.zeros(2, 3))


def test_training_learns_what_a_gaussian_cannot():
    torch.manual_seed(0)
    angle = 2 * torch.pi * torch.rand(512)
    batch = (2 * torch.stack([angle.cos(), angle.sin()], 1) + 0.1 * torch.randn(512, 2), None)
    gaussian = -torch.distributions.Normal(0.0, 2**0.5).log_prob(batch[0]).sum(-1).mean().item()
    model = MAF(layers=3, hidden=(32,), spline=True)
    contracts.overfits_one_batch(model, batch, gaussian - 0.8, steps=200)


# --- Fitting a density, distillation --------------------------------------------------------------


def test_reverse_kl_of_lines():
    """x = a z + b to N(3, 4): the KL, its gradient, the factor that shifts it."""
    layer = Elementwise(1, Affine(None)).double()
    z = torch.randn(400_000, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    z = torch.cat([z, -z])
    z = z / z.square().mean().sqrt()  # mean 0 and variance 1 exactly
    target = torch.distributions.Normal(3.0, 2.0)

    def loss(factor: float = 1.0, **kwargs) -> Tensor:
        log_q = lambda x: target.log_prob(x)[..., 0] + f64(factor).log()  # noqa: E731
        return reverse_kl(layer, z, log_q, **kwargs).mean()

    def gradient(value: Tensor) -> Tensor:
        return torch.autograd.grad(value, layer.theta)[0][0]

    torch.testing.assert_close(loss().item(), 1.443147, rtol=0, atol=1e-6)
    torch.testing.assert_close(gradient(loss()), f64([-0.75, -0.75]), rtol=0, atol=1e-6)
    assert (loss(7.0) - loss()).item() == pytest.approx(-1.945910, abs=1e-6)
    torch.testing.assert_close(gradient(loss(7.0)), gradient(loss()), rtol=0, atol=1e-12)
    with torch.no_grad():
        layer.theta.copy_(f64([[3.0, 0.6931471805599453]]))
    assert loss().item() == pytest.approx(0, abs=1e-8)
    # without the log-determinant to shrink is always better: the minimum is a point
    values = []
    for log_a in (0.69, 0.0, -2.0, -8.0):
        with torch.no_grad():
            layer.theta[0, 1] = log_a
        values.append(loss(with_ladj=False).item())
    assert values == sorted(values, reverse=True)


def test_weights_of_an_exact_flow_are_all_alike():
    layer = Elementwise(2, LeakyReLU())
    z = torch.randn(1000, 2, dtype=torch.float64)

    def log_q(x: Tensor) -> Tensor:  # 5 times the flow's own density
        noise, ladj = layer.double().normalize(x)
        return torch.distributions.Normal(0.0, 1.0).log_prob(noise).sum(-1) + ladj + f64(5.0).log()

    result = importance_estimates(layer, z, log_q)
    assert result["log_z"] == pytest.approx(1.609438, abs=1e-6)
    assert result["ess"] == pytest.approx(1) and result["kl"] == pytest.approx(-1.609438, abs=1e-6)


def test_a_student_learns_its_teacher_and_needs_the_log_determinant():
    teacher = contracts.exact(MAF(layers=1, hidden=(8,)), scale=0.4).float().requires_grad_(False)
    z = torch.randn(4000, 2, generator=torch.Generator().manual_seed(9))

    def kl(student: Flow) -> float:
        with torch.no_grad():
            return reverse_kl(student.stack, z, teacher.log_prob).mean().item()

    def student(**kwargs) -> Flow:
        torch.manual_seed(0)
        iaf = IAF(layers=2, hidden=(16,))
        fit(iaf, teacher.log_prob, steps=150, lr=1e-2, **kwargs)
        return iaf

    torch.manual_seed(0)
    before, after = kl(IAF(layers=2, hidden=(16,))), kl(student())
    assert after < 0.1 and after < 0.3 * before
    collapsed = student(with_ladj=False)
    assert (
        collapsed.sample(500, generator=torch.Generator().manual_seed(0)).var(0).max()
        < 0.05 * teacher.sample(500, generator=torch.Generator().manual_seed(0)).var(0).min()
    )
