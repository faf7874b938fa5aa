"""Gradients of a frozen generator over the steps of D, and how far D has the two apart."""

from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array, curves
from lab.figures.moving import per_frame, unrolling
from pages.adversarial.vanishing.lens import BINS, LOSSES, REACH, Look

COLORS = dict(zip(LOSSES, (theme.VERMILLION, theme.ATTENTION, theme.GREEN), strict=True))
ASIDE, HIGH = 8.0, 0.9  # logits and shares beyond which a name no longer follows what it names


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
    """Histograms of f on digits and on what G makes at each look, and what the gradient through D at a sample
    of this f is multiplied by: D = σ(f) of the saturating loss, 1 − D of the other."""
    edges = np.linspace(-REACH, REACH, BINS + 1)
    places = (edges[1:] + edges[:-1]) / 2
    kinds = [
        (name, array([getattr(one, part) for one in looks]), color, side)
        for name, part, color, side in (
            ("digits", "real", theme.INPUT, 1),
            ("samples", "fake", theme.OUTPUT, -1),
        )
    ]
    f = np.linspace(-REACH, REACH, 101)
    factors = curves({"D": 1 / (1 + np.exp(-f)), "1 − D": 1 / (1 + np.exp(f))}, f, ends=True,
                     colors={"D": COLORS["saturating"], "1 − D": COLORS["non-saturating"]},
                     xlabel="f, the logit of D", ylabel="share of digits, of samples; factor")  # fmt: skip
    factors.update_xaxes(range=[-REACH, REACH], tickvals=[-10, 0, 10])
    factors.update_yaxes(range=[0, 1.06], tickvals=[0, 0.5, 1])
    factors.update_layout(barmode="overlay")
    tree = factors.to_plotly_json()
    bars = [
        {"type": "bar", "x": places, "y": per_frame(shares), "name": name, "showlegend": False,
         "width": 2 * REACH / BINS, "hoverinfo": "skip",
         "marker": {"color": theme.fade(color, 0.6), "line": {"width": 0}}}
        for name, shares, color, _ in kinds
    ]  # fmt: skip
    names = [
        {"type": "scatter", "mode": "text", "text": [name], "showlegend": False, "hoverinfo": "skip",
         "x": per_frame(np.clip(shares @ places, -ASIDE, ASIDE)[:, None]),
         "y": per_frame(shares.max(1)[:, None].clip(max=HIGH)),
         "textposition": "top right" if side > 0 else "top left",
         "textfont": {"color": color, "size": theme.FONT_SIZE}}
        for name, shares, color, side in kinds
    ]  # fmt: skip
    return tree | {"data": [*bars, *tree["data"], *names]}
