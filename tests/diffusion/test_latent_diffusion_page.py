"""The page "Latent diffusion": its pictures, its counts, its judges, and what its scenes say."""

from functools import cache, partial
from typing import Any

import pytest
import torch
from opening import figure, open_page, prose

from lab import weights
from pages.diffusion.latent_diffusion import lens

opened = partial(open_page, "diffusion/latent_diffusion")


@cache
def model(name: str) -> Any:
    return weights.load(name).eval().requires_grad_(False)


@cache
def clouds() -> lens.Clouds:
    return lens.clouds(model("ldm-digits"), 20, 0)


def test_work_is_counted_as_by_hand() -> None:
    layer = torch.nn.Linear(7, 5)
    assert lens.work(lambda: layer(torch.zeros(1, 7))) == 35
    kernel = torch.nn.Conv2d(2, 3, 3, padding=1)
    assert lens.work(lambda: kernel(torch.zeros(1, 2, 4, 4))) == 2 * 3 * 9 * 16
    latent = model("ldm-digits")
    linear = [m for m in latent.net.modules() if isinstance(m, torch.nn.Linear)]
    once = sum(m.in_features * m.out_features for m in linear)
    decoder = 8 * 256 + 256 * 64
    assert lens.costs(latent, model("ddpm-digits"), 0.0, 20)[:2] == [decoder, decoder + 20 * once]
    assert lens.costs(latent, model("ddpm-digits"), 1.0, 20)[1] == decoder + 40 * once


def test_the_pictures_are_the_models_own_samples() -> None:
    draws = lens.draws(model("ldm-digits"), model("ddpm-digits"), None, 0.0, 5, 0)
    assert draws.pictures.shape == (6, 3, 12, 8, 8) and draws.times[0] == 1000 and draws.times[-1] == 0
    for k, name in ((1, "ldm-digits"), (2, "ddpm-digits")):
        want = (
            model(name)
            .sample(12, steps=5, generator=torch.Generator().manual_seed(0))
            .reshape(12, 8, 8)
            .clamp(0, 1)
        )
        torch.testing.assert_close(draws.pictures[-1, k], want, atol=1e-4, rtol=0)
    assert (draws.pictures[:, 0] == draws.pictures[0, 0]).all()
    cost = lens.costs(model("ldm-digits"), model("ddpm-digits"), 0.0, 5)
    assert cost[1] * 20 < cost[2]


def test_what_the_scenes_say() -> None:
    network = model("cnn-digits")
    eights = lens.draws(model("ldm-digits"), model("ddpm-digits"), 8, 1.0, 20, 0).pictures[-1]
    named = network.predict(eights.reshape(36, 1, 8, 8)).argmax(1).reshape(3, 12)
    assert (named[1:] == 8).double().mean() > 0.85 and (named[0] == 8).double().mean() < 0.5
    result = clouds()
    prior = lens.distance(result.data, result.prior)
    assert lens.distance(result.data, result.trajectory[-1]) < 0.5 * prior
    counts = lens.sure(network, lens.draws(model("ldm-digits"), model("ddpm-digits"), None, 0.0, 20, 0))
    assert counts[1] > counts[0] and lens.more(counts) == lens.MORE[0]


def test_the_judges_of_guidance_and_steps() -> None:
    tables = {}
    for vary in ("guidance", "steps"):
        *_, (done, tables[vary]) = lens.measured(model("ldm-digits"), model("cnn-digits"), vary)
        assert done == pytest.approx(1) and tables[vary].values == lens.VARY[vary]
    w = tables["guidance"].mean
    assert w[1, 3] > 0.985 > w[0, 3] and (w[:, 0].diff() > 0).all() and w[-1, 2] < w[0, 2] - 0.05
    s = tables["steps"].mean
    assert abs(float(s[1, 0] - s[3, 0])) < 0.25 * float(s[3, 0])
    assert lens.best(tables["steps"]) in lens.VARY["steps"]
    assert (tables["guidance"].error >= 0).all() and tables["guidance"].error.max() < 0.2


def test_the_page() -> None:
    page = opened(S=5)
    _, arrays = figure(page, "way1")
    assert arrays["data.0.z"].shape == (6, 35, 26)
    assert "A digit takes 0.02 M by the decoder of N(0, I), " in prose(page)
    page = opened(view="Codes", S=5)
    _, arrays = figure(page, "clouds")
    assert arrays["data.2.x"].shape == (6, lens.CLOUD)
