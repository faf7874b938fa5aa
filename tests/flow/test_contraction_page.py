"""The page "Contraction": iterates, solutions, rates, and what is said where nothing settles."""

import itertools
import math
from functools import partial
from typing import Any

import pytest
import torch
from opening import figure, film, metrics, open_page, open_warned, prose, run_page, spoken, warnings
from scipy.optimize import brentq

from lab.lenses.typed import named
from pages.flow.contraction import lens

opened = partial(open_page, "flow/contraction")
SINE = lens.function("β sin z", 0.5, [])


def solving(f: lens.Function, y: float) -> Any:
    return lambda z: y - f.of(z)


def test_the_iterates_of_half_a_sine() -> None:
    run = lens.iterate(solving(SINE, 1.2), 0.0)
    assert run.path[1:8].tolist() == pytest.approx(
        [1.2, 0.733980, 0.865085, 0.819425, 0.834623, 0.829478, 0.831210], abs=5e-7
    )
    solution = brentq(lambda z: z + 0.5 * math.sin(z) - 1.2, 0, 2, xtol=1e-14)
    assert run.target == pytest.approx(solution, abs=1e-12) == pytest.approx(0.830773437664, abs=1e-11)
    assert run.solutions == pytest.approx([solution]) and run.settled == 26
    assert all(run.ratio(k) <= 0.5 for k in range(1, 20))
    assert (
        run.ratio(20)
        == pytest.approx(0.5 * math.cos(solution), abs=1e-4)
        == pytest.approx(0.337152, abs=1e-4)
    )


def test_beyond_one_it_diverges_though_there_is_a_solution() -> None:
    run = lens.iterate(solving(lens.function("β z", 1.8, []), 1.2), 0.0)
    assert run.path[1:5].tolist() == pytest.approx([1.2, -0.96, 2.928, -4.0704])
    assert run.solutions == pytest.approx([0.428571], abs=1e-6) and run.settled is None
    shown = metrics(opened(f="β z", beta=1.8))
    assert shown["Steps to 1e-12"] == "does not settle" and shown["z*"] == "0.428571"


def test_three_solutions_are_found() -> None:
    run = lens.iterate(solving(lens.function("β sin z", 3.0, []), 3.0), 0.5)
    assert len(run.solutions) == 3 and run.settled is None
    for z in run.solutions:
        assert z + 3 * math.sin(z) == pytest.approx(3, abs=1e-9)


def test_every_number_can_be_a_solution() -> None:
    run = lens.iterate(lens.function("β z", 1.0, []).of, 0.7)
    assert run.many == "endlessly many solutions" and run.settled == 0
    assert metrics(opened(map="f(z)", f="β z", beta=1.0))["Solutions"] == "endlessly many"


CURVED = [("β sin z", math.sin), ("β tanh z", math.tanh), ("β z", float)]


@pytest.mark.parametrize("name, plain", CURVED)
def test_solutions_hold_over_the_whole_range_of_the_knobs(name: str, plain: Any) -> None:
    """By the function of the standard library; of a contraction by another solver, and below the bound."""
    generator = torch.Generator().manual_seed(0)
    knobs = [(0.0, 4.0, -4.0), (0.95, -4.0, 4.0), (1.0, 1.2, 4.0), (3.0, 4.0, -4.0)]
    for a, b, c in torch.rand(3, 3, generator=generator).tolist():
        knobs.append((round(60 * a) / 20, round(80 * b - 40) / 10, round(80 * c - 40) / 10))
    for (beta, y, start), alone in itertools.product(knobs, (False, True)):
        f = lens.function(name, beta, [])
        run = lens.iterate(f.of if alone else solving(f, y), start)
        for z in [*run.solutions[:50], run.target]:
            assert (beta * plain(z) if alone else y - beta * plain(z)) == pytest.approx(z, abs=1e-9)
        if beta < 1:
            due = brentq(lambda z: z - (beta * plain(z) if alone else y - beta * plain(z)), -9, 9, xtol=1e-14)  # noqa: B023
            assert run.solutions == pytest.approx([due], abs=1e-9) and run.settled is not None
            bound = run.errors[0] * beta ** torch.arange(lens.STEPS + 1, dtype=torch.float64)
            assert (run.errors <= bound + 1e-9).all()


