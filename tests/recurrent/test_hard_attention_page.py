"""The page Hard attention, exactly: the specification's tables, estimates by listing, scenes that hold."""

import itertools
import math

import pytest
import torch
from opening import figure, film, open_page, run_page
from torch import Tensor

from lab.errors import UserError
from lab.figures import moving
from pages.recurrent.hard_attention import estimates, figures, lens
from pages.recurrent.hard_attention.room import (
    AFTER,
    BEST,
    DRAWS,
    GRADIENT,
    HALF,
    MEAN,
    METHODS,
    NONE,
    ROOM,
    STATE,
    TO_GO,
    State,
)  # fmt: skip

F64 = torch.float64


def tables_of(now: State) -> tuple[int, Tensor, Tensor, Tensor, Tensor]:
    first = lens.scores(now.e), lens.later_scores(now.later)
    return now.steps, *first, lens.probabilities(now.p), lens.later_probabilities(now.p_later)


def listed(now: State) -> lens.Listed:
    return lens.listed(*tables_of(now))


def estimated(now: State, seed: int = 0) -> estimates.Estimated:
    return estimates.estimated(*tables_of(now), now.method, now.by, seed)


def close(result: Tensor, *numbers: float, at: float = 1e-6) -> None:
    torch.testing.assert_close(result.flatten(), torch.tensor(numbers, dtype=F64), rtol=0, atol=at)


# --- Listed ------------------------------------------------------------------------------------------


def test_one_step_has_the_numbers_of_the_specification() -> None:
    """RN-O22, RN-E15: bounds of 1, 2, 5, 8 draws; the ELBO of a posterior of its own is log p(y | x)."""
    found = listed(State(steps=1))
    close(found.q, 0.090031, 0.244728, 0.665241)
    close(found.bounds[[0, 1, 4, 7]], -0.525380, -0.447897, -0.422164, -0.417334)
    assert found.log_p == pytest.approx(-0.410136, abs=1e-6) == lens.posterior_bound(found)
    now = estimated(State(view=GRADIENT, steps=1))
    close(now.exact, -0.160003, -0.041057, 0.201060)
    close(now.likelihood, -0.076463, -0.060323, 0.136786)
    variance = {each.name: each.variance for each in now.all}
    assert [variance[name] for name in (NONE, MEAN, BEST)] == pytest.approx(
        [0.693395, 0.328596, 0.230965], abs=2e-6
    )


def two_places() -> lens.Table:
    scores = torch.tensor([[0.3, 0.7], [0.6, 0.4], [0.2, 0.8]], dtype=F64).log()
    return lens.Table(scores, torch.tensor([[0.9, 0.2], [0.5, 0.1], [0.3, 0.7]], dtype=F64).log(), 2)


def test_two_steps_have_the_numbers_of_the_specification() -> None:
    """RN-O23: one mean, and variances of the second step's scores without and with the reward-to-go."""
    by_name = {each.name: each for each in estimates.estimates(two_places())}
    for name in (NONE, MEAN, BEST, TO_GO, STATE):
        close(by_name[name].mean, 0.145591, -0.145591, 0.115880, -0.115880, -0.094897, 0.094897)
    for name, expected in ((NONE, (0.255418, 0.786793)), (TO_GO, (0.229451, 0.123724))):
        one = by_name[name]
        second = torch.tensordot(one.chance, one.values.square(), 1) - one.mean.square()
        close(second[1:, 0], *expected)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_paths_are_those_of_a_plain_sum(steps: int) -> None:
    now = State(steps=steps)
    _, e, later, p, p_later = tables_of(now)
    found, total, inside = listed(now), 0.0, 0.0
    for n, path in enumerate(itertools.product(range(3), repeat=steps)):
        q = like = 1.0
        for t, c in enumerate(path):
            q *= float((e if t == 0 else later[path[t - 1]]).softmax(0)[c])
            like *= float(p[c] if t == 0 else p_later[path[t - 1], c])
        assert [float(found.q[n]), float(found.p[n])] == pytest.approx([q, like])
        total, inside = total + q * like, inside + q * math.log(like)
    assert found.log_p == pytest.approx(math.log(total)) and found.bound == pytest.approx(inside)
    assert (found.bounds.diff() > 0).all() and found.bounds[-1] < found.log_p
    assert f"{math.log(total):z.3f}" in lens.equations(found)[-1]


