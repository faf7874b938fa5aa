"""Traversal: the KL of a dimension, and the film that moves it."""

from collections.abc import Callable

import pytest
import torch
from opening import equation, figure, film, numbers, open_page, prose
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from modules.latent.vae import VAE


def test_the_kl_of_the_busiest_dimension(
    model: VAE, examples: tuple[Tensor, Tensor], drawn: Callable[[int], Tensor]
) -> None:
    guess = model.posterior(drawn(0)).base_dist
    kl = kl_divergence(guess, Normal(0.0, 1.0))[0]
    everything = model.posterior(examples[0].reshape(-1, 64)).base_dist
    order = kl_divergence(everything, Normal(0.0, 1.0)).mean(0).argsort(descending=True).tolist()
    page = open_page("latent/traversal", model="vae-digits", rows=4)
    variance, square, log_variance, shown = numbers(equation(page))[-4:]
    first = order[0]
    assert rf"\mathrm{{KL}}_{{{first + 1}}}" in equation(page)
    assert variance == pytest.approx(guess.variance[0, first].item(), abs=1e-4)
    assert square == pytest.approx(guess.mean[0, first].item() ** 2, abs=1e-4)
    assert log_variance == pytest.approx(guess.variance[0, first].log().item(), abs=1e-4)
    assert shown == pytest.approx(kl[first].item(), abs=1e-4)
    active = (everything.mean.var(0, correction=0) > 0.01).sum().item()
    assert f"{active} of 10 dimensions are active" in prose(page)
    third = open_page("latent/traversal", model="vae-digits", rows=4, row=3)
    assert rf"\mathrm{{KL}}_{{{order[2] + 1}}}" in equation(third)


@torch.no_grad()
def test_the_film_sets_one_dimension(model: VAE, drawn: Callable[[int], Tensor]) -> None:
    page = open_page("latent/traversal", model="vae-digits", value=-1.5)
    bar = film(page, "value")
    assert bar["names"][bar["at"]] == "-1.5" and bar["count"] == 25
    frames = figure(page, "decoded")[1]["data.0.z"]
    z = model.encode(drawn(0))[0]
    dimension = int(equation(page).partition("KL}_{")[2].partition("}")[0]) - 1
    z[dimension] = -1.5
    moved = model.decode(z[None]).view(8, 8)
    assert torch.allclose(torch.tensor(frames[6]), moved, atol=1e-5)
    change = moved - model.decode(model.encode(drawn(0))).view(8, 8)
    assert torch.allclose(torch.tensor(figure(page, "change")[1]["data.0.z"][6]), change, atol=1e-5)
    assert f"the ink of {(change.abs() > 0.1).sum()} of 64 pixels" in bar["captions"][6]
