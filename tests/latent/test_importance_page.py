"""Importance weights: L_S by another road, its error, and the exact value above it."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from opening import figure, film, open_page, prose, spoken
from streamlit.testing.v1 import AppTest
from torch import Tensor
from torch.distributions import Normal

from lab import weights
from lab.lenses import latent
from lab.ui.models import shelves
from modules.importance import effective_sample_size
from modules.latent.vae import VAE

DRAWS = 10_000


def opened(**parameters: Any) -> AppTest:
    return open_page("latent/importance", **parameters)


@torch.no_grad()
def test_the_bounds(model: VAE, drawn: Callable[[int], Tensor]) -> None:
    x = drawn(2)
    guess = model.posterior(x).base_dist
    sigma = (0.5 * model.decoder_log_var).exp()
    z = guess.mean + guess.stddev * torch.randn(DRAWS, 1, 10, generator=torch.Generator().manual_seed(5))
    log_p = Normal(model.decode(z), sigma).log_prob(x).sum(-1)
    log_w = (log_p + Normal(0, 1).log_prob(z).sum(-1) - guess.log_prob(z).sum(-1))[:, 0].double()
    page = opened(model="vae-digits", a="2", seed=5)
    for at, size in enumerate((1, 2, 5, 10, 20, 50, 100, 500)):
        groups = log_w.view(-1, size).exp().mean(1).log()
        assert spoken(film(page, "s")["equations"][at])[-1] == pytest.approx(groups.mean().item(), abs=2e-3)
        assert f"mean of {DRAWS // size:,} estimates" in film(page, "s")["captions"][at]
    w = (log_w - log_w.max()).exp()
    error = math.sqrt((w**2).sum() / w.sum() ** 2 - 1 / DRAWS)
    assert f"± {error:.2f}" in prose(page)
    shares = figure(page, "estimates")[1]["data.0.y"]
    assert shares.sum(1) == pytest.approx([1.0] * 8, abs=1e-5)


def test_scatter_counts_every_estimate() -> None:
    log_weights = torch.tensor([-4.0, -3.0, -2.0, -1.0])
    result = latent.scatter(log_weights, [1, 2], 3)
    assert result.shares[0].tolist() == [0.5, 0.25, 0.25] or result.shares[0].sum() == 1
    pair = math.log((math.exp(-2) + math.exp(-1)) / 2)
    place = int((result.middles - pair).abs().argmin())
    assert result.shares[1, place] == 0.5 and result.shares.sum() == 2


def test_the_plane_shows_the_exact_evidence() -> None:
    """L_1 < log p(x), which is summed over the plane; L_500 agrees within its error."""
    page = opened(s=500)
    bar = film(page, "s")
    first, last = (spoken(bar["equations"][at]) for at in (0, 7))
    exact = last[-1]
    assert first[-2] < exact and first[-1] == exact
    flat = weights.load("vae2d-mnist")
    pictures, labels = latent.drawn_digits(weights.load("made-mnist"), weights.load("cnn-mnist"), 300)
    x = pictures[labels == 0][:1]
    mean, log_var = flat.encode_parameters(x)
    # another road: importance sampling from a wide proposal around the encoder's answer
    wide = Normal(mean, 2 * (0.5 * log_var).exp())
    torch.manual_seed(0)
    with torch.no_grad():
        z = wide.sample((20_000,))
        log_w = flat.log_likelihood(x, z)[:, 0] + (Normal(0, 1).log_prob(z) - wide.log_prob(z)).sum((1, 2))
    assert exact == pytest.approx((log_w.logsumexp(0) - math.log(20_000)).item(), abs=0.06)
    assert last[-2] < exact + 0.3


@pytest.mark.heavy
@torch.no_grad()
def test_other_proposals_weigh_the_same_integral() -> None:
    """By the plane's exact evidence: all are unbiased, and the prior's draws count least."""
    model = weights.load("vae2d-mnist")
    shelf = latent.examples(*shelves.examples(shelves.kinds(28)[0], 28))
    x = latent.as_input(model, shelf[0][1])
    exact = latent.grid_posterior(model, x).log_evidence
    for proposal in latent.PROPOSALS:
        log_w = latent.importance(model, x, DRAWS, 1, proposal)
        assert latent.weighted_bounds(log_w, [DRAWS])[0] == pytest.approx(
            exact, abs=5 * latent.error(log_w) + 0.02
        )
    by = {p: effective_sample_size(latent.importance(model, x, DRAWS, 1, p)) for p in latent.PROPOSALS}
    assert by["prior"] < by["half of each"] / 2 < by["half of each"] < by["encoder"]


def test_the_proposal_is_chosen_where_its_density_is_known() -> None:
    prior, half = (
        spoken(film(opened(s=500, by=by), "s")["equations"][7])[-2:] for by in ("prior", "half of each")
    )
    assert prior[1] == half[1] and prior[0] < half[0] < half[1] + 0.3
    assert "half of each" not in opened(model="vamp-digits").selectbox(key="by").options
