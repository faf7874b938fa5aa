"""Pictures on a walk and the lengths of its codes, draws cut off at τ, and precision and recall against τ."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from lab.figures import basic, latents, sheets, theme
from lab.figures.moving import marking, resting, turning
from lab.lenses.verdicts import Verdict
from pages.adversarial.latent_pad.lens import Cut
from pages.adversarial.latent_pad.room import TAUS


def sheet(cuts: Sequence[Cut]) -> dict[str, Any]:
    """The pictures at each τ."""
    return sheets.film([c.pictures for c in cuts], 8)


def curves(cuts: Sequence[Cut], floor: Verdict) -> dict[str, Any]:
    """Both numbers at each τ, evenly spaced, and their points at that of each frame."""
    places = list(range(len(cuts)))
    colors = {"precision": theme.OUTPUT, "recall": theme.INPUT}
    y = {name: [getattr(c.verdict, name) for c in cuts] for name in colors}
    fig = go.Figure()
    for name, color in colors.items():
        fig.add_scatter(
            x=places, y=y[name], name=name, mode="lines+markers",
            line={"color": color, "width": 3}, marker={"size": 7}, showlegend=False,
        )  # fmt: skip
        fig.add_annotation(x=places[-2], y=y[name][-2], text=name, showarrow=False, font={"color": color},
                           yshift=16 if y[name][-2] == max(v[-2] for v in y.values()) else -16)  # fmt: skip
        fig.add_hline(y=getattr(floor, name), line={"color": theme.HIDDEN, "width": 2, "dash": "dot"})
    for color in colors.values():
        ring = {"size": 15, "color": color, "line": {"width": 2, "color": theme.text()}}
        fig.add_scatter(mode="markers", showlegend=False, hoverinfo="skip", marker=ring)
    fig.update_xaxes(title="τ", tickvals=list(range(len(TAUS))), ticktext=[f"{t:g}" for t in TAUS])
    fig.update_xaxes(range=[-0.4, len(TAUS) - 0.6])
    fig.update_yaxes(range=[-0.05, 1.05], tickvals=[0.2, 0.4, 0.6, 0.8, 1])
    tree: Any = fig
    for trace, values in enumerate(y.values(), 2):
        tree = turning(tree, trace, x=[[i] for i in places], y=[[v] for v in values])
    return dict(tree)


def walk_and_lengths(
    pictures: Any, lengths: Any, times: Sequence[float], typical: tuple[float, float]
) -> dict[str, Any]:
    """Every second picture of both walks, and below each the lengths of the codes there.

    Args:
        pictures: (2, STEPS, H, W). lengths: (2, STEPS). typical: between these lie nine of ten draws.
    """
    names, colors = ("the line", "the arc"), tuple(latents.WALKS.values())
    fig = sheets.contact_sheet(pictures[:, ::2], names, [f"{t:.2g}" for t in times[::2]], xlabel="t")
    side = pictures.shape[-1]
    pitch = side + sheets.gap_of(side)
    places = [(side - 1) / 2 + pitch * i / 2 for i in range(len(times))]  # a step is half a picture's width
    fig.data[0].update(yaxis="y2")
    rows = fig.layout.yaxis.to_plotly_json() | {
        "domain": [0.38, 1],
        "anchor": "x",
        "constraintoward": "bottom",
    }
    lines = dict(zip(names, lengths, strict=True))
    drawn = basic.curves(
        lines, places, colors=dict(zip(names, colors, strict=True)), mark=places[0], ends=True
    )
    fig.add_traces(drawn.data)
    top = 1.12 * max(typical[1], float(lengths.max()))
    band = {"type": "rect", "xref": "x domain", "x0": 0, "x1": 1, "y0": typical[0], "y1": typical[1]}
    band |= {"fillcolor": theme.grid(), "line_width": 0, "layer": "below"}
    fig.update_layout(
        meta=theme.NAMED_ENDS,
        shapes=[drawn.layout.shapes[0], band],
        yaxis2=rows,
        margin={"t": 8},
    )
    word = {"text": "90 % of draws", "showarrow": False, "xanchor": "left", "yanchor": "bottom"}
    fig.add_annotation(x=0.01, xref="x domain", y=typical[1], font={"color": theme.soft()}, **word)
    fig.layout.yaxis = {"domain": [0, 0.34], "range": [0, top], "title": "‖z‖", "nticks": 4}
    fig.update_xaxes(constrain="range")
    dots = [(places, line, color) for line, color in zip(lengths.tolist(), colors, strict=True)]
    return resting(marking(fig, places), *dots)


def walks(pictures: Any, times: Sequence[float]) -> dict[str, Any]:
    """Pictures (2, STEPS, H, W) on the line and on the arc; a frame goes from step to step."""
    fig = sheets.contact_sheet(pictures, ["the line", "the arc"], [f"{t:.2g}" for t in times])
    return sheets.walking(fig, pictures.shape[-1], range(len(times)), None, 2)
