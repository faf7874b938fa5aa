"""Swin: windows, shift and region mask, reach, counts; the layer is a loop over windows."""

import contracts
import pytest
import torch

from modules.transformer import sparse
from modules.transformer.attention import attention_weights
from modules.transformer.block import Block
from modules.transformer.feedforward import FeedForward
from modules.transformer.recorder import record_attention
from modules.transformer.swin import (
    PatchMerging,
    Swin,
    WindowAttention,
    WindowBias,
    grid_of,
    multiply_adds,
    pairs,
    region_mask,
    regions,
    windows,
)


def tiny(**kwargs) -> Swin:
    sizes = {"image_shape": (2, 8, 8), "num_classes": 3, "patch": 1, "window": 4, "depths": (3, 1),
             "heads": 2, "width": 8}  # fmt: skip
    return contracts.exact(Swin(**(sizes | kwargs)))


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=contracts.seeded(seed), dtype=torch.float64)


@pytest.mark.parametrize(("grid", "M"), [((8, 8), 4), ((4, 6), 2), ((3, 3), 3), ((2, 2), 1)])
def test_windows_come_back_and_so_does_the_roll(grid, M):
    x = numbers(2, *grid, 3)
    cut = windows(x, M)
    assert cut.shape == (2 * grid[0] * grid[1] // M**2, M * M, 3)
    assert torch.equal(grid_of(cut, M, grid), x)
    across = grid[1] // M
    for number in range(len(cut)):  # the window by its place
        b, place = divmod(number, (grid[0] // M) * across)
        row, column = (M * i for i in divmod(place, across))
        assert torch.equal(cut[number], x[b, row : row + M, column : column + M].flatten(0, 1))
    s = M // 2
    assert torch.equal(x.roll((-s, -s), (1, 2)).roll((s, s), (1, 2)), x)


def test_nine_regions_and_their_pairs():
    labels = regions((8, 8), 4, 2)
    assert labels.unique().tolist() == list(range(9))
    assert region_mask((8, 8), 4, 2).sum((1, 2)).tolist() == [256, 128, 128, 64]
    assert region_mask((8, 8), 4, 0).all() and not regions((8, 8), 4, 0)[0, 0]
    # pairs of one window and region lie as near in the picture as in the window
    found = pairs((8, 8), 4, 2)
    place = torch.cartesian_prod(torch.arange(8), torch.arange(8))
    i, j = found.nonzero(as_tuple=True)
    assert int((place[i] - place[j]).abs().max()) == 3 and int(found.sum()) == 576
    assert torch.equal(found, found.T)


def reach(shifts: list[int]) -> torch.Tensor:
    heard = torch.eye(64, dtype=torch.float64)
    for s in shifts:
        heard = pairs((8, 8), 4, s).double() @ heard
    return (heard > 0).sum(1).view(8, 8)


def test_reach_of_plain_and_shifted_windows():
    assert (reach([0, 0]) == 16).all()
    after = reach([0, 2])
    assert int(after[3, 3]) == 64 and int(after[0, 0]) == 16
    assert (reach([0, 2, 0]) == 64).all()
    assert int(sparse.reach(pairs((8, 8), 4, 0), 2)[2].sum()) == 64 * 16


@pytest.mark.parametrize(("shift", "wanted"), [(True, (64, 16)), (False, (16, 16))])
def test_gradients_reach_what_windows_reach(shift, wanted):
    model = tiny(depths=(2,), shift=shift)
    blocks = list(model.blocks)
    x = numbers(1, 64, 8).requires_grad_()
    y = blocks[1](blocks[0](x))
    for (row, column), count in zip(((3, 3), (0, 0)), wanted, strict=True):
        (gradient,) = torch.autograd.grad(y[0, 8 * row + column].sum(), x, retain_graph=True)
        assert int((gradient[0].abs().sum(-1) > 0).sum()) == count
    heard = pairs((8, 8), 4, 2 if shift else 0) & torch.ones(64, 64, dtype=torch.bool)
    (gradient,) = torch.autograd.grad(blocks[1](x)[0, 27].sum(), x)
    assert torch.equal(gradient[0].abs().sum(-1) > 0, heard[27])


@pytest.mark.parametrize(
    ("grid", "M", "shift"), [((8, 8), 4, 2), ((4, 6), 2, 1), ((6, 6), 3, 1), ((4, 4), 4, 0)]
)
@torch.no_grad()
def test_the_layer_is_a_loop_over_windows_and_tokens(grid, M, shift):
    layer = contracts.exact(WindowAttention(8, 2, grid, M, shift))
    x, (h, w) = numbers(2, grid[0] * grid[1], 8), grid
    q, k, v = layer.attention.split(x)  # (B, H, N, D) of all tokens
    table = layer.attention.relative.table  # type: ignore[union-attr]
    mixed = torch.zeros_like(v)
    for i in range(h * w):
        row, column = divmod(i, w)
        # place on the rolled grid, and what is allowed there: the same window, and not across a border
        near, bias = [], []
        for j in range(h * w):
            other = divmod(j, w)
            rolled = [
                ((a - shift) % n, (b - shift) % n) for a, b, n in zip((row, column), other, grid, strict=True)
            ]
            if any(a // M != b // M for a, b in rolled):
                continue
            if any(abs(a - b) >= M for a, b in zip((row, column), other, strict=True)):
                continue  # neighbours after the roll alone
            near.append(j)
            offset = [b - a + M - 1 for a, b in rolled]
            bias.append(table[offset[0] * (2 * M - 1) + offset[1]])
        each = attention_weights(q[:, :, i : i + 1], k[:, :, near], bias=torch.stack(bias).T[:, None])
        mixed[:, :, i] = (each @ v[:, :, near])[:, :, 0]
        assert torch.equal(pairs(grid, M, shift)[i].nonzero()[:, 0], torch.tensor(near))
    torch.testing.assert_close(layer(x), layer.attention.join(mixed), atol=1e-12, rtol=0)


@torch.no_grad()
def test_masked_pairs_have_weight_exactly_0():
    model, x = tiny(), numbers(3, 2, 8, 8)
    plain = model.predict(x)
    with record_attention() as seen:
        torch.testing.assert_close(model.predict(x), plain, atol=1e-12, rtol=0)
    mixers = [block.mixer for block in model.blocks]
    assert [mixer.shift for mixer in mixers] == [0, 2, 0, 0]
    assert [mixer.grid for mixer in mixers] == [(8, 8)] * 3 + [(4, 4)]
    weights = [seen.calls[mixer.attention][0].weights for mixer in mixers]
    assert [tuple(w.shape) for w in weights] == [(12, 2, 16, 16)] * 3 + [(3, 4, 16, 16)]
    allowed = region_mask((8, 8), 4, 2).repeat(3, 1, 1)[:, None].expand(-1, 2, -1, -1)
    assert torch.equal(weights[1] > 0, allowed) and (weights[1][~allowed] == 0).all()
    torch.testing.assert_close(weights[1].sum(-1), torch.ones(12, 2, 16, dtype=torch.float64))


def test_bias_is_one_number_for_each_offset_and_head():
    assert [len(WindowBias(3, M).table) for M in (4, 7)] == [49, 169]
    bias = WindowBias(2, 4)
    given = bias(torch.zeros(1), torch.zeros(1), 1.0)
    assert given.shape == (2, 16, 16)
    assert bias.index.unique().tolist() == list(range(49))
    # the same offset: token 0 → 5 and token 10 → 15, one down and one to the right
    assert torch.equal(given[:, 0, 5], given[:, 10, 15]) and not torch.equal(given[:, 0, 5], given[:, 5, 0])


def test_costs_and_merging():
    assert multiply_adds((56, 56), 96) == 2_003_828_736 and multiply_adds((56, 56), 96, 7) == 145_108_992
    assert multiply_adds((8, 8), 32) == 524_288 and multiply_adds((8, 8), 32, 4) == 327_680
    merge = contracts.exact(PatchMerging(32, (8, 4)))
    assert merge.proj.weight.numel() == 8_192
    x = numbers(2, 32, 32)
    y = merge(x)
    assert y.shape == (2, 8, 64)
    grid = x.view(2, 8, 4, 32)
    for n in range(8):
        row, column = (2 * i for i in divmod(n, 2))
        joined = grid[:, row : row + 2, column : column + 2].reshape(2, 128)
        torch.testing.assert_close(y[:, n], merge.proj(merge.norm(joined)))


def test_switches_take_shift_and_merging_away():
    flat = tiny(merge=False, depths=(2, 2))
    assert flat.grids == [(8, 8), (8, 8)] and flat.head.in_features == 8 and not len(flat.merges)
    assert not any(block.mixer.shift for block in tiny(shift=False, depths=(2, 2)).blocks)
    assert tiny().grids == [(8, 8), (4, 4)] and tiny().head.in_features == 16


def test_learns_one_batch_and_every_parameter_has_a_part():
    model = tiny()
    batch = numbers(6, 2, 8, 8), torch.arange(6) % 3
    contracts.every_parameter_gets_a_gradient(model, lambda: model.step(batch, "train"))
    torch.manual_seed(0)
    fresh = Swin((2, 8, 8), 3, 2, 2, (2, 1), 2, 16)
    contracts.overfits_one_batch(fresh, (batch[0].float(), batch[1]), below=0.2, steps=150)


def test_bad_input_gets_a_sentence():
    for settings, sentence in (
        ({"patch": 3}, "must divide the 8 × 8 pixels"),
        ({"window": 3}, "window is 3: it must divide the 8 × 8 tokens"),
        ({"depths": ()}, "depths is"),
        ({"depths": (1, 1, 1, 1, 1), "window": 1}, "no 2 × 2 neighbours"),
    ):
        with pytest.raises(ValueError, match=sentence):
            tiny(**settings)
    layer = WindowAttention(8, 2, (4, 4), 2)
    with pytest.raises(ValueError, match="one whole picture"):
        layer(torch.zeros(1, 16, 8), causal=True)
    with pytest.raises(ValueError, match="shift is 2"):
        WindowAttention(8, 2, (4, 4), 2, 2)
    block = Block(8, layer, FeedForward(8, 16))
    assert block(torch.zeros(1, 16, 8)).shape == (1, 16, 8)
    assert len(tiny().predict(torch.zeros(0, 2, 8, 8, dtype=torch.float64))) == 0
