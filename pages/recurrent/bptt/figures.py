"""The triangle of terms as tiles, and the sum so far beside autograd's gradient."""

from typing import Any

import numpy as np

from lab.figures import theme
from lab.figures.basic import array, heatmap
from lab.figures.moving import Tree, per_frame, turning
from pages.recurrent.bptt.lens import Summed

PITCH = 3  # cells from one tile to the next: two of a tile and one between


def triangle(found: Summed) -> Tree:
    """Terms (t, k) as tiles of 2 × 2 entries, as far as they are summed, with their norms below; the one that
    is added is framed."""
    terms = array(found.terms)
    T, N = len(terms), len(found.places)
    side = PITCH * T - 1
    maps, texts, all_norms = np.full((N, side, side), np.nan), [], np.linalg.norm(terms, axis=(2, 3))
    for n in range(N):
        for t, k in found.places[: n + 1]:
            maps[n, PITCH * t : PITCH * t + 2, PITCH * k : PITCH * k + 2] = terms[t, k]
        done = set(found.places[: n + 1])
        texts.append([f"{all_norms[p]:.2g}" if p in done else "" for p in found.places])
    fig = heatmap(maps[-1], scale="diverging", colorbar=False, hover=False, square=True,
                  xlabel="step k at which Wₕ is used", ylabel="loss of step t")  # fmt: skip
    middles = [PITCH * i + 0.5 for i in range(T)]
    names = [str(i + 1) for i in range(T)]
    fig.update_xaxes(tickvals=middles, ticktext=names, range=[-1.2, side + 0.2])
    fig.update_yaxes(tickvals=middles, ticktext=names, range=[side + 1, -1.2])
    fig.add_scatter(
        x=[middles[k] for _, k in found.places], y=[middles[t] + 1.45 for t, _ in found.places], mode="text",
        textfont={"size": theme.FONT_SIZE, "color": theme.text()}, showlegend=False, hoverinfo="skip",
    )  # fmt: skip
    fig.add_shape(type="rect", line={"color": theme.GREEN, "width": 5})
    tree = turning(turning(fig, z=maps), 1, text=texts)
    box = {
        f"{axis}{end}": per_frame(
            [
                PITCH * place[which] + ((-0.55, 2.35) if which == 0 else (-0.7, 1.7))[end]
                for place in found.places
            ]
        )
        for axis, which in (("y", 0), ("x", 1))
        for end in (0, 1)
    }
    tree["layout"]["shapes"][0] |= box
    return tree


def sums(found: Summed) -> Tree:
    """The sum so far, autograd's gradient and their difference, each 2 × 2 with its numbers."""
    blank = np.full((1, 2), np.nan)
    autograd = array(found.autograd)

    def stacked(total: Any) -> np.ndarray:
        return np.concatenate([total, blank, autograd, blank, total - autograd])

    values = np.stack([stacked(total) for total in array(found.so_far)])
    reach = float(np.nanmax(np.abs(values)))
    fig = heatmap(values[-1], scale="diverging", zmin=-reach, zmax=reach, numbers=".4f", colorbar=False,
                  hover=False)  # fmt: skip
    fig.update_traces(textfont_size=theme.FONT_SIZE)
    fig.update_xaxes(visible=False)
    fig.update_yaxes(tickvals=[0.5, 3.5, 6.5], ticktext=["sum so far", "autograd", "difference"])
    return turning(fig, z=values)
