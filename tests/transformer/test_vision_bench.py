"""Benches of vision transformers and of masked words: their data, and what their runs say."""

import torch

from datamodules.masking import are_words
from lab.bench import objectives, vision
from lab.lenses.probes import logistic_accuracy


def test_strokes_lie_in_opposite_corners_and_are_compared() -> None:
    x, parallel = vision.strokes(500, 3).tensors
    assert x.shape == (500, 1, 16, 16) and torch.equal(x.sum((1, 2, 3)), torch.full((500,), 8.0))
    near, far = x[:, 0, :6, :6], x[:, 0, 10:, 10:]
    assert torch.equal(near.sum((1, 2)), torch.full((500,), 4.0)) and bool((far.sum((1, 2)) == 4).all())
    upright = [(corner.sum(2) > 0).sum(1) == 4 for corner in (near, far)]
    assert torch.equal((upright[0] == upright[1]).long(), parallel)
    assert 0.4 < parallel.float().mean() < 0.6
    # no window of 4 × 4 patches of 2 × 2 pixels holds parts of both
    assert not (x[:, 0, :8, 8:].any() or x[:, 0, 8:, :8].any())


def test_fewer_pictures_are_part_of_more() -> None:
    split = vision.TensorSplit(torch.arange(100.0)[:, None], torch.arange(100))
    few, more = (vision.first(split, n, 1).tensors[1] for n in (10, 30))
    assert torch.equal(more[:10], few) and len(more.unique()) == 30
    assert not torch.equal(vision.first(split, 10, 2).tensors[1], few)


def test_sizes_are_equal() -> None:
    vit, cnn = (build().num_parameters for build in vision.NETWORKS.values())
    assert abs(vit - cnn) <= 0.03 * cnn


def test_losses_of_both_objectives() -> None:
    """Next words: each word but none of the marks; masked words: about 15 %, drawn anew."""
    rows = torch.arange(64)
    following = objectives.Articles("next words", 0)
    read, targets = following[rows]
    scored = targets != -100
    assert torch.equal(scored, are_words(following.tokens[rows, 1 : 1 + read.shape[1]]))
    assert following.asked == following.words
    masked = objectives.Articles("masked words", 0)
    first, second = masked[rows], masked[rows]
    assert not torch.equal(first[0], second[0]) and 0.12 < masked.asked / masked.words < 0.18


def test_a_run_repeats_itself_and_leaves_the_generator() -> None:
    before = torch.get_rng_state()
    one, other = (vision.train("strokes", "Swin", 64, 1, steps=2) for _ in range(2))
    assert vars(one) | {"seconds": 0} == vars(other) | {"seconds": 0}
    (first,), (again,) = (objectives.train("masked words", 1, steps=(2,)) for _ in range(2))
    assert vars(first) | {"seconds": 0} == vars(again) | {"seconds": 0}
    assert torch.equal(torch.get_rng_state(), before)


def test_a_linear_probe_finds_what_is_there() -> None:
    x = torch.randn(200, 5, generator=torch.Generator().manual_seed(0))
    assert logistic_accuracy(x[:100], (x[:100, 2] > 0).long(), x[100:], (x[100:, 2] > 0).long()) > 0.9


def test_names_are_told_from_both_sides_and_the_encoder_starts_behind() -> None:
    """Of each of three seeds, as the table says."""
    assert objectives.missing() == []
    tags = {(r.objective, r.steps, r.seed): r.tag for r in objectives.kept()}
    for seed in objectives.SEEDS:
        few, many = ([tags[o, steps, seed] for o in objectives.OBJECTIVES] for steps in (250, 1_000))
        assert few[0] < few[1] and many[0] > many[1] + 0.04
