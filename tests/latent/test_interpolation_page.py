"""Interpolation: the lengths along both walks, and what the page says of them."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from opening import captions, film, open_page, prose, spoken
from scipy.stats import chi2
from streamlit.testing.v1 import AppTest
from torch import Tensor

from lab.lenses import latent
from modules.latent.vae import VAE


def opened(**parameters: Any) -> AppTest:
    return open_page("latent/interpolation", **{"model": "vae-digits", **parameters})


def test_both_walks(model: VAE, drawn: Callable[[int], Tensor]) -> None:
    a, b = (model.encode(drawn(d))[0].detach().double() for d in (3, 8))
    page = opened(a="3", b="8", step=3)
    omega = math.acos((a @ b / a.norm() / b.norm()).item())
    straight = (0.7 * a + 0.3 * b).norm().item()
    arc = ((math.sin(0.7 * omega) * a + math.sin(0.3 * omega) * b) / math.sin(omega)).norm().item()
    result = spoken(film(page)["equations"][3])
    assert result == pytest.approx([0.7, 0.3, straight, 0.7, omega, omega, 0.3, omega, omega, arc], abs=5e-4)
    text = captions(page)
    assert f"of length {a.norm():.3f}" in text and f"of length {b.norm():.3f}" in text
    shares = [chi2.cdf(length**2, df=10) for length in (straight, arc)]
    assert (
        film(page)["captions"][3] == f"t = 0.3: of draws from the prior {shares[0]:.1%} are shorter than the "
        f"line's code, {shares[1]:.1%} than the arc's."
    )


@pytest.mark.parametrize(("a", "b"), [("0", "1"), ("3", "8"), ("0", "box")])
def test_what_is_said_of_the_middle_is_what_the_numbers_say(
    a: str, b: str, model: VAE, drawn: Callable[[int], Tensor]
) -> None:
    page = opened(a=a, b=b)
    straight, arc = (spoken(film(page)["equations"][5])[i] for i in (2, -1))
    words = prose(page)
    for length in (straight, arc):
        assert f"has {length:.2f}, and {chi2.cdf(length**2, df=10):.1%}" in words


def test_the_share_of_shorter_draws_is_counted() -> None:
    draws = torch.randn(200_000, 7, generator=torch.Generator().manual_seed(0)).norm(dim=1)
    for length in (0.5, 2.0, 3.3):
        assert latent.share_shorter(length, 7) == pytest.approx(
            (draws < length).float().mean().item(), abs=4e-3
        )


def test_between_equal_digits_both_walks_are_the_line() -> None:
    page = opened(a="3", b="3")
    assert "both walks are the line" in captions(page)
    assert len(spoken(film(page)["equations"][5])) == 3
