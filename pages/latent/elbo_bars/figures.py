"""A posterior and its Gaussian; the five forms of the bound as bars."""

from typing import Any

import plotly.graph_objects as go

from lab.figures import stacks, theme
from lab.figures.basic import array
from pages.latent.elbo_bars.lens import Bound

COLUMNS = ("A", "B", "C", "D", "E", "gap")
LABELS = ("A<br>E log<br>p/q", "B<br>log p(x)<br>− KL<br>post.", "C<br>E log<br>p(x|z)<br>− KL<br>prior",
          "D<br>E log<br>p(x,z)<br>+ H(q)", "E<br>−KL(q‖<br>joint)", "gap<br>KL<br>post.")  # fmt: skip


def densities(bound: Bound, at: int) -> go.Figure:
    """Prior, exact posterior and q over z; trace 2 is q."""
    z, top = array(bound.z), float(bound.posterior.max())
    fig = go.Figure()
    for name, y, color, width, dash, fill in (
        ("prior", bound.prior, theme.HIDDEN, 2, "dot", None),
        ("posterior", bound.posterior, theme.INPUT, 3, "solid", theme.fade(theme.INPUT, 0.25)),
        ("q", bound.q[at], theme.OUTPUT, 5, "solid", None),
    ):
        fig.add_trace(
            go.Scatter(
                x=z, y=array(y), name=name, mode="lines", line={"color": color, "width": width, "dash": dash},
                fill="tozeroy" if fill else None, fillcolor=fill,
                hovertemplate="%{x:.2f}: %{y:.3f}<extra>" + name + "</extra>",
            )
        )  # fmt: skip
    fig.update_xaxes(title="z", range=[float(z[0]), float(z[-1])], ticklabelposition="outside right")
    fig.update_layout(margin_b=80)
    fig.update_yaxes(title="density", range=[0, max(1.15 * top, min(1.05 * float(bound.q.max()), 1.6 * top))],
                     nticks=5)  # fmt: skip
    return fig


def parts(bound: Bound, beta: float) -> tuple[list[stacks.Part], list[stacks.Level]]:
    """Parts of the five columns and of the gap, a frame for every q, and the two levels."""
    frames = len(bound.gap)

    def column(**values: Any) -> Any:
        """(F, 6): these columns, nothing in the others."""
        out = array(bound.gap)[:, None].repeat(len(COLUMNS), 1) * float("nan")
        for name, value in values.items():
            out[:, COLUMNS.index(name)] = array(value) if hasattr(value, "shape") else value
        return out

    elbo = bound.elbo
    weighed = bound.reconstruction - beta * bound.rate
    named = (  # colour, where a bar begins and ends
        ("whole", theme.SKY, column(A=0.0, E=0.0), column(A=elbo, E=bound.forms["E"])),
        ("log p(x)", theme.GREEN, column(B=0.0), column(B=bound.log_p)),
        ("E log p(x|z)", theme.OUTPUT, column(C=0.0), column(C=bound.reconstruction)),
        ("E log p(x,z)", theme.HIDDEN, column(D=0.0), column(D=bound.energy)),
        ("− β KL to the prior", theme.ATTENTION, column(C=bound.reconstruction), column(C=weighed)),
        ("+ entropy", theme.YELLOW, column(D=bound.energy), column(D=bound.energy + bound.entropy)),
        ("− KL to the posterior", theme.VERMILLION, column(B=bound.log_p, gap=bound.log_p),
         column(B=elbo, gap=elbo)),
    )  # fmt: skip
    return [stacks.Part(*part, legend=False) for part in named], [
        stacks.Level("log p(x)", theme.text(), [bound.log_p] * frames),
        stacks.Level("ELBO", theme.VERMILLION, elbo, "dot"),
    ]


def bars(bound: Bound, beta: float, at: int, reach: tuple[float, float]) -> go.Figure:
    """The columns at one frame; their labels name the parts from above."""
    return stacks.stacks(LABELS, *parts(bound, beta), at=at, reach=reach, label_size=14)
