"""Mixing digits: ends that come back, and the density along both paths."""

import pytest
import torch
from opening import film, open_page, prose

from lab import weights
from lab.lenses import glows
from lab.lenses.glows import digits
from lab.ui.controls import drawing
from lab.ui.models.grey_digits import shelf
from modules.flow.glow import Glow
from pages.flow.image_interpolation import lens


@pytest.fixture(scope="module")
def model() -> Glow:
    return weights.load("glow-digits")


def digit(name: str) -> torch.Tensor:
    return glows.levels(
        drawing.quantise(dict(shelf())[name], 8).float() / drawing.LEVELS
    )  # as the pad has it


def test_the_ends_come_back_and_the_middle_is_the_mean(model: Glow) -> None:
    a, b = digit("3"), digit("9")
    mixed, blend = lens.paths(model, a, b, "linear")
    assert lens.ends(mixed, a, b) < 1e-3 and lens.ends(blend, a, b) < 1e-5
    z = model.encode(torch.cat([a + glows.noise(a), b + glows.noise(b)]))
    middle = model.decode(z.mean(0)[None])
    torch.testing.assert_close(mixed.pictures[5], middle[0, 0])
    assert mixed.radius[5].item() == pytest.approx(z.mean(0).norm().item(), rel=1e-3)
    assert mixed.log_prob[5].item() == pytest.approx(model.log_prob(middle).item(), abs=1e-2)
    arc = lens.paths(model, a, b, "spherical")[0]
    assert arc.radius[5] > mixed.radius[5] + 0.5


def test_the_mix_of_z_scores_above_the_blend_of_pixels(model: Glow) -> None:
    """On most pairs of held-out digits, halfway."""
    x, _ = digits()
    pairs = [lens.paths(model, x[i : i + 1], x[i + 20 : i + 21], "linear") for i in range(20)]
    assert sum(bool(z.log_prob[5] > pixels.log_prob[5]) for z, pixels in pairs) >= 15


def test_an_attribute_starts_at_the_digit(model: Glow) -> None:
    path = lens.attribute(model, digit("3"), *digits(), 3, 9)
    x = digit("3")
    torch.testing.assert_close(path.pictures[5], (x + glows.noise(x))[0, 0], atol=1e-3, rtol=0)


def test_the_page(model: Glow) -> None:
    mixed, blend = lens.paths(model, digit("3"), digit("9"), "linear")
    page = open_page("flow/image_interpolation")
    text = film(page, "t")["captions"][5]
    for path in (mixed, blend):
        assert f"log p {path.log_prob[5]:.1f} nats, ‖z‖ {path.radius[5]:.2f}" in text
    assert f"{mixed.log_prob[5] - blend.log_prob[5]:.1f} nats more for z" in prose(page)
    far = film(open_page("flow/image_interpolation", b="box"), "t")["captions"]
    first, last = (float(text.split("log p ")[1].split()[0]) for text in (far[0], far[-1]))
    assert last < first - 50
