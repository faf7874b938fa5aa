"""The page Images as tokens: reach sets, rollout by hand, channel matrices, scenes that hold."""

import pytest
import torch
from opening import open_page

from lab import weights
from lab.errors import UserError
from lab.lenses import drawing, stock
from modules.transformer.vit import ViT
from pages.transformer.patches import figures, lens
from pages.transformer.patches.room import DAVIT, LARGE, ROOM, SWIN, VIEWS, VIT, State

MODELS = [weights.load(name).eval() for name in ("vit-digits", "vit-mnist", "swin-digits", "davit-digits")]


def looked(now: State, digit: torch.Tensor | None = None) -> lens.Look:
    picture = drawing.examples(8)[0][1] if digit is None else digit
    sketch = lens.sketches()[0][1] if digit is None else digit
    return lens.look(now.view, picture, sketch, now.row, now.column, now.shift, *MODELS)  # type: ignore[arg-type]


REACH = {"Shifted window": 64, "Region mask": 16, "W, SW, W": 64, "No shift": 16}


@pytest.mark.parametrize("name", ROOM.scenes)
def test_scenes_say_what_is_so(name: str) -> None:
    now = ROOM.scenes[name].state
    one = looked(now)
    assert now.layer is not None and str(now.layer) and len(one.maps) == len(one.captions) == len(one.names)
    if name in REACH:
        assert int(one.maps[now.layer].sum()) == REACH[name]
    assert figures.tokens(one) and figures.maps(one) and figures.classes(one)
    torch.testing.assert_close(one.p.sum(), torch.ones(()).to(one.p))


def test_rollout_is_a_product_and_rows_sum_to_one() -> None:
    one = looked(State(view=VIT))
    A = [w.mean(0) for w in lens.recorded(MODELS[0], drawing.examples(8)[0][1])]  # type: ignore[arg-type]
    product = torch.eye(17)
    for each in A:
        product = 0.5 * (each + torch.eye(17)) @ product
    torch.testing.assert_close(one.maps[-1].flatten(), product[0, 1:])
    torch.testing.assert_close(product.sum(1), torch.ones(17))


def test_regions_of_shifted_windows_and_channels() -> None:
    assert lens.groups(0).unique(return_counts=True)[1].tolist() == [16] * 4
    assert sorted(lens.groups(2).unique(return_counts=True)[1].tolist()) == [4] * 4 + [8] * 4 + [16]
    one = looked(State(view=DAVIT))
    assert one.maps.shape == (2, 48, 48)
    torch.testing.assert_close(one.maps.sum(-1), torch.ones(2, 48))
    assert lens.held(0, 0, True) == lens.OPTIONS[1] and lens.held(3, 3, True) == lens.OPTIONS[0]


def test_no_ink_gets_a_sentence() -> None:
    for view in (SWIN, LARGE):
        with pytest.raises(UserError, match="no ink"):
            looked(State(view=view), torch.zeros(8, 8))


def test_the_rollout_of_large_digits_follows_their_strokes() -> None:
    """Of each of the ten examples patches with ink have more than twice the weight of patches without."""
    for name, digit in lens.sketches():
        one = lens.of_vit(digit, MODELS[1])  # type: ignore[arg-type]
        ink = torch.nn.functional.avg_pool2d(digit[None, None], 4)[0, 0] > 0.05
        assert one.maps[-1].shape == ink.shape == (7, 7)
        assert one.maps[-1][ink].mean() > 2 * one.maps[-1][~ink].mean(), name
    assert int(lens.of_vit(lens.sketches()[0][1], MODELS[1]).p.argmax()) == 3  # type: ignore[arg-type]


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens(view: str) -> None:
    assert open_page("transformer/patches", view=view)


def test_rollout_spreads_over_the_layers_and_draws_on_the_middle() -> None:
    """What the two scenes of ViT say, on the first 20 digits that it has not seen."""
    model = MODELS[0]
    assert isinstance(model, ViT)
    for digit in stock.digits("test")[0][:20, 0]:
        maps = lens.rollout(lens.recorded(model, digit))[:, 0, 1:].unflatten(1, model.grid)  # (L, 4, 4)
        shares = (maps / maps.sum((1, 2), keepdim=True)).flatten(1)
        entropy = -(shares * shares.log()).sum(1)
        assert (entropy.diff() > 0).all()
        assert maps[-1, 1:3].mean() > maps[-1, [0, 0, 3, 3], [0, 3, 0, 3]].mean()
