"""The page Segmentation: what its scenes say, its frames by another road, legal sides, and odd input."""

import math

import pytest
import torch
from opening import film, open_page, run_page, warnings

from lab import experiments, weights
from lab.figures.moving import at
from modules.convolution import regions
from modules.convolution.segmentation import SegmentationUNet, sizes
from pages.convolution.segmentation import figures, lens, pyramid, tally, voting, words
from pages.convolution.segmentation.room import (
    BORDER,
    BRIGHTNESS,
    CELL,
    DRAWN,
    NO_SKIPS,
    RENDERED,
    ROOM,
    SIDE,
    SIZES,
    SKIPS,
    VOTES,
    VOTING,
)  # fmt: skip

NAMES = ("Ground", "Cell", "Border")


@pytest.fixture(scope="module")
def network() -> SegmentationUNet:
    return weights.load(SKIPS)  # type: ignore[return-value]


@pytest.fixture(scope="module")
def other() -> SegmentationUNet:
    return weights.load(NO_SKIPS)  # type: ignore[return-value]


def rendered(seed: int = 30, noise: float = 0.08) -> lens.Micrograph:
    return lens.micrograph(RENDERED, seed, 20, noise, None)


def drawn(name: str) -> lens.Micrograph:
    return lens.micrograph(DRAWN, 0, 20, 0.08, dict(lens.shelf())[name])


def test_which_models_it_takes() -> None:
    names = {e.name for e in experiments.catalog().values() if lens.fits(e)}
    assert {SKIPS, NO_SKIPS} <= names and "yolo-digits" not in names
    assert len(ROOM.scenes) == 9


def test_skips_find_the_borders(network: SegmentationUNet, other: SegmentationUNet) -> None:
    """CV-X21 on nine of ten pictures and in the mean; cells are found by both."""
    scores = []
    for seed in range(10):
        one = lens.compared(rendered(seed), network, other)
        assert torch.allclose(one.p.sum(1), torch.ones(2, SIDE, SIDE), atol=1e-5)
        scores.append([[lens.iou(told, one.of.truth, 3) for told in one.told]])  # type: ignore[arg-type]
    both = torch.tensor(scores)[:, 0]
    assert int((both[:, 0] > both[:, 1]).sum()) >= 9 and float((both[:, 0] - both[:, 1]).mean()) > 0.05
    one = lens.compared(rendered(), network, other)
    cell, border = (torch.tensor(one.counts(c), dtype=torch.float64) for c in (CELL, BORDER))
    assert float((cell[:, 0] / cell[:, 1]).min()) > 0.7
    assert float(border[0, 0] / border[0, 1]) > 0.6 > 0.5 > float(border[1, 0] / border[1, 1])
    both_of, either = one.counts(BORDER)[0]
    assert rf"\frac{{{both_of}}}{{{either}}}" in words.class_equations(one, NAMES, ("a", "b"))[BORDER]
    cards = [experiments.catalog()[name].card for name in (SKIPS, NO_SKIPS)]
    assert cards[0] and cards[1] and cards[0]["metrics"]["test/iou"] > cards[1]["metrics"]["test/iou"] + 0.03


def test_a_drawn_pair_has_a_border_where_it_touches(
    network: SegmentationUNet, other: SegmentationUNet
) -> None:
    one = lens.compared(drawn("pair"), network, other)
    columns = (one.told[0] == BORDER).nonzero()[:, 1]
    assert one.of.truth is None and len(columns) > 20
    assert float(((columns - 32).abs() <= 5).double().mean()) > 0.9
    assert len(one.counts(CELL)) == 1 and "calls" in words.class_captions(one, NAMES, ("a", "b"))[CELL]
    blank = lens.compared(lens.micrograph(DRAWN, 0, 20, 0.0, torch.zeros(SIDE, SIDE)), network, other)
    assert (
        not (blank.told == CELL).any()
        and r"\tfrac{0}{0}" in words.class_equations(blank, NAMES, ("a", "b"))[CELL]
    )


