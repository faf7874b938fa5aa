"""The page "FVSBN inspector" and its lens: the known network of four bits, and any other one."""

import math
from functools import partial

import pytest
import torch
from opening import figure, film, metrics, numbers, open_page, open_warned

from pages.autoregressive.fvsbn import lens

opened = partial(open_page, "autoregressive/fvsbn")
KNOWN = (0.54983400, 0.37754067, 0.75026011, 0.59868766)  # x̂ of 0110


def by_hand(rows: list[list[float]], order: list[int], x: list[int]) -> float:
    p = 1.0
    for rank, i in enumerate(order):
        logit = rows[rank][0] + sum(w * x[j] for w, j in zip(rows[rank][1:], order[:rank], strict=True))
        one = 1 / (1 + math.exp(-logit))
        p *= one if x[i] else 1 - one
    return p


def test_the_known_network() -> None:
    model = lens.network(lens.typed_rows(lens.EXAMPLE), torch.arange(4))
    factors = lens.factors(model, lens.typed_string("0110"))
    assert [f.p for f in factors] == pytest.approx(KNOWN, abs=5e-9)
    distribution = lens.distribution(model)
    assert float(distribution.p[6]) == pytest.approx(0.0511718127, abs=1e-10)
    assert math.prod(f.factor for f in factors) == pytest.approx(float(distribution.p[6]), abs=1e-15)
    assert math.log(float(distribution.p[6])) == pytest.approx(-2.9725664, abs=1e-7)
    assert distribution.total == pytest.approx(1, abs=1e-12)
    assert distribution.entropy == pytest.approx(2.6209354, abs=1e-7)
    assert distribution.likeliest == "0011" and float(distribution.p.max()) == pytest.approx(
        0.12076528, abs=1e-8
    )


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0]])
def test_every_string_in_any_order(order: list[int]) -> None:
    rows = lens.typed_rows("0.7; -1, 2; 0.5 -3 1; 0 1 -2 0.25")
    distribution = lens.distribution(lens.network(rows, torch.tensor(order)))
    for name, p in zip(distribution.names, distribution.p.tolist(), strict=True):
        assert p == pytest.approx(by_hand(rows, order, [int(c) for c in name]), abs=1e-12)


def test_strings_that_agree_hold_the_product_of_the_factors() -> None:
    model = lens.network(lens.typed_rows(lens.EXAMPLE), torch.tensor([2, 0, 3, 1]))
    x = lens.typed_string("0110")
    read, p = lens.reading(model, x), lens.distribution(model).p
    assert read.agree.sum(1).tolist() == [8, 4, 2, 1] and bool(read.agree[:, 6].all())
    assert [float(p[mask].sum()) for mask in read.agree] == pytest.approx(read.mass.tolist(), abs=1e-12)
    assert read.ones.isnan().sum(1).tolist() == [3, 2, 1, 0]
    captions = lens.captions(model, x)
    assert f"{float(p[read.agree[1]].sum()):.5f}" in captions[1] and "4 strings" in captions[1]
    factors = {f.variable: f.factor for f in lens.factors(model, x)}
    assert lens.smallest(model, x) == min(factors, key=factors.__getitem__)
    fair = lens.network(lens.typed_rows("0; 0 0; 0 0 0; 0 0 0 0"), torch.arange(4))
    assert lens.smallest(fair, x) is None


def test_what_is_typed_is_checked() -> None:
    for wrong, what in [
        ("1; 2", "triangle"),
        ("1; 2 3; 4 5 6; 7 8 9", "triangle"),
        ("a; 1 2; 1 2 3; 1 2 3 4", "numbers"),
        ("1e9; 1 2; 1 2 3; 1 2 3 4", "between"),
        ("nan; 1 2; 1 2 3; 1 2 3 4", "between"),
    ]:
        with pytest.raises(ValueError, match=what):
            lens.typed_rows(wrong)
    for wrong in ("011", "0121", ""):
        with pytest.raises(ValueError, match="four bits"):
            lens.typed_string(wrong)
    grid = lens.triangle(lens.typed_rows(lens.EXAMPLE))
    assert grid[2, :3].tolist() == pytest.approx([0.3, -1.2, 0.8]) and grid.isnan().sum() == 6


def test_page_shows_the_known_numbers() -> None:
    page = opened()
    shown = metrics(page)
    assert (
        shown["p(0110)"] == "0.05117" and shown["Σ of all 16"] == "1.00000" and shown["Likeliest"] == "0011"
    )
    assert float(shown["Entropy, nats"]) == pytest.approx(2.6209354, abs=6e-6)
    bar = film(page)
    assert bar["at"] == 2 and f"{KNOWN[2]:.8f}" in bar["equations"][2] and "0.7503" in bar["captions"][2]
    assert figure(page, "conditionals")[1]["data.0.y"][3].tolist() == pytest.approx(KNOWN, abs=1e-6)
    *factors, p = numbers(page.latex[0].value)
    assert math.prod(factors) == pytest.approx(p, abs=1e-7) and p == pytest.approx(0.0511718127, abs=1e-10)


def test_page_takes_other_weights_and_an_order() -> None:
    text, order = "1; 0.5 -2; 0 0 3; -1 1 1 -1", [3, 1, 0, 2]
    page = opened(a=text, x="1011", order="4 2 1 3")
    expected = by_hand(lens.typed_rows(text), order, [1, 0, 1, 1])
    assert float(metrics(page)["p(1011)"]) == pytest.approx(expected, abs=6e-6)
    assert numbers(page.latex[0].value)[-1] == pytest.approx(expected, abs=1e-10)
    assert metrics(page)["Σ of all 16"] == "1.00000"
    logit = 0 + 0 * 1 + 3 * 0  # row 3 reads x4 and x2
    latex = lens.row_equation(lens.typed_rows(text), torch.tensor(order), lens.typed_string("1011"), 2)
    assert numbers(latex)[-1] == pytest.approx(1 / (1 + math.exp(-logit)), abs=5e-9)
    assert r"\mid x_4, x_2" in latex and "0.50000000" in film(page)["equations"][2]
    assert "four bits" in open_warned("autoregressive/fvsbn", x="2").warning[0].value
    assert "triangle" in open_warned("autoregressive/fvsbn", a="1 2 3").warning[0].value
