"""One conditional of a picture: what it may see, what it reads, and its arithmetic."""

from typing import Any

import torch

from lab import ui
from lab.figures import basic, raster
from lab.lenses import drawing
from lab.ui.models import shelves
from modules.autoregressive import base
from pages.autoregressive.inspector import common, costs, lens, nade_state
from pages.autoregressive.inspector.room import ROOM


@ui.cached
def look(name: str, x: torch.Tensor, pixel: int, index: int) -> lens.Conditional:
    return lens.conditional(ui.load(name), x, pixel, index=index)


@ui.cached
def posterior(name: str, x: torch.Tensor) -> torch.Tensor:
    return lens.posterior(ui.load(name), x)


def own_figure(name: str, model: Any, x: torch.Tensor, conditional: lens.Conditional, y: int | None) -> str:
    """Figure that a member can show of itself, else the cost of every pixel; and a sentence on it, if there
    is."""
    side, text = drawing.side(model), ""
    if model.num_categories > 2:
        names, p = [str(k) for k in range(model.num_categories)], conditional.distribution
        shown = names if len(names) < 8 else [k if int(k) % 4 == 0 else "" for k in names]
        fig = basic.bars(shown, p, highlight=conditional.value, xlabel="value", title="p(value)")
        alt, data = "The conditional of this pixel", {"value": names, "p": p}
    elif y is not None:
        names, p = [str(c) for c in range(lens.classes(model))], posterior(name, x)
        fig = basic.bars(names, p, highlight=y, probability=True, title="p(class | picture)", xlabel="class")
        alt, data = "Probability of each class given the picture", {"class": names, "p": p}
    elif isinstance(model, lens.NADE):
        units = nade_state.running_units(model, x, conditional.pixel, 8)
        fig = basic.bars(
            [f"a{k}" for k in units.unit.tolist()], units.after, baseline=units.state,
            names=("after", "running sum"),
        )  # fmt: skip
        alt = "Running sums before and after this pixel's column is added"
        data = {"unit": units.unit, "before": units.state, "column": units.column, "after": units.after,
                "vote": units.vote}  # fmt: skip
        text = (
            f"Drawn are the {len(units.unit)} units with the largest vote V σ(a). Carried column by column; "
            f"summed anew it differs by at most {units.drift:.0e}."
        )
    elif isinstance(model, lens.FVSBN):
        row = lens.weights_row(model, conditional.pixel)
        fig = raster.reads(row, side, conditional.pixel, f"Row {conditional.pixel} of A", height=190)
        alt = "Weights of the logistic regression of this pixel, on the picture"
        data = {"pixel": range(model.n), "weight": row}
    else:
        cost = -costs.terms(model, x)
        fig = raster.surprisal(cost, side, "Surprisal, nats", height=190)
        alt, data = "What each pixel costs under this model", {"pixel": range(model.n), "surprisal": cost}
    ui.figure(fig, alt=alt, data=data, share=0.5, key="own")
    return text


def view(stage: Any) -> None:
    """One pixel of the reader's digit."""
    with stage.rail:
        name, model, side = common.model_and_side()
        y = common.class_choice(model, common.LIKELIEST)
        x = drawing.entries(shelves.plain_digit(side), model.num_categories)
    if lens.classes(model) and y is None:
        y = int(posterior(name, x).argmax())
    cell = ui.selected_cell("pixel", side, side)
    pixel = cell[0] * side + cell[1] if cell else lens.default_pixel(x)
    result = look(name, x, pixel, y or 0)
    with stage.picture:
        results, beside = ui.columns([3, 2])
        with results:
            ui.clickable(
                raster.canvas(lens.ink(result.context, model), side, pixel,
                              f"What pixel {pixel} may see; click another", clickable=True),
                key="pixel", alt="The picture as far as it comes before the chosen pixel", mark=False,
                share=1.0, data={"pixel": range(model.n), "x": result.context},
            )  # fmt: skip
        with beside:
            ui.figure(
                raster.reads(result.gradient, side, pixel, "Reads: ∂ logit / ∂ x", height=190), share=0.5,
                alt="Gradient of this pixel's logit with respect to every pixel",
                data={"pixel": range(model.n), "gradient": result.gradient},
            )  # fmt: skip
            text = own_figure(name, model, x, result, y)
    stage.metrics(
        {
            f"p({result.asked} | before)": f"{result.p:.4f}",
            "Place": f"{result.rank} of {model.n}",
            "Reads": f"{result.reads} of {result.rank - 1} earlier",
            "Later": str(result.leaks),
        }
    )
    first, *more = lens.arithmetic(model, x, result)
    stage.equation(*first)
    with stage.below:
        for latex, note in more:
            ui.equation(latex, note)
        if text:
            ui.caption(text)
        ui.notice(
            "The picture is the same for every member; what differs is how far back a pixel looks. FVSBN "
            "weighs all of the past by one row of numbers; NADE keeps one sum for all pixels and adds a "
            "column a pixel; MADE and PixelCNN compute all conditionals in one pass. "
            f"Whatever comes later is read by nobody: here {result.leaks} pixels."
        )
        likeliest = int(result.distribution.argmax())
        ui.check(
            f"Pixel {pixel} is {result.value}. Is that the value which the model finds likeliest here?",
            ["yes", "no"],
            "yes" if likeliest == result.value else "no",
            f"It gives {result.asked} the probability {result.p:.3f}; the likeliest is {likeliest}.",
            wrong={
                "yes": "What stands in the picture is a fact, not a belief: the model held another value "
                "likelier.",
                "no": "A pixel that costs nats may still be the likeliest value: no other has more.",
            },
            veils=("equation", "own"),
        )
        ui.program(
            f"""
            import torch
            from lab import weights

            model = weights.load("{name}")
            x = {common.literal(x)}
            logits = model.logits(x[None], model.component_order(0), {y or 0})[0, {pixel}]
            p = model.probabilities(logits)
            result = p.item() if p.ndim == 0 else p[{result.asked}].item()
            """,
            shows=result.p,
        )
        ui.source(type(model).logits, base.Autoregressive.conditionals, references=ROOM.references)
