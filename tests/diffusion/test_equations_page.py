"""The page "Noising as an SDE": its trajectories, what its scenes say, its numbers."""

from functools import cache, partial
from itertools import pairwise

import pytest
import torch
from opening import figure, film, metrics, open_page

from lab.lenses.drawing import examples
from modules.diffusion import sde
from pages.diffusion.equations import lens, room

opened = partial(open_page, "diffusion/equations")


@cache
def end(kind: str, way: str, steps: int, last: float = 10) -> float:
    return float(lens.run(kind, way, steps, last, 0).share[-1])


@pytest.mark.parametrize("kind", room.KINDS)
def test_the_way_forwards_has_the_kernels_moments_whatever_the_steps(kind: str) -> None:
    result, generator = lens.equation(kind, 5), torch.Generator().manual_seed(0)
    x = torch.ones(20_000, 2, dtype=torch.float64)
    times = torch.tensor([0, 0.2, 0.25, 0.7], dtype=torch.float64)
    now = lens.drowned(result, x, times, generator)[-1]
    m, v = result.mean(times[-1]), result.variance(times[-1])
    assert float(now.mean()) == pytest.approx(float(m), abs=4 * float(v.sqrt()) / 200)
    assert float(now.var()) == pytest.approx(float(v), rel=4 * (2 / 40_000) ** 0.5)


def test_preserved_and_exploded() -> None:
    assert all(lens.width(lens.equation("VP", 10), t) == pytest.approx(1) for t in (0.0, 0.3, 1.0))
    equation = lens.equation("VE", 10)
    assert (
        lens.width(equation, 1.0) == pytest.approx(101**0.5, rel=1e-3)
        and float(equation.mean(torch.ones(()))) == 1
    )
    cloud = lens.run("VE", room.NOISING, 50, 10, 0).cloud
    assert cloud[-1].std() > 9 * cloud[0].std()


@pytest.mark.parametrize("kind", ["sub-VP", "VE"])
def test_one_walk_in_the_clouds_own_unit(kind: str) -> None:
    """At one SNR the distributions are the same: log p of x r, and the Jacobian of the unit."""
    other, vp = lens.equation(kind, 10), lens.equation("VP", 10)
    x = torch.randn(20, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for t in (0.2, 0.5, 0.8):
        r, a = sde.radius(other, t)
        s = sde.time_of(vp, float(a))
        one = (
            sde.exact_log_prob(other, lens.MIXTURE, r * x, t) + 2 * torch.tensor(r, dtype=torch.float64).log()
        )
        two = sde.exact_log_prob(vp, lens.MIXTURE, x * sde.radius(vp, s)[0], s)
        assert torch.allclose(one, two, atol=1e-6)
    result, results = lens.run(kind, room.NOISING, 50, 10, 0), other
    own = lens.cloud_and_means(result, results, True)[0]
    assert torch.allclose(own.std((1, 2)), torch.ones(1, dtype=torch.float64), atol=0.08)


def test_what_the_scenes_of_the_ways_back_say() -> None:
    assert end("VE", room.SDE_BACK, 100) > 0.95
    assert end("VE", room.SDE_BACK, 10) > 0.9 and 0.5 < end("VP", room.SDE_BACK, 10) < 0.65
    assert end("VE", room.ODE_BACK, 10, 50) == 0
    assert lens.short(lens.equation("VE", 2)) == pytest.approx(0.106, abs=1e-3)
    assert lens.short(lens.equation("VP", 2)) == lens.short(lens.equation("sub-VP", 2)) == 0
    smooth, rough = (lens.run("VP", way, 100, 10, 0) for way in (room.ODE_BACK, room.SDE_BACK))
    long = [sum(float((b - a).norm(dim=1).mean()) for a, b in pairwise(run.cloud)) for run in (smooth, rough)]
    assert long[1] > 2 * long[0] and float(smooth.share[-1]) > 0.97


def test_the_datas_own_share() -> None:
    x, _ = lens.MIXTURE.draw(20_000, torch.Generator().manual_seed(0))
    assert float(lens.near(x)) == pytest.approx(lens.data(), abs=4e-3)
    assert float(x.var()) == pytest.approx(1, abs=0.02)


def test_the_page_shows_its_walk() -> None:
    page = opened(way=room.SDE_BACK, S=20, end=2)
    run = lens.run("VE", room.SDE_BACK, 20, 2, 0)
    shown = metrics(page)
    assert shown["The prior is narrower by"] == "10.56%"
    assert shown["Near a mode, last frame"] == f"{float(run.share[-1]):.3f}"
    assert film(page)["captions"] == lens.captions(run) and film(page)["count"] == 21
    _, arrays = figure(page, "cloud")
    assert arrays["data.1.x"].shape == (21, lens.CLOUD) and arrays["data.2.x"].shape == (21, 8)
    assert arrays["data.1.x"][-1] == pytest.approx(run.cloud[-1, :, 0].numpy(), abs=1e-3)
    for number in range(1, 10):
        opened(scene=number)


def test_the_terms_of_a_digit_are_those_of_its_kernel() -> None:
    digit = dict(examples(28))["5"]
    result, x = lens.terms(digit, 50, 0), 2 * digit - 1
    assert bool((result.mean[:, 1] == 1).all() and (result.mean[:, 0].diff() < 0).all())  # as the scene says
    assert bool((result.sd.diff(dim=0) > 0).all()) and float(result.sd[:, 0].max()) <= 1
    eps = result.pictures[-1, 1, 1] / result.sd[-1, 1]
    assert float(eps.std()) == pytest.approx(1, abs=0.1)
    for i, kind in enumerate(lens.COMPARED):
        times = torch.tensor(result.times, dtype=torch.float64)
        want = sde.noised(lens.equation(kind, 50), x.expand(21, 28, 28), times, eps.expand(21, 28, 28))
        assert torch.allclose(result.pictures[:, i, 2].double(), want.double(), atol=1e-4)
        assert torch.allclose(result.pictures[:, i, :2].sum(1), result.pictures[:, i, 2])
    assert [lens.clearer(result, at) for at in (0, 7)] == ["neither", "VE"]
    vp, ve = result.ratio(7)
    assert vp == pytest.approx(sde_ratio("VP", 0.35)) and ve == pytest.approx(sde_ratio("VE", 0.35))


def sde_ratio(kind: str, t: float) -> float:
    """m²/v by `radius`: ᾱ/(1 − ᾱ)."""
    a = float(sde.radius(lens.equation(kind, 50), t)[1])
    return a / (1 - a)


def test_the_page_shows_the_terms() -> None:
    page = opened(scene="VP and VE")
    header, arrays = figure(page, "terms")
    z = arrays["data.0.z"]
    assert z.shape == (21, 2 * 28 + 7, 3 * 28 + 2 * 7)
    assert z[7][:28, :28] + z[7][:28, 35:63] == pytest.approx(z[7][:28, 70:], abs=1e-5)
    assert film(page)["at"] == 7 and "ratio m²/v is 0.399 under VP" in film(page)["captions"][7]
    assert header["texts"]["layout.annotations.0.text"][7] == "VP: 0.53 x₀"


def test_no_such_way() -> None:
    with pytest.raises(ValueError, match="way is 'up'"):
        lens.run("VE", "up", 10, 10, 0)
