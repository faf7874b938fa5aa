"""Two distributions, and below them their divergences along the same axis: q stands above its shift."""

import math
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, curves, rule
from lab.figures.moving import marking, resting, turning
from pages.adversarial.divergences.lens import DRAWN, NAMES, Story
from pages.adversarial.divergences.room import SHIFTS

COLORS = dict(
    zip(NAMES, (theme.VERMILLION, theme.PURPLE, theme.BLUE, theme.ORANGE, theme.GREEN), strict=True)
)
PRINTED, INFINITE = "W₂² as printed", "KL both ways"
SPELLED = {"W1": "W₁", "W2²": "W₂²"}
TOP, INFINITY = 4.0, 4.5  # of what is drawn, and where the axis says ∞


def laws_and_measures(
    story: Story, result: Mapping[str, Tensor], show: str, printed: Tensor | None
) -> dict[str, Any]:
    """The data's p, the generator's q at every shift, and every measure, or its slope, with a dot at that of
    each frame.

    Args:
        result: measures, or slopes, at each of DRAWN. printed: W₂² there, as it is printed.
    """
    values, colors = show == "value", COLORS | {PRINTED: theme.HIDDEN, INFINITE: theme.VERMILLION}
    lines = {name: v.where(v <= TOP, math.nan) for name, v in result.items() if not v.isnan().all()}
    infinite = [name for name, v in result.items() if v.isinf().any()]
    if infinite:
        shown = result[infinite[0]]
        lines = {INFINITE: shown.where(shown == 0, INFINITY)} | {
            name: v for name, v in lines.items() if name not in infinite
        }
    if printed is not None and values:
        lines[PRINTED] = printed.where(printed <= TOP, math.nan)
    ylabel = "nats, or a distance" if values else "derivative with respect to a"
    lines = {SPELLED.get(name, name): line for name, line in lines.items()}
    colors = {SPELLED.get(name, name): color for name, color in colors.items()}
    fig = curves(lines, DRAWN, xlabel="shift a", ylabel=ylabel, mark=SHIFTS[0], colors=colors, ends=True)
    fig.update_traces(line_dash="dash", selector={"name": "reverse KL"})  # lies on KL where the widths agree
    fig.layout.shapes[0].update(yref="paper")  # through both plots
    ticks: dict[float, str] = {0: "0", 1: "1", 2: "2", 3: "3", 4: "4"}
    if values:
        rule(fig, y=math.log(2), line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
        ticks = {0: "0", math.log(2): "log 2", 2: "2", 3: "3", 4: "4"} | ({INFINITY: "∞"} if infinite else {})
    fig.update_xaxes(range=[-1.01 * DRAWN[-1], 1.01 * DRAWN[-1]])
    fig.update_yaxes(
        domain=[0, 0.66],
        range=[-0.1, 4.7 if infinite else 4.1],
        tickvals=list(ticks),
        ticktext=list(ticks.values()),
    )
    for name, y in (("data p", story.p), ("generator q", story.q[0])):
        color = theme.INPUT if y is story.p else theme.OUTPUT
        fig.add_scatter(
            x=array(story.x), y=array(y), yaxis="y2", name=name, mode="lines", hoverinfo="x+y+name",
            line={"color": color, "width": 4}, fill="tozeroy", fillcolor=theme.fade(color, 0.25),
        )  # fmt: skip
    top = float(max(story.p.max(), story.q.max()))
    fig.update_layout(
        yaxis2={"domain": [0.72, 1], "anchor": "x", "title": "density", "range": [0, 1.08 * top], "nticks": 3}
    )
    at = [DRAWN.index(a) for a in SHIFTS]
    dots = [(SHIFTS, array(line)[at], colors[name]) for name, line in lines.items()]
    return resting(turning(marking(fig, SHIFTS), len(lines) + 1, y=story.q), *dots)
