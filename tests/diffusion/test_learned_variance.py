"""Reverse variances that a network learns: DF-12."""

from typing import Any

import pytest
import torch
from torch import Tensor

from datamodules import points
from lab import weights
from modules.diffusion import bound, exact, samplers
from modules.diffusion.ddpm import DDPM, ImageDDPM
from modules.diffusion.schedule import linear

MADE = linear(100)


def test_the_ends_are_beta_and_the_posteriors() -> None:
    t = torch.tensor([1, 2, 50, 100])
    for share, kind in ((1.0, "beta"), (0.0, "posterior")):
        v = torch.full((4, 3), share, dtype=torch.float64)
        wanted = bound.variances(MADE, kind)[t]  # type: ignore[arg-type]
        assert torch.allclose(bound.learned_variance(MADE, v, t), wanted[:, None].expand(4, 3), rtol=1e-12)
    middle = bound.learned_variance(MADE, torch.full((4, 1), 0.5).double(), t)[:, 0]
    ends = [bound.variances(MADE, kind)[t] for kind in ("beta", "posterior")]  # type: ignore[arg-type]
    assert torch.allclose(middle, (ends[0] * ends[1]).sqrt(), rtol=1e-12)


def test_one_variance_for_all_numbers_is_the_known_term() -> None:
    generator = torch.Generator().manual_seed(0)
    t = torch.tensor([2, 30, 100])
    error = torch.rand(3, 4, 2, dtype=torch.float64, generator=generator)
    square = bound.variances(MADE, "beta")[t]
    each = bound.elementwise_kl(MADE, t, error, square[:, None, None].expand_as(error))
    assert torch.allclose(each, bound.step_kl(MADE, t, error.flatten(1).sum(1), 8, square), rtol=1e-12)


@pytest.mark.parametrize("levels", [None, 17])
@pytest.mark.parametrize("kind", ["beta", "posterior"])
def test_a_bound_by_number_is_the_bound(kind: bound.Variance, levels: int | None) -> None:
    x = 2 * torch.randint(17, (5, 3), generator=torch.Generator().manual_seed(0)).double() / 16 - 1
    predict = exact.Mixture(torch.zeros(1, 3), 0.4).denoiser(MADE)
    spread: bound.StepVariance = lambda x, t: bound.variances(MADE, kind)[t][:, None].expand_as(x)  # noqa: E731
    result, wanted = (
        bound.bound(predict, MADE, x, v, levels, generator=torch.Generator().manual_seed(1))
        for v in (spread, kind)
    )
    assert torch.allclose(result.total, wanted.total, rtol=1e-12)
    if levels:  # the decoder's deviation is the root of σ_1²
        one = torch.ones(5, dtype=torch.long)
        generator = torch.Generator().manual_seed(1)
        for _ in range(99):  # of t = 2 … 100
            torch.randn(x.shape, dtype=x.dtype, generator=generator)
        xt = MADE.noised(x, one, torch.randn(x.shape, dtype=x.dtype, generator=generator))
        guess = (xt - MADE.sigma(one, xt) * predict(xt, one)) / MADE.root(one, xt)  # type: ignore[operator]
        sd = float(bound.variances(MADE, kind)[1]) ** 0.5
        assert torch.allclose(wanted.decoder, -bound.log_bin(x, guess, sd, levels).sum(1), rtol=1e-9)


