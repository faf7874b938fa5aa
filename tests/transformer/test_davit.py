"""DaViT: attention among channels by a loop, its matrix d×d, its counts, what it does not know."""

import contracts
import pytest
import torch

from modules.transformer.attention import Attention
from modules.transformer.davit import ChannelAttention, DaViT, score_multiply_adds
from modules.transformer.recorder import record_attention


def tiny(**kwargs) -> DaViT:
    sizes = {"image_shape": (2, 6, 4), "num_classes": 3, "patch": 2, "layers": 2, "heads": 2, "width": 8}
    return contracts.exact(DaViT(**(sizes | kwargs)))


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=contracts.seeded(seed), dtype=torch.float64)


@pytest.mark.parametrize("groups", [1, 2, 8])
@torch.no_grad()
def test_channel_attention_is_a_loop_over_channels(groups):
    layer, x = contracts.exact(ChannelAttention(8, groups)), numbers(2, 5, 8)
    q, k, v = layer.qkv(x).chunk(3, -1)  # (B, N, C): a column is a channel
    y, D = torch.zeros_like(x), 8 // groups
    for b in range(2):
        for c in range(8):
            first = c // D * D
            scores = torch.stack([q[b, :, c] @ k[b, :, e] / 5**0.5 for e in range(first, first + D)])
            y[b, :, c] = v[b, :, first : first + D] @ scores.softmax(0)
    torch.testing.assert_close(layer(x), layer.proj(y), atol=1e-12, rtol=0)
    with record_attention() as seen:
        torch.testing.assert_close(layer(x), layer.proj(y), atol=1e-12, rtol=0)
    record = seen.calls[layer][0]
    assert record.weights.shape == (2, groups, D, D) and record.scale == 5**-0.5
    torch.testing.assert_close(record.weights @ record.values, y.mT.unflatten(1, (groups, D)))


@torch.no_grad()
def test_parameters_do_not_depend_on_patches_and_places_are_not_known():
    layer, x = contracts.exact(ChannelAttention(8, 2)), numbers(2, 5, 8)
    assert sum(p.numel() for p in layer.parameters()) == 4 * (8 * 8 + 8)
    order = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(layer(x[:, order]), layer(x)[:, order], atol=1e-12, rtol=0)
    assert layer(numbers(1, 7, 8)).shape == (1, 7, 8) and layer(numbers(1, 1, 8)).shape == (1, 1, 8)


def test_every_patch_reaches_every_other_through_channels_alone():
    layer = contracts.exact(ChannelAttention(8, 1))
    x = numbers(1, 6, 8).requires_grad_()
    (gradient,) = torch.autograd.grad(layer(x)[0, 0].square().sum(), x)
    assert (gradient[0].abs().sum(-1) > 0).all()


def test_problem_12_9():
    patches, channels = score_multiply_adds(256, 512)
    assert (patches, channels) == (33_554_432, 67_108_864) and channels / patches == 512 / 256
    assert len(set(score_multiply_adds(64, 64))) == 1


@torch.no_grad()
def test_blocks_alternate_and_all_are_recorded():
    model, x = tiny(layers=4), numbers(3, 2, 6, 4)
    kinds = [type(block.mixer) for block in model.blocks]
    assert kinds == [Attention, ChannelAttention] * 2
    plain = model.predict(x)
    with record_attention() as seen:
        torch.testing.assert_close(model.predict(x), plain, atol=1e-12, rtol=0)
    shapes = [tuple(seen.calls[block.mixer][0].weights.shape) for block in model.blocks]
    assert shapes == [(3, 2, 6, 6), (3, 1, 8, 8)] * 2


def test_learns_one_batch_and_every_parameter_has_a_part():
    model = tiny()
    batch = numbers(6, 2, 6, 4), torch.arange(6) % 3
    contracts.every_parameter_gets_a_gradient(model, lambda: model.step(batch, "train"))
    torch.manual_seed(0)
    fresh = DaViT((2, 6, 4), 3, 2, 2, 2, 1, 16)
    contracts.overfits_one_batch(fresh, (batch[0].float(), batch[1]), below=0.2, steps=150)


def test_bad_input_gets_a_sentence():
    for settings, sentence in (
        ({"patch": 3}, "must divide the 6 × 4 pixels"),
        ({"groups": 3}, "3 heads"),
        ({"layers": 0}, "layers is 0"),
    ):
        with pytest.raises(ValueError, match=sentence):
            tiny(**settings)
    with pytest.raises(ValueError, match="sum over all tokens"):
        ChannelAttention(8, 2)(torch.zeros(1, 3, 8), causal=True)
