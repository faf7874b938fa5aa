"""The page "Digits out of noise": its pictures, and what its scenes say."""

from functools import partial
from typing import Any

import pytest
import torch
from opening import figure, film, machine, open_page, prose

from lab import weights
from lab.errors import UserError
from lab.lenses.diffusion import ANY, classes, digits
from modules.diffusion.ddpm import ImageDDPM
from pages.diffusion.denoise_digit import lens

opened = partial(open_page, "diffusion/denoise_digit")


def test_the_page_shows_the_models_own_samples() -> None:
    page = opened()
    _, arrays = figure(page, "prediction")
    assert arrays["data.0.z"].shape == (41, 35, 26)
    model = weights.load("ddpm-digits").eval().requires_grad_(False)
    want = model.sample(12, steps=40, generator=torch.Generator().manual_seed(0))[:, 0]  # type: ignore[operator]
    for k, (top, left) in enumerate((9 * (i // 3), 9 * (i % 3)) for i in range(12)):
        seen = torch.tensor(arrays["data.0.z"][40][top : top + 8, left : left + 8]) / 255
        assert (seen - want[k]).abs().max() < 0.01
    assert machine(page) == {"xt": "t = 0", "net": "call 40 of 40", "x0": "Δ 0.000"}


def test_mnist_has_the_same_room() -> None:
    page = opened(model="ddpm-mnist", S=10)
    _, arrays = figure(page, "prediction")
    assert arrays["data.0.z"].shape == (11, 4 * 29 - 1, 3 * 29 - 1)
    model: Any = weights.load("ddpm-mnist").eval().requires_grad_(False)
    want = model.sample(12, steps=10, generator=torch.Generator().manual_seed(0))[:, 0].clamp(0, 1)
    seen = torch.tensor(arrays["data.0.z"][10][:28, :28]) / 255
    assert (seen - want[0]).abs().max() < 0.01
    network: Any = weights.load("cnn-mnist").eval()
    guided = model.sample(40, steps=20, guidance=1.0, generator=torch.Generator().manual_seed(0))
    assert (network.predict(guided).argmax(1) == torch.arange(40) % 10).float().mean() > 0.9
    each = lens.run(model, None, 0.0, 40, 0.0, 0)  # the strokes come first
    off = [float((frames[25] - each.x0[-1]).abs().mean()) for frames in (each.x0, each.noisy)]
    assert off[0] < 0.5 * off[1]
    page = opened(model="ddpm-mnist", start="a drawing", S=5, drawing28=3, level=300)
    assert "the ends differ from the drawing by 0." in prose(page)


def test_what_the_scenes_say() -> None:
    model = weights.load("ddpm-digits").eval().requires_grad_(False)
    run = partial(lens.run, model)
    plain, led = run(3, 0.0, 40, 0.0, 0), run(3, 3.0, 40, 0.0, 0)  # type: ignore[arg-type]
    assert lens.spread(led) < lens.spread(plain)
    each = run(None, 0.0, 40, 0.0, 0)  # type: ignore[arg-type]
    assert torch.allclose(each.noisy[-1], each.x0[-1].clamp(0, 1), atol=1e-5)
    contrast = each.x0.flatten(2).std(2).mean(1)
    first = float((each.x0[1] - each.x0[-1]).abs().mean())
    assert float(contrast[1]) > float(contrast[-1]) and first > 0.3  # black and white nonsense
    off = [(frames[20] - each.x0[-1]).abs().mean() for frames in (each.x0, each.noisy)]
    assert off[0] < off[1]
    assert f"their pixels spread by {lens.spread(led):.3f}" in prose(opened(digit="3", w=3))


@pytest.mark.parametrize("seed", range(5))
def test_five_steps_give_digits_with_softer_strokes(seed: int) -> None:
    """Each of the class that was asked for, in fewer whites and blacks than after forty steps."""
    model, judge = weights.load("ddpm-digits"), weights.load("cnn-digits")
    few, many = (lens.run(model, None, 0.0, S, 0.0, seed).noisy[-1] for S in (5, 40))  # type: ignore[arg-type]
    right = judge.predict(few[:, None]).argmax(1) == torch.arange(12) % 10  # type: ignore[operator]
    assert int(right.sum()) >= 11
    assert float(few.flatten(1).std(1).mean()) < float(many.flatten(1).std(1).mean())
    assert float((few * (1 - few)).mean()) > 1.05 * float((many * (1 - many)).mean())


def test_a_guess_that_is_not_clipped() -> None:
    """DF-21: at t = T √ᾱ divides the error, and no later step mends it."""
    model, judge = weights.load("ddpm-digits"), weights.load("cnn-digits")
    free, kept = (lens.run(model, None, 0.0, 10, 0.0, 0, clip=clip) for clip in (False, True))  # type: ignore[arg-type]
    assert float(free.x0.abs().max()) > 1000 and float(kept.x0.min()) >= 0 and kept.x0.max() <= 1
    right = [
        float((judge.predict(run.noisy[-1][:, None]).argmax(1) == torch.arange(12) % 10).double().mean())  # type: ignore[operator]
        for run in (free, kept)
    ]
    assert right[0] < 0.5 and right[1] > 0.9
    assert "white and black are 0 and 1" in prose(opened(clip="false", S=5))


def test_a_start_from_a_drawing() -> None:
    """What the noise leaves is kept: the more noise, the further from the drawing."""
    model: Any = weights.load("ddpm-digits").eval().requires_grad_(False)
    three = dict(digits())["3"]
    results = {
        100: lens.run(model, ANY, 0.0, 10, 0.0, 0, three, 100),
        600: lens.run(model, 8, 2.0, 10, 0.0, 0, three, 600),
        1000: lens.run(model, 8, 2.0, 10, 0.0, 0, three, 1000),
    }
    off = [lens.left_of(run, three) for run in results.values()]
    assert off[0] < 0.06 and off[0] < off[1] < off[2]
    assert all(run.times[0] == level and run.times[-1] == 0 for level, run in results.items())
    network: Any = weights.load("cnn-digits").eval()
    named = network.predict(results[600].x0[-1][:, None]).argmax(1)
    assert (named == 8).sum() >= 8
    named = network.predict(results[100].x0[-1][:, None]).argmax(1)
    assert (named == 3).all()
    page = opened(start="a drawing", level=600, digit=8, drawing=3, S=10)
    assert "the ends differ from the drawing by 0." in prose(page)
    assert film(page)["captions"][0].startswith("t = 600")


def test_a_picture_under_noise_has_its_law() -> None:
    model: Any = weights.load("ddpm-digits").eval()
    x = torch.full((4000, 1, 8, 8), 0.75)
    noisy = model.noised(x, 300, torch.Generator().manual_seed(0))
    a = float(model.schedule.alpha_bar[300])
    assert float(noisy.mean()) == pytest.approx(0.5 * a**0.5, abs=0.01)
    assert float(noisy.var()) == pytest.approx(1 - a, rel=0.02)


def test_what_the_scenes_of_mnist_say() -> None:
    model: Any = weights.load("ddpm-mnist").eval().requires_grad_(False)
    run = partial(lens.run, model, S=10, eta=0.0, seed=0)
    plain, led = run(wanted=3, w=0.0), run(wanted=3, w=3.0)
    assert lens.spread(led) < lens.spread(plain)
    kept, free = run(wanted=None, w=0.0), run(wanted=None, w=0.0, clip=False)
    contrast = kept.x0.flatten(2).std(2).mean(1)
    assert contrast[1] > 1.2 * contrast[-1] and float(free.x0.abs().max()) > 100
    judge: Any = weights.load("cnn-mnist")
    right = [
        float((judge.predict(result.noisy[-1][:, None]).argmax(1) == torch.arange(12) % 10).float().mean())
        for result in (free, kept)
    ]
    assert right[0] < 0.5 and right[1] > 0.8


def test_classes_that_a_model_does_not_know_are_named_in_a_sentence() -> None:
    kinds: dict[str, Any] = {"image_shape": (1, 8, 8), "widths": (8,), "heads": 2}
    with torch.random.fork_rng():
        without, three = ImageDDPM(**kinds), ImageDDPM(**kinds, conditional=True, num_classes=3)
    assert classes(without, 4, None, 0.0) is None and classes(three, 4, ANY, 0.0) is None
    assert classes(three, 4, 2, 1.5).tolist() == [2, 2, 2, 2]
    for model, wanted, w, says in (
        (three, ANY, 1.0, "Guidance needs a class"),
        (without, 3, 0.0, "trained without classes"),
        (without, None, 1.0, "trained without classes"),
        (three, 7, 0.0, "the classes 0 to 2"),
    ):
        with pytest.raises(UserError, match=says):
            classes(model, 4, wanted, w)
