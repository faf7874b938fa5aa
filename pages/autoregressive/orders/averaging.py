"""Mix orders the wrong way: averaged conditionals of two orders are no density."""

from typing import Any

import torch

from lab import ui
from lab.figures import basic
from pages.autoregressive.orders import lens
from pages.autoregressive.orders.room import ROOM

CELLS = {"00": 18, "01": 2, "10": 8, "11": 72}


def view(stage: Any) -> None:
    """A joint of two bits, both of its orders exact."""
    with stage.rail:
        raw = [ui.slider(f"Weight of {cell}", 1, 100, start, key=f"p{cell}") for cell, start in CELLS.items()]
    joint = torch.tensor(raw, dtype=torch.float64) / sum(raw)
    averages = lens.averages(joint)
    totals = averages.totals()
    cells = list(CELLS)
    with stage.picture:
        ui.figure(
            basic.bars(cells, averages.probabilities, baseline=averages.mixture, xlabel="x₁x₂",
                       names=("averaged conditionals", "mixture = the joint")),
            alt="Probability of each cell by the mixture and by averaged conditionals", share=1.0,
            data={"cell": cells, "mixture": averages.mixture,
            "averaged probabilities": averages.probabilities,
                  "averaged logits": averages.logits},
        )  # fmt: skip
    stage.metrics({f"Sum, {label}": f"{total:.7f}" for label, total in totals.items()})
    a, b = (float(v) for v in averages.conditionals[:, 3, 1])
    excess = totals["averaged probabilities"]
    exact = abs(excess - 1) < 1e-9
    stage.equation(
        r"\textstyle\sum_x \prod_i \frac12\big(p_\rightarrow + p_\leftarrow\big)(x_i) = "
        rf"{excess:.4f}" + ("" if exact else r" \ne 1"),
        f"For x = 11, p(x₂=1) is {a:.3f} in the order 1, 2 and {b:.3f} in the order 2, 1: both right.",
    )
    with stage.below:
        ui.notice(
            "Both orders are exact here, so their mixture is the joint itself. Averaging the conditionals "
            "lets each factor borrow what only the other order may know, and belongs to no order. "
            + ("Here the bits are independent, so nothing can be borrowed." if exact else
               'The product is no density, and its "likelihood" means nothing. Published code has done this.')
        )  # fmt: skip
        ui.check(
            "The averaged conditionals sum to …",
            ["below 1", "exactly 1", "above 1"],
            "exactly 1" if exact else "above 1" if excess > 1 else "below 1",
            f"{excess:.6f}; exactly 1 where the bits are independent and both orders say the same.",
            wrong={
                "below 1": "To hedge costs no mass by itself: the sum depends on where the orders disagree.",
                "exactly 1": "A mixture of the two joints sums to 1; averaging factor by factor is another "
                "thing.",
                "above 1": "Averages of factors add no mass by themselves: where the orders agree the sum "
                "is 1.",
            },
            veils=("picture", "numbers", "equation"),
        )
        ui.program(
            f"""
            import torch

            p = torch.tensor({[raw[:2], raw[2:]]}, dtype=torch.float64) / {sum(raw)}  # p[x1, x2]
            one, two = p.sum(1), p.sum(0)
            result = 0.0
            for a in (0, 1):
                for b in (0, 1):
                    first = (one[a] + p[a, b] / two[b]) / 2  # x1 comes first, or knows x2
                    second = (p[a, b] / one[a] + two[b]) / 2
                    result += float(first * second)
            """,
            shows=excess,
        )
        ui.source(lens.averages, references=ROOM.references)
