"""Several models' answers to one question, side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array

COLORS = {"Kneser-Ney": theme.BLUE, "network": theme.ORANGE}  # on every page alike


def answers(words: Sequence[str], models: Mapping[str, Any]) -> go.Figure:
    """P of each word by each model: name -> (N,)."""
    fig, few = go.Figure(), len(words) <= 4
    least, small = (0.005, "0") if few else (0.05, "")  # over many words only the larger numbers have room
    for name, values in models.items():
        p = array(values).astype(float)
        fig.add_bar(
            x=list(words), y=p, name=name, marker={"color": COLORS.get(name, theme.HIDDEN)}, hoverinfo="text",
            hovertext=[f"{name}, {w}: {v:.4f}" for w, v in zip(words, p, strict=True)],
            text=[f"{v:.2f}" if v >= least else small for v in p], textposition="outside", textangle=0,
            constraintext="none", cliponaxis=False,
        )  # fmt: skip
    fig.update_yaxes(range=[0, 1.08], title="probability")
    fig.update_layout(height=400, barmode="group", bargap=0.25, showlegend=True)
    return fig
