"""The page "Masks", and pixels and completions on the bench: every number recomputed by another way."""

import math
from functools import partial
from pathlib import Path

import pytest
import torch
from opening import captions, equation, film, metrics, numbers, open_page, open_warned, spoken, warnings

from lab import weights
from lab.lenses import drawing
from modules.autoregressive.made import MADE
from modules.autoregressive.orders import resolve_order
from pages.autoregressive.masks import figures, lens

opened = partial(open_page, "autoregressive/masks")
bench = partial(open_page, "autoregressive/inspector")


# --- Lens -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("direct", [False, True])
def test_theory_contains_what_is_measured(seed, direct):
    order = resolve_order("random", 7, seed)
    degrees = lens.spaced_degrees(7, [9, 8], "random", seed)
    model = lens.toy_model(order, degrees, direct, seed)
    wiring = lens.connectivity(model)
    measured = lens.measured_support(model) > 0
    assert not (measured & (wiring.paths == 0)).any()
    assert not (measured & ~wiring.allowed).any()
    assert measured.any()
    if direct:
        assert torch.equal(measured, wiring.allowed)


def test_path_counts_equal_counted_paths():
    degrees = lens.typed_degrees("1 2 3 1 2; 1 2 3 2", 4)
    wiring = lens.connect(torch.tensor([2, 0, 3, 1]), degrees, direct=True)
    a, b, c = wiring.layers
    for i in range(4):
        for j in range(4):
            walked = sum(bool(a[h, j] and b[g, h] and c[i, g]) for h in range(5) for g in range(4)) + bool(
                wiring.direct[i, j]
            )
            assert wiring.paths[i, j] == walked


def test_lost_edges_are_neighbours_without_a_unit_between():
    wiring = lens.connect(torch.tensor([3, 1, 0, 2]), [torch.tensor([1, 3])])
    assert wiring.lost == [(1, 0)]  # ranks 2 and 3: a unit of degree 2 is missing
    assert lens.connect(wiring.order, wiring.degrees, direct=True).lost == []


def test_a_lit_path_is_what_the_gradient_says():
    degrees = lens.spaced_degrees(6, [5, 5], "random", 3)
    wiring = lens.connect(resolve_order("random", 6, 1), degrees)
    for output in range(6):
        live = lens.reached(wiring, 3, output)
        assert torch.equal(live[0], wiring.paths[output] > 0)
        assert live[-1].nonzero().flatten().tolist() == [output]
    hidden = lens.reached(wiring, 1, 2)
    assert torch.equal(hidden[0], wiring.layers[0][2])


def test_what_is_typed_is_read_or_refused():
    assert drawing.typed_order("2 3 1", 3).tolist() == [1, 2, 0]
    assert drawing.typed_order("3", 3).tolist() == [2, 0, 1]
    assert lens.typed_bits("01", 3).tolist() == [0, 1, 0]
    assert [m.tolist() for m in lens.typed_degrees("1,2;2", 3)] == [[1, 2], [2]]
    for wrong in ("1 1", "4", "x", "0", "-1"):
        with pytest.raises(ValueError, match="Type variables"):
            drawing.typed_order(wrong, 3)
    for wrong in ("", "3", "0", "1 x", "1;"):
        with pytest.raises(ValueError, match="Type degrees"):
            lens.typed_degrees(wrong, 3)
    with pytest.raises(ValueError, match="0 and 1"):
        lens.typed_bits("012", 3)


def test_regions_keep_what_they_name():
    picture = torch.zeros(4, 4)
    picture[0, 0] = 0.9
    given = drawing.keep(picture, "top half").reshape(4, 4)
    assert given[0, 0] == 1 and (given[:2].flatten()[1:] == 0).all() and given[2:].isnan().all()
    assert drawing.keep(picture, "left half").reshape(4, 4)[:, 2:].isnan().all()
    assert drawing.keep(picture, "nothing").isnan().all()
    with pytest.raises(ValueError, match="unknown"):
        drawing.keep(picture, "middle")


def test_only_a_model_of_fresh_orders_completes_any_region():
    raster = MADE(event_shape=(16,), hidden=[8])
    fresh = MADE(event_shape=(16,), hidden=[8], num_orders=0)
    picture = torch.rand(4, 4)
    can = {r for r in drawing.REGIONS if drawing.can_complete(raster, drawing.keep(picture, r))}
    assert can == {"top half", "top quarter", "nothing"}
    assert all(drawing.can_complete(fresh, drawing.keep(picture, r)) for r in drawing.REGIONS)


