"""One set of weights, many joints: the cost of a picture under each order, their mean, their mixture."""

from typing import Any

import torch

from lab import ui
from lab.lenses import drawing
from lab.ui.models import shelves
from modules.autoregressive import base
from modules.autoregressive.orders import ranks
from pages.autoregressive.orders import figures, lens, shared
from pages.autoregressive.orders.room import ROOM


@ui.cached
def scored(name: str, pictures: torch.Tensor, count: int, seed: int, pool: str) -> lens.Orders:
    return lens.under_many_orders(ui.load(name), pictures, count, seed, pool)


def view(stage: Any) -> None:
    """A pool of orders, stepped through by the film."""
    with stage.rail:
        name, model, side = shared.choose_model()
        pool = ui.choice("Pool of orders", list(lens.POOLS), key="pool")
        count, seed = len(lens.SCANS), 0
        if pool == "random":
            count = ui.slider("Orders", 2, 32, 8, key="s")
            seed = ui.number("Seed of the orders", 0, 999, 0, key="seed")
        which = ui.choice("Pictures", ["mine", "ten digits"], key="which", default="mine")
        sheet = [shelves.plain_digit(side)]
    if which != "mine":
        sheet = [picture for _, picture in drawing.examples(side)]
    x = torch.stack([drawing.bits(picture) for picture in sheet])
    result = scored(name, x, count, seed, pool)
    film = ui.film(count, key="order", label="Order", seconds=0.6)
    positions = torch.stack([ranks(order) for order in result.orders]).view(-1, side, side)
    best = float(result.each.min())
    with stage.picture:
        costs, order = ui.columns([3, 2])
        with costs:
            strip, frames = figures.strip(
                result.each, {"mean": result.mean, "mixture": result.ensemble}, film.at
            )
            ui.figure(
                strip, share=1.0, film=film, frames=frames, key="costs",
                alt="Cost of the pictures under each order, their mean, and the cost under the mixture",
                data={"order": range(1, count + 1), "nll": result.each},
            )  # fmt: skip
        with order:
            ui.figure(
                figures.visits(positions[film.at], "When each pixel comes"), share=1.0, film=film,
                frames={"data.0.z": positions}, key="visits",
                alt="The order itself: when each pixel is visited", data={"rank": positions[film.at]},
            )  # fmt: skip
    names = lens.names(pool, count)
    with stage.foot:
        film.bar(captions=[
            f"Order {s} of {count}, {label}: {cost:.2f} nats" + (", the best." if cost == best else ".")
            for s, (label, cost) in enumerate(zip(names, result.each.tolist(), strict=True), start=1)
        ])  # fmt: skip
    stage.metrics(
        {
            "Best order": f"{best:.2f} nats",
            "Mean of the orders": f"{result.mean:.2f} nats",
            "Mixture of joints": f"{result.ensemble:.2f} nats",
        }
    )
    stage.equation(
        rf"-\log \textstyle\frac{{1}}{{{count}}} \sum_s p_s(x) = {result.ensemble:.2f} \;\le\; "
        rf"\frac{{1}}{{{count}}} \sum_s -\log p_s(x) = {result.mean:.2f}",
    )
    first = float(result.each[0])
    with stage.below:
        ui.notice(
            "The chain rule is exact in any order, but these conditionals are learned: every order is "
            "another joint that shares the weights, and their mean is one too. The mixture never costs more "
            "than the mean order (Jensen)."
            + ("" if model.order_agnostic else " This model has met few orders: in all others it is lost.")
        )
        ui.check(
            "Is the mixture better than its best order here?",
            ["yes", "no"],
            "yes" if result.ensemble < best else "no",
            f"Mixture {result.ensemble:.2f}, best {best:.2f}, first {first:.2f} nats: sure is only the mean.",
            wrong={
                "yes": "Jensen bounds the mixture by the mean of its orders, not by the best of them.",
                "no": "No one order is best for every picture: over several the mixture may beat them all.",
            },
            veils=("picture", "numbers", "equation"),
        )
        rows = ", ".join(shared.literal(bits) for bits in x[:1])
        pictures = f"torch.stack([{rows}])" if which == "mine" else (
            f"torch.stack([drawing.bits(picture) for _, picture in drawing.examples({side})])"
        )  # fmt: skip
        ui.program(
            f"""
            import math, torch
            from lab import weights
            from lab.lenses import drawing
            from pages.autoregressive.orders import lens

            model = weights.load("{name}")
            x = {pictures}
            orders = lens.pool("{pool}", model, {count}, {seed})
            each = torch.stack([model.log_prob(x, order=order) for order in orders])
            mixture = each.logsumexp(0) - math.log(len(each))
            result = [-each.mean().item(), -mixture.mean().item()]
            """,
            shows=[result.mean, result.ensemble],
        )
        ui.source(
            lens.under_many_orders, base.Autoregressive.log_prob, references=ROOM.references
        )  # fmt: skip
