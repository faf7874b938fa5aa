"""Convolution over p4 ([UDL] notes of chapter 10; CV-O27): turned with its input, by loops and at once."""

import contracts
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from modules.convolution.cnn2d import CNN2d
from modules.convolution.group_convolution import P4CNN, GroupConvolution, Invariant, Lift, turned


def drawn(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def layer(kind: type[Lift], *sizes: int) -> Lift:
    result = kind(*sizes).double()
    result.weight.data = drawn(*result.weight.shape)
    return result


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_turn_turns_the_maps_and_moves_the_orientations_on(quarters: int) -> None:
    lift, group = layer(Lift, 2, 3, 5), layer(GroupConvolution, 3, 4, 3)
    x = drawn(2, 2, 9, 9)
    first = lift(x)
    expected = turned(first, quarters).roll(quarters, 2)
    torch.testing.assert_close(lift(turned(x, quarters)), expected, rtol=0, atol=1e-13)
    second = turned(group(first), quarters).roll(quarters, 2)
    torch.testing.assert_close(group(expected), second, rtol=0, atol=1e-12)
    ordinary = F.conv2d(turned(x, quarters), lift.weight, padding=2)
    assert float((ordinary - turned(F.conv2d(x, lift.weight, padding=2), quarters)).detach().abs().max()) > 1
    pooled = Invariant()(group(first))
    torch.testing.assert_close(Invariant()(group(lift(turned(x, quarters)))), pooled, rtol=0, atol=1e-12)


def test_both_layers_are_the_sums_of_their_definition() -> None:
    lift, group = layer(Lift, 2, 2, 3), layer(GroupConvolution, 2, 3, 3)
    x = drawn(1, 2, 4, 4)
    h = lift(x)
    padded, padded_h = F.pad(x, [1] * 4)[0], F.pad(h, [1] * 4)[0]
    for r in range(4):
        for row in range(4):
            for column in range(4):
                patch = padded[:, row : row + 3, column : column + 3]
                for o in range(2):
                    value = sum(float((lift.weight[o, c].rot90(r) * patch[c]).sum()) for c in range(2))
                    assert float(h[0, o, r, row, column]) == pytest.approx(value, abs=1e-12)
    found = group(h)[0]
    for r, o in ((0, 0), (1, 2), (3, 1)):
        patch = padded_h[:, :, 1:4, 2:5]  # around row 1, column 2
        value = sum(
            float((group.weight[o, c, (s - r) % 4].rot90(r) * patch[c, s]).sum())
            for c in range(2)
            for s in range(4)
        )
        assert float(found[o, r, 1, 2]) == pytest.approx(value, abs=1e-12)


def test_a_classifier_does_not_see_quarter_turns() -> None:
    model = contracts.exact(P4CNN((1, 12, 12), 5, channels=(3, 4, 4)))
    x = drawn(6, 1, 12, 12)
    model.train()
    for _ in range(3):
        model(x)  # statistics of the batch norms
    for mode in (model.train(), model.eval()):
        logits = mode(x)
        for quarters in (1, 2, 3):
            torch.testing.assert_close(mode(turned(x, quarters)), logits, rtol=0, atol=1e-10)
        assert float((mode(x.flip(-1)) - logits).abs().max()) > 1e-3  # p4 has no reflections
    ordinary = contracts.exact(CNN2d((1, 12, 12), 5, channels=(3, 4))).eval()
    assert float((ordinary(turned(x)) - ordinary(x)).abs().max()) > 1e-3


def test_weights_are_those_of_one_orientation() -> None:
    model = P4CNN()
    kernels = 8 * 9 + 16 * 8 * 4 * 9 + 16 * 16 * 4 * 9
    assert sum(p.numel() for p in model.parameters()) == kernels + 2 * (8 + 16 + 16) + 16 * 10 + 10
    spread = model.layers[4].weight.std()
    assert float(spread) == pytest.approx((2 / (8 * 4 * 9)) ** 0.5, rel=0.05)  # He: fan-in counts turns


def test_what_cannot_be_turned_is_refused() -> None:
    with pytest.raises(ValueError, match="divide by 4"):
        P4CNN((1, 28, 30))
    with pytest.raises(ValueError, match="centre to turn about"):
        P4CNN(kernel_size=4)
