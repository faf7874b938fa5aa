"""A game's points among the data, and the share of each mode."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from lab.figures import planar, theme
from lab.figures.basic import array, bars, rule
from lab.figures.moving import per_frame, turning
from pages.adversarial.clinic.lens import Look

MARGIN = 1.2  # of the plane beyond the data


def plane(data: Tensor, looks: Sequence[Look], title: str) -> dict[str, Any]:
    """The data, and what is made at each look."""
    made = per_frame([one.made for one in looks])
    points = [
        planar.points(data, {"size": 4, "color": theme.HIDDEN}, name="data"),
        planar.points(made, {"size": 5, "color": theme.OUTPUT}, name="made"),
    ]
    axes = planar.axes(float(abs(array(data)).max()) + MARGIN, visible=False)
    return {"data": points, "layout": axes | {"title": title, "showlegend": False}}


def shares(looks: Sequence[Look]) -> dict[str, Any]:
    """Of every mode at each look, beside an even share."""
    count = len(looks[0].shares)
    fig = bars([f"{k + 1}" for k in range(count)], looks[0].shares, xlabel="mode", ylabel="share")
    rule(fig, y=1 / count, line={"color": theme.text(), "width": 2, "dash": "dot"})
    fig.update_yaxes(range=[0, 1], nticks=3)
    said = [[f"{k}: {share:.4g}" for k, share in enumerate(one.shares.tolist(), 1)] for one in looks]
    return turning(fig, y=[one.shares for one in looks], hovertext=said)
