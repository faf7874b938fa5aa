"""Gradients of a frozen generator over the steps of D, and how far D has the two apart."""

from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array, curves
from lab.figures.moving import per_frame, unrolling
from pages.adversarial.vanishing.lens import BINS, LOSSES, REACH, Look

COLORS = dict(zip(LOSSES, (theme.OUTPUT, theme.INPUT, theme.GREEN), strict=True))


def norms(looks: list[Look]) -> dict[str, Any]:
    """‖∇_θ L‖ of the three losses up to each look, on a logarithmic axis."""
    lines = {name: [one.norms[name] for one in looks] for name in LOSSES}
    steps = [one.steps for one in looks]
    fig = curves(lines, steps, mark=steps[0], xlabel="steps of D with G frozen",
                 ylabel="norm of G's gradient", colors=COLORS, log_y=True, ends=True)  # fmt: skip
    fig.update_yaxes(dtick=1, exponentformat="power")
    fig.update_xaxes(nticks=5)
    return unrolling(fig)


def logits(looks: list[Look]) -> dict[str, Any]:
    """Histograms of f on digits and on what G makes, at each look."""
    edges = np.linspace(-REACH, REACH, BINS + 1)
    real, fake = (array([getattr(one, name) for one in looks]) for name in ("real", "fake"))
    bars = [
        {"type": "bar", "x": (edges[1:] + edges[:-1]) / 2, "y": per_frame(shares), "name": name,
         "width": 2 * REACH / BINS, "hoverinfo": "skip",
         "marker": {"color": theme.fade(color, 0.6), "line": {"width": 0}}}
        for name, shares, color in (("digits", real, theme.INPUT), ("samples", fake, theme.OUTPUT))
    ]  # fmt: skip
    x = {"title": "f, the logit of D", "range": [-REACH, REACH], "tickvals": [-10, 0, 10]}
    y = {"title": "share", "range": [0, 1.05 * max(real.max(), fake.max())], "nticks": 4}
    return {"data": bars, "layout": {"barmode": "overlay", "showlegend": True, "xaxis": x, "yaxis": y}}
