"""Both domains, points of the same colour belonging together; and what each turn costs."""

import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from lab.figures import theme
from lab.figures.basic import array, curves
from pages.adversarial.unpaired.lens import SHIFT, Look, degrees

REACH = 4.0
WHEEL = [[0, "#0072B2"], [0.25, "#E69F00"], [0.5, "#D55E00"], [0.75, "#009E73"], [1, "#0072B2"]]


def plane(found: Look, at: int) -> go.Figure:
    """Traces: 0 the first domain, 1 the second (the hidden partners), 2 what is made of the first."""
    a, made = array(found.a), array(found.made[at])
    colour = {"color": sample_colorscale(WHEEL, array(found.hue).tolist())}
    fig = go.Figure(
        [
            go.Scatter(x=a[:, 0], y=a[:, 1], mode="markers", name="first domain", hoverinfo="skip",
                       marker={"size": 6, **colour}),
            go.Scatter(x=a[:, 0] + SHIFT[0], y=a[:, 1] + SHIFT[1], mode="markers", name="hidden partners",
                       hoverinfo="skip", marker={"size": 7, "symbol": "circle-open", **colour}),
            go.Scatter(x=made[:, 0], y=made[:, 1], mode="markers", name="there(a)", hoverinfo="skip",
                       marker={"size": 6, "symbol": "diamond", **colour}),
        ]
    )  # fmt: skip
    fig.update_layout(showlegend=False)
    fig.update_xaxes(range=[-REACH, SHIFT[0] + REACH], zeroline=False, constrain="domain", nticks=6)
    fig.update_yaxes(range=[-REACH, REACH], zeroline=False, constrain="domain", scaleanchor="x", nticks=5)
    return fig.update_xaxes(ticklabelposition="outside right")


def costs(found: Look, at: int) -> go.Figure:
    """The losses over the turn; shape 0 is the turn now."""
    lines = {
        "W₁ of the laws": found.law, "cycle": found.cycle, "before and after": found.before,
        "identity": found.identity,
    }  # fmt: skip
    colours = dict(zip(lines, (theme.HIDDEN, theme.INPUT, theme.OUTPUT, theme.GREEN), strict=True))
    fig = curves(lines, degrees(), mark=degrees()[at], xlabel="turn φ, degrees", ylabel="mean ℓ₁",
                 colors=colours)  # fmt: skip
    fig.update_yaxes(rangemode="tozero", nticks=5)
    return fig.update_xaxes(tickvals=[90, 180, 270])
