"""Positions: sinusoids, rotations, and the limits of a learned table."""

import math

import pytest
import torch

from modules.transformer.positions import Learned, Rotary, Sinusoidal, angles, sinusoids


def test_sinusoids_of_width_four():
    expected = [
        [0, 1, 0, 1],
        [0.841471, 0.540302, 0.0099998, 0.99995],
        [0.909297, -0.416147, 0.0199987, 0.99980],
    ]
    torch.testing.assert_close(
        sinusoids(torch.arange(3), 4), torch.tensor(expected, dtype=torch.float64), atol=1e-6, rtol=0
    )


def test_sinusoids_have_constant_length_and_a_product_that_depends_on_the_offset_alone():
    table = sinusoids(torch.arange(64), 64)
    torch.testing.assert_close(table.square().sum(1), torch.full((64,), 32.0, dtype=torch.float64))
    products = table @ table.T
    for offset in range(64):
        diagonal = products.diagonal(offset)
        assert (diagonal.max() - diagonal.min()).item() < 1e-13 * 64
    values = {0: 32, 1: 30.9168, 2: 28.3039, 4: 23.9344, 8: 22.4139, 16: 19.3728, 32: 19.5540}
    for offset, value in values.items():
        assert products[0, offset].item() == pytest.approx(value, abs=1e-4)
    assert products[0, 6] > products[0, 5]  # the fall is not monotone, as [UDL] has it: 23.504, then 23.559


@pytest.mark.parametrize("shift", [1, 5, 40])
def test_a_shift_is_one_rotation_at_every_position(shift):
    table, width = sinusoids(torch.arange(100), 8), 8
    turn = angles(torch.tensor([shift]), width)[0]
    for position in (0, 3, 50):
        for i, angle in enumerate(turn.tolist()):
            s, c = table[position, 2 * i : 2 * i + 2].tolist()
            expected = (c * math.sin(angle) + s * math.cos(angle), c * math.cos(angle) - s * math.sin(angle))
            assert table[position + shift, 2 * i : 2 * i + 2].tolist() == pytest.approx(expected, abs=1e-13)


def test_odd_widths_are_refused():
    for make in (lambda: sinusoids(torch.arange(3), 5), lambda: Sinusoidal(5), lambda: Rotary(7)):
        with pytest.raises(ValueError, match="is odd"):
            make()


def test_rotary_rates():
    rates = angles(torch.tensor([1]), 8)[0]
    torch.testing.assert_close(rates, torch.tensor([1, 0.1, 0.01, 0.001], dtype=torch.float64))


Q = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
K = torch.tensor([0.5, -1.0, 2.0, 0.25], dtype=torch.float64)


@pytest.mark.parametrize(
    "layout, turned, score",
    [
        ("adjacent", (-1.1426, 1.9221, 2.9599, 4.0298), 7.982132),
        ("half", (-1.9841, 1.9599, 2.4624, 4.0198), -7.228962),
    ],
)
def test_rotary_turns_pairs_and_scores_depend_on_the_difference_alone(layout, turned, score):
    rotary = Rotary(4, layout)
    assert rotary(Q[None], 1)[0].tolist() == pytest.approx(turned, abs=1e-4)
    for m, n in ((3, 0), (5, 2), (13, 10), (103, 100)):
        assert (rotary(Q[None], m) @ rotary(K[None], n).T).item() == pytest.approx(score, abs=1e-6)
    assert (rotary(Q[None], 7) @ rotary(K[None], 7).T).item() == pytest.approx(
        5.5
    )  # no difference: unrotated
    torch.testing.assert_close(rotary(Q[None], 17).norm(), Q.norm())
    assert torch.equal(rotary(Q[None], 0)[0], Q)


def test_rotary_layouts_differ_by_a_permutation_of_features():
    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
    torch.testing.assert_close(Rotary(8, "adjacent")(x, 3)[:, order], Rotary(8, "half")(x[:, order], 3))


def test_rotary_at_an_offset_is_a_slice_of_the_whole():
    x = torch.randn(2, 9, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    rotary = Rotary(8)
    whole = rotary(x)
    assert torch.equal(rotary(x[:, 4:], 4), whole[:, 4:])
    single = rotary(x.float())  # another dtype gets a table of its own, at its own precision
    assert single.dtype == torch.float32 and (single - whole).abs().max() < 1e-5
    assert torch.equal(rotary(x), whole)


def test_sinusoidal_adds_the_table_in_any_dtype():
    module, x = Sinusoidal(8), torch.zeros(1, 4, 8)
    torch.testing.assert_close(module(x.double(), 3)[0], sinusoids(torch.arange(3, 7), 8), atol=0, rtol=0)
    assert module(x).dtype == torch.float32
    assert module(x, 100)[0, 0, 0].item() == pytest.approx(math.sin(100), abs=1e-6)


def test_learned_positions_end_with_their_table():
    module = Learned(4, 6)
    x = torch.zeros(1, 2, 6)
    assert torch.equal(module(x, 2)[0], module.table[2:4])
    with pytest.raises(ValueError, match="learned 4 positions"):
        module(x, 3)


def test_unknown_layout():
    with pytest.raises(ValueError, match="adjacent or half"):
        Rotary(4, "sideways")  # type: ignore[arg-type]
