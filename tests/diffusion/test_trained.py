"""Trained weights: what the recipes promise of samples and bounds."""

import math
from functools import cache

import pytest
import torch
from torch import Tensor

from datamodules import points
from datamodules.digits import Digits
from lab import weights
from lab.experiments import ZOO
from modules.diffusion import bound, exact, flow_matching, ode_likelihood, samplers, sde
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.noise import normal_like


@cache
def trained(name: str) -> GaussianDiffusion:
    return weights.load(name).eval().requires_grad_(False)  # type: ignore[return-value]


def near_a_mode(x: Tensor) -> float:
    return float((torch.cdist(x.double(), exact.eight().means).min(1).values < 0.75).double().mean())


@pytest.mark.parametrize(("eta", "least"), [(1.0, 0.96), (0.0, 0.94)])
def test_samples_of_eight_gaussians_lie_on_the_modes(eta: float, least: float) -> None:
    x = trained("ddpm-eight").sample(3000, steps=200, eta=eta, generator=torch.Generator().manual_seed(0))
    assert near_a_mode(x) >= least
    share = torch.bincount(torch.cdist(x.double(), exact.eight().means).argmin(1), minlength=8) / 3000
    assert float(share.min()) > 0.08 and float(share.max()) < 0.17


def test_solver_error_apart_from_network_error() -> None:
    """In few steps the exact score misses as much as the network: the solver is at fault."""
    model = trained("ddpm-eight")
    truth = exact.eight(3 / model.scale, 0.25 / model.scale)
    start = model.start(2000, torch.Generator().manual_seed(0))
    shares = {}
    for S in (5, 200):
        ends = samplers.last(
            samplers.ddim(truth.denoiser(model.schedule), model.schedule, start, model.schedule.times(S))
        )
        shares[S] = (
            near_a_mode(model.postprocess(ends)),
            near_a_mode(model.sample(2000, steps=S, generator=torch.Generator().manual_seed(0))),
        )
    assert max(shares[5]) < 0.6 and shares[200][0] > 0.98 and shares[200][0] - shares[200][1] < 0.03


def test_the_network_is_near_the_exact_optimum() -> None:
    model = trained("ddpm-eight")
    x, _ = points.sample("eight_gaussians", 20_000, seed=9)
    x, generator = model.preprocess(x), torch.Generator().manual_seed(0)
    t = 1 + torch.randint(1000, (len(x),), generator=generator)
    eps = normal_like(x, generator)
    xt = model.schedule.noised(x, t, eps)
    best = exact.eight(3 / model.scale, 0.25 / model.scale).eps(xt, model.schedule.alpha_bar[t])
    net = float(model.losses(x, t, eps)[0].mean())
    floor = float((best - eps).square().mean())
    assert floor - 0.002 < net < floor + 0.005


def test_the_bound_lies_above_the_entropy_and_the_card_says_so() -> None:
    model = trained("ddpm-eight")
    x, _ = points.sample("eight_gaussians", 300, seed=9)
    nats = -model.elbo(x, generator=torch.Generator().manual_seed(0))
    own = -points.log_density("eight_gaussians", x)
    assert float((nats - own).mean()) > 0
    text = weights.read_card(ZOO / "ddpm-eight")["metrics"]["test/elbo"]  # 8 of the terms, other points
    assert abs(float(nats.mean()) - text) < 4 * float(nats.std()) / math.sqrt(300)


def test_what_an_exact_denoiser_reaches() -> None:
    """The bound of the exact score, T = 1,000 and σ² = β, is above the entropy, the network's above it."""
    model = trained("ddpm-eight")
    x, _ = points.sample("eight_gaussians", 300, seed=9)
    truth = exact.eight(3 / model.scale, 0.25 / model.scale).denoiser(model.schedule)
    totals = [
        bound.bound(
            net, model.schedule, model.preprocess(x), generator=torch.Generator().manual_seed(0)
        ).total
        - model.log_unit
        for net in (truth, model.denoiser())
    ]
    own = -points.log_density("eight_gaussians", x)
    best, net = ((total - own).mean() for total in totals)
    assert 0 < best < net < best + 0.1


def test_shipped_weights_are_small() -> None:
    for folder in ZOO.glob("ddpm-*"):
        assert (folder / "model.safetensors").stat().st_size < 2e6


