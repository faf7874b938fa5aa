"""A flow that was trained without a class: does it find that class odd?"""

from typing import Any

from lab import ui
from modules.flow import typicality
from pages.flow.typicality import figures, lens
from pages.flow.typicality.room import ROOM

WITHOUT = 9
SCORES = ("log p", "typicality")


@ui.cached
def scores_of(name: str) -> lens.Classes:
    return lens.classes(ui.load(name), WITHOUT)


@ui.cached
def table_of(name: str) -> dict[str, list[lens.Against]]:
    result = scores_of(name)
    return {score: [result.against(label, score) for label in range(10)] for score in SCORES}


def class_caption(table: dict[str, list[lens.Against]], label: int) -> str:
    """Sentence on one class."""
    one, typical = (table[score][label] for score in SCORES)
    result = "never seen" if label == WITHOUT else "seen in training; these held out"
    return (
        f"{label}, {result}, {one.count} pictures: AUROC {one.area:.3f} ± {one.error:.3f} by log p, "
        f"{typical.area:.3f} ± {typical.error:.3f} by typicality."
    )


def view(stage: Any) -> None:
    """Each class against the others, a film over the classes."""
    with stage.rail:
        score = ui.choice("Score", list(SCORES), key="score")
    film = ui.film(10, key="class", values=range(10), default=WITHOUT, label="Class", seconds=1.0)
    result, table = scores_of(lens.UNSEEN), table_of(lens.UNSEEN)
    others, own, low, high = lens.by_class(result, score)
    areas = {name: [one.area for one in row] for name, row in table.items()}
    errors = {name: [one.error for one in row] for name, row in table.items()}
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            label = "−log p, nats" if score == "log p" else "|−log p − H|, nats"
            fig, moves = figures.one_class(others, own, low, high, film.at, label)
            ui.figure(fig, key="class-scores", share=1.0, film=film, frames=moves,
                      alt="Scores of a class, and of held-out digits of the other classes")  # fmt: skip
        with right:
            fig, moves = figures.of_classes(areas, errors, film.at, WITHOUT)
            ui.figure(
                fig, key="classes", share=1.0, film=film, frames=moves,
                alt="AUROC of every class against the others by both scores, with standard errors",
                data={"class": range(10), **areas, **{f"error, {name}": row for name, row in errors.items()}},
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[class_caption(table, label) for label in range(10)],
            equations=[
                rf"P(\log p(x_{{{label}}}) < \log p(x_{{\text{{other}}}})) = {table['log p'][label].area:.3f}"
                rf"\pm{table['log p'][label].error:.3f}"
                for label in range(10)
            ],
        )
    unseen, oddest = table["log p"][WITHOUT], max(range(10), key=lambda c: areas["log p"][c])
    known = sorted(set(range(10)) - {WITHOUT}, key=lambda c: areas["log p"][c])
    with stage.below:
        ui.notice(
            f"{lens.UNSEEN} was trained on the other nine classes. Of a {WITHOUT} and another digit that it "
            f"has not seen either, it finds the {WITHOUT} less likely in {unseen.area:.1%} of the pairs; a "
            f"guess is right in half. Of the classes that it has learned the {known[-1]} reaches "
            f"{areas['log p'][known[-1]]:.1%} and the {known[0]} only {areas['log p'][known[0]]:.1%}: how "
            "well a class can be foretold at all counts beside whether it was seen. Errors: both sets are "
            "drawn anew 500 times; the model is one and the same."
        )
        ui.check(
            "Which class does log p find oddest?", [str(c) for c in range(10)], str(oddest),
            f"The {oddest}, {areas['log p'][oddest]:.3f}; the unseen {WITHOUT} has {unseen.area:.3f}.",
            wrong={
                str(c): f"Of the {c} its area is {areas['log p'][c]:.3f}: few strokes are likelier than "
                "many, seen or not."
                for c in range(10)
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        now = table[score][film.at]
        ui.program(
            f"""
            from lab import weights
            from pages.flow.typicality import lens

            classes = lens.classes(weights.load("{lens.UNSEEN}"), {WITHOUT})
            one = classes.against({film.at}, {score!r})
            result = [one.area, one.error]
            """,
            shows=[now.area, now.error],
        )
        ui.source(typicality.bootstrap, typicality.auroc, lens.classes, references=ROOM.references)
