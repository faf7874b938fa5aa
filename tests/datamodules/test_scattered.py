"""Scattered digits: boxes are those of the ink, scenes do not change, splits do not mix."""

import pytest
import torch

from datamodules.scattered import ScatteredDigits, ScatteredMNIST, ink_box, overlaps, paste

SMALL = {"num_train": 40, "num_val": 20, "num_test": 30, "image_size": 96}


def data(split: str = "test", **how: object) -> tuple[torch.Tensor, torch.Tensor]:
    module = ScatteredDigits(**{**SMALL, **how})  # type: ignore[arg-type]
    module.setup()
    part = getattr(module, f"{split}_set")
    return part[torch.arange(len(part))]  # type: ignore[no-any-return]


def test_boxes_are_those_of_the_ink() -> None:
    x, objects = data(most=1)
    assert x.shape == (30, 1, 96, 96) and objects.shape == (30, 1, 5)
    for picture, (_, left, top, right, bottom) in zip(x[:, 0], objects[:, 0].tolist(), strict=True):
        rows, columns = (picture > 0.2).nonzero().T
        seen = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        assert all(abs(float(a) - b) <= 1.5 for a, b in zip(seen, (left, top, right, bottom), strict=True))


def test_boxes_lie_inside_and_hardly_overlap() -> None:
    _, objects = data(most=4, sides=(24, 40), overlap=0.1)
    counts = (objects[..., 0] >= 0).sum(1)
    assert set(counts.tolist()) == {1, 2, 3, 4}
    for rows in objects:
        boxes = rows[rows[:, 0] >= 0, 1:]
        assert boxes.min() >= 0 and boxes.max() <= 96
        table = overlaps(boxes[:, None], boxes[None])
        assert table.fill_diagonal_(0).max() <= 0.1


def test_scenes_of_an_epoch_are_new_and_those_of_test_are_not() -> None:
    module = ScatteredDigits(**SMALL)  # type: ignore[arg-type]
    module.setup()
    rows = torch.arange(5)
    first = module.train_set[rows][0]
    assert torch.equal(first, module.train_set[rows][0])
    assert torch.equal(first[3:4], module.train_set[rows[3:4]][0])  # whatever else is in the batch
    module.train_set.set_epoch(1)  # type: ignore[attr-defined]
    assert not torch.equal(first, module.train_set[rows][0])
    other = ScatteredDigits(**SMALL, seed=5)  # type: ignore[arg-type]
    other.setup()
    assert torch.equal(module.test_set[rows][0], other.test_set[rows][0])
    assert not torch.equal(module.test_set[rows][0], module.val_set[rows][0])


def test_pasting_a_square() -> None:
    """A square of two pixels on whole places is a square of two pixels; outside it is cut off."""
    ones = torch.ones(2, 2, 2)
    place = torch.tensor([1.0, 3.0])
    x = paste(ones, place, place, torch.tensor([2.0, 2.0]), torch.tensor([0, 1]), 2, 4)
    assert x[0].nonzero().tolist() == [[1, 1], [1, 2], [2, 1], [2, 2]] and float(x[0].sum()) == 4
    assert x[1].nonzero().tolist() == [[3, 3]]
    assert paste(ones[:0], place[:0], place[:0], place[:0], torch.zeros(0).long(), 1, 4).sum() == 0
    assert ink_box(torch.zeros(1, 3, 3)).tolist() == [[0, 0, 1, 1]]  # no ink: all of it


def test_arguments_that_are_refused() -> None:
    for how in ({"most": 0}, {"sides": (40, 28)}, {"overlap": 1.5}, {"image_size": 4}):
        with pytest.raises(ValueError, match=r"[.]$"):
            ScatteredDigits(**how)  # type: ignore[arg-type]


def test_scenes_of_mnist(real_data) -> None:  # type: ignore[no-untyped-def]
    real_data("MNIST")
    module = ScatteredMNIST(num_test=4)
    module.setup("test")
    x, objects = module.test_set[torch.arange(4)]
    assert x.shape == (4, 1, 112, 112) and bool((objects[:, 0, 0] >= 0).all())
    assert module.sizes == {"image_shape": (1, 112, 112), "num_classes": 10}
