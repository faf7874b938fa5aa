"""The loss of a network as it learns, beside that of counts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import curves

COLORS = {"held out": theme.ORANGE, "batch": theme.fade(theme.ORANGE, 0.4)}


def loss(
    steps: Sequence[int], lines: Mapping[str, Sequence[float]], counts: Mapping[str, float], last: int
) -> tuple[go.Figure, dict[str, Any]]:
    """Curves of the network, name -> (F,), with a level for each of the counts; and the frames as they grow.

    Args:
        last: step at which the training ends.
    """
    levels = {name: ([0, last], [value, value]) for name, value in counts.items()}
    colors = COLORS | {"add-one": theme.HIDDEN, "Kneser-Ney": theme.BLUE}
    fig = curves({**lines, **levels}, list(steps), xlabel="steps", ylabel="nats per token", colors=colors)
    for name in levels:
        fig.update_traces(line_dash="dash", mode="lines", selector={"name": name})
    every = [v for line in lines.values() for v in line] + list(counts.values())
    fig.update_xaxes(range=[-0.02 * last, 1.02 * last], nticks=4)
    fig.update_yaxes(range=[0, 1.08 * max(every)], nticks=5)
    place, frame = np.arange(len(steps)), np.arange(len(steps))[:, None]
    return fig, {
        f"data.{i}.y": np.where(place <= frame, line, np.nan) for i, line in enumerate(lines.values())
    }
