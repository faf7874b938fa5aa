"""Attention drawn below its maps: one dot product, and what a head is worth."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, bars, heatmap
from lab.figures.moving import Tree, per_frame, turning


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


def weighted_values(terms: Tensor, sums: Tensor, labels: Sequence[Sequence[str]], feature: str) -> Tree:
    """Weighted values α_ij v_j, a row each, feature by feature, and below them the sum over all tokens, for
    each token i.

    Args:
        terms: (T, K, D). sums: (T, D). labels: names of the K rows, for each token. feature: what D counts.
    """
    values = np.concatenate([array(terms), array(sums)[:, None]], axis=1)  # (T, K + 1, D)
    fig = heatmap(
        values[0], y=[*labels[0], "sum"], scale="diverging", xlabel=feature, hover=False,
        colorbar=False,
    )  # fmt: skip
    most = float(abs(values).max()) or 1.0
    fig.update_traces(zmin=-most, zmax=most, hoverinfo=None, hovertemplate="%{z:.3f}<extra></extra>")
    tree = turning(fig, z=values)
    tree["layout"]["yaxis"] |= {"ticktext": per_frame([[*rows, "sum"] for rows in labels])}
    return tree


def added(norms: Tensor, parts: Sequence[str], own: Mapping[str, int]) -> Tree:
    """The length of what each part adds to the residual stream at each token, those of one block in full.

    Args:
        norms: (T, P). own: places of that block's parts, by the sublayer's name.
    """
    inks = [theme.HIDDEN if part.startswith(("MLP", "experts")) else theme.ATTENTION for part in parts]
    inks[0] = theme.INPUT
    fig = bars(parts, norms[0], horizontal=True, xlabel="norm of what is added")
    colors = [ink if i in own.values() else theme.fade(ink, 0.35) for i, ink in enumerate(inks)]
    fig.update_traces(marker={"color": colors}, hovertext=None, hovertemplate="%{x:.3f}<extra></extra>")
    fig.update_xaxes(range=[0, 1.05 * float(norms.max())])
    return turning(fig, x=norms)


def router(w: Tensor, p: Tensor) -> Tree:
    """Weights of the chosen experts at each token beside the probabilities of all: (T, E) each."""
    experts = [f"expert {e + 1}" for e in range(w.shape[1])]
    fig = bars(
        experts, w[0], baseline=p[0], names=("weight of the chosen", "probability of all"), horizontal=True,
        probability=True,
    )  # fmt: skip
    fig.update_traces(hovertext=None, hoverinfo=None, hovertemplate="%{y}: %{x:.3f}<extra></extra>")
    return turning(turning(fig, 0, x=p), 1, x=w)  # what is compared with is drawn first
