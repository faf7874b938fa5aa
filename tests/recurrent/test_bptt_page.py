"""The page BPTT by hand: its terms, their sums and the two mistakes have the numbers of the specification."""

import pytest
import torch
from opening import figure, film, open_page, run_page
from torch import Tensor

from lab.errors import UserError
from lab.figures import moving
from modules.recurrent.bptt import backpropagate, triangle
from pages.recurrent.bptt import figures, lens
from pages.recurrent.bptt.room import INPUTS, MOST, REVERSED, RIGHT, ROOM, THREE, TOTAL, WEIGHTS, State

RIGHT_SUM = [[0.021191, 0.058136], [-0.935475, 0.569954]]  # RN-O1


def found(now: State) -> lens.Summed:
    return lens.summed(lens.weights(now.w), lens.inputs(now.x), now.sums, now.truncation)


def near(result: Tensor, expected: list[list[float]]) -> None:
    torch.testing.assert_close(result, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-6)


def test_the_sum_is_the_gradient() -> None:
    """RN-O1: of autograd, of one sweep backwards, and in numbers; the terms are those of `triangle`."""
    result = found(State())
    near(result.so_far[-1], RIGHT_SUM)
    near(result.autograd, RIGHT_SUM)
    assert result.error < 1e-12 and len(result.places) == 10
    cell, x = lens.network(lens.weights(State().w)), lens.inputs(State().x)
    torch.testing.assert_close(result.terms, triangle(cell, x, result.outer), rtol=0, atol=1e-12)
    swept = backpropagate(cell, x[None], result.outer[None])["weight_h"]
    torch.testing.assert_close(result.so_far[-1], swept, rtol=0, atol=1e-12)
    assert lens.loss(cell.unroll(x[None])[0][0]).item() == pytest.approx(6.368147, abs=1e-6)


def test_two_mistakes_have_their_numbers() -> None:
    """RN-E2: the order reversed; three steps cannot tell it. RN-E3: the total derivative."""
    near(found(State(sums=REVERSED)).so_far[-1], [[0.032937, 0.062410], [-0.943633, 0.566985]])
    near(found(State(sums=TOTAL)).so_far[-1], [[-0.094348, 0.024805], [-1.106094, 0.464594]])
    assert found(State(sums=REVERSED, x=THREE)).error < 1e-12
    assert found(State(sums=TOTAL, x=THREE)).error > 1e-2


@pytest.mark.parametrize("x", list(INPUTS.values()))
@pytest.mark.parametrize("w", list(WEIGHTS.values()))
def test_truncation_keeps_a_band_and_becomes_the_whole(w: str, x: str) -> None:
    steps = len(lens.inputs(x))
    for k in range(1, MOST + 1):
        result = found(State(w=w, x=x, truncation=k))
        assert len(result.places) == sum(min(t, k) for t in range(1, steps + 1))
        cell, grad = lens.network(lens.weights(w)), result.outer
        band = triangle(cell, lens.inputs(x), grad, truncation=k).sum((0, 1))
        torch.testing.assert_close(result.so_far[-1], band, rtol=0, atol=1e-12)
        assert (result.error < 1e-12) == (k >= steps - 1)  # the longest path of all meets h_0 = 0


def test_what_the_scenes_say() -> None:
    one = ROOM.scenes["One path"].state
    result = found(one)
    assert result.places[one.term] == (3, 1)
    assert r"J_4J_3" in lens.equations(result, one.sums)[one.term]
    assert found(ROOM.scenes["All terms"].state).error < 1e-12
    none = ROOM.scenes["No state before"].state
    assert found(none).places[none.term][1] == 0 and (found(none).terms[:, 0] == 0).all()
    reverse = ROOM.scenes["Order reversed"].state
    assert found(reverse).error > 1e-3
    assert r"J_2J_3J_4" in lens.equations(found(reverse), reverse.sums)[-1]
    assert found(ROOM.scenes["Three steps"].state).error < 1e-12
    assert found(ROOM.scenes["Total derivative"].state).error > 1e-2
    cut = found(ROOM.scenes["Truncated"].state)
    assert cut.error > 1e-3 and max(t - k for t, k in cut.places) == 1


def test_a_term_is_what_its_equation_multiplies() -> None:
    """(∂ℓ_4/∂h_4 J_4 J_3) times the partial of each unit; the partial has one row of W_h in each matrix."""
    result = found(State())
    back = result.outer[3] @ result.products[3, 1]
    total = sum(b * partial for b, partial in zip(back, result.partials[1], strict=True))
    torch.testing.assert_close(result.terms[3, 1], total, rtol=0, atol=1e-12)
    assert (result.partials[1, 0, 1] == 0).all() and (result.partials[1, 1, 0] == 0).all()
    assert lens.matrix(result.terms[3, 1]) in lens.partial_equation(result, RIGHT, 3, 1)


def test_tiles_come_one_after_the_other() -> None:
    result = found(State())
    tree = figures.triangle(result)
    fig = moving.at(tree, 0)
    assert fig.data[0].z[:2, :2].tolist() == [[0, 0], [0, 0]] and fig.data[1].text[1] == ""
    fig, (t, k) = moving.at(tree, 8), result.places[8]
    tile = fig.data[0].z[3 * t : 3 * t + 2, 3 * k : 3 * k + 2]
    assert tile.ravel().tolist() == pytest.approx(result.terms[t, k].flatten().tolist(), rel=1e-6)
    assert fig.data[1].text[8] == f"{result.terms[t, k].norm():.2g}" and fig.data[1].text[9] == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [("1 0; 0", "two numbers"), ("1 0", "2 to 6"), ("1 a; 0 1", "'a'"), ("1 99; 0 1", "'99'")],
)
def test_inputs_that_cannot_be_read(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        lens.inputs(text)


def test_one_weight_is_refused() -> None:
    with pytest.raises(UserError, match="two rows"):
        lens.weights("0.5")


def test_the_page_shows_its_numbers() -> None:
    page = open_page("recurrent/bptt", term="8")
    bar, (_, arrays) = film(page, "term"), figure(page, "sums")
    result = found(State())
    assert bar["at"] == 8 and bar["count"] == 10 and "t = 4, k = 2" in bar["captions"][8]
    shown = arrays["data.0.z"][-1][:2].ravel().tolist()
    assert shown == pytest.approx(result.so_far[-1].flatten().tolist(), rel=1e-5)
    assert any("two rows" in w.value for w in run_page("recurrent/bptt", w="1").warning)
