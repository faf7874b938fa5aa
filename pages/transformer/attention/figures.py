"""Attention drawn below its maps: one dot product, and what a head is worth."""

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from lab.figures.basic import array, heatmap


def elementwise(query: Tensor, key: Tensor, names: tuple[str, str]) -> go.Figure:
    """q, k and their product feature by feature; the products sum to q·k.

    Args:
        query, key: (D,). names: the two tokens.
    """
    q, k = array(query), array(key)
    rows = [f"q of {names[0]}", f"k of {names[1]}", "q × k"]
    return heatmap(
        np.stack([q, k, q * k]), y=rows, scale="diverging", xlabel="feature of the head", height=260
    )


def head_values(importance: Tensor) -> go.Figure:
    """One number a head: how far the next-token bars move without it. importance (L, H)."""
    L, H = importance.shape
    return heatmap(
        importance, x=list(range(1, H + 1)), y=list(range(1, L + 1)), scale="violet", numbers=".2f",
        xlabel="head", ylabel="layer", colorbar=False,
    )  # fmt: skip
