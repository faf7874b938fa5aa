"""The pages "Autoregressive inspector" and "Orders and ensembles": every number by another way."""

import math
import re

import contracts
import pytest
import torch
from opening import captions, figure, film, metrics, numbers, open_page, spoken

from lab import experiments, weights
from lab.lenses import drawing
from modules.autoregressive.fvsbn import FVSBN
from modules.autoregressive.gated_pixelcnn import GatedPixelCNN
from modules.autoregressive.made import MADE
from modules.autoregressive.nade import NADE
from modules.autoregressive.orders import resolve_order
from pages.autoregressive.inspector import colour_lens, costs, nade_state
from pages.autoregressive.inspector import lens as inspector
from pages.autoregressive.orders import lens as orders


def first_digit() -> torch.Tensor:
    """The picture a fresh page shows, as the pad keeps it: 16 levels, then bits."""
    return (drawing.examples(8)[0][1].flatten() * 15).round().div(15).gt(0.5).float()


# --- Lens: one conditional ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: FVSBN(event_shape=(9,), order=[3, 0, 8, 5, 1, 4, 2, 7, 6]),
        lambda: NADE(event_shape=(9,), hidden=5),
        lambda: MADE(event_shape=(9,), hidden=[40]),
    ],
)
def test_a_conditional_reads_all_of_its_past_and_nothing_else(make):
    model = contracts.exact(make())
    x = torch.tensor([0.0, 1, 1, 0, 1, 0, 0, 1, 1])
    for rank, pixel in enumerate(model.order.tolist(), start=1):
        view = inspector.conditional(model, x, pixel)
        assert view.rank == rank and view.leaks == 0
        assert view.reads == rank - 1
        assert view.p == pytest.approx(model.conditionals(x[None])[0, pixel].item(), abs=1e-12)
        assert torch.equal((~view.context.isnan()).nonzero().flatten(), model.order[: rank - 1].sort().values)


def test_a_leak_is_counted():
    class Leaky(FVSBN):
        def matrix(self, order=None):
            return super().matrix(order) + torch.eye(self.n, dtype=self.weight.dtype)

    model = contracts.exact(Leaky(event_shape=(4,)))
    assert inspector.conditional(model, torch.ones(4), 2).leaks == 1


def test_running_units_are_nades_own_numbers():
    model = contracts.exact(NADE(event_shape=(9,), hidden=6, order="random"), scale=1.0)
    x = torch.tensor([0.0, 1, 1, 0, 1, 0, 0, 1, 1])
    pixel = int(model.order[5])
    units = nade_state.running_units(model, x, pixel, units=4)
    a = model.states(x[None].double())[0, pixel]
    torch.testing.assert_close(units.state, a[units.unit], rtol=0, atol=1e-12)
    after = a + model.weight[pixel, 0] * x[pixel]
    torch.testing.assert_close(units.after, after[units.unit], rtol=0, atol=1e-12)
    logit = float(units.vote.sum()) + units.rest + units.bias
    assert logit == pytest.approx(model.logits(x[None].double())[0, pixel].item(), abs=1e-12)
    vote = (model.readout[pixel, 0] * a.sigmoid()).abs()
    assert units.unit.tolist() == vote.topk(4).indices.tolist()
    assert units.drift < 1e-14


def test_weights_row_is_the_row_of_a():
    model = contracts.exact(FVSBN(event_shape=(5,)))
    x = torch.ones(1, 5, dtype=torch.float64)
    row = inspector.weights_row(model, 3)
    assert (row[3:] == 0).all()
    assert (row.sum() + model.bias[3]).item() == pytest.approx(model.logits(x)[0, 3].item(), abs=1e-12)


def test_comparison_is_the_difference_of_likelihoods():
    one, two = contracts.exact(NADE((9,), 4)), contracts.exact(FVSBN((9,)))
    x = torch.tensor([0.0, 1, 1, 0, 1, 0, 0, 1, 1])
    both = costs.compare(one, two, x)
    expected = (one.log_prob(x[None].double()) - two.log_prob(x[None].double())).item()
    assert float(both.gain.sum()) == pytest.approx(expected, abs=1e-12)
    assert both.totals[0] - both.totals[1] == pytest.approx(expected, abs=1e-12)
    assert both.running()[0][-1].item() == pytest.approx(both.totals[0], abs=1e-12)


