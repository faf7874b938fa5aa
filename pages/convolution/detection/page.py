"""Detection: suppression step by step, what one cell is to say, own boxes, precision and recall."""

from typing import Any

from lab import ui
from modules.convolution import boxes, detection
from modules.convolution.average_precision import MeanAveragePrecision
from pages.convolution.detection import figures, judging, lens, places, words
from pages.convolution.detection.room import BOXES, CELL, ROOM, SUPPRESSION, draws

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
loads = f"""
        from lab import experiments, weights
        from lab.ui.controls import drawing
        from pages.convolution.detection import judging, lens, places

        model = weights.load(experiments.find({now.model.partition("/")[0]!r}).weights)"""
own = f"drawing.pixels({now.ink!r}, 28)" if draws(now) else None
asks = f"look = lens.looked(model, places.placed({now.digits!r}), {own})"
cuts = f"{now.threshold}, {now.overlap}, {now.suppression!r}"

if now.view in (SUPPRESSION, BOXES):
    if now.view == SUPPRESSION:
        look = ui.compute(lens.looked, now)
        run = ui.compute(lens.suppressed, now)
        x, side, grid = look.x, float(look.model.side), look.model.grid
        code = f"{loads}\n        {asks}\n        run = lens.suppressed(look, {cuts})"
    else:
        run = ui.compute(lens.of_boxes, now)
        x, side, grid = None, float(run.detections[:, 2:].max()) if len(run.detections) else 1.0, 0
        code = f"""
        from pages.convolution.detection import lens, places

        run = lens.of_boxes(places.typed({now.boxes!r}), {cuts})"""
    film = ui.film_of(now, len(run.steps) + 1)
    picture = figures.suppression(run, x, side, grid)

    def pressed(x: float, y: float) -> dict[str, Any]:
        """Another digit where the picture was clicked."""
        return ui.moved(now, digits=places.added(now.digits, now.digit, x, y))

    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            if x is None:
                ui.figure(picture, key="boxes", share=1.0, film=film, alt="The boxes and their scores")
            else:
                ui.button_figure(picture, key="picture", share=1.0, film=film, on_press=pressed,
                                 alt="The picture with its boxes; a click adds a digit")  # fmt: skip
        with right:
            ui.figure(figures.scores(run), key="scores", share=1.0, film=film,
                      alt="Scores of the boxes, the highest first, and the threshold")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.step_captions(run), equations=words.step_equations(run))
    with stage.below:
        kept = len(run.steps)
        ui.notice(
            f"Of {words.boxes(len(run.detections))} {kept} {'is' if kept == 1 else 'are'} kept. Boxes of "
            "different classes do not suppress each other. An IoU of exactly t is allowed, and of equal "
            "scores the first comes first."
        )
        ui.check(
            "How many boxes are left at the end?", sorted({0, kept, kept + 1, 2 * kept + 2}), kept,
            "Each step keeps one.",
            wrong={n: why for n, why in (
                (0, "The surest box of all is always kept."),
                (kept + 1, "The last step leaves no box that waits."),
                (2 * kept + 2, "No step keeps two."),
            ) if n != kept},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"{code}\n        result = [step.score for step in run.steps]\n        ",
            shows=[step.score for step in run.steps],
        )
        ui.source(boxes.iou, boxes.suppression_steps, references=ROOM.references)
elif now.view == CELL:
    look, cells = ui.compute(lens.looked, now), ui.compute(lens.encoded, now)
    S = cells.side
    film = ui.film_of(now, S * S, names=[f"{k // S}, {k % S}" for k in range(S * S)])
    size = look.model.side / S

    def chosen(x: float, y: float) -> dict[str, Any]:
        """The cell that was clicked."""
        return ui.moved(now, cell=min(int(y / size), S - 1) * S + min(int(x / size), S - 1))

    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.button_figure(figures.one_cell(look, cells), key="cell", share=1.0, film=film, on_press=chosen,
                             alt="The picture with a cell, its boxes and the box it is to find")  # fmt: skip
        with right:
            ui.figure(figures.numbers(cells), key="answers", share=1.0, film=film,
                      alt="What the cell is to say and what it says")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.cell_captions(cells), equations=words.cell_equations(cells))
    with stage.below:
        count, found = look.candidates.shape[0], int(cells.there.sum())
        ui.notice(
            f"The network gives {S} × {S} × {look.grid.shape[-1]} numbers: {count} boxes, and "
            f"{look.model.num_classes} scores a cell. {found} cells have an object. "
            + (f"{cells.lost} found no room: a cell has one object only." if cells.lost else
               "Blue is the box that is to be found, orange that of the responsible box.")
        )  # fmt: skip
        ui.check(
            "What is a confidence to be where no centre lies?", ["0", "its IoU", "1"], "0",
            "Those boxes have only the term ½ c².",
            wrong={"its IoU": "That is the aim of the responsible box alone.",
                   "1": "Not even a responsible box: its aim is its IoU."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"{loads}\n        {asks}\n        result = lens.encoded(look).terms[{film.at}]\n        ",
            shows=cells.terms[film.at],
        )
        ui.source(detection.encode, detection.responsible, detection.terms_of, references=ROOM.references)
else:
    judged = ui.compute(judging.judged, now)
    film = ui.film_of(now, len(judged.thresholds), names=[f"{t:.2f}" for t in judged.thresholds.tolist()])
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(figures.precision(judged), key="precision", share=1.0, film=film,
                      alt="Precision against recall, with and without suppression")  # fmt: skip
        with right:
            ui.figure(figures.averages(judged), key="averages", share=1.0,
                      alt="Average precision of each class")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.cut_captions(judged), equations=words.cut_equations(judged))
    with stage.below:
        ui.notice(
            f"{judging.SCENES} scenes with {judged.objects} small digits that no detector was trained on. A "
            "box is true if it is the first with its class and an IoU of ½ on an object. The mean average "
            f"precision after suppression is {judged.map:.3f}."
        )
        ui.check(
            "What does a second box on the same object count as?", ["false", "true", "not at all"], "false",
            "Each object is found once: that is why suppression raises precision.",
            wrong={"true": "The object is taken already.", "not at all": "Every kept box counts."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""{loads}
        result = judging.judged(model, {now.overlap}, {now.suppression!r}).map
            """,
            shows=judged.map,
        )
        ui.source(MeanAveragePrecision, boxes.suppress, references=ROOM.references)
