"""Collapse: what a code costs and saves, the probes, the course of a training, and the reader's string."""

import pytest
import torch
from opening import equation, figure, film, numbers, open_page, open_warned, prose, spoken, table_with

from lab import weights
from lab.ui.models import loading
from pages.latent.collapse import lens

SWAP = "Codes swapped"
SHIPPED = ("gru-chains", "gru-freebits-chains", "order1-chains", "factorised-chains")


@pytest.fixture(scope="module")
def result() -> dict[str, lens.Use]:
    data = (*lens.chains("test"), *lens.chains("train"))
    return {name: lens.use(weights.load(name), *data) for name in SHIPPED}


def test_which_models_are_offered() -> None:
    chains, digits = (set(loading.trained("latent", lens.fits(data))) for data in lens.DATA)
    assert set(SHIPPED) <= chains and {"vae-bits-digits", "madevae-digits"} <= digits
    assert not {"beta4-digits", "vae-digits", "vae-mnist"} & digits and not chains & digits


@pytest.mark.parametrize("name", SHIPPED)
def test_bound_and_kl_are_the_cards(name: str, result: dict[str, lens.Use]) -> None:
    card = weights.read_card(loading.folder(name))["metrics"]
    assert result[name].paid == pytest.approx(card["test/kl"], rel=0.1)
    assert result[name].cost == pytest.approx(card["test/elbo"], rel=2e-2)


def test_what_the_scenes_say(result: dict[str, lens.Use]) -> None:
    assert abs(result["gru-chains"].saved) < 0.05 and result["gru-chains"].paid < 0.05
    assert result["gru-freebits-chains"].saved > 1
    most = max(result, key=lambda name: result[name].saved)
    assert most == "factorised-chains"
    ends = {name: loading.history(name) for name in SHIPPED}
    costs = {name: h["val/rec"][-1] + h["val/kl"][-1] for name, h in ends.items()}
    remembering = [cost for name, cost in costs.items() if name != "factorised-chains"]
    assert max(remembering) - min(remembering) < 0.5 < costs["factorised-chains"] - max(remembering)
    assert ends["gru-chains"]["val/kl"][0] < 0.1
    plain, results = (
        lens.use(weights.load(name), *(2 * digits())) for name in ("vae-bits-digits", "madevae-digits")
    )
    assert results.saved < plain.saved


@pytest.mark.parametrize("data", lens.DATA)
def test_the_kl_of_all_dimensions_is_the_models_own(data: str) -> None:
    """Against the bound's parts as the model computes them, in another order, and the card."""
    x = lens.chains("test")[0] if data == "Two chains" else digits()[0]
    for name in loading.trained("latent", lens.fits(data)):
        model = weights.load(name)
        dimensions = lens.dimensions(model, x)
        parts = model.elbo_terms(x[:50], generator=torch.Generator().manual_seed(0))
        few = lens.dimensions(model, x[:50])
        torch.testing.assert_close(few.kl, parts.kl.mean(0)[few.order].detach())
        assert few.paid == pytest.approx(parts.kl.sum(-1).mean().item(), rel=1e-5)
        card = weights.read_card(loading.folder(name))["metrics"]
        assert int(dimensions.active.sum()) == card["test/active"]
        assert dimensions.paid == pytest.approx(card["test/kl"], rel=1e-4 if data == "Digits" else 0.1)
        assert (dimensions.kl.diff() <= 0).all() and sorted(dimensions.order) == list(range(model.latent_dim))
        assert (dimensions.kl >= 0.5 * dimensions.moved).all()  # a mean that moves is paid for


