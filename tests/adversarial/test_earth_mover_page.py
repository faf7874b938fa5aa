"""The page of the earth mover: plan, prices and the heap on its way."""

import pytest
import torch
from opening import film, metrics, open_page, open_warned, run_page

from pages.adversarial.earth_mover import lens

TEN = [5, 3, 2, 1, 8, 7, 5, 9, 2, 1], [4, 10, 1, 1, 4, 6, 3, 2, 0, 1]
P, Q = ([v / sum(values) for v in values] for values in TEN)


def test_the_earth_arrives() -> None:
    """At the start the heap is p, at the end q, in between no crumb is lost; the way grows evenly."""
    told = lens.story(P, Q, 1.0, 1.0)
    torch.testing.assert_close(told.heap[0, :: lens.PARTS], told.p)
    torch.testing.assert_close(told.heap[-1, :: lens.PARTS], told.q)
    torch.testing.assert_close(told.heap.sum(-1), torch.ones(len(lens.WAY)).double())
    torch.testing.assert_close(told.spent, told.w1 * torch.tensor(lens.WAY).double())
    middle = (told.heap[10] * torch.arange(told.heap.shape[1])).sum() / lens.PARTS
    both = ((told.p + told.q) / 2 * torch.arange(10)).sum()
    assert float(middle) == pytest.approx(float(both), abs=0.13)  # places are a quarter of a bin apart


def test_squares_need_two_prices() -> None:
    """The neighbour form of [UDL] 15.12–15.13 is of |i − j| alone; with a step below 1 it earns less."""
    told = lens.story(P, Q, 2.0, 1.0)
    assert told.primal == pytest.approx(2.956395349) and told.dual == pytest.approx(told.primal)
    assert told.neighbours == pytest.approx(1.363372093)
    assert (told.source[:, None] + told.target <= told.cost + 1e-9).all()
    paid = (told.source[:, None] + told.target - told.cost)[told.plan > 1e-9]
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
