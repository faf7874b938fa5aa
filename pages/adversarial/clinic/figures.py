"""A game's points among the data, and beside each mode its share of them."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from lab.figures import planar, theme
from lab.figures.basic import array
from lab.figures.moving import per_frame
from pages.adversarial.clinic.lens import Look

MARGIN = 0.9  # of the plane beyond the data
AWAY = 0.5  # of a share from its mode


def plane(data: Tensor, centres: Tensor, looks: Sequence[Look], title: str) -> dict[str, Any]:
    """The data, what is made at each look, and outside each of the modes (K, 2) its share of that."""
    result = per_frame([one.made for one in looks])
    shares = [[f"{share:.0%}" for share in one.shares.tolist()] for one in looks]
    points = [
        planar.points(data, {"size": 6, "color": theme.HIDDEN}, name="data"),
        planar.points(result, {"size": 7, "color": theme.OUTPUT}, name="samples"),
        planar.points(
            outside(centres),
            {},
            mode="text",
            text=per_frame(shares),
            name="share of the samples",
            textfont={"size": theme.FONT_SIZE + 4},
        ),
    ]
    axes = planar.axes(float(abs(array(data)).max()) + MARGIN, visible=False)
    return {"data": points, "layout": axes | {"title": title, "showlegend": False}}


def outside(centres: Tensor) -> Tensor:
    """Places beside modes (K, 2): away from the middle on a ring; above them on a grid."""
    ring = bool((centres.norm(dim=1) > 1).all())
    away = centres / centres.norm(dim=1, keepdim=True) if ring else centres.new_tensor([0.0, 1.0])
    return centres + AWAY * away
