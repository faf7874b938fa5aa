"""The page Detection: what its scenes say, own scenes and boxes, and its numbers by another road."""

import math

import pytest
import torch
from opening import film, open_page, run_page, warnings

from lab import experiments, weights
from lab.errors import UserError
from modules.convolution import boxes, detection
from modules.convolution.detection import Detector
from pages.convolution.detection import figures, judging, lens, places, words
from pages.convolution.detection.room import (
    BOXES,
    CELL,
    HARD,
    NETWORK,
    OWN,
    ROOM,
    SOFT,
    THREE,
    TIE,
    TOUCHING,
    TWO_CENTRES,
)  # fmt: skip


@pytest.fixture(scope="module")
def network() -> Detector:
    return weights.load(NETWORK)  # type: ignore[return-value]


def look(model: Detector, text: str) -> lens.Look:
    return lens.looked(model, places.placed(text), None)


def kept(run: lens.Run) -> list[tuple[int, list[float]]]:
    return [(int(run.detections[s.box, 0]), run.detections[s.box, 2:].tolist()) for s in run.steps]


def test_which_models_it_takes() -> None:
    names = {e.name for e in experiments.catalog().values() if lens.fits(e)}
    assert {"yolo-digits", "yolo-mnist"} <= names and "cnn-mnist" not in names
    assert len(ROOM.scenes) == 9


def test_three_digits_are_found_once_each(network: Detector) -> None:
    one = look(network, THREE)
    run = lens.suppressed(one, 0.1, 0.5, HARD)
    assert len(run.detections) > 3 and sorted(label for label, _ in kept(run)) == [3, 5, 8]
    for label, corners in kept(run):
        there = one.objects[one.objects[:, 0] == label, 1:]
        assert float(boxes.iou(torch.tensor([corners]), there)) > 0.5
    assert {n for n, _ in kept(lens.suppressed(one, 0.5, 0.5, HARD))} == {
        8
    }  # "and with them the 3 and the 5"
    assert run.states(2).count("dropped") == len(run.steps[1].dropped) > 0  # the poster
    assert one.candidates.shape == (98, 6) and one.grid.shape == (1, 7, 7, 20)


def test_a_small_t_costs_one_of_two_fours(network: Detector) -> None:
    one = look(network, TOUCHING)
    counts = [[label for label, _ in kept(lens.suppressed(one, 0.1, t, HARD))].count(4) for t in (0.15, 0.5)]
    assert counts == [1, 2]


def test_a_tie_stays_and_soft_keeps_b() -> None:
    hard = lens.run(places.typed(TIE), 0.1, 0.5, HARD)
    assert [hard.name(s.box) for s in hard.steps] == list("eacd")
    assert hard.states(2) == ["taken", "dropped", "waiting", "waiting", "kept"]
    assert "= 0.681 > t = 0.50" in words.step_equations(hard)[2]
    assert words.step_captions(hard)[2].endswith("1 box beyond t goes.")
    soft = lens.run(places.typed(TIE), 0.1, 0.5, SOFT)
    assert [soft.name(s.box) for s in soft.steps] == list("eacdb")
    assert soft.scores(2)[1] == pytest.approx(0.8 * (1 - 81 / 119))
    assert r"s = 0.80\,(1 - 0.681) = 0.26" in words.step_equations(soft)[2]


def test_cells_have_the_loss_of_the_model(network: Detector) -> None:
    one = look(network, THREE)
    cells = lens.encoded(one)
    assert int(cells.there.sum()) == 3 and cells.lost == 0 and bool(cells.there[15])
    targets = detection.encode(one.objects[None], 7, 112)
    whole = detection.loss_terms(network.read(one.grid), targets)
    torch.testing.assert_close(cells.terms.sum(0), torch.cat(list(whole)))
    torch.testing.assert_close(cells.aim[15], one.objects[one.objects[:, 0] == 3][0, 1:])
    assert "centre of a 3" in words.cell_captions(cells)[15]
    two = lens.encoded(look(network, TWO_CENTRES))
    assert two.lost == 1 and two.there.nonzero().tolist() == [[24]] and int(two.label[24]) == 7
    empty = lens.encoded(look(network, ""))
    assert not empty.there.any() and len(words.cell_equations(empty)) == 49
    for tree in (figures.one_cell(one, cells), figures.numbers(cells)):
        assert tree["data"]


def test_suppression_raises_precision(network: Detector) -> None:
    """CV-X22: at each threshold that finds more than half, by .3; recall falls by .02 at most."""
    result = judging.judged(network, 0.5, HARD)
    before, after = result.points[:, :2], result.points[:, 2:]
    found = after[:, 0] > 0.5
    assert int(found.sum()) >= 5
    assert float((after[found, 1] - before[found, 1]).min()) > 0.3
    assert float((before[:, 0] - after[:, 0]).max()) <= 0.02
    assert result.map > 0.9 and result.map == pytest.approx(float(result.averages.mean()), abs=1e-5)
    true, false = result.counts[3].tolist()
    assert float(after[3, 1]) == pytest.approx(true / (true + false))
    assert float(after[3, 0]) == pytest.approx(true / result.objects)
    assert rf"\frac{{{true}}}{{{true} + {false}}}" in words.cut_equations(result)[3]
    all_boxes = judging.judged(network, 1.0, HARD)
    torch.testing.assert_close(all_boxes.points[:, 0], before[:, 0])


def test_weights_find_scattered_digits_of_test() -> None:
    card = experiments.catalog()["yolo-digits"].card
    assert card is not None and card["metrics"]["test/map"] > 0.9


@pytest.mark.parametrize(
    "text", ["x", "3", "3 1 2 3 4", "12 5 5", "3 a b", "😀 1 2", "3 50 50 500", "3 nan 4"]
)
def test_digits_that_are_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"[.]$"):
        places.placed(text)


@pytest.mark.parametrize(
    "text", ["", "1 2 3", "0 0 1 1 2", "5 5 1 1 .5", "😀", "0 0 1e9 1 .5", "nan 0 1 1 .5"]
)
def test_boxes_that_are_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"[.]$"):
        places.typed(text)


def test_own_scenes(network: Detector) -> None:
    assert places.placed("") == () and places.added("", "7", 3, 4) == "7 3 4"
    assert places.placed(places.added("3 30 34;", "7", 3, 4))[1] == ("7", 3, 4, 32)
    with pytest.raises(UserError, match="13 digits"):
        places.placed("; ".join(["1 5 5"] * 13))
    nothing = lens.suppressed(look(network, ""), 0.9, 0.5, HARD)
    assert nothing.steps == [] and figures.scores(nothing)["data"]
    lens.looked(network, places.placed(f"{OWN} 40 40"), torch.ones(28, 28))
    assert len(places.typed("0 0 10 10 .9\n1 1 11 11 .8 2")) == 2
    assert not math.isnan(float(look(network, "3 900 900").grid.sum()))  # outside


@pytest.mark.parametrize(("scene", "key"), [(1, "step"), (5, "step"), (7, "cell"), (9, "cut")])
def test_films_of_scenes(scene: int, key: str) -> None:
    page = open_page("convolution/detection", scene=scene)
    assert film(page, key)["count"] >= 4 and not warnings(page)


def test_bad_input_is_one_sentence() -> None:
    page = run_page("convolution/detection", digits="seven")
    assert "no digit" in warnings(page)
    page = run_page("convolution/detection", view=BOXES, boxes="1 2")
    assert "no box" in warnings(page)
    page = open_page("convolution/detection", view=CELL, digits="own 40 40", ink="3", cell=0)
    assert film(page, "cell")["count"] == 49 and not warnings(page)
