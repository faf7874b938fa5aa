"""Holes filled in: one hole in two orders, and what each half of a digit costs given the other."""

from typing import Any

import torch

from lab import ui
from lab.figures import basic, raster
from lab.lenses import drawing, neighbours
from lab.ui.models import shelves
from modules.autoregressive import base, bayesnet
from modules.autoregressive.orders import observed_first
from pages.autoregressive.orders import figures, lens, shared
from pages.autoregressive.orders.room import ROOM

AGNOSTIC, RASTER, SIDE = "made-digits-orders", "made-digits", 8


def two_orders(stage: Any) -> None:
    """The reader's digit, a region given, the hole visited in two orders."""
    with stage.rail:
        name, model, side = shared.choose_model()
        region = ui.choice("Given", list(drawing.REGIONS), key="given", default="left half", as_list=True)
        inside = ui.choice("Second order in the hole", list(lens.INSIDE), key="inside", default="random",
                           as_list=True)  # fmt: skip
        drawn = shelves.plain_digit(side)
        count = ui.slider("Completions", 1, 16, 9, key="count")
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    given, x = drawing.keep(drawn, region), drawing.bits(drawn)
    known = ~given.isnan()
    scores = []
    with stage.picture:
        for column, kind in zip(ui.columns(2), ("raster", inside), strict=True):
            order = lens.order_of_hole(given, kind, seed)
            scores.append(lens.hole_score(model, x, given, order))
            with column:
                sheet = shared.complete(name, given, order.tolist(), count, seed)
                ui.figure(
                    raster.completions(sheet, known, side, f"Hole in {kind} order"), share=0.58,
                    alt=f"Completions with the hole visited in {kind} order",
                    data={"picture": drawing.bit_strings(sheet)}, key=f"sheet-{len(scores)}",
                )  # fmt: skip
                visits = lens.visits(order, known).view(side, side)
                ui.figure(
                    figures.visits(visits), alt=f"When each pixel of the hole is visited in {kind} order",
                    share=0.42, key=f"visits-{len(scores)}", data={"rank": visits},
                )  # fmt: skip
    one, two = scores
    stage.equation(
        rf"\log p_1(\text{{hole}} \mid \text{{given}}) = {one:.2f}, \qquad "
        rf"\log p_2(\text{{hole}} \mid \text{{given}}) = {two:.2f}",
        "Of your own picture, nats. Both visit what is given first: exact draws, each of its own joint.",
    )
    with stage.below:
        ui.notice(
            "Given pixels come first in both orders and stay as they are. A model of fresh orders fills any "
            "hole in any order; one that knows a single order fills holes at the end of it, and is lost "
            "elsewhere."
        )
        ui.check(
            "Under which order is your own picture the likelier completion?",
            ["raster", "the second"],
            "raster" if one >= two else "the second",
            f"{one:.2f} against {two:.2f} nats.",
            wrong={
                "raster": "Row by row is how one writes: what counts is what the pixels are told that come "
                "early.",
                "the second": "An order at random begins amid the hole, where what is given is far away.",
            },
        )
        ui.program(
            f"""
            import torch
            from lab import weights
            from lab.lenses import drawing
            from modules.autoregressive.orders import observed_first, resolve_order

            model = weights.load("{name}")
            x = {shared.literal(x)}
            hole = drawing.keep(x.view({side}, {side}), "{region}").isnan()
            orders = [resolve_order(kind, model.n, {seed}) for kind in ("raster", "{inside}")]
            each = [model.log_conditionals(x[None], observed_first(~hole, o)).flatten() for o in orders]
            result = [terms[hole].sum().item() for terms in each]
            """,
            shows=scores,
        )
        ui.source(lens.order_of_hole, observed_first, base.Autoregressive.sample, references=ROOM.references)


@ui.cached
def imputed(half: str, seed: int) -> dict[str, torch.Tensor | None]:
    """Nats of the removed half of every test digit, by model."""
    gone, x = lens.removed(half, SIDE, seed), neighbours.digits()[1]
    alone = neighbours.counted(tuple(bayesnet.TEMPLATES["none"]), shared=False)
    return {
        "independent pixels": lens.without_neighbours(alone, x, gone),
        "MADE, raster order": lens.imputation(ui.load(RASTER), x, gone),
        "MADE, fresh orders": lens.imputation(ui.load(AGNOSTIC), x, gone),
    }


