"""The page "Chains and neighbours" and its lens: shown numbers recomputed from the data alone."""

from functools import partial

import pytest
import torch
from opening import component, figure, film, metrics, numbers, open_page, open_warned

from lab import experiments, weights
from lab.lenses import neighbours
from modules.autoregressive.bayesnet import TEMPLATES, NeighbourNet
from modules.autoregressive.markov import FIVE_STATES, PRINTED
from pages.autoregressive.chains import lens, tables

opened = partial(open_page, "autoregressive/chains")


# --- Lens ------------------------------------------------------------------------------------------


def test_typed_neighbours_and_their_picture() -> None:
    offsets = lens.typed_offsets("0 -1; -1, 0 ;-3 3; 0 -1")
    assert offsets == ((0, -1), (-1, 0), (-3, 3))
    assert lens.typed_offsets(lens.spelled(offsets)) == offsets
    grid = lens.painted(offsets)
    assert (grid == 1).sum() == 3 and grid[3, 2] == 1 and grid[2, 3] == 1 and grid[0, 6] == 1
    assert grid[3, 3] == -1 and grid[3, 4:].isnan().all()
    for wrong in ("0 1", "1 0", "0 0", "-9 0", "up", "-1"):
        with pytest.raises(ValueError, match="neighbour"):
            lens.typed_offsets(wrong)


def test_a_click_adds_a_neighbour_or_takes_it_away() -> None:
    start = tuple(TEMPLATES["left-up"])
    more = lens.toggled(start, 0, 6)
    assert more == (*start, (-3, 3)) and lens.painted(more)[0, 6] == 1
    assert lens.toggled(more, 0, 6) == start
    assert lens.toggled(start, 3, 2) == ((-1, 0),)  # the one on the left goes
    for row, column in ((3, 3), (3, 6), (4, 0), (-1, 0), (0, 7)):
        assert lens.toggled(start, row, column) == start
    full = tuple(TEMPLATES["neighbours12"])
    assert len(full) == lens.MOST and lens.toggled(full, 0, 0) == full
    assert lens.typed_offsets(lens.spelled(lens.toggled((), 2, 3))) == ((-1, 0),)
    assert lens.typed_offsets(lens.spelled(())) == ()


def test_a_lookup_is_what_the_training_digits_say() -> None:
    model = neighbours.counted(tuple(TEMPLATES["left-up"]), shared=False)
    train, test = neighbours.digits()
    x, pixel = test[0], 27
    look = lens.lookup(model, x, pixel)
    assert look.context == {26: int(x[26]), 19: int(x[19])}
    same = (train[:, 26] == x[26]) & (train[:, 19] == x[19])
    assert look.zeros + look.ones == int(same.sum()) and look.ones == int(train[same, 27].sum())
    assert look.p == pytest.approx((look.ones + 0.5) / (look.zeros + look.ones + 1))


def test_ladder_falls_with_more_neighbours() -> None:
    ladder = lens.ladder(tuple(TEMPLATES["neighbours12"]), shared=False)
    assert ladder["none"] > ladder["left"] > ladder["left-up"] > ladder["neighbours4"]
    assert ladder["none"] == pytest.approx(24.99, abs=0.3)  # as others measured on another split
    train, test = neighbours.digits()
    p = (train.double().sum(0) + 0.5) / (len(train) + 1)
    by_hand = -(test * p.log() + (1 - test) * (1 - p).log()).sum(1).mean().item()
    assert ladder["none"] == pytest.approx(by_hand, abs=1e-6)


def test_typed_matrices() -> None:
    matrix = lens.typed_matrix("0 1 0; 1/2 0 1/2; 0.2 0.3 0.5")
    assert matrix[1].tolist() == [0.5, 0, 0.5]
    torch.testing.assert_close(
        lens.typed_matrix(lens.spelled_matrix(FIVE_STATES)),
        torch.tensor(FIVE_STATES, dtype=torch.float64),
    )
    for wrong, what in [
        (lens.spelled_matrix(PRINTED), "must sum to 1"),
        ("1 0; 0", "square"),
        ("a b; c d", "numbers"),
        ("1/0 1; 0 1", "numbers"),
        ("2 -1; 0 1", "negative"),
    ]:
        with pytest.raises(ValueError, match=what):
            lens.typed_matrix(wrong)
    with pytest.raises(ValueError, match="symbol"):
        lens.typed_symbols("1 2 3", 3)
    with pytest.raises(ValueError, match="oldest first"):
        lens.typed_history("1 0")


def test_memory_lists_longer_and_longer_histories() -> None:
    transition = torch.tensor(FIVE_STATES, dtype=torch.float64)
    memory = lens.memory(transition, [0, 0, 0, 1, 1], [1, 0, 0, 0])
    assert list(memory) == ["nothing", "1", "11", "111", "2111"]
    assert memory["2111"] == pytest.approx(3 / 4) and memory["nothing"] == pytest.approx(15 / 24)
    after, rest = lens.distributions(transition, 0, 50)
    assert after.sum().item() == pytest.approx(1) and rest.tolist() == pytest.approx(after.tolist(), abs=0.01)


# --- Page ------------------------------------------------------------------------------------------


