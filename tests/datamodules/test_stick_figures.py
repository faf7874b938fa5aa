"""Rendered figures: joints lie on their limbs, left stays left, blocks cover what they say."""

import pytest
import torch

from datamodules.stick_figures import (
    HEAD,
    HIPS,
    JOINTS,
    LIMBS,
    NECK,
    SHOULDERS,
    SWAPPED,
    StickFigures,
    covered,
    drawn,
    headed,
    inside,
    mirrored,
    poses,
    render,
    strokes,
)


def generator(seed: int = 3) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_every_split_is_its_own_draw_and_the_same_again() -> None:
    data = StickFigures(num_train=4, num_val=2, num_test=2)
    data.setup()
    x, joints = data.train_set[torch.arange(4)]
    assert x.shape == (4, 1, 40, 40) and joints.shape == (4, len(JOINTS), 3)
    assert x.min() >= 0 and x.max() <= 1 and set(joints[..., 2].unique().tolist()) <= {0.0, 1.0}
    assert not torch.equal(x[:2], data.test_set[torch.arange(2)][0])
    drawn.cache_clear()
    again = StickFigures(num_train=4, num_val=2, num_test=2, seed=5)
    again.setup()
    assert torch.equal(again.train_set[torch.arange(4)][0], x)  # the seed orders epochs alone


def test_names_and_limbs() -> None:
    for joint, other in enumerate(SWAPPED):
        assert SWAPPED[other] == joint
        name = JOINTS[joint]
        assert JOINTS[other] == name.replace("left", "LEFT").replace("right", "left").replace("LEFT", "right")
    limbs = {frozenset(limb) for limb in LIMBS}
    assert limbs == {frozenset((SWAPPED[a], SWAPPED[b])) for a, b in LIMBS} and len(limbs) == len(LIMBS)
    assert {joint for limb in LIMBS for joint in limb} == set(range(len(JOINTS)))


def test_seen_joints_are_bright_and_the_ground_is_dark() -> None:
    x, joints = render(300, 48, 0.0, generator())
    assert joints.min() >= 0.05 * 48 and joints.max() <= 0.95 * 48
    row, column = joints.floor().long().unbind(-1)
    on = x[torch.arange(300)[:, None], row, column]  # (300, J)
    rest = [j for j in range(len(JOINTS)) if j != HEAD]  # of a ring the middle is dark
    assert on[:, rest].mean() > x.mean() + 0.3
    assert float((on[:, rest] > x.flatten(1).median(1).values[:, None] + 0.1).double().mean()) > 0.97


def test_every_figure_faces_the_viewer() -> None:
    """Turned upright, the left shoulder and hip are on the right of the picture, whatever the lean."""
    joints = poses(500, generator())
    down = (joints[:, HIPS[0]] + joints[:, HIPS[1]]) / 2 - joints[:, NECK]
    for left, right in (SHOULDERS, HIPS):
        across = joints[:, left] - joints[:, right]
        assert (down[:, 0] * across[:, 1] - down[:, 1] * across[:, 0] > 0).all()
    assert float((joints[:, SHOULDERS[0], 1] - joints[:, SHOULDERS[1], 1]).min()) > 0
    wrists = joints[:, SHOULDERS[0] + 2, 1] - joints[:, SHOULDERS[1] + 2, 1]
    assert 0.02 < float((wrists < 0).double().mean()) < 0.3  # arms cross: the side of a wrist does not tell


def test_mirroring_exchanges_names() -> None:
    """A figure and its mirror image with exchanged names are drawn by the same strokes."""
    joints = 40 * torch.rand(3, len(JOINTS), 3, generator=generator())
    thick = torch.full((3, len(LIMBS)), 1.2)
    even = thick[:, 0]
    x = headed(strokes(joints[..., :2], thick, 40), joints, even * 10, even)
    flipped, other = mirrored(x, joints)
    again = headed(strokes(other[..., :2], thick, 40), other, even * 10, even)
    assert (again - flipped).abs().max() < 1e-5
    assert torch.equal(mirrored(flipped, other)[0], x)
    torch.testing.assert_close(mirrored(flipped, other)[1], joints)
    assert other[0, 2, 1] == 40 - joints[0, 5, 1] and torch.equal(other[0, 2, ::2], joints[0, 5, ::2])


def test_a_limb_is_as_thick_as_said() -> None:
    """Upright, from row 8 to 24 with round ends: area 2·r·16 + πr², to a tenth."""
    joints = torch.full((1, len(JOINTS), 2), -99.0)
    joints[0, 3], joints[0, 4] = torch.tensor([8.0, 16.0]), torch.tensor([24.0, 16.0])
    joints[0, [2, 5, 6, 7, 0, 1, 8, 9, 10, 11, 12, 13]] = torch.tensor([-99.0, -99.0])
    for half in (1.0, 2.5):
        thick = torch.full((1, len(LIMBS)), -9.0)
        thick[0, LIMBS.index((3, 4))] = half
        area = float(strokes(joints, thick, 32).sum())
        assert area == pytest.approx(2 * half * 16 + torch.pi * half**2, rel=0.1)


def test_blocks_cover_what_they_say() -> None:
    blocks = torch.tensor([[[8.0, 4.0, 20.0, 12.0], [10.0, 10.0, 10.0, 10.0]]])
    points = torch.tensor([[[8.0, 4.0], [19.9, 11.9], [20.0, 5.0], [10.0, 10.0], [7.9, 5.0]]])
    assert inside(points, blocks)[0, :, 0].tolist() == [True, True, False, True, False]
    assert not inside(points, blocks)[..., 1].any()  # a block without area
    x = covered(torch.zeros(1, 24, 24), blocks, torch.tensor([[0.7, 0.2]]))[0]
    assert x[8:20, 4:12].eq(0.7).all() and x.sum().item() == pytest.approx(0.7 * 12 * 8, rel=1e-5)


def test_a_tenth_of_the_joints_are_covered_and_without_blocks_none() -> None:
    _, joints = drawn(400, 7, 48, 2, 0.05)
    assert 0.08 < float((joints[..., 2] == 0).double().mean()) < 0.2
    assert (joints[..., 2] == 0).any(0).all()  # every joint somewhere
    assert drawn(20, 7, 48, 0, 0.05)[1][..., 2].eq(1).all()


@pytest.mark.parametrize(
    "wrong, words",
    [({"side": 8}, "side is 8"), ({"blocks": -1}, "blocks is -1"), ({"noise": 2.0}, "noise is 2")],
)
def test_what_is_out_of_range_is_refused(wrong: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        StickFigures(**wrong)  # type: ignore[arg-type]
