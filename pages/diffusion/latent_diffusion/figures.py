"""Clouds of codes, and what the judges say with its standard errors."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, planar, sheets, theme
from lab.figures.basic import array
from lab.figures.moving import per_frame, turning
from pages.diffusion.latent_diffusion.lens import MEASURES, Table

COLORS = [theme.OUTPUT, theme.INPUT, theme.GREEN, theme.ATTENTION]


def clouds(data: Any, prior: Any, trajectory: Any, i: int, j: int, reach: float) -> dict[str, Any]:
    """Codes (N, K) of digits and of N(0, I), and of diffusion (F, N, K): dimensions i and j."""
    parts = {
        "N(0, I)": (prior[:, [i, j]], theme.INPUT),
        "digits": (data[:, [i, j]], theme.HIDDEN),
        "diffusion": (per_frame(trajectory[..., [i, j]]), theme.OUTPUT),
    }
    looks = {name: {"size": 6, "color": color, "opacity": 0.65} for name, (_, color) in parts.items()}
    names = f"code, dimension {i + 1}", f"dimension {j + 1}"
    axes = planar.axes(reach, names, tickvals=[-2, 0, 2], zeroline=None)
    return {"data": [planar.points(p, looks[n], name=n) for n, (p, _) in parts.items()], "layout": axes}


def judged(table: Table, names: Sequence[str], xlabel: str, ylabel: str) -> go.Figure:
    """Some of MEASURES by a knob's value, bars of a standard error each way."""
    v, columns = [float(x) for x in table.values], [MEASURES.index(name) for name in names]
    m, e = array(table.mean)[:, columns], array(table.error)[:, columns]
    fig = go.Figure()
    for k, name in enumerate(names):
        fig.add_scatter(
            x=v, y=m[:, k], name=name, mode="lines+markers", marker={"size": 8},
            line={"width": 3, "color": COLORS[k]}, error_y={"array": e[:, k], "thickness": 2, "width": 4},
        )  # fmt: skip
    fig.update_xaxes(title=xlabel, tickvals=v, ticktext=[f"{x:g}" for x in v])
    top = 1.15 * float((m + e).max()) if m.size else 1.0
    fig.update_yaxes(title=ylabel, range=[0, top], nticks=5)
    fig.update_layout(showlegend=len(names) > 1, meta=theme.NAMED_ENDS if len(names) > 1 else None)
    return fig


def digits(pictures: Any, title: str) -> dict[str, Any]:
    """Digits (F, 12, 8, 8) in rows of three."""
    z = sheets.frames(pictures, 3, between=0)
    return turning(basic.image(z[0], title=title, zmin=0, zmax=1), z=z)
