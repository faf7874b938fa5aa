"""The page "Toy GAN": its course is that of a game played by hand, and what its scenes say is so."""

from functools import partial
from itertools import pairwise

import pytest
import torch
from opening import figure, film, open_page

from modules.adversarial.toy import ToyGAN
from pages.adversarial.toy_gan import lens

opened = partial(open_page, "adversarial/toy_gan")


def by_hand(rounds: int) -> tuple[float, float, float]:
    """θ and φ of the default game, gradients written out."""
    theta, a, b = 3.0, 0.0, 0.0
    generator = torch.Generator().manual_seed(0)

    def draw() -> torch.Tensor:
        return torch.randn(10, 1, generator=generator, dtype=torch.float64)[:, 0]

    for _ in range(rounds):
        for _ in range(5):
            x, z = 7.5 + draw(), draw()
            of_real, of_made = -torch.sigmoid(-(a + b * x)), torch.sigmoid(a + b * (z + theta))
            step = of_real.mean() + of_made.mean(), (of_real * x).mean() + (of_made * (z + theta)).mean()
            a, b = a - 0.1 * float(step[0]), b - 0.1 * float(step[1])
        z = draw()
        theta += 0.2 * b * float(torch.sigmoid(-(a + b * (z + theta))).mean())
    return theta, a, b


def test_the_course_is_that_of_a_game_by_hand() -> None:
    course = lens.play(lens.Rules())
    theta, a, b = by_hand(20)
    assert course.theta[20].item() == pytest.approx(theta, abs=1e-5)
    assert course.phi[20].tolist() == pytest.approx([a, b], abs=1e-5)
    page = opened()
    bar = film(page)
    assert bar["count"] == lens.ROUNDS + 1 and bar["at"] == 20
    assert f"θ = {theta:.3f}" in bar["captions"][20]
    _, frames = figure(page, "line")
    assert frames["data.3.x"].shape == (lens.ROUNDS + 1, lens.SHOWN)


@pytest.mark.parametrize("loss", lens.SLOPES)
def test_the_course_is_that_of_the_model(loss: str) -> None:
    """Every turn of `ToyGAN`, by autograd."""
    rules = lens.Rules(loss=loss, d_steps=3, g_steps=2, d_rate=0.02, batch=16, seed=2)
    model = ToyGAN(rules.start, loss=loss, d_steps=3, g_steps=2).double()
    generator = torch.Generator().manual_seed(2)
    rates = {"discriminator": rules.d_rate, "generator": rules.g_rate}
    course = lens.play(rules)
    for r in range(1, 9):
        for _ in range(rules.d_steps):
            x = rules.real + torch.randn(16, 1, generator=generator, dtype=torch.float64)
            for whose, value in model.updates(x, generator):
                (weight,) = model.players()[whose]
                (slope,) = torch.autograd.grad(value, weight)
                with torch.no_grad():
                    weight -= rates[whose] * slope
        assert course.theta[r].item() == pytest.approx(model.generator.theta.item(), abs=1e-12)
        assert course.phi[r].tolist() == pytest.approx(model.discriminator.phi.tolist(), abs=1e-12)


def test_the_best_judge_is_the_ratio_of_both_laws() -> None:
    course = lens.play(lens.Rules())
    x = torch.linspace(0, 10, 21, dtype=torch.float64)
    normal = [torch.distributions.Normal(m, 1.0).log_prob(x).exp() for m in (7.5, float(course.theta[30]))]
    torch.testing.assert_close(lens.judged(course, x)[1][30], normal[0] / sum(normal))


def game(**changed: object) -> lens.Course:
    return lens.play(lens.Rules(**changed))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(5))
def test_what_the_scenes_say(seed: int) -> None:
    course = game(seed=seed)
    assert course.phi[20, 1] > 0.3 and bool((course.theta[:21].diff() > 0).all()) and course.theta[20] < 7.5
    assert bool((lens.judged(course, torch.linspace(0, 10, 5))[0][0] == 0.5).all())
    sure = {"start": -3.0, "d_steps": 10, "d_rate": 0.5, "seed": seed}
    assert (game(loss="saturating", **sure).theta[-1] + 3).abs() < 0.5
    assert lens.fate(game(**sure)) == "settles"
    assert lens.fate(game(loss="Wasserstein", seed=seed)) == "circles"
    away = {"loss": "least squares", "g_rate": 2.0, "seed": seed}
    slopes = [game(d_steps=steps, **away).phi[1, 1].abs() for steps in range(1, 6)]
    assert all(b > 2 * a for a, b in pairwise(slopes))
    assert game(**away).gap[1] > 100 and lens.fate(game(**away)) == "runs away"
    slow = game(d_steps=1, d_rate=0.05, g_rate=0.5, seed=seed)
    assert slow.theta[-1] > 8 and bool((slow.phi[1:, 1] > 0).all())


def test_at_equal_laws_the_slope_of_d_is_noise() -> None:
    """Of either sign, and smaller with more examples: over seeds 0 to 4."""
    few, many = (
        torch.stack([game(start=7.5, batch=batch, seed=seed).phi[1, 1] for seed in range(5)])
        for batch in (10, 100)
    )
    assert few.min() < 0 < few.max() and few.square().mean() > 2 * many.square().mean()
    x = torch.linspace(4, 11, 29, dtype=torch.float64)
    best = torch.stack([lens.judged(game(start=7.5, seed=seed), x)[1][1] for seed in range(5)])
    assert (best - 0.5).abs().max() < 0.06


def test_equal_rules_play_alike_and_a_seed_changes_them() -> None:
    first = game(seed=3).theta
    assert torch.equal(game(seed=3).theta, first) and not torch.equal(game(seed=4).theta, first)
