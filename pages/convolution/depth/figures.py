"""Gradients of several networks and their autocorrelation; paths through blocks; errors by depth."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lab.figures import basic, theme
from lab.figures.basic import array, click_targets
from lab.figures.moving import Tree, turning
from pages.convolution.depth.lens import LAGS, REACH, Shattered, layers, standard
from pages.convolution.depth.training import Trained
from pages.convolution.depth.unravelled import Paths

HEIGHT = 480
COLORS = (theme.INPUT, theme.OUTPUT, theme.GREEN, theme.PURPLE)  # of the networks, the shallowest first
LIMIT = 4.2  # deviations that are drawn


def functions(one: Shattered) -> Tree:
    """y and ∂y/∂x of each network over x, each with mean 0 and deviation 1; the draws are the frames."""
    y, g, x = array(standard(one.y)), array(standard(one.g)), array(one.x)
    C = len(one.depths)
    fig = make_subplots(rows=2, cols=C, shared_xaxes=True, vertical_spacing=0.08, horizontal_spacing=0.03,
                        subplot_titles=[layers(depth) for depth in one.depths])  # fmt: skip
    for row, values in enumerate((y, g), 1):
        for c, line in enumerate(values):
            fig.add_scatter(x=x, y=line[0], mode="lines", line={"color": COLORS[c], "width": 2.5},
                            hoverinfo="skip", row=row, col=c + 1)  # fmt: skip
            reach = [-LIMIT, LIMIT]
            fig.update_yaxes(range=reach, showticklabels=False, nticks=4, row=row, col=c + 1)
    fig.update_xaxes(range=[-REACH, REACH], tickvals=[-1, 0, 1])
    fig.update_xaxes(title="x", row=2)
    for row, name in enumerate(("y", "∂y/∂x"), 1):
        fig.update_yaxes(title=name, row=row, col=1)
    fig.update_layout(height=HEIGHT, showlegend=False, margin={"t": 40})
    tree: Tree = fig.to_plotly_json()
    for i, frames in enumerate([*y, *g]):
        tree = turning(tree, i, y=frames)
    return tree


def correlations(one: Shattered) -> Tree:
    """ρ over the lag: the mean of all draws thick, the draw of the frame thin."""
    names = [str(depth) for depth in one.depths]
    lags = np.arange(LAGS + 1)
    means = {name: array(row) for name, row in zip(names, one.mean, strict=True)}
    fig = basic.curves(means, lags, xlabel="lag ℓ", ylabel="ρ, autocorrelation of ∂y/∂x", ends=True,
                       colors=dict(zip(names, COLORS, strict=False)), height=HEIGHT)  # fmt: skip
    fig.update_traces(line_width=4)
    C = len(names)
    for c in range(C):
        fig.add_scatter(x=lags, y=array(one.rho[c, 0]), mode="lines", showlegend=False, hoverinfo="skip",
                        line={"color": COLORS[c], "width": 1.5, "dash": "dot"})  # fmt: skip
    fig.update_yaxes(range=[-0.45, 1.05], tickvals=[0, 0.5, 1])
    fig.update_xaxes(range=[0, LAGS], tickvals=[0, 16, 32, 48])
    fig.update_layout(showlegend=False)
    tree: Tree = fig.to_plotly_json()
    for c in range(C):
        tree = turning(tree, C + c, y=one.rho[c])
    return tree


# --- Paths ------------------------------------------------------------------------------------------


def ways(one: Paths) -> Tree:
    """A row for each path, the shortest at the top: a square where it goes through a branch, a line past it;
    those through a deleted block are grey. In frame f the first f others are full."""
    through, kept, lengths = array(one.through), array(one.kept), array(one.lengths)
    P, K = through.shape
    rank = np.full(P, P + 1)
    rank[one.added] = np.arange(1, len(one.added) + 1)
    frames = range(len(one.added) + 1)
    full = [kept & (rank <= f) for f in frames]
    rows, blocks = np.nonzero(through)
    faint = theme.fade(theme.HIDDEN, 0.35)

    def lines(shown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ends = np.array([0.0, K + 1, np.nan])
        return np.tile(ends, P), np.where(shown, np.arange(P), np.nan).repeat(3)

    fig = go.Figure()
    for shown, color, dash in (
        (~kept, faint, "dot"),
        (kept, faint, "solid"),
        (full[0], theme.INPUT, "solid"),
    ):
        xs, ys = lines(shown)
        fig.add_scatter(x=xs, y=ys, mode="lines", line={"color": color, "width": 3, "dash": dash})
    size = max(9, min(26, 330 // P))
    fig.add_scatter(x=blocks + 1, y=rows, mode="markers",
                    marker={"symbol": "square", "size": size, "opacity": 1.0})  # fmt: skip
    fig.update_traces(hoverinfo="skip")
    gone = {"symbol": "x-thin", "size": size, "line": {"width": 3, "color": theme.VERMILLION}}
    deleted = deleted_blocks(one)
    marks = [(k, r) for r, k in zip(rows, blocks, strict=True) if k in deleted]
    fig.add_scatter(x=[k + 1 for k, _ in marks], y=[r for _, r in marks], mode="markers", marker=gone,
                    hoverinfo="skip")  # fmt: skip
    x, y = np.meshgrid(np.arange(1, K + 1), np.arange(P))
    fig.add_trace(click_targets(x.ravel(), y.ravel()))
    middles = [float(np.flatnonzero(lengths == n).mean()) for n in range(K + 1)]
    fig.update_xaxes(range=[-0.25, K + 1.25], tickvals=list(range(K + 2)), showgrid=False, zeroline=False,
                     ticktext=["x", *(f"f{k}" for k in range(1, K + 1)), "y"], side="top")  # fmt: skip
    fig.update_yaxes(range=[P - 0.4, -0.6], tickvals=middles, ticktext=list(map(str, range(K + 1))),
                     title="branches on the path", showgrid=False, zeroline=False)  # fmt: skip
    fig.update_layout(height=HEIGHT, showlegend=False)
    tree = turning(fig, 2, y=[lines(shown)[1] for shown in full])
    colors = [[theme.HIDDEN if k in deleted else theme.OUTPUT if shown[r] else
               theme.fade(theme.OUTPUT, 0.3) if kept[r] else faint for r, k in zip(rows, blocks, strict=True)]
              for shown in full]  # fmt: skip
    return turning(tree, 3, marker={"color": colors})


def deleted_blocks(one: Paths) -> set[int]:
    """Blocks, from 0, that no kept path takes."""
    taken = array(one.through)[array(one.kept)].any(0)
    return set(np.flatnonzero(~taken).tolist())


def sums(one: Paths) -> Tree:
    """Sum of the paths so far by their length, and of all of them."""
    values = array(one.by_length)  # (F, K + 1)
    K = values.shape[1] - 1
    kept = np.bincount(array(one.lengths)[array(one.kept)], minlength=K + 1)
    labels = [f"{n}<br>{'1 path' if count == 1 else f'{count} paths'}" if n == 0 else f"{n}<br>{count}"
              for n, count in enumerate(kept)]  # fmt: skip
    labels.append("sum")
    both = np.hstack([values, values.sum(1, keepdims=True)])
    fig = basic.bars(labels, both[-1], ylabel="∂y/∂x", xlabel="branches on the path, and paths",
                     height=HEIGHT)  # fmt: skip
    reach = np.array([min(both.min(), 0), max(both.max(), 0)])
    room = 0.08 * (float(reach[1] - reach[0]) or 1.0)
    fig.update_yaxes(range=[reach[0] - room, reach[1] + room], zeroline=True)
    fig.update_xaxes(tickvals=list(range(K + 2)), ticktext=labels, tickangle=0)
    fig.data[0].marker.color = [theme.INPUT, *[theme.OUTPUT] * K, theme.HIDDEN]
    fig.update_traces(hoverinfo="skip", hovertext=None)
    return turning(fig, y=both)


def losses(names: list[str], errors: Any) -> go.Figure:
    """Test error of both networks without these blocks, (2, M)."""
    fig = go.Figure()
    for name, row, color in zip(("residual", "plain"), 100 * array(errors),
                                (theme.INPUT, theme.VERMILLION), strict=True):  # fmt: skip
        fig.add_bar(x=list(range(len(names))), y=row, name=name, marker_color=color, hoverinfo="skip")
    fig.update_xaxes(tickvals=list(range(len(names))), ticktext=names, title="block deleted", tickangle=0)
    fig.update_yaxes(range=[0, 100], tickvals=[0, 50, 90], title="test error, %")
    fig.update_layout(height=HEIGHT, barmode="group", showlegend=True,
                      legend={"orientation": "h", "y": 1.12, "x": 0})  # fmt: skip
    return fig


# --- Training ---------------------------------------------------------------------------------------


def by_depth(one: Trained) -> Tree:
    """Errors of networks over their depths, on a logarithmic axis, at the step of the frame."""
    lines = {"test": 100 * array(one.test), "training": 100 * array(one.train)}  # (C, F)
    fig = basic.curves({name: line[:, 0] for name, line in lines.items()}, list(one.depths), markers=True,
                       colors={"test": theme.OUTPUT, "training": theme.INPUT}, ends=True, log_x=True,
                       xlabel="layers", ylabel="error, %", height=HEIGHT)  # fmt: skip
    fig.update_traces(marker_size=14, line_width=3)
    fig.update_yaxes(range=[0, 100], tickvals=[0, 50, 90])
    low, high = np.log10(min(one.depths)), np.log10(max(one.depths))
    room = 0.06 * (high - low) or 0.2
    fig.update_xaxes(range=[low - room, high + room], tickvals=list(one.depths),
                     ticktext=list(map(str, one.depths)))  # fmt: skip
    tree: Tree = fig.to_plotly_json()
    for i, line in enumerate(lines.values()):
        tree = turning(tree, i, y=line.T)
    return tree


def by_layer(one: Trained) -> Tree:
    """Length of the gradient in each layer of each network, at the step of the frame."""
    names = [layers(depth) for depth in one.depths]
    norms = [array(row) for row in one.norms]
    lines = {name: (np.arange(1, row.shape[1] + 1), row[0]) for name, row in zip(names, norms, strict=True)}
    fig = basic.curves(lines, xlabel="layer", ylabel="norm of the gradient in the weights",
                       colors=dict(zip(names, COLORS, strict=False)), markers=True, log_y=True,
                       height=HEIGHT)  # fmt: skip
    fig.update_traces(marker_size=6)
    every = np.concatenate([row[np.isfinite(row) & (row > 0)] for row in norms])
    low, high = np.floor(np.log10(every.min())), np.ceil(np.log10(every.max()))
    fig.update_yaxes(range=[low, high], dtick=1 if high - low <= 6 else 5, exponentformat="power")
    fig.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.12, "x": 0})
    tree: Tree = fig.to_plotly_json()
    for i, row in enumerate(norms):
        tree = turning(tree, i, y=row)
    return tree
