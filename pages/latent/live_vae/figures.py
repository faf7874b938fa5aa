"""The course of a VAE's costs above the map of its codes."""

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.live import course

COSTS = {"−log p": theme.INPUT, "−ELBO": theme.OUTPUT, "KL": theme.ATTENTION}


def costs_and_codes(
    lines: Mapping[str, Any], steps: Any, entropy: float, turned: Any, at: float, last: int, codes: Any,
    classes: Any, names: tuple[str, str], span: tuple[float, float],
) -> tuple[go.Figure, int]:  # fmt: skip
    """The figure, and the number of its first trace of codes; shape 0 of the layout is a line at the frame.

    Args:
        lines: name -> (F,) costs.
        codes: (N, 2); classes (N,).
        names: of the two axes of the map.
        span: of the map's second axis.
    """
    fig = course(lines, steps, {"entropy": entropy}, turned, at, (0.0, entropy + 3.3), last, COSTS)
    first = len(fig.data)
    z, kinds = array(codes), array(classes)
    for kind in sorted(set(kinds.tolist())):
        mine = kinds == kind
        fig.add_trace(
            go.Scatter(
                x=z[mine, 0], y=z[mine, 1], mode="markers", xaxis="x2", yaxis="y2", hoverinfo="skip",
                showlegend=False, name=f"part {kind}",
                marker={"size": 5, "opacity": 0.75, "color": theme.CATEGORIES[kind % len(theme.CATEGORIES)]},
            )
        )  # fmt: skip
    fig.update_layout(
        yaxis={"domain": [0.62, 1]}, xaxis={"anchor": "y", "ticklabelposition": "outside right"},
        xaxis2={"anchor": "y2", "range": [-3.5, 3.5], "title": {"text": names[0]}},
        yaxis2={"anchor": "x2", "domain": [0, 0.4], "range": list(span), "title": {"text": names[1]}},
    )  # fmt: skip
    return fig, first
