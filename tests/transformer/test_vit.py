"""The vision transformer: patches, counts, what order means, and where attention looks."""

import contracts
import pytest
import torch
import torch.nn.functional as F

from modules.transformer.recorder import record_attention
from modules.transformer.vit import ViT


def tiny(**kwargs) -> ViT:
    sizes = {"image_shape": (2, 6, 4), "num_classes": 3, "patch": 2, "layers": 2, "heads": 2, "width": 8}
    return contracts.exact(ViT(**(sizes | kwargs)))


def pictures(*shape, seed=0):
    return torch.randn(*shape, generator=contracts.seeded(seed), dtype=torch.float64)


def test_parameters():
    for patch in (4, 7):  # 49 + 17 = 16 + 50
        assert ViT(patch=patch, heads=4, feedforward_width=256).num_parameters == 205_066
    with torch.device("meta"):
        base = ViT((3, 224, 224), 1000, 16, 12, 12, 768)
    assert base.num_parameters == 86_567_656 and base.grid == (14, 14)


def test_the_patch_layer_is_a_matrix_on_each_patch_in_raster_order():
    model, x = tiny(), pictures(2, 2, 6, 4)
    W = model.embedding.weight.flatten(1)  # (D, C·P·P)
    for p in range(6):
        row, column = divmod(p, 2)
        patch = x[:, :, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2].flatten(1)
        torch.testing.assert_close(model.patches(x)[:, p], patch @ W.T + model.embedding.bias)
    unfolded = F.unfold(x, 2, stride=2).mT @ W.T + model.embedding.bias
    torch.testing.assert_close(model.patches(x), unfolded)


def test_patches_moved_with_their_positions_leave_the_answer():
    model, x = tiny(), pictures(1, 2, 6, 4)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    z = model.stack(model.tokens(x))[:, 0]
    table = model.stack.positions.table
    moved = torch.cat([torch.zeros(1, dtype=torch.int64), 1 + order])
    tokens = model.tokens(x)[:, moved]
    assert (model.stack(tokens)[:, 0] - z).abs().max() > 1e-4
    with torch.no_grad():
        table.copy_(table[moved].clone())
    torch.testing.assert_close(model.stack(tokens)[:, 0], z, atol=1e-12, rtol=0)


def test_without_positions_a_picture_is_a_bag_of_patches():
    x = pictures(1, 2, 6, 4)
    turned = torch.cat([x[:, :, 2:], x[:, :, :2]], 2)  # the first row of patches goes to the end
    for pool in ("cls", "mean"):
        bag, whole = tiny(positions="none", pool=pool), tiny(pool=pool)
        torch.testing.assert_close(bag.predict(turned), bag.predict(x), atol=1e-12, rtol=0)
        assert (whole.predict(turned) - whole.predict(x)).abs().max() > 1e-4


@torch.no_grad()
def test_attention_of_every_layer_can_be_recorded():
    model, x = tiny(), pictures(3, 2, 6, 4)
    plain = model.predict(x)
    with record_attention() as seen:
        torch.testing.assert_close(model.predict(x), plain, atol=1e-12, rtol=0)
    maps = [seen.calls[block.mixer][0].weights for block in model.stack.blocks]
    assert all(weights.shape == (3, 2, 7, 7) for weights in maps)


@pytest.mark.parametrize("pool", ["cls", "mean"])
def test_learns_one_batch_and_every_parameter_has_a_part(pool):
    model = tiny(pool=pool)
    batch = pictures(6, 2, 6, 4), torch.arange(6) % 3
    contracts.every_parameter_gets_a_gradient(model, lambda: model.step(batch, "train"))
    torch.manual_seed(0)
    fresh = ViT((2, 6, 4), 3, 2, 2, 2, 16, pool=pool)
    contracts.overfits_one_batch(fresh, (batch[0].float(), batch[1]), below=0.2, steps=150)


def test_bad_input_gets_a_sentence():
    for settings, sentence in (
        ({"patch": 3}, "must divide the 6 × 4 pixels"),
        ({"pool": "max"}, "cls or mean"),
        ({"positions": "rotary"}, "learned or none"),
        ({"image_shape": (6, 4)}, "colours, height and width"),
    ):
        with pytest.raises(ValueError, match=sentence):
            tiny(**settings)
    with pytest.raises(ValueError, match=r"give \(B, 2, 6, 4\)"):
        tiny().predict(pictures(1, 2, 4, 6))
