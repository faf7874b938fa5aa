"""The page "Coupling microscope": what is copied, what changes, and whose distribution stays."""

import math
from functools import partial

import pytest
import torch
from opening import figure, film, metrics, open_page, open_warned, prose, run_page, spoken, warnings
from scipy.stats import kstest

from pages.flow.coupling import distributions, lens, masks

opened = partial(open_page, "flow/coupling")
H = torch.tensor([1.0, -0.5, 0.3, 2.0], dtype=torch.float64)


def test_the_oracle_by_hand() -> None:
    (look,) = lens.looks(
        torch.tensor([1.0, 2.0]).double(), lens.layers("affine", lens.NETS[0], "never", 2, 1, 0)
    )
    assert look.after.tolist() == pytest.approx([1, 5.283375], abs=1e-6)
    assert look.ladj == pytest.approx(0.761594, abs=1e-6) and look.after[0] == 1
    assert look.jacobian[0, 1] == 0 and look.jacobian[1, 0] != 0
    (plain,) = lens.looks(
        torch.tensor([1.0, 2.0]).double(), lens.layers("additive", lens.NETS[0], "never", 2, 1, 0)
    )
    assert plain.ladj == 0 and plain.after.tolist() == [1, 3]


@pytest.mark.parametrize("kind", lens.KINDS)
@pytest.mark.parametrize("turns", lens.TURNS)
@pytest.mark.parametrize("features", [2, 3, 6])
def test_layers_agree_with_their_stack(kind: str, turns: str, features: int) -> None:
    h = torch.linspace(-1.5, 2, features, dtype=torch.float64)
    stack = lens.layers(kind, lens.NETS[1], turns, features, 4, seed=3)
    result = list(lens.looks(h, stack))

    def together(z: torch.Tensor) -> torch.Tensor:
        for order, layer in stack:
            z = layer.generate(z if order is None else order.generate(z)[0])[0]
        return z

    torch.testing.assert_close(result[-1].after, together(h))
    torch.testing.assert_close(result[-1].through, torch.autograd.functional.jacobian(together, h))
    for look in result:
        assert float(torch.linalg.slogdet(look.jacobian).logabsdet) == pytest.approx(look.ladj, abs=1e-9)
        assert (look.after == look.before)[look.copied].all()
        assert (look.jacobian[look.copied] == torch.eye(features).double()[look.copied]).all()
        slope = look.slope[~look.copied]
        torch.testing.assert_close(slope, look.jacobian.diagonal()[~look.copied].log())
    assert lens.round_trip(h, stack) < 1e-9
    assert bool(result[-1].changed.all()) is (turns != "never") or turns == "random order"


@pytest.mark.parametrize("kind", lens.KINDS)
def test_halves_within_halves_fill_the_triangle(kind: str) -> None:
    """HINT: 1 alone is copied, each hears all before it; of two halves some do not."""
    stack = lens.layers(kind, lens.NETS[1], lens.HINT, 4, 2, 0)
    first, second = lens.looks(H, stack)
    below = torch.ones(4, 4).tril(-1).bool()
    assert bool((first.jacobian[below] != 0).all()) and not bool(first.jacobian.triu(1).any())
    assert first.copied.tolist() == [True, False, False, False] and bool(second.changed.any())
    (plain, *_) = lens.looks(H, lens.layers(kind, lens.NETS[1], lens.TURNS[0], 4, 1, 0))
    assert int((plain.jacobian[below] != 0).sum()) < int(below.sum())
    values, points = lens.maps([first, second], [layer for _, layer in stack])
    assert values.shape == (2, 3, 81) and bool((values.diff(dim=-1) > 0).all())
    for k in range(3):  # the curve of number k + 2 by hand, the others held
        moved = H.clone()
        moved[k + 1] = lens.places()[20]
        by_hand = float(stack[0][1].generate(moved)[0][k + 1])
        assert float(values[0, k, 20]) == pytest.approx(by_hand, abs=1e-12)
        assert points[0, k].tolist() == [float(H[k + 1]), float(first.after[k + 1])]


def test_the_page_tells_of_halves_within_halves() -> None:
    page = opened(turns=lens.HINT)
    assert "the triangle of the Jacobian is full" in prose(page)
    assert "copies 1 and changes 2, 3, 4" in film(page, "layer")["captions"][0]


def test_a_curve_passes_through_its_point() -> None:
    stack = lens.layers("spline", lens.NETS[1], lens.TURNS[0], 3, 2, 0)
    result = list(lens.looks(H[:3], stack))
    values, points = lens.maps(result, [layer for _, layer in stack])
    assert values.shape == (2, 2, 81) and points[1, 1].isnan().all()  # the second layer changes one number
    at = lens.places()
    for frame, k in ((0, 0), (0, 1), (1, 0)):
        x, y = points[frame, k]
        right = int(torch.searchsorted(at, x))
        assert values[frame, k, right - 1] - 1e-9 <= y <= values[frame, k, right] + 1e-9