def test_only_binary_pictures_are_offered():
    catalog = experiments.catalog()
    offered = {n for n, e in catalog.items() if drawing.of_binary_pictures(e)}
    assert {"made-mnist", "fvsbn-digits", "nade-mnist", "untied-digits", "made-digits-orders"} <= offered
    assert not offered & {"nade-greys-digits", "rnade-moons", "autoencoder-digits", "vae-mnist"}
    wider = {n for n, e in catalog.items() if drawing.of_pictures(e)}
    assert wider - offered == {
        "nade-greys-digits", "nade-greys-mnist", "pixelcnn-greys-digits", "pixelcnn-greys4-mnist",
        "pixelcnn-greys16-mnist", "imagegpt-digits", "imagegpt-greys4-mnist",
    }  # fmt: skip
    nades = {n for n, e in catalog.items() if inspector.is_nade(e)}
    assert nades >= {"nade-digits", "nade-mnist", "nade-greys-digits"}
    assert all("NADE" in catalog[n].module and n.startswith("nade") for n in nades)
    same = inspector.same_pictures("nade-digits", catalog)
    assert "fvsbn-digits" in same and "fvsbn-mnist" not in same and "nade-digits" not in same
    # MNIST in another size is other data
    assert "gatedpixelcnn-mnist" not in inspector.same_pictures("nade-mnist", catalog)
    alone = {n for n in offered if not inspector.comparable(catalog[n], catalog)}
    assert alone == {"gatedpixelcnn-mnist"}


def test_levels_have_a_distribution_and_read_all_of_their_past():
    model = contracts.exact(NADE(event_shape=(9,), hidden=5, num_categories=4, order="random"))
    model.requires_grad_(False)
    x = torch.tensor([0.0, 3, 1, 0, 2, 0, 0, 1, 3])
    for rank, pixel in enumerate(model.order.tolist(), start=1):
        view = inspector.conditional(model, x, pixel)
        assert (view.rank, view.leaks, view.reads) == (rank, 0, rank - 1)
        expected = model.conditionals(x[None])[0, pixel].detach()
        torch.testing.assert_close(view.distribution, expected, rtol=0, atol=1e-12)
        assert view.value == view.asked == int(x[pixel])
        assert view.p == pytest.approx(float(expected[view.value]))
        units = nade_state.running_units(model, x, pixel, units=3)
        logit = float(units.vote.sum()) + units.rest + units.bias
        assert logit == pytest.approx(view.logit, abs=1e-12)


def test_the_running_state_is_carried_and_taken_anew():
    for values in (2, 5):
        model = contracts.exact(
            NADE(event_shape=(9,), hidden=6, num_categories=values, order="random"), scale=1.0
        )
        model.requires_grad_(False)
        x = torch.tensor([0.0, 1, values - 1, 0, 1, 0, 0, 1, 1])
        state = nade_state.running_state(model, x)
        expected = model.states(x[None].double())[0, model.order]  # before each pixel, in the order
        torch.testing.assert_close(state.carried[:-1], expected, rtol=0, atol=1e-12)
        torch.testing.assert_close(
            nade_state.shown_states(state, "σ(a)")[3], expected[3].sigmoid(), rtol=0, atol=1e-12
        )
        again = nade_state.anew(model, state)
        torch.testing.assert_close(again, state.carried, rtol=0, atol=1e-12)
        for step in (0, 4, 9):
            past = model.order[:step]
            by_hand = model.start[2] + (x[past].double() / (values - 1) * model.weight[past, 0, 2]).sum()
            assert float(again[step, 2]) == pytest.approx(float(by_hand), abs=1e-12)
            assert nade_state.columns_taken(state, step) == int((x[past] > 0).sum())
    assert nade_state.around(0, 100) == list(range(16)) and 99 in nade_state.around(99, 100)
    assert nade_state.around(3, 5) == list(range(5))


