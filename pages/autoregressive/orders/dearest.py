"""See why an order can matter at all: the best FVSBN of each order on all bars and stripes."""

from typing import Any

import torch

from lab import ui
from modules.autoregressive import fvsbn
from modules.autoregressive.orders import ranks
from pages.autoregressive.orders import figures, restricted
from pages.autoregressive.orders.room import ROOM


@ui.cached
def optima(side: int, count: int, seed: int) -> torch.Tensor:
    return restricted.least(restricted.pictures(side), restricted.orders(side, count, seed))


@ui.cached
def beside(side: int) -> dict[str, float]:
    return restricted.references(side)


def view(stage: Any) -> None:
    """Orders of 9 or 16 pixels, stepped through by the film."""
    with stage.rail:
        side = ui.choice("Bars and stripes", [3, 4], key="side", format=lambda s: f"{s} × {s}")
        count = ui.slider("Orders", 2, 40, 20, key="orders")
        seed = ui.number("Seed of the orders", 0, 999, 0, key="seed")
    each, drawn = optima(side, count, seed), restricted.orders(side, count, seed)
    floor, worst, many = restricted.entropy(side), int(each.argmax()), len(restricted.pictures(side))
    film = ui.film(count, key="order", label="Order", default=worst, seconds=0.6)
    positions = torch.stack([ranks(order) for order in drawn]).view(-1, side, side)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            strip, frames = figures.strip(each, {f"ln {many}": floor}, film.at)
            ui.figure(
                strip, alt="Least cost of an FVSBN in each order, and the entropy of the pictures",
                share=1.0, film=film, frames=frames, data={"order": range(1, count + 1), "nll": each},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.visits(positions[film.at], "When each pixel comes"), share=1.0, film=film,
                key="visits", frames={"data.0.z": positions}, alt="When each pixel is visited in the order",
                data={"rank": positions[film.at]},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=[
            f"Order {s + 1}{', raster' if s == 0 else ''}: {cost:.4f} nats"
            + (", the dearest." if s == worst else ".")
            for s, cost in enumerate(each.tolist())
        ])  # fmt: skip
    lowest, highest = float(each.min()), float(each.max())
    stage.equation(
        rf"\textstyle\min_A -\frac{{1}}{{{many}}} \sum_x \log p_A(x) = "
        rf"{lowest:.4f} \;\text{{to}}\; {highest:.4f}, \qquad \ln {many} = {floor:.4f}",
        "Each point is a convex optimum, found by Newton's method.",
    )
    with stage.below:
        rows = beside(side)
        ui.table(
            {"model": list(rows), "least −log p, nats": [f"{v:.4f}" for v in rows.values()]},
            alt="Least cost of other models of the same pictures",
        )
        ui.notice(
            "A text blames a fixed order itself, because late variables are unseen by early ones. The chain "
            "rule loses nothing in any order: tables reach the entropy in all of them. What differs is what "
            "a logistic conditional can say, and that depends on which pixels it may read."
        )
        ui.check(
            "Does raster order reach the entropy of the pictures here?",
            ["yes", "no"],
            "yes" if float(each[0]) < floor + 1e-4 else "no",
            f"{float(each[0]):.4f} against {floor:.4f} nats.",
            wrong={
                "yes": "Tables would in any order, but one logistic conditional cannot say all that this "
                "order asks.",
                "no": "An order loses nothing by itself: here logistic conditionals can say what it asks.",
            },
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from pages.autoregressive.orders import restricted

            pictures = restricted.pictures({side})
            result = restricted.least(pictures, restricted.orders({side}, {count}, {seed})).tolist()
            """,
            shows=each.tolist(),
        )
        ui.source(restricted.logistic, restricted.least, fvsbn.FVSBN, references=ROOM.references)
