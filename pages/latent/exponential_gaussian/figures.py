"""The bound as a map over θ and φ, and as a curve under the evidence."""

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, click_targets, rule
from pages.latent.exponential_gaussian.lens import VALUES, Surface


def surface(result: Surface, formula: str, theta: float, phi: float) -> go.Figure:
    """L over θ and φ with its summit; shape 0 is the line at θ, the last trace the ring at (θ, φ)."""
    z = array(result.of(formula)).T
    high = float(z.max())
    fig = go.Figure(
        go.Contour(
            x=VALUES,
            y=VALUES,
            z=z.clip(high - 4),
            colorscale=theme.scale("probability"),
            showscale=False,
            contours={"start": high - 4, "end": high, "size": 0.25},
            line={"width": 0.6, "color": theme.soft()},
            hovertemplate="θ = %{x}, φ = %{y}: %{z:.3f}<extra></extra>",
        )
    )
    if formula == "printed":
        fig.add_trace(
            go.Contour(
                x=VALUES,
                y=VALUES,
                z=array(result.broken).T.astype(float),
                showscale=False,
                hoverinfo="skip",
                contours={"coloring": "lines", "start": 0.5, "end": 0.5, "size": 1},
                colorscale=[[0, theme.VERMILLION], [1, theme.VERMILLION]],
                line={"width": 4},
            )
        )
    places = [(t, p) for t in VALUES[1::2] for p in VALUES[1::2]]
    fig.add_trace(click_targets([t for t, _ in places], [p for _, p in places], size=22))
    peak = result.peak(formula)
    if peak is not None and peak <= VALUES[-1]:
        fig.add_trace(
            go.Scatter(
                x=[peak],
                y=[peak],
                mode="markers",
                hoverinfo="skip",
                name="summit",
                marker={
                    "symbol": "star",
                    "size": 22,
                    "color": theme.OUTPUT,
                    "line": {"width": 2, "color": theme.text()},
                },
            )
        )
    fig.add_trace(
        go.Scatter(
            x=[theta],
            y=[phi],
            mode="markers",
            hoverinfo="skip",
            name="now",
            marker={"symbol": "circle-open", "size": 20, "color": theme.VERMILLION, "line": {"width": 4}},
        )
    )
    rule(fig, x=theta, line={"color": theme.VERMILLION, "width": 3, "dash": "dot"})
    fig.update_xaxes(title="θ", range=[VALUES[0], VALUES[-1]], constrain="domain")
    fig.update_yaxes(title="φ", range=[VALUES[0], VALUES[-1]])
    return fig.update_layout(
        showlegend=False,
        hoverdistance=-1,
        title="L, printed; red: above log p(x)" if formula == "printed" else "L(θ, φ)",
    )


def curves(result: Surface, at: int, phi: float) -> go.Figure:
    """At one θ, over φ. Traces: 0 the bound, 1 as printed, 2 log p(x); shape 0 is the line at φ."""
    fig = go.Figure()
    for name, y, color, dash in (
        ("L", result.bound[at], theme.INPUT, "solid"),
        ("L, printed", result.printed[at], theme.VERMILLION, "dash"),
        ("log p(x)", [float(result.evidence[at])] * len(VALUES), theme.text(), "solid"),
    ):
        fig.add_trace(
            go.Scatter(
                x=VALUES,
                y=array(y),
                mode="lines",
                name=name,
                line={"color": color, "width": 5, "dash": dash},
                hovertemplate="φ = %{x}: %{y:.3f}<extra>" + name + "</extra>",
            )
        )
    rule(fig, x=phi, line={"color": theme.HIDDEN, "width": 2, "dash": "dot"})
    low, high = float(result.evidence.min()), float(max(result.printed.max(), result.evidence.max()))
    fig.update_xaxes(title="φ", range=[VALUES[0], VALUES[-1]])
    fig.update_yaxes(title="nats", range=[low - 1.5, high + 0.3], nticks=7)
    return fig
