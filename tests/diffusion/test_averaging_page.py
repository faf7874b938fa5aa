"""The page "Averaged weights": the average, what its scenes say, its numbers."""

from collections import deque
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from opening import film, finish, metrics, open_page
from torch import nn

from pages.diffusion.averaging import figures, lens


@cache
def played(**recipe: Any) -> list[lens.Look]:
    ((share, looks),) = deque(lens.training(lens.Recipe(**recipe)), maxlen=1)
    assert share == 1 and len(looks) == lens.LOOKS
    return looks


def test_an_average_of_constant_weights_is_constant_and_forgets_as_said() -> None:
    mean, now = nn.Linear(2, 2), nn.Linear(2, 2)
    first, recipe = mean.weight.detach().clone(), lens.Recipe(0.9)
    for module in (mean, now):
        module.requires_grad_(False)
    for step in range(1, 4):
        lens.average(mean, now, recipe.share(step))
    left = recipe.left(3)  # of more steps nothing is left that a test could see
    assert torch.allclose(mean.weight, left * first + (1 - left) * now.weight, atol=1e-6)
    kept = now.weight.clone()
    lens.average(now, now, 0.5)
    assert torch.equal(now.weight, kept)
    assert lens.Recipe(0.998, warm=False).left(300) == pytest.approx(0.998**300)
    assert recipe.share(1) == pytest.approx(2 / 11) and recipe.share(1000) == 0.9


def test_the_rate_falls_along_a_cosine() -> None:
    recipe = lens.Recipe(rate=1e-2, falls=True, steps=100)
    assert recipe.rate_at(1) == 1e-2 and recipe.rate_at(51) == pytest.approx(5e-3)
    assert recipe.rate_at(100) < 1e-5 and lens.Recipe(rate=1e-2, steps=100).rate_at(100) == 1e-2


def test_the_exam_is_of_the_exact_noise() -> None:
    """Of all answers at a noisy point ε* is the nearest on average: the mean of ε given x_t."""
    noisy, t, best, *_ = lens.exam()
    model = lens.DDPM(width=2, blocks=1, embedding=2)
    a = model.schedule.alpha_bar[t]
    exact = -(1 - a).sqrt()[:, None] * lens.MIXTURE.score(noisy.double(), a)
    assert torch.allclose(best.double(), exact, atol=1e-4)
    assert lens.judged(model, model.net)[1] == pytest.approx(
        float(best.square().mean())
    )  # it says 0 at first


def each_of_five(*first: int) -> list[Any]:
    """Five seeds; those that are not of the first are for the longest runs alone."""
    return [pytest.param(s, marks=() if s in first else pytest.mark.soak) for s in range(5)]


@pytest.mark.parametrize("seed", each_of_five(0, 1))
def test_the_average_is_steadier_and_nearer(seed: int) -> None:
    looks = played(seed=seed)
    assert all(one.errors[1] < one.errors[0] for one in looks[10:])
    jumps, calm = lens.settled(looks)
    assert jumps > 3 * calm
    assert lens.nearer(looks[-1]) == lens.OPTIONS[1] and looks[-1].distances[1] < looks[-1].distances[0] / 2


@pytest.mark.parametrize("seed", each_of_five(0))
def test_what_the_other_scenes_say(seed: int) -> None:
    some, plain = played(steps=1000, seed=seed), played(seed=seed)
    last, averaged = (torch.tensor(each) for each in zip(*(one.errors for one in some), strict=True))
    assert bool((averaged < last)[6:].all())
    assert float(last[6:].diff().abs().mean()) > 4 * float(averaged[6:].diff().abs().mean())
    assert float(averaged[-1]) < plain[-1].errors[1]
    ten, (jumps, calm) = played(decay=0.9, seed=seed), lens.settled(plain)
    assert lens.settled(ten)[1] == pytest.approx(jumps / 2, rel=0.15)
    assert lens.settled(ten)[1] > 1.5 * calm and lens.nearer(ten[-1]) == lens.OPTIONS[1]
    cold = played(warm=False, seed=seed)
    assert 0.5 < lens.Recipe(warm=False).left(300) < 0.6
    assert float((cold[-1].clouds[1].abs().amax(1) > lens.REACH).float().mean()) > 0.9
    small = played(rate=5e-4, batch=512, seed=seed)
    assert lens.nearer(small[-1]) == lens.OPTIONS[0]
    assert lens.settled(small)[0] < jumps / 3
    falls = played(falls=True, seed=seed)
    assert lens.nearer(falls[-1]) == lens.OPTIONS[2]
    assert lens.settled(falls)[0] < 0.6 * jumps


def test_what_is_drawn_of_a_jump_leads_from_the_look_before() -> None:
    clouds = [one.clouds[0].numpy() for one in played()]
    ways = figures.jumps(clouds).reshape(len(clouds), figures.TAILS, 3, 2)
    assert (ways[0, :, 0] == ways[0, :, 1]).all()  # none at the first look
    assert (ways[1:, :, 0] == ways[:-1, :, 1]).all() and np.isnan(ways[:, :, 2]).all()
    assert (ways[5, :, 1] == clouds[5][: figures.TAILS]).all()


def test_the_page_shows_its_training() -> None:
    page = open_page("diffusion/averaging", seed=3, decay=0.98)
    looks = played(seed=3, decay=0.98)
    assert film(page, "look")["captions"] == lens.captions(looks)
    assert metrics(page)["averaged"] == f"{lens.settled(looks)[1]:.3f}"
    assert played(seed=3, decay=0.98)[-1].errors == looks[-1].errors


def test_the_page_to_the_end_of_a_longer_training(monkeypatch: pytest.MonkeyPatch) -> None:
    result = lens.Recipe
    monkeypatch.setattr(lens, "Recipe", lambda *recipe: result(*recipe[:5], steps=40, seed=recipe[-1]))
    page = finish(open_page("diffusion/averaging", steps=1000, seed=999))  # kept under a seed of its own
    assert film(page, "look")["count"] == lens.LOOKS
