"""Figures of collapse: the KL over training, what is paid and what is saved, strings before and after."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from torch import Tensor

from lab.figures import basic
from pages.latent.collapse.lens import Course


def kl_curves(courses: Mapping[str, Course], at: int) -> go.Figure:
    """KL of every model over the epochs, counted from 1; a line (shape 0) at the present one."""
    lines = {name: (list(range(1, len(c.kl) + 1)), c.kl) for name, c in courses.items()}
    fig = basic.curves(lines, mark=at + 1, xlabel="epoch", ylabel="KL, nats")
    fig.update_yaxes(rangemode="tozero")
    return fig


def paid_and_saved(
    names: Sequence[str], paid: Sequence[float], saved: Sequence[float], chosen: int
) -> go.Figure:
    """KL of each model's code, and what the own code saves against another's."""
    fig = basic.bars(
        names, saved, chosen, baseline=paid, horizontal=True, xlabel="nats",
        names=("saved by the own code", "paid for it, KL"),
    )  # fmt: skip
    return fig


def strings(x: Tensor, title: str) -> go.Figure:
    """Bits (N, D) as rows of ink, as high as there is room."""
    fig = basic.image(x, title=title)
    fig.update_yaxes(scaleanchor=None)
    return fig
