"""The mixtures that are fitted so far."""

import math
from collections.abc import Sequence
from typing import Any

from lab import ui
from lab.figures import theme
from pages.latent.capacity_wall import figures, lens


def so_far(x: Any, sizes: Sequence[int], result: lens.Fits) -> None:
    """The largest of them on the points, and the climb up to it."""
    left, right = ui.columns([4, 3])
    with left:
        density = result.densities[-1]
        ui.figure(figures.plane(x, density, result.ellipses[-1], float(density.max())),
                  alt=f"The points and the mixture of {result.sizes[-1]}", key="plane",
                  share=1.0)  # fmt: skip
    with right:
        lines = {"new points": (result.held_out, theme.OUTPUT), "fitted points": (result.train, theme.HIDDEN)}
        fig = figures.climb(result.sizes, lines, {}, -1, "components K", "log p, nats per point")
        fig.update_xaxes(range=[0, math.log10(sizes[-1])])
        ui.figure(fig, alt="Mean log-likelihood so far, over: components K", key="climb", share=1.0)
