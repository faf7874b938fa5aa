"""A critic over the plane, how steep it is, and its value beside W₁."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import planar, theme
from lab.figures.basic import array, curves, unrolled
from pages.adversarial.critic.lens import REACH, Look

STEEP = 2.0  # of ‖∇f‖, where the colours end


def critic(
    z: Any,
    real: Any,
    made: Any,
    title: str,
    top: float,
    diverging: bool,
    ticks: Sequence[float] | None = None,
) -> go.Figure:
    """Trace 0: f or ‖∇f‖; 1: real points; 2: made ones."""
    low, scale = (-top, "diverging") if diverging else (0.0, "probability")
    bar = {"thickness": 12, "outlinewidth": 0, "len": 0.9, "title": {"text": title}, "nticks": 5,
           "tickvals": ticks, "exponentformat": "power"}  # fmt: skip
    ground = planar.field(
        array(z), REACH, edges=True, zmin=low, zmax=top, zsmooth="fast", colorbar=bar,
        colorscale=theme.scale(scale),  # type: ignore[arg-type]
    )  # fmt: skip
    clouds = [
        planar.points(cloud, {"size": 5, "color": color, "line": {"width": 0.5, "color": theme.paper()}},
                     name=name)
        for cloud, name, color in ((real, "real", theme.GREEN), (made, "made", theme.OUTPUT))
    ]  # fmt: skip
    return go.Figure([ground, *clouds], planar.axes(REACH, tickvals=[-2, 0, 2]))


def surface(looks: list[Look], real: Any, at: int) -> go.Figure:
    """f, brought to mean 0, by the largest of all looks."""
    top = max(float(one.f.abs().max()) for one in looks)
    return critic(looks[at].f, real, looks[at].made, "f", top, True)


def slopes(looks: list[Look], real: Any, at: int) -> go.Figure:
    """‖∇f‖; what is steeper than STEEP has the last colour."""
    return critic(looks[at].slopes, real, looks[at].made, "‖∇f‖", STEEP, False, [0, 0.5, 1, 1.5])


def moves(looks: list[Look], what: str) -> dict[str, np.ndarray]:
    """What turns in `surface` ("f") or `slopes`."""
    made = np.stack([array(one.made) for one in looks])
    z = np.stack([array(getattr(one, what)) for one in looks])
    return {"data.0.z": z, "data.2.x": made[..., 0], "data.2.y": made[..., 1]}


def values(looks: list[Look], at: int) -> tuple[go.Figure, dict[str, Any]]:
    """The critic's value and W₁ up to the look, shape 0; with its frames."""
    lines = {"value": [one.value for one in looks], "W₁": [one.w1 for one in looks]}
    fig = curves(lines, [one.steps for one in looks], mark=looks[at].steps, xlabel="steps of the critic",
                 colors={"value": theme.INPUT, "W₁": theme.OUTPUT})  # fmt: skip
    fig.update_yaxes(rangemode="tozero", nticks=4)
    fig.update_xaxes(nticks=4, ticklabelposition="outside right")
    return fig, unrolled(fig, at)
