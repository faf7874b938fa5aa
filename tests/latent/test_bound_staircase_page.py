"""The page "Bound staircase": both models against the modules' own, the moves, what the scenes say."""

from functools import partial
from itertools import pairwise

import pytest
import torch
from opening import film, open_page, open_warned, prose, run_page, spoken, warnings

from modules.latent import exponential_gaussian as eg
from modules.latent.mixture import GaussianMixture
from pages.latent.bound_staircase import lens

opened = partial(open_page, "latent/bound_staircase")
X = torch.tensor([-2.0, -1.0, 1.0, 4.0], dtype=torch.float64)


def referee(theta: float) -> GaussianMixture:
    model = GaussianMixture((1,), 2, "spherical")
    model.set_parameters(
        torch.tensor([0.5, 0.5]), torch.tensor([[theta], [2.0]], dtype=torch.float64), torch.ones(2)
    )
    return model


def test_the_mixture_is_the_modules() -> None:
    model, r = lens.mixture(X), torch.tensor([0.9, 0.2, 0.5, 0.01], dtype=torch.float64)
    for theta in (-3.0, 0.4):
        ours, at = referee(theta), torch.tensor([theta], dtype=torch.float64)
        assert float(model.log_p(at)) == pytest.approx(float(ours.log_prob(X[:, None]).mean()), abs=1e-12)
        bound = ours.elbo(X[:, None], torch.stack([r, 1 - r], 1)).mean()
        assert float(model.bound(at, r)) == pytest.approx(float(bound), abs=1e-12)
        torch.testing.assert_close(model.fit_q(theta), ours.responsibilities(X[:, None])[:, 0])


def test_e_touches_and_m_climbs() -> None:
    model = lens.mixture(X)
    moves = lens.climb(model, -4.0, torch.full((4,), 0.5).double(), "E and M")
    assert len(moves) == 25
    for before, now in pairwise(moves):
        assert now.bound >= before.bound - 1e-12 and now.log_p >= before.log_p - 1e-12
        if now.kind == "E":
            assert now.gap == pytest.approx(0, abs=1e-12) and now.theta == before.theta
    near = torch.linspace(-0.01, 0.01, 5).double() + moves[-1].theta
    assert float(model.log_p(near).max()) == pytest.approx(moves[-1].log_p, abs=1e-6)
    other = lens.climb(model, 6.5, moves[0].q, "E and M")[-1]
    assert other.log_p < moves[-1].log_p - 0.05 and other.theta > 2 > moves[-1].theta


def test_with_a_wrong_q_the_m_step_lowers_log_p() -> None:
    """Oracle O34."""
    start, end = lens.climb(lens.exponential(1.0), 1.68, torch.tensor(1.0).double(), "M alone")
    assert [start.bound, end.bound] == pytest.approx([-1.580145, -1.418939], abs=1e-6)
    assert [start.log_p, end.log_p] == pytest.approx([-1.143316, -1.193147], abs=1e-6)
    assert "log p falls by 0.0498" in lens.captions([start, end])[1]


def test_the_exponential_family_rests_beside_the_top() -> None:
    moves = lens.climb(lens.exponential(1.0), 1.68, torch.tensor(1.0).double(), "E and M")
    assert moves[-1].theta == pytest.approx(2.0, abs=0.02)  # 2/x, where the bound is greatest
    assert moves[-1].bound == pytest.approx(-1.168939, abs=1e-4) and moves[-1].gap > 0.02
    assert eg.maximum_likelihood(1.0) == pytest.approx(1.679567, abs=1e-5)  # the top of log p
    for now in moves:  # no other φ is better
        if now.kind == "E":
            others = torch.linspace(0.5, 4, 300).double()
            bounds = eg.elbo(torch.tensor(now.theta), others, torch.tensor(1.0).double())
            assert float(bounds.max()) <= now.bound + 1e-9


@pytest.mark.parametrize("name", ["mixture", "exponential"])
def test_steps_of_gradient_raise_the_bound(name: str) -> None:
    model = lens.mixture(X) if name == "mixture" else lens.exponential(1.0)
    q = torch.full((4,), 0.5).double() if name == "mixture" else torch.tensor(1.0).double()
    moves = lens.climb(model, -4.0 if name == "mixture" else 1.68, q, "both at once")
    assert all(now.bound > before.bound for before, now in pairwise(moves))


def test_the_page_says_the_numbers_of_its_move() -> None:
    moves = lens.climb(lens.mixture(X), -4.0, torch.full((4,), 0.5).double(), "E and M")
    bar = film(opened(step=2))
    assert spoken(bar["equations"][2]) == pytest.approx(
        [moves[2].bound, moves[2].gap, moves[2].log_p], abs=6e-5
    )
    assert "and touches log p" in bar["captions"][1]
    page = opened(model="exponential", how="M alone", step=1)
    assert "log p falls in 1 of 1 moves" in prose(page)


def test_own_points_and_a_bad_one() -> None:
    opened(x="0 0.5 3")
    assert "“two” is left out" in warnings(open_warned("latent/bound_staircase", x="1 two 3"))
    assert "above 0" in warnings(run_page("latent/bound_staircase", model="exponential", one="-1"))
    assert "at least one" in warnings(run_page("latent/bound_staircase", x="a"))
