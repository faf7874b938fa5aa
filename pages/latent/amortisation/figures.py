"""The two gaps of every datum, and the mean bound over the steps."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from lab.figures import stacks, theme
from lab.figures.basic import array, curves
from pages.latent.amortisation.lens import Story


def parts(story: Story) -> list[stacks.Part]:
    """Approximation below, amortisation above, for every count of steps."""
    amortisation = array(story.amortisation)
    family = np.broadcast_to(array(story.approximation), amortisation.shape)
    return [
        stacks.Part("approximation gap", theme.HIDDEN, np.zeros_like(family), family, numbers=False),
        stacks.Part("amortisation gap", theme.OUTPUT, family, family + amortisation, numbers=False),
    ]


def gaps(story: Story, at: int, names: Sequence[str] | None = None) -> go.Figure:
    """Every datum's two gaps; data without names are counted."""
    top = float((story.approximation + story.amortisation[0]).max())
    names = names or [str(i + 1) for i in range(len(story.x))]
    fig = stacks.stacks(names, parts(story), at=at, reach=(0.0, 1.08 * max(0.05, top)))
    return fig.update_xaxes(title="datum")


def climb(story: Story, at: int) -> go.Figure:
    """The mean bound over the steps of local inference; shape 0 is the line at this count."""
    fig = curves({"ELBO": story.bounds.mean(1)}, range(len(story.inner)), mark=at,
                 markers=True, xlabel="steps on each datum",
                 ylabel="nats, mean", colors={"ELBO": theme.INPUT})  # fmt: skip
    for name, values, color in (
        ("best diagonal q", story.best, theme.HIDDEN),
        ("log p", story.log_p, theme.text()),
    ):
        value = float(values.mean())
        fig.add_scatter(x=[0, len(story.inner) - 1], y=[value, value], mode="lines", name=name,
                        hoverinfo="skip", line={"color": color, "width": 3, "dash": "dash"})  # fmt: skip
    counts = [str(n) for n in story.inner]
    fig.update_xaxes(tickvals=list(range(len(counts))), ticktext=counts)
    return fig.update_layout(showlegend=True)
