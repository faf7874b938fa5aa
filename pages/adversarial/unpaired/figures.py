"""Both domains side by side, points of the same colour belonging together; and what each turn costs."""

from typing import Any

import torch
from plotly.colors import sample_colorscale

from lab.figures import planar, theme
from lab.figures.basic import array, curves
from lab.figures.moving import marking, per_frame
from pages.adversarial.unpaired.lens import SHIFT, Look, degrees, marked

WHEEL = [[0, "#0072B2"], [0.25, "#E69F00"], [0.5, "#D55E00"], [0.75, "#009E73"], [1, "#0072B2"]]


def plane(result: Look) -> dict[str, Any]:
    """The source domain; beside it the target domain with what is made of every point at each turn.

    A few points are large; of these the partners are rings, each with a line to what is made instead.
    """
    colour = sample_colorscale(WHEEL, array(result.hue).tolist())
    few = marked(result.a)
    a, results, partners = result.a[few], result.translations[:, few], result.a[few] + torch.tensor(SHIFT)
    large = {"size": 17, "color": [colour[i] for i in few], "line": {"width": 2, "color": theme.text()}}
    small, right = {"size": 6, "color": colour}, {"xaxis": "x2"}
    gap = torch.full_like(results, torch.nan)
    missed = torch.stack([partners.expand_as(results), results, gap], 2).flatten(1, 2)
    traces = [
        planar.points(result.a, small, name="source domain"),
        planar.points(a, large, name="marked points"),
        planar.points(partners, large | {"symbol": "circle-open", "size": 20}, name="partners", **right),
        planar.points(per_frame(result.translations), small, name="output g(a)", **right),
        planar.path(
            per_frame(missed), {"color": theme.text(), "width": 2}, name="from partner to output", **right
        ),
        planar.points(per_frame(results), large, name="marked outputs", **right),
    ]
    reach = result.reach()
    axis = {"zeroline": False, "nticks": 5}
    across = {**axis, "constrain": "domain"}
    layout = {
        "showlegend": False, "margin": {"t": 8},
        "xaxis": {**across, "range": [-reach, reach], "domain": [0, 0.49], "title": "source: ● a"},
        "xaxis2": {**across, "range": [SHIFT[0] - reach, SHIFT[0] + reach], "domain": [0.51, 1],
                   "title": "target: ● g(a), ○ partner of a", "scaleanchor": "x"},
        "yaxis": {**axis, "range": [-reach, reach], "scaleanchor": "x"},
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def costs(result: Look) -> dict[str, Any]:
    """The losses over the turn, and a line at that of each frame."""
    lines = {
        "W₁": result.w1,
        "cycle": result.cycle,
        "input–output": result.before,
        "identity": result.identity,
    }
    colours = dict(zip(lines, (theme.HIDDEN, theme.INPUT, theme.OUTPUT, theme.GREEN), strict=True))
    fig = curves(
        lines, degrees(), mark=0, xlabel="rotation φ, degrees", ylabel="mean ℓ₁", colors=colours, ends=True
    )
    fig.update_yaxes(rangemode="tozero", nticks=5)
    return marking(fig.update_xaxes(tickvals=[90, 180, 270]), degrees())
