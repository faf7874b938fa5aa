"""Detection: targets, responsible boxes, loss, suppression, average precision, each by another road."""

import contextlib
import io
import math

import numpy as np
import pytest
import torch
from torch import Tensor

from modules.convolution import average_precision, boxes, detection
from modules.convolution.average_precision import MeanAveragePrecision
from modules.convolution.boxes import iou, suppress, suppression_steps
from modules.convolution.detection import Detector, Prediction, encode, loss_terms, responsible

NAMES = "abcde"
OF_THE_ORACLE = torch.tensor(
    [[0, 0.9, 0, 0, 10, 10], [0, 0.8, 1, 1, 11, 11], [0, 0.7, 0, 0, 10, 5], [0, 0.6, 20, 20, 30, 30],
     [0, 0.95, 5, 5, 15, 15]], dtype=torch.float64,
)  # fmt: skip


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def scattered(count: int, seed: int, classes: int = 3) -> tuple[Tensor, Tensor]:
    """Objects (M, 5) and detections (N, 6) near some of them, with scores that are often equal."""
    u = draw(count, 12, seed=seed)
    corner, size = 60 * u[:, :2], 5 + 30 * u[:, 2:4]
    labels = (u[:, 4:5] * classes).floor()
    objects = torch.cat([labels, corner, corner + size], 1)
    moved = objects[:, 1:].repeat(2, 1) + 8 * (draw(2 * count, 4, seed=seed + 1000) - 0.5)
    moved = torch.cat([moved[:, :2], torch.maximum(moved[:, 2:], moved[:, :2] + 1)], 1)
    other = torch.where(u[:, 5:6] < 0.8, labels, (labels + 1) % classes)
    scores = (draw(2 * count, 1, seed=seed + 2000) * 10).round() / 10
    return objects, torch.cat([torch.cat([labels, other]), scores, moved], 1)


# --- Boxes -------------------------------------------------------------------------------------------


def test_overlaps_of_the_oracle() -> None:
    """CV-O29."""
    table = iou(OF_THE_ORACLE[:, 2:], OF_THE_ORACLE[:, 2:])
    for pair, value in {"ab": 0.680672, "ac": 0.5, "ae": 0.142857, "be": 0.219512, "bc": 0.315789}.items():
        i, j = (NAMES.index(name) for name in pair)
        assert table[i, j].item() == pytest.approx(value, abs=1e-6) == table[j, i].item()
    assert torch.equal(table.diag(), torch.ones(5, dtype=torch.float64))
    assert table[3, :3].max() == 0
    assert iou(torch.zeros(1, 4), torch.zeros(1, 4)).item() == 0


def test_overlaps_counted_by_pixels() -> None:
    corner = (20 * draw(30, 2)).floor()
    some = torch.cat([corner, corner + 1 + (10 * draw(30, 2, seed=1)).floor()], 1)
    masks = torch.zeros(30, 32, 32, dtype=torch.bool)
    for mask, (left, top, right, bottom) in zip(masks, some.int().tolist(), strict=True):
        mask[top:bottom, left:right] = True
    both = (masks[:, None] & masks).sum((2, 3))
    either = (masks[:, None] | masks).sum((2, 3))
    torch.testing.assert_close(iou(some, some), both.double() / either)


@pytest.mark.parametrize(("overlap", "kept"), [(0.2, "ead"), (0.3, "ead"), (0.5, "eacd"), (0.7, "eabcd")])
def test_suppression_of_the_oracle(overlap: float, kept: str) -> None:
    """CV-O29: an overlap of exactly t stays."""
    steps = suppression_steps(OF_THE_ORACLE, overlap)
    assert "".join(NAMES[step.box] for step in steps) == kept
    once = suppress(OF_THE_ORACLE, overlap)
    assert torch.equal(suppress(once, overlap), once)  # idempotent
    for seed in range(5):
        order = draw(5, seed=seed).argsort()
        assert torch.equal(suppress(OF_THE_ORACLE[order], overlap), once)


def test_no_other_suppression() -> None:
    with pytest.raises(ValueError, match="suppression is 'none'"):
        suppress(OF_THE_ORACLE, suppression="none")  # type: ignore[arg-type]


def by_hand(rows: list[list[float]], overlap: float, threshold: float) -> list[int]:
    kept: list[int] = []
    for i in sorted(range(len(rows)), key=lambda i: -rows[i][1]):
        if rows[i][1] < threshold:
            continue
        rivals = [k for k in kept if rows[k][0] == rows[i][0]]
        values = [float(iou(torch.tensor([rows[i][2:]]), torch.tensor([rows[k][2:]]))) for k in rivals]
        if all(v <= overlap for v in values):
            kept.append(i)
    return kept


