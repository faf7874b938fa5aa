"""The implied posterior; the bounds by K; signal over noise by K."""

import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array
from pages.latent.iwae.lens import SIZES, Story

PALE = 0.3


def densities(story: Story, at: int) -> go.Figure:
    """Traces: 0 the posterior, 1 q, 2 what K draws stand for."""
    fig = go.Figure()
    for name, y, color, width, fill in (
        ("posterior", story.posterior, theme.INPUT, 3, theme.fade(theme.INPUT, 0.25)),
        ("q", story.q, theme.HIDDEN, 3, None),
        ("implied by K draws", story.implied[at], theme.OUTPUT, 5, None),
    ):
        fig.add_trace(
            go.Scatter(
                x=array(story.z), y=array(y), name=name, mode="lines", line={"color": color, "width": width},
                fill="tozeroy" if fill else None, fillcolor=fill,
                hovertemplate="%{x:.2f}: %{y:.3f}<extra>" + name + "</extra>",
            )
        )  # fmt: skip
    top = max(float(story.posterior.max()), min(float(story.q.max()), 2 * float(story.posterior.max())))
    fig.update_xaxes(title="z", range=[float(story.z[0]), float(story.z[-1])])
    return fig.update_yaxes(title="density", range=[0, 1.12 * top], nticks=5)


def opacities(at: int) -> list[float]:
    """The bar of the present K in full."""
    return [1.0 if i == at else PALE for i in range(len(SIZES))]


def gaps(story: Story, at: int) -> go.Figure:
    """log p(x) − L_K by K."""
    fig = basic.bars([str(k) for k in SIZES], story.gaps.clamp(min=0), xlabel="draws K", ylabel="nats",
                     title="log p(x) − L_K", color=theme.VERMILLION)  # fmt: skip
    fig.update_traces(marker_opacity=opacities(at))
    return fig.update_yaxes(range=[0, 1.1 * max(0.01, float(story.gaps.max()))], nticks=6)


def signal(story: Story, at: int) -> go.Figure:
    """Signal over noise of the encoder's gradient; shape 0 is the line at the present K."""
    first = float(story.plain[0])
    lines = {
        "plain": story.plain,
        "doubly": story.doubly,
        "1/√K": [first / k**0.5 for k in SIZES],
    }
    fig = basic.curves(
        lines, SIZES, mark=SIZES[at], markers=True, log_x=True, log_y=True, xlabel="draws K",
        ylabel="signal / noise",
        colors={"plain": theme.VERMILLION, "doubly": theme.GREEN, "1/√K": theme.HIDDEN},
    )  # fmt: skip
    fig.update_xaxes(tickvals=[1, 10, 100])
    return fig.update_yaxes(dtick=1)
