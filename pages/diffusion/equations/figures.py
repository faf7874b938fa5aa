"""A cloud among the means of its data, curves of three equations over t, the shares that came home; a digit's
kernel, term by term."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import planar, sheets, theme
from lab.figures.basic import array, rule
from lab.figures.moving import per_frame, turning
from lab.figures.trails import walking


def plane(cloud: Any, means: Any, shown: int, reach: float) -> dict[str, Any]:
    """Points (F, N, 2), the paths of the first `shown`, and means (F, K, 2)."""
    line = {"color": theme.INPUT, "width": 3}
    cross = {"size": 14, "color": theme.INPUT, "symbol": "cross-thin", "line": line}
    inner = float(f"{2 * reach / 3:.1g}")  # ticks within the corners
    return {
        "data": [*walking(cloud, shown), planar.points(per_frame(means), cross)],
        "layout": planar.axes(reach, tickvals=[-inner, 0, inner]) | {"showlegend": False},
    }


def over_time(
    lines: Mapping[str, Any], t: Any, chosen: str, times: Sequence[float], ylabel: str, log: bool = False
) -> dict[str, Any]:
    """A curve an equation, the chosen one last and in colour; a line stands at each of `times`."""
    data = []
    for kind in sorted(lines, key=lambda kind: kind == chosen):
        color = theme.OUTPUT if kind == chosen else theme.HIDDEN
        line = {"width": 3, "color": color, "dash": {"VP": "solid", "sub-VP": "dot", "VE": "dash"}[kind]}
        data.append({"x": array(t), "y": array(lines[kind]), "name": kind, "mode": "lines", "line": line})
    fig = go.Figure(data)
    rule(fig, x=times[0], line={"color": theme.VERMILLION, "width": 2})
    fig.update_xaxes(title="t", range=[0, 1.02], tickvals=[0, 0.5, 1])
    fig.update_yaxes(title=ylabel, nticks=5)
    if log:
        fig.update_yaxes(type="log", dtick=1)
    fig.update_layout(meta=theme.NAMED_ENDS)
    tree = fig.to_plotly_json()
    tree["layout"]["shapes"][0] |= {"x0": per_frame(times), "x1": per_frame(times)}
    return tree


def arrived(shares: Mapping[str, float], chosen: str, truth: float) -> go.Figure:
    """Shares at the end by equation, and the data's own as a line."""
    colors = [theme.OUTPUT if kind == chosen else theme.HIDDEN for kind in shares]
    fig = go.Figure(
        go.Bar(x=list(shares), y=list(shares.values()), marker={"color": colors}, hoverinfo="skip",
               text=[f"{s:.3f}" for s in shares.values()], textposition="inside")
    )  # fmt: skip
    rule(fig, y=truth, line={"color": theme.INPUT, "width": 3, "dash": "dash"})
    return fig.update_yaxes(range=[0, 1.05], title="share near a mode", tickvals=[0, 0.5, 1])


def terms(pictures: Any, names: Sequence[Sequence[str]], reach: float) -> dict[str, Any]:
    """Two sums of pictures, (F, 2, 3, S, S), one a row, with the names of their parts above them."""
    each = array(pictures).reshape(len(pictures), 6, *pictures.shape[-2:])
    still = sheets.labelled(each[0], names[0], 3, "diverging", zmin=-reach, zmax=reach)
    tree = turning(still, z=sheets.frames(each, 3, sheets.label_gap(each.shape[-1])))
    for i, note in enumerate(tree["layout"]["annotations"]):
        note["text"] = per_frame([texts[i] for texts in names])
    return tree
