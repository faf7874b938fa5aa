"""The page "Digits out of noise": its pictures, and what its scenes say."""

from functools import partial

import pytest
import torch
from opening import figure, metrics, open_page

from lab import weights
from pages.diffusion.denoise_digit import lens

opened = partial(open_page, "diffusion/denoise_digit")


def test_the_page_shows_the_models_own_samples() -> None:
    page = opened()
    _, arrays = figure(page, "guess")
    assert arrays["data.0.z"].shape == (41, 35, 26)
    model = weights.load("ddpm-digits").eval().requires_grad_(False)
    want = model.sample(12, steps=40, seed=0)[:, 0]  # type: ignore[operator]
    for k, (top, left) in enumerate((9 * (i // 3), 9 * (i % 3)) for i in range(12)):
        seen = torch.tensor(arrays["data.0.z"][40][top : top + 8, left : left + 8])
        assert (seen - want[k]).abs().max() < 0.01
    assert metrics(page)["Calls of the network"] == "40"


def test_what_the_scenes_say() -> None:
    model = weights.load("ddpm-digits").eval().requires_grad_(False)
    run = partial(lens.run, model)
    plain, led = run(3, 0.0, 40, 0.0, 0), run(3, 3.0, 40, 0.0, 0)  # type: ignore[arg-type]
    assert lens.spread(led) < lens.spread(plain)
    each = run(None, 0.0, 40, 0.0, 0)  # type: ignore[arg-type]
    assert torch.allclose(each.noisy[-1], each.guess[-1].clamp(0, 1), atol=1e-5)
    contrast = each.guess.flatten(2).std(2).mean(1)
    first = float((each.guess[1] - each.guess[-1]).abs().mean())
    assert float(contrast[1]) > float(contrast[-1]) and first > 0.3  # black and white nonsense
    off = [(frames[20] - each.guess[-1]).abs().mean() for frames in (each.guess, each.noisy)]
    assert off[0] < off[1]
    assert float(metrics(opened(digit="3", w=3))["Spread among them"]) == pytest.approx(
        lens.spread(led), abs=2e-3
    )
