"""Attention drawn: all heads at once, one head large, one dot product, and what a head is worth."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, bars, click_targets, heatmap, ticks

PANEL = 0.9  # of the unit square that a head's panel fills in the grid


def shade(weights: np.ndarray) -> np.ndarray:
    """Colours go by the root of a weight: one of 0.04 among many is still seen."""
    return np.sqrt(weights)


def head_grid(
    weights: Tensor, selected: tuple[int, int] | None = None, off: Sequence[tuple[int, int]] = ()
) -> go.Figure:
    """All maps, layers down, heads across; a click reports x = head, y = layer, both from 1.

    Args:
        weights: (L, H, T, T).
        selected: (layer, head) from 0, framed. off: heads switched off, crossed out.
    """
    w = array(weights)
    L, H, T, _ = w.shape
    # one sheet of panels with gaps of NaN between them; head h of layer l is centred at (h + 1, l + 1)
    sheet = np.full((L * (T + 1), H * (T + 1)), np.nan)
    for l in range(L):
        for h in range(H):
            sheet[l * (T + 1) : l * (T + 1) + T, h * (T + 1) : h * (T + 1) + T] = shade(w[l, h])

    def places(n: int) -> np.ndarray:
        inside = ((np.arange(T) + 0.5) / T - 0.5) * PANEL
        return np.concatenate([np.append(inside, 0.5) + i + 1 for i in range(n)])

    fig = go.Figure(
        go.Heatmap(
            z=sheet,
            x=places(H),
            y=places(L),
            zmin=0,
            zmax=1,
            colorscale=theme.scale("violet"),
            showscale=False,
            hoverinfo="skip",
        )
    )
    pairs = [(l, h) for l in range(L) for h in range(H)]
    fig.add_trace(
        click_targets(
            [h + 1 for _, h in pairs],
            [l + 1 for l, _ in pairs],
            [[l, h] for l, h in pairs],
            [f"layer {l + 1}, head {h + 1}" for l, h in pairs],
            size=60,
        )
    )
    half = PANEL / 2
    frames = [
        {
            "type": "rect",
            "x0": h + 1 - half,
            "x1": h + 1 + half,
            "y0": l + 1 - half,
            "y1": l + 1 + half,
            "line": {"color": theme.VERMILLION, "width": 4}
            if selected == (l, h)
            else {"color": theme.grid(), "width": 1},
        }
        for l, h in pairs
    ]
    crosses = [
        {"x": h + 1, "y": l + 1, "text": "off", "showarrow": False, "font": {"color": theme.VERMILLION}}
        for l, h in off
    ]
    fig.update_layout(shapes=frames, annotations=crosses)  # at once: one by one is slow
    fig.update_xaxes(
        title="head", tickvals=list(range(1, H + 1)), range=[0.5, H + 0.5], showgrid=False, zeroline=False
    )
    fig.update_yaxes(
        title="layer", tickvals=list(range(1, L + 1)), range=[L + 0.5, 0.5], showgrid=False, zeroline=False
    )
    fig.update_layout(height=max(260, min(560, 90 + 110 * L)), hoverdistance=-1)
    return fig


def head_map(weights: Tensor, tokens: Sequence[str], selected: tuple[int, int] | None = None) -> go.Figure:
    """One head: rows look, columns are looked at; a click reports x = key, y = query.

    Args:
        weights: (T, T). tokens: T texts for both axes.
        selected: (query, key), its row framed.
    """
    w = array(weights)
    T = len(w)
    fig = go.Figure(
        go.Heatmap(
            z=shade(w),
            zmin=0,
            zmax=1,
            colorscale=theme.scale("violet"),
            showscale=False,
            hoverinfo="skip",
            xgap=1 if T <= 40 else 0,
            ygap=1 if T <= 40 else 0,
        )
    )
    rows, columns = w.nonzero()  # what the mask hides cannot be selected
    hover = [
        f"{tokens[i]} → {tokens[j]}: {v:.3f}"
        for i, j, v in zip(rows.tolist(), columns.tolist(), w[rows, columns].tolist(), strict=True)
    ]
    fig.add_trace(click_targets(columns, rows, None, hover, size=max(6, 560 / T)))
    axis = {"showgrid": False, "zeroline": False, **ticks(tokens, T)}
    fig.update_xaxes(title="looked at (key)", range=[-0.5, T - 0.5], **axis)
    fig.update_yaxes(title="looks (query)", range=[T - 0.5, -0.5], **axis)
    if selected is not None:
        i = selected[0]
        fig.add_shape(
            type="rect",
            x0=-0.5,
            x1=T - 0.5,
            y0=i - 0.5,
            y1=i + 0.5,
            line={"color": theme.VERMILLION, "width": 3},
        )
    fig.update_xaxes(side="top", tickangle=0 if max(map(len, tokens)) <= 2 else -60)
    fig.update_layout(height=int(min(820, max(320, 120 + 26 * T))), hoverdistance=-1)
    return fig


def selected_row(weights: Tensor, tokens: Sequence[str], query: int, key: int | None = None) -> go.Figure:
    """The weights of one query over all keys, as bars; one key in full colour.

    Args:
        weights: (T,).
    """
    fig = bars(
        list(tokens),
        weights,
        highlight=key,
        color=theme.ATTENTION,
        ylabel="weight",
        probability=True,
        height=280,
    )
    fig.update_xaxes(title=f"{tokens[query]} (token {query + 1}) looks at")
    return fig


def elementwise(query: Tensor, key: Tensor, names: tuple[str, str]) -> go.Figure:
    """q, k and their product feature by feature; the products sum to q·k.

    Args:
        query, key: (D,). names: the two tokens.
    """
    q, k = array(query), array(key)
    rows = [f"q of {names[0]}", f"k of {names[1]}", "q × k"]
    fig = heatmap(
        np.stack([q, k, q * k]),
        y=rows,
        scale="diverging",
        xlabel="feature of the head",
        colorbar=True,
        height=260,
    )
    return fig


def influence(moved: Tensor, tokens: Sequence[str]) -> go.Figure:
    """Which predictions move when a token is replaced; what lies above the diagonal is a leak.

    Args:
        moved: (T, T) total variations, row = prediction after a position, column = token replaced.
    """
    m = array(moved)
    T = len(m)
    fig = heatmap(
        m,
        x=tokens,
        y=tokens,
        scale="probability",
        xlabel="token replaced",
        ylabel="prediction after",
        colorbar=True,
    )
    steps = np.repeat(np.arange(T + 1) - 0.5, 2)  # a staircase just above the diagonal
    fig.add_trace(
        go.Scatter(
            x=steps[1:],
            y=steps[:-1],
            mode="lines",
            line={"color": theme.VERMILLION, "width": 3},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    fig.update_xaxes(side="top", tickangle=0 if max(map(len, tokens)) <= 2 else -60)
    fig.update_layout(height=int(min(760, max(320, 120 + 24 * T))))
    return fig


def head_values(importance: Tensor) -> go.Figure:
    """One number a head: how far the next-token bars move without it. importance (L, H)."""
    L, H = importance.shape
    return heatmap(
        importance,
        x=list(range(1, H + 1)),
        y=list(range(1, L + 1)),
        scale="violet",
        numbers=".2f",
        xlabel="head",
        ylabel="layer",
        colorbar=False,
        height=max(220, 90 + 50 * L),
    )


def next_bars(names: Sequence[str], now: Tensor, before: Tensor | None = None) -> go.Figure:
    """Probabilities of the next token, beside the baseline's where there is one. (N,) each."""
    fig = bars(
        list(names), now, baseline=before, ylabel="probability", names=("heads off", "all heads"), height=340
    )
    fig.update_xaxes(title="next token", tickangle=0 if max(map(len, names)) <= 2 else -60)
    return fig
