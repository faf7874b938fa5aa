"""Signals on the nodes of a graph, frequencies, and curves of filters."""

import numpy as np
from torch import Tensor

from lab.figures import networks, theme
from lab.figures.basic import array, curves
from lab.figures.moving import Tree, per_frame, resting, turning
from pages.graph.spectral.lens import GRID, Filtered, Spectrum

HEIGHT = 480


def nodes(positions: Tensor, a: Tensor, values: Tensor) -> Tree:
    """The graph; in frame f its nodes have the colours of values (F, N), on one scale for all frames."""
    v = array(values)
    reach = float(np.abs(v).max()) or 1.0
    fig = networks.network(positions, a.nonzero().T, values=v[0], scale="diverging", height=HEIGHT)
    at = next(i for i, trace in enumerate(fig.data) if trace.marker.colorscale is not None)
    fig.data[at].marker.update(cmin=-reach, cmax=reach)
    strong = np.abs(v) / reach > 0.5
    on_strong, on_weak = ("#1B2026", "#FFFFFF") if theme.mode() == "dark" else ("#FFFFFF", "#1B2026")
    tree = turning(fig, at, marker={"color": v})
    tree["data"][at]["textfont"] = {
        "size": 15,
        "color": per_frame([[on_strong if s else on_weak for s in row] for row in strong]),
    }
    return tree


def frequencies(one: Spectrum) -> Tree:
    """Eigenvalues in rising order; a dot on that of the frame."""
    places, values = list(range(len(one.values))), array(one.values)
    fig = curves({"λ": values}, places, markers=True, colors={"λ": theme.HIDDEN}, xlabel="eigenvector k",
                 ylabel="frequency λ", height=HEIGHT)  # fmt: skip
    fig.update_layout(showlegend=False)
    return resting(fig, (places, values.tolist(), theme.VERMILLION))


def gains(one: Filtered) -> Tree:
    """g(λ), its values at the frequencies of the graph, and the curve of K terms."""
    fig = curves({"g": array(one.wanted), "K terms": array(one.curves[0])}, array(GRID), ends=True,
                 colors={"g": theme.HIDDEN, "K terms": theme.OUTPUT}, xlabel="frequency λ", ylabel="gain",
                 height=HEIGHT)  # fmt: skip
    fig.add_scatter(
        x=array(one.values), y=array(one.kept), mode="markers", name="frequencies", showlegend=False,
        marker={"size": 9, "color": theme.INPUT}, hoverinfo="skip",
    )  # fmt: skip
    both = np.concatenate([array(one.wanted), array(one.curves).ravel()])
    room = 0.08 * (float(both.max() - both.min()) or 1.0)
    fig.update_yaxes(range=[float(both.min()) - room, float(both.max()) + room])
    return turning(fig, 1, y=one.curves)