@pytest.mark.parametrize("seed", range(5))
def test_suppression_by_hand(seed: int) -> None:
    """Class by class; equal scores in the order given; below the threshold nothing waits."""
    _, found = scattered(8, seed)
    steps = suppression_steps(found, 0.3, 0.2)
    assert [step.box for step in steps] == by_hand(found.tolist(), 0.3, 0.2)
    dropped = [i for step in steps for i in step.dropped]
    assert sorted(dropped + [step.box for step in steps]) == [
        i for i, s in enumerate(found[:, 1].tolist()) if s >= 0.2
    ]
    for step in steps:
        assert all((v > 0.3) == (i in step.dropped) for i, v in zip(step.rivals, step.overlaps, strict=True))


def test_soft_suppression_lowers_scores() -> None:
    """e is taken first; a then has .9 throughout (its IoU with e is below t), b .8·(1 − IoU(a, b))."""
    soft = suppression_steps(OF_THE_ORACLE, 0.3, 0.01, "soft")
    scores = {NAMES[step.box]: step.score for step in soft}
    assert scores["e"] == 0.95 and scores["a"] == 0.9 and scores["d"] == 0.6
    # c, .7·(1 − .5) by a, comes before b, .8·(1 − .680672), and takes a share of b again: IoU(b, c) > .3
    assert scores["c"] == pytest.approx(0.35)
    assert scores["b"] == pytest.approx(0.8 * (1 - 81 / 119) * (1 - 6 / 19), abs=1e-6)
    assert [NAMES[step.box] for step in soft] == list("eadcb")
    cut = suppression_steps(OF_THE_ORACLE, 0.3, 0.3, "soft")
    assert [NAMES[step.box] for step in cut] == list("eadc")
    assert suppress(OF_THE_ORACLE[:0]).shape == (0, 6)
    same = OF_THE_ORACLE[:1].repeat(2, 1)
    assert len(suppress(same, 0.5, 0.0, "soft")) == 1  # a score of 0 is gone


# --- Average precision ---------------------------------------------------------------------------------


def brute(pictures: list[tuple[Tensor, Tensor]], classes: int, threshold: float = 0.5) -> float:
    """Mean average precision in plain Python, without a sum that is carried on."""
    averages = []
    for label in range(classes):
        rows, objects = [], 0
        for there, found in pictures:
            free = [o for o in there.tolist() if o[0] == label]
            objects += len(free)
            own = sorted((d for d in found.tolist() if d[0] == label), key=lambda d: -d[1])
            for d in own:
                values = [float(iou(torch.tensor([d[2:]]), torch.tensor([o[1:]]))) for o in free]
                best = max(values, default=0.0)
                hit = best >= threshold
                if hit:
                    free.pop(max(i for i, v in enumerate(values) if v == best))
                rows.append((d[1], hit))
        if not objects:
            continue
        rows.sort(key=lambda row: -row[0])
        points = [
            (sum(hit for _, hit in rows[: k + 1]) / objects, sum(hit for _, hit in rows[: k + 1]) / (k + 1))
            for k in range(len(rows))
        ]
        averages.append(
            sum(max((p for r, p in points if r >= at * 0.01), default=0.0) for at in range(101)) / 101
        )
    return sum(averages) / len(averages)


def measured(pictures: list[tuple[Tensor, Tensor]], classes: int, threshold: float = 0.5) -> float:
    metric = MeanAveragePrecision(classes, threshold)
    for there, found in pictures:
        metric.update(found[None], there[None])
    return metric.compute().item()


@pytest.mark.parametrize("seed", range(6))
def test_average_precision_by_brute_force(seed: int) -> None:
    pictures = [scattered(5, 10 * seed + k) for k in range(4)]
    pictures.append((pictures[0][0][:0], pictures[1][1]))  # nothing there
    pictures.append((pictures[0][0], pictures[0][1][:0]))  # nothing found
    assert measured(pictures, 3) == pytest.approx(brute(pictures, 3), abs=1e-6)


