"""Orders and ensembles: one set of weights, many joints; how to mix them, and how not to."""

from lab import ui
from pages.autoregressive.orders import averaging, dearest, ensemble, holes
from pages.autoregressive.orders.room import ROOM

VIEWS = {
    "Ensemble": ensemble.view,
    "Averaging": averaging.view,
    "Two orders": holes.two_orders,
    "Removed half": holes.removed_half,
    "Restricted class": dearest.view,
}

stage = ui.stage(ROOM)
averaged = {"show": "Averaging"}
stage.scenes(
    {
        "Fresh": ui.scene("Each order is a density of its own; the mixture costs less than their mean."),
        "Alien": ui.scene("A model of one order: all orders but its own are far worse.",
                          model="made-digits", order=1),
        "Scans": ui.scene("Rows and columns from every corner, a snake, a spiral: step through them.",
                          pool="scans", order=9),
        "32 orders": ui.scene("More orders: the mixture still costs less than the mean order.", s=32),
        "Averaged": ui.scene("Conditionals of two orders, averaged, sum to 1.1331: no density.", **averaged),
        "Independent": ui.scene("Independent bits: both orders say the same, and the sum is 1.",
                                **averaged, p00=36, p01=24, p10=24, p11=16),
        "Hole": ui.scene("One hole, two orders: each draws exactly from its own joint.", show="Two orders"),
        "Half": ui.scene("Half of a digit removed: kept pixels come first, so any half can be asked for.",
                         show="Removed half", half="right"),
        "Dearest": ui.scene("Logistic conditionals: what they can say depends on the order.",
                            show="Restricted class"),
    }
)  # fmt: skip
with stage.rail:
    view = ui.choice("Show", list(VIEWS), key="show", as_list=True)
VIEWS[view](stage)
