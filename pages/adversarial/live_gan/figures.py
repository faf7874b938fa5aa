"""The curves of a game as it goes: panels, one above the other, over the same rounds."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array
from lab.figures.moving import per_frame
from pages.adversarial.live_gan.lens import Panel

COLORS = {
    "histograms": theme.GREEN, "log 2 − L_D/2": theme.INPUT,
    "modes reached": theme.ATTENTION, "samples near": theme.SKY, "W₁": theme.OUTPUT,
}  # fmt: skip
GAP = 0.14  # between two panels, of the height; the title stands there


def panels(
    parts: Sequence[Panel], rounds: Sequence[int], turned: Sequence[float], last: int
) -> dict[str, Any]:
    """Shape i of the layout is a line in panel i, at each of `rounds`.

    Args:
        turned: rounds at which knobs were turned.
        last: end of the abscissa.
    """
    fig = go.Figure()
    axes = ["y", *(f"y{number}" for number in range(2, len(parts) + 1))]
    ruled = [(rounds[0], theme.text(), "dot"), *((place, theme.VERMILLION, "solid") for place in turned)]
    for place, color, dash in ruled:
        for axis in axes:
            fig.add_shape(type="line", xref="x", yref=f"{axis} domain", x0=place, x1=place, y0=0, y1=1,
                          line={"color": color, "width": 2, "dash": dash})  # fmt: skip
    high = (1 - GAP * (len(parts) - 1)) / len(parts)
    for number, (axis, part) in enumerate(zip(axes, parts, strict=True)):
        for name, values in part.lines.items():
            fig.add_trace(
                go.Scatter(
                    x=array(rounds), y=array(values), name=name, yaxis=axis, hoverinfo="x+y+name",
                    mode="lines" if len(values) > 1 else "markers", marker={"size": 8},
                    line={"width": 3, "color": COLORS[name]},
                )
            )  # fmt: skip
        fig.add_annotation(
            x=0, xref="x domain", y=1, yref=f"{axis} domain", xanchor="left", yanchor="bottom",
            showarrow=False, text=part.title, font={"size": theme.FONT_SIZE - 2},
        )  # fmt: skip
        if part.level is not None:
            fig.add_shape(type="line", xref="x domain", x0=0, x1=1, yref=axis, y0=part.level, y1=part.level,
                          line={"color": theme.text(), "width": 2, "dash": "dot"})  # fmt: skip
        top = 1 - number * (high + GAP)
        side = {"domain": [max(0.0, top - high), top], "nticks": 4, "anchor": "x", "zeroline": False}
        fig.update_layout({f"yaxis{axis[1:]}": side | ({"range": list(part.span)} if part.span else {})})
    fig.update_layout(
        showlegend=False, margin={"t": 36}, meta=theme.NAMED_ENDS,
        xaxis={"range": [0, last], "anchor": axes[-1], "nticks": 5, "title": {"text": "rounds"},
               "ticklabelposition": "outside right"},
    )  # fmt: skip
    tree: dict[str, Any] = fig.to_plotly_json()
    for shape in tree["layout"]["shapes"][: len(parts)]:
        shape |= {"x0": per_frame(rounds), "x1": per_frame(rounds)}
    return tree
