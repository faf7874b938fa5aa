"""The classifier of noisy pictures: against an exact posterior, its gradient, and the weights that ship."""

from functools import cache, partial
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from datamodules.digits import Digits
from lab import weights
from lab.seeding import seeded
from modules.diffusion import exact, guidance
from modules.diffusion.noisy_classifier import NoisyClassifier
from pages.diffusion.guidance import lens


def test_of_two_gaussians_it_learns_the_exact_posterior_at_every_time() -> None:
    """4 × 4 pixels, ±0.3 by halves and noise of 0.2, in the denoiser's units: log p(y | x_t) is known."""
    model = seeded(partial(NoisyClassifier, (1, 4, 4), 2, (16,), 16, 100), 0)
    half = 0.3 * torch.tensor([-1.0, -1.0, 1.0, 1.0]).repeat(4)
    truth = exact.Mixture(torch.stack([half, -half]), 0.2**2)
    generator = torch.Generator().manual_seed(0)

    def drawn(n: int) -> tuple[Tensor, Tensor]:
        y = torch.randint(2, (n,), generator=generator)
        return truth.means[y].float() + 0.2 * torch.randn(n, 16, generator=generator), y

    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 400)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for _ in range(400):
            x0, y = drawn(256)
            optimizer.zero_grad()
            model.step((((x0 + 1) / 2).reshape(-1, 1, 4, 4), y), "train").backward()
            optimizer.step()
            schedule.step()
    t = torch.arange(5, 101, 5).repeat_interleave(100)
    x0, y = drawn(len(t))
    x = model.schedule.noised(x0, t, torch.randn(x0.shape, generator=generator))
    a = model.schedule.alpha_bar[t]
    known = truth.components(x, a)[2].softmax(-1)
    grid = x.reshape(-1, 1, 4, 4)
    with torch.no_grad():
        text = model.logits(grid, t).softmax(1)
    assert float((text - known).abs().mean()) < 0.04

    def predict(x: Tensor, t: Tensor) -> Tensor:
        return truth.eps(x.flatten(1), model.schedule.alpha_bar[t]).reshape(x.shape)

    # led once, the ε of both becomes that of the class
    led = guidance.classifier_guidance(predict, model.log_class(y), model.schedule, 1.0)(grid, t)
    assert isinstance(led, Tensor)
    each = torch.stack([exact.Mixture(m[None], 0.2**2).eps(x, a) for m in truth.means])
    wanted = each[y, torch.arange(len(t))]
    off = (led.flatten(1) - wanted).norm(dim=1).mean()
    unled = (predict(grid, t).flatten(1) - wanted).norm(dim=1).mean()
    assert off < unled / 2


def test_the_lean_is_the_slope_of_the_log_probability() -> None:
    """Against central differences, in double precision."""
    torch.manual_seed(0)
    model = NoisyClassifier((1, 4, 4), 3, (4, 8), 8).double().eval()
    for p in model.parameters():
        p.data.normal_(0, 0.4)
    x, t, y = torch.randn(3, 1, 4, 4).double(), torch.tensor([0, 300, 1000]), torch.tensor([0, 1, 2])
    s = torch.tensor([1.0, 2.0, 0.5]).double()
    led = guidance.classifier_guidance(lambda x, t: 0 * x, model.log_class(y), model.schedule, s)(x, t)
    assert isinstance(led, Tensor)
    h = 1e-6
    with torch.no_grad():
        for pixel in range(16):
            step = torch.zeros(16).double()
            step[pixel] = h
            log_p = [
                model.logits(x + sign * step.reshape(4, 4), t).log_softmax(1)[torch.arange(3), y]
                for sign in (1, -1)
            ]
            slope = (log_p[0] - log_p[1]) / (2 * h)
            expected = -s * (1 - model.schedule.alpha_bar[t]).sqrt() * slope
            torch.testing.assert_close(led.flatten(1)[:, pixel], expected, rtol=1e-6, atol=1e-8)


@cache
def shipped() -> tuple[Any, Tensor, Tensor]:
    data = Digits(binarize="none")
    data.setup()
    return weights.load("noisy-classifier-digits").eval(), *data.test_set[torch.arange(len(data.test_set))]


def right(t: int, draws: int = 8) -> Tensor:
    """Share of draws of noise after which each test digit is named right, (250,)."""
    model, x, y = shipped()
    generator, times = torch.Generator().manual_seed(t), torch.full((len(x),), t)
    with torch.no_grad():
        results = [model.noised_logits(x, times, generator).argmax(1) == y for _ in range(draws)]
    return torch.stack(results).double().mean(0)


def test_it_names_digits_the_better_the_less_noise_there_is() -> None:
    """Each figure less two standard errors, over digits; each step of the fall by more than two."""
    results = [right(t) for t in (0, 300, 500, 700, 1000)]
    least, error = float(results[0].mean()), float(results[0].std() / len(results[0]) ** 0.5)
    assert least - 2 * error > 0.97
    for more, less in pairwise(results):
        fall = more - less
        assert float(fall.mean()) > 2 * float(fall.std() / len(fall) ** 0.5)
    assert abs(float(results[-1].mean()) - 0.1) < 0.05  # of noise alone: by chance


def test_without_noise_it_predicts_as_at_time_zero() -> None:
    model, x, y = shipped()
    with torch.no_grad():
        zero = model.noised_logits(x, torch.zeros(len(x), dtype=torch.long))
        torch.testing.assert_close(model.predict(x), zero)
    assert float((model.predict(x).argmax(1) == y).double().mean()) == pytest.approx(float(right(0).mean()))


def test_on_digits_one_that_knows_noise_leads_and_one_of_clean_digits_does_not() -> None:
    """Experiment 9; each is judged by the other. 100 draws: a standard error is at most .05."""
    noisy, cnn = shipped()[0], weights.load("cnn-digits").eval()
    model: Any = weights.load("ddpm-digits").eval()

    class Clean:
        def log_class(self, y: Tensor) -> Any:
            logits = lambda x: cnn.predict((x + 1) / 2)  # type: ignore[operator]  # noqa: E731
            return lambda x, t: logits(x).log_softmax(1).gather(1, y[:, None])[:, 0]

    y = torch.arange(100) % 10
    start = model.start(100, torch.Generator().manual_seed(1))
    share = []
    with torch.no_grad():
        for leader, judge in ((noisy, cnn), (Clean(), noisy)):
            x = lens.led_by(model, leader, start, y, 3.0).clamp(0, 1)
            share.append(float((judge.predict(x).argmax(1) == y).double().mean()))  # type: ignore[operator]
    assert share[0] > 0.9 and share[1] < 0.5
