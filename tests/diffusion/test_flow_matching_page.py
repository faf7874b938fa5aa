"""The page of flow matching: Euler's moments, the mean in one step, and what the reflow mends."""

from functools import cache

import pytest
import torch
from opening import figure, film, open_page, prose

from lab import weights
from lab.lenses.precision import double
from modules.diffusion import flow_matching
from pages.diffusion.flow_matching import lens, room


@cache
def model():
    return double(weights.load("reflow-eight"))


def test_moments_lie_on_eulers_steps() -> None:
    """With four steps every tenth state is one of them, and what lies between is on their line."""
    run = lens.ride(model(), "first round", 4, 3)
    states = flow_matching.path(lens.velocity(model(), "first round"), lens.start(3), 4) * model().scale
    torch.testing.assert_close(run.cloud[::10], states)
    torch.testing.assert_close(run.cloud[5], (states[0] + states[1]) / 2)
    assert run.cloud.shape == (41, lens.CLOUD, 2)


def test_one_step_lands_on_the_mean() -> None:
    end = lens.ride(model(), "exact", 1, 0).cloud[-1]
    torch.testing.assert_close(end, torch.zeros_like(end), atol=1e-12, rtol=0)
    assert lens.ride(model(), "exact", 1, 0).share[-1] == 0


def test_what_the_reflow_mends() -> None:
    """Two steps after it are as near as fifty before, within chance; its paths are lines."""
    before, after = (lens.distances(model(), flow, 0) for flow in ("first round", "after reflow"))
    chance = lens.floor(0)
    two, fifty = room.STEPS.index(2), room.STEPS.index(50)
    assert before[two] > 0.2 and after[two] < max(before[fifty], 0) + 2 * chance
    assert (
        lens.straightness(model(), "after reflow", 0)
        < 0.01
        < 0.5
        < lens.straightness(model(), "first round", 0)
    )
    assert lens.ride(model(), "after reflow", 50, 0).bends < 1.01 < 1.5
    assert lens.ride(model(), "first round", 50, 0).bends > 1.5
    assert lens.enough(after, chance) == "1" and lens.enough(before, chance) in ("4", "8 or more")


def test_what_best_pairs_straighten() -> None:
    """Trained on the best pairs of each batch one step is as near as eight of pairs at random, within chance,
    over three draws; its paths are lines."""
    paired = double(weights.load("fm-optimal-eight"))
    for seed in range(3):
        best, random = (
            lens.distances(paired, "best pairs", seed),
            lens.distances(model(), "first round", seed),
        )
        assert abs(best[0] - random[room.STEPS.index(8)]) < 2 * lens.floor(seed, 5) < 1 < random[0]
        assert lens.straightness(paired, "best pairs", seed) < 0.02
        assert lens.ride(paired, "best pairs", 50, seed).bends < 1.05


def test_lines_that_cross_by_brute_force() -> None:
    """Three lines by hand, then of many each pair by the ends' sides of the other line."""
    x0 = torch.tensor([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0]]).double()
    x1 = torch.tensor([[1.0, 1.0], [1.0, 0.0], [6.0, 5.0]]).double()
    assert lens.crossing(x0, x1) == pytest.approx(1 / 3)
    assert lens.crossing(x0, x0 + 1) == 0  # parallel
    a, b = torch.randn(2, 30, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def side(p: torch.Tensor, q: torch.Tensor, r: torch.Tensor) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    met = [
        side(a[i], b[i], a[j]) * side(a[i], b[i], b[j]) < 0 > side(a[j], b[j], a[i]) * side(a[j], b[j], b[i])
        for i in range(30) for j in range(i)
    ]  # fmt: skip
    assert lens.crossing(a, b) == pytest.approx(sum(met) / len(met))


def test_what_the_scenes_of_pairs_say() -> None:
    result, at = lens.pairs(64, 2.0, 0), room.BATCHES.index(64)
    random, best = (result.crossed[name][at] for name in room.COUPLINGS)
    assert 0.25 < random < 0.3 and best < 0.01
    assert lens.how_many(random) == lens.CROSSED[2] and lens.how_many(best) == lens.CROSSED[0]
    ends = [result.lines[name] for name in room.COUPLINGS]
    assert torch.equal(ends[0][0], ends[1][0])  # one noise, and one set of data
    assert torch.equal(*(line[-1].sort(0).values for line in ends))
    squares = [float((line[-1] - line[0]).square().sum()) for line in ends]
    assert squares[1] < 0.3 * squares[0]
    page = open_page("diffusion/flow_matching", view="Pairs", pairs=room.COUPLINGS[1], batch=64)
    assert f"{best:.1%} of all pairs" in film(page, "t")["captions"][-1]


def test_the_page() -> None:
    page = open_page("diffusion/flow_matching", flow="after reflow", N=2)
    run = lens.ride(model(), "after reflow", 2, 0)
    assert f"paths are {run.bends:.3f} times as long as straight lines" in prose(page)
    assert f"{run.share[-1]:.0%} lie within" in film(page, "t")["captions"][-1]
    _, arrays = figure(page, "cloud")
    assert arrays["data.1.x"].shape == (41, lens.CLOUD)
    assert arrays["data.1.x"][-1] == pytest.approx(run.cloud[-1, :, 0].numpy(), abs=1e-4)
