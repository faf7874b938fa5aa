"""The page "Linear and LU": areas, triangles and their determinant."""

import math
from functools import partial

import pytest
import torch
from opening import figure, film, metrics, open_page, open_warned, prose, run_page, spoken, warnings

from pages.flow.linear_flow import cost, lens

opened = partial(open_page, "flow/linear_flow")
ORACLE = ([2.0, -0.5, 4.0], [0.5, -1.0, 2.0], [3.0, -1.0, 0.5], [2, 3, 1])


def test_the_oracle_of_lu() -> None:
    layer = lens.layer(*ORACLE, [1.0, 1.0, 1.0])
    assert layer.matrix().tolist() == [[1, 1, 0], [-2, -4, 6], [2, 3, -1]]
    assert float(layer.log_det()) == pytest.approx(math.log(4))
    h = lens.column([1, 2, 3])
    x, ladj = layer.generate(h)
    assert x.tolist() == pytest.approx([3, 8, 5]) and float(ladj) == pytest.approx(1.386294, abs=1e-6)
    assert layer.solve(x).tolist() == pytest.approx([1, 2, 3])
    scaled = lens.layer(*ORACLE, [2.0, 3.0, 0.5])
    assert float(scaled.matrix().slogdet().logabsdet) == pytest.approx(2.484907, abs=1e-6)
    assert float(scaled.log_det()) == pytest.approx(1.386294, abs=1e-6)


@pytest.mark.parametrize("diagonal", [[1.0, 1.0, 1.0], [2.0, 3.0, 0.5]])
def test_the_steps_of_the_solution(diagonal: list[float]) -> None:
    layer = lens.layer(*ORACLE, diagonal)
    run = lens.solve(layer, lens.column([1, 2, 3]))
    assert run.vectors.shape == (8, 4, 3) and run.vectors[-1, 3].tolist() == pytest.approx([1, 2, 3])
    lower, upper = layer.factors()
    torch.testing.assert_close(lower @ run.vectors[-1, 2], run.vectors[-1, 1])
    torch.testing.assert_close(upper @ run.vectors[-1, 3], run.vectors[-1, 2])
    torch.testing.assert_close(lens.permutation(layer) @ run.vectors[-1, 1], run.vectors[-1, 0])
    known = (~run.vectors.isnan()).flatten(1).sum(1)
    assert known.tolist() == [3, 6, 7, 8, 9, 10, 11, 12]


@pytest.mark.parametrize("text", ["2 0; 1 3", "-1 2; 1.5 0.5", "0 1; 1 0", "0.866 -0.5; 0.5 0.866"])
def test_the_area_is_the_determinant(text: str) -> None:
    omega = lens.matrix(text)
    plane = lens.plane(omega, lens.column([1, -1]))
    assert float(plane.areas[-1]) == pytest.approx(abs(float(omega.det())))
    whole = torch.eye(2, dtype=torch.float64)
    for factor in plane.factors:
        whole = factor @ whole
    torch.testing.assert_close(whole, omega)
    torch.testing.assert_close(plane.cloud[-1], plane.cloud[0] @ omega.T + lens.column([1, -1]))
    ratio = plane.areas[1:] / plane.areas[:-1]
    assert ratio[[0, 2, 3, 4]].tolist() == pytest.approx([1] * 4)  # D alone changes areas


def test_86_per_cent_lie_within_the_circle() -> None:
    assert 1 - math.exp(-(2**2) / 2) == pytest.approx(0.86, abs=5e-3)


def test_times_come_in_order_and_a_slope_is_read() -> None:
    *_, (share, rows) = cost.timings(sizes=(8, 16, 32), seconds=0)
    assert share == 1 and rows["D"] == [8, 16, 32]
    assert all(len(values) == 3 and min(values) > 0 for values in rows.values())
    assert cost.exponent([8, 16, 32], [2, 16, 128]) == pytest.approx(3)
    assert cost.exponent([4, 8, 16, 32], [900, 64, 256, 1024]) == pytest.approx(2)  # the last three


def test_what_the_page_shows() -> None:
    page = opened()
    shown, bar = metrics(page), film(page)
    assert shown["det Ω"] == shown["Area of the image"] == shown["Π |D|"] == "6.000000"
    assert shown["log |det Ω|"] == f"{math.log(6):.6f}"
    assert "multiplies areas by 6.000" in bar["captions"][2] and "keeps areas" in bar["captions"][3]
    assert spoken(bar["equations"][4]) == pytest.approx([6, 6])
    _, frames = figure(page, "plane")
    assert frames["data.2.x"].shape == (6, 5)


def test_numbers_of_the_scenes() -> None:
    leaning = lens.plane(lens.matrix("2 1; 1 3"), lens.column([0, 0]))
    assert float(leaning.areas[1]) == pytest.approx(1) and float(leaning.areas[2]) == pytest.approx(5)
    assert float((leaning.square[1] - leaning.square[0]).abs().max()) > 0.1
    solved = opened(view="triangles")
    assert metrics(solved)["Σ log |D|"] == "1.386294" and "read off D" in prose(solved)
    other = opened(view="triangles", diagonal="2 3 0.5")
    assert metrics(other)["log |det Ω|"] == "2.484907" and "misses 1.099" in prose(other)
    assert spoken(film(other)["equations"][7])[-1] == pytest.approx(1)


def test_what_cannot_be_used_is_named() -> None:
    assert "determinant is 0" in warnings(run_page("flow/linear_flow", matrix="1 2; 2 4"))
    assert "'x' is no number" in warnings(run_page("flow/linear_flow", matrix="1 x; 2 4"))
    assert "“q” is left out" in warnings(open_warned("flow/linear_flow", bias="1 q 2"))
    for text, link in {
        "L needs 3 numbers": {"l": "1"}, "each of 1 to 3": {"order": "1 1 2"},
        "0 on a diagonal": {"d": "1 0 2"}, "D needs 2 to 4": {"d": "1"}, "h needs 3": {"h": "1"},
    }.items():  # fmt: skip
        assert text in warnings(run_page("flow/linear_flow", view="triangles", **link))
