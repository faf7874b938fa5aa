"""The page "Parameter counts" and its lens: formulas against arrays, multiplications against hand counts."""

import csv
import math
from functools import partial

import pytest
import torch
from opening import figure, metrics, move, open_page, prose

from lab.bench import nade as bench
from modules.autoregressive.nade import NADE
from modules.autoregressive.pixelcnn import MaskedConv2d
from pages.autoregressive.parameters import asymmetry, counting, figures, lens, race

opened = partial(open_page, "autoregressive/parameters")


@pytest.mark.parametrize("name", lens.MODELS)
@pytest.mark.parametrize(("n", "k", "d"), [(2, 0, 1), (5, 2, 3), (9, 8, 4)])
def test_formulas_are_what_the_arrays_hold(name: str, n: int, k: int, d: int) -> None:
    model = lens.MODELS[name](n, k, d)
    assert model.num_parameters == lens.FORMULAS[name](n, k, d)
    stored = sum(p.numel() for p in model.parameters())
    assert stored == (model.num_parameters if stored else 0)


def test_published_counts() -> None:
    formula = lens.FORMULAS
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
    cost = {name: lens.cost(name, n, 2, d) for name in lens.MODELS}
    assert cost["joint table"].likelihood == cost["chain of memory k"].sample == 0  # only looked up
    assert cost["FVSBN"].live == n * (n - 1) // 2 and cost["MADE"].live == n * d  # half are masked
    assert cost["FVSBN"].likelihood == n * n and cost["FVSBN"].passes == n * n * n
    assert cost["MADE"].likelihood == 2 * n * d and cost["MADE"].passes == 2 * n * n * d
    assert cost["untied networks"].live == d * n * (n - 1) // 2 + n * d < cost["untied networks"].likelihood
    # the running state makes a sample as cheap as a likelihood
    assert cost["NADE"].sample == cost["MADE"].sample == 2 * n * d
    assert cost["untied networks"].likelihood > cost["MADE"].likelihood
    assert cost["NADE"].passes == n * cost["NADE"].likelihood > n * cost["NADE"].sample
    assert {c.steps for c in cost.values()} == {n}
    assert lens.cost("joint table", 40, 1, 1).numbers is None


@pytest.mark.parametrize("name", lens.MODELS)
def test_what_a_model_does_not_depend_on_is_left_out_of_its_key(name: str) -> None:
    for n, k, d in ((5, 3, 4), (7, 2, 6)):
        assert lens.FORMULAS[name](*lens.depends(name, n, k, d)[1:]) == lens.FORMULAS[name](n, k, d)


def test_crossing_and_the_misprint() -> None:
    n = lens.crossing(2, 16, 100)
    assert n is not None
    for m, larger in ((n, True), (n - 1, False)):
        assert (2**m - 1 > 2 * m * 16 + 16 + m) == larger
    assert lens.contexts_as_printed(3) == (7, 4)


# --- Asymmetry ----------------------------------------------------------------------------------------


def counted(name: str) -> asymmetry.Counts:
    return asymmetry.count(name, asymmetry.MODELS[name](28, 500).eval())


@pytest.mark.heavy
def test_published_costs_are_counted_in_runs() -> None:
    """n = 784, d = 500."""
    fvsbn, nade, made = (counted(name) for name in ("FVSBN", "NADE", "MADE"))
    assert fvsbn.live == 306_936 and fvsbn.one_pass == 784**2
    assert nade.sample == 784_000 and nade.steps == 784  # and so much is a likelihood by the running state
    assert made.one_pass == 784_000 and made.live == 392_000
    passes = counted(asymmetry.PASSES)
    assert passes.sample == 614_656_000 and passes.steps == 784
    assert asymmetry.expected(784, 500) == (784_000, 614_656_000)
    model = NADE(event_shape=(784,), hidden=500).eval()
    # every state anew from all pixels before it
    assert counting.multiplications(lambda batch: bench.recomputed(model, batch)) == 153_860_000


def test_masked_taps_of_a_convolution_are_left_out() -> None:
    torch.manual_seed(0)
    layer = MaskedConv2d(2, 4, (3, 3), (1, 1), "A")

    def run(batch: int) -> torch.Tensor:
        return layer(torch.ones(batch, 2, 6, 5))

    live = 4 * 2 * 4 * 30  # four of nine taps
    assert counting.multiplications(run, live=True) == live <= counting.multiplications(run)


def test_slopes_are_exponents() -> None:
    n = [10.0, 20.0, 40.0, 80.0]
    assert asymmetry.slope(n, [3 * v**2 for v in n]) == pytest.approx(2, abs=1e-12)
    assert asymmetry.slope(n, [5.0] * 4) == pytest.approx(0, abs=1e-12)


def test_sampling_takes_longer_than_scoring_and_full_passes_longest() -> None:
    *_, (share, result) = asymmetry.measure([8, 16], hidden=64, batch=8)
    assert share == 1 and len(result) == 2 * len(asymmetry.MODELS)
    by_name = {t.model: t for t in result if t.n == 256}
    assert all(t.sample > 2 * t.log_prob for t in by_name.values())
    assert by_name[asymmetry.PASSES].counts.sample == 256 * by_name["MADE"].counts.one_pass
    rows = asymmetry.table(result)
    at = rows["model"].index("MADE")
    times = [next(t for t in result if (t.model, t.n) == ("MADE", n)) for n in (64, 256)]
    exponent = math.log(times[1].sample / times[0].sample) / math.log(4)
    assert float(rows["slope, sample"][at]) == pytest.approx(exponent, abs=0.006)
    assert asymmetry.lines(result, "sample")["MADE"] == ([64, 256], [1000 * t.sample for t in times])
    assert asymmetry.count_table(result)["n"] == [256] * 5


