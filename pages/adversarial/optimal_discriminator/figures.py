"""Two distributions, the discriminator between them, its loss on the way, and the parts of what is left."""

import math
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, bars, curves, rule
from lab.figures.moving import turning, unrolling
from pages.adversarial.optimal_discriminator.lens import FRAMES, Slopes, Story


def densities(story: Story) -> go.Figure:
    """The data's density and the generator's."""
    colors = {"data p": theme.INPUT, "generator q": theme.OUTPUT}
    fig = curves({"data p": story.p, "generator q": story.q}, story.x, ylabel="density", colors=colors)
    fig.update_traces(fill="tozeroy")
    fig.update_xaxes(range=[float(story.x[0]), float(story.x[-1])], ticklabelposition="outside right")
    fig.update_yaxes(nticks=4, rangemode="tozero")
    return fig


def discriminator(story: Story) -> dict[str, Any]:
    """D at each of FRAMES, and D*."""
    best = "D* = p/(p + q)"
    colors = {"D": theme.ATTENTION, best: theme.text()}
    lines = {"D": story.discriminator[-1], best: story.best}
    fig = curves(lines, story.x, xlabel="x", ylabel="P(real)", colors=colors)
    fig.update_traces(line_dash="dash", selector={"name": best})
    fig.update_xaxes(range=[float(story.x[0]), float(story.x[-1])], ticklabelposition="outside right")
    fig.update_yaxes(range=[-0.03, 1.03], nticks=3)
    return turning(fig, y=story.discriminator)


def losses(story: Story) -> dict[str, Any]:
    """L[D] along the training up to each of FRAMES; its least, and 2 log 2, that of D = ½."""
    steps = [step + 1 for step in FRAMES]
    fig = curves(
        {"L[D]": story.values},
        steps,
        mark=steps[0],
        log_x=True,
        markers=True,
        xlabel="training steps + 1",
        ylabel="loss, nats",
        colors={"L[D]": theme.ATTENTION},
    )
    dashed = {"color": theme.HIDDEN, "width": 2, "dash": "dash"}
    for y, text in ((story.least, "L*"), (2 * math.log(2), "2 log 2")):
        rule(fig, y=y, line=dashed)
        place = {"x": 1, "xref": "paper", "y": y, "xanchor": "right", "yanchor": "bottom"}
        fig.add_annotation(text=text, showarrow=False, **place)
    low, high = min(story.least, *story.values), max(2 * math.log(2), *story.values)
    fig.update_yaxes(range=[low - 0.08 * (high - low), high + 0.2 * (high - low)], nticks=4)
    fig.update_xaxes(nticks=4)
    return unrolling(fig)


def parts(story: Story) -> go.Figure:
    """Quality and coverage of the Jensen–Shannon divergence."""
    names, values = ["quality<br>½KL(q‖m)", "coverage<br>½KL(p‖m)"], [story.quality, story.coverage]
    fig = bars(names, values, horizontal=True, color=theme.OUTPUT, xlabel="nats")
    fig.update_xaxes(range=[0, 0.36], nticks=4)
    return fig


def slopes(result: Slopes) -> go.Figure:
    """Gain from changing the weight, and from moving the samples."""
    names = ["weight", "quality", "coverage", "left mean", "right mean"]
    values = array([result.value, result.quality, result.coverage, result.left, result.right])
    fig = bars(names, values, horizontal=True, color=theme.ATTENTION, xlabel="∂ E_q log(1 − D*)")
    fig.update_xaxes(nticks=4)
    return fig