def test_the_dimensions_that_the_page_shows() -> None:
    page = open_page("latent/collapse", view="Dimensions", data="Digits", which=2)
    names = loading.trained("latent", lens.fits("Digits"))
    results = [lens.dimensions(weights.load(name), digits()[0]) for name in names]
    text, (_, frames) = film(page, "which"), figure(page, "dimensions")
    assert text["at"] == 2 and names[2] == "madevae-digits" and text["count"] == len(names)
    for at, one in enumerate(results):
        assert frames["data.0.y"][at] == pytest.approx(one.kl.tolist(), rel=1e-4)
        *terms, total = spoken(text["equations"][at])
        assert terms == pytest.approx(one.kl.tolist(), abs=6e-3)  # two digits, that all ten have room
        assert total == pytest.approx(one.paid, abs=6e-4)
    result, plain = results[2], results[names.index("vae-bits-digits")]
    assert int(result.active.sum()) == 10 and (plain.kl > result.kl).all()  # what the scene says
    assert lens.short(names)[lens.cheapest(results)] == "madevae-freebits"


def test_a_dimension_may_be_active_and_unused() -> None:
    names = loading.trained("latent", lens.fits("Two chains"))
    assert names[2] == "gru-chains"
    one = lens.dimensions(weights.load("gru-chains"), lens.chains("test")[0])
    assert one.active.tolist() == [True, False] and one.paid < 0.02
    page = open_page("latent/collapse", view="Dimensions", which=2)
    assert "less than a tenth of a nat" in prose(page)


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    from lab.lenses import stock

    return stock.bits()


def test_another_code_costs_nothing_where_nobody_listens() -> None:
    x, _ = lens.chains("test")
    model = weights.load("gru-chains")
    own, other, kl = lens.code_costs(model, x[:1], x[1:60])
    assert other == pytest.approx(own, abs=0.3) and kl < 0.2
    a, b = lens.decoded(weights.load("factorised-chains"), x[:8], 0)
    assert a.shape == b.shape == (8, 32) and set(a.unique().tolist()) <= {0.0, 1.0}
    assert (a != x[:8]).float().mean() < (b != x[:8]).float().mean()


def test_the_film_is_the_curve_that_is_kept() -> None:
    page = open_page("latent/collapse", epoch=3)
    bar, (_, frames) = film(page, "epoch"), figure(page, "costs")
    names = loading.trained("latent", lens.fits("Two chains"))
    curve = loading.history("gru-chains")
    assert bar["at"] == 2
    assert frames["data.1.x"][2][names.index("gru-chains")] == pytest.approx(curve["val/kl"][2], rel=1e-5)
    truth = lens.TwoChains(length=32)
    assert numbers(equation(page)) == pytest.approx([truth.least_nll, truth.information], abs=6e-4)


def test_the_swap_in_numbers(result: dict[str, lens.Use]) -> None:
    page = open_page("latent/collapse", view=SWAP, model="gru-freebits-chains")
    one = result["gru-freebits-chains"]
    assert numbers(equation(page)) == pytest.approx([one.other, -one.own, one.saved, one.paid], abs=6e-3)
    table = table_with(page, "−ELBO")
    row = table[table["model"] == "gru-freebits"].iloc[0]
    assert row["KL"] == pytest.approx(one.paid, abs=1e-3) and row["class from z"] == f"{one.from_draw:.0%}"


@pytest.mark.parametrize(("text", "message"), [("0101x", "“x” is no bit"), ("0101", "That is 4 bits")])
def test_a_bad_string_is_named(text: str, message: str) -> None:
    page = open_warned("latent/collapse", view=SWAP, string=text)
    assert message in page.warning[0].value
    with pytest.raises(ValueError, match=message[:4]):
        lens.typed(text)
    assert lens.typed("01 " * 16).sum() == 16


def test_all_but_the_factorised_decoder_end_within_a_nat_and_their_kl_does_not() -> None:
    ends = {}
    for name in (*SHIPPED, "gru-annealed-chains"):
        curve = loading.history(name)
        ends[name] = curve["val/rec"][-1] + curve["val/kl"][-1], curve["val/kl"][-1]
    result = ends.pop("factorised-chains")[0]
    bounds, kls = zip(*ends.values(), strict=True)
    assert max(bounds) - min(bounds) < 1 < result - max(bounds)
    assert max(kls) - min(kls) > 1.5
