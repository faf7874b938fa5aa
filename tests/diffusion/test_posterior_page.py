"""The page "One step back": Bayes on the page's own grid, the certain step, what its scenes say."""

from functools import partial

import pytest
import torch
from opening import figure, film, metrics, open_page, spoken

from pages.diffusion.posterior import lens

opened = partial(open_page, "diffusion/posterior")


def test_the_product_of_the_bells_is_the_posterior() -> None:
    page = opened()
    _, arrays = figure(page, "bells")
    prior, result, both = (torch.tensor(arrays[f"data.{i}.y"][3]).double() for i in range(3))
    product = prior * result
    gap = float(lens.grid()[1] - lens.grid()[0])
    assert (product / (product.sum() * gap) - both).abs().max() < 1e-4
    assert float(metrics(page)["Mean"]) == pytest.approx(float((lens.grid() * both).sum() * gap), abs=1e-3)
    parts = spoken(film(page, "t")["equations"][3])
    assert parts[-3] + parts[-2] == pytest.approx(parts[-1], abs=2e-3)


def test_the_first_step_is_certain() -> None:
    page = opened(t=1)
    assert metrics(page)["Variance β̃"] == "0.00000" and metrics(page)["Mean"] == "1.0000"


def test_what_the_scenes_say() -> None:
    late = lens.step(lens.four(0.4, 8), 1.0, -0.4, 8)
    assert late.ct > late.c0
    small = lens.step(lens.four(0.05, 8), 1.0, -0.4, 4)
    assert small.posterior.variance < 0.02 and small.ct > small.c0
    odds = lens.step(lens.four(0.4, 8), -2.0, 2.0, 4)
    assert odds.prior.mean < odds.posterior.mean < odds.likelihood.mean
    default = lens.step(lens.four(0.4, 8), 1.0, -0.4, 4)
    assert default.likelihood.mean < default.posterior.mean < default.prior.mean
    assert default.posterior.variance < min(default.prior.variance, default.likelihood.variance)
