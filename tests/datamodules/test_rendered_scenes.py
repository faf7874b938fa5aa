"""Scenes: captions by another road, boxes by the pixels, and nothing held out in training."""

from itertools import combinations

import pytest
import torch

from datamodules.scenes import (
    ATTRIBUTES,
    KINDS,
    NEW_OBJECTS,
    NOISE,
    PAINT,
    Attributes,
    Objects,
    Scenes,
    Test,
    boxes,
    caption,
    draw,
    name,
    new_objects,
    new_pairs,
    render,
    tokenizer,
)  # fmt: skip


def test_there_are_1152_captions_of_two_objects() -> None:
    captions = {
        " ".join(caption([a, b], cells)[0])
        for a in range(KINDS)
        for b in range(KINDS)
        for cells in ([0, 1], [0, 4])
    }
    assert len(captions) == 1152
    assert "a big red circle above a small blue square" in captions
    assert "a small green triangle left of a big yellow circle" in captions
    assert len({" ".join(caption([a], [0])[0]) for a in range(KINDS)}) == KINDS
    assert len(tokenizer()) == 3 + 13


@pytest.mark.parametrize("side", [32, 64])
def test_shapes_are_told_apart_and_fill_their_boxes(side: int) -> None:
    """Without noise each kind is another picture, whose painted pixels fill its box."""
    kinds = torch.arange(KINDS)[:, None]
    for cell in (0, 6, 15):
        centre = torch.tensor([cell % 4 + 0.5, cell // 4 + 0.5]).expand(KINDS, 1, 2)
        objects = Objects(kinds, torch.full_like(kinds, cell), centre)
        pictures = render(objects, side, torch.zeros(KINDS, 3, side, side))
        assert len({tuple(p.flatten().tolist()) for p in pictures}) == KINDS
        for kind, (picture, box) in enumerate(zip(pictures, boxes(objects, side)[:, 0], strict=True)):
            rows, columns = picture.sum(0).nonzero(as_tuple=True)
            painted = torch.stack([columns.min(), rows.min(), columns.max(), rows.max()])
            assert (painted[:2] >= box[:2]).all() and (painted[2:] <= box[2:]).all()
            assert ((painted - box).abs() < (2 if "triangle" in name(kind) else 1)).all()
            colour = PAINT[ATTRIBUTES["colour"].index(name(kind)[1])]
            assert torch.equal(picture[:, rows, columns], colour[:, None].expand(-1, len(rows)))
            area, full = len(rows), float((box[2] - box[0]) * (box[3] - box[1]))
            share = {"circle": 0.7854, "square": 1.0, "triangle": 0.5}[name(kind)[2]]
            assert area / full == pytest.approx(share, abs=0.26 if side == 32 else 0.15)


def test_a_batch() -> None:
    data = Scenes(level=3, num_train=200)
    data.setup("fit")
    positions = torch.tensor([5, 0, 77, 123])
    pictures, inputs, targets, where = data.train_set[positions]
    assert pictures.shape == (4, 3, 32, 32) and pictures.min() >= 0 and pictures.max() < 1
    assert where.shape == (*targets.shape, 4) and (inputs[:, 0] == 0).all()
    assert torch.equal(inputs[:, 1:][targets[:, 1:] >= 0], targets[:, :-1][targets[:, 1:] >= 0])
    words = data.tokenizer.tokens
    every = boxes(data.train_set.objects, 32)
    for b, position in enumerate(positions):
        at = -1
        for target, box in zip(targets[b].tolist(), where[b], strict=True):
            word = words[target] if target >= 0 else ""
            at += word == "a"
            spoken = any(word in group for group in ATTRIBUTES.values())
            assert torch.equal(box, every[position, at]) if spoken else not box.any()
            if (
                word in ATTRIBUTES["colour"]
            ):  # and the picture has this colour there, unless what is later hides it
                x, y = (data.train_set.objects.centres[position, at] * 8 - 0.5).round().int().tolist()
                later = every[position, at + 1 :]
                hidden = (
                    (later[:, 0] <= x) & (x <= later[:, 2]) & (later[:, 1] <= y) & (y <= later[:, 3])
                ).any()
                seen = pictures[b, :, y, x] - PAINT[ATTRIBUTES["colour"].index(word)]
                assert hidden or ((seen >= 0) & (seen <= NOISE)).all()
        assert targets[b][targets[b] >= 0][-1] == 1
    # the noise of a picture is its own, whatever is asked for beside it
    assert torch.equal(data.train_set[torch.tensor([77])][0][0], pictures[2])
    assert not torch.equal(pictures[0, :, :1, :1], pictures[1, :, :1, :1])


def test_a_caption_follows_from_the_centres() -> None:
    """By geometry, in all levels: rows are more than half a cell apart, or less."""
    for level in (2, 3):
        objects = draw(300, level, jitter=0.2 if level == 3 else 0.0)
        for kinds, cells, centres in zip(*(tensor.tolist() for tensor in objects), strict=True):
            words, of = caption(kinds, cells)
            there = [c for k, c in zip(kinds, centres, strict=True) if k >= 0]
            text = [" ".join(["a", *name(k)]) for k in kinds if k >= 0]
            for k in range(1, len(there)):
                (x, y), (u, v) = there[k - 1], there[k]
                assert x < u or v - y > 0.5
                text[k] = ("above " if v - y > 0.5 else "left of ") + text[k]
            assert " ".join(words) == " ".join(text) and [of.count(k) for k in range(len(there))] == [
                3
            ] * len(there)


@pytest.mark.parametrize("test", ["seen", "objects", "pairs"])
def test_what_is_held_out(test: Test) -> None:
    data = Scenes(level=3, test=test, num_train=2000, num_val=100, num_test=100)
    data.setup()

    def strange(split: Objects) -> tuple[list[bool], list[bool]]:
        scenes = [[k for k in row if k >= 0] for row in split.kinds.tolist()]
        new = [any((name(k)[2], name(k)[1]) in NEW_OBJECTS for k in row) for row in scenes]
        return new, [any(bool(new_pairs()[pair]) for pair in combinations(row, 2)) for row in scenes]

    for split in (data.train_set, data.val_set):
        assert not any(map(any, strange(split.objects)))
        assert {len(name(k)) for k in range(KINDS)} == {3} and split.objects.kinds.unique().numel() == 1 + 18
    objects, pairs = strange(data.test_set.objects)
    assert (all(objects), all(pairs)) == (test == "objects", test == "pairs")
    assert test == "objects" or not any(objects)
    assert test != "seen" or not any(pairs)


def test_held_out_pairs_are_a_tenth() -> None:
    held = new_pairs()
    assert torch.equal(held, held.T) and 20 <= int(held.triu().sum()) <= 40  # of 300
    assert int(new_objects().sum()) == 2 * len(NEW_OBJECTS)
    known = ~new_objects()
    assert (~held[known][:, known]).sum(1).min() >= 12  # each object is trained on beside most others


def test_attributes() -> None:
    for new in (False, True):
        data = Attributes(new=new, num_train=500, num_test=200)
        data.setup()
        pictures, values = data.test_set[torch.arange(200)]
        assert pictures.shape == (200, 3, 32, 32) and values.shape == (200, 3)
        pairs = {(ATTRIBUTES["shape"][s], ATTRIBUTES["colour"][c]) for _, c, s in values.tolist()}
        assert pairs == NEW_OBJECTS if new else not pairs & NEW_OBJECTS
        _, values = data.train_set[torch.arange(500)]
        trained = {(ATTRIBUTES["shape"][s], ATTRIBUTES["colour"][c]) for _, c, s in values.tolist()}
        assert len(trained) == 9 and not trained & NEW_OBJECTS
        assert {c for _, c in trained} == {*ATTRIBUTES["colour"]}
    assert data.sizes == {"image_shape": (3, 32, 32), "attributes": [2, 4, 3]}


def test_what_cannot_be_gets_a_sentence() -> None:
    with pytest.raises(ValueError, match="at level 1 it must be one of seen, objects"):
        Scenes(level=1, test="pairs")
    with pytest.raises(ValueError, match="at level 2 it must be one of seen, objects, pairs"):
        Scenes(test="new")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="side is 16"):
        Attributes(side=16)
