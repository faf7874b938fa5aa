"""The plan over the matrix of distances, the heap on its way, and the prices."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves, heatmap
from lab.figures.moving import turning
from pages.adversarial.earth_mover.lens import PARTS, Story


def plan(told: Story) -> go.Figure:
    """Costs as colours; a disc for what is carried from a row's bin to a column's, its area the mass."""
    size = len(told.p)
    top = 1.6 * float(told.cost.max())  # pale, so that the discs stand out
    fig = heatmap(told.cost, scale="violet", zmin=0.0, zmax=top, xlabel="to bin", ylabel="from bin",
                  square=True, colorbar=False)  # fmt: skip
    moved = told.plan > 1e-9
    i, j = (array(index) for index in moved.nonzero(as_tuple=True))
    mass = array(told.plan[moved].double())
    largest = 300 / size  # pixels of the largest disc
    fig.add_scatter(
        x=j, y=i, mode="markers", name="moved", hoverinfo="text",
        hovertext=[f"{m:.3f} from {a} to {b}" for m, a, b in zip(mass, i, j, strict=True)],
        marker={"size": (mass / mass.max()) ** 0.5 * largest, "color": theme.OUTPUT,
                "line": {"width": 1, "color": theme.text()}},
    )  # fmt: skip
    fig.update_layout(showlegend=False)
    return fig


def heap(told: Story) -> dict[str, Any]:
    """The earth on its way; outlined behind and ahead of it p and q."""
    bins = list(range(len(told.p)))
    places = [m / PARTS for m in range(told.heap.shape[1])]
    earth = {"color": theme.OUTPUT}
    fig = go.Figure(go.Bar(x=places, width=2 / PARTS, name="mass", hoverinfo="x+y", marker=earth))
    for name, y, color in (("p", told.p, theme.INPUT), ("q", told.q, theme.GREEN)):
        outline = {"color": "rgba(0,0,0,0)", "line": {"color": color, "width": 3}}
        fig.add_bar(x=bins, y=array(y), width=0.9, name=name, hoverinfo="x+y+name", marker=outline)
    top = float(max(told.p.max(), told.q.max(), told.heap.max()))
    fig.update_layout(barmode="overlay")
    fig.update_xaxes(title="bin", range=[-0.6, len(bins) - 0.4])
    fig.update_yaxes(title="mass", range=[0, 1.08 * top], nticks=4)
    return turning(fig, y=told.heap)


def prices(told: Story) -> go.Figure:
    """f where earth is taken, −h where it is put, and the best f of bounded steps."""
    lines = {"f": told.source, "−h": -told.target, f"steps ≤ {told.bound:g}": told.steps - told.steps.mean()}
    colors = dict(zip(lines, (theme.INPUT, theme.GREEN, theme.HIDDEN), strict=True))
    fig = curves(lines, xlabel="bin", ylabel="price", colors=colors, markers=True)
    fig.update_traces(line_dash="dot", selector={"name": f"steps ≤ {told.bound:g}"})
    fig.update_xaxes(range=[-0.6, len(told.p) - 0.4])
    fig.update_yaxes(nticks=4)
    return fig
