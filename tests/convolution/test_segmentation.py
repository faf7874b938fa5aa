"""The U-Net of segmentation: sizes, crops, what is concatenated, what is measured."""

import contracts
import pytest
import torch
from torch import Tensor

from modules.convolution.counting import count, named
from modules.convolution.segmentation import SegmentationUNet, centre, sizes, smallest_side


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# --- Sizes -----------------------------------------------------------------------------------------


def test_sizes_of_the_text() -> None:
    """572 → 568, 280, 136, 64, 28 → 56, 104, 200, 392 with crops → 388 = n − 184."""
    result = sizes(572)
    assert result.down == (568, 280, 136, 64, 28)
    assert result.up == (56, 104, 200, 392) and result.crops == (4, 16, 40, 88)
    assert result.output == 388 == 572 - 184
    assert sizes(188).output == 4 and sizes(204).output == 20
    assert sizes(64, padded=True).output == 64 and sizes(64, padded=True).crops == (0, 0, 0, 0)


def runs(n: int, levels: int, padded: bool, kernel: int = 3) -> int | None:
    """Side of the output, by the arithmetic of each layer; None where a pooled grid is odd or empty."""
    lost, kept, side = 0 if padded else 2 * (kernel - 1), [], n
    for _ in range(levels):
        side -= lost
        if side < 1 or side % 2:
            return None
        kept.append(side)
        side //= 2
    side -= lost
    for _ in range(levels):
        if side < 1:
            return None
        side = 2 * side - lost
    return side if side >= 1 else None


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
@pytest.mark.parametrize("padded", [False, True])
def test_which_sides_are_legal(levels: int, padded: bool) -> None:
    """CV-E17: not any size; n ≡ 12 mod 16 and n ≥ 188 with four levels, or multiples of 16."""
    legal = []
    for n in range(1, 260):
        expected = runs(n, levels, padded)
        if expected is None:
            with pytest.raises(ValueError, match=r"[.]$"):
                sizes(n, levels, padded)
        else:
            assert sizes(n, levels, padded).output == expected
            legal.append(n)
    if levels == 4:
        assert legal == (list(range(16, 260, 16)) if padded else [188, 204, 220, 236, 252])


@pytest.mark.parametrize("kernel", [1, 2, 5, 7])
def test_which_sides_are_legal_with_other_kernels(kernel: int) -> None:
    legal = {n: side for n in range(1, 150) if (side := runs(n, 3, False, kernel)) is not None}
    assert min(legal, default=smallest_side(3, kernel)) == smallest_side(3, kernel)
    for n in range(1, 150):
        if n in legal:
            assert sizes(n, 3, False, kernel).output == legal[n]
        else:
            with pytest.raises(ValueError, match="cannot be halved"):
                sizes(n, 3, False, kernel)


def test_full_size() -> None:
    with torch.device("meta"):
        model = SegmentationUNet()
    assert model.num_parameters == 31_030_658
    rows = count(model, (1, 572, 572))
    assert rows[-1].shape == (2, 388, 388)
    assert [r.shape for r in named(rows, "ConvTranspose2d")] == [
        (512, 56, 56), (256, 104, 104), (128, 200, 200), (64, 392, 392),
    ]  # fmt: skip
    with torch.device("meta"):
        padded = SegmentationUNet((1, 64, 64), padded=True)
    assert padded.num_parameters == 31_030_658 and count(padded, (1, 64, 64))[-1].shape == (2, 64, 64)


# --- What it computes --------------------------------------------------------------------------------


def unet(**how: object) -> SegmentationUNet:
    return contracts.exact(SegmentationUNet((1, 44, 44), width=2, levels=2, **how), scale=0.3)


def test_a_larger_picture_has_the_same_answers_inside() -> None:
    """Without padding, moved by whole steps of the bottom grid."""
    model, x = unet(), draw(1, 1, 60, 60)
    part = model.predict(x[..., 4:48, 8:52])
    whole = model.predict(x)
    assert part.shape == (1, 2, 4, 4) and whole.shape == (1, 2, 20, 20)
    assert (whole[..., 4:8, 8:12] - part).abs().max() < 1e-12
    with pytest.raises(ValueError, match="leaves 0 when divided by 4"):
        model.predict(draw(1, 1, 45, 44))


def test_what_was_kept_is_joined_in_its_middle() -> None:
    """A network of one level, written out."""
    model = contracts.exact(SegmentationUNet((1, 18, 18), width=2, levels=1), scale=0.5)
    layers, x = model.layers[0], draw(1, 1, 18, 18)
    kept = layers.down[0](x)  # 14
    low = layers.down[1](torch.nn.functional.max_pool2d(kept, 2))  # 7 -> 3
    grown = layers.grow[0](low)  # 6
    joined = torch.cat([kept[..., 4:10, 4:10], grown], 1)
    assert (layers.last(layers.up[0](joined)) - model.predict(x)).abs().max() < 1e-14
    assert torch.equal(centre(kept, 6, 6), kept[..., 4:10, 4:10])


def test_the_loss_is_that_of_the_pixels_in_the_middle() -> None:
    model, x = unet(), draw(2, 1, 44, 44)
    y = (draw(2, 44, 44, seed=1) > 0).long()
    p = model.predict(x).softmax(1)
    expected = -p.gather(1, y[:, None, 20:24, 20:24]).log().mean()
    assert (model.step((x, y), "test") - expected).abs() < 1e-12
    right = (p.argmax(1) == y[:, 20:24, 20:24]).double().mean()
    assert model.meters["test_acc"].compute().item() == pytest.approx(right.item(), abs=1e-6)


def test_a_small_unet_overfits_a_batch() -> None:
    torch.manual_seed(0)
    model = SegmentationUNet((1, 16, 16), width=8, levels=2, padded=True)
    x = draw(4, 1, 16, 16).float()
    y = (x[:, 0] > 0).long()
    contracts.loss_at_start(model, (x, y), 0.6931, 0.1)
    contracts.overfits_one_batch(model, (x, y), below=0.1, steps=100)
    contracts.every_parameter_gets_a_gradient(model, lambda: model.step((x, y), "train"))


def test_without_skips_the_bottom_tells_everything() -> None:
    """Two pictures whose grids at the bottom agree have the same classes; with skips they differ."""
    x = draw(1, 1, 18, 18)
    for skips in (True, False):
        model = contracts.exact(SegmentationUNet((1, 18, 18), width=2, levels=1, skips=skips), scale=0.5)
        layers = model.layers[0]
        bottom = layers.down[1](torch.nn.functional.max_pool2d(layers.down[0](x), 2))
        grown = layers.grow[0](bottom)
        alone = layers.last(layers.up[0](grown)) if not skips else None
        assert layers.up[0][0].in_channels == (4 if skips else 2)
        assert skips or (alone - model.predict(x)).abs().max() < 1e-14


def test_intersection_over_union_of_a_batch_by_hand() -> None:
    """Mean over the classes of pixels in both, divided by pixels in either."""
    model, x = unet(num_classes=3), draw(2, 1, 44, 44)
    y = draw(2, 44, 44, seed=1).mul(2).long().clamp(0, 2)
    model.step((x, y), "test")
    told, wanted = model.predict(x).argmax(1), y[:, 20:24, 20:24]
    shares = [
        ((told == c) & (wanted == c)).sum() / ((told == c) | (wanted == c)).sum()
        for c in range(3)
        if ((told == c) | (wanted == c)).any()
    ]
    expected = torch.stack(shares).mean().item()
    assert model.meters["test_iou"].compute().item() == pytest.approx(expected, abs=1e-6)
