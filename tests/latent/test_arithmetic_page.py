"""Arithmetic: the sum of codes, and the examples nearest to it."""

from collections.abc import Callable

import pytest
from opening import figure, film, open_page, prose, spoken
from torch import Tensor

from modules.latent.vae import VAE


def test_the_sum_and_its_neighbours(
    model: VAE, examples: tuple[Tensor, Tensor], drawn: Callable[[int], Tensor]
) -> None:
    pictures, labels = examples
    codes = model.encode(pictures.reshape(-1, 64)).detach()
    arrow = codes[labels == 9].mean(0) - codes[labels == 4].mean(0)
    z = model.encode(drawn(0))[0].detach()
    page = open_page("latent/arithmetic", model="vae-digits", minus=4, plus=9, strength=0.5)
    bar = film(page, "strength")
    assert bar["names"][bar["at"]] == "0.5" and bar["at"] == 6
    total = z + 0.5 * arrow
    expected = [*z[:2].tolist(), 0.5, *arrow[:2].tolist(), *total[:2].tolist()]
    assert spoken(bar["equations"][6]) == pytest.approx(expected, abs=0.006)
    assert f"has length {arrow.norm():.3f}" in prose(page)
    distance, index = (codes - total).norm(dim=1).sort()
    text = figure(page, "nearest")[0]["texts"]
    near = [f"a {labels[i]} at {d:.2f}" for d, i in zip(distance[:6], index[:6], strict=True)]
    assert [text[f"layout.annotations.{i}.text"][6] for i in range(6)] == near
    assert ", ".join(str(labels[i].item()) for i in index[:6]) in bar["captions"][6]


def test_what_is_said_of_the_arrow_is_where_it_leads() -> None:
    page = open_page("latent/arithmetic", model="vae-digits", minus=0, plus=6)
    captions = film(page, "strength")["captions"]
    reached = [f"{-1 + 0.25 * i:g}" for i, c in enumerate(captions) if "classes 6" in c]
    sentence = f"is of class 6 at s = {', '.join(reached)}." if reached else "Nowhere along it"
    assert sentence in prose(page)