def by_coco(pictures: list[tuple[Tensor, Tensor]], classes: int, threshold: float) -> float:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def box(corners: list[float]) -> list[float]:
        left, top, right, bottom = corners
        return [left, top, right - left, bottom - top]

    truth: dict[str, list[dict[str, object]]] = {
        "images": [{"id": i} for i in range(len(pictures))],
        "categories": [{"id": k} for k in range(classes)],
        "annotations": [],
    }
    found = []
    for i, (there, rows) in enumerate(pictures):
        for label, *corners in there.tolist():
            b = box(corners)
            truth["annotations"].append(
                {"id": len(truth["annotations"]) + 1, "image_id": i, "category_id": int(label), "bbox": b,
                 "area": b[2] * b[3], "iscrowd": 0}
            )  # fmt: skip
        found += [
            {"image_id": i, "category_id": int(label), "score": score, "bbox": box(corners)}
            for label, score, *corners in rows.tolist()
        ]
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = truth
        coco.createIndex()
        judge = COCOeval(coco, coco.loadRes(found), "bbox")
        judge.params.iouThrs = np.array([threshold])
        judge.evaluate()
        judge.accumulate()
    precision = judge.eval["precision"][0, :, :, 0, -1]  # (recalls, classes)
    return float(precision[precision > -1].mean())


def test_average_precision_is_that_of_coco() -> None:
    """100 random cases, two thresholds by turns, more than 100 detections of a class in some."""
    worst = 0.0
    for seed in range(100):
        count = 60 if seed % 20 == 0 else 3 + seed % 6
        classes = 1 if seed % 20 == 0 else 3
        pictures = [scattered(count, 100 * seed + k, classes) for k in range(1 + seed % 4)]
        threshold = 0.5 if seed % 2 == 0 else 0.7
        worst = max(
            worst, abs(measured(pictures, classes, threshold) - by_coco(pictures, classes, threshold))
        )
    assert worst <= 1e-6


def test_average_precision_in_parts_and_at_its_edges() -> None:
    pictures = [scattered(5, k) for k in range(4)]
    whole = MeanAveragePrecision(3)
    whole.update(torch.stack([f for _, f in pictures]), torch.stack([o for o, _ in pictures]))
    assert whole.compute().item() == pytest.approx(measured(pictures, 3), abs=1e-7)
    assert math.isnan(MeanAveragePrecision(3).compute().item())
    empty = MeanAveragePrecision(3)
    empty.update(torch.zeros(0, 4, 6), torch.zeros(0, 2, 5))
    assert math.isnan(empty.compute().item())
    objects = pictures[0][0]
    exact = torch.cat([objects[:, :1], torch.ones(5, 1), objects[:, 1:]], 1)
    assert measured([(objects, exact)], 3) == 1
    twice = torch.cat([exact, exact])
    assert measured([(objects, twice)], 3) == pytest.approx(brute([(objects, twice)], 3), abs=1e-6)
    padded = torch.cat([objects, torch.full((2, 5), -1.0)])
    assert measured([(padded, torch.cat([exact, torch.full((3, 6), -1.0)]))], 3) == 1
    with pytest.raises(ValueError, match="threshold"):
        MeanAveragePrecision(3, 1.5)


def test_a_second_detection_of_an_object_is_false() -> None:
    there = torch.tensor([[0.0, 0, 0, 10, 10], [0, 50, 50, 60, 60]])
    found = torch.tensor([[0.0, 0.9, 0, 0, 10, 10], [0, 0.8, 0, 0, 10, 9], [0, 0.7, 50, 50, 60, 60]])
    assert average_precision.match(found, there).tolist() == [0, -1, 1]
    line = average_precision.curve(found[:, 1], torch.tensor([True, False, True]), 2)
    assert line.precision.tolist() == pytest.approx([1, 1 / 2, 2 / 3])
    assert line.recall.tolist() == [0.5, 0.5, 1]
    assert line.average == pytest.approx((51 + 50 * 2 / 3) / 101)


# --- Grid ---------------------------------------------------------------------------------------------


def objects_of(*rows: list[float]) -> Tensor:
    return torch.tensor([[list(map(float, row)) for row in rows]], dtype=torch.float64)


def test_targets_of_cells() -> None:
    """In 112 pixels and 7×7 cells of 16: the centre (44, 24) lies in row 1, column 2."""
    targets = encode(objects_of([4, 34, 10, 54, 38], [-1, 0, 0, 0, 0]), 7, 112)
    assert targets.there.nonzero().tolist() == [[0, 1, 2]]
    torch.testing.assert_close(targets.boxes[0, 1, 2], torch.tensor([0.75, 0.5, 20 / 112, 28 / 112]).double())
    assert targets.classes[0, 1, 2] == 4
    back = detection.corners(targets.boxes)[0, 1, 2] * 112
    torch.testing.assert_close(back, torch.tensor([34.0, 10, 54, 38]).double())
    two = encode(objects_of([4, 34, 10, 54, 38], [7, 36, 12, 52, 36]), 7, 112)
    assert two.classes[0, 1, 2] == 4 and int(two.there.sum()) == 1  # the first of a cell
    edge = encode(objects_of([1, 104, 104, 120, 120]), 7, 112)  # its centre is the corner of the picture
    assert edge.there.nonzero().tolist() == [[0, 6, 6]]