def test_terms_of_a_model_with_classes_are_those_of_the_mixture():
    model = contracts.exact(
        GatedPixelCNN(image_shape=(1, 2, 3), channels=4, layers=1, conditional=True, num_classes=3)
    )
    model.requires_grad_(False)
    x = torch.tensor([1.0, 0, 1, 1, 0, 1]).double()
    result = costs.terms(model, x)
    assert float(result.sum()) == pytest.approx(model.log_prob(x[None]).item(), abs=1e-12)
    ends = contracts.configurations((3,)).double()
    beginning = model.log_prob(torch.cat([x[:3].expand(8, 3), ends], 1)).logsumexp(0)
    assert float(result[:3].sum()) == pytest.approx(float(beginning), abs=1e-12)
    given = costs.terms(model, x, y=1)
    assert float(given.sum()) == pytest.approx(model.log_prob(x[None], y=1).item(), abs=1e-12)
    expected = torch.stack([model.log_prob(x[None], y=y) for y in range(3)]).softmax(0)[:, 0]
    torch.testing.assert_close(inspector.posterior(model, x), expected, rtol=0, atol=1e-12)
    results, whole = drawing.completion_score(
        model, x.view(2, 3), torch.where(torch.arange(6) < 3, x, torch.nan), model.order
    )
    assert (results, whole) == pytest.approx((float(beginning), float(result.sum())), abs=1e-12)


def test_levels_of_a_picture_and_sharpened_distributions():
    picture = torch.tensor([[0.0, 0.25], [0.6, 1.0]])
    assert drawing.entries(picture).tolist() == [0, 0, 1, 1]
    assert drawing.entries(picture, 5).tolist() == [0, 1, 2, 4]
    assert drawing.keep(picture, "top half", 5)[:2].tolist() == [0, 1]
    torch.manual_seed(0)
    model = NADE(event_shape=(4,), hidden=3, num_categories=3)
    for temperature in (0.0, 0.5, 1.0, 2.0):
        run = drawing.unroll(model.sample_trace(temperature=temperature, generator=contracts.seeded(2)))
        for step, pixel in enumerate(run.pixel.tolist()):
            drawn_from = drawing.sharpened(run.distribution[pixel], temperature)
            assert float(drawn_from.sum()) == pytest.approx(1, abs=1e-6)
            assert float(drawn_from[int(run.bit[step])]) == pytest.approx(float(run.p[step]), abs=1e-6)


# --- Lens: orders ---------------------------------------------------------------------------------


def test_averaged_conditionals_are_no_density():
    result = orders.averages(torch.tensor([0.18, 0.02, 0.08, 0.72], dtype=torch.float64))
    totals = result.totals()
    assert totals["averaged probabilities"] == pytest.approx(1.1330561, abs=1e-7)
    assert totals["averaged logits"] == pytest.approx(1.1670597, abs=1e-7)
    assert totals["mixture of joints"] == pytest.approx(1, abs=1e-12)
    expected = torch.tensor([0.18, 0.02, 0.08, 0.72]).double()
    torch.testing.assert_close(result.mixture, expected, rtol=0, atol=1e-7)
    independent = orders.averages(torch.tensor([0.36, 0.24, 0.24, 0.16], dtype=torch.float64)).totals()
    assert independent["averaged probabilities"] == pytest.approx(1, abs=1e-12)
    with pytest.raises(ValueError, match="positive"):
        orders.averages(torch.tensor([0.5, 0.5, 0.0, 0.0]))


def test_mixture_is_log_mean_exp_and_never_above_the_mean():
    model = contracts.exact(MADE(event_shape=(6,), hidden=[8], num_orders=0))
    x = contracts.configurations((6,)).double()
    result = orders.under_many_orders(model, x, count=5, seed=2)
    each = torch.stack([model.log_prob(x, order=order) for order in result.orders])
    torch.testing.assert_close(result.mixed.exp(), each.exp().mean(0), rtol=0, atol=1e-12)
    assert result.mixed.exp().sum().item() == pytest.approx(1, abs=1e-12)
    assert result.ensemble < result.mean
    assert len({tuple(order.tolist()) for order in result.orders}) == 5
    one = orders.under_many_orders(model, x, count=1)
    assert one.ensemble == pytest.approx(one.mean, abs=1e-12)


