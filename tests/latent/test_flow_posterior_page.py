"""Better posterior: known evidences and gaps, the flow below the Gaussians, own targets."""

import math
from collections import deque

import pytest
import torch
from opening import figure, film, open_page, open_warned, prose, spoken, warnings

from pages.latent.flow_posterior import lens


def test_the_diagonal_gap() -> None:
    """FL-O40: log p = −1.526755, ρ = −11.1111/12.1111, gap .921568."""
    page = open_page("latent/flow_posterior")
    bar = film(page)
    elbo, log_p = spoken(bar["equations"][-1])
    assert log_p == pytest.approx(-1.526755, abs=6e-4)
    assert log_p - elbo == pytest.approx(0.921568, abs=0.05)
    assert "correlation is -0.917" in prose(page) and pytest.approx(0.917, abs=5e-4) == 11.1111 / 12.1111
    assert figure(page, "plane")[1]["data.1.x"].shape == (bar["count"], lens.SHOWN)
    first = spoken(bar["equations"][0])[0]
    assert first < elbo


def test_a_full_gaussian_closes_it() -> None:
    bar = film(open_page("latent/flow_posterior", kind="full"))
    elbo, log_p = spoken(bar["equations"][-1])
    assert log_p - elbo == pytest.approx(0.0, abs=5e-3)


def test_one_of_two_modes() -> None:
    toy = lens.target(lens.FORMS["two modes"], 1.5, 0.3)
    ((_, result),) = deque(lens.training(toy, "diagonal", 1, False, 0), maxlen=1)
    assert result.gap == pytest.approx(math.log(2), abs=0.05)
    left = float((result.draws[-1][:, 0] < 0).float().mean())
    assert min(left, 1 - left) < 0.01


def test_a_flow_follows_the_bend(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short training of one layer already beats the best Gaussians, which keep 0.9 nats."""
    monkeypatch.setitem(lens.STEPS, "flow", 160)
    toy = lens.target(lens.FORMS["banana"], 0.5, 0.3)
    before = torch.get_rng_state()
    ((share, result),) = deque(lens.training(toy, "flow", 1, False, 0), maxlen=1)
    assert torch.equal(before, torch.get_rng_state())
    assert share == 1.0 and -0.05 < result.gap < 0.7
    assert result.layers.shape[1:] == (lens.SHOWN, 2)
    torch.testing.assert_close(result.layers[-1], result.draws[-1])
    assert len(lens.sentences(result, True)) == len(result.layers)


def test_the_exact_posterior() -> None:
    for name, form in lens.FORMS.items():
        density = lens.exact(lens.target(form, lens.observation(name), 0.3))
        cell = (2 * lens.REACH / lens.CELLS) ** 2
        assert float(density.sum()) * cell == pytest.approx(1.0)
    assert lens.correlation(lens.target([0.0, 1.0], 1.0, 0.3)) == pytest.approx(0.0, abs=1e-9)


def test_layers_as_a_film_and_own_targets() -> None:
    page = open_page("latent/flow_posterior", kind="full", show="layers")
    assert film(page, "layer")["count"] == 2
    page = open_warned("latent/flow_posterior", target="own", g="-1 0 0 1 eins 1")
    assert "“eins” is left out" in warnings(page) and film(page)["count"] == lens.FRAMES + 1
