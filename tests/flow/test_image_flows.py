"""Image flows: normalisation, squeeze, 1×1 convolution, scales, Glow, noise and bits per dimension."""

import math

import contracts
import pytest
import torch
from torch import Tensor

from modules.flow import dequantize, image, norm
from modules.flow.coupling import Coupling
from modules.flow.glow import ConvConditioner, Glow, step_of_flow
from modules.flow.layer import FlowStack
from modules.flow.linear import Linear
from modules.flow.monotone import Affine


def f64(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def pictures(count: int, *shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, *shape, generator=generator, dtype=torch.float64)


LAYERS = {
    "actnorm": lambda: norm.ActNorm(2, 3),
    "batchnorm": lambda: norm.BatchNorm(2, 3),
    "squeeze": image.Squeeze,
    "1x1": lambda: image.Conv1x1(2),
    "periodic": lambda: image.PeriodicConv((2, 4, 4), 3),
    "coupling": lambda: Coupling(2, Affine(2.0), ConvConditioner(1, 1, 2, 4), event_dims=3),
    "logit": lambda: dequantize.Logit(0.05),
    "levels": lambda: dequantize.Levels(17, 2.0),
    "margins": lambda: dequantize.Margins((2, 4, 4), 5),
    "step": lambda: FlowStack(step_of_flow(2, 4, 0)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_image_layers_keep_the_contract(name):
    layer = LAYERS[name]()
    if isinstance(layer, image.PeriodicConv):  # a kernel whose spectrum has no zero
        with torch.no_grad():
            layer.weight.copy_(torch.tensor([[2.0, 0.3, -0.2], [0.4, 0.1, 0], [0, -0.3, 0.2]]))
    if isinstance(layer, norm.BatchNorm):
        layer.running_var.copy_(torch.tensor([0.5, 2.0]))
    z = pictures(3, *((8, 2, 2) if name == "squeeze" else (2, 4, 4)))
    scale = None if name == "periodic" else 0.3
    stateless = name not in ("actnorm", "batchnorm", "step", "margins")
    contracts.inverts_with_its_log_determinant(layer, z, scale=scale, stateless=stateless)


def test_actnorm_sets_itself_once():
    layer = norm.ActNorm(1, 3).double()
    x = f64([1, 2, 4, 7]).reshape(1, 1, 2, 2)
    z, ladj = layer.normalize(x)
    assert z.mean().item() == pytest.approx(0, abs=1e-12)
    assert z.std(correction=0).item() == pytest.approx(1)
    assert ladj.item() == pytest.approx(-4 * math.log(2.291288), abs=1e-5)
    assert -4 * math.log(x.std().item()) == pytest.approx(-3.891820, abs=1e-5)  # with n − 1
    other = 5 * x + 3
    assert not torch.allclose(layer.normalize(other)[0].mean(), f64(0.0))  # free from then on
    loaded = norm.ActNorm(1, 3).double()
    loaded.load_state_dict(layer.state_dict())
    assert torch.equal(loaded.train().normalize(other)[0], layer.normalize(other)[0])


def test_margins_make_the_histogram_of_every_pixel_a_gaussian():
    """Each bin of a pixel gets the normal mass of its share, counted with one more a level."""
    layer = dequantize.Margins((1, 1, 2), 3).double()
    x = f64([[0, 0], [0, 1], [0, 1], [2, 1], [2, 1]]).reshape(5, 1, 1, 2)
    layer.normalize(x + 0.5)
    shares = f64([[4 / 8, 1 / 8, 3 / 8], [2 / 8, 5 / 8, 1 / 8]])
    edges = torch.special.ndtri(shares.cumsum(-1)[:, :-1])
    for level in (1, 2):
        z, _ = layer.normalize(f64([[[[level, level]]]]))
        torch.testing.assert_close(z.flatten(), edges[:, level - 1])
    inside = f64([0.3, 2.9]).reshape(1, 1, 1, 2)
    z, ladj = layer.normalize(inside)
    log_p = ladj - 0.5 * z.square().sum() - math.log(2 * math.pi)
    assert log_p.item() == pytest.approx(math.log(4 / 8) + math.log(1 / 8))  # the histograms' own
    before = layer.theta.detach().clone()
    layer.normalize(x + 1)
    assert torch.equal(layer.theta, before)  # set once
    assert torch.isfinite(layer.normalize(f64([[[[-1.0, 3.5]]]])[:1])[0]).all()


def test_margins_hold_in_single_precision():
    layer = dequantize.Margins((1, 8, 8), 17)
    levels = torch.randint(17, (50, 1, 8, 8), generator=torch.Generator().manual_seed(0)).float()
    x = levels + torch.rand(levels.shape, generator=torch.Generator().manual_seed(1))
    layer.normalize(x.square() / 17)
    back, _ = layer.generate(layer.normalize(x)[0])
    assert torch.equal(back.floor(), levels)


def test_batchnorm_as_a_flow():
    layer = norm.BatchNorm(1).double()
    with torch.no_grad():
        layer.log_gamma.fill_(math.log(1.5))
    x = f64([[1], [2], [4], [7]])
    z, ladj = layer.train().normalize(x)
    torch.testing.assert_close(ladj, f64([-0.423650] * 4), rtol=0, atol=1e-6)
    assert z.mean().item() == pytest.approx(0, abs=1e-12)
    for _ in range(200):
        layer.normalize(x)
    torch.testing.assert_close(layer.eval().normalize(x)[0], z, rtol=0, atol=1e-5)  # running numbers


# --- Shapes ---------------------------------------------------------------------------------------


def test_squeeze_is_exact():
    x = pictures(1, 3, 256, 256)
    z, ladj = image.Squeeze().normalize(x)
    assert z.shape == (1, 12, 128, 128) and z.numel() == 196_608 and not ladj.any()
    assert torch.equal(image.Squeeze().generate(z)[0], x)
    block = torch.arange(4.0).reshape(1, 1, 2, 2)
    assert image.Squeeze().normalize(block)[0].flatten().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("shape", "levels", "pieces"), [
    ((3, 256, 256), 6, [(6, 128, 128), (12, 64, 64), (24, 32, 32), (48, 16, 16), (96, 8, 8), (384, 4, 4)]),
    ((3, 32, 32), 3, [(6, 16, 16), (12, 8, 8), (48, 4, 4)]),
    ((1, 28, 28), 2, [(2, 14, 14), (8, 7, 7)]),
    ((1, 8, 8), 2, [(2, 4, 4), (8, 2, 2)]),
])  # fmt: skip
def test_pieces_have_all_numbers(shape, levels, pieces):
    result = image.piece_shapes(image.level_shapes(shape, levels))
    assert result == pieces and sum(map(math.prod, result)) == math.prod(shape)


def test_a_picture_that_cannot_be_halved_is_named():
    with pytest.raises(ValueError, match="halved 2 times"):
        Glow((1, 28, 28), levels=3)


def test_one_by_one_convolution_is_a_linear_flow_at_every_place():
    layer = image.Conv1x1(4).double()
    contracts.exact(layer)
    x = pictures(2, 4, 4, 4)
    z, ladj = layer.normalize(x)
    dense = Linear(4).double()
    with torch.no_grad():
        dense.weight.copy_(layer.matrix())
    rows, one = dense.generate(x.movedim(1, -1))
    torch.testing.assert_close(z.movedim(1, -1), rows)
    torch.testing.assert_close(ladj, one.sum((1, 2)))
    with torch.no_grad():
        layer.linear.lower.zero_(), layer.linear.upper.zero_()
        layer.linear.log_scale.copy_(f64([1, 4, 2, 1]).log())  # det 8
    assert layer.normalize(x)[1][0].item() == pytest.approx(33.271065, abs=1e-6)


def test_convolutions():
    causal = image.CausalConv(2).double()
    with torch.no_grad():
        causal.weight.copy_(f64([2, 0.5]))
    contracts.inverts_with_its_log_determinant(causal, pictures(3, 5), scale=None)
    assert causal.generate(pictures(1, 5))[1].item() == pytest.approx(5 * math.log(2))

    def circular(kernel: list, height: int, width: int) -> float:
        layer = image.PeriodicConv((1, height, width), 1).double()
        layer.weight = torch.nn.Parameter(f64(kernel)[None])
        eye = torch.eye(height * width, dtype=torch.float64).reshape(-1, 1, height, width)
        x, ladj = layer.generate(eye)
        whole = torch.linalg.slogdet(x.reshape(height * width, -1)).logabsdet
        assert whole.item() == pytest.approx(ladj[0].item(), abs=1e-9)
        return ladj[0].item()

    assert circular([[2, 0.5]], 1, 5) == pytest.approx(math.log(32.03125), abs=1e-6)
    assert circular([[1, 0.5]], 1, 4) == pytest.approx(-0.064539, abs=1e-6)
    assert circular([[1, 0.2], [0.3, -0.1]], 4, 4) == pytest.approx(-0.062712, abs=1e-6)


# --- Glow -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("channels", "width", "count"), [(12, 512, 346_292), (4, 64, 7_708), (8, 64, 11_224)]
)
def test_parameters_of_a_step(channels, width, count):
    layers = step_of_flow(channels, width, 0)
    assert sum(p.numel() for layer in layers for p in layer.parameters()) == count


def small_glow(**settings) -> Glow:
    settings = {"image_shape": (1, 4, 4), "levels": 2, "steps": 2, "width": 4, "num_categories": 5} | settings
    return contracts.exact(Glow(**settings), scale=0.2)


@pytest.mark.parametrize(("conditional", "margins"), [(False, False), (True, False), (False, True)])
def test_glow_keeps_the_contract(conditional, margins):
    model = small_glow(conditional=conditional, num_classes=3, margins=margins)
    context = model.context_of(torch.tensor([0, 2]))
    # actnorm is set once, in training; here its numbers are drawn
    for module in model.modules():
        if isinstance(module, norm.ActNorm | dequantize.Margins):
            module.initialised.fill_(True)
    contracts.inverts_with_its_log_determinant(
        model.stack, pictures(2, 16), context, tolerance=1e-7, scale=0.2
    )


def test_scales_are_a_flow_whose_late_levels_leave_alone_what_has_left():
    model = small_glow()
    x = pictures(3, 1, 4, 4)
    z, ladj = model.scales.normalize(x)
    first, second = model.scales.levels
    h, one = first.normalize(x)
    kept, rest = h.chunk(2, 1)
    rest, two = second.normalize(rest)
    torch.testing.assert_close(z, torch.cat([kept.flatten(1), rest.flatten(1)], 1))
    torch.testing.assert_close(ladj, one + two)
    assert [p.shape[1:] for p in model.pieces(z)] == [(2, 2, 2), (8, 1, 1)]


def test_interpolation_of_all_scales_comes_back_to_its_ends():
    """A known defect of others: drawing the split latents anew is no interpolation of the two pictures."""
    model = small_glow()
    x = pictures(2, 1, 4, 4)
    z = model.encode(x)
    path = torch.stack([z[0].lerp(z[1], t) for t in (0.0, 0.5, 1.0)])
    torch.testing.assert_close(model.decode(path)[[0, 2]], x)


def test_glow_draws_whole_numbers_and_replays():
    model = small_glow()
    contracts.reproducible(lambda seed: model.sample(3, generator=torch.Generator().manual_seed(seed)))
    x = model.sample(20, generator=torch.Generator().manual_seed(0))
    assert x.shape == (20, 1, 4, 4) and torch.equal(x, x.floor()) and x.min() >= 0 and x.max() <= 4
    contracts.trace_replays(lambda seed: model.sample_trace(2, generator=torch.Generator().manual_seed(seed)))


def test_glow_overfits_a_batch():
    x = torch.randint(5, (16, 1, 4, 4), generator=torch.Generator().manual_seed(0)).float()
    torch.manual_seed(0)
    model = Glow((1, 4, 4), levels=1, steps=2, width=8, num_categories=5)
    start = math.log2(5)
    contracts.overfits_one_batch(model, (x,), below=start - 0.3, floor=math.log2(16) / 16, steps=150)


# --- Noise ----------------------------------------------------------------------------------------


class Ramp:
    """p(y) = y/2 on [0, 2): P(0) = ¼, P(1) = ¾."""

    def log_prob(self, y: Tensor) -> Tensor:
        return (y / 2).log()


def test_uniform_noise_gives_a_bound_and_the_right_noise_closes_it():
    u = (torch.arange(1_000_000, dtype=torch.float64) + 0.5) / 1_000_000
    for x, log_p, bound in ((0, -1.386294, -1.693147), (1, -0.287682, -0.306853)):
        log_density = Ramp().log_prob(x + u)
        assert log_density.exp().mean().log().item() == pytest.approx(log_p, abs=1e-6)
        assert log_density.mean().item() == pytest.approx(bound, abs=1e-5)
        log_q = log_density - log_p  # q*(u|x) = p(x + u)/P(x)
        assert (log_density - log_q).std().item() < 1e-12
    assert dequantize.bits_per_dim(-f64(10 * math.log(256)), 10).item() == pytest.approx(8)
    assert math.log(256) == pytest.approx(5.545177, abs=1e-6)
    assert math.log2(17) == pytest.approx(4.087463, abs=1e-6)
    assert 8 - 1980.5 / (784 * math.log(2)) == pytest.approx(4.355539, abs=1e-6)


def test_logit_of_pixels():
    for alpha, value, ladj in ((0.05, -0.969401, 1.507207), (1e-6, -1.098610, 1.673973)):
        y, slope = dequantize.Logit(alpha, 1).normalize(f64([[0.25]]))
        assert y.item() == pytest.approx(value, abs=1e-6)
        assert slope.item() == pytest.approx(ladj, abs=1e-6)


def test_bits_per_dim_is_the_same_by_every_path():
    """FL-O42: from whole numbers, from [0, 1] plus 8 bits, and through the logit."""
    model = small_glow(num_categories=256)
    y = 256 * torch.rand(3, 1, 4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    direct = dequantize.bits_per_dim(model.log_prob(y), 16)
    core, scaled = model.scales, (y / 256 - 0.5) * 2

    z, ladj = core.normalize(scaled)
    unit = model.log_base(z) + ladj + 16 * math.log(2)  # density of y/256 in [0, 1]
    torch.testing.assert_close(dequantize.bits_per_dim(unit, 16) + 8, direct, rtol=0, atol=1e-6)

    logit = dequantize.Logit(1e-6)
    h, there = logit.normalize(y / 256)
    back, again = logit.generate(h)  # the same density, said of h
    torch.testing.assert_close(there, -again)
    of_h = model.log_base(core.normalize((back - 0.5) * 2)[0]) + ladj + 16 * math.log(2) + again
    through = dequantize.bits_per_dim(of_h + there, 16) + 8
    torch.testing.assert_close(through, direct, rtol=0, atol=1e-6)


def test_more_draws_of_noise_tighten_the_bound():
    model = small_glow()
    x = torch.randint(5, (8, 1, 4, 4), generator=torch.Generator().manual_seed(0)).double()
    one = torch.stack([model.elbo(x, generator=torch.Generator().manual_seed(s)) for s in range(64)])
    many = torch.stack([model.iw_elbo(x, 16, generator=torch.Generator().manual_seed(s)) for s in range(8)])
    assert many.mean() > one.mean()
    assert many.mean() <= one.logsumexp(0).mean() - math.log(64) + 0.5


def test_variational_noise_is_a_density_of_the_unit_cube():
    noise = contracts.exact(dequantize.VariationalNoise((1, 1, 2), 5, layers=2, width=3), scale=0.25)
    x = f64([[[[1.0, 4.0]]]]).expand(20_000, 1, 1, 2)
    with torch.no_grad():
        u, log_q = noise(x, torch.Generator().manual_seed(0))
    assert u.min() >= 0 and u.max() < 1
    # E_q[1/q] over the whole cube is its volume, 1
    assert (-log_q).exp().mean().item() == pytest.approx(1, abs=0.05)
    assert log_q.std().item() > 0.05  # and it is not the uniform one


def test_learned_noise_is_weighed_by_its_own_density():
    """P(x) = E_q [p(x + u)/q(u|x)]: with p = 1 on the cube that is E_q [1/q] = 1."""
    model = contracts.exact(Glow((1, 2, 2), 1, 1, 4, 3, "variational"), scale=0.2)
    x = f64([[[[1, 2], [0, 2]]]]).expand(40_000, 1, 2, 2)
    with torch.no_grad():
        for parameter in model.dequantizer.parameters():  # a mild q: else the mean does not settle
            parameter.mul_(0.25)
        noisy, log_q = model.dequantize(x, torch.Generator().manual_seed(0))
        elbo = model.elbo(x, generator=torch.Generator().manual_seed(0))
        assert torch.equal(noisy.floor(), x) and log_q.std() > 0.1
        assert (-log_q).exp().mean().item() == pytest.approx(1, abs=0.01)
        torch.testing.assert_close(elbo, model.log_prob(noisy) - log_q)


@pytest.mark.parametrize("kind", ["uniform", "variational"])
def test_both_noises_train(kind):
    model = contracts.exact(Glow((1, 4, 4), 1, 1, 4, 5, kind), scale=0.2)
    x = torch.randint(5, (4, 1, 4, 4), generator=torch.Generator().manual_seed(0)).double()
    contracts.every_parameter_gets_a_gradient(model, lambda: model.step((x,), "train"))
    with pytest.raises(ValueError, match="dequantize"):
        Glow(dequantize="none")


def test_without_noise_the_likelihood_has_no_bound():
    """An affine flow on constant data: each halving of the scale gains ln 2."""
    layer = norm.ActNorm(1).double().eval()
    x, values = torch.full((5, 1), 3.0, dtype=torch.float64), []
    with torch.no_grad():
        layer.bias.fill_(-3.0)
        for power in range(4):
            layer.log_scale.fill_(power * math.log(2))
            z, ladj = layer.normalize(x)
            values.append((ladj - 0.5 * z[:, 0] ** 2).mean().item())
    torch.testing.assert_close(f64(values).diff(), f64([math.log(2)] * 3))