def test_hole_score_is_a_conditional_of_its_order():
    model = contracts.exact(MADE(event_shape=(6,), hidden=[12], num_orders=0))
    given = torch.tensor([1.0, math.nan, math.nan, 0.0, math.nan, 1.0])
    x = torch.tensor([1.0, 0, 1, 0, 1, 1])
    cells = contracts.configurations((6,)).double()
    fits = (cells[:, ~given.isnan()] == x[~given.isnan()]).all(1)
    for inside in orders.INSIDE:
        order = orders.order_of_hole(given, inside, seed=3)
        assert set(order[:3].tolist()) == {0, 3, 5}
        joint = model.log_prob(cells, order=order)
        whole = model.log_prob(x[None].double(), order=order).item()
        expected = whole - joint[fits].logsumexp(0).item()
        assert orders.hole_score(model, x, given, order) == pytest.approx(expected, abs=1e-12)


# --- Page: bench ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nade-digits", "fvsbn-digits", "made-digits", "untied-digits"])
def test_conditional_numbers(name):
    page = open_page("autoregressive/inspector", model=name, pixel="3,4")
    model, x = weights.load(name), first_digit()
    p = model.conditionals(x[None])[0, 35].item()
    shown = metrics(page)
    assert float(shown["p(1 | before)"]) == pytest.approx(p, abs=6e-5)
    assert shown["Place"] == "36 of 64" and shown["Later"] == "0"
    assert int(shown["Reads"].split()[0]) <= 35
    terms = numbers(page.latex[0].value)
    after_sigma = terms.index(pytest.approx(p, abs=6e-5))
    logit = terms[after_sigma - 1]
    assert 1 / (1 + math.exp(-logit)) == pytest.approx(p, abs=2e-4)
    operands = terms[: after_sigma - 1]
    if operands:  # FVSBN: bias and sum; NADE: bias, shown votes, the rest
        assert sum(operands) == pytest.approx(logit, abs=2e-3)
    if name == "nade-digits":
        before, column, state = numbers(page.latex[2].value)
        assert before + column * x[35].item() == pytest.approx(state, abs=2e-3)


def test_a_grey_pixel_shows_its_whole_distribution():
    page = open_page("autoregressive/inspector", model="nade-greys-digits", pixel="3,2")
    model = weights.load("nade-greys-digits")
    x = ((drawing.examples(8)[0][1].flatten() * 15).round() / 15 * 16).round()
    level, expected = int(x[19]), model.conditionals(x[None])[0, 19].detach()
    assert float(metrics(page)[f"p({level} | before)"]) == pytest.approx(float(expected[level]), abs=6e-5)
    logit, total, p = numbers(page.latex[0].value.replace("{", "{ "))
    bias, shown, rest, again = numbers(page.latex[1].value)
    assert p == pytest.approx(float(expected[level]), abs=6e-5)
    assert bias + shown + rest == pytest.approx(again, abs=2e-3)
    logits = model.logits(x[None])[0, 19]
    assert logit == again == pytest.approx(float(logits[level]), abs=6e-4)
    assert total == pytest.approx(float(logits.exp().sum()), rel=2e-3)


def test_a_class_is_chosen_and_drawn():
    model, x = weights.load("gatedpixelcnn-digits"), first_digit()
    for chosen in ("7", None):
        parameters = {"class": chosen} if chosen else {}
        page = open_page("autoregressive/inspector", model="gatedpixelcnn-digits", pixel="3,4", **parameters)
        y = 7 if chosen else int(torch.stack([model.log_prob(x[None], y=c) for c in range(10)]).argmax())
        p = model.conditionals(x[None])[0, 0, 4, 3] if y == 0 else None
        p = torch.sigmoid(model.logits(x[None], y=torch.tensor([y]))[0, 35]) if p is None else p
        assert float(metrics(page)["p(1 | before)"]) == pytest.approx(float(p), abs=6e-5)
    page = open_page(
        "autoregressive/inspector",
        show="Pixels",
        model="gatedpixelcnn-digits",
        draw="3",
        step="63",
        **{"class": "7"},
    )
    trace = model.sample_trace(generator=contracts.seeded(3), y=7)
    turned = film(page)
    assert turned["at"] == 63 and all(text.endswith("Class 7.") for text in turned["captions"])
    assert spoken(turned["equations"][63])[-1] == pytest.approx(trace[-1].values["log_prob"], abs=6e-3)


