"""The bound: its parts, the ELBO and the β-objective under their own names, and q fitted for each β."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from opening import figure, film, open_page, scenes, spoken
from streamlit.testing.v1 import AppTest
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from lab.lenses import latent
from modules.latent.vae import VAE


def opened(**parameters: Any) -> AppTest:
    return open_page("latent/bound", **{"model": "vae-digits", **parameters})


def parts(page: AppTest, at: int) -> list[float]:
    """R, KL, ELBO, R, KL, J of a frame; β is among them where it has decimals."""
    return spoken(film(page, "beta")["equations"][at])


def test_the_parts_of_the_bound(model: VAE, drawn: Callable[[int], Tensor]) -> None:
    x = drawn(2)
    with torch.no_grad():
        guess = model.posterior(x).base_dist
    noise = torch.randn(16, 1, 10, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    noise = ((noise - noise.mean(0)) / noise.var(0, correction=0).sqrt()).float()
    sigma = (0.5 * model.decoder_log_var).exp()
    with torch.no_grad():
        z = guess.mean + guess.stddev * noise
        rec = Normal(model.decode(z), sigma).log_prob(x).sum(-1).mean().item()
    kl = kl_divergence(guess, Normal(0.0, 1.0)).sum().item()
    page = opened(a="2", beta=3, seed=5)
    assert film(page, "beta")["at"] == 6
    expected = [rec, -kl, rec - kl, rec, kl, rec - 3 * kl]
    result = parts(page, 6)
    assert [abs(v) for v in result] == pytest.approx([abs(v) for v in expected], abs=6e-3)
    assert (result[2], result[-1]) == pytest.approx((rec - kl, rec - 3 * kl), abs=6e-3)
    bars = figure(page, "costs")[1]
    assert bars["data.0.x"][6] == pytest.approx([-rec, -rec], abs=2e-3)
    assert bars["data.1.x"][6] == pytest.approx([kl, 3 * kl], abs=2e-3)


def test_one_elbo_whatever_beta_is_while_q_stays() -> None:
    page = opened()
    elbos = {parts(page, at)[2] for at in (0, 2, 100)}
    assert len(elbos) == 1
    captions = film(page, "beta")["captions"]
    assert f"the ELBO is {elbos.pop():.2f} nats" in captions[100] and "β-objective" in captions[100]
    assert parts(page, 100)[-1] < parts(page, 2)[-1]


def test_the_best_guess_is_best_at_its_own_beta() -> None:
    """Each objective is highest at the q that was fitted to it, and the ELBO at β = 1 beats the encoder's."""
    page = opened(refit="true")
    bar = film(page, "beta")
    betas = [float(name) for name in bar["names"]]
    results = [[abs(v) for v in parts(page, at)[:2]] for at in range(len(betas))]
    signs = [1 if parts(page, at)[0] > 0 else -1 for at in range(len(betas))]
    fitted = [(sign * rec, kl) for sign, (rec, kl) in zip(signs, results, strict=True)]
    for at, beta in enumerate(betas):
        objectives = [rec - beta * kl for rec, kl in fitted]
        assert objectives[at] >= max(objectives) - 0.15, beta
    kls = [kl for _, kl in fitted]
    assert kls == sorted(kls, reverse=True) and kls[-1] < kls[2] / 3  # the dearer, the less the code says
    one = betas.index(1.0)
    encoders = parts(opened(), 2)[2]
    assert parts(page, one)[2] > encoders
    assert f"The encoder's ELBO is {encoders:.2f}" in bar["captions"][one]


def test_fits_side_by_side_are_the_fits_alone(model: VAE, drawn: Callable[[int], Tensor]) -> None:
    noise = latent.normal_noise(8, 10, 0)
    together = latent.refit(model, drawn(4), [0.5, 7.0], noise, steps=30)
    for row, beta in enumerate((0.5, 7.0)):
        alone = latent.refit(model, drawn(4), beta, noise, steps=30)
        assert all(torch.allclose(t[row], o[0], atol=1e-4) for t, o in zip(together, alone, strict=True))


def test_no_scene_names_a_second_digit() -> None:
    assert all("b" not in scene.values for scene in scenes(opened()).values())
