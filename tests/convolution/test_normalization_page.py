"""The page BatchNorm and its relatives: seven nodes by hand, training and test, the norm cube."""

import pytest
import torch

from lab.errors import UserError
from modules.convolution.normalization import batch_norm_backward
from pages.convolution.normalization import by_hand, cube, figures, graphs, testing, words
from pages.convolution.normalization.room import (
    BESIDE,
    CHANNELS,
    FORMS,
    MOVES,
    NODES,
    NORMS,
    OF_BATCH,
    OF_GHOST,
    OF_GROUP,
    OF_INSTANCE,
    OF_LAYER,
    ROOT,
)

Z, FIRST = (1.0, 2.0, 4.0, 7.0), (1.0,)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("c", [0.25, 1.0, 4.0])
def test_by_hand_is_autograd(form: str, c: float) -> None:
    one = by_hand.worked(Z, (0.3, -1.0, 2.0, 0.5), c, -1.5, 0.7, form, -3)
    torch.testing.assert_close(one.slope, one.automatic)
    assert one.gap < 1e-12 and abs(float(one.slope.sum())) < 1e-12
    f = {node: value.clone().requires_grad_() for node, value in one.forward.items()}
    y = -1.5 * f["f2"] * f["f6"] + 0.7
    (d6,) = torch.autograd.grad((y * torch.tensor([0.3, -1, 2, 0.5]).double()).sum(), f["f6"])
    torch.testing.assert_close(one.backward["f6"], d6)


def test_worked_batch() -> None:
    """CV-O39: both forms of ε, and the first row of the Jacobian."""
    root, beside = (by_hand.worked(Z, FIRST, 1.0, 1.5, -0.5, form, -5) for form in (ROOT, BESIDE))
    assert root.after.tolist() == pytest.approx([-2.13663262, -1.48197957, -0.17267348, 1.79128567], abs=1e-8)
    assert beside.after.tolist() == pytest.approx(
        [-2.13662703, -1.48197622, -0.17267459, 1.79127785], abs=1e-8
    )
    row = [0.29615294, -0.28056537, -0.12469589, 0.10910832]
    assert root.slope.tolist() == pytest.approx(row, abs=1e-8)
    g, z, gamma = (torch.tensor(v).double() for v in ([[1.0], [0], [0], [0]], [[v] for v in Z], [1.5]))
    ours = batch_norm_backward(g, z, gamma)
    torch.testing.assert_close(ours[0][:, 0], root.slope)
    assert (root.gamma, root.delta) == pytest.approx((float(ours[1]), float(ours[2])))


def test_scale_of_weights_leaves_the_output() -> None:
    """CV-O40: as ε → 0 the output stays and the gradient is divided by c."""
    one, four = (by_hand.worked(Z, FIRST, c, 1.5, -0.5, ROOT, -8) for c in (1.0, 4.0))
    torch.testing.assert_close(one.after, four.after)
    torch.testing.assert_close(four.slope, one.slope / 4)
    assert torch.equal(four.unscaled, one.slope)
    assert abs(float((one.before * one.slope).sum())) < 1e-8


def test_a_batch_without_variance() -> None:
    for form, factor in ((ROOT, 1.5 / 1e-5**0.5), (BESIDE, 1.5 / 1e-5)):
        one = by_hand.worked((3.0,) * 4, FIRST, 1.0, 1.5, -0.5, form, -5)
        assert one.after.tolist() == [-0.5] * 4
        wanted = factor * torch.tensor([0.75, -0.25, -0.25, -0.25]).double()
        torch.testing.assert_close(one.slope, wanted)
    assert "no number (0/0)" in words.hand_captions(one)[-1]


def test_every_step_shows_what_is_known() -> None:
    tree = graphs.nodes(by_hand.worked(Z, FIRST, 1.0, 1.5, -0.5, ROOT, -5))
    values, slopes = (trace["text"].values for trace in tree["data"])
    counts = [sum(map(bool, row)) for row in values]
    assert counts[:9] == [4, 5, 9, 13, 14, 15, 16, 20, 24] and set(counts[9:]) == {24}
    assert [sum(map(bool, row)) for row in slopes][8:] == [0, 4, 8, 9, 10, 11, 15, 19, 20, 24]
    assert [graphs.at_move(m)[0] for m in MOVES] == [*NODES, *reversed(NODES)]


@pytest.mark.parametrize("size", [2, 4])
def test_running_averages(size: int) -> None:
    """CV-O41, CV-E24: the unbiased average is B/(B − 1) times the biased one, up to where both begin."""
    one = testing.tested(Z, size, 1.0, 4, 2)
    torch.testing.assert_close(one.unbiased, one.biased * size / (size - 1))
    assert one.variance == 5.25 and one.frozen == pytest.approx(3.5 / (5.25 + 1e-5) ** 0.5)
    long = testing.tested(Z, size, 0.1, 4, 2)
    assert long.unbiased[-30:].mean() == pytest.approx(5.25, rel=0.35)
    assert long.biased[-30:].mean() < 0.9 * float(long.unbiased[-30:].mean())
    assert testing.spread(Z, 2, 32) < 0.5 * testing.spread(Z, 2, 2)


@pytest.mark.parametrize("norm", NORMS)
def test_lit_cells_are_those_that_share_statistics(norm: str) -> None:
    """By the derivative: an output depends on the cells of its own set, and on no other."""
    f, shape = cube.functions(2, 2)[norm], (3, CHANNELS, 3)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda v: f(v).flatten(), x).flatten(1)
    sets = cube.sharing(norm, shape, 2, 2).flatten()
    near = jacobian.abs() > 1e-9
    assert torch.equal(near, sets[:, None] == sets)
    one = cube.cube(norm, 3, 4, 2, 2, 1)
    for number in range(one.count):
        cells = one.y[one.sets == number]
        assert abs(float(cells.mean())) < 1e-9 and float(cells.var(correction=0)) == pytest.approx(
            1, abs=0.02
        )
    assert figures.pressed(one, 6, 1) == int(one.sets[1, 1, 1]) + 1 == figures.pressed(one, 6, 6)
    assert figures.pressed(one, 4, 1) is None and figures.pressed(one, 0, 4) is None


def same(examples: int, groups: int, ghost: int) -> set[tuple[str, str]]:
    gaps = cube.cube(OF_BATCH, examples, 4, groups, ghost, 0).gaps
    pairs = (gaps <= cube.EQUAL).nonzero().tolist()
    return {(NORMS[i], NORMS[j]) for i, j in pairs if i < j}


def test_identities() -> None:
    """CV-O42."""
    assert same(3, 2, 2) == set()
    assert same(3, 1, 2) == {(OF_LAYER, OF_GROUP)}
    assert same(3, CHANNELS, 2) == {(OF_GROUP, OF_INSTANCE)}
    assert same(3, 2, 3) == {(OF_BATCH, OF_GHOST)}
    assert {(OF_BATCH, OF_INSTANCE), (OF_BATCH, OF_GHOST)} <= same(1, 2, 1)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: by_hand.batch("7"), "one alone has no variance"),
        (lambda: by_hand.batch("1 🐟"), "“🐟” is no number"),
        (lambda: by_hand.batch("1 2 3 4 5 6 7"), "at most 6"),
        (lambda: by_hand.worked(Z, (1.0,) * 5, 1.0, 1.0, 0.0, ROOT, -5), "at most 4 gradients, not 5"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError, match=sentence):
        call()