def test_the_best_share_is_the_best_variance() -> None:
    """Over σ² the expected term is least at β̃ + c_0² Var(x_0 | x_t), which lies between β̃ and β."""
    t = torch.tensor([5, 40, 90])
    a = MADE.alpha_bar[t]
    left = 0.25 * (1 - a) / (a * 0.25 + 1 - a)  # Var(x_0 | x_t) of N(1, ¼)
    raw = torch.zeros(3, 1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([raw], max_iter=200, tolerance_grad=1e-14, tolerance_change=1e-16)

    def closure() -> Tensor:
        optimizer.zero_grad()
        square = bound.learned_variance(MADE, raw.sigmoid(), t)
        # scaled: of late terms the curvature is small
        term = bound.elementwise_kl(MADE, t, left[:, None], square)
        loss = (term * torch.tensor([1.0, 1e3, 1e3])).sum()
        loss.backward()
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    result = bound.learned_variance(MADE, raw.detach().sigmoid(), t)[:, 0]
    assert torch.allclose(result, bound.best_variance(MADE, t, left), rtol=1e-5)


def batch(model: DDPM | ImageDDPM) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    x = 2 * torch.randint(17, (8, *model.event_shape), generator=generator) / 16 - 1
    t = torch.tensor([1, 1, 2, 5, 20, 50, 80, 100])
    return x, t, torch.randn(x.shape, generator=generator)


@pytest.mark.parametrize("image", [False, True])
def test_the_bound_moves_the_variance_alone(image: bool) -> None:
    """The prediction's gradient is that of the simple loss to the bit, the variance's is not 0."""
    settings = {"noise_steps": 100, "variance": "learned"}
    grads = {}
    for vlb_weight in (0.0, 10.0):
        torch.manual_seed(0)
        model = (
            ImageDDPM((1, 4, 4), (4, 4), heads=2, embedding=4, levels=17, vlb_weight=vlb_weight, **settings)  # type: ignore[arg-type]
            if image
            else DDPM((3,), 8, 1, 4, vlb_weight=vlb_weight, **settings)  # type: ignore[arg-type]
        )
        last: Any = model.net.unet.last if image else model.net.last  # type: ignore[union-attr]
        x, t, eps = batch(model)
        loss, error = model.losses(x, t, eps)
        assert loss.shape == error.shape == (8,) and bool(loss.isfinite().all())
        loss.mean().backward()
        grads[vlb_weight] = last.weight.grad.chunk(2)
    assert torch.allclose(grads[0.0][0], grads[10.0][0], rtol=1e-5, atol=1e-8)
    assert not grads[0.0][1].any() and bool(grads[10.0][1].any())


def test_terms_of_a_batch_are_those_of_the_bound() -> None:
    torch.manual_seed(0)
    model = DDPM((3,), 8, 1, 4, noise_steps=100, variance="learned")
    x, t, eps = batch(model)  # type: ignore[arg-type]
    xt = model.schedule.noised(x, t, eps)
    _, share = model.split(model.net(xt, t, None))
    assert share is not None and share.shape == x.shape and float(share.detach().mean()) == 0.5
    result = model.term(x, model.denoiser()(xt, t)[0], share, t).detach()  # type: ignore[arg-type]
    # a net that says nothing: ε̂ = 0, v = ½
    guess = xt / model.schedule.root(t, xt)
    square = bound.learned_variance(model.schedule, torch.full_like(x, 0.5), t)
    assert torch.allclose(
        result[2:],
        bound.elementwise_kl(model.schedule, t[2:], (x - guess)[2:].square(), square[2:]),
        rtol=1e-4,
    )
    assert torch.allclose(
        result[:2].double(), -bound.log_normal(x[:2], guess[:2], square[:2].double()), rtol=1e-4
    )
    loss, error = model.losses(x, t, eps)  # the noise's error, and 0.001 of the bound a number
    assert torch.allclose(loss - error, 1e-3 * 100 * result / 3, rtol=1e-3, atol=1e-6)
    elbo = model.elbo(x, generator=torch.Generator().manual_seed(0))
    assert elbo.shape == (8,) and bool(elbo.isfinite().all())
    assert model.sample(4, steps=5, generator=torch.Generator().manual_seed(0)).shape == (4, 3)


@pytest.mark.parametrize(("share", "kind"), [(50.0, "beta"), (-50.0, "posterior")])
@pytest.mark.parametrize("steps", [50, 7])
def test_the_chain_runs_with_the_learned_variance(share: float, kind: Any, steps: int) -> None:
    """A network that predicts β, or β̃, of every step samples as the sampler with that variance does."""

    class Net(torch.nn.Module):
        def forward(self, x: Tensor, t: Tensor, y: Tensor | None = None) -> Tensor:
            return torch.cat([0.5 * x, torch.full_like(x, share)], 1)

    model = DDPM(event_shape=(2,), noise_steps=50, variance="learned")
    model.net = Net()
    x = torch.randn(200, 2, generator=torch.Generator().manual_seed(0))
    seeds = [torch.Generator().manual_seed(1) for _ in range(2)]
    result = samplers.last(model.reverse_process(x, steps=steps, generator=seeds[0]))
    times = model.schedule.times(steps)
    wanted = samplers.last(
        samplers.ancestral(model.denoiser(), model.schedule, x, times, kind, None, seeds[1])
    )
    assert torch.allclose(result, wanted, atol=1e-5)


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(ValueError, match="variance is 'best'"):
        DDPM(variance="best")
    with pytest.raises(ValueError, match="vlb_weight"):
        DDPM(variance="learned", vlb_weight=-1.0)


def test_trained_variances_beat_both_fixed_ones() -> None:
    """Of one network on eight Gaussians, T = 50: about 2.50 nats, 2.72 with β, 4.50 with β̃."""
    model: Any = weights.load("ddpm-variance-eight").eval().requires_grad_(False)
    x = model.preprocess(points.sample("eight_gaussians", 300, seed=9)[0])
    learned, beta, posterior = (
        float(
            bound.bound(
                model.denoiser(), model.schedule, x, v, generator=torch.Generator().manual_seed(0)
            ).total.mean()
        )
        for v in (model.step_variance(), "beta", "posterior")
    )
    assert learned < beta - 0.1 < posterior - 1