def test_running_state_numbers():
    page = open_page("autoregressive/inspector", show="Running state", pixels="40", unit="11")
    model, x = weights.load("nade-digits"), first_digit()
    by_hand = (model.start[11] + x[:40] @ model.weight[:40, 0, 11]).item()
    turned = film(page, "pixels")
    assert turned["at"] == 40
    texts = [float(v) for v in re.findall(r"-?\d+\.\d+", turned["captions"][40])]
    assert texts == pytest.approx([by_hand, by_hand], abs=1e-4)
    largest = float(turned["captions"][40].split()[-1].rstrip("."))
    assert 0 <= largest < 1e-4
    before, column, after = spoken(turned["equations"][40])
    assert before + column * x[39].item() == pytest.approx(after, abs=2e-4)
    assert after == pytest.approx(by_hand, abs=1e-4)
    _, frames = figure(page, "Hidden units before and after the last pixel's column was added")
    shown = nade_state.around(11, model.hidden)
    a = model.states(x[None])[0].detach()  # before each pixel
    torch.testing.assert_close(torch.tensor(frames["data.1.y"])[:-1], a[:, shown], rtol=0, atol=1e-5)


def test_a_cover_hides_what_is_not_yet_drawn():
    """At every frame of the film, under the cover lie just the pixels that come later."""
    page = open_page("autoregressive/inspector", show="Pixels", draw="5", visit="random")
    model = weights.load("nade-digits")
    run = drawing.unroll(
        model.sample_trace(order=resolve_order("random", 64, 5), generator=contracts.seeded(5))
    )
    header, frames = figure(page, "pixel")
    cover = next(i for i in range(9) if f"data.{i}.zmin" in frames)
    assert header["figure"]["data"][cover]["hoverinfo"] == "skip"
    when = inspector.drawn_at(run).numpy()
    for at in (0, 17, 63):
        hidden = when > frames[f"data.{cover}.zmin"][at]
        assert (~hidden == run.visited(at).numpy()).all()
        ring = frames[f"data.{cover + 1}.x"][at, 0], frames[f"data.{cover + 1}.y"][at, 0]
        assert ring[0] + 8 * ring[1] == int(run.pixel[at])
    _, bars = figure(page, "The conditional of the newest pixel")
    assert bars["data.0.y"][17, 1] == pytest.approx(float(run.p[17]), abs=1e-6)
    assert bars["data.0.marker.color"][17].argmax() == int(run.bit[17])


def test_a_painted_hole_is_filled_by_fresh_orders_alone():
    page = open_page("autoregressive/inspector", show="Completion", given="all but my brush", hole="stripe")
    x = first_digit()
    hole = dict(inspector.holes(8))["stripe"].flatten() > 0.5
    given = inspector.without(x.view(8, 8), hole.view(8, 8))
    assert torch.equal(given.isnan(), hole) and torch.equal(given[~hole], x[~hole])
    assert "cannot complete" in captions(page)  # in raster order the stripe is not the end
    drawn = figure(page, "sheet-made-digits-orders")[0]["csv"].split()[1:]
    assert len(drawn) == 12
    for picture in drawn:
        bits = torch.tensor([float(c) for c in picture])
        assert torch.equal(bits[~hole], x[~hole])


