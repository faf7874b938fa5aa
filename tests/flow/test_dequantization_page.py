"""Dequantization: three kinds of noise on whole numbers, their bounds and the masses behind them."""

import math
from collections import deque

import pytest
import torch
from opening import figure, film, open_page, open_warned, prose, spoken, warnings

from pages.flow.dequantization import lens


@pytest.fixture(scope="module")
def course() -> lens.Course:
    ((_, result),) = deque(lens.fit([8, 4, 2, 1]), maxlen=1)
    return result


def test_bounds_are_bounds(course: lens.Course) -> None:
    p = torch.tensor([8, 4, 2, 1]) / 15
    assert course.entropy == pytest.approx(-(p * p.log()).sum().item(), abs=1e-6)
    for kind in ("uniform", "learned"):
        for frame in range(len(course.steps)):
            assert course.loss(frame, kind) >= course.exact(frame, kind) - 1e-3 >= course.entropy - 2e-3
    assert course.loss(-1, "none") < 0 < course.entropy < course.loss(-1, "learned")
    assert course.loss(-1, "learned") < course.loss(-1, "uniform") < course.entropy + 0.1


def test_masses_are_integrals_of_the_drawn_density(course: lens.Course) -> None:
    density = course.densities("uniform")[-1]
    inside = (course.places >= 0) & (course.places <= 4)
    area = torch.trapezoid(density[inside], course.places[inside]).item()
    assert area == pytest.approx(course.masses[-1][1].sum().item(), abs=2e-3)
    q = course.noise[-1][(course.places >= 1) & (course.places < 2)]
    assert (q.sum() / lens.CURVE).item() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(
    "weights, seed",
    [([1, 1000], 0), ([1e9, 1e-9], 7), ([3, 0, 0, 2, 5], 7), ([1, 1e-6, 1, 1e-6], 0)],
    ids=str,
)
def test_masses_and_bounds_hold_over_the_whole_range_of_the_weights(
    weights: list[float], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By 10,000 points a level: ∫ p of every level, ∫ q, and the costs, of which each bounds the next."""
    record, kept = lens.record, []
    monkeypatch.setattr(lens, "record", lambda *given: (kept.append(given[1]), record(*given)))
    ((_, course),) = deque(lens.fit(weights, seed=seed), maxlen=1)
    three, levels, fine = kept[-1], len(weights), 10_000
    even = ((torch.arange(fine, dtype=torch.float64) + 0.5) / fine).expand(levels, fine)
    x = (torch.arange(levels).double()[:, None] + even).reshape(-1, 1).expand(-1, len(lens.KINDS))
    with torch.no_grad():
        masses = three.log_prob(x).exp().view(levels, fine, -1).mean(1).t()
        costs = three.losses(course.p, even)
        noise = three.noise.log_density(even).exp().mean(1)
    assert course.masses[-1][1:] == pytest.approx(masses[1:], abs=1e-3)
    assert noise.tolist() == pytest.approx([1] * levels, abs=1e-3)
    for kind in ("uniform", "learned"):
        assert course.loss(-1, kind) == pytest.approx(float(costs[lens.KINDS.index(kind)]), abs=1e-3)
        for frame in range(len(course.steps)):
            assert course.loss(frame, kind) > course.exact(frame, kind) - 1e-6 > course.entropy - 2e-6


def test_the_flow_is_the_modules_flow() -> None:
    """The log-density of one coordinate alone, against the stack's of all three."""
    torch.manual_seed(0)
    three = lens.Three(3).double()
    with torch.no_grad():
        for parameter in three.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    x = 3 * torch.rand(20, 3, dtype=torch.float64)
    z, ladj = three.stack.normalize(x)
    whole = -0.5 * z.square().sum(1) - 1.5 * math.log(2 * math.pi) + ladj
    torch.testing.assert_close(three.log_prob(x).sum(1), whole)
    even = (torch.arange(4000, dtype=torch.float64) + 0.5) / 4000
    u, log_q = three.noise(even.expand(3, -1))
    torch.testing.assert_close(three.noise.log_density(u), log_q)
    assert torch.trapezoid(log_q.exp(), u).detach().numpy() == pytest.approx(1, abs=5e-3)


def test_the_page_says_what_the_course_has(course: lens.Course) -> None:
    page = open_page("flow/dequantization")
    bar = film(page)
    assert spoken(bar["equations"][-1]) == pytest.approx([course.loss(-1, "none"), course.entropy], abs=6e-4)
    assert "below the entropy" in bar["captions"][-1] and "above the entropy" in bar["captions"][0]
    for kind in lens.KINDS:
        assert f"{course.loss(-1, kind):.3f}" in prose(page)
    header, frames = figure(page, "density")
    assert frames["data.2.y"].shape == (41, len(course.places)) and "flow" in header["csv"]
    page = open_page("flow/dequantization", noise="learned", step=40)
    values = [course.loss(40, "learned"), course.exact(40, "learned"), course.entropy]
    assert spoken(film(page)["equations"][40]) == pytest.approx(values, abs=6e-4)


def test_own_weights() -> None:
    page = open_warned("flow/dequantization", weights="1 x 3")
    assert "'x' is no weight" in warnings(page)
    assert "0.562" in prose(page)  # of the two that are left: the entropy of 1 : 3
    assert "two levels" in warnings(open_warned("flow/dequantization", weights="5"))
    assert lens.weights_of("-1, 2 3")[0] == [2.0, 3.0]
    assert "17" in lens.weights_of("1 " * 20)[1]