def test_frames_are_those_of_the_assembly(network: SegmentationUNet) -> None:
    made = lens.assembly(rendered(), network, 1.0, 10, 0.01)
    assert [step.label for step in made.steps] == [0, 1, 2] and all(s.accepted for s in made.steps)
    assert len(made.moments) == 1 + sum(len(s.states) + 1 for s in made.steps)
    assert torch.equal(made.labels, regions.labels(made.steps))
    for moment in made.moments[1:]:
        step = made.steps[moment.step]
        if moment.sweep >= 0:
            p, free = made.p[step.label].double(), moment.labels == regions.UNLABELLED
            data = -torch.where(moment.state, p, 1 - p).log()[free].sum()
            assert step.energies[moment.sweep] == pytest.approx(float(data) + moment.pairs)
    captions, equations = words.step_captions(made, NAMES), words.step_equations(made, 1.0)
    assert len(captions) == len(equations) == len(made.moments) == len(words.step_names(made, NAMES))
    assert "largest sum of P is ground" in captions[0] and captions[-1].startswith("Border: ")
    assert f"{made.steps[0].energies[1]:.1f}" in equations[2]
    assert not made.evidence.isnan().any()
    torch.testing.assert_close(made.evidence[-1], torch.tensor([s.evidence for s in made.steps]))


def test_brightness_alone_leaves_specks_and_smoothness_takes_them() -> None:
    alone = lens.assembly(rendered(), BRIGHTNESS, 0.0, 0, 0.01)
    smooth = lens.assembly(rendered(), BRIGHTNESS, 2.0, 10, 0.01)
    parts = [regions.without_small(made.labels == CELL, 5)[1] for made in (alone, smooth)]
    assert parts[0] > 30 and parts[1] == 0
    assert alone.steps[-1].label == BORDER and not alone.steps[-1].accepted  # as bright as the ground
    assert "no label" in words.step_captions(alone, NAMES)[-1]
    p = lens.probabilities(BRIGHTNESS, torch.tensor([[0.25, 0.7]]))
    means, deviations, shares = lens.brightness()
    by_hand = [
        float(s) / float(d) * math.exp(-(((0.7 - float(m)) / float(d)) ** 2) / 2)
        for m, d, s in zip(means, deviations, shares, strict=True)
    ]
    assert float(p[CELL, 0, 1]) == pytest.approx(by_hand[CELL] / sum(by_hand), rel=1e-4)
    assert p[:, 0, 0].argmax() == 0


def test_too_little_evidence_for_borders(network: SegmentationUNet) -> None:
    state = ROOM.scenes["Insufficient evidence"].state
    made = lens.assembly(rendered(), network, state.beta, state.least, state.tau)
    assert [s.accepted for s in made.steps] == [True, True, False]
    assert int((made.labels == regions.UNLABELLED).sum()) > 200
    nothing = lens.assembly(rendered(), network, 1.0, 10, 0.99)
    assert len(nothing.steps) == 1 and words.assembled(nothing, NAMES).startswith(
        "Order of the classes: none"
    )
    assert figures.regions(nothing, NAMES)["data"] and figures.evidence(nothing, NAMES)["data"]


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("kernel", [1, 3, 5])
def test_grids_are_those_of_the_network(kernel: int, padded: bool) -> None:
    """Sides, crops and refusals as `sizes` has them, for every side up to 150 and three halvings."""
    for n in range(1, 151):
        tower = pyramid.pyramid(n, 3, kernel, padded)
        try:
            expected = sizes(n, 3, padded, kernel)
        except ValueError:
            assert tower.output is None and tower.grids[-1].fails
        else:
            down, up = tower.grids[:4], tower.grids[4:]
            assert tuple(g.after for g in down) == expected.down and tower.output == expected.output
            assert tuple(g.before for g in up) == expected.up and tuple(g.crop for g in up) == expected.crops
            assert tower.next == n and (n, expected.output) in tower.legal(n)
        assert tower.next >= n and pyramid.pyramid(tower.next, 3, kernel, padded).output
        assert len(words.grid_captions(tower)) == len(words.grid_equations(tower)) == len(tower.grids)


