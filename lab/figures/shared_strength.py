"""Several models' answers to one question, side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array

COLORS = {"Kneser-Ney": theme.BLUE, "network": theme.ORANGE}  # on every page alike


def answers(words: Sequence[str], models: Mapping[str, Any], title: str = "") -> go.Figure:
    """P of each word by each model: name -> (N,). Over many words only the last one's numbers have room."""
    fig = go.Figure()
    for name, values in models.items():
        p = array(values).astype(float)
        written = len(p) <= 4 or name == list(models)[-1]
        fig.add_bar(
            x=list(words), y=p, name=name, marker={"color": COLORS.get(name, theme.HIDDEN)}, hoverinfo="text",
            hovertext=[f"{name}, {w}: {v:.4f}" for w, v in zip(words, p, strict=True)],
            text=numbers(p) if written else None, textposition="outside", textangle=0,
            constraintext="none", cliponaxis=False,
        )  # fmt: skip
    fig.update_yaxes(range=[0, 1.16], title="probability")
    fig.update_layout(height=400, barmode="group", bargap=0.25, showlegend=True, title=title)
    return fig


def numbers(p: Any) -> list[str]:
    """Numbers written over the bars (N,): over many words only the larger numbers have room."""
    values = array(p).astype(float)
    least, small = (0.005, "0") if len(values) <= 4 else (0.05, "")
    return [f"{v:.2f}" if v >= least else small for v in values]


def turning(fig: go.Figure, name: str, p: Any) -> dict[str, Any]:
    """The frames in which one of the models of `answers` changes: its P of each word, (F, N)."""
    values = array(p).astype(float)
    (i,) = (i for i, trace in enumerate(fig.data) if trace.name == name)
    texts = zip(*(numbers(row) for row in values), strict=True)
    return {f"data.{i}.y": values} | {f"data.{i}.text.{n}": list(v) for n, v in enumerate(texts)}
