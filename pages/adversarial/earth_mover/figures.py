"""The earth on its way, the plan over the matrix of distances, and the prices."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves, heatmap
from lab.figures.moving import per_frame
from pages.adversarial.earth_mover import lens
from pages.adversarial.earth_mover.lens import Story
from pages.adversarial.earth_mover.room import WAY

TALL = 0.45  # of the highest bar, where the way from p to q is 1
WIDTH = 520  # pixels of the bins, about


def plan(story: Story) -> go.Figure:
    """Costs as colours; a disc for what is carried from a row's bin to a column's, its area the mass."""
    size = len(story.p)
    top = 1.6 * float(story.cost.max())  # pale, so that the discs stand out
    fig = heatmap(story.cost, scale="violet", zmin=0.0, zmax=top, xlabel="to bin of q",
        ylabel="from bin of p",
                  square=True, colorbar=False)  # fmt: skip
    moved = story.plan > lens.LEAST
    i, j = (array(index) for index in moved.nonzero(as_tuple=True))
    mass = array(story.plan[moved].double())
    largest = 170 / size  # pixels of the largest disc
    fig.add_scatter(
        x=j, y=i, mode="markers", name="moved", hoverinfo="text",
        hovertext=[f"{m:.3f} from {a} to {b}" for m, a, b in zip(mass, i, j, strict=True)],
        marker={"size": (mass / mass.max()) ** 0.5 * largest, "color": theme.OUTPUT,
                "line": {"width": 1, "color": theme.text()}},
    )  # fmt: skip
    fig.update_layout(showlegend=False)
    return fig


def moving(story: Story) -> dict[str, Any]:
    """p above, q below; a band for what is carried from bin to bin, and a disc on its way along it."""
    size, flow = len(story.p), lens.flow(story.plan)
    top = float(max(story.p.max(), story.q.max()))
    bins = list(range(size))
    traces: list[dict[str, Any]] = [
        {"type": "bar", "x": bins, "y": array(sign * TALL * mass / top), "base": base, "width": lens.BAR,
         "hovertext": [f"{name}: {m:.3f} in bin {k}" for k, m in enumerate(mass.tolist())],
         "hoverinfo": "text", "marker": {"color": color, "line": {"width": 0}}}
        for name, mass, color, base, sign in (
            ("p", story.p, theme.INPUT, 1, 1), ("q", story.q, theme.GREEN, 0, -1))
    ]  # fmt: skip
    across = WIDTH / size * lens.BAR / top  # pixels of a unit of mass
    far = (flow.start - flow.end).abs()
    for leaves, arrives, mass, steps in zip(flow.leaves, flow.arrives, flow.mass, far, strict=True):
        color, ink = (theme.ATTENTION, 0.35 + 0.6 * float(steps) / size) if steps else (theme.HIDDEN, 0.4)
        traces.append(
            {"type": "scatter", "x": [float(leaves), float(arrives)], "y": [1, 0], "mode": "lines",
             "line": {"width": max(1.5, float(mass) * across), "color": theme.fade(color, ink)},
             "hoverinfo": "skip"}
        )  # fmt: skip
    sizes = ((flow.mass / flow.mass.max()) ** 0.5 * 0.6 * WIDTH / size).tolist()
    discs = {"size": sizes, "color": theme.OUTPUT, "line": {"width": 1, "color": theme.text()}}
    x, y = flow.places(), [[1 - share] * len(flow.mass) for share in WAY]
    traces.append({"type": "scatter", "x": per_frame(x), "y": per_frame(y), "mode": "markers",
                   "hoverinfo": "skip", "marker": discs})  # fmt: skip
    plain = {"showgrid": False, "zeroline": False, "ticks": ""}
    layout = {
        "showlegend": False, "margin": {"t": 8}, "barmode": "overlay",
        "xaxis": {**plain, "range": [-0.6, size - 0.4], "title": "bin", "tickvals": bins[:: -(-size // 12)]},
        "yaxis": {**plain, "range": [-1.05 * TALL, 1 + 1.05 * TALL], "tickvals": [-TALL / 2, 1 + TALL / 2],
                  "ticktext": ["q", "p"]},
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def prices(story: Story) -> go.Figure:
    """f where earth is taken, −h where it is put, and the best f of bounded steps."""
    lines = {
        "f": story.source,
        "−h": -story.target,
        f"steps ≤ {story.bound:g}": story.steps - story.steps.mean(),
    }
    colors = dict(zip(lines, (theme.INPUT, theme.GREEN, theme.HIDDEN), strict=True))
    fig = curves(lines, xlabel="bin", ylabel="price", colors=colors, markers=True, ends=True)
    fig.update_traces(line_dash="dot", selector={"name": f"steps ≤ {story.bound:g}"})
    fig.update_xaxes(range=[-0.6, len(story.p) - 0.4])
    fig.update_yaxes(nticks=4)
    return fig
