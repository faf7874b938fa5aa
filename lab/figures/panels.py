"""Two panels, one above the other, over one abscissa: steps of training, or of a sequence."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme

UPPER, LOWER = [0.56, 1.0], [0.0, 0.42]  # of the height: two panels, the title of each above it


def panels(titles: tuple[str, str], xlabel: str) -> go.Figure:
    """An empty figure of two panels, one above the other, over the same abscissa."""
    fig = go.Figure()
    for axis, title in zip(("y", "y2"), titles, strict=True):
        fig.add_annotation(
            x=0, xref="x domain", y=1, yref=f"{axis} domain", xanchor="left", yanchor="bottom",
            showarrow=False, text=title, font={"size": theme.FONT_SIZE - 2},
        )  # fmt: skip
    side = {"anchor": "x", "zeroline": False}
    return fig.update_layout(
        showlegend=False, margin={"t": 36}, height=460, yaxis=side | {"domain": UPPER},
        yaxis2=side | {"domain": LOWER}, xaxis={"anchor": "y2", "title": {"text": xlabel}, "nticks": 6},
    )  # fmt: skip


def level(fig: go.Figure, axis: str, height: float) -> None:
    """A dotted line across a panel."""
    fig.add_shape(type="line", xref="x domain", x0=0, x1=1, yref=axis, y0=height, y1=height,
                  line={"color": theme.text(), "width": 2, "dash": "dot"})  # fmt: skip


def over_training(
    titles: tuple[str, str], steps: Sequence[int], turned: Sequence[int], last: int
) -> go.Figure:
    """Two empty panels over the steps of training; shape 0 of the layout is a line at the first of `steps`.

    Args:
        turned: steps at which knobs were turned. last: end of the abscissa.
    """
    fig = panels(titles, "steps of training")
    marks = [(steps[0], theme.text(), "dot"), *((place, theme.VERMILLION, "solid") for place in turned)]
    for place, color, dash in marks:
        fig.add_shape(type="line", xref="x", yref="paper", x0=place, x1=place, y0=0, y1=1,
                      line={"color": color, "width": 2, "dash": dash})  # fmt: skip
    return fig.update_xaxes(range=[0, last])
