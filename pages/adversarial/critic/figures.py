"""A critic over the plane, how steep it is, and its value beside W₁."""

from typing import Any

from lab.figures import planar, theme
from lab.figures.basic import array, curves
from lab.figures.moving import per_frame, unrolling
from pages.adversarial.critic.lens import REACH, Look

STEEP = 2.0  # of ‖∇f‖, where the colours end


def critic(
    looks: list[Look], z: Any, real: Any, title: str, top: float, scale: theme.Scale, **bar: Any
) -> dict[str, Any]:
    """f or ‖∇f‖ at each look, z (F, SIDE, SIDE), real points and made ones."""
    low = -top if scale == "diverging" else 0.0
    bar |= {"thickness": 12, "outlinewidth": 0, "len": 0.9, "title": {"text": title}, "nticks": 5,
            "exponentformat": "power"}  # fmt: skip
    look = {"zmin": low, "zmax": top, "zsmooth": "fast", "colorbar": bar, "colorscale": theme.scale(scale)}
    ground = planar.field(per_frame(z), REACH, edges=True, **look)
    dot = {"size": 5, "line": {"width": 0.5, "color": theme.paper()}}
    result = per_frame([one.samples for one in looks])
    clouds = [
        planar.points(real, dot | {"color": theme.GREEN}, name="data"),
        planar.points(result, dot | {"color": theme.OUTPUT}, name="samples"),
    ]
    return {"data": [ground, *clouds], "layout": planar.axes(REACH, tickvals=[-2, 0, 2])}


def surface(looks: list[Look], real: Any) -> dict[str, Any]:
    """f, brought to mean 0, by the largest of all looks."""
    f = array([one.f for one in looks])
    return critic(looks, f, real, "f", float(abs(f).max()), "diverging")


def slopes(looks: list[Look], real: Any) -> dict[str, Any]:
    """‖∇f‖; what is steeper than STEEP has the last colour."""
    z = array([one.slopes for one in looks])
    return critic(looks, z, real, "‖∇f‖", STEEP, "probability", tickvals=[0, 0.5, 1, 1.5])


def values(looks: list[Look]) -> dict[str, Any]:
    """The critic's value and W₁ up to each look."""
    lines = {"value": [one.value for one in looks], "W₁": [one.w1 for one in looks]}
    steps, colors = [one.steps for one in looks], {"value": theme.INPUT, "W₁": theme.OUTPUT}
    fig = curves(lines, steps, mark=steps[0], xlabel="training steps", colors=colors)
    fig.update_yaxes(rangemode="tozero", nticks=4)
    fig.update_xaxes(nticks=4, ticklabelposition="outside right")
    return unrolling(fig)
