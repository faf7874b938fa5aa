"""The page "Super-resolution": its pictures, and what its scenes say."""

from functools import cache, partial

import pytest
import torch
from opening import figure, film, open_page, run_page
from torch import Tensor

from lab import weights
from lab.experiments import find
from lab.lenses import drawing
from modules.adversarial.super_resolution import bicubic, downsample, psnr
from pages.adversarial.super_resolution import lens
from pages.adversarial.super_resolution.room import State

opened = partial(open_page, "adversarial/super_resolution")


@cache
def digit(name: str) -> Tensor:
    """An example as the pad gives it, in 16 levels."""
    return (dict(drawing.examples(lens.SIDE))[name] * 15).round() / 15


@cache
def look_of(name: str) -> lens.Look:
    return lens.look(weights.load(State.model).eval(), digit(name))  # type: ignore[arg-type]


def test_the_page_shows_what_the_networks_make() -> None:
    page, look = opened(digit="8"), look_of("8")
    _, arrays = figure(page, "blends")
    assert arrays["data.0.z"] == pytest.approx(look.blends.numpy(), abs=2e-3)
    assert film(page, "blend")["at"] == lens.STEPS - 1
    low = downsample(digit("8")[None, None], 4)
    of_cubic = psnr(bicubic(low, 4), digit("8")[None, None]).item()
    assert figure(page, "cubic")[0]["figure"]["layout"]["title"]["text"] == f"{lens.CUBIC}, {of_cubic:.2f} dB"
    assert (
        figure(page, "plain")[0]["figure"]["layout"]["title"]["text"]
        == f"{lens.PLAIN}, {look.psnr[0]:.2f} dB"
    )


def test_what_is_wrong_adds_up_to_the_psnr() -> None:
    off = lens.errors(look_of("5"))
    power = off.blends.square().mean((1, 2))
    torch.testing.assert_close(-10 * power.log10(), look_of("5").psnr)
    _, arrays = figure(opened(digit="5", wrong="true"), "blends")
    assert arrays["data.0.z"] == pytest.approx(off.blends.numpy(), abs=2e-3)


def test_the_ends_of_the_film_are_the_two_networks() -> None:
    model = weights.load(State.model).eval()
    low = downsample(digit("5")[None, None], 4)
    with torch.no_grad():
        torch.testing.assert_close(look_of("5").plain, model.plain(low).clamp(0, 1)[0, 0])  # type: ignore[operator]
        torch.testing.assert_close(look_of("5").blends[-1], model.generator(low).clamp(0, 1)[0, 0])  # type: ignore[operator]


def test_what_the_scenes_say() -> None:
    nought, half = look_of("0"), lens.STEPS // 2
    assert nought.sharpness[0] < nought.sharpness[half] < nought.sharpness[-1]
    assert nought.psnr[0] > nought.psnr[half] > nought.psnr[-1]
    assert nought.psnr.max() - nought.psnr[0] < 0.25 and nought.sharpness[0] < nought.sharpness[-1]
    eight = look_of("8").psnr
    assert eight[6] > max(eight[0], eight[-1])
    nine = look_of("9")
    assert nine.of_cubic[0] < nine.psnr.min() and nine.of_cubic[1] < nine.sharpness.min()


@pytest.mark.parametrize("name", "0123456789")
def test_the_game_is_sharper_whatever_the_digit(name: str) -> None:
    look = look_of(name)
    assert look.of_cubic[1] < look.sharpness[0] < look.sharpness[-1]


def test_on_test_digits_the_game_is_sharper_and_further_away() -> None:
    card = find(State.model).card
    assert card is not None
    of = card["metrics"]
    assert of["test/psnr_bicubic"] < of["test/psnr"] < of["test/psnr_plain"]
    assert of["test/energy_plain"] < of["test/energy"] < 1
    assert of["test/acc"] > 0.9  # of the classifier whose activations are compared: it is a trained one


def test_nothing_drawn_and_nonsense_in_the_link() -> None:
    assert not run_page("adversarial/super_resolution", digit="ink.").exception
    blank = run_page("adversarial/super_resolution", digit="🦊", blend="-3")
    assert not blank.exception