def test_solutions_of_typed_slopes_hold_however_far_out() -> None:
    """The pieces beyond the ends go on for ever: a slope of −0.99 has its only answer at 100 y."""
    run = lens.iterate(solving(lens.function("", 0, [-0.99]), 4.0), 0.0)
    assert run.solutions == pytest.approx([400.0], abs=1e-6) == [run.target]
    shown = metrics(opened(f="typed slopes", slopes="-0.99", y=4.0))
    assert shown["Solutions"] == "1" and float(shown["z*"]) == pytest.approx(400, abs=1e-3)
    assert shown["Steps to 1e-12"] == "more than 1,000"
    assert "exactly one solution" in prose(opened(f="typed slopes", slopes="-0.99", y=4.0))
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        count = int(torch.randint(1, 13, (), generator=generator))
        slopes = (torch.rand(count, generator=generator) * 10 - 5).round(decimals=2).double()
        slopes = slopes if count % 2 else (slopes / 5.1)
        f, y = lens.function("", 0, slopes.tolist()), float(torch.rand((), generator=generator) * 8 - 4)
        run = lens.iterate(solving(f, y), 0.0)
        for z in run.solutions:
            z = torch.tensor(z, dtype=torch.float64)
            assert float((z + f.of(z) - y).abs()) < 1e-9 * max(1, float(z.abs()))
        assert len(run.solutions) % 2 or abs(float(slopes[0])) > 1 or abs(float(slopes[-1])) > 1
        assert f.steepest >= 1 or len(run.solutions) == 1


def test_typed_slopes() -> None:
    f = lens.piecewise([1.0, -2.0, 0.5, 3.0])  # on [−4, −2], [−2, 0], [0, 2], [2, 4]
    z = torch.tensor([-5.0, -3.0, -1.0, 0.0, 1.0, 3.0, 5.0], dtype=torch.float64)
    assert f(z).tolist() == pytest.approx([1.0, 3.0, 2.0, 0.0, 0.5, 4.0, 10.0])
    slopes, text = named("0.5; −0.25, x 9 nan", 12, -5, 5)
    assert slopes == [0.5, -0.25] and "“x” and 2 more is left out" in text
    assert named("0,5 −0,25", 12, -5, 5)[0] == [0.5, -0.25]


def test_what_is_no_slope_is_named_and_the_rest_is_used() -> None:
    page = open_warned("flow/contraction", f="typed slopes", slopes="0.5 x 0.9")
    assert "“x” is left out" in warnings(page) and metrics(page)["Largest slope"] == "0.90"
    assert "Type at least one slope" in warnings(run_page("flow/contraction", f="typed slopes", slopes="x"))


def test_the_staircase_grows_by_two_lines_a_step() -> None:
    x, y = lens.cobweb(torch.tensor([0.0, 1.2, 0.7]))
    assert x[2].tolist() == pytest.approx([0, 0, 1.2, 1.2, 0.7])
    assert y[2].tolist() == pytest.approx([0, 1.2, 1.2, 0.7, 0.7])
    assert x.isfinite().sum(1).tolist() == [1, 3, 5]


def test_what_the_page_shows() -> None:
    page = opened()
    assert metrics(page) == {
        "Largest slope": "0.50", "Solutions": "1", "z*": "0.830773", "Steps to 1e-12": "26"
    }  # fmt: skip
    bar = film(page)
    assert bar["at"] == 6 and bar["count"] == lens.STEPS + 1
    assert spoken(bar["equations"][6]) == pytest.approx([1.2, -0.5, 0.834623, 0.829478])
    assert "0.336 times the one before" in bar["captions"][6]
    header, frames = figure(page, "errors")
    z = 0.0
    for k in range(10):
        assert frames["data.2.y"][k, 0] == pytest.approx(abs(z - 0.830773437664), rel=1e-5)
        z = 1.2 - 0.5 * math.sin(z)
    assert header["csv"].startswith("step,error")


def test_numbers_of_the_scenes() -> None:
    barely = lens.iterate(solving(lens.function("β z", 0.95, []), 1.2), 0.0)
    assert (
        float(barely.errors[30] / barely.errors[0]) == pytest.approx(0.95**30) == pytest.approx(0.2, abs=0.02)
    )
    alone = lens.iterate(lens.function("β sin z", 0.9, []).of, 3.5)
    assert alone.solutions == pytest.approx([0.0], abs=1e-9) and alone.settled == 252
    far = lens.iterate(solving(SINE, 1.2), -4.0)
    assert all(float(far.errors[k]) < 0.5**k * float(far.errors[0]) for k in range(1, 9))
    page = opened(f="typed slopes", slopes="0.9 -0.6 0.8 -0.9")
    assert metrics(page)["Largest slope"] == "0.90" and "exactly one solution" in prose(page)
