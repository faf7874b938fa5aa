"""Gates of all channels over the tokens, the state at a token, and states by two ways to hold the input."""

import numpy as np

from lab.figures import theme
from lab.figures.basic import array, curves, heatmap
from lab.figures.moving import Tree, heatmaps, marking, per_frame
from pages.transformer.selective_scan.lens import Held, Watched

TALL = 430


def gates(found: Watched, channel: int) -> Tree:
    """σ(z) of each channel (rows) at each token; a frame around the token, another around the channel."""
    T, D = found.gate.shape
    fig = heatmap(
        found.gate.T, found.names, [str(c + 1) for c in range(D)], "gate σ(z) of each channel", zmin=0,
        zmax=1, colorbar=False, ylabel="channel", height=TALL,
    )  # fmt: skip
    fig.update_layout(
        xaxis={"tickangle": 0, "title": "token"},
        yaxis={"tickmode": "array", "tickvals": [0, 7, 15, 23, 31], "ticktext": ["1", "8", "16", "24", "32"]},
        shapes=[
            {"type": "rect", "x0": -0.5, "x1": 0.5, "y0": -0.5, "y1": D - 0.5,
             "line": {"color": theme.VERMILLION, "width": 3}},
            {"type": "rect", "x0": -0.5, "x1": T - 0.5, "y0": channel - 1.5, "y1": channel - 0.5,
             "line": {"color": theme.OUTPUT, "width": 3}},
        ],
    )  # fmt: skip
    tree = fig.to_plotly_json()
    tree["layout"]["shapes"][0] |= {
        "x0": per_frame([t - 0.5 for t in range(T)]),
        "x1": per_frame([t + 0.5 for t in range(T)]),
    }
    return tree


def states(found: Watched, channel: int) -> Tree:
    """The N states of the channel over the tokens so far."""
    h = array(found.states)[:, channel - 1]  # (T, N)
    T, N = h.shape
    reach = float(np.abs(h).max()) or 1.0
    frames = np.where(np.tri(T, dtype=bool)[:, None], h.T[None], np.nan)  # (F, N, T)
    return heatmaps(
        frames, found.names, [str(n + 1) for n in range(N)], f"states of channel {channel}",
        scale="diverging", zmin=-reach, zmax=reach, colorbar=False, xlabel="token", ylabel="state n",
        height=TALL,
    )  # fmt: skip


def held(found: Held) -> Tree:
    """Input and states over the steps; a line at the step of the frame."""
    steps = np.arange(1, len(found.x) + 1)
    lines = {"input x": found.x, "shortcut ΔB": found.euler, "zero-order hold": found.zoh}
    colors = {"input x": theme.INPUT, "shortcut ΔB": theme.VERMILLION, "zero-order hold": theme.OUTPUT}
    fig = curves({name: (steps, values) for name, values in lines.items()}, mark=1, colors=colors,
                 markers=True, xlabel="step t", ylabel="input and state h", height=TALL)  # fmt: skip
    fig.update_xaxes(dtick=1, range=[0.5, len(steps) + 0.5])
    fig.update_layout(showlegend=True)
    return marking(fig, steps)


def gate_of_z(found: Held) -> Tree:
    """Gate and step size over the steps."""
    steps = np.arange(1, len(found.x) + 1)
    fig = curves({"gate σ(z)": (steps, found.gate), "step Δ": (steps, found.delta)}, mark=1, markers=True,
                 colors={"gate σ(z)": theme.ATTENTION, "step Δ": theme.HIDDEN}, xlabel="step t",
                 ylabel="gate and step size", height=TALL)  # fmt: skip
    fig.update_xaxes(dtick=1, range=[0.5, len(steps) + 0.5])
    fig.update_layout(showlegend=True)
    return marking(fig, steps)