def test_beside_a_completion_stand_models_that_draw() -> None:
    page = open_page("autoregressive/inspector", show="Completion")
    (choice,) = (box for box in page.selectbox if box.label == "Beside it")
    offered = {option.partition("/")[0] for option in choice.options}
    assert {"nothing", "fvsbn-digits", "chain-digits"} <= offered
    assert not offered & {"autoencoder-digits", "gaussianchain-digits", "neighbours-digits", "rnade-digits"}
    for name in offered - {"nothing"}:
        model = weights.load(name)
        given = drawing.keep(dict(drawing.examples(8))["5"], "top half", model.num_categories)
        visit = None if drawing.can_complete(model, given) else model.component_order(0).tolist()
        assert model.sample(2, given=given, order=visit).flatten(1).shape == (2, 64)


def test_two_models_are_compared_on_the_same_picture():
    page = open_page("autoregressive/inspector", show="Two models", model="nade-digits", other="fvsbn-digits")
    x = first_digit()[None]
    one, two = (weights.load(n).log_prob(x).item() for n in ("nade-digits", "fvsbn-digits"))
    assert numbers(page.latex[0].value) == pytest.approx([one, two, one - two], abs=6e-3)


# --- Page: orders ---------------------------------------------------------------------------------


def test_ensemble_numbers():
    page = open_page("autoregressive/orders", s="6", seed="3")
    model, x = weights.load("made-digits-orders"), first_digit()[None]
    result = orders.under_many_orders(model, x, 6, 3)
    each = torch.stack([model.log_prob(x, order=o) for o in result.orders]).double()
    mixed = -(each.exp().mean().log()).item()
    shown = metrics(page)
    assert float(shown["Mixture of joints"].split()[0]) == pytest.approx(mixed, abs=6e-3)
    assert float(shown["Mean of the orders"].split()[0]) == pytest.approx(-each.mean().item(), abs=6e-3)
    assert float(shown["Best order"].split()[0]) == pytest.approx(-each.max().item(), abs=6e-3)
    assert numbers(page.latex[0].value) == pytest.approx([mixed, -each.mean().item()], abs=6e-3)


def test_the_order_itself_is_drawn():
    """At every frame each pixel bears its place in the order that the frame names."""
    page = open_page("autoregressive/orders", pool="scans", order="9")
    turned = film(page, "order")
    assert turned["count"] == len(orders.SCANS) == 10 and "a spiral" in turned["captions"][9]
    _, frames = figure(page, "visits")
    model, x = weights.load("made-digits-orders"), first_digit()[None]
    for at, order in enumerate(orders.scans(8)):
        assert sorted(order.tolist()) == list(range(64))
        assert torch.tensor(frames["data.0.z"][at]).flatten()[order].tolist() == list(range(1, 65))
        assert f"{-model.log_prob(x, order=order).item():.2f} nats" in turned["captions"][at]
    spiral = orders.scans(3)[9]
    assert spiral.tolist() == [0, 1, 2, 5, 8, 7, 6, 3, 4]
    assert orders.scans(3)[8].tolist() == [0, 1, 2, 5, 4, 3, 6, 7, 8]
    assert orders.scans(3)[5].tolist() == [2, 5, 8, 1, 4, 7, 0, 3, 6]  # columns from the top right
    hole = torch.tensor([True, False, True, False])
    result = orders.visits(torch.tensor([0, 2, 3, 1]), hole)
    assert result[~hole].tolist() == [2, 1] and result[hole].isnan().all()


def test_averaging_numbers():
    shown = metrics(open_page("autoregressive/orders", show="Averaging"))
    assert float(shown["Sum, averaged probabilities"]) == pytest.approx(1.1330561, abs=1e-6)
    assert float(shown["Sum, averaged logits"]) == pytest.approx(1.1670597, abs=1e-6)
    assert float(shown["Sum, mixture of joints"]) == 1


def test_imputation_numbers():
    page = open_page("autoregressive/orders", show="Two orders", given="bottom half", inside="reversed")
    model, x = weights.load("made-digits-orders"), first_digit()
    given = torch.where(torch.arange(64) >= 32, x, torch.nan)
    expected = []
    for hole in (range(32), range(31, -1, -1)):
        known = list(range(32, 64)) if hole[0] == 0 else list(range(63, 31, -1))
        each = model.log_conditionals(x[None], order=[*known, *hole])[0]
        expected.append(each[given.isnan()].sum().item())
    assert numbers(page.latex[0].value) == pytest.approx(expected, abs=6e-3)


