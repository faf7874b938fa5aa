"""The page Pose: what its scenes say, heatmaps and counts by another road, own joints, and odd input."""

import pytest
import torch
from opening import film, open_page, run_page, warnings
from torch import Tensor

from datamodules.stick_figures import JOINTS, SWAPPED
from lab import experiments, weights
from lab.errors import UserError
from modules.convolution.hourglass import StackedHourglass
from pages.convolution.pose import figures, lens, typed, words
from pages.convolution.pose.room import (
    DRAWN,
    ERRORS,
    NETWORK,
    PLACED,
    RENDERED,
    ROOM,
    ROWS,
    SHARES,
    SIDE,
    SKELETONS,
    WAVING,
    State,
)

WAVE = typed.joints(WAVING)


@pytest.fixture(scope="module")
def network() -> StackedHourglass:
    return weights.load(NETWORK)  # type: ignore[return-value]


def rendered(seed: int, mirror: bool = False) -> lens.Figure:
    return lens.figure(RENDERED, seed, WAVE, None, mirror)


def at_scene(network: StackedHourglass, name: str) -> tuple[State, lens.Look]:
    """A scene's state, and what the network says there."""
    state = ROOM.scenes[name].state
    ink = dict(lens.shelf())[state.ink] if state.ink else None
    figure = lens.figure(state.source, state.seed, typed.joints(state.placed), ink, state.mirror)
    if state.view == SKELETONS:
        return state, lens.swept(network, figure, state.across, state.block)
    return state, lens.looked(network, figure, state.down, state.across, state.block)


def test_which_models_it_takes() -> None:
    names = {e.name for e in experiments.catalog().values() if lens.fits(e)}
    assert names == {NETWORK}


def test_the_second_stack_is_better(network: StackedHourglass) -> None:
    """CV-X23, on 100 figures of another draw and on the card."""
    one = lens.judged(network)
    first, second = one.right(0.1).sum((0, 2)).tolist()
    assert second > first and one.places.shape == (lens.JUDGED, 2, len(JOINTS), 2)
    reach = 0.1 * (one.joints[..., :2].amax(1) - one.joints[..., :2].amin(1)).amax(1)
    away = (one.places[:, 1] - one.joints[..., :2]).square().sum(-1).sqrt()
    assert second == int((away <= reach[:, None]).sum())
    cut = SHARES.index(0.1)
    total = one.joints[..., 0].numel()
    assert rf"\frac{{{second}}}{{{total}}} = {second / total:.3f}" in words.share_equations(one)[cut]
    assert f"{first / total:.3f} after stack 1" in words.share_captions(one)[cut]
    dots = torch.tensor(figures.shares(one)["data"][-1]["y"].values)[:, 0]  # of the last stack, a frame each
    assert float(dots[cut]) == pytest.approx(second / total) and (dots.diff() >= 0).all()
    bars = figures.by_joint(one)["data"][1]["x"].values  # (F, kinds), of two joints but head and neck
    weight = torch.tensor([1, 1, *[2] * (bars.shape[1] - 2)])
    assert float((torch.tensor(bars[cut]) * weight).sum() / len(JOINTS)) == pytest.approx(second / total)
    card = experiments.catalog()[NETWORK].card
    assert card and card["metrics"]["test/pck"] > card["metrics"]["test/pck_1"] + 0.01


