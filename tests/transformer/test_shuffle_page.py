"""The page Shuffle test: equivariance without positions, which each scheme and the mask break."""

from itertools import pairwise

import pytest
import torch
from opening import open_page, run_page

from lab.errors import UserError
from pages.transformer.shuffle import figures, lens
from pages.transformer.shuffle.room import KEYS, NONE, ROOM, SCHEMES, SELF, State

WORDS, ORDER = State().text.split(), [4, 2, 0, 5, 1, 3]


def study(now: State, seed: int | None = None) -> lens.Shuffled:
    return lens.shuffled(
        now.view, lens.read_words(now.text), lens.read_order(now.order), now.scheme, now.causal, now.layers,
        now.seed if seed is None else seed,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("layers", [1, 4])
def test_without_positions_rows_only_move(seed: int, layers: int) -> None:
    """TF-O8."""
    one = lens.shuffled(SELF, WORDS, ORDER, NONE, False, layers, seed)
    stack, x = lens.stack_of(NONE, layers, seed), lens.embedded(WORDS, seed)
    with torch.no_grad():
        first, last = stack(x[None])[0], stack(x[ORDER][None])[0]
    assert torch.allclose(last, first[ORDER], atol=1e-12) and one.orders[-1].tolist() == ORDER
    assert torch.allclose(one.outputs[-1], last, atol=1e-12) and float(one.most.max()) < 1e-12
    assert float(lens.shuffled(KEYS, WORDS, ORDER, NONE, False, layers, seed).most.max()) < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_each_scheme_and_the_mask_break_it(seed: int) -> None:
    for scheme in SCHEMES:
        for causal in (False, True):
            if causal or scheme != NONE:
                one = lens.shuffled(SELF, WORDS, ORDER, scheme, causal, 1, seed)
                assert float(one.most[-1]) > 1e-3 and float(one.most[0]) == 0, (scheme, causal)


def test_scenes_say_what_is_so() -> None:
    for name, scene in ROOM.scenes.items():
        one = study(scene.state)
        moves = name not in ("No positions", "Equal words", "Keys and values")
        assert (float(one.most[-1]) > 0.01) == moves, name
        at = scene.state.swaps
        assert at is None or at < len(one.orders)
    one = study(ROOM.scenes["Equal words"].state)
    for order, y in zip(one.orders.tolist(), one.outputs, strict=True):
        a, b = (order.index(i) for i, word in enumerate(WORDS) if word == "the")
        assert torch.allclose(y[a], y[b], atol=1e-12)
    keys = study(ROOM.scenes["Keys and values"].state)
    assert not torch.equal(keys.outputs[0], keys.outputs[-1])
    assert torch.allclose(keys.outputs.sum(-1), torch.ones(()).double(), atol=1e-12)


def test_swaps_lead_from_the_first_order_to_the_last() -> None:
    orders = lens.swaps(ORDER)
    assert orders[0] == list(range(6)) and orders[-1] == ORDER
    for a, b in pairwise(orders):
        places = [i for i in range(6) if a[i] != b[i]]
        assert len(places) == 2 and places[1] == places[0] + 1
    assert lens.swaps([0, 1, 2]) == [[0, 1, 2]]


def test_frames_captions_and_equations_go_together() -> None:
    for view in (SELF, KEYS):
        one = study(State(view=view))
        names, count = lens.named(one), len(one.orders)
        tree = figures.moving(one, names, view == KEYS)
        axis = tree["layout"]["xaxis" if view == KEYS else "yaxis"]
        assert len(axis["ticktext"].values) == len(lens.captions(one, view, NONE, False)) == count
        assert len(lens.equations(one, view)) == count
        assert sorted(names[-1]) == sorted(WORDS) and names[-1] == [WORDS[i] for i in ORDER]


@pytest.mark.parametrize("text", ["", "1 2 2", "0 1 2", "a b", "1 2.5"])
def test_an_order_is_each_number_once(text: str) -> None:
    with pytest.raises(UserError):
        lens.read_order(text)


def test_own_words() -> None:
    assert not run_page("transformer/shuffle", text="a b", order="2 1").exception
    assert run_page("transformer/shuffle", text="a b c", order="2 1").exception == []
    at = open_page("transformer/shuffle", text="man 🙂 man", order="3, 1, 2", scheme="alibi")
    assert not at.error and not at.exception