def test_baselines_keep_the_mean_and_half_soft_does_not() -> None:
    now = estimated(State(view=GRADIENT, steps=3))
    assert [each.name for each in now.all] == list(METHODS)
    for each in now.all:
        assert torch.allclose(each.mean[0], now.exact, rtol=0, atol=1e-12) == (each.name != HALF)
    variance = {each.name: each.variance for each in now.all}
    assert variance[BEST] < variance[MEAN] < variance[NONE] > variance[TO_GO] > variance[STATE]
    known = lens.table(*tables_of(State(steps=3)))
    _, log_q = known.along(known.paths)
    log_p, q = known.along(known.paths)[0], log_q.sum(1).exp()
    for shift in (-0.1, 0.1):  # the best constant is the best

        def of(scores: Tensor, shift: float = shift) -> Tensor:
            score = estimates.jacobian(lambda s: known.along(known.paths, s)[1].sum(1), scores)
            weight = q * score.square().sum((1, 2))
            b = (weight * log_p.sum(1)).sum() / weight.sum() + shift
            return (log_p.sum(1) - b)[:, None, None] * score

        assert estimates.Estimate("", q, of(known.scores)).variance > variance[BEST]


def test_half_soft_is_half_of_the_gradient_of_the_soft_caption() -> None:
    """By differences, with the contexts averaged by hand; in one step it is the gradient of log p(y | x)."""
    _, e, later, p, p_later = tables_of(State(steps=2))

    def soft(first: Tensor) -> float:
        gamma = first.softmax(0)
        after = (gamma @ later).softmax(0)
        return float((gamma @ p).log() + (gamma @ p_later @ after).log())

    now, h = estimated(State(view=GRADIENT, method=HALF)), 1e-6
    slopes = [(soft(e + h * row) - soft(e - h * row)) / (2 * h) for row in torch.eye(3, dtype=F64)]
    torch.testing.assert_close(
        now.one.mean[0], (now.exact + torch.tensor(slopes, dtype=F64)) / 2, rtol=0, atol=1e-8
    )
    one = estimated(State(view=GRADIENT, steps=1, method=HALF))
    torch.testing.assert_close(one.one.mean[0], (one.exact + one.likelihood) / 2, rtol=0, atol=1e-12)
    assert now.is_biased and one.is_biased


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", [n for n, s in ROOM.scenes.items() if s.state.view == GRADIENT])
def test_clouds_have_the_mean_and_the_spread_that_listing_gives(name: str, seed: int) -> None:
    now = estimated(ROOM.scenes[name].state, seed)
    for which, dots in now.clouds.items():
        one = next(each for each in now.all if each.name == which)
        due = now.covariance(which).diagonal()
        ends = one.mean[now.row][[0, -1]]
        for f, M in enumerate(DRAWS):
            off = (dots[f].mean(0) - ends).abs() / (due / M / estimates.CLOUD).sqrt()
            assert (off < 4.5).all()
            assert float(dots[f].var(0).sum()) == pytest.approx(float(due.sum()) / M, rel=0.5)


