"""Outputs over tokens, poles beside the unit circle, a past and its memory."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves
from lab.figures.moving import Tree, marking, per_frame, turning
from pages.transformer.state_space.hippo import Memory
from pages.transformer.state_space.lens import FINE, Forms, Steps

COLORS = {"zero-order hold": theme.OUTPUT, "bilinear": theme.GREEN, "Euler": theme.VERMILLION}
SHAPES = {"recurrence": "circle-open", "convolution": "x-thin-open", "FFT": "diamond-open"}
SIZES = {"recurrence": 18, "convolution": 11, "FFT": 26}
TINTS = {"recurrence": theme.OUTPUT, "convolution": theme.text, "FFT": theme.ATTENTION}


def outputs(found: Forms) -> Tree:
    """Input, and the output by its three forms; a line at the token of the frame."""
    tokens = np.arange(1, len(found.x) + 1)
    fig = curves({"input x": (tokens, found.x), "output y": (tokens, found.by_recurrence)},
                 mark=1, colors={"input x": theme.INPUT, "output y": theme.OUTPUT}, xlabel="token t",
                 ylabel="input and outputs")  # fmt: skip
    fig.data[0].line.shape = "hvh"
    lines = {
        "recurrence": found.by_recurrence,
        "convolution": found.by_convolution,
        "FFT": found.by_fft,
    }
    for name, values in lines.items():
        color = theme.text() if name == "convolution" else TINTS[name]
        fig.add_scatter(
            x=tokens, y=array(values), name=name, mode="markers",
            marker={"symbol": SHAPES[name], "size": SIZES[name], "color": color, "line": {"width": 3}},
        )  # fmt: skip
    fig.update_xaxes(dtick=1 if len(tokens) <= 8 else 2, range=[0.5, len(tokens) + 0.5])
    fig.update_layout(showlegend=True)
    return marking(fig, tokens)


def response(found: Forms) -> Tree:
    """Impulse response, turned round so that it lies over the tokens that it weighs at each frame."""
    T = len(found.x)
    tokens, values = np.arange(1, T + 1), array(found.response)
    rows = np.full((T, T), np.nan)
    for t in range(T):
        rows[t, : t + 1] = values[: t + 1][::-1]
    fig = go.Figure(go.Bar(x=tokens, y=rows[0], marker={"color": theme.HIDDEN}, hoverinfo="x+y"))
    low, high = min(0, values.min()), max(0, values.max())
    room = 0.08 * ((high - low) or 1)
    fig.update_layout(height=400, xaxis={"title": "token s", "range": [0.4, T + 0.6], "nticks": 8},
                      yaxis={"title": "weight of token s: response at t − s",
                             "range": [low - room, high + room]})  # fmt: skip
    return turning(fig, y=rows)


def held(found: Steps) -> Tree:
    """Exact output over time, and the outputs of the methods at the ends of their steps."""
    T = found.outputs["Euler"].shape[1]
    fine = np.arange(1, T * FINE + 1) / FINE
    exact = array(found.exact)
    fig = curves({"exact": (fine, exact[0])}, colors={"exact": theme.text()}, xlabel="time in steps of Δ",
                 ylabel="output y")  # fmt: skip
    tree: Tree = turning(fig, y=exact)
    data, steps = list(tree["data"]), np.arange(1, T + 1)
    low, high = exact.min(1) - 1.5, exact.max(1) + 1.5
    for name, values in found.outputs.items():
        kept = array(values)
        kept = np.where((kept >= low[:, None]) & (kept <= high[:, None]), kept, np.nan)
        data.append(
            {"type": "scatter", "x": steps, "y": per_frame(kept), "name": name, "mode": "markers",
             "marker": {"size": 14, "color": COLORS[name], "line": {"width": 2, "color": theme.text()}}}
        )  # fmt: skip
    ranges = per_frame([[float(a), float(b)] for a, b in zip(low, high, strict=True)])
    layout: dict[str, Any] = dict(tree["layout"]) | {"showlegend": True}
    layout["yaxis"] = dict(layout["yaxis"]) | {"range": ranges}
    layout["xaxis"] = dict(layout["xaxis"]) | {"range": [0, T + 0.5]}
    return {"data": data, "layout": layout}


def poles(found: Steps) -> Tree:
    """Eigenvalues of Ā of each method in the complex plane, beside the unit circle."""
    turn = np.exp(2j * np.pi * np.linspace(0, 1, 73))
    fig = curves({"|λ| = 1": (turn.real, turn.imag)}, colors={"|λ| = 1": theme.HIDDEN}, xlabel="real part",
                 ylabel="imaginary part")  # fmt: skip
    data = list(fig.to_plotly_json()["data"])
    for name, values in found.poles.items():
        z = array(values)
        data.append(
            {"type": "scatter", "x": per_frame(z.real), "y": per_frame(z.imag), "name": name,
             "mode": "markers", "hoverinfo": "skip",
             "marker": {"size": 15, "color": COLORS[name], "line": {"width": 2, "color": theme.text()}}}
        )  # fmt: skip
    reach = max(2.2, 1.1 * max(float(v.abs().max()) for v in found.poles.values()))
    for axis in (fig.update_xaxes, fig.update_yaxes):
        axis(range=[-reach, reach], nticks=5, zeroline=True, constrain="domain")
    fig.update_yaxes(scaleanchor="x")
    fig.update_layout(showlegend=True)
    return {"data": data, "layout": fig.to_plotly_json()["layout"]}


def past(found: Memory) -> Tree:
    """The signal, and the past as the coefficients hold it; a line at the present."""
    parts = np.arange(1, len(found.x) + 1)
    memory = array(found.memory)
    low, high = float(found.x.min()), float(found.x.max())
    room = 0.25 * ((high - low) or 2.0)
    memory = np.where((memory > low - room) & (memory < high + room), memory, np.nan)
    fig = curves({"signal": (parts, found.x), "memory": (parts, memory[0])}, mark=1, ends=True,
                 colors={"signal": theme.INPUT, "memory": theme.OUTPUT}, xlabel="time",
                 ylabel="value")  # fmt: skip
    fig.update_yaxes(range=[low - room, high + room])
    fig.update_xaxes(range=[0, len(parts) + 1])
    return turning(marking(fig, parts), 1, y=memory)


def coefficients(found: Memory) -> Tree:
    """Coefficients of Legendre's polynomials at each frame."""
    values = array(found.coefficients)
    N, most = values.shape[1], 1.1 * max(np.abs(values).max(), 1e-6)
    fig = go.Figure(go.Bar(x=np.arange(N), y=values[0], marker={"color": theme.HIDDEN}))
    fig.update_layout(height=400, xaxis={"title": "degree n", "nticks": 8},
                      yaxis={"title": "coefficient c<sub>n</sub>", "range": [-most, most]})  # fmt: skip
    return turning(fig, y=values)
