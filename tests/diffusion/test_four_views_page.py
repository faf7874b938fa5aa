"""The page "Four views of one prediction": its conversions, what an error becomes, what its scenes say."""

from functools import cache, partial

import pytest
import torch
from opening import figure, film, metrics, open_page, prose
from torch import Tensor

from lab import weights
from lab.lenses.diffusion import digits
from lab.lenses.precision import double
from modules.diffusion import parameterisation
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from pages.diffusion.four_views import lens, room

opened = partial(open_page, "diffusion/four_views")
PLACE = (1.2, 0.3)


@cache
def model(source: str = room.EXACT) -> GaussianDiffusion:
    return double(weights.load("ddpm-digits" if source == room.DIGIT else "ddpm-eight"))  # type: ignore[arg-type]


@cache
def four_views(
    source: str = room.EXACT, place: tuple[float, float] = PLACE, kind: parameterisation.Kind = "eps",
    error: float = 0.0,
) -> lens.Views:  # fmt: skip
    result = model(source)
    drawn = digits()[0][1] if source == room.DIGIT else None
    x = lens.start(result, place, drawn)
    return lens.views(lens.predictor(source, result), result.schedule, x, kind, error)


def at(views: lens.Views, kind: parameterisation.Kind, t: int) -> Tensor:
    return views.predictions[kind][views.times.index(t)]


def off(views: lens.Views, usual: lens.Views, kind: parameterisation.Kind, t: int) -> float:
    return float((at(views, kind, t) - at(usual, kind, t)).square().mean().sqrt())


def alike(a: Tensor, b: Tensor) -> float:
    return float(torch.corrcoef(torch.stack([a.flatten(), b.flatten()]))[0, 1])


@pytest.mark.parametrize("source", room.SOURCES)
def test_the_four_are_one(source: str) -> None:
    """x_t is made of x̂_0 and ε̂; v̂ stands across it; the score is ε̂ over −√(1−ᾱ): by the formulas alone."""
    result, a = four_views(source), model(source).schedule.alpha_bar[torch.tensor(four_views(source).times)]
    a, b = (v.reshape(-1, *[1] * (result.x.ndim - 1)) for v in (a.sqrt(), (1 - a).sqrt()))
    eps, x0 = result.predictions["eps"], result.predictions["x0"]
    assert torch.allclose(a * x0 + b * eps, result.x, atol=1e-12)
    assert torch.allclose(result.predictions["v"], a * eps - b * x0, atol=1e-9)
    assert torch.allclose(result.predictions["score"], -eps / b, rtol=1e-12)
    assert result.lost < 1e-12


def test_the_exact_score_is_the_slope_of_log_p() -> None:
    from modules.diffusion import exact

    mixture = exact.eight(3 / model().scale, 0.25 / model().scale)
    for t in (26, 501):
        x = torch.tensor([PLACE], dtype=torch.float64, requires_grad=True)
        mixture.log_prob(x, model().schedule.alpha_bar[t]).sum().backward()
        assert x.grad is not None
        assert torch.allclose(at(four_views(), "score", t), x.grad[0], rtol=1e-9)


@pytest.mark.parametrize("kind", lens.KINDS)
def test_an_error_grows_as_the_curves_say(kind: parameterisation.Kind) -> None:
    usual, wrong = four_views(), four_views(kind=kind, error=0.2)
    schedule = model().schedule
    for target in ("x0", "eps"):
        grown = lens.gain(schedule, kind, target)
        for t in (1, 251, 950):
            i = usual.times.index(t)
            put = off(wrong, usual, kind, t)
            assert off(wrong, usual, target, t) == pytest.approx(float(grown[i]) * put, rel=1e-6)


def test_gains_by_hand() -> None:
    schedule = model().schedule
    a = schedule.alpha_bar[torch.tensor(lens.times(schedule))]
    one = torch.ones_like(a)
    into_clean = {"eps": (1 / a - 1).sqrt(), "x0": one, "v": (1 - a).sqrt(), "score": (1 - a) / a.sqrt()}
    into_noise = {"eps": one, "x0": (a / (1 - a)).sqrt(), "v": a.sqrt(), "score": (1 - a).sqrt()}
    for target, wanted in (("x0", into_clean), ("eps", into_noise)):
        for kind in lens.KINDS:
            assert torch.allclose(lens.gain(schedule, kind, target), wanted[kind], rtol=1e-9)  # type: ignore[arg-type]
        assert bool((lens.gain(schedule, "v", target) <= 1).all())  # type: ignore[arg-type]


def test_what_is_shown() -> None:
    page = opened(t=26, kind="x̂₀", seen="ε̂")
    shown, arrays = figure(page, "arrows")
    tip = at(four_views(), "x0", 26)
    trace = next(i for i, line in enumerate(shown["figure"]["data"]) if line.get("name") == "x̂₀")
    assert [arrays[f"data.{trace}.{axis}"][1][1] for axis in "xy"] == pytest.approx(tip.tolist(), abs=1e-5)
    assert [arrays[f"data.{trace}.{axis}"][1][0] for axis in "xy"] == [0, 0]
    bar = film(page, "t")
    assert bar["at"] == 1 and bar["count"] == 41 and "t = 26:" in bar["captions"][1]
    grown = float(lens.gain(model().schedule, "x0", "eps")[1])
    assert float(metrics(page)["1 off in x̂₀ is, in ε̂"]) == pytest.approx(grown, rel=6e-3)
    assert "only name this family" in prose(page)


def test_which_error_grows_most_turns_with_time() -> None:
    schedule = model().schedule
    assert lens.worst(schedule, "x0", 1) == "x0" and lens.worst(schedule, "x0", 38) == "eps"
    assert lens.worst(schedule, "eps", 1) == "x0" and lens.worst(schedule, "eps", 38) == "eps"


def test_what_the_scenes_of_the_plane_say() -> None:
    early = four_views(place=(1.5, 0.3))
    assert float(at(early, "score", 1).norm() / at(early, "eps", 1).norm()) == pytest.approx(100, rel=1e-6)
    apart = (at(early, "v", 1) - at(early, "eps", 1)).norm() / at(early, "eps", 1).norm()
    assert float(apart) < 0.1
    late = four_views()
    assert torch.allclose(at(late, "eps", 1000), torch.tensor(PLACE).double(), atol=1e-3)
    assert float(at(late, "x0", 1000).norm()) < 0.01
    network = four_views(room.NETWORK)
    for kind in lens.KINDS:
        assert float((at(network, kind, 101) - at(late, kind, 101)).norm()) < 0.12
    assert float((at(network, "eps", 1000) - at(late, "eps", 1000)).norm()) < 0.01
    assert float((at(network, "x0", 1000) - at(late, "x0", 1000)).norm()) > 0.5


def test_what_the_scenes_of_the_digit_say() -> None:
    usual = four_views(room.DIGIT)
    assert alike(at(usual, "v", 1), at(usual, "eps", 1)) > 0.99
    assert alike(at(usual, "v", 950), -at(usual, "x0", 950)) > 0.99
    wrong = {kind: four_views(room.DIGIT, kind=kind, error=0.2) for kind in lens.KINDS}
    assert off(wrong["eps"], usual, "x0", 950) > 2 > 0.25 > off(wrong["v"], usual, "x0", 950)
    assert off(wrong["x0"], usual, "eps", 26) > 4 > 0.25 > off(wrong["v"], usual, "eps", 26)


def test_sizes_without_end_stay_in_the_picture() -> None:
    low, high = lens.span({"v": torch.tensor([0.0, 1e9]).double()})
    assert -4 < low < high < 4