def test_completion_score_is_a_difference_of_likelihoods():
    torch.manual_seed(0)
    model = MADE(event_shape=(9,), hidden=[12], direct=True).double()
    picture = torch.rand(3, 3)
    given = drawing.keep(picture, "top quarter")  # no whole row: nothing is given
    assert given.isnan().all()
    given = torch.cat([(picture.flatten()[:4] > 0.5).float(), torch.full((5,), math.nan)])
    result, whole = drawing.completion_score(model, picture, given, model.order)
    x = lens.all_strings(9)
    p = model.log_prob(x).exp()
    bits = (picture.flatten() > 0.5).double()
    assert whole == pytest.approx(model.log_prob(bits[None]).item(), abs=1e-10)
    assert result == pytest.approx(p[(x[:, :4] == bits[:4]).all(-1)].sum().log().item(), abs=1e-10)


def test_a_drawing_cut_at_any_step_agrees_with_its_trace():
    torch.manual_seed(0)
    model = MADE(event_shape=(9,), hidden=[12], direct=True, order="random")
    trace = model.sample_trace(generator=torch.Generator().manual_seed(3))
    run = drawing.unroll(trace)
    for step in range(9):
        torch.testing.assert_close(run.picture(step), trace[step].values["x"], equal_nan=True)
        assert -float(run.surprisal(step).nansum()) == pytest.approx(trace[step].values["log_prob"], abs=1e-5)
    assert sum(drawing.halves(run)) == pytest.approx(-trace[-1].values["log_prob"], abs=1e-5)
    assert drawing.stops(run, 4) == [3, 7, 8] and drawing.stops(run, 1) == list(range(9))


def test_gradient_row_is_zero_for_what_comes_later():
    torch.manual_seed(0)
    model = MADE(event_shape=(9,), hidden=[30], direct=True, order="reversed").requires_grad_(False)
    row = drawing.gradient_row(model, model.order, torch.rand(9), 4)
    assert (row[:5] == 0).all() and row[5:].any()
    full = drawing.jacobian(model, torch.ones(9))[4]
    assert torch.equal(full, drawing.gradient_row(model, model.order, torch.ones(9), 4))


def test_a_clicked_unit_is_found_again():
    sizes = [3, 5, 3]
    for layer, size in enumerate(sizes):
        for unit in range(size):
            point = {"x": layer, "y": float(figures.centred(size)[unit])}
            assert figures.unit_at(sizes, point) == (layer, unit)
    assert figures.unit_at(sizes, {"x": 4, "y": 0}) is None
    assert figures.unit_at(sizes, {"x": 0, "y": 7}) is None
    assert figures.unit_at(sizes, None) is None


def test_lost_edges_are_marked_where_they_are():
    wiring = lens.connect(torch.tensor([3, 1, 0, 2]), [torch.tensor([1, 3])])
    fig = figures.paths(wiring.paths, wiring.order, wiring.lost)
    cross = next(t for t in fig.data if t.type == "scatter" and t.marker.symbol == "x")
    assert (list(cross.x), list(cross.y)) == ([1], [2])  # second input of the order, third output
    shown = fig.data[0].z[2][1]
    assert shown == 0


# --- Page -----------------------------------------------------------------------------------------


def toy(n: int = 5, widths=(5,), seed: int = 0, direct: bool = False, order=None, degrees=None):
    degrees = degrees or lens.spaced_degrees(n, list(widths), "random", seed)
    model = lens.toy_model(torch.arange(n) if order is None else order, degrees, direct, seed)
    return lens.connectivity(model), model


