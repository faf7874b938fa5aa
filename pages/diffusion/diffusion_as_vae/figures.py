"""A ladder of pictures, a code as bars, bounds as stacks; the gap over T and the terms as a waterfall."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import stacks, theme
from lab.figures.basic import array, image
from pages.diffusion.diffusion_as_vae.lens import ENTROPY, STEPS, Parts

LABELS = ("x", "T/5", "2T/5", "3T/5", "4T/5", "T")
COLORS = {"best": theme.OUTPUT, "beta": theme.INPUT, "posterior": theme.ATTENTION}
LOWEST = 1e-6  # nats: less is left out of the picture


def ladder(ladders: Any, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """Rungs (F, R, 8, 8) side by side; and what moves."""
    z = array(ladders).astype(np.float32)
    gap = np.full((len(z), z.shape[1], 8, 1), np.nan, np.float32)
    rows = np.concatenate([z, gap], 3).transpose(0, 2, 1, 3).reshape(len(z), 8, -1)[:, :, :-1]
    fig = image(rows[at], zmin=0, zmax=1)
    for i, label in enumerate(LABELS):
        fig.add_annotation(x=9 * i + 3.5, y=-0.7, text=label, showarrow=False, yanchor="bottom",
                           font={"size": theme.FONT_SIZE - 2})  # fmt: skip
    fig.update_yaxes(range=[7.5, -2.4])
    return fig.update_layout(margin={"t": 8}), {"data.0.z": rows}


def code(mean: Any, deviation: Any) -> go.Figure:
    """q(z | x): means (K,) with a deviation each way."""
    m = array(mean)
    fig = go.Figure(
        go.Bar(x=np.arange(1, len(m) + 1), y=m, hoverinfo="skip", marker={"color": theme.HIDDEN},
               error_y={"array": array(deviation), "thickness": 2, "width": 3, "color": theme.text()})
    )  # fmt: skip
    reach = 1.1 * float((np.abs(m) + array(deviation)).max())
    fig.update_xaxes(tickvals=list(range(2, len(m) + 1, 2)))
    fig.update_yaxes(range=[-reach, reach], nticks=5)
    return fig.update_layout(title="z of the VAE, ten numbers")


def both(found: Sequence[Parts], vae: Parts) -> tuple[list[stacks.Part], tuple[float, float]]:
    """Bits of the chain, a frame for every T, and of the VAE, as stacks; and the axis' ends."""

    def rows(values: Sequence[float], other: float) -> np.ndarray:
        return np.stack([np.asarray(values, float), np.full(len(values), other)], 1)

    picture = rows([p.picture for p in found], vae.picture)
    codes = picture + rows([p.codes for p in found], vae.codes)
    last = codes + rows([p.last for p in found], vae.last)
    bars = [
        stacks.Part("picture, given a code", theme.OUTPUT, np.zeros_like(picture), picture),
        stacks.Part("codes, given those above", theme.INPUT, picture, codes),
        stacks.Part("last code, given N(0, I)", theme.ATTENTION, codes, last),
    ]
    return bars, (0.0, 1.06 * float(last.max()))


def gaps(found: Mapping[str, Any], chosen: str, at: int) -> tuple[go.Figure, dict[str, Any]]:
    """Bound less entropy over T for each σ², the KL at T dotted, a point on one of them; and what moves."""
    t = np.asarray(STEPS)
    shown = {name: np.where(array(v) < LOWEST, np.nan, array(v).astype(float)) for name, v in found.items()}
    fig = go.Figure()
    for name, color in COLORS.items():
        fig.add_scatter(x=t, y=shown[name], name=f"σ²: {name}", mode="lines+markers",
                        line={"width": 3, "color": color}, marker={"size": 8})  # fmt: skip
    fig.add_scatter(x=t, y=shown["KL at T"], name="KL(q(x_T) ‖ N(0, 1))", mode="lines",
                    line={"width": 3, "color": theme.text(), "dash": "dot"})  # fmt: skip
    point = shown[chosen]
    fig.add_scatter(x=t[at : at + 1], y=point[at : at + 1], mode="markers", showlegend=False,
                    hoverinfo="skip", marker={"size": 18, "color": theme.VERMILLION})  # fmt: skip
    fig.update_xaxes(title="T", type="log", tickvals=STEPS, range=[0.9, 2.5])
    fig.update_yaxes(title="bound − entropy, nats", type="log", range=[-6, 1.2], tickvals=[1e-4, 1e-2, 1],
                     ticktext=["0.0001", "0.01", "1"])  # fmt: skip
    return fig, {f"data.{len(fig.data) - 1}.x": t[:, None], f"data.{len(fig.data) - 1}.y": point[:, None]}


def waterfall(found: Sequence[Parts]) -> tuple[list[stacks.Part], list[stacks.Level], tuple[float, float]]:
    """The terms one after the other and their sum, a frame for every T; the entropy; the axis' ends."""
    nothing = np.full((len(found), 4), np.nan)

    def column(i: int, start: Any, stop: Any) -> tuple[np.ndarray, np.ndarray]:
        a, b = nothing.copy(), nothing.copy()
        a[:, i], b[:, i] = start, stop
        return a, b

    first = np.array([p.picture for p in found])
    second, third = first + [p.codes for p in found], np.array([p.total for p in found])
    parts = [
        stacks.Part("L₀", theme.OUTPUT, *column(0, 0.0, first), legend=False),
        stacks.Part("steps", theme.INPUT, *column(1, first, second), legend=False),
        stacks.Part("L_T", theme.ATTENTION, *column(2, second, third), legend=False),
        stacks.Part("sum", theme.HIDDEN, *column(3, 0.0, third), legend=False),
    ]
    low, high = min(0.0, float(first.min())), max(float(third.max()), float(first.max()), ENTROPY)
    room = 0.06 * (high - low)
    return parts, [stacks.Level("entropy", theme.VERMILLION, [ENTROPY] * len(found), "dot")], (
        low - room, high + room
    )  # fmt: skip