def test_the_equation_counts_the_shown_pixel() -> None:
    page = opened(pixel="20", template="left-up")
    model = neighbours.counted(tuple(TEMPLATES["left-up"]), shared=False)
    from lab.lenses import drawing

    x = lens.bits(chains_drawing(drawing.examples(8)[0][1]))
    look, bar = lens.lookup(model, x, 20), film(page, "pixel")
    assert bar["at"] == 20 and f"{look.zeros + look.ones:,} training pixels" in bar["captions"][20]
    assert f"{look.ones:,} were 1" in bar["captions"][20]
    latex = lens.lookups(model, x)[1][20]
    assert latex.endswith(f"={look.p:.4f}") and r"\mid x_{19}" in latex and "\\\\" not in latex
    shown = metrics(page)
    assert float(shown["−log p(x)"]) == pytest.approx(-float(model.log_prob(x[None])), abs=0.006)
    assert shown["Numbers"] == f"{model.num_parameters:,}"
    _, arrays = figure(page, "surprisal")
    assert (arrays["data.2.x"][20][0], arrays["data.2.y"][20][0]) == (4, 2)


def chains_drawing(picture: torch.Tensor) -> torch.Tensor:
    """An example as the pad answers it, in its 16 levels."""
    return (picture * 15).round() / 15


def test_painted_neighbours_are_counted_beside_the_presets() -> None:
    for shared in (False, True):
        page = opened(template="own", own="0 -1; -2 1", shared=str(shared).lower())
        train, test = neighbours.digits()
        model = NeighbourNet((1, 8, 8), [(0, -1), (-2, 1)], shared).eval()
        model.count((train,))
        shown = metrics(page)
        expected = -model.log_prob(test).mean().item()
        assert float(shown["Nats, yours"]) == pytest.approx(expected, abs=6e-3)
        assert shown["Numbers"] == f"{model.num_parameters:,}"
        preset = NeighbourNet((1, 8, 8), "neighbours12", shared).eval()
        preset.count((train,))
        best = -preset.log_prob(test).mean().item()
        assert float(shown["best preset (neighbours12)"]) == pytest.approx(best, abs=6e-3)
        assert best == pytest.approx(25.00 if shared else 19.35, abs=0.02)
    none = opened(template="own", own="")
    assert metrics(none)["Numbers"] == "64"


def test_memory_page_shows_the_known_numbers_and_the_printed_matrix_is_refused() -> None:
    page = opened(show="memory", history="1 2")
    assert numbers(page.latex[0].value) == pytest.approx([1 / 3, 0], abs=1e-4)
    page = open_warned("autoregressive/chains", show="memory", matrix=lens.spelled_matrix(PRINTED))
    assert "must sum to 1" in page.warning[0].value and not page.latex


@pytest.mark.parametrize(("order", "shared"), [(1, False), (3, True), (8, False)])
def test_the_table_is_what_the_training_digits_say(order: int, shared: bool) -> None:
    train, _ = neighbours.digits()
    result = tables.table(weights.load(tables.shipped(order, shared, "digits")))
    rows = order + 1 if shared else 64
    assert result.p.shape == (rows, 2**order) and len(result.contexts) == 2**order
    row, pixel = rows - 1, 63
    places = range(order, 64) if shared else [pixel]
    for context in (0, 2**order - 1, 1):
        bits = [int(b) for b in result.contexts[context]]  # oldest first
        after = [train[(train[:, i - order : i] == torch.tensor(bits)).all(1), i] for i in places]
        met, ones = sum(len(a) for a in after), sum(int(a.sum()) for a in after)
        assert (int(result.met[row, context]), int(result.ones[row, context])) == (met, ones)
        assert met == 0 or float(result.p[row, context]) == pytest.approx((ones + 0.5) / (met + 1))
        assert met > 0 or result.p[row, context].isnan()
    assert result.met[0].tolist() == [len(train)] + [-1] * (2**order - 1)  # nothing comes before pixel 0
    assert 0 <= result.unmet < 1 and (result.unmet == 0) == bool((result.met != 0).all())


def test_what_is_looked_up_is_what_the_chain_computes() -> None:
    x = neighbours.digits()[1][3]
    for order, shared in ((2, False), (3, True)):
        model = weights.load(tables.shipped(order, shared, "digits"))
        result, asked = tables.table(model), tables.contexts(model, x)
        p = model.conditionals(x[None])[0].flatten()
        for pixel in (0, 1, 30):
            latex = tables.looked_up(result, pixel, asked[pixel])[1]
            assert numbers(latex)[-1] == pytest.approx(float(p[pixel]), abs=1e-4)
        bits = "".join(str(int(b)) for b in x[30 - order : 30])
        assert f" after {bits}:" in tables.looked_up(result, 30, asked[30])[0]
        row = len(result.met) - 1
        assert tables.contexts(model, x, (row, 1))[63] == 1 and tables.contexts(model, x, (row, 1))[:1] == [0]


def test_the_page_of_order_k() -> None:
    for order, shared, data in ((1, False, "digits"), (8, True, "digits"), (2, False, "MNIST")):
        name = tables.shipped(order, shared, data)
        page = opened(show="order k", k=order, shared=str(shared).lower(), data=data)
        card, model = weights.read_card(experiments.ZOO / name), weights.load(name)
        shown = metrics(page)
        assert float(shown["Test nats"]) == pytest.approx(card["metrics"]["test/nll"], abs=6e-3)
        assert shown["Numbers"] == f"{model.num_parameters:,}"
        header, arrays = component(page, "cells-context")
        p = tables.table(model).p
        torch.testing.assert_close(
            torch.from_numpy(arrays["values"][0].copy()), p.float(), equal_nan=True, rtol=0, atol=1e-6
        )
        assert len(arrays["marks"]) == model.n and len(header["rows"]) == len(p)
    page = opened(show="order k", k=2, context="1,20", pixel=20)  # a click asks for another context
    assert "after 01" in film(page, "pixel")["captions"][20]
    assert list(component(page, "cells-context")[1]["marks"][20:21]) == [1]


def test_bad_neighbours_get_one_sentence() -> None:
    page = open_warned("autoregressive/chains", template="own", own="0 3")
    assert "neighbour 0 3" in page.warning[0].value