@pytest.mark.parametrize(
    ("parameters", "arguments"),
    [
        ({}, {}),
        ({"direct": "true", "order": "reversed", "seed": "4"},
         {"direct": True, "seed": 4, "order": torch.arange(4, -1, -1)}),
        ({"n": "3", "order": "own", "own": "2 3 1", "degrees": "own", "m": "1 2 1 2", "x": "010"},
         {"n": 3, "order": torch.tensor([1, 2, 0]), "degrees": [torch.tensor([1, 2, 1, 2])]}),
    ],
)  # fmt: skip
def test_mask_numbers(parameters, arguments):
    page = opened(**parameters)
    wiring, model = toy(**arguments)
    n = model.n
    x = torch.tensor([float(c) for c in parameters.get("x", "10101010")[:n]]).double()
    shown = metrics(page)
    assert shown[f"Σ p over {2**n} strings"] == "1.000000"
    # chain rule by hand, one conditional at a time from a full pass over what is already known
    log_p, result = 0.0, torch.zeros(1, n).double()
    for i in wiring.order.tolist():
        logit = model(result, model.masks())[0, i].item()
        log_p += math.log(1 / (1 + math.exp(-logit if x[i] else logit)))
        result[0, i] = x[i]
    assert float(shown["log p(x)"].removesuffix(" nats")) == pytest.approx(log_p, abs=1e-4)
    missing = sum(
        wiring.paths[i, j] == 0
        for j, i in zip(wiring.order[:-1].tolist(), wiring.order[1:].tolist(), strict=True)
    )
    assert shown["Edges lost"] == f"{missing} of {n - 1}"
    # the equation shows an output: its operands add up to its logit, its logistic is the probability
    *terms, logit, p = numbers(equation(page))
    added, factors = terms[0], terms[1:]
    added += factors.pop() if len(factors) % 2 else 0.0  # what is not drawn term by term
    added += sum(a * b for a, b in zip(factors[::2], factors[1::2], strict=True))
    assert added == pytest.approx(logit, abs=0.04)  # operands are shown with two decimals
    assert p == pytest.approx(1 / (1 + math.exp(-logit)), abs=3e-4)


def test_a_held_hidden_unit_shows_its_own_arithmetic():
    page = opened(unit="1,2")
    wiring, model = toy()
    x = torch.tensor([1.0, 0, 1, 0, 1]).double()
    layer = model.layers[0]
    h = torch.relu((layer.weight[0] * wiring.layers[0][0]) @ x + layer.bias[0]).item()
    assert equation(page).strip(" $\n").startswith("h_{1}")
    assert numbers(equation(page))[-1] == pytest.approx(h, abs=5e-4)


def test_there_are_as_many_bits_as_variables_and_a_press_flips_one():
    assert lens.flipped(torch.tensor([1.0, 0, 1]), 1) == "111"
    page = opened(n="4", x="0110")
    assert [b.label for b in page.button if b.help and b.help.startswith("x")] == list("0110")
    next(b for b in page.button if b.help == "x3").click().run()
    assert page.query_params["x"] == "0100"
    for n, typed, bits in ((4, "0100", "0100"), (6, "01", "010000"), (3, "01101010", "011")):
        expected = toy(n)[1].log_prob(torch.tensor([[float(bit) for bit in bits]]).double()).item()
        assert metrics(opened(n=n, x=typed))["log p(x)"] == f"{expected:.4f} nats"


def test_a_narrow_network_loses_edges_that_direct_connections_bring_back():
    """What two scenes say."""
    assert int(metrics(opened(n="8", width="3"))["Edges lost"].split()[0]) > 0
    assert metrics(opened(n="8", width="3", direct="true"))["Edges lost"] == "0 of 7"
    assert metrics(opened(degrees="even"))["Edges lost"] == "0 of 4"


def test_wrong_typing_is_one_sentence():
    page = open_warned("autoregressive/masks", order="own", own="1 1")
    assert "Type variables" in warnings(page)
    page = open_warned("autoregressive/masks", degrees="own", m="9")
    assert "Type degrees" in warnings(page)
    page = open_warned("autoregressive/masks", x="01201")
    assert "0 and 1" in warnings(page)


def test_pixel_numbers():
    page = bench(show="Pixels", model="made-digits", step="20", draw="5", t="0.7")
    model = weights.load("made-digits")
    trace = model.sample_trace(temperature=0.7, generator=torch.Generator().manual_seed(5))
    x = trace.result["x"]
    turned = film(page)
    assert turned["at"] == 20
    before, p, after = spoken(turned["equations"][20])
    hat = model.conditionals(x[None])[0].double()
    each = torch.where(x == 1, hat, 1 - hat).log()[model.order]
    assert before == pytest.approx(each[:20].sum().item(), abs=6e-3)
    assert p == pytest.approx(each[20].exp().item(), abs=6e-5)
    assert after == pytest.approx(each[:21].sum().item(), abs=6e-3)
    whole = f"{model.log_prob(x[None]).item():.2f}"
    rate = f"{-model.log_prob(x[None]).item() / 64 / math.log(2):.3f}"
    assert f"Whole picture: {whole} nats, {rate} bits per pixel" in captions(page)


