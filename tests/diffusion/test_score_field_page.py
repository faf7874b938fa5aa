"""The page "Score field": shares, arrows, what its scenes say."""

from functools import cache, partial

import pytest
import torch
from opening import figure, film, metrics, open_page, prose

from lab import weights
from pages.diffusion.score_field import lens

NETWORKS = {"denoising": "dsm-eight", "sliced": "ssm-eight"}
opened = partial(open_page, "diffusion/score_field")


@cache
def run_of(name: str = "two modes", annealed: bool = False, steps: int = 30, size: float = 0.1) -> lens.Run:
    model = weights.load(NETWORKS[name]) if name in NETWORKS else None  # type: ignore[arg-type]
    score = lens.score_of(name, 0.8, model)  # type: ignore[arg-type]
    return lens.run(score, lens.truth(name, 0.8), annealed, steps, size, 0)


def test_what_is_drawn_is_what_is_counted() -> None:
    page = opened()
    run, mixture = run_of(), lens.two(0.8)
    off = float((run.shares[-1, 0] - 0.8).abs())
    assert float(metrics(page)["Shares off by, at the end"]) == pytest.approx(off, abs=6e-4)
    assert "at the least noise, is 0.0000;" in prose(page) and "only name this family" in prose(page)
    _, arrays = figure(page, "field")
    assert film(page)["count"] == lens.FRAMES == len(arrays["data.2.x"])
    assert float((arrays["data.2.x"][-1] < 0).mean()) == pytest.approx(float(run.shares[-1, 0]), abs=1e-6)
    assert sum(a.nbytes for a in arrays.values()) < 2e6
    assert torch.allclose(run.shares.sum(1), torch.ones(lens.FRAMES).double())
    assert len(lens.captions(run, mixture)) == lens.FRAMES


def test_blurred_laws_are_those_of_noise_added() -> None:
    mixture = lens.two(0.8)
    x = torch.randn(9, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    wide = lens.exact.Mixture(mixture.means, 0.35**2 + 4.0, mixture.log_weights.exp())
    slope = torch.autograd.grad(wide.log_prob(x).sum(), x)[0]
    assert torch.allclose(lens.exact_score(mixture)(x.detach(), 2.0), slope, atol=1e-10)
    r, a = lens.blurred(mixture, 2.0)
    result = (mixture.log_prob(x.detach() / r, a) - wide.log_prob(x.detach())).diff()
    assert result.abs().max() < 1e-10  # but for a constant, which the map's top takes away


def test_arrows_point_up_the_score() -> None:
    score = lens.exact_score(lens.two(0.8))
    feet, tips = lens.arrows(score, [2.0])
    cosine = torch.nn.functional.cosine_similarity(tips[0] - feet, score(feet, 2.0))
    assert cosine.min() > 1 - 1e-9


def test_what_the_scenes_say() -> None:
    stuck, freed = run_of(), run_of(annealed=True)
    assert abs(float(stuck.shares[-1, 0]) - 0.5) < 0.1  # half the cloud began on each side
    assert abs(float(stuck.shares[-1, 0]) - float(stuck.shares[0, 0])) < 0.05
    assert abs(float(freed.shares[-1, 0]) - 0.8) < 0.08 and float(freed.near[-1]) > 0.95
    mixture = lens.two(0.8)
    feet, tips = lens.arrows(lens.exact_score(mixture), [lens.FIRST, lens.LAST])
    centre = (mixture.log_weights.exp()[:, None] * mixture.means).sum(0)
    away = (feet - centre).norm(dim=1) > 1.5
    to_centre = ((tips[0] - feet) * (centre - feet)).sum(1)
    assert bool((to_centre[away] > 0).all())  # under much noise there is one hill
    score = lens.exact_score(mixture)  # at little noise the arrows turn where the sides meet
    right, left = (float(score(torch.tensor([[x, 0.0]]).double(), lens.LAST)[0, 0]) for x in (0.2, -0.2))
    assert left < 0 < right
    hasty = run_of(annealed=True, steps=3)
    assert float(hasty.near[-1]) < 0.6
    for name in ("denoising", "sliced"):
        run = run_of(name, True)
        assert float(run.shares[-1].min()) > 0.06 and float(run.near[-1]) > 0.9, name
        score = lens.score_of(name, 0.8, weights.load(NETWORKS[name]))  # type: ignore[arg-type]
        for sigma in lens.sigmas():  # the same field, at every level that was fitted
            assert lens.score_error(score, lens.exact.eight(), sigma) < 0.02, (name, sigma)
