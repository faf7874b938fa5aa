"""Coloured shapes: the pictures are all different, and the splits are draws of them."""

import math

import pytest
import torch

from datamodules.shapes import KINDS, LEVELS, PALETTE, Shapes, stencil


def test_every_picture_once() -> None:
    data = Shapes(side=8, sizes=(5, 6))
    places = (8 - 5 + 1) ** 2 + (8 - 6 + 1) ** 2
    assert data.num_pictures == len(KINDS) * places * 8 * 7
    assert data.least_nll == pytest.approx(math.log(data.num_pictures))
    x, kinds = data.pictures(torch.arange(data.num_pictures))
    assert x.shape == (data.num_pictures, 3, 8, 8) and x.dtype == torch.float32
    assert len(x.flatten(1).byte().unique(dim=0)) == data.num_pictures
    assert kinds.bincount().tolist() == [data.num_pictures // 4] * 4
    assert x.unique().tolist() == list(range(LEVELS))
    assert Shapes().num_pictures == 22_400 and Shapes().least_nll == pytest.approx(10.0168, abs=1e-4)


def test_two_colours_of_the_palette() -> None:
    data = Shapes()
    x = data.pictures(torch.arange(0, data.num_pictures, 97))[0]
    pixels = x.permute(0, 2, 3, 1).flatten(1, 2)  # (B, pixels, 3)
    known = torch.tensor(list(PALETTE.values())).float()
    which = (pixels[:, :, None] == known).all(-1)
    assert (which.sum(-1) == 1).all()
    assert (which.any(1).sum(-1) == 2).all()


def test_stencils() -> None:
    assert stencil("square", 5).sum() == 25
    for kind in KINDS:
        for size in (5, 6, 7):
            mask = stencil(kind, size)
            assert torch.equal(mask, mask.flip(1))  # left as right
            assert mask.any(0).all() and mask.any(1).all()  # as large as it says
    assert not torch.equal(stencil("triangle", 7), stencil("triangle", 7).flip(0))
    with pytest.raises(ValueError, match="square, disc"):
        stencil("star", 5)


def test_splits_are_draws_of_the_uniform_distribution() -> None:
    data = Shapes(num_train=20_000)
    data.setup()
    x, y = data.train_set[torch.arange(20_000)]
    share = y.bincount() / 20_000
    assert (share - 0.25).abs().max() < 4 * math.sqrt(0.25 * 0.75 / 20_000)
    corner = (x[:, :, 0, 0] == torch.tensor(PALETTE["white"])).all(1).float().mean().item()
    share = (data.pictures(torch.arange(data.num_pictures))[0][:, :, 0, 0] == 3).all(1).float().mean().item()
    assert corner == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 20_000))
    again = Shapes()
    again.setup()
    assert torch.equal(again.test_set[torch.arange(9)][0], data.test_set[torch.arange(9)][0])
    assert not torch.equal(data.val_set[torch.arange(9)][0], data.test_set[torch.arange(9)][0])
    assert data.sizes["image_shape"] == (3, 12, 12) and data.describe()["least_nll"] == data.least_nll


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"sizes": ()}, "sizes"), ({"sizes": (5, 5)}, "once"), ({"sizes": (4,)}, "alike"), ({"side": 6}, "to 6"),
     ({"side": 65}, "at most 64"), ({"num_val": 0}, "num_val is 0")],
)  # fmt: skip
def test_bad_arguments(arguments: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Shapes(**arguments)