def test_errors_are_those_of_the_loss(network: StackedHourglass) -> None:
    """Gaussians of height 1 in cells of two pixels, and the model's own step as their mean."""
    figure = rendered(3)
    look = lens.looked(network, figure, 0, 20, 10)
    assert figure.joints is not None and look.errors is not None
    cells = 2 * torch.arange(SIDE // 2) + 1.0  # their middles, in pixels
    for joint, (row, column) in enumerate(figure.joints.tolist()):
        aim = torch.exp(-((cells[:, None] - row) ** 2 + (cells - column) ** 2) / 8)
        for stack in range(2):
            error = (look.heatmaps[0, stack, joint] - aim).square().mean()
            assert float(look.errors[0, stack, joint]) == pytest.approx(float(error), rel=1e-4)
            top = look.heatmaps[0, stack, joint].max()
            place = (look.heatmaps[0, stack, joint] == top).nonzero()[0] * 2 + 1
            assert place.tolist() == look.places[0, stack, joint].tolist()
    loss = network.step(
        (figure.x[None, None], torch.cat([figure.joints, torch.ones(14, 1)], 1)[None]), "train"
    )
    assert float(look.errors.mean()) == pytest.approx(loss.item(), rel=1e-4)
    e = look.errors[0, :, 4].tolist()
    assert f"= {sum(e) / 2:.5f}" in words.joint_equations(look)[4] and len(words.joint_captions(look)) == 14


def test_a_block_covers_what_it_says(network: StackedHourglass) -> None:
    figure = rendered(3)
    look = lens.swept(network, figure, 20, 12)
    assert torch.equal(look.x[0], figure.x) and not look.hidden[0].any() and len(look.x) == len(ROWS)
    assert figure.joints is not None
    for frame, row in enumerate(ROWS[1:], 1):
        changed = (look.x[frame] != figure.x).nonzero()
        grey = look.x[frame][max(0, row - 6) : row + 6, 14:26]
        assert (grey == lens.GREY).all() and len(changed) <= grey.numel()
        inside = [row - 6 <= r < row + 6 and 14 <= c < 26 for r, c in figure.joints.tolist()]
        assert look.hidden[frame].tolist() == inside
    captions, equations = words.block_captions(look), words.block_equations(look)
    assert len(captions) == len(equations) == len(ROWS) == len(words.row_names())
    assert captions[0].startswith("No block: of 14 joints") and look.right is not None
    assert rf"\tfrac{{{int(look.right[0, 1].sum())}}}{{14}}" in equations[0]


def test_a_swap_is_at_the_joint_of_the_other_side() -> None:
    places = WAVE.clone()
    places[4], places[2] = WAVE[7], WAVE[2] + 20
    assert lens.swaps(places, WAVE, 0.1).nonzero().flatten().tolist() == [4]
    assert SWAPPED[4] == 7 and not lens.swaps(WAVE, WAVE, 0.1).any()


def test_a_mirrored_figure_has_other_names() -> None:
    one, other = rendered(5), rendered(5, mirror=True)
    assert one.joints is not None and other.joints is not None
    assert torch.equal(other.x, one.x.flip(1))
    assert other.joints[4, 1] == SIDE - one.joints[7, 1] and other.joints[4, 0] == one.joints[7, 0]
    drawn = lens.figure(DRAWN, 0, WAVE, lens.shelf()[0][1], True)
    assert drawn.joints is None and drawn.x.shape == (SIDE, SIDE)


def test_typed_joints() -> None:
    assert torch.equal(typed.joints(typed.spelled(WAVE)), WAVE) and WAVE.shape == (14, 2)
    assert WAVE[1].tolist() == [13.0, 20.0]  # typed as x y
    after = typed.joints(typed.moved(WAVE, 4, 3.0, 50.0))
    assert after[4].tolist() == [SIDE, 3.0] and torch.equal(after[:4], WAVE[:4])
    figure = lens.figure(PLACED, 0, WAVE, None, False)
    row, column = (int(v) for v in WAVE[3])
    assert figure.x[row, column] > figure.x.median() + 0.3
    same = lens.figure(PLACED, 0, torch.full((14, 2), 20.0), None, False)  # all at one place
    assert same.x.isfinite().all()


@pytest.mark.parametrize(
    "text, said",
    [("", "These are 0 places"), ("20 8", "These are 1 places"), ("20 8; 😀", "'😀' is no place"),
     ("20 99;", "'20 99' is no place"), ("1 2 3", "'1 2 3' is no place"), ("nan 3", "'nan 3' is no place")],
)  # fmt: skip
def test_what_is_no_figure_is_named(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        typed.joints(text)


def test_a_drawing_has_no_truth(network: StackedHourglass) -> None:
    for _, ink in lens.shelf():
        figure = lens.figure(DRAWN, 0, WAVE, ink, False)
        look = lens.looked(network, figure, 0, 20, 10)
        assert look.joints is look.errors is look.away is look.right is look.swapped is None
        assert "maximum is" in words.joint_captions(look)[0] and "L =" not in words.joint_equations(look)[0]
        assert figures.maps(look)["data"]
    swept = lens.swept(network, figure, 20, 10)
    assert "Nobody says" in words.block_captions(swept)[0] and figures.skeletons(swept)["data"]
    assert r"\ldots" in words.block_equations(swept)[0]


def near(heatmap: Tensor, place: Tensor) -> float:
    """Largest value of a heatmap (h, h) in the cell of a place in pixels and the eight around it."""
    row, column = (int(v // 2) for v in place)
    return float(heatmap[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2].max())


def test_scenes_of_one_joint(network: StackedHourglass) -> None:
    """Swapped and mended; one bump; hidden and found; two bumps, of which the wrong one is higher."""
    state, look = at_scene(network, "Left or right?")
    assert look.swapped is not None and look.right is not None and look.joints is not None
    assert look.swapped[0, :, state.joint].tolist() == [True, False] and look.right[0, 1].all()
    assert "at the right ankle" in words.joint_captions(look)[state.joint]
    state, look = at_scene(network, "Argmax")
    assert look.right is not None and look.right[0, :, state.joint].all()
    assert float(look.heatmaps[0, 1, state.joint].max()) > 0.7
    state, hidden = at_scene(network, "Hidden wrist")
    clear = lens.looked(network, rendered(state.seed), 0, state.across, state.block)
    assert hidden.hidden[0, state.joint] and hidden.right is not None and hidden.right[0, 1, state.joint]
    tops = [float(look.heatmaps[0, 1, state.joint].max()) for look in (hidden, clear)]
    assert tops[0] < 0.7 * tops[1] and "under the block" in words.joint_captions(hidden)[state.joint]
    state, look = at_scene(network, "Two bumps")
    assert look.joints is not None and look.swapped is not None and look.swapped[0, 1, state.joint]
    pair = [
        near(look.heatmaps[0, 1, state.joint], look.joints[j]) for j in (state.joint, SWAPPED[state.joint])
    ]
    assert 0.3 < pair[0] < pair[1]


def test_scenes_of_skeletons(network: StackedHourglass) -> None:
    _, look = at_scene(network, "Skeletons")
    assert words.counts(look, 0)[1] >= words.counts(look, 0)[0] + 3
    state, look = at_scene(network, "Block moves")
    first, second = words.counts(look, ROWS.index(state.row))
    assert second > first + 1 and look.hidden[ROWS.index(state.row)].sum() >= 2
    _, look = at_scene(network, "Mirrored")
    assert words.counts(look, 0) == [14, 14]
    state, look = at_scene(network, "Upside down")
    wrist = torch.tensor([SIDE - WAVE[4, 0], WAVE[4, 1]])  # where it was drawn
    feet = torch.stack([torch.tensor([SIDE - WAVE[j, 0], WAVE[j, 1]]) for j in (10, 13)])
    place = look.places[0, -1, state.joint]
    assert float((place - wrist).norm()) > 10 and float((place - feet).norm(dim=1).min()) < 3


def test_films_open() -> None:
    page = open_page("convolution/pose")
    assert film(page, "joint")["count"] == len(JOINTS) and not warnings(page)
    page = open_page("convolution/pose", view=SKELETONS, source=DRAWN, mirror=True)
    assert film(page, "row")["count"] == len(ROWS)
    page = open_page("convolution/pose", view=ERRORS)
    assert film(page, "cut")["count"] == len(SHARES)
    page = run_page("convolution/pose", source=PLACED, placed="😀")
    assert not page.exception and "no place" in warnings(page)