# --- Trained: orders and masks --------------------------------------------------------------------


def test_a_model_of_one_order_is_lost_in_others_and_one_of_fresh_orders_is_not():
    x = torch.stack([drawing.bits(picture) for _, picture in drawing.examples(8)])
    single = orders.under_many_orders(weights.load("made-digits"), x, 6)
    fresh = orders.under_many_orders(weights.load("made-digits-orders"), x, 6)
    assert single.each[1:].min() > single.each[0] + 5
    assert fresh.each.max() - fresh.each.min() < 5
    assert fresh.ensemble < fresh.mean


@pytest.mark.real_data
def test_on_mnist_the_mixture_beats_its_average_member(real_data):
    real_data("MNIST")
    from datamodules.mnist import MNIST

    data = MNIST(binarize="dynamic")
    data.setup("test")
    x = data.test_set[torch.arange(300)][0].flatten(1)
    model = weights.load("made-orders-mnist")
    with torch.no_grad():
        each = torch.stack([-model.log_prob(x, order=model.component_order(s)) for s in range(8)])
        mixed = -model.log_prob(x)
    assert mixed.mean() < each.mean() - 0.5
    card = weights.read_card(experiments.ZOO / "made-orders-mnist")
    assert abs(mixed.mean() - card["metrics"]["test/nll"]) < 4 * mixed.std() / 300**0.5


# --- Colours ---------------------------------------------------------------------------------------


def test_three_colours_of_a_pixel_are_read_one_after_the_other() -> None:
    model = weights.load(colour_lens.MODEL).requires_grad_(False)
    x = colour_lens.shape("disc", "orange", "blue", 8)
    result = colour_lens.read(model, x)
    assert result.total == pytest.approx(-float(model.log_prob(x[None])), abs=1e-3)
    assert result.p.shape == (3, 64, 4) and torch.allclose(result.p.sum(-1), torch.ones(3, 64))
    assert float(result.p[1, 10, 2]) == pytest.approx(float((-result.cost[1, 10]).exp()))  # orange: green 2
    red, green, blue = result.cost[:, 10].tolist()  # where the disc begins, as the scene says
    assert red > green > 1 and blue < 0.01
    table = colour_lens.inside(model, x, 18)
    assert (table.triu() == 0).all() and (table.tril(-1) > 0).sum() == 3
    caption, latex = result.words(10)
    assert "red 3, green 2, blue 0" in caption
    assert numbers(latex)[-1] == pytest.approx(float((-result.pixel_cost[10]).exp()), abs=6e-5)


def test_coloured_pictures_are_completed_from_what_comes_before() -> None:
    model = weights.load(colour_lens.MODEL)
    x = colour_lens.shape("square", "red", "white", 8)
    drawn = colour_lens.completions(model, x, 40, 3, 0).view(3, 3, 64)
    assert (drawn[:, :, :40] == x.view(3, 64)[:, :40]).all()
    assert (drawn[:, :, 40:] == drawn.round()[:, :, 40:]).all() and drawn.max() <= 3
    result = colour_lens.before(x, 40).view(3, 64)
    assert result[:, 40:].isnan().all() and not result[:, :40].isnan().any()
    nothing = colour_lens.shape("cross", "red", "red", 8).view(3, 64)
    assert (nothing == nothing[:, :1]).all()


def test_the_page_of_colours() -> None:
    page = open_page("autoregressive/inspector", show="Colours", kind="disc", colour=10)
    model = weights.load(colour_lens.MODEL)
    result = colour_lens.read(model, colour_lens.shape("disc", "orange", "blue", 8))
    assert metrics(page)["−log p(x)"] == f"{result.total:.2f} nats"
    for c, name in enumerate(colour_lens.COLOURS):
        shown = torch.from_numpy(figure(page, name)[1]["data.0.y"].copy())
        torch.testing.assert_close(shown, result.p[c].detach(), rtol=0, atol=1e-6)
    assert film(page, "colour")["captions"][10] == result.words(10)[0]