def test_what_the_scenes_say() -> None:
    states = {name: scene.state for name, scene in ROOM.scenes.items()}
    at = states["All paths"].path
    assert at is not None and 0 < at < len(listed(states["All paths"]).q) - 1
    found = listed(states["Lower bound"])
    assert found.bound < found.bounds[-1] < found.log_p
    found = listed(states["No gap"])
    assert torch.allclose(found.bounds, torch.full_like(found.bounds, found.log_p), rtol=0, atol=1e-12)
    found = listed(states["Best path"])
    by_q, _, by_both = lens.best(found)  # RN-E16
    assert by_q != by_both and found.q[by_both] * found.p[by_both] < 0.8 * math.exp(found.log_p)

    def variances(name: str) -> dict[str, float]:
        return {each.name: each.variance for each in estimated(states[name]).all}

    baseline = variances("Baseline")
    assert baseline[BEST] / baseline[NONE] == pytest.approx(1 / 3, abs=0.02)
    later = variances("Reward-to-go")
    assert later[STATE] < later[TO_GO] < later[NONE]
    now = estimated(states["Reward-to-go"])
    assert now.covariance(TO_GO).trace() < now.covariance(NONE).trace()
    half = estimated(states["Half soft"])
    assert half.is_biased and half.one.variance < half.all[0].variance
    cloud = half.clouds[HALF][-1].mean(0)
    assert (cloud - half.exact[[0, -1]]).norm() > 0.03


# --- The page ----------------------------------------------------------------------------------------


def test_the_page_shows_its_numbers() -> None:
    page = open_page("recurrent/hard_attention", path=5)
    bar, (spec, _) = film(page, "path"), figure(page, "tables")
    found = listed(State())
    assert bar["at"] == 5 and bar["count"] == 9 and spec["alt"]
    assert f"q = {found.q[5]:.3f}, p(y | c) = {found.p[5]:.3f}" in bar["captions"][5]
    page = open_page("recurrent/hard_attention", view=GRADIENT, method=BEST)
    now = estimated(State(view=GRADIENT, method=BEST))
    f = DRAWS.index(4)
    assert film(page, "draws")["at"] == f
    shown = torch.tensor(figure(page, "clouds")[1]["data.2.x"][f], dtype=F64)
    torch.testing.assert_close(shown, now.clouds[BEST][f, :, 0], rtol=1e-5, atol=1e-6)


def test_products_are_drawn_as_far_as_they_are_summed() -> None:
    found = listed(State())
    fig = moving.at(figures.tables(found), 5)
    z = torch.tensor(fig.data[2].z).flatten()
    assert int(z.isnan().sum()) == 3 and float(z[5]) == pytest.approx(float(found.q[5] * found.p[5]))
    box = fig.layout.shapes[2]
    assert (box.x0, box.x1, box.y0, box.y1) == (1.5, 2.5, 0.5, 1.5) and box.xref == "x3"


def test_a_ring_is_two_standard_deviations() -> None:
    now = estimated(State(view=GRADIENT, steps=1))
    ring = torch.from_numpy(figures.ellipse(now.covariance(NONE)))
    around = torch.einsum("ni,ij,nj->n", ring, now.covariance(NONE).inverse(), ring)
    torch.testing.assert_close(around, torch.full_like(around, 4.0), rtol=1e-4, atol=0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 1", "Three numbers are due"), ("a 1 2", "'a' is no number"), ("0 1 99", "'99' is no number"),
        ("0 1 2; 1 2 3", "Three numbers are due"), ("", "Three numbers are due"), ("nan 0 0", "'nan' is no"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        lens.scores(text)
    page = run_page("recurrent/hard_attention", e=text)
    assert not page.exception and len(page.error) + len(page.warning) + len(page.info) > 0


def test_numbers_are_read() -> None:
    close(lens.probabilities("0,1 0,5 0,8"), 0.1, 0.5, 0.8)
    assert "decimal" in lens.commas("0,1 0,5 0,8")
    with pytest.raises(UserError, match=r"'0' is no number from 0\.001 to 1"):
        lens.probabilities("0 0.5 1")
    with pytest.raises(UserError, match="Three rows of three are due"):
        lens.later_scores("0 1 2")
    assert lens.later_scores(State().later).shape == (3, 3) and AFTER[0] == "after place 1"