def test_sides_of_the_text() -> None:
    tower = pyramid.pyramid(572, 4, 3, False)
    assert tower.output == 388 and (tower.least, tower.step) == (188, 16) and 188 % 16 == 12
    assert words.grid_equations(tower)[-1].endswith("n - 184 = 388")
    failing = pyramid.pyramid(512, 4, 3, False)
    assert failing.grids[-1].after == 121 and failing.next == 524
    assert "121 is odd" in words.grid_captions(failing)[-1] and "padded to 524" in words.sided(failing)
    assert r"n \equiv 12" in words.grid_equations(failing)[-1]
    assert "nothing is left" in words.grid_captions(pyramid.pyramid(2, 4, 3, False))[-1]
    assert "nothing is left" in words.grid_captions(pyramid.pyramid(140, 4, 3, False))[-1]
    assert "keeps the side" in words.sided(pyramid.pyramid(64, 3, 3, True))
    for one in (tower, failing, pyramid.pyramid(1, 1, 7, False), pyramid.pyramid(2048, 6, 1, True)):
        assert figures.grids(one)["data"] and figures.legal(one)["data"]


@pytest.mark.parametrize(("scene", "key", "count"), [(1, "label", 3), (4, "step", 11), (8, "layer", 9)])
def test_films_of_scenes(scene: int, key: str, count: int) -> None:
    page = open_page("convolution/segmentation", scene=scene)
    assert film(page, key)["count"] == count and not warnings(page)


def test_other_states_open() -> None:
    for given in ({"other": BRIGHTNESS}, {"view": SIZES, "n": 1}, {"source": DRAWN, "ink": "flower"},
                  {"view": SIZES, "n": 2047, "levels": 6, "zeros": True}):  # fmt: skip
        assert not open_page("convolution/segmentation", **given).exception
    page = run_page("convolution/segmentation", source=DRAWN, ink="ink.😀")
    assert not page.exception and "drawing" in warnings(page)


def test_turns_are_taken_back() -> None:
    x = torch.arange(16.0).reshape(4, 4)
    ways = [voting.turned(x, way) for way in range(8)]
    assert torch.equal(ways[0], x) and len({tuple(one.flatten().tolist()) for one in ways}) == 8
    for way, one in enumerate(ways):
        assert torch.equal(voting.turned_back(one, way), x)


def test_a_vote_is_surer_and_finds_less(network: SegmentationUNet, other: SegmentationUNet) -> None:
    """CV-X21 on these pictures: precision of borders is above that of one answer on each of five."""
    for seed in (30, 0, 1, 2, 3):
        for net in (network, other):
            one = voting.vote(rendered(seed), net, "border")
            assert one.truth is not None and torch.equal(
                one.masks[0], lens.probabilities(net, one.of.x).argmax(0) == BORDER
            )
            (first, found), *_, (last, left) = one.shares
            assert last > first and left < found
            assert one.sizes == sorted(one.sizes, reverse=True)
    assert one.truth is not None
    both = int((one.masks[:3].all(0) & one.truth).sum())
    assert one.shares[2] == pytest.approx((both / one.sizes[2], both / int(one.truth.sum())))
    assert rf"\frac{{{both}}}{{{one.sizes[2]}}}" in words.vote_equations(one)[2]
    shown = torch.tensor(at(tally.ballots(one), 2).data[3].z)
    assert int((shown == 0.5).sum()) == both and int((shown == 1.5).sum()) == one.sizes[2] - both
    assert int((shown == 2.5).sum()) == int(one.masks[:3].any(0).sum()) - one.sizes[2]


def test_brightness_alone_is_of_one_mind(network: SegmentationUNet) -> None:
    one = voting.vote(rendered(), BRIGHTNESS, "cell")
    assert len(set(one.sizes)) == 1
    nothing = voting.vote(rendered(), BRIGHTNESS, "border")
    assert set(nothing.sizes) == {0} and len(words.vote_captions(nothing, "border")) == len(VOTES)
    own = voting.vote(drawn("pair"), network, "border")
    assert own.truth is None and len(words.vote_equations(own)) == len(VOTES)
    assert film(open_page("convolution/segmentation", view=VOTING), "answers")["count"] == len(VOTES)
