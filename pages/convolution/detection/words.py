"""What the page says of boxes, of cells and of curves."""

import math

from pages.convolution.detection.judging import Judged
from pages.convolution.detection.lens import Cells, Run
from pages.convolution.detection.room import SOFT

TERMS = ("place", "size", "confidence", "other boxes", "classes")


def boxes(count: int) -> str:
    return "1 box" if count == 1 else f"{count} boxes"


def step_captions(run: Run) -> list[str]:
    """Of each step: the box that is taken, and what becomes of the others of its class."""
    what = "waits" if len(run.detections) == 1 else "wait"
    texts = [f"{boxes(len(run.detections))} with a score of {run.threshold:.2f} or more {what}."]
    for step in run.steps:
        label = f"{run.detections[step.box, 0]:.0f}"
        text = (
            f"Box {run.name(step.box)}, class {label}, has the highest score, {step.score:.2f}, and is kept"
        )
        beyond = sum(v > run.overlap for v in step.overlaps)
        if not step.rivals:
            text += "; no other of its class waits."
        elif not beyond:
            text += f"; no other of its class overlaps it by more than {run.overlap:.2f}."
        elif run.suppression == SOFT:
            text += f"; {boxes(beyond)} beyond t {'gets' if beyond == 1 else 'get'} a lower score, "
            text += f"{len(step.dropped)} of them below τ."
        else:
            text += f"; {boxes(beyond)} beyond t {'goes' if beyond == 1 else 'go'}."
        texts.append(text)
    return texts


def step_equations(run: Run) -> list[str]:
    """Of each step: the IoU that comes nearest to a decision, and the decision."""
    texts = [rf"s \ge \tau = {run.threshold:.2f}, \qquad \mathrm{{IoU}} > t = {run.overlap:.2f}"]
    for step in run.steps:
        if not step.rivals:
            texts.append(rf"s = {step.score:.2f} \ge \tau = {run.threshold:.2f}")
            continue
        beyond = [k for k, v in enumerate(step.overlaps) if v > run.overlap]
        k = beyond[0] if beyond else max(range(len(step.rivals)), key=lambda k: step.overlaps[k])
        value = step.overlaps[k]
        pair = rf"\text{{{run.name(step.box)}, {run.name(step.rivals[k])}}}"
        sign = ">" if value > run.overlap else "=" if value == run.overlap else "<"
        text = rf"\mathrm{{IoU}}({pair}) = {value:.3f} {sign} t = {run.overlap:.2f}"
        if run.suppression == SOFT and beyond:
            before = step.scores[k] / (1 - value) if value < 1 else math.nan
            text += rf", \qquad s = {before:.2f}\,(1 - {value:.3f}) = {step.scores[k]:.2f}"
        texts.append(text)
    return texts


def cell_captions(cells: Cells) -> list[str]:
    """Of each cell: what it is to find, and which box is responsible."""
    texts = []
    for k in range(cells.side**2):
        row, column = divmod(k, cells.side)
        where = f"Row {row}, column {column}: "
        if cells.there[k]:
            texts.append(
                f"{where}the centre of a {int(cells.label[k])} lies here; box {int(cells.chosen[k]) + 1} is "
                f"responsible, its confidence is to be its IoU, {float(cells.target[k, 4]):.2f}."
            )
        else:
            least = ", ".join(f"{v:.2f}" for v in cells.said[k, :, 4].tolist())
            texts.append(f"{where}no centre lies here; both confidences, {least}, are to be 0.")
    return texts


def cell_equations(cells: Cells) -> list[str]:
    """Of each cell: its loss, term by term."""
    texts = []
    for k, row in enumerate(cells.terms.tolist()):
        shown = row if cells.there[k] else row[3:4]
        names = TERMS if cells.there[k] else TERMS[3:4]
        parts = " + ".join(
            rf"\underbrace{{{v:.3f}}}_{{\text{{{n}}}}}" for v, n in zip(shown, names, strict=True)
        )
        texts.append(f"L = {parts}" + (f" = {sum(row):.3f}" if len(shown) > 1 else ""))
    return texts


def cut_captions(judged: Judged) -> list[str]:
    """Of each threshold: what is found, before and after suppression."""
    texts = []
    for t, (r, p, r2, p2) in zip(judged.thresholds.tolist(), judged.points.tolist(), strict=True):
        texts.append(
            f"τ = {t:.2f}: precision {'—' if math.isnan(p) else f'{p:.2f}'} without suppression and "
            f"{'—' if math.isnan(p2) else f'{p2:.2f}'} with it; recall {r:.2f} and {r2:.2f}."
        )
    return texts


def cut_equations(judged: Judged) -> list[str]:
    """Of each threshold: precision and recall after suppression, from counts."""
    texts = []
    for true, false in judged.counts.tolist():
        share = f"{true / (true + false):.3f}" if true + false else r"\tfrac{0}{0}"
        texts.append(
            rf"\mathrm{{precision}} = \frac{{{true}}}{{{true} + {false}}} = {share}, \qquad "
            rf"\mathrm{{recall}} = \frac{{{true}}}{{{judged.objects}}} = {true / max(judged.objects, 1):.3f}"
        )
    return texts
