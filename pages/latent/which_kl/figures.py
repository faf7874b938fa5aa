"""A target with its two nearest Gaussians, and what they cost along the film."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves, rule
from pages.latent.which_kl.lens import Story

SEEKS, COVERS = "argmin KL(q‖p)", "argmin KL(p‖q)"


def densities(story: Story, at: int) -> go.Figure:
    """Traces: 0 the target, 1 the Gaussian that seeks, 2 the one that covers."""
    z = array(story.z)
    fig = go.Figure()
    for name, y, color in (
        ("target p", story.target, theme.INPUT),
        (SEEKS, story.density(story.seeking), theme.OUTPUT),
        (COVERS, story.density(story.covering), theme.GREEN),
    ):
        target = name == "target p"
        fig.add_trace(
            go.Scatter(
                x=z,
                y=array(y[at]),
                name=name,
                mode="lines",
                line={"color": color, "width": 3 if target else 5},
                fill="tozeroy" if target else None,
                fillcolor=theme.fade(theme.INPUT, 0.25) if target else None,
                hovertemplate="%{x:.2f}: %{y:.3f}<extra>" + name + "</extra>",
            )
        )
    top = max(float(story.target[at].max()), float(story.density(story.seeking).max()))
    fig.update_xaxes(title="z", range=[float(z[0]), float(z[-1])], ticklabelposition="outside right")
    fig.update_yaxes(title="density", range=[0, 1.08 * top], nticks=5)
    return fig


def costs(story: Story, places: Sequence[float], at: int, xlabel: str) -> go.Figure:
    """Cost of each Gaussian in KL(q‖p) along the film; shape 0 is the line at the present frame."""
    lines = {
        SEEKS: [f.reverse for f in story.seeking],
        COVERS: [f.reverse for f in story.covering],
    }
    fig = curves(
        lines,
        places,
        mark=places[at],
        xlabel=xlabel,
        ylabel="KL(q‖p), nats",
        colors={SEEKS: theme.OUTPUT, COVERS: theme.GREEN},
        markers=True,
    )
    rule(fig, y=math.log(2), line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
    fig.add_annotation(
        x=0.02, xref="paper", y=math.log(2), text="ln 2", showarrow=False, yanchor="bottom", xanchor="left"
    )
    fig.update_yaxes(rangemode="tozero", range=[0, 1.15 * max(math.log(2), *lines[SEEKS], *lines[COVERS])])
    return fig
