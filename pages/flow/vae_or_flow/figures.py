"""Two pictures side by side, and the course of a density."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import sheets as drawn
from lab.figures import theme
from lab.figures.basic import array, curves, images


def pair(vae: Any, flow: Any, top: float, now: int) -> tuple[go.Figure, dict[str, Any]]:
    """Both models' picture at this step; film over the steps (S, H, W)."""
    v, f = array(vae), array(flow)
    fig = images(np.stack([v[now], f[now]]), 2, labels=["VAE", "flow"], zmin=0, zmax=top)
    return fig.update_layout(height=None), {"data.0.z": drawn.frames(np.stack([v, f], 1), 2)}


def sheets(vae: Any, flow: Any, top: float, columns: int) -> tuple[go.Figure, go.Figure]:
    """Samples of each."""
    results = [images(p, columns, title=name, zmin=0, zmax=top).update_layout(height=None)
            for p, name in ((array(vae), "VAE"), (array(flow), "flow"))]  # fmt: skip
    return results[0], results[1]


def course(vae: Any, flow: Any, t: Any, now: float) -> go.Figure:
    """log p of both ways by the flow; shape 0 marks the step."""
    return curves(
        {"the VAE's way": array(vae), "the flow's way": array(flow)}, t, mark=now, xlabel="t",
        ylabel="log p by the flow, nats", markers=True,
        colors={"the VAE's way": theme.INPUT, "the flow's way": theme.OUTPUT},
    ).update_layout(height=None)  # fmt: skip
