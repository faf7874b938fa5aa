"""The page "Continuous flow": paths, densities, errors against calls."""

from functools import partial
from itertools import pairwise

import pytest
import torch
from opening import film, metrics, open_page, run_page, spoken, warnings

from pages.flow.continuous import lens

opened = partial(open_page, "flow/continuous")
OWN = [[0.3, 0.2], [-0.1, 0.4]]
J = torch.tensor(OWN, dtype=torch.float64)


def test_a_linear_field_is_the_exponential_of_its_matrix() -> None:
    run = lens.ride(lens.field("own matrix", OWN), "rk4", 16, 1.0, (1.0, 2.0))
    start = torch.tensor([1.0, 2.0], dtype=torch.float64)
    truth = torch.linalg.matrix_exp(J) @ start
    torch.testing.assert_close(run.marked[-1], truth, rtol=0, atol=1e-7)
    assert truth.tolist() == pytest.approx([1.901895, 2.813338], abs=1e-6)
    assert float(run.ladj[-1]) == pytest.approx(0.7) and run.back < 1e-7 and run.calls == 64
    late = torch.distributions.MultivariateNormal(torch.zeros(2).double(), torch.linalg.matrix_exp(J)
                                                  @ torch.linalg.matrix_exp(J).T)  # fmt: skip
    cell = (2 * lens.REACH / lens.CELLS) * (torch.arange(lens.CELLS) + 0.5).double() - lens.REACH
    inside = torch.cartesian_prod(*[torch.tensor([-0.25, 0.25]) * (2 * lens.REACH / lens.CELLS)] * 2)
    at = torch.stack([cell[40], cell[22]]) + inside  # a cell's mean is that of its four points
    assert float(run.density[-1, 22, 40]) == pytest.approx(float(late.log_prob(at).exp().mean()), rel=1e-4)


@pytest.mark.parametrize("name, time", [("waves", 4.0), ("parting", 1.0)])
def test_the_mass_in_the_window_holds_at_the_ends_of_time(name: str, time: float) -> None:
    """By another road: points of the base that the flow carries into the window. Folded four times long, the
    cloud has sheets of a cell's width, of which 60 cells a side lost 2.9e-3."""
    result, side = lens.field(name), 500
    shown = (
        lens.densities(result, lens.frames(time))[-1].sum() * (2 * lens.REACH / lens.CELLS / lens.FINER) ** 2
    )
    axis = (torch.arange(side, dtype=torch.float64) + 0.5) * (12 / side) - 6  # what starts beyond has 4e-9
    start = torch.cartesian_prod(axis, axis)
    (end, _), _ = lens.layer(result, "rk4", 24, time).flow(start, 0.0, time)
    carried = (end.abs() < lens.REACH).all(1) * lens.log_base(start).exp()
    assert float(shown) == pytest.approx(float(carried.sum()) * (12 / side) ** 2, abs=1e-3)


def test_errors_fall_with_the_order() -> None:
    cost = lens.costs(lens.field("own matrix", OWN), 1.0, (1.0, 2.0))
    assert cost["rk4"].calls == [4 * n for n in lens.COUNTS] and cost["euler"].calls == list(lens.COUNTS)
    rk4 = [a / b for a, b in pairwise(cost["rk4"].errors[:4])]
    euler = [a / b for a, b in pairwise(cost["euler"].errors)]
    assert all(12 < r < 20 for r in rk4) and all(1.6 < r < 2.1 for r in euler)
    assert cost["rk4"].errors[:4] == pytest.approx([1.5e-4, 1.0e-5, 6.8e-7, 4.4e-8], rel=0.05)


@pytest.mark.parametrize("name", ["parting", "waves", "turning", "spiral"])
def test_fields_their_divergence_and_the_mass(name: str) -> None:
    result = lens.field(name)
    h = torch.tensor([0.3, -0.8], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(
        lambda z: result.divergence(0.0, z[None], torch.zeros(1, 1, 2).double())[0][0], h
    )
    assert lens.trace(result, h) == pytest.approx(float(jacobian.trace()))
    run = lens.ride(result, "rk4", 8, 1.0, (1.0, 0.5))
    assert float(run.mass[0]) == pytest.approx(1, abs=1e-3) and float(run.mass.min()) > 0.98
    assert run.back < 1e-4


def test_what_the_page_shows() -> None:
    page = opened(field="own matrix", h1=1.0, h2=2.0, step=20)
    shown = metrics(page)
    assert shown["log |det J| at T"] == "0.7000" and shown["Calls of the field"] == "32"
    start = float(lens.log_base(torch.tensor([1.0, 2.0]).double()))
    assert spoken(film(page)["equations"][20]) == pytest.approx([start, 0.7, start - 0.7], abs=2e-4)
    assert "(1.902, 2.813)" in film(page)["captions"][20]


def test_numbers_of_the_scenes() -> None:
    half = lens.ride(lens.field("turning"), "rk4", 8, 3.1, (1.0, 0.5))
    assert half.marked[-1].tolist() == pytest.approx([-1, -0.5], abs=0.06)
    assert float(half.ladj[-1]) == pytest.approx(0, abs=1e-12)
    spiral = lens.field("spiral")
    coarse, fine = (lens.ride(spiral, s, n, 1.0, (1.0, 0.5)) for s, n in (("euler", 2), ("rk4", 16)))
    assert coarse.calls == 2 and coarse.back > 0.5 and fine.back < 1e-4
    assert float(fine.ladj[-1]) == pytest.approx(-1)


def test_a_bad_matrix_is_named() -> None:
    link = partial(run_page, "flow/continuous", field="own matrix")
    assert "'x' is no number" in warnings(link(J="0.3 x; 1 2"))
    assert "two rows" in warnings(link(J="0.3"))
