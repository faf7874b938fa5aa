"""Both domains, points of the same colour belonging together; and what each turn costs."""

from typing import Any

from plotly.colors import sample_colorscale

from lab.figures import planar, theme
from lab.figures.basic import array, curves
from lab.figures.moving import marking, per_frame
from pages.adversarial.unpaired.lens import SHIFT, Look, degrees

REACH = 4.0
WHEEL = [[0, "#0072B2"], [0.25, "#E69F00"], [0.5, "#D55E00"], [0.75, "#009E73"], [1, "#0072B2"]]


def plane(found: Look) -> dict[str, Any]:
    """The first domain, the second (the hidden partners), and what is made of the first at each turn."""
    a, colour = array(found.a), {"color": sample_colorscale(WHEEL, array(found.hue).tolist())}
    domains = [
        planar.points(a, {"size": 6, **colour}, name="source domain"),
        planar.points(a + SHIFT, {"size": 7, "symbol": "circle-open", **colour}, name="hidden partners"),
        planar.points(per_frame(found.made), {"size": 6, "symbol": "diamond", **colour}, name="output g(a)"),
    ]
    axis = {"zeroline": False, "constrain": "domain"}
    x = {"range": [-REACH, SHIFT[0] + REACH], "nticks": 6, "ticklabelposition": "outside right"}
    y = {"range": [-REACH, REACH], "nticks": 5, "scaleanchor": "x"}
    return {"data": domains, "layout": {"showlegend": False, "xaxis": axis | x, "yaxis": axis | y}}


def costs(found: Look) -> dict[str, Any]:
    """The losses over the turn, and a line at that of each frame."""
    lines = {
        "W₁": found.law, "cycle": found.cycle, "input–output": found.before,
        "identity": found.identity,
    }  # fmt: skip
    colours = dict(zip(lines, (theme.HIDDEN, theme.INPUT, theme.OUTPUT, theme.GREEN), strict=True))
    fig = curves(lines, degrees(), mark=0, xlabel="rotation φ, degrees", ylabel="mean ℓ₁", colors=colours,
                 ends=True)  # fmt: skip
    fig.update_yaxes(rangemode="tozero", nticks=5)
    return marking(fig.update_xaxes(tickvals=[90, 180, 270]), degrees())