def removed_half(stage: Any) -> None:
    """A test digit without a half, and what each half costs on average."""
    tests = neighbours.digits()[1]
    with stage.rail:
        half = ui.choice("Removed", list(lens.HALVES), key="half", default="lower", as_list=True)
        index = ui.slider("Test digit", 0, len(tests) - 1, 0, key="digit-number")
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    gone, truth = lens.removed(half, SIDE, seed), tests[index]
    given = lens.without(truth, gone)
    by_half = {name: imputed(name, seed) for name in lens.HALVES}
    means = {name: lens.summary(result) for name, result in by_half.items()}
    fresh = {name: result["MADE, fresh orders"] or 0.0 for name, result in means.items()}
    alone = {name: result["independent pixels"] or 0.0 for name, result in means.items()}
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            sheet = shared.complete(AGNOSTIC, given, lens.order_of_hole(given, "raster").tolist(), 8, seed)
            ui.figure(
                raster.completions(lens.stacked(truth, sheet), ~gone, SIDE, "A digit, eight completions"),
                alt="A test digit and completions of it by the model of fresh orders", share=1.0,
                data={"picture": drawing.bit_strings(sheet)},
            )  # fmt: skip
        with right:
            names = list(lens.HALVES)
            ui.figure(
                basic.bars(names, list(fresh.values()), baseline=list(alone.values()),
                           names=("fresh orders", "independent"), ylabel="nats"),
                alt="Mean cost of each removed half, by the model of fresh orders and by independent pixels",
                share=1.0, data={"half": names, "fresh orders": list(fresh.values()),
                                 "independent": list(alone.values())},
            )  # fmt: skip
    costs = by_half[half]["MADE, fresh orders"]
    assert costs is not None  # any order can be asked for
    one = float(costs[index])
    stage.equation(
        rf"-\log p(\text{{removed}} \mid \text{{kept}}) = {one:.2f}\;"
        rf"\text{{nats here}}, \quad {fresh[half]:.2f}\;\text{{on average}}",
        f"What is kept saves {alone[half] - fresh[half]:.2f} nats against independent pixels.",
    )
    easiest = min(fresh, key=lambda name: fresh[name])
    with stage.below:
        ui.table(lens.imputation_table(means), alt="Cost of each removed half by each model")
        ui.caption(
            f"−log p(removed | kept), mean over {len(tests)} test digits: nats, and bits per removed pixel. "
            "A model of one order can give it exactly only where what is removed comes last in it."
        )
        ui.notice(
            "Kept pixels come first in the order, so one pass gives the exact conditional of any half, also "
            f"of a random one. The {easiest} half is the cheapest here. The raster model does it for the "
            "lower half alone: it has spent all its weights on that one order."
        )
        ui.check(
            "Which half is cheapest to fill in for the model of fresh orders?",
            list(lens.HALVES),
            easiest,
            "; ".join(f"{name} {fresh[name]:.2f}" for name in lens.HALVES) + " nats.",
            wrong={
                "lower": "The upper strokes tell much, but the far end of the hole has no neighbour that "
                "is given.",
                "upper": "How a digit begins is not settled by how it ends.",
                "left": "The right half leaves open which strokes close on the left.",
                "right": "The left half leaves open where the strokes lead.",
                "random": "Given neighbours help on all sides, but here the missing pixels are those that "
                "matter.",
            },
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from lab import weights
            from lab.lenses import neighbours
            from modules.autoregressive.orders import observed_first
            from pages.autoregressive.orders import lens

            model, x = weights.load("{AGNOSTIC}"), neighbours.digits()[1][{index}]
            gone = lens.removed("{half}", {SIDE}, {seed})
            order = observed_first(~gone, model.component_order(0))
            result = -model.log_conditionals(x[None], order).flatten()[gone].sum().item()
            """,
            shows=one,
        )
        ui.source(lens.imputation, lens.removed, observed_first, references=ROOM.references)