def predicted(seed: int = 0) -> tuple[Detector, Tensor, Prediction]:
    model = Detector((1, 16, 16), 3, (4, 4), (2, 2), (0, 0)).double()
    grid = draw(2, 4, 4, 13, seed=seed)
    return model, grid, model.read(grid)


OBJECTS = objects_of([2, 1, 1, 8, 6], [0, 9, 9, 15, 14]).repeat(2, 1, 1)


def test_the_box_with_the_highest_overlap_is_responsible() -> None:
    _, _, prediction = predicted()
    targets = encode(OBJECTS, 4, 16)
    chosen, overlap = responsible(prediction, targets)
    for n, row, column in targets.there.nonzero().tolist():
        values = [
            float(iou(prediction.corners[n, row, column, b][None],
                      detection.corners(targets.boxes)[n, row, column][None]))
            for b in range(2)
        ]  # fmt: skip
        assert chosen[n, row, column] == values.index(max(values))
        assert overlap[n, row, column].item() == pytest.approx(max(values))


def test_the_loss_cell_by_cell() -> None:
    """Sums of squares in plain Python."""
    _, grid, prediction = predicted(1)
    targets = encode(OBJECTS, 4, 16)
    chosen, overlap = responsible(prediction, targets)
    terms = loss_terms(prediction, targets, 5.0, 0.5)
    for n in range(2):
        place = size = confidence = empty = classes = 0.0
        for row in range(4):
            for column in range(4):
                numbers = grid[n, row, column].tolist()
                own = [numbers[:5], numbers[5:10]]
                there, best = bool(targets.there[n, row, column]), int(chosen[n, row, column])
                for b in range(2):
                    if not (there and b == best):
                        empty += 0.5 * own[b][4] ** 2
                if there:
                    x, y, w, h = targets.boxes[n, row, column].tolist()
                    place += 5 * ((own[best][0] - x) ** 2 + (own[best][1] - y) ** 2)
                    size += 5 * ((own[best][2] - w**0.5) ** 2 + (own[best][3] - h**0.5) ** 2)
                    confidence += (own[best][4] - float(overlap[n, row, column])) ** 2
                    label = int(targets.classes[n, row, column])
                    classes += sum((numbers[10 + k] - (k == label)) ** 2 for k in range(3))
        expected = [place, size, confidence, empty, classes]
        assert [float(t[n]) for t in terms] == pytest.approx(expected)
    other = loss_terms(prediction, targets, 10.0, 2.0)
    torch.testing.assert_close(other.place, 2 * terms.place)
    torch.testing.assert_close(other.empty, 4 * terms.empty)


def test_candidates_and_detections() -> None:
    model, grid, prediction = predicted(2)
    found = model.candidates(grid)
    assert found.shape == (2, 32, 6)
    label = prediction.classes[1, 2, 3].argmax()
    row = found[1, (2 * 4 + 3) * 2 + 1]
    assert row[0] == label
    score = prediction.confidence[1, 2, 3, 1] * prediction.classes[1, 2, 3, label]
    torch.testing.assert_close(row[1], score)
    x, y, w, h = prediction.roots[1, 2, 3, 1].tolist()
    expected = [
        (3 + x) * 4 - 8 * w**2,
        (2 + y) * 4 - 8 * h**2,
        (3 + x) * 4 + 8 * w**2,
        (2 + y) * 4 + 8 * h**2,
    ]
    assert row[2:].tolist() == pytest.approx([min(max(v, 0), 16) for v in expected])
    kept = model.kept(found)
    for n in range(2):
        expected = boxes.suppress(found[n][found[n, :, 1] >= 0.01], 0.5)
        torch.testing.assert_close(kept[n, : len(expected)], expected)
        assert bool((kept[n, len(expected) :, 0] == -1).all())


def test_arguments_that_are_refused() -> None:
    with pytest.raises(ValueError, match="strides has 1"):
        Detector((1, 16, 16), 3, (4, 4), (2,), (0, 0))
    with pytest.raises(ValueError, match="whose side 4 divides"):
        Detector((1, 18, 18), 3, (4, 4), (2, 2), (0, 0))
    with pytest.raises(ValueError, match="suppression is 'none'"):
        Detector((1, 16, 16), 3, (4,), (2,), (0,), suppression="none")  # type: ignore[arg-type]