def test_the_law_of_the_outputs() -> None:
    stack = lens.layers("affine", lens.NETS[1], "never", 4, 3, 0)
    result = distributions.outputs(stack, 4, 0)
    assert result.same.tolist() == [[True] * 4] + [[True, True, False, False]] * 3
    assert (result.p[:, :2] > 0.05).all() and (result.p[1:, 2:] < 1e-3).all()
    assert ((result.heights.sum(-1) * 0.2) <= 1 + 1e-6).all()
    z = torch.randn(500, 3, generator=torch.Generator().manual_seed(1)).double() * 1.05
    for column in z.T:
        text = kstest(column.numpy(), "norm")
        distance = distributions.smirnov(column)
        assert float(distance) == pytest.approx(text.statistic, abs=1e-12)
        assert float(distributions.tail(distance, 500)) == pytest.approx(text.pvalue, abs=0.01)
    turned = distributions.outputs(lens.layers("affine", lens.NETS[1], lens.TURNS[0], 4, 4, 0), 4, 0)
    assert not turned.same[2:].any() and (turned.p[4] < 0.05).all()


def test_what_the_page_shows() -> None:
    page = opened()
    shown, bar = metrics(page), film(page, "layer")
    assert shown["ladj, this layer"] == shown["by autograd"]
    assert shown["Copied half moves"] == "0"
    assert "Layer 1 copies 1, 2 and changes 3, 4" in bar["captions"][0]
    assert "no layer has changed input 1, 2" in bar["captions"][0]
    assert "every input has been changed" in bar["captions"][1]
    look = next(lens.looks(H, lens.layers("affine", lens.NETS[1], lens.TURNS[0], 4, 1, 0)))
    s, t = float(look.slope[2]), float(look.shift[2])
    assert float(look.after[2]) == pytest.approx(0.3 * math.exp(s) + t)
    assert spoken(bar["equations"][0]) == pytest.approx([0.3, s, t, float(look.after[2])], abs=6e-4)
    _, frames = figure(page, "table")
    assert frames["data.0.z"].shape == (4, 4, 4)


def test_numbers_of_the_scenes() -> None:
    hand = opened(values="1 2", net=lens.NETS[0], depth=1)
    assert metrics(hand)["ladj, this layer"] == "0.761594"
    stack = lens.layers("affine", lens.NETS[1], lens.TURNS[0], 4, 3, 0)
    assert (list(lens.looks(H, stack))[2].through != 0).all()
    assert "2 of 4 inputs have never been changed" in prose(opened(turns="never"))
    never = film(opened(view="laws", turns="never"), "layer")["captions"]
    assert "distribution is left, bit for bit, in output 1, 2" in never[4]
    assert metrics(opened(kind="additive"))["ladj, this layer"] == "0.000000"


def test_bad_numbers_are_named() -> None:
    page = open_warned("flow/coupling", values="1 x 2 9")
    assert "“x” and 1 more is left out" in warnings(page) and film(page, "layer")["count"] == 4
    assert "at least two numbers" in warnings(run_page("flow/coupling", values="1"))


# --- On a picture ---------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", masks.PATTERNS)
def test_masks_say_which_pixels_move_and_which_are_heard(pattern: str) -> None:
    """Against the layer itself: what moves, whose slopes are there, and the determinant of all 64."""
    h = torch.randn(8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    result = list(masks.looks(h, pattern, 4, 0))
    for number, look in enumerate(result):
        assert int(look.copied.sum()) == 32 and torch.equal(look.after == look.before, look.copied)
        jacobian = look.heard.reshape(64, 64)
        copied = look.copied.flatten()
        assert torch.equal(jacobian[copied], torch.eye(64, dtype=torch.float64)[copied])  # nobody but itself
        moved = jacobian[~copied][:, ~copied]
        assert torch.equal(moved, moved.diagonal().diag())  # no changed pixel hears another
        assert (jacobian[~copied][:, copied] > 0).any(1).all()
        assert look.ladj == pytest.approx(float(moved.diagonal().log().sum()), abs=1e-9)
        assert bool(look.changed.all()) is (number > 0)
        if number:
            assert torch.equal(look.before, result[number - 1].after)


def test_the_patterns_are_the_papers() -> None:
    """RealNVP's figure 3: a checkerboard of pixels, and halves of the channels of squeezed blocks."""
    board = masks.layer("checkerboard", 4, 0)[1]
    assert board.int().tolist() == [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    assert masks.layer("first channels", 4, 0)[1].int().tolist() == [[1] * 4, [0] * 4, [1] * 4, [0] * 4]
    assert torch.equal(masks.layer("last channels", 4, 0)[1], ~masks.layer("first channels", 4, 0)[1])


def test_the_view_on_a_picture() -> None:
    page = opened(view="picture", layer=3, pixel="4,3")
    bar = film(page, "layer")
    assert "Layer 3, first channels: 32 pixels are copied, 32 move" in bar["captions"][2]
    assert (
        "32 pixels have never moved" in bar["captions"][0] and "Every pixel has moved" in bar["captions"][1]
    )
    assert metrics(page)["Copied pixels move"] == "0"
    _, frames = figure(page, "before")
    assert frames["data.0.z"].shape == (4, 8, 8) and frames["data.1.x"].shape == (4, 32)