def test_draws_by_full_passes_are_those_of_the_running_state() -> None:
    model = NADE(event_shape=(9,), hidden=5).eval()
    torch.manual_seed(3)
    drawn = asymmetry.draw_by_passes(model, 4000)
    p = model.log_prob(torch.tensor([[float(b) for b in f"{i:09b}"] for i in range(512)])).exp().detach()
    index = (drawn @ (2.0 ** torch.arange(8, -1, -1))).long()
    counts = index.bincount(minlength=512)
    chi2 = ((counts - 4000 * p) ** 2 / (4000 * p)).sum()
    assert chi2 < 511 + 5 * math.sqrt(2 * 511)


def test_a_clicked_point_is_found_on_its_curve() -> None:
    sizes = [1, 2, 3]
    lines = {"a": [1.0, 3.0, 7.0], "b": [2.0, 4.0, 6.0]}
    assert lens.clicked(lines, sizes, 2, 4.0) == ("b", 2) and lens.clicked(lines, sizes, 3, 7.0) == (
        "a",
        3,
    )
    assert lens.clicked(lines, sizes, 2, 5.0) is None and lens.clicked(lines, sizes, 9, 1.0) is None


@pytest.mark.parametrize("name", lens.MODELS)
def test_operands_are_the_formulas_numbers(name: str) -> None:
    for n, k, d in ((6, 2, 3), (3, 5, 1)):
        latex = lens.operands(name, n, k, d).replace("\\cdot", "*").replace("^", "**")
        if name == "chain-rule table":
            assert latex.endswith(f"2**{{{n - 1}}}")
            continue
        plain = latex.replace("\\tfrac{", "((").replace("}{2}", ")/2)").replace("{", "(").replace("}", ")")
        assert eval(plain) == lens.FORMULAS[name](n, k, d)


def test_the_page_shows_the_counted_number() -> None:
    page = opened(n="8", d="5", model="NADE")
    live = lens.MODELS["NADE"](8, 2, 5).num_parameters
    assert f"= {live}\n" in page.latex[0].value
    assert any(f"NADE, n = 8: {live} counted." in c.value for c in page.caption)
    assert "sums to 247, not to the 255" in prose(page)


def test_the_page_says_what_is_too_large() -> None:
    page = opened(n="40", model="joint table")
    assert str(2**40 - 1) in page.latex[0].value
    assert any("too large to be made" in c.value for c in page.caption)
    assert any("Not made" in c.value and "joint table" in c.value for c in page.caption)
    assert math.log2(lens.FORMULAS["joint table"](40, 0, 1) + 1) == 40


def test_a_click_on_a_curve_shows_its_formula_with_its_numbers() -> None:
    y = lens.FORMULAS["FVSBN"](20, 2, 16)
    page = opened(curve=f"20,{y}")
    assert "\\tfrac{20 \\cdot 21}{2} = 210" in page.latex[0].value
    assert any("FVSBN, n = 20, as clicked: 210 counted" in c.value for c in page.caption)


@pytest.mark.parametrize("name", lens.MODELS)
def test_the_program_of_every_model_counts_it(name: str) -> None:
    space: dict[str, int] = {}
    exec(lens.program(name, 7, 2, 3), space)
    assert space["result"] == lens.FORMULAS[name](7, 2, 3)
    if name.endswith("table"):
        exec(lens.program(name, 40, 2, 3), space)
        assert space["result"] == lens.FORMULAS[name](40, 2, 3)


def test_curves_that_are_one_are_both_seen() -> None:
    sizes = [1, 2, 3]
    lines = {name: lens.curve(name, sizes, 1, 4) for name in ("joint table", "NADE", "MADE")}
    joint, nade, made = figures.counts(lines, sizes, 2).data
    assert nade.line.width > made.line.width and (nade.line.dash, made.line.dash) == ("solid", "dot")
    assert nade.line.color != made.line.color and joint.line.dash == "solid"


def test_the_check_knows_where_the_joint_table_overtakes() -> None:
    bands = [lens.crossing(2, d, 40) for d in (1, 16, 64)]
    assert bands == [4, 9, 11]
    for d in range(1, 65):
        assert 4 <= (lens.crossing(2, d, 40) or 0) <= 11


def test_the_race_shows_cards_and_the_best_within_the_budget() -> None:
    page = opened(show="Race", budget="5000")
    header, _ = figure(page, "race")
    rows = list(csv.reader(header["csv"].splitlines()))[1:]
    assert [row[0] for row in rows] == list(race.RACERS)
    assert metrics(page)["Best with 5,000 numbers"] == "NADE, d = 32"
    assert metrics(page)["Nats"] == "17.92"
    assert all(float(row[3]) > 0 and float(row[4]) > 0 for row in rows)


def test_the_cheapest_within_a_budget_comes_first() -> None:
    results = [race.Racer("a", 10, 3.0, 1, 1), race.Racer("b", 20, 1.0, 1, 1), race.Racer("c", 30, 0.5, 1, 1)]
    assert [r.name for r in race.within(results, 20)] == ["b", "a"]


def test_the_time_view_promises_before_it_measures() -> None:
    page = opened(show="Time")
    assert "figure" in figure(page, "promised")[0]
    assert "2nd = 51{,}200" in page.latex[0].value and "13{,}107{,}200" in page.latex[0].value
    move(page, "width", 50)
    assert "2nd = 25{,}600" in page.latex[0].value
