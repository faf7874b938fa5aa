"""The page of the optimal discriminator: D comes to lie on D*, and the value knows of a missing mode."""

import math

import pytest
import torch
from opening import component, film, open_page, open_warned

from lab.seeding import seeded
from modules.adversarial.gan import Discriminator
from modules.adversarial.losses import Saturating
from pages.adversarial.optimal_discriminator import lens


def test_the_trained_discriminator_lies_on_the_best() -> None:
    story = lens.story(lens.hills(4.5), 16, 0.01, 0)
    assert story.js == pytest.approx(0.659915, abs=1e-5)
    assert story.least == pytest.approx(2 * math.log(2) - 2 * story.js)
    assert story.distance(-1) < 0.02 < story.distance(0)
    assert all(v >= story.least - 1e-9 for v in story.values)  # whatever D is
    assert story.values[-1] - story.least < 0.01 < story.values[0] - story.least


def test_the_best_logit_of_two_gaussians_is_a_line() -> None:
    """d · (x − midpoint): slope 4.5, intercept −10.125 for means 0 and 4.5."""
    story = lens.story(lens.hills(4.5), 2, 0.01, 0)
    near = (story.x - 2.25).abs() < 4
    torch.testing.assert_close(story.best.logit()[near], (4.5 * story.x - 10.125)[near], atol=1e-6, rtol=0)


def test_the_value_knows_what_moving_samples_cannot_reach() -> None:
    """At w = 0.9: d/dw of both parts, and nearly nothing for the modes' places."""
    slopes = lens.slopes(lens.modes(0.9))
    assert slopes.quality == pytest.approx(0.868646, abs=1e-5)
    assert slopes.coverage == pytest.approx(0.474051, abs=1e-5)
    assert slopes.value == pytest.approx(1.342697, abs=1e-5)
    assert slopes.value == pytest.approx(slopes.quality + slopes.coverage)
    assert slopes.left == pytest.approx(-0.00374, abs=1e-5) and slopes.right == pytest.approx(
        -0.00165, abs=1e-5
    )


def test_equal_laws_leave_nothing() -> None:
    story = lens.story(lens.hills(0.0), 8, 0.01, 0)
    assert story.js == pytest.approx(0, abs=1e-12)
    torch.testing.assert_close(story.best, torch.full_like(story.best, 0.5))
    assert lens.option(story.js) == lens.OPTIONS[0] and lens.option(0.5) == lens.OPTIONS[2]


@pytest.mark.parametrize("seed", range(3))
def test_what_the_scenes_say(seed: int) -> None:
    """It held for seeds 0 to 4."""

    def steepest(y: torch.Tensor) -> float:
        return float(y.diff().abs().max())

    story = lens.story(lens.hills(4.5), 16, 0.01, seed)
    assert lens.FRAMES[6] == 16 and steepest(story.discriminator[6]) < 0.5 * steepest(story.best)
    assert story.values[-1] - story.least < 0.01 < story.values[6] - story.least and story.distance(-1) < 0.02
    small = lens.story(lens.hills(4.5), 2, 0.001, seed)
    assert 0.05 < small.distance(-1) < small.distance(0)
    far = lens.story(lens.hills(10.0), 16, 0.01, seed)
    assert far.values[-1] < 0.01 and far.js == pytest.approx(math.log(2), abs=1e-4)
    equal = lens.story(lens.hills(0.0), 16, 0.01, seed)
    assert 0.001 < equal.distance(-1) < 0.1


def test_the_page() -> None:
    page = open_page("adversarial/optimal_discriminator", laws="two modes", w=0.9, show="slopes")
    assert "After 600 steps" in film(page)["captions"][-1]
    spec = component(page, "figure-slopes")[0]
    assert [trace["type"] for trace in spec["figure"]["data"]] == ["bar"]
    assert "slopes" in open_warned("adversarial/optimal_discriminator", show="slopes").warning[0].value


def test_the_gradients_written_out_are_those_of_autograd() -> None:
    """Also of cells against the examples themselves: the loss of both is nearly the same."""
    pair, generator = lens.hills(4.5), torch.Generator().manual_seed(0)
    real, result = (pair.sample(w, lens.EXAMPLES, generator) for w in (pair.data_weight, pair.weight))
    discriminator = seeded(lambda: Discriminator(1, [7, 7], pack=1, minibatch_std=False, energy=False), 1)
    places, p, q = lens.counted(real, result)
    assert float(p.sum()) == pytest.approx(1) == pytest.approx(float(q.sum()))
    loss = lens.value(p, q, discriminator(places))
    loss.backward()
    theta = list(discriminator.parameters())
    for parameter, slope in zip(theta, lens.gradients(theta, places, p, q), strict=True):
        torch.testing.assert_close(slope, parameter.grad)
    with torch.no_grad():
        exact = Saturating().discriminator(discriminator(real), discriminator(result))
    assert float(exact) == pytest.approx(loss.item(), rel=1e-3)
