"""Two laws, the discriminator between them, its loss on the way, and the parts of what is left."""

import math
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, bars, curves, rule, unrolled
from pages.adversarial.optimal_discriminator.lens import FRAMES, Slopes, Story


def laws(told: Story) -> go.Figure:
    """The data's density and the generator's."""
    fig = curves({"data p": told.p, "generator q": told.q}, told.x, ylabel="density",
                 colors={"data p": theme.INPUT, "generator q": theme.OUTPUT})  # fmt: skip
    fig.update_traces(fill="tozeroy")
    fig.update_xaxes(range=[float(told.x[0]), float(told.x[-1])], ticklabelposition="outside right")
    fig.update_yaxes(nticks=4, rangemode="tozero")
    return fig


def discriminator(told: Story, at: int) -> go.Figure:
    """Trace 0: D now; trace 1: D*."""
    fig = curves({"D": told.discriminator[at], "D* = p/(p + q)": told.best}, told.x, xlabel="x",
                 ylabel="P(real)", colors={"D": theme.ATTENTION, "D* = p/(p + q)": theme.text()})  # fmt: skip
    fig.update_traces(line_dash="dash", selector={"name": "D* = p/(p + q)"})
    fig.update_xaxes(range=[float(told.x[0]), float(told.x[-1])], ticklabelposition="outside right")
    fig.update_yaxes(range=[-0.03, 1.03], nticks=3)
    return fig


def losses(told: Story, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """L[D] along the training up to the present step, shape 0, with its frames; its least, and 2 log 2, that
    of D = ½."""
    steps = [step + 1 for step in FRAMES]
    fig = curves({"L[D]": told.values}, steps, mark=steps[at], log_x=True, markers=True,
                 xlabel="steps + 1", ylabel="nats", colors={"L[D]": theme.ATTENTION})  # fmt: skip
    for y, text in ((told.least, "L*"), (2 * math.log(2), "2 log 2")):
        rule(fig, y=y, line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
        fig.add_annotation(x=1, xref="paper", y=y, text=text, showarrow=False, xanchor="right",
                           yanchor="bottom")  # fmt: skip
    low, high = min(told.least, *told.values), max(2 * math.log(2), *told.values)
    fig.update_yaxes(range=[low - 0.08 * (high - low), high + 0.2 * (high - low)], nticks=4)
    fig.update_xaxes(nticks=4)
    return fig, unrolled(fig, at)


def parts(told: Story) -> go.Figure:
    """Quality and coverage of the Jensen–Shannon divergence."""
    fig = bars(["quality ½KL(q‖m)", "coverage ½KL(p‖m)"], [told.quality, told.coverage], horizontal=True,
               color=theme.OUTPUT, xlabel="nats")  # fmt: skip
    fig.update_xaxes(range=[0, 0.36], nticks=4)
    return fig


def slopes(found: Slopes) -> go.Figure:
    """What changing the weight would gain, and what moving the samples does."""
    names = ["weight: value", "of it quality", "of it coverage", "move left", "move right"]
    values = array([found.value, found.quality, found.coverage, found.left, found.right])
    fig = bars(names, values, horizontal=True, color=theme.ATTENTION, xlabel="slope of E_q log(1 − D*)")
    fig.update_xaxes(nticks=4)
    return fig
