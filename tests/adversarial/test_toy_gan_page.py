"""The page "Toy GAN": its course is that of a game played by hand, and what its scenes say is so."""

from functools import partial

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
            for whose, value in model.turns(x, generator):
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


def test_what_the_scenes_say() -> None:
    assert game().phi[20, 1] > 0.3 and game().theta[20] < 7.5
    assert game(start=7.5).phi[1, 1].abs() < 0.5
    sure = {"start": -3.0, "d_steps": 10, "d_rate": 0.5}
    assert (game(loss="saturating", **sure).theta[-1] + 3).abs() < 0.5
    assert lens.fate(game(**sure)) == "settles"
    assert lens.fate(game(loss="Wasserstein")) == "circles"
    assert lens.fate(game(loss="least squares", g_rate=2.0)) == "runs away"
    slow = game(d_steps=1, d_rate=0.05, g_rate=0.5)
    assert slow.theta[-1] > 8 and slow.phi[-1, 1] > 0


def test_equal_rules_play_alike_and_a_seed_changes_them() -> None:
    first = game(seed=3).theta
    assert torch.equal(game(seed=3).theta, first) and not torch.equal(game(seed=4).theta, first)