@pytest.mark.parametrize(("nats", "bits"), [(97.45, 0.17932), (88.33, 0.16254), (81.30, 0.14961)])
def test_bits_per_pixel_of_the_published_numbers(nats, bits):
    assert drawing.bits_per_pixel(nats, 784) == pytest.approx(bits, abs=5e-6)
    assert drawing.bits_per_pixel(784 * math.log(2), 784) == pytest.approx(1, abs=1e-12)


def test_completion_numbers_and_the_honest_refusal():
    page = bench(show="Completion", model="made-digits", given="top half")
    model = weights.load("made-digits")
    bits = (drawing.examples(8)[0][1].flatten() * 15).round().div(15).gt(0.5).float()  # the pad's 16 levels
    hat = model.conditionals(bits[None])[0]
    each = torch.where(bits == 1, hat, 1 - hat).log()
    shown = numbers(equation(page))
    assert shown == pytest.approx([part.sum().item() for part in (each, each[:32], each[32:])], abs=6e-3)
    assert "cannot complete" not in captions(page)
    page = bench(show="Completion", model="made-digits", given="bottom half")
    assert "cannot complete this" in captions(page)


@pytest.mark.parametrize("name", ["made-mnist", "made-digits", "made-digits-orders"])
def test_shipped_weights_keep_what_is_given(name):
    model = weights.load(name)
    side = drawing.side(model)
    given = drawing.keep(drawing.examples(side)[0][1], "top half")
    known = ~given.isnan()
    drawn = model.sample(3, given=given, generator=torch.Generator().manual_seed(0))
    assert torch.equal(drawn[:, known], given[known].expand(3, -1))
    assert set(drawn.unique().tolist()) <= {0.0, 1.0}


def test_cards_hold_what_was_promised():
    card = weights.read_card(Path(weights.__file__).parent / "zoo" / "made-mnist")
    assert card["data"]["binarize"] == "dynamic"
    assert card["metrics"]["test/nll"] <= 90
    assert (Path(weights.__file__).parent / "zoo" / "made-mnist" / "model.safetensors").stat().st_size < 4e6
    card = weights.read_card(Path(weights.__file__).parent / "zoo" / "made-digits")
    assert card["metrics"]["test/nll"] < 18.15  # a fully visible sigmoid network on digits like these


def test_the_card_of_the_digits_is_reproduced_from_the_weights():
    from datamodules.digits import Digits

    model = weights.load("made-digits")
    card = weights.read_card(Path(weights.__file__).parent / "zoo" / "made-digits")
    data = Digits(binarize=card["data"]["binarize"])
    data.setup("test")
    x, _ = data.test_set[torch.arange(len(data.test_set))]
    assert -model.log_prob(x).mean().item() == pytest.approx(card["metrics"]["test/nll"], abs=1e-4)


@pytest.mark.real_data
def test_the_card_of_mnist_is_reproduced_and_no_number_is_below_the_floor(real_data):
    real_data("MNIST")
    from datamodules.mnist import MNIST

    model = weights.load("made-mnist")
    card = weights.read_card(Path(weights.__file__).parent / "zoo" / "made-mnist")
    data = MNIST(binarize=card["data"]["binarize"])
    data.setup("test")
    with torch.no_grad():
        nll = torch.cat(
            [-model.log_prob(data.test_set[rows][0]) for rows in torch.arange(10_000).split(2_000)]
        )
    assert nll.mean().item() == pytest.approx(card["metrics"]["test/nll"], abs=1e-3)
    assert nll.mean().item() > math.log(10_000)  # a density on 10,000 distinct pictures cannot do better
    # an order the model was never trained on is far worse
    x = data.test_set[torch.arange(200)][0]
    assert -model.log_prob(x, order="random").mean() > nll.mean() + 50
