"""Textured shapes: their concepts, that texture alone tells them, that they are drawn by their seed."""

import pytest
import torch

from datamodules.textured_shapes import (
    CONCEPTS,
    SHAPES,
    TEXTURES,
    TexturedShapes,
    checks,
    concepts,
    dots,
    drawn,
    inside,
    stripes,
)


def test_every_split_is_its_own_draw_and_the_same_again() -> None:
    data = TexturedShapes(num_train=4, num_val=2, num_test=4)
    data.setup()
    x, y = data.train_set[torch.arange(4)]
    assert x.shape == (4, 1, 32, 32) and y.dtype == torch.int64 and x.min() >= 0 and x.max() <= 1
    assert not torch.equal(x, data.test_set[torch.arange(4)][0])
    drawn.cache_clear()
    again = TexturedShapes(num_train=4, num_val=2, num_test=4, seed=7)
    again.setup()
    assert torch.equal(again.train_set[torch.arange(4)][0], x)  # the seed orders epochs alone


def test_textures_and_shapes_cover_equally_much_and_light_tells_neither() -> None:
    x, y, mask = drawn(900, 5, 32, 0.0)
    assert set(y.tolist()) == set(range(9))
    inner = torch.stack([x[i, 0][mask[i]].mean() - x[i, 0][~mask[i]].mean() for i in range(900)])
    assert inner.mean().abs() < 0.01
    for k in range(9):
        assert mask[y == k].float().mean() == pytest.approx(0.257, abs=0.02)
    masks = concepts(y, mask)
    assert masks.shape == (len(CONCEPTS), 900, 32, 32) and CONCEPTS == TEXTURES + SHAPES
    assert torch.equal(masks[:3].any(0), mask) and torch.equal(masks[3:].any(0), mask)
    assert bool(masks[1][y == 4].any()) and not bool(masks[0][y == 4].any())
    assert bool(masks[4][y == 4].any()) and not bool(masks[3][y == 4].any())


def test_shapes_have_the_area_of_a_circle_and_textures_no_mean() -> None:
    grid = torch.linspace(-2, 2, 801)
    u, v = torch.meshgrid(grid, grid, indexing="xy")
    for shape in range(3):
        area = inside(shape, u, v).float().mean() * 4.005**2
        assert area.item() == pytest.approx(torch.pi, abs=0.03)
    u, v = u[:800, :800], v[:800, :800]
    for texture in (stripes, dots, checks):
        values = texture(u, v)
        assert values.mean().abs() < 0.01 and values.abs().max() <= 1


@pytest.mark.parametrize("wrong, words", [({"side": 4}, "side is 4"), ({"noise": -1.0}, "noise is -1")])
def test_what_is_out_of_range_is_refused(wrong: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TexturedShapes(**wrong)  # type: ignore[arg-type]
