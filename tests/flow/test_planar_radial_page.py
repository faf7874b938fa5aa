"""The page "Planar and radial": points, log-determinants, folds, and K layers on a potential."""

from functools import partial

import pytest
import torch
from opening import film, metrics, open_page, open_warned, prose, run_page, spoken, warnings

from modules.flow.planar import Planar, Radial
from pages.flow.planar_radial import lens

opened = partial(open_page, "flow/planar_radial")


def test_a_planar_layer_by_its_numbers() -> None:
    layer = lens.planar((1.0, 0.5), (1.0, -0.5), 0.2, constrained=False)
    assert lens.answer(layer, (1.0, -1.0)) == pytest.approx([1.935409, -0.532295, 0.089619], abs=1e-6)
    held = lens.planar((-2.0, 0.0), (1.0, -0.5), 0.2, constrained=True)
    assert lens.answer(held, (1.0, -1.0)) == pytest.approx([-0.027507, -1.421655, -0.115571], abs=1e-6)


def test_a_radial_layer_by_its_numbers() -> None:
    layer = lens.radial((0.0, 1.0), 1.0, 2.0)
    assert lens.answer(layer, (3.0, 5.0)) == pytest.approx([4.0, 6.333333, 0.341749], abs=1e-6)


@pytest.mark.parametrize(
    "layer", [lens.planar((2.0, 0.5), (1.5, 0.3), 0.1, True), lens.radial((0.5, 0.0), 1.0, 3.0)]
)
def test_every_share_is_a_layer_of_the_same_kind(layer: Planar | Radial) -> None:
    run = lens.bend(layer, (1.0, -1.0))
    torch.testing.assert_close(run.grid[-1], layer.generate(lens.grid())[0])
    torch.testing.assert_close(run.grid[0], lens.grid())
    x, ladj = layer.generate(torch.tensor([1.0, -1.0], dtype=torch.float64))
    torch.testing.assert_close(run.moved[-1], x)
    assert float(run.ladj[-1]) == pytest.approx(float(ladj)) and float(run.ladj[0]) == 0
    assert (run.slopes > 0).all()
    steps = run.profile.diff(dim=1) / run.along.diff()
    torch.testing.assert_close(steps.min(1).values, run.slopes, rtol=0, atol=0.02)


def test_without_the_constraint_it_folds() -> None:
    free = lens.bend(lens.planar((-2.0, 0.0), (1.0, 0.0), 0.0, False), (1.0, -1.0))
    assert float(free.slopes[-1]) == pytest.approx(-1) and lens.preimages(free) == 3
    off = free.profile[-1]
    places = free.along[1:][(off[:-1] * off[1:]) <= 0]
    assert float(places.max()) == pytest.approx(1.915008, abs=0.03)
    held = lens.bend(lens.planar((-2.0, 0.0), (1.0, 0.0), 0.0, True), (1.0, -1.0))
    assert float(held.slopes[-1]) > 0 and lens.preimages(held) == 1


def test_what_the_page_shows() -> None:
    page = opened(step=20)
    x1, x2, ladj = lens.answer(lens.planar((2.0, 0.0), (2.0, 0.0), 0.0, True), (1.0, -1.0))
    assert spoken(film(page)["equations"][20]) == pytest.approx([x1, x2, ladj], abs=6e-5)
    assert metrics(page)["log |det J| at the point"] == f"{ladj:.4f}"
    folded = opened(u1=-2.0, w1=1.0, constrained="false", step=20)
    assert metrics(folded)["Places that go to 0"] == "3" and "folded" in film(folded)["captions"][20]
    sheared = metrics(opened(u1=0.0, u2=2.0, w1=1.5, constrained="false"))
    assert float(sheared["log |det J| at the point"]) == 0


def test_what_cannot_be_is_named() -> None:
    page = open_warned("flow/planar_radial", view="Radial", beta=-2.0)
    assert "is not above" in warnings(page) and float(metrics(page)["Least slope, all of the push"]) > 0
    assert "sees nothing" in warnings(run_page("flow/planar_radial", w1=0.0))


def test_training_on_a_potential_lowers_the_kl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lens, "TRAINED", 120)
    *_, (share, run) = lens.fit("banana", 2, seed=0)
    assert share == 1 and run.steps == [0, 40, 80, 120] and run.samples.shape == (4, 1000, 2)
    assert run.kl[-1] < 0.7 * run.kl[0]
    assert lens.density("ring").max() == 1
    assert "K = 16" in prose(opened(view="K layers"))
