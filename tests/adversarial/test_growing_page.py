"""The page "Growing": the fade of a trained game, the growth as it goes, and what its scenes say."""

import copy
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import torch
from opening import figure, film, open_page, run_page, scenes
from torch import Tensor

from lab import weights
from modules.adversarial.growing import ProgressiveGAN, halve, up
from pages.adversarial.growing import figures, lens, levels
from pages.adversarial.growing.room import ALPHAS, MNIST, NAME, PHASES


def model() -> ProgressiveGAN:
    return weights.load(NAME)  # type: ignore[return-value]


@cache
def fade_of(seed: int = 0) -> lens.Fade:
    return lens.fade(model(), seed, 8)


@cache
def looks(phase: int) -> list[lens.Look]:
    *_, (share, seen) = lens.playing(phase, 0)
    assert share == 1
    return seen


def small(seed: int = 0) -> Tensor:
    """What the model makes at 4 × 4, in [0, 1], on its own."""
    alone = copy.deepcopy(model())
    alone.set_level(0)
    z = alone.noise(lens.DRAWN, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        return (alone.averaged(z) + 1) / 2


@pytest.mark.parametrize("seed", [0, 1, 999])
def test_growing_changes_nothing_at_first(seed: int) -> None:
    assert fade_of(seed).same == (0.0, 0.0)
    assert torch.equal(fade_of(seed).pictures[0], up(small(seed))[: lens.SHEET, 0])
    assert fade_of(seed).detail[0] == fade_of(seed).content[0] == 0


def test_the_end_of_the_fade_is_what_the_model_makes() -> None:
    z = model().noise(lens.DRAWN, torch.Generator().manual_seed(0))
    with torch.no_grad():
        x = model().decode(z)
    assert torch.equal(fade_of().pictures[-1], x[: lens.SHEET, 0])
    assert fade_of().detail[-1] == pytest.approx(float((x - up(small())).square().mean().sqrt()))
    assert fade_of().content[-1] == pytest.approx(float((halve(x) - small()).square().mean().sqrt()))
    assert fade_of().content[-1] < fade_of().detail[-1]  # the mean of four changes less than the four


def test_a_pixel_is_what_its_equation_says() -> None:
    old, new = fade_of().ways
    for alpha, pictures in zip(ALPHAS, fade_of().pictures, strict=True):
        ink = (1 + torch.tensor((1 - alpha) * old + alpha * new).tanh()) / 2
        torch.testing.assert_close(pictures[0, 4, 4], ink, atol=1e-5, rtol=0)


@pytest.mark.parametrize("side", [8, 16, 32])
def test_every_growth_of_mnist_changes_nothing_at_first(side: int) -> None:
    grown = lens.fade(weights.load(MNIST), 0, side)  # type: ignore[arg-type]
    assert grown.same == (0.0, 0.0) and grown.detail[0] == 0
    assert grown.pictures.shape == (len(ALPHAS), lens.SHEET, side, side)
    assert torch.equal(grown.pictures[0], up(halve(grown.pictures[0][:, None]))[:, 0])


@cache
def through(name: str) -> levels.Levels:
    return levels.through(weights.load(name), 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [NAME, MNIST])
def test_levels_are_what_the_game_makes_there(name: str) -> None:
    game, result = weights.load(name), through(name)
    z = game.noise(lens.DRAWN, torch.Generator().manual_seed(0))
    for level, side in enumerate(lens.sides(game)):  # type: ignore[arg-type]
        frame = result.places.index(level)
        x = lens.inked(lens.at(game.ema_generator(), level, 1.0)(z[: lens.SHEET]))
        assert x.shape[-1] == side == result.sides[frame]
        torch.testing.assert_close(result.pictures[frame], levels.grown(x, result.pictures.shape[-1])[:, 0])
    half = result.places.index(0.5)
    assert result.sides[half] == 8 and result.alpha(half) == 0.5 and result.alpha(0) == 1
    assert result.there[-1] == pytest.approx(1) and result.room[-1] == pytest.approx(1)
    # block means are the projection on pictures of so few pixels: none of these is nearer
    assert all(there <= room + 1e-6 for there, room in zip(result.there, result.room, strict=True))


def test_what_the_scenes_of_the_levels_say() -> None:
    result = through(MNIST)
    assert result.sides[0] == 4 and result.sides[-1] == 32
    rests = [result.places.index(level) for level in range(4)]
    there = [result.there[i] for i in rests]
    assert there == sorted(there)
    assert 0.9 * result.room[rests[2]] < there[2] < result.room[rests[2]]
    assert there[1] < 0.9 * result.room[rests[1]]
    *before, last = (
        lens.fade(weights.load(MNIST), 0, side)  # type: ignore[arg-type]
        for side in (8, 16, 32)
    )
    assert all(last.content[-1] < one.content[-1] / 2 and last.detail[-1] < one.detail[-1] for one in before)
    small, large = last.pictures[0][:, None], last.pictures[-1][:, None]
    moved = (halve(large) - halve(small)).abs()
    assert (moved < 0.05).double().mean() > 0.5


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_strokes_are_in_place_at_16_pixels_for_other_seeds_too(seed: int) -> None:
    result = levels.through(weights.load(MNIST), seed)  # type: ignore[arg-type]
    at = result.places.index(2)
    assert 0.9 * result.room[at] < result.there[at] < result.room[at]


def test_a_row_holds_all_levels_of_a_z_so_far() -> None:
    """Two levels of 8 × 8 pixels, four columns: two draws in a row, two pictures each."""
    result = through(NAME)
    sheets = figures.growth(result)["data"][0]["z"].values
    pitch = 8 + 1
    for frame, place in enumerate(result.places):
        for draw in range(2 * figures.ROWS):
            row, block = divmod(draw, 2)
            top, left = row * pitch, 2 * block * pitch
            first, last = (
                sheets[frame, top : top + 8, left + i * pitch : left + i * pitch + 8] for i in (0, 1)
            )
            if place == 0:
                assert np.isnan(last).all()
            else:
                assert np.allclose(last, result.pictures[frame, draw])
            assert np.allclose(first, result.pictures[0, draw])
    blend = figures.blend(fade_of().pictures)["data"][0]["z"].values
    for i, picture in enumerate(
        (fade_of().pictures[0, 3], fade_of().pictures[5, 3], fade_of().pictures[-1, 3])
    ):
        left = (3 + i) * pitch  # the fourth draw is the second of its row
        assert np.allclose(blend[5, pitch : pitch + 8, left : left + 8], picture)


def test_answers() -> None:
    assert [lens.much(value) for value in (None, -1.0, 0.49, 0.5, 0.8, 0.81)] == [
        *[lens.OPTIONS[0]] * 3, *[lens.OPTIONS[1]] * 2, lens.OPTIONS[2]
    ]  # fmt: skip


def test_readers_share_a_model_that_stays_as_it_is() -> None:
    shared = model()
    shared.set_level(1, 1.0)
    lens.fade(shared, 0, 8)
    assert (shared.averaged.level, shared.averaged.alpha) == (1, 1.0)
    assert (shared.discriminator.level, shared.discriminator.alpha) == (1, 1.0)


def test_correlation() -> None:
    x = torch.randn(50, 1, 4, 4, generator=torch.Generator().manual_seed(0))
    assert lens.correlation(x, 3 * x + 7) == pytest.approx(1)
    assert lens.correlation(x, -x) == pytest.approx(-1)
    assert abs(lens.correlation(x, x.roll(1, 0))) < 0.15
    assert lens.correlation(torch.zeros(5, 3), x[:5, 0, 0, :3]) == 0


def test_a_short_growth() -> None:
    result = looks(10)
    assert [one.turns for one in result] == list(range(41))
    assert [one.level for one in result] == [0] * 10 + [1] * 31
    assert [one.alpha for one in result[10:]] == pytest.approx([min(1.0, i / 10) for i in range(31)])
    assert all(one.kept is None for one in result[:10]) and result[10].kept == pytest.approx(1)
    for one in result[:11]:  # each pixel four times: at α = 0 too
        assert torch.equal(one.pictures, up(halve(one.pictures[:, None]))[:, 0])
    assert not torch.equal(result[12].pictures, up(halve(result[12].pictures[:, None]))[:, 0])


def test_what_the_scenes_of_the_fade_say() -> None:
    half = ALPHAS.index(0.5)
    shown = lens.fade(weights.load(MNIST), 0, 16)  # type: ignore[arg-type]
    assert fade_of().same == shown.same == (0.0, 0.0)
    ends = fade_of().pictures[0], fade_of().pictures[-1]
    low, high = torch.minimum(*ends), torch.maximum(*ends)
    now = fade_of().pictures[half]
    assert bool(((now >= low - 1e-6) & (now <= high + 1e-6)).all())
    assert fade_of().detail == sorted(fade_of().detail)
    last = fade_of().pictures[-1]
    assert not torch.equal(last, up(halve(last[:, None]))[:, 0])


@pytest.mark.heavy
def test_what_the_scene_of_the_growth_says() -> None:
    """From look to look the content drifts, never jumps; finer pixels bring the pictures nearer to digits."""
    result = looks(PHASES[1])
    assert result[-1].turns == 800
    fading = [one for one in result if one.level and one.turns <= 400]
    texts = [one.kept or 0.0 for one in result if one.level]
    assert texts[0] == pytest.approx(1) and texts[10] > 0.5
    assert max(abs(b - a) for a, b in pairwise(texts)) < 0.12
    assert fading[-1].alpha == 1 and fading[-1].distance < fading[0].distance / 2


def test_the_page() -> None:
    page = open_page("adversarial/growing")
    assert film(page, "alpha")["captions"] == lens.fade_captions(fade_of())
    _, arrays = figure(page, "sheet")
    assert len(arrays["data.0.z"]) == len(ALPHAS)
    assert "at α = 0 changes a pixel by 0 and D's answer by 0," in " ".join(
        each.value for each in page.markdown
    )
    assert 2 <= len(scenes(page)) <= 9
    assert film(open_page("adversarial/growing", alpha="0.5"), "alpha")["at"] == ALPHAS.index(0.5)


def test_the_page_of_the_levels() -> None:
    page = open_page("adversarial/growing", view="Levels")
    assert film(page, "place")["captions"] == levels.captions(through(MNIST))
    _, arrays = figure(page, "sheet")
    assert len(arrays["data.0.z"]) == len(levels.places(4)) == 13
    small = open_page("adversarial/growing", view="Levels", model=NAME)
    assert film(small, "place")["captions"] == levels.captions(through(NAME))
    fade = open_page("adversarial/growing", model=MNIST, side="16", alpha="1")
    _, arrays = figure(fade, "sheet")
    assert arrays["data.0.z"].nbytes < 2e6
    assert film(fade, "alpha")["captions"] == lens.fade_captions(
        lens.fade(weights.load(MNIST), 0, 16)  # type: ignore[arg-type]
    )


def test_nonsense_in_the_link() -> None:
    for link in ({"alpha": "🦊"}, {"view": "x", "seed": "-1"}, {"view": "Training", "phase": "1e9"},
                 {"side": "7", "model": "progressive-cats"}, {"view": "Levels", "place": "nan"}):  # fmt: skip
        assert not run_page("adversarial/growing", **link).exception
