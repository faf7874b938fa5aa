"""RNADE against closed forms and numeric integrals; dequantized grey levels."""

import math

import contracts
import pytest
import torch
from torch import Tensor

from datamodules.digits import Digits
from lab import weights
from lab.experiments import ZOO
from modules.autoregressive.rnade import RNADE


def f64(values: list) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_mixture_of_two_gaussians_at_zero():
    model = RNADE(event_shape=(1,), hidden=1, components=2).double()
    outputs = f64([[0, 0, -1, 1, math.log(0.5), math.log(0.5)]])
    log_p = model.conditional_log_prob(outputs[None], torch.zeros(1, 1, dtype=torch.float64)).item()
    assert math.exp(log_p) == pytest.approx(0.1079819, abs=1e-7)
    assert log_p == pytest.approx(-2.2257914, abs=1e-7)
    # 0.5 read as a variance would give another number
    outputs[:, 4:] = 0.5 * math.log(0.5)
    as_variance = (
        model.conditional_log_prob(outputs[None], torch.zeros(1, 1, dtype=torch.float64)).exp().item()
    )
    assert as_variance == pytest.approx(0.2075537, abs=1e-7)


def test_parameter_count_of_the_published_size():
    assert RNADE(event_shape=(784,), hidden=500, components=10).num_parameters == 12_176_020


@pytest.mark.parametrize("order", ["raster", "reversed"])
def test_density_integrates_to_one_in_two_dimensions(order):
    model = contracts.exact(RNADE(event_shape=(2,), hidden=3, components=3, order=order), scale=0.25)
    axis = torch.linspace(-12, 12, 1201, dtype=torch.float64)
    x = torch.cartesian_prod(axis, axis)
    with torch.no_grad():
        p = torch.cat([model.log_prob(part) for part in x.split(100_000)]).exp().reshape(1201, 1201)
    total = torch.trapezoid(torch.trapezoid(p, axis), axis).item()
    assert total == pytest.approx(1, abs=1e-6)


def test_one_component_with_constant_conditionals_is_a_diagonal_gaussian():
    model = contracts.exact(RNADE(event_shape=(3,), hidden=2, components=1)).requires_grad_(False)
    model.readout.zero_()
    mean, sigma = model.bias[:, 1], model.bias[:, 2].exp()
    x = torch.randn(10, 3, dtype=torch.float64)
    expected = torch.distributions.Normal(mean, sigma).log_prob(x).sum(-1)
    torch.testing.assert_close(model.log_prob(x), expected, rtol=0, atol=1e-12)


def test_temperature_multiplies_the_variance_of_a_component():
    model = contracts.exact(RNADE(event_shape=(1,), hidden=1, components=1)).requires_grad_(False)
    sigma = model.logits(torch.zeros(1, 1, dtype=torch.float64))[0, 0, 2].exp()
    draws = model.sample(100_000, temperature=0.25, generator=contracts.seeded(0))
    assert draws.std().item() == pytest.approx(0.5 * sigma.item(), rel=0.01)  # σ√T; four standard errors


def test_sampler_meets_the_one_pass_mixtures_and_draws_from_them():
    model = contracts.exact(RNADE(event_shape=(2,), hidden=4, components=3), scale=1.0)
    x, outputs = model._draw(200_000, None, model.order, 0, 1.0, contracts.seeded(0))
    torch.testing.assert_close(outputs[:100], model.logits(x[:100]), rtol=0, atol=1e-12)
    # the distribution function of each conditional at the draws is uniform, and independent of the other
    log_pi, mean, log_sigma = model.mixture(outputs)
    each = torch.special.ndtr((x[..., None] - mean) / log_sigma.exp())
    u = (log_pi.exp() * each).sum(-1)
    counts = torch.histogramdd(u, [8, 8], range=[0.0, 1.0, 0.0, 1.0]).hist.flatten()
    expected = len(x) / 64
    assert ((counts - expected) ** 2 / expected).sum() < 63 + 5 * math.sqrt(2 * 63)


def test_log_sigma_has_a_floor_and_bad_values_are_refused():
    model = RNADE(event_shape=(1,), hidden=1, components=1, min_log_sigma=-3.0).double()
    with torch.no_grad():
        model.readout.zero_()
        model.bias.copy_(f64([[0, 0, -50]]))
    peak = model.log_prob(torch.zeros(1, 1, dtype=torch.float64)).item()
    assert peak == pytest.approx(3 - 0.5 * math.log(2 * math.pi), abs=1e-12)
    with pytest.raises(ValueError, match="real numbers"):
        model.log_prob(f64([[math.nan]]))
    with pytest.raises(ValueError, match="components"):
        RNADE(components=0)


def test_what_is_given_is_kept_and_temperature_zero_takes_the_likeliest_component():
    model = contracts.exact(RNADE(event_shape=(3,), hidden=4, components=3))
    given = f64([0.25, math.nan, math.nan])
    x = model.sample(5, given=given, generator=contracts.seeded(0))
    assert (x[:, 0] == 0.25).all() and len(x[:, 1].unique()) == 5
    cold = model.sample(5, given=given, temperature=0)
    torch.testing.assert_close(cold, cold[:1].expand(5, 3), rtol=0, atol=1e-12)
    log_pi, mean, _ = model.mixture(model.logits(cold[:1]))
    best = log_pi.argmax(-1, keepdim=True)
    torch.testing.assert_close(cold[:1, 1:], mean.gather(-1, best)[..., 0][:, 1:], rtol=0, atol=1e-12)


