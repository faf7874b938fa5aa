"""Completions: what a model draws given the rest, and what a model of one order cannot."""

from typing import Any

import torch

from lab import experiments, ui
from lab.figures import raster
from lab.lenses import drawing
from lab.ui.models import shelves
from modules.autoregressive import base
from modules.autoregressive.orders import observed_first
from pages.autoregressive.inspector import common, lens
from pages.autoregressive.inspector.room import ROOM

BRUSH, NONE = "what I paint over", "nothing"


@ui.cached
def complete(
    name: str,
    given: torch.Tensor,
    order: list[int] | None,
    n: int,
    temperature: float,
    seed: int,
    y: int | None,
) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    model, chosen = ui.load(name), {} if y is None else {"y": y}
    return model.sample(n, given=given, order=order, temperature=temperature, generator=generator, **chosen)


def how(name: str, model: Any, given: torch.Tensor) -> str:
    """In words, whether and why the model can draw what is missing."""
    if not drawing.can_complete(model, given):
        return (
            f"**{name} cannot complete this**: in its order some of what is given comes later; clamped, "
            "the rest is no draw from p(rest | given)."
        )
    if model.order_agnostic:
        return f"**{name}** was trained on fresh orders: it visits what is given first, then the rest."
    return f"For **{name}** what is given comes first in its order: an exact conditional draw."


def view(stage: Any) -> None:
    """The reader's digit, part of it given."""
    catalog = experiments.catalog()
    with stage.rail:
        name, model, side = common.model_and_side()
        fitting = lens.same_pictures(name.partition("/")[0], catalog)
        others = ui.trained("autoregressive", lambda e: e.name in fitting and lens.draws_pictures(e))
        beside = ui.choice("Beside it", [NONE, *others], key="beside", default="made-digits-orders",
                           as_list=True)  # fmt: skip
        region = ui.choice("Given", [*drawing.REGIONS, BRUSH], key="given", as_list=True,
                           format=lambda r: "all but my brush" if r == BRUSH else r)  # fmt: skip
        y = common.class_choice(model, common.DRAWN)
        hole = None
        if region == BRUSH:
            hole = ui.draw("Paint the hole", key="hole", size=side, examples=lens.holes(side))
        picture = shelves.plain_digit(side)
        count = ui.slider("Completions", 1, 25, 12, key="count")
        temperature = ui.slider("Temperature", 0.0, 2.0, 1.0, key="t", step=0.1)
        seed = ui.number("Seed", 0, 9999, 0, key="draw")
    levels = model.num_categories

    def known(levels: int) -> torch.Tensor:
        return drawing.keep(picture, region, levels) if hole is None else lens.without(picture, hole, levels)

    given = known(levels)
    exact = drawing.can_complete(model, given)
    with stage.rail:
        clamp = exact or ui.toggle("Clamp and sample anyway", True, key="clamp")
    order = None if exact else model.component_order(0).tolist()
    names = [name, *([] if beside == NONE else [beside])]
    with stage.picture:
        places = ui.columns([1, *[2] * len(names)])
        with places[0]:
            ui.figure(raster.canvas(lens.ink(given, model), side, title="Given"), alt="What is given",
                      share=0.6)  # fmt: skip
        for place, each in zip(places[1:], names, strict=True):
            drawer = ui.load(each)
            mine = known(drawer.num_categories)
            able = drawing.can_complete(drawer, mine)
            if each == name and not clamp:
                continue
            visit = None if able else drawer.component_order(0).tolist()
            drawn = complete(each, mine, visit, count, float(temperature), seed, y if each == name else None)
            with place:
                ui.figure(
                    raster.completions(lens.ink(drawn, drawer), ~mine.isnan(), side,
                                       each if able else f"{each}, clamped",
                                       columns=3 if len(names) > 1 else None),
                    alt=f"Completions by {each}", share=1.0, key=f"sheet-{each}",
                    data={"picture": drawing.bit_strings(drawn)},
                )  # fmt: skip
    result, whole = drawing.completion_score(model, picture, given, order, y)
    with stage.foot:
        ui.caption(how(name, model, given))
    if exact:
        stage.equation(
            rf"\log p(\text{{rest}} \mid \text{{given}}) = {whole:.2f} - ({result:.2f}) = "
            rf"{whole - result:.2f}",
            "log p(x) − log p(given) of your own picture, nats: how well it guesses what you really drew.",
        )
    else:
        stage.equation(
            rf"\log p(x) = {whole:.2f}",
            "Of your own picture, nats; this order cannot tell the part that belongs to what is given.",
        )
    with stage.below:
        ui.notice(
            "Given ink is black, drawn ink orange. Completions differ from each other but agree with what is "
            "given: a distribution, not a guess. A raster model sees only what is above and to the left: it "
            "can continue a picture, not begin one. Training on fresh orders buys any completion at the "
            "price of a worse likelihood for each order."
        )
        ui.check(
            f"Can {name} draw exactly from p(rest | given) for what is given here?",
            ["yes", "no"],
            "yes" if exact else "no",
            "Only if all given pixels come before all others in an order the model was trained on.",
            wrong={
                "yes": "It can only go on from a beginning: here something given comes after something "
                "that is not.",
                "no": "Where all that is given comes first in its order, it is set, and the rest is drawn "
                "as always.",
            },
            veils=("picture", "equation"),
        )
        values = {2: f'drawing.keep(picture, "{region}")'}.get(
            levels, f'drawing.keep(picture, "{region}", {levels})'
        )
        missing = given.isnan().nonzero().flatten().tolist() if hole is not None else None
        kept = values if missing is None else f"drawing.entries(picture, {levels})"
        ui.program(
            f"""
            import torch
            from lab import weights
            from lab.lenses import drawing

            model = weights.load("{name}")
            x = {common.literal(drawing.entries(picture, levels))}
            picture = x.view({side}, {side}) / {levels - 1}
            given = {kept}
            given[{missing or []}] = torch.nan
            order = {"None" if exact else "model.component_order(0)"}
            result = list(drawing.completion_score(model, picture, given, order, {y}))
            """,
            shows=[result, whole],
        )
        ui.source(
            observed_first, base.Autoregressive.sample, base.Autoregressive.joints_given,
            references=ROOM.references,
        )  # fmt: skip
