"""The page "Parameter counts" and its lens: formulas against arrays, multiplications against hand counts."""

import math
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from lab.lenses import counting

PAGE = Path(__file__).resolve().parents[2] / "pages" / "autoregressive" / "parameters.py"


@pytest.mark.parametrize("name", counting.MODELS)
@pytest.mark.parametrize(("n", "k", "d"), [(2, 0, 1), (5, 2, 3), (9, 8, 4)])
def test_formulas_are_what_the_arrays_hold(name: str, n: int, k: int, d: int) -> None:
    model = counting.MODELS[name](n, k, d)
    assert model.num_parameters == counting.FORMULAS[name](n, k, d)
    stored = sum(p.numel() for p in model.parameters())
    assert stored == (model.num_parameters if stored else 0)


def test_published_counts() -> None:
    formula = counting.FORMULAS
    assert formula["joint table"](10, 1, 1) == formula["chain-rule table"](10, 1, 1) == 1023
    assert [formula["chain of memory k"](784, k, 1) for k in (1, 2, 3, 4, 8)] == [
        1_567, 3_131, 6_255, 12_495, 198_911,
    ]  # fmt: skip
    assert formula["FVSBN"](784, 1, 1) == 307_720
    assert formula["untied networks"](784, 1, 500) == 153_861_284
    assert formula["NADE"](784, 1, 500) == formula["MADE"](784, 1, 500) == 785_284


def test_multiplications_are_seen_as_they_happen() -> None:
    weight, vector = torch.randn(5, 7), torch.randn(7)

    def run(batch: int) -> torch.Tensor:
        x = torch.randn(batch, 7)
        return (x @ weight.t()) * 2.0 + (x @ vector)[:, None] + weight.sum() * 3

    assert counting.multiplications(run) == 5 * 7 + 5 + 7  # the last product is not per example


def test_costs_of_the_family() -> None:
    n, d = 12, 8
    cost = {name: counting.cost(name, n, 2, d) for name in counting.MODELS}
    assert cost["joint table"].likelihood == cost["chain of memory k"].sample == 0  # only looked up
    assert cost["FVSBN"].likelihood == n * n and cost["FVSBN"].passes == n * n * n
    assert cost["MADE"].likelihood == 2 * n * d and cost["MADE"].passes == 2 * n * n * d
    # the running state makes a sample as cheap as a likelihood
    assert cost["NADE"].sample == cost["MADE"].sample == 2 * n * d
    assert cost["untied networks"].likelihood > cost["MADE"].likelihood
    assert cost["NADE"].passes == n * cost["NADE"].likelihood > n * cost["NADE"].sample
    assert {c.steps for c in cost.values()} == {n}
    assert counting.cost("joint table", 40, 1, 1).numbers is None


def test_crossing_and_the_misprint() -> None:
    n = counting.crossing(2, 16, 100)
    assert n is not None
    for m, larger in ((n, True), (n - 1, False)):
        assert (2**m - 1 > 2 * m * 16 + 16 + m) == larger
    assert counting.contexts_as_printed(3) == (7, 4)


def open_page(**parameters: str) -> AppTest:
    page = AppTest.from_file(str(PAGE), default_timeout=120)
    for name, value in parameters.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception and not page.warning
    return page


def test_the_page_shows_the_counted_number() -> None:
    page = open_page(n="8", d="5", model="NADE")
    live = counting.MODELS["NADE"](8, 2, 5).num_parameters
    assert f"= {live}\\qquad\\text{{counted: }}{live}" in page.latex[0].value
    assert any("sums to 247, not to the 255" in m.value for m in page.markdown)


def test_the_page_says_what_is_too_large() -> None:
    page = open_page(n="40", model="joint table")
    assert str(2**40 - 1) in page.latex[0].value
    assert any("Not made" in c.value and "joint table" in c.value for c in page.caption)
    assert math.log2(counting.FORMULAS["joint table"](40, 0, 1) + 1) == 40
