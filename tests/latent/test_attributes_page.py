"""Attribute grid: axes by hand, the lattice of a linear model, MAP codes, and what the scenes say."""

import pytest
import torch
from opening import equation, figure, film, numbers, open_page, open_warned, spoken
from torch import Tensor

from datamodules.sprites import everything
from lab import ui, weights
from lab.ui.models import shelves
from modules.latent.vae import VAE
from pages.latent.attributes import figures, lens

START = "factorvae-sprites"


@pytest.fixture(scope="module")
def sprites() -> VAE:
    return weights.load(START).requires_grad_(False)


@pytest.fixture(scope="module")
def axes(sprites: VAE) -> dict[str, Tensor]:
    pictures, has = lens.sprite_attributes()
    return lens.axes(sprites, lens.latent.as_input(sprites, pictures), has)


def test_models_of_sprites_and_of_digits_are_offered() -> None:
    assert {START, "vae-mnist", "vae-digits", "vae2d-mnist"} <= set(ui.trained("latent", lens.fits))


def test_an_axis_is_a_difference_of_means(sprites: VAE, axes: dict[str, Tensor]) -> None:
    x, factors = everything()
    z = sprites.encode(x)
    right = factors[:, 3] > 3
    expected = z[right].mean(0) - z[~right].mean(0)
    assert torch.allclose(axes["right"], expected, atol=1e-5)
    assert lens.cosine(axes["right"], axes["down"]) == pytest.approx(
        float(torch.cosine_similarity(axes["right"], axes["down"], dim=0)), abs=1e-6
    )


def test_lean_width_and_ink_of_known_strokes() -> None:
    upright, slanted, bar = torch.zeros(3, 8, 8)
    upright[1:7, 3] = 1
    for i in range(6):
        slanted[6 - i, 1 + i] = 1
    bar[3, 1:7] = 1
    ink, width, lean = lens.lean(torch.stack([upright, slanted, bar]))
    assert ink.tolist() == [6, 6, 6] and width[0] < 1e-3 < width[1]
    assert lean.tolist() == pytest.approx([0, 1, 0], abs=1e-4)
    assert width[2] == pytest.approx((35 / 12) ** 0.5, rel=1e-4)


class Same(torch.nn.Module):
    """A code that is the picture."""

    event_shape, latent_dim = (16,), 16

    def encode(self, x: Tensor) -> Tensor:
        return x.reshape(len(x), -1)

    def decode(self, z: Tensor) -> Tensor:
        return z


def test_a_perfect_code_gives_back_every_step_and_its_shadow_on_the_other() -> None:
    a, b = torch.zeros(2, 16)
    a[0], b[0], b[1] = 2.0, 1.0, 1.0
    grid = lens.grid(Same(), torch.randn(16), a, b)  # type: ignore[arg-type]
    assert torch.allclose(grid.slopes(4), torch.tensor([[1.0, 0.5], [1.0, 1.0]]), atol=1e-5)
    assert torch.allclose(grid.read[0], torch.zeros(5, 5, 2), atol=1e-6)
    x, y = figures.lines(grid.planned)
    assert x.shape == y.shape == (len(lens.STRENGTHS), 60)


def test_what_the_scenes_say(sprites: VAE, axes: dict[str, Tensor]) -> None:
    z = sprites.encode(lens.examples()[0][1][None])[0]
    alone = lens.grid(sprites, z, axes["right"], axes["down"])
    slopes = alone.slopes(4)
    assert slopes.diagonal().min() > 0.5 and slopes.flatten()[1:3].abs().max() < 0.15
    assert alone.slopes(8).diagonal().max() < slopes.diagonal().min()  # less comes back from afar
    moved = lens.sprites.motions(alone.pictures[4])
    assert (moved[:, 0] > 2 * moved[:, 1]).all()
    assert lens.cosine(axes["large"], axes["ell"]) > 0.8 and lens.cosine(axes["wedge"], axes["large"]) < -0.8


def test_what_the_scenes_say_of_digits() -> None:
    model = weights.load("vae-mnist").requires_grad_(False)
    pictures, labels = shelves.examples(shelves.DRAWN, 28)
    x = lens.latent.as_input(model, pictures[labels == 3][0])
    mean, best = (lens.code(model, x, one) for one in (False, True))
    assert lens.joint(model, x, best) > lens.joint(model, x, mean) + 5
    axes = lens.axes(model, lens.latent.as_input(model, pictures), lens.digit_attributes(pictures, labels))
    grid = lens.grid(model, mean, axes["bold"], axes["leaning"])
    ink, _, slant = (part.reshape(5, 5) for part in lens.lean(grid.pictures[4].flatten(0, 1)))
    assert (ink.diff(dim=1) > 0).all() and (slant[-1] > slant[0]).all()


def test_the_lattice_and_the_equations_on_the_page(sprites: VAE, axes: dict[str, Tensor]) -> None:
    page = open_page("latent/attributes", a="large", b="ell", s=1.5)
    bar, (_, frames) = film(page, "s"), figure(page, "lattice")
    assert bar["names"][bar["at"]] == "1.5" and bar["at"] == 6
    a, b = axes["large"], axes["ell"]
    cos = lens.cosine(a, b)
    expected = [1.5, cos, float(a.norm()), float(b.norm())]
    assert spoken(bar["equations"][6]) == pytest.approx(expected, abs=6e-3)
    z = sprites.encode((lens.examples()[0][1][None] * 15).round() / 15)[0]
    again = lens.latent.codes(sprites, sprites.decode((z - 1.5 * a - 1.5 * b)[None]))[0] - z
    corner = [float(again @ axis / axis.square().sum()) for axis in (a, b)]
    assert [frames["data.1.x"][6][0], frames["data.1.y"][6][0]] == pytest.approx(corner, abs=1e-4)


def test_a_better_code_is_said_to_be_better() -> None:
    page = open_page("latent/attributes", code="MAP", model="vae-digits", digit="8", a="a 6", b="bold")
    mean, best = numbers(equation(page))
    assert best > mean
    assert "a 6" in film(page, "s")["captions"][3]


def test_own_drawing_and_bad_ones() -> None:
    ring = figure(open_page("latent/attributes", sprite="ring"), "grid")[1]["data.0.z"]
    assert ring.shape[0] == len(lens.STRENGTHS)
    assert "cannot be read" in open_warned("latent/attributes", sprite="ink.!!").warning[0].value
    assert "b is one of" in open_warned("latent/attributes", a="down", b="down").warning[0].value