def test_guided_digits_are_of_the_class_asked_for() -> None:
    """Judged by a classifier of real digits: guidance makes the class surer, and the digits less diverse."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    x, y = load_digits(return_X_y=True)
    judge = LogisticRegression(max_iter=300).fit(x / 16, y)
    results = {}
    for w in (0.0, 2.0):
        drawn = trained("ddpm-digits").sample(
            200, steps=20, guidance=w, generator=torch.Generator().manual_seed(0)
        )
        wanted = torch.arange(200) % 10
        right = torch.as_tensor(judge.predict(drawn.flatten(1).numpy())) == wanted
        spread = torch.stack([drawn[wanted == k].flatten(1).var(0).sum() for k in range(10)]).mean()
        results[w] = float(right.double().mean()), float(spread)
    assert results[0.0][0] > 0.85 and results[2.0][0] > 0.95
    assert results[2.0][1] < results[0.0][1]


def test_the_ode_of_digits_has_a_likelihood_whatever_the_solver() -> None:
    """Under the light noise of t = 100, one Hutchinson probe: digits far above the same pixels shuffled."""
    model = trained("ddpm-digits")
    data = Digits(binarize="none")
    data.setup()
    x = model.preprocess(data.test_set[torch.arange(2)][0])
    order = torch.randperm(64, generator=torch.Generator().manual_seed(0))
    x = torch.cat([x, x.flatten(1)[:, order].view_as(x)])
    t = torch.full((4,), 100)
    x = model.schedule.noised(x, t, torch.randn(x.shape, generator=torch.Generator().manual_seed(1)))
    equation = sde.VP()
    score = sde.learned_score(equation, model.denoiser(), model.schedule)
    since = sde.time_of(equation, float(model.schedule.alpha_bar[100]))
    probe = ode_likelihood.rademacher(x, torch.Generator().manual_seed(0))
    rough, fine = (
        ode_likelihood.likelihood(equation, score, x, since, tolerance, probe, norm="rms").log_prob
        for tolerance in (1e-2, 1e-3)
    )
    assert (rough - fine).abs().max() < 2  # nats, of about ninety between the two kinds
    assert fine[:2].min() > fine[2:].max() + 50


def test_digits_come_back_from_their_codes() -> None:
    from sklearn.datasets import load_digits

    model = trained("ddpm-digits")
    x = torch.as_tensor(load_digits().images[:5] / 16, dtype=torch.float32)[:, None]
    errors = [float((model.decode(model.encode(x, steps=S), steps=S) - x).abs().mean()) for S in (20, 100)]
    assert errors[1] < errors[0] and errors[1] < 0.05


def test_after_one_reflow_two_steps_serve_as_well_as_fifty_before() -> None:
    """By energy distance to fresh data; its floor, between two draws of the data, is within ±0.002 of 0."""
    model = weights.load("reflow-eight").eval().requires_grad_(False)
    x, other = (points.sample("eight_gaussians", 3000, seed)[0] for seed in (7, 8))
    assert abs(float(flow_matching.energy_distance(x, other))) < 0.002
    start = model.noise(3000, torch.Generator().manual_seed(0))  # type: ignore[operator]

    def off(velocity: flow_matching.Velocity, steps: int) -> float:
        ends = flow_matching.follow(velocity, start, steps) * model.scale  # type: ignore[operator]
        return float(flow_matching.energy_distance(x, ends))

    before, after = model.first_velocity, model.velocity
    assert off(after, 2) < 1.5 * max(off(before, 50), 0.002) and off(before, 2) > 0.2  # type: ignore[arg-type]
    ends = flow_matching.follow(before, start[:500], 20, solver="rk4")  # type: ignore[arg-type]
    pair = start[:500], ends
    assert float(flow_matching.straightness(after, *pair)) < 0.01 * float(  # type: ignore[arg-type]
        flow_matching.straightness(before, *pair)  # type: ignore[arg-type]
    )


@pytest.mark.heavy
def test_a_model_trained_on_the_bound_needs_fewer_bits() -> None:
    """Of a fifth of the test split, all terms; the card has the whole."""
    text = weights.read_card(ZOO / "vlb-digits")["metrics"]["test/bpd"]
    assert text <= 2.5
    data = Digits()
    data.setup("test")
    x = data.test_set[torch.arange(0, 250, 5)][0]
    bits = -trained("vlb-digits").elbo(x, generator=torch.Generator().manual_seed(0)) / (64 * math.log(2))
    assert abs(float(bits.mean()) - text) < 4 * float(bits.std()) / math.sqrt(len(bits))
    assert float(bits.mean()) < 2.5


def test_one_step_to_a_code_is_a_step() -> None:
    """t = T is left out for its noise; alone, the step starts at the first t that is not."""
    model = trained("ddpm-digits")
    top, zero = model.code_times(1)
    assert zero == 0 and model.schedule.alpha_bar[top] >= 1e-3 > model.schedule.alpha_bar[top + 1]
    x = torch.rand(3, *model.event_shape, generator=torch.Generator().manual_seed(0))
    code = model.encode(x, steps=1)
    one, inside = torch.ones(3, dtype=torch.int64), model.preprocess(x)
    with torch.no_grad():
        eps = model.denoiser()(inside, one)[1]
    a = float(model.schedule.alpha_bar[top])
    torch.testing.assert_close(code, a**0.5 * inside + (1 - a) ** 0.5 * eps, rtol=0, atol=1e-4)
    with pytest.raises(ValueError, match="Guidance leans towards a class"):
        model.denoiser(guidance=2.0)