def test_conditional_means():
    model = contracts.exact(RNADE(event_shape=(2,), hidden=4, components=3), scale=0.7)
    x = f64([[0.4, 0.0]])
    axis = torch.linspace(-12, 12, 4001, dtype=torch.float64)
    points = torch.stack([torch.full_like(axis, 0.4), axis], 1)
    density = model.log_conditionals(points)[:, 1].exp()
    mean = torch.trapezoid(density * axis, axis).item()
    assert model.conditionals(x)[0, 1].item() == pytest.approx(mean, abs=1e-8)


def test_learns_and_survives_saving(tmp_path):
    model = RNADE(event_shape=(2,), hidden=8, components=3)
    x = torch.randn(16, 2)
    contracts.survives_saving(model, lambda m: m.log_prob(x), tmp_path)
    contracts.reproducible(lambda seed: model.sample(8, generator=contracts.seeded(seed)))
    trace = contracts.trace_replays(lambda seed: model.sample_trace(generator=contracts.seeded(seed)))
    assert trace[-1].values["log_prob"] == pytest.approx(
        model.log_prob(trace.result["x"][None]).item(), abs=1e-5
    )
    exact = contracts.exact(RNADE(event_shape=(2,), hidden=8, components=3)).train()
    contracts.every_parameter_gets_a_gradient(exact, lambda: exact.step((x.double(),), "train"))


def test_without_noise_the_density_of_whole_numbers_grows_without_bound():
    """The floor of log σ is all that holds it: with noise, log p per pixel cannot exceed that of the cell."""
    torch.manual_seed(0)
    x = torch.randint(0, 2, (64, 2)).double()
    reached = {}
    for floor in (-1.0, -2.5):
        model = RNADE(event_shape=(2,), hidden=4, components=2, min_log_sigma=floor).double()
        reached[floor] = contracts.overfits_one_batch(model, (x,), below=3.0, steps=300, lr=0.02)
    assert reached[-2.5] < reached[-1.0] - 2  # three more nats are to be had, 1.5 a variable


# --- Grey levels --------------------------------------------------------------------------------


def ready(binarize: str) -> Digits:
    data = Digits(binarize=binarize)  # type: ignore[arg-type]
    data.setup()
    return data


def test_levels_are_whole_numbers_and_dequantized_ones_round_down_to_them():
    rows = torch.arange(250)
    grey, levels, noisy = (ready(b).test_set[rows][0] for b in ("none", "levels", "dequantize"))
    assert torch.equal(levels, (grey * 16).round()) and set(levels.unique().tolist()) <= set(range(17))
    assert levels.max() == 16
    assert torch.equal((noisy * 17).floor(), levels) and noisy.min() >= 0 and noisy.max() < 1
    assert abs((noisy * 17 - levels).mean() - 0.5) < 0.01


def test_noise_is_new_in_each_epoch_of_training_and_fixed_elsewhere():
    data, rows = ready("dequantize"), torch.arange(20)
    first = data.train_set[rows][0]
    data.train_set.set_epoch(1)
    second = data.train_set[rows][0]
    assert not torch.equal(first, second) and torch.equal((first * 17).floor(), (second * 17).floor())
    assert torch.equal(data.val_set[rows][0], data.val_set[rows][0])
    assert torch.equal(data.test_set[rows][0], ready("dequantize").test_set[rows][0])


# --- Weights that ship --------------------------------------------------------------------------


def test_cards_of_real_valued_densities():
    moons = weights.read_card(ZOO / "rnade-moons")["metrics"]["test/nll"]
    # their entropy is about ln 2 + ln 2π + ln 0.1 + 1.42 = 1.65: which moon, where on its arc, how far off it
    assert 1.6 < moons < 1.9
    digits = weights.read_card(ZOO / "rnade-digits")
    assert digits["data"]["binarize"] == "dequantize"
    one = weights.read_card(ZOO / "rnade-digits-k1")
    assert one["data"] == digits["data"] and one["config"]["model"]["init_args"]["components"] == 1
    # what several Gaussians a pixel buy
    assert digits["metrics"]["test/nll"] < one["metrics"]["test/nll"] - 5
    # a density on [0, 1)^64 with 17 cells a pixel: nats of the levels are nll + 64 ln 17
    assert 60 < digits["metrics"]["test/nll"] + 64 * math.log(17) < 64 * math.log(17)


def test_the_card_of_the_greys_is_reproduced_and_sums_over_levels():
    data = ready("levels")
    x, _ = data.test_set[torch.arange(250)]
    model = weights.load("nade-greys-digits")
    card = weights.read_card(ZOO / "nade-greys-digits")
    nll = -model.log_prob(x).mean().item()
    assert nll == pytest.approx(card["metrics"]["test/nll"], abs=1e-3)
    assert 60 < nll < 64 * math.log(17)
    p = model.conditionals(x[:2])
    torch.testing.assert_close(p.sum(-1), torch.ones(2, 64), rtol=0, atol=1e-5)


def test_real_numbers_and_levels_of_the_same_pictures_compare():
    """Of 196 pixels of 256 levels: a density on [0, 1) costs 196 ln 256 nats more in levels."""
    real, levels = (weights.read_card(ZOO / name) for name in ("rnade-mnist", "nade-greys-mnist"))
    assert real["data"]["image_size"] == levels["data"]["image_size"] == 14
    uniform = 196 * math.log(256)
    bound = real["metrics"]["test/nll"] + uniform  # no less than what the levels cost under the same density
    assert 0.2 * uniform < bound < 0.7 * uniform
    assert 0.2 * uniform < levels["metrics"]["test/nll"] < 0.7 * uniform


def test_grey_levels_are_drawn_as_greys(tmp_path):
    from PIL import Image

    from lab import sampling

    sampling.run(["nade-greys-digits", "-n", "4", "--out", str(tmp_path / "x.png")])
    shades = set(Image.open(tmp_path / "x.png").getdata())
    assert shades <= {255 * level // 16 for level in range(17)} and len(shades) > 8
