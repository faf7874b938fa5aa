"""A picture with the borders of its patches or windows, a map over tokens, and class probabilities."""

import plotly.graph_objects as go

from lab.figures.basic import array, bars, heatmap
from lab.figures.moving import Tree, heatmaps, turning
from pages.transformer.patches.lens import Look


def tokens(one: Look) -> Tree:
    """What cuts the picture, as grey levels, with the ink on top: one picture a frame."""
    grids = array(one.grids).astype(float)
    tone = 0.12 + 0.4 * ((grids * 4) % 10) / 10  # neighbours differ
    values = tone * (1 - array(one.picture)) + array(one.picture)
    fig = heatmap(values[0], square=True, colorbar=False, hover=False, zmin=0, zmax=1,
                  title="picture, its tokens", height=420)  # fmt: skip
    return turning(fig, z=values)


def maps(one: Look) -> Tree:
    """The map of each frame."""
    values = array(one.maps).astype(float)
    return heatmaps(values, None, None, one.title, square=True, colorbar=False, zmin=0,
                    zmax=float(values.max()), height=420)  # fmt: skip


def classes(one: Look) -> go.Figure:
    """Probabilities of the ten classes."""
    return bars([str(k) for k in range(10)], one.p, int(one.p.argmax()), title="class probabilities",
                xlabel="class", ylabel="Pr(y | x)", probability=True, height=420)  # fmt: skip
