"""The page of the earth mover: plan, prices and the earth on its way."""

import pytest
import torch
from opening import film, metrics, open_page, open_warned, run_page

from pages.adversarial.earth_mover import lens

TEN = [5, 3, 2, 1, 8, 7, 5, 9, 2, 1], [4, 10, 1, 1, 4, 6, 3, 2, 0, 1]
P, Q = ([v / sum(values) for v in values] for values in TEN)


def test_the_earth_arrives() -> None:
    """At the start every bin of p has its mass, at the end every bin of q; the cost grows evenly."""
    story = lens.story(P, Q, 1.0, 1.0)
    flow = lens.flow(story.plan)
    for at, mass in ((0, story.p), (-1, story.q)):
        bins = flow.places()[at].round().long()
        torch.testing.assert_close(torch.zeros(10).double().scatter_add(0, bins, flow.mass), mass)
    half = (lens.WAY.index(0.5), (flow.leaves + flow.arrives) / 2)
    torch.testing.assert_close(flow.places()[half[0]], half[1])
    torch.testing.assert_close(story.spent, story.w1 * torch.tensor(lens.WAY).double())


def test_bands_of_a_bar_lie_side_by_side() -> None:
    """Each as wide as its share of the mass: together they fill the bar, and none lies over another."""
    flow = lens.flow(lens.story(P, Q, 1.0, 1.0).plan)
    for bins, places in ((flow.start, flow.leaves), (flow.end, flow.arrives)):
        for k in bins.unique().tolist():
            mass, middle = flow.mass[bins == k], places[bins == k]
            left, right = (middle + sign * lens.BAR / 2 * mass / mass.sum() for sign in (-1, 1))
            torch.testing.assert_close(right[:-1], left[1:])
            assert float(left[0]) == pytest.approx(k - lens.BAR / 2)
            assert float(right[-1]) == pytest.approx(k + lens.BAR / 2)


def test_what_the_scenes_say_of_bands() -> None:
    """Histograms that overlap keep mass in its bin; equal ones keep all of it."""
    disjoint, partial, equal = (
        lens.flow(lens.story(*((torch.tensor(v) / sum(v)).tolist() for v in pair), 1.0, 1.0).plan)
        for pair in (([1, 1, 0, 0], [0, 0, 1, 1]), ([1, 2, 3, 4], [4, 3, 2, 1]), ([1, 2, 3, 2, 1],) * 2)
    )
    assert not (disjoint.start == disjoint.end).any()
    assert (partial.start == partial.end).any() and not (partial.start == partial.end).all()
    upright = partial.mass[partial.start == partial.end].sum()
    assert float(upright) > 0.2 - 1e-6  # the least bins of either keep theirs in every optimal plan
    assert (equal.start == equal.end).all()
    torch.testing.assert_close(equal.leaves, equal.arrives)


def test_squares_need_two_prices() -> None:
    """The neighbour form of [UDL] 15.12–15.13 is of |i − j| alone; with a step below 1 it earns less."""
    story = lens.story(P, Q, 2.0, 1.0)
    assert story.primal == pytest.approx(2.956395349) and story.dual == pytest.approx(story.primal)
    assert story.neighbours == pytest.approx(1.363372093)
    assert (story.source[:, None] + story.target <= story.cost + 1e-9).all()
    paid = (story.source[:, None] + story.target - story.cost)[story.plan > 1e-9]
    torch.testing.assert_close(paid, torch.zeros_like(paid))
    assert lens.story(P, Q, 1.0, 0.9).neighbours == pytest.approx(0.9 * 1.363372093)
    assert lens.slope(lens.story(P, Q, 1.0, 1.0)) == pytest.approx(1.0)


def test_the_page_shows_both_sides() -> None:
    page = open_page("adversarial/earth_mover", p="1 1 0 0", q="0 0 1 1")
    assert metrics(page) == {"Transport cost": "2.0000", "Lipschitz dual": "2.0000"}
    assert "1.000 of the cost 2.000" in film(page, "way")["captions"][10]
    assert metrics(open_page("adversarial/earth_mover", p="1 2", q="1 2"))["Lipschitz dual"] == "0.0000"


def test_heaps_of_different_length_and_bad_ones() -> None:
    """The shorter heap ends in empty bins; what is no weight is named."""
    p, q = lens.padded([0.5, 0.5], [0.2, 0.3, 0.5])
    assert p.tolist() == [0.5, 0.5, 0.0] and q.tolist() == [0.2, 0.3, 0.5]
    assert "“x”" in open_warned("adversarial/earth_mover", p="1 x 2").warning[0].value
    page = run_page("adversarial/earth_mover", q="0 0")
    assert "not all of them 0" in " ".join(w.value for w in [*page.warning, *page.error, *page.info])
