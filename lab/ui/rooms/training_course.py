"""Trainings side by side: the bound split in two, and the KL, epoch by epoch, at full price."""

from collections.abc import Mapping
from typing import Any

from lab import ui
from lab.figures import latents
from lab.lenses.code_use import Course


def view(stage: Any, models: Mapping[str, str], train: str, log: bool = False) -> None:
    """Picture, film, notice, check and program.

    Args:
        models: label -> name of a trained model.
        train: the experiment to name where no model has kept its curves.
        log: the axis of the KL.
    """
    courses = {}
    for label, name in models.items():
        curve = ui.history(name)
        if curve.get("val/rec"):
            courses[label] = Course(curve["val/rec"], curve["val/kl"])
    if not courses:
        ui.stop(f"No model here has kept its learning curves: train one with `lab fit {train}`.")
    epochs = max(len(c.rec) for c in courses.values())
    film = ui.film(
        epochs, key="epoch", values=range(1, epochs + 1), default=epochs, label="Epoch", seconds=0.25
    )
    rows = [[c.at(e) for c in courses.values()] for e in range(epochs)]  # epochs × models × 2
    rec, kl = ([[pair[part] for pair in row] for row in rows] for part in (0, 1))
    reach = (0.0, 1.05 * max(r + k for row in rows for r, k in row))
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                latents.costs(list(courses), rec[film.at], kl[film.at], reach), key="costs", share=1.0,
                film=film,
                frames={"data.0.x": rec, "data.1.x": kl},
                alt="−ELBO of every model at this epoch, split into reconstruction and KL",
                data={"model": list(courses), "reconstruction": rec[film.at], "KL": kl[film.at]},
            )  # fmt: skip
        with right:
            places = list(range(1, epochs + 1))
            ui.figure(
                latents.kl_curves(courses, film.at, log), key="curves", share=1.0, film=film,
                frames={"layout.shapes.0.x0": places, "layout.shapes.0.x1": places},
                alt="KL of every model over the epochs of its training",
            )  # fmt: skip
    sums = [[r + k for r, k in row] for row in rows]
    with stage.foot:
        film.bar(
            captions=[
                f"Epoch {e + 1}: the bounds lie between {min(sums[e]):.2f} and {max(sums[e]):.2f} nats, "
                f"the KLs between {min(kl[e]):.2f} and {max(kl[e]):.2f}."
                for e in range(epochs)
            ]
        )
    least, most = (pick(courses, key=lambda n: courses[n].kl[-1]) for pick in (min, max))
    with stage.below:
        ui.notice(
            f"Validation, at full price. At the end {least} has a KL of {courses[least].kl[-1]:.3f} nats and "
            f"{most} one of {courses[most].kl[-1]:.3f}, and their bounds are "
            f"{sum(courses[least].at(epochs)):.2f} and {sum(courses[most].at(epochs)):.2f}. The bound "
            "does not say whether the code is in use: look at the KL, or swap the codes."
        )
        ui.check(
            "Which model's code costs least at the end?", list(courses), least,
            f"Its KL is {courses[least].kl[-1]:.3f} nats.",
            wrong={
                name: f"The code of “{name}” costs {one.kl[-1]:.3f} nats: its decoder has more use for it."
                for name, one in courses.items()
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            import csv
            from lab import experiments

            folder = {ui.spelled(models[most])}
            rows = list(csv.DictReader(open(folder / "metrics.csv")))
            result = [float(rows[-1]["val/rec"]), float(rows[-1]["val/kl"])]
            """,
            shows=[courses[most].rec[-1], courses[most].kl[-1]],
        )
