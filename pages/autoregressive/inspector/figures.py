"""A picture as it comes: a film moves a cover over it, and the bars of the newest pixel."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, bars, click_targets, image
from lab.figures.raster import ring, surprisal


def blend(color: str, opacity: float) -> str:
    """`color` with an opacity on the page's paper, as an opaque colour."""
    top, paper = ([int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (color, theme.paper()))
    return "#" + "".join(
        f"{round(opacity * a + (1 - opacity) * b):02x}" for a, b in zip(top, paper, strict=True)
    )


def covered(
    fig: go.Figure,
    drawn_at: Any,
    side: int,
    ends: Any,
    pixels: Any,
    at: int,
    clickable: bool = False,
    room: int = 330,
) -> Mapping[str, Any]:
    """Lay a cover over what is not yet drawn of a picture, and a ring around the newest pixel; the frames.

    Args:
        drawn_at: (n,) the step that draws each pixel, -1 if it was given.
        ends: (F,) the step that each frame shows; pixels: (F,) the newest pixel there.
        at: the frame that is shown at first.
        room: px that the picture has, about.
    """
    when, ends, pixels = array(drawn_at).reshape(side, side), array(ends), array(pixels)
    cover = blend(theme.INPUT, 0.2)
    place = len(fig.data)
    fig.add_heatmap(
        z=when, zmin=ends[at] + 0.4, zmax=ends[at] + 0.6, showscale=False, hoverinfo="skip",
        colorscale=[[0, theme.fade(theme.INPUT, 0)], [1, cover]],
    )  # fmt: skip
    fig.add_trace(ring(int(pixels[at]) % side, int(pixels[at]) // side, side, room))
    if clickable:
        i, j = (index.ravel() for index in np.indices((side, side)))
        fig.add_trace(click_targets(j, i, np.column_stack([i, j])))
        fig.update_layout(hoverdistance=-1)
    return {
        f"data.{place}.zmin": ends + 0.4,
        f"data.{place}.zmax": ends + 0.6,
        f"data.{place + 1}.x": (pixels % side)[:, None],
        f"data.{place + 1}.y": (pixels // side)[:, None],
    }


def raster_pixels(side: int) -> np.ndarray:
    """The pixels of a picture in raster order, (side²,)."""
    return np.arange(side * side)


def drawn(ink: Any, side: int, title: str = "") -> go.Figure:
    """A finished picture (n,) in [0, 1], to lay a cover over."""
    fig = image(array(ink).reshape(side, side), title=title, zmin=0, zmax=1)
    return fig.update_traces(hoverinfo="skip", hovertext=None)


def costs(values: Any, side: int, title: str = "") -> go.Figure:
    """-log p of each pixel (n,), nats, to lay a cover over."""
    return surprisal(values, side, title).update_traces(hoverinfo="skip", hovertext=None)


def distribution(p: Any, values: Any, at: int, title: str = "") -> tuple[go.Figure, Mapping[str, Any]]:
    """A pixel's conditional over all its values, what was drawn in full colour; p (F, K), values (F,)."""
    p, chosen = array(p), array(values).astype(int)
    full = (np.arange(p.shape[1]) == chosen[:, None]).astype(np.float32)
    fig = bars([str(k) for k in range(p.shape[1])], p[at], title=title, xlabel="value")
    fig.update_traces(
        hovertext=None,
        hoverinfo="y",
        marker={"color": full[at], "cmin": 0, "cmax": 1, "showscale": False,
                "colorscale": [[0, theme.fade(theme.OUTPUT, 0.35)], [1, theme.OUTPUT]]},
    )  # fmt: skip
    fig.update_yaxes(range=[0, 1] if p.shape[1] == 2 else [0, 1.05 * float(p.max())])
    return fig, {"data.0.y": p, "data.0.marker.color": full}


def units(
    shown: Any, unit: int, states: Any, at: int, title: str = ""
) -> tuple[go.Figure, Mapping[str, Any]]:
    """Hidden units after each number of pixels beside a pixel ago, states (F, d); and the frames."""
    rows = array(states)[:, list(shown)]
    before = np.concatenate([rows[:1], rows[:-1]])
    fig = bars(
        [str(k) for k in shown], rows[at], highlight=list(shown).index(unit), baseline=before[at],
        xlabel="hidden unit", names=("now", "a pixel ago"), title=title,
    )  # fmt: skip
    low, high = float(min(rows.min(), 0)), float(max(rows.max(), 0))
    room = 0.05 * (high - low)
    fig.update_yaxes(range=[low - room * (low < 0), high + room])
    return fig, {"data.0.y": before, "data.1.y": rows}
