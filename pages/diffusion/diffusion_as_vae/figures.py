"""A ladder of pictures, a code as bars, bounds as stacks; the gap over T and the terms as a waterfall."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import sheets, stacks, theme
from lab.figures.basic import array, image
from lab.figures.moving import per_frame, turning
from pages.diffusion.diffusion_as_vae.lens import ENTROPY, Parts
from pages.diffusion.diffusion_as_vae.room import STEPS

LABELS = ("x", "T/5", "2T/5", "3T/5", "4T/5", "T")
COLORS = {"best": theme.OUTPUT, "beta": theme.INPUT, "posterior": theme.ATTENTION}
LOWEST = 1e-6  # nats: less is left out of the picture


def ladder(ladders: Any) -> dict[str, Any]:
    """Rungs (F, R, 8, 8) side by side."""
    z = array(ladders).astype(np.float32)
    gap = np.full((len(z), z.shape[1], 8, 1), np.nan, np.float32)
    rows = np.concatenate([z, gap], 3).transpose(0, 2, 1, 3).reshape(len(z), 8, -1)[:, :, :-1]
    fig = image(rows[0], zmin=0, zmax=1)
    for i, label in enumerate(LABELS):
        fig.add_annotation(x=9 * i + 3.5, y=-0.7, text=label, showarrow=False, yanchor="bottom",
                           font={"size": theme.FONT_SIZE - 2})  # fmt: skip
    fig.update_yaxes(range=[7.5, -2.4])
    return turning(fig.update_layout(margin={"t": 8}), z=rows)


def chains(codes: Any, result: Any, bits: Any) -> dict[str, Any]:
    """Encoder's and decoder's pictures, (F, R, S, S) each, over the bits (F, R − 1) of the steps between."""
    both = np.stack([array(codes), array(result)], 1)
    spent = np.pad(array(bits).astype(float), ((0, 0), (1, 0)))
    fig = sheets.over_bars(both[0], ["encoder →", "← decoder"], LABELS, spent[0], "t", "bits")
    fig.update_layout(yaxis2_range=[0, 1.2 * float(spent.max())])
    return turning(
        turning(fig, z=sheets.sheet(both)), 1, y=spent, text=[sheets.bar_labels(b) for b in spent.tolist()]
    )


def code(mean: Any, deviation: Any) -> go.Figure:
    """q(z | x): means (K,) with a deviation each way."""
    m = array(mean)
    fig = go.Figure(
        go.Bar(x=np.arange(1, len(m) + 1), y=m, hoverinfo="skip", marker={"color": theme.HIDDEN},
               error_y={"array": array(deviation), "thickness": 2, "width": 3, "color": theme.text()})
    )  # fmt: skip
    reach = 1.1 * float((np.abs(m) + array(deviation)).max())
    fig.update_xaxes(tickvals=list(range(len(m) // 5, len(m) + 1, len(m) // 5)))
    fig.update_yaxes(range=[-reach, reach], nticks=5)
    return fig.update_layout(title=f"z: {len(m)} numbers")


def both(results: Sequence[Parts], vae: Parts) -> dict[str, Any]:
    """Bits of the chain, a frame for every T, and of the VAE, as stacks."""

    def rows(values: Sequence[float], other: float) -> np.ndarray:
        return np.stack([np.asarray(values, float), np.full(len(values), other)], 1)

    picture = rows([p.picture for p in results], vae.picture)
    codes = picture + rows([p.codes for p in results], vae.codes)
    last = codes + rows([p.last for p in results], vae.last)
    bars = [
        stacks.Part("picture, given a code", theme.OUTPUT, np.zeros_like(picture), picture),
        stacks.Part("codes, given those above", theme.INPUT, picture, codes),
        stacks.Part("last code, given N(0, I)", theme.ATTENTION, codes, last),
    ]
    reach = (0.0, 1.06 * float(last.max()))
    return stacks.turned(("diffusion", "VAE"), bars, reach=reach, ylabel="bits")


def gaps(result: Mapping[str, Any], chosen: str) -> dict[str, Any]:
    """Bound less entropy over T for each σ², the KL at T dotted, a point on one of them."""
    t = np.asarray(STEPS)
    shown = {name: np.where(array(v) < LOWEST, np.nan, array(v).astype(float)) for name, v in result.items()}
    data: list[dict[str, Any]] = []
    for name, color in COLORS.items():
        look = {"mode": "lines+markers", "line": {"width": 3, "color": color}, "marker": {"size": 8}}
        data.append({"x": t, "y": shown[name], "name": f"σ²: {name}", **look})
    line = {"width": 3, "color": theme.text(), "dash": "dot"}
    data.append({"x": t, "y": shown["KL at T"], "name": "KL at T", "mode": "lines", "line": line})
    point = {"x": per_frame(t[:, None]), "y": per_frame(shown[chosen][:, None]), "mode": "markers"}
    dot = {"size": 18, "color": theme.VERMILLION}
    data.append(point | {"showlegend": False, "hoverinfo": "skip", "marker": dot})
    up = {"range": [-6, 1.2], "tickvals": [1e-4, 1e-2, 1], "ticktext": ["0.0001", "0.01", "1"]}
    axes = {
        "xaxis": {"title": "T", "type": "log", "tickvals": STEPS, "range": [0.9, 2.5]},
        "yaxis": {"title": "bound − entropy, nats", "type": "log"} | up,
    }
    return {"data": data, "layout": axes | {"meta": theme.NAMED_ENDS}}


def waterfall(results: Sequence[Parts]) -> dict[str, Any]:
    """The terms one after the other and their sum, a frame for every T; the entropy."""
    nothing = np.full((len(results), 4), np.nan)

    def column(i: int, start: Any, stop: Any) -> tuple[np.ndarray, np.ndarray]:
        a, b = nothing.copy(), nothing.copy()
        a[:, i], b[:, i] = start, stop
        return a, b

    first = np.array([p.picture for p in results])
    second, third = first + [p.codes for p in results], np.array([p.total for p in results])
    parts = [
        stacks.Part("L₀", theme.OUTPUT, *column(0, 0.0, first), legend=False),
        stacks.Part("steps", theme.INPUT, *column(1, first, second), legend=False),
        stacks.Part("L_T", theme.ATTENTION, *column(2, second, third), legend=False),
        stacks.Part("sum", theme.HIDDEN, *column(3, 0.0, third), legend=False),
    ]
    low, high = min(0.0, float(first.min())), max(float(third.max()), float(first.max()), ENTROPY)
    room = 0.06 * (high - low)
    entropy = stacks.Level("entropy", theme.VERMILLION, [ENTROPY] * len(results), "dot")
    return stacks.turned(("L₀", "steps", "L_T", "sum"), parts, [entropy], reach=(low - room, high + room))
