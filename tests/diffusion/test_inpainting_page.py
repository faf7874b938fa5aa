"""The page "Inpainting": DF-O29 on the page, completions, and what its scenes say."""

from collections import deque
from functools import cache, partial
from typing import Any

import pytest
import torch
from opening import figure, film, open_page, open_warned, prose

from lab import weights
from lab.lenses.diffusion import digits
from pages.diffusion.inpainting import lens, room

opened = partial(open_page, "diffusion/inpainting")


@pytest.mark.parametrize(
    ("r", "mean", "variance"),
    [(1, 0.496157, 0.498160), (2, 0.628214, 0.429551), (5, 0.731501, 0.386819), (10, 0.766658, 0.373385),
     (20, 0.783340, 0.366923), (50, 0.792958, 0.363104)],
)  # fmt: skip
def test_the_toys_table(r: int, mean: float, variance: float) -> None:
    result = toy()
    at = room.PASSES.index(r)
    assert (float(result.mean[at]), float(result.variance[at])) == pytest.approx((mean, variance), abs=1e-6)
    assert result.exact == pytest.approx((0.8, 0.36))


@cache
def toy() -> lens.Toy:
    return lens.toy(0.8, 1.0)


def test_the_toys_scenes() -> None:
    assert lens.toy(0.0, 1.0).mean.abs().max() < 1e-12
    assert lens.landed(toy(), 0) == lens.LANDED[0] and lens.landed(toy(), 5) == lens.LANDED[1]
    page = opened(view="Gaussian", passes=50)
    bar = film(page, "passes")
    assert bar["at"] == 5 and "mean 0.7930 and variance 0.3631" in bar["captions"][5]
    _, arrays = figure(page, "bells")
    area = arrays["data.1.y"].sum(1) * 2 * lens.REACH / (lens.POINTS - 1)
    assert area == pytest.approx(1, abs=0.01)


@cache
def completed(digit: str, missing: str, passes: int, steps: int = 10) -> lens.Completion:
    model = weights.load("ddpm-digits").eval().requires_grad_(False)
    work = lens.complete(model, picture(digit), dict(lens.masks(8))[missing], steps, passes, 0)  # type: ignore[arg-type]
    ((_, result),) = deque(work, maxlen=1)
    return result


@cache
def picture(digit: str) -> torch.Tensor:
    return dict(digits())[digit]


def same(digit: str, missing: str, passes: int) -> tuple[int, torch.Tensor]:
    network: Any = weights.load("cnn-digits").eval()
    named, votes = lens.judged(network, completed(digit, missing, passes))
    assert named == int(digit)
    return int(votes[named]), votes


def test_known_pixels_stay_and_the_rest_is_drawn() -> None:
    result, hole = completed("2", "middle", 1), dict(lens.masks(8))["middle"] >= 0.5
    assert result.off == 0 and (result.noisy[-1][:, ~hole] == picture("2")[~hole]).all()
    assert float(result.noisy[-1][:, hole].std(0).mean()) > 0.05
    assert result.times[0] == 1000 and result.times[-1] == 0 and result.noisy.shape == (11, 12, 8, 8)
    assert (completed("2", "none", 1).noisy[-1] == picture("2")).all()


def test_what_the_scenes_say() -> None:
    many, once = (same("2", "middle", r)[0] for r in (10, 1))
    assert many > once
    assert (same("3", "lower", 10)[1] > 0).sum() >= 2
    assert same("2", "dots", 10)[0] >= 10
    assert (same("2", "all", 1)[1] > 0).sum() >= 5


def test_the_page() -> None:
    page = opened(r=1)
    assert "16 of 64 pixels are missing, and the known ones are off by 0 at the end" in prose(page)
    assert lens.numbers(completed("2", "middle", 5), 5)[-1] == {"xt": "t = 0", "net": "call 46"}
    _, arrays = figure(page, "noisy")
    result = torch.tensor(arrays["data.0.z"][-1][:8, :8])
    want = lens.marked(completed("2", "middle", 1).noisy[-1], dict(lens.masks(8))["middle"])[0]
    assert (result - want).abs().max() < 0.05  # the pad knows sixteen greys
    assert "and 12 of the 12 completions too" in prose(opened(missing="none", r=1))


def test_the_poster_has_the_pixels_of_mnist() -> None:
    page = opened(scene="Inpainting")
    _, arrays = figure(page, "noisy")
    assert arrays["data.0.z"].shape == (11, 4 * 29 - 1, 3 * 29 - 1) and film(page)["at"] == 7
    hole = dict(lens.masks(28))["middle"] >= 0.5
    first = torch.tensor(arrays["data.0.z"][7][:28, :28])
    assert float(first[~hole].min()) >= 0 >= float(first[hole].max())  # two colours: given, and drawn
    assert "cnn-mnist calls your whole digit 2" in prose(page)


def test_a_broken_drawing_is_named() -> None:
    assert open_warned("diffusion/inpainting", missing="ink.🦊", r=1)
