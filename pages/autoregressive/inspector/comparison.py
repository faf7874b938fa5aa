"""Two models on one picture: where each pays, pixel by pixel."""

from typing import Any

import torch

from lab import experiments, ui
from lab.figures import basic, raster
from lab.lenses import drawing
from lab.ui.models import shelves
from modules.autoregressive import base
from pages.autoregressive.inspector import common, costs, lens
from pages.autoregressive.inspector.room import ROOM


@ui.cached
def compared(first: str, second: str, x: torch.Tensor) -> costs.Comparison:
    return costs.compare(ui.load(first), ui.load(second), x)


def view(stage: Any) -> None:
    """The reader's digit under both."""
    catalog = experiments.catalog()
    with stage.rail:
        name, model, side = common.model_and_side(only=lambda e: lens.comparable(e, catalog))
        fitting = lens.same_pictures(name.partition("/")[0], catalog)
        other = ui.experiment("Against", family="autoregressive", key="other", default="fvsbn-digits",
                              only=lambda e: e.name in fitting and drawing.of_binary_pictures(e))  # fmt: skip
        x = drawing.bits(shelves.plain_digit(side))
    both = compared(name, other, x)
    first, second = both.totals
    with stage.picture:
        columns = ui.columns(2)
        for column, title, each in zip(columns, (name, other), (both.first, both.second), strict=True):
            with column:
                ui.figure(
                    raster.surprisal(-each, side, title), alt=f"What each pixel costs under {title}",
                    share=0.55, data={"pixel": range(model.n), "surprisal": -each},
                )  # fmt: skip
        with columns[0]:
            ui.figure(
                raster.reads(both.gain, side, -1, "Won (orange: lost)"), share=0.45,
                alt="Difference of the two models' log probabilities, pixel by pixel",
                data={"pixel": range(model.n), "gain": both.gain},
            )  # fmt: skip
        with columns[1]:
            one, two = both.running()
            fig = basic.curves({name: one, other: two}, xlabel="pixels", ylabel="log p")
            ui.figure(
                fig, alt="Sum of log p over the pixels so far, both models", share=0.45,
                data={"pixel": range(model.n), name: one, f"{other} ": two},
            )  # fmt: skip
    stage.equation(
        rf"\log p_A(x) - \log p_B(x) = {first:.2f} - ({second:.2f}) = {first - second:+.2f}",
        f"A is {name}, B is {other}; nats, summed over all {model.n} pixels.",
    )
    with stage.below:
        ui.notice(
            "Both models pay on the edges of strokes, where ink begins or ends; the better one pays less at "
            "a few of them. On one picture the worse model may win: the mean over the test split counts."
        )
        ui.check(
            "Which model finds this picture likelier?",
            [name, other],
            name if first >= second else other,
            f"{first:.2f} against {second:.2f} nats.",
            wrong={
                name: f"A model that is better on average may lose on one picture: {name} gives it fewer "
                "nats.",
                other: f"Which model is better is asked of this picture: {other} gives it fewer nats.",
            },
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            import torch
            from lab import weights

            x = {common.literal(x)}
            models = [weights.load(name) for name in ("{name}", "{other}")]
            each = [m.log_conditionals(x[None], m.component_order(0)) for m in models]
            result = [terms.sum().item() for terms in each]
            """,
            shows=[first, second],
        )
        ui.source(base.Autoregressive.log_conditionals, costs.compare, references=ROOM.references)
