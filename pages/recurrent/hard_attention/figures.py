"""All paths as tables of q, p and q p, the bounds over K; estimates as clouds around the exact gradient."""

import numpy as np
import torch
from plotly.subplots import make_subplots
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, bars, curves, heatmap, rule
from lab.figures.moving import Tree, per_frame, turning
from pages.recurrent.hard_attention.estimates import Estimated
from pages.recurrent.hard_attention.lens import Listed
from pages.recurrent.hard_attention.room import DRAWS, NONE

NAMES = ("q(c | x)", "p(y | c)", "q p")
TURN = 2 * np.pi * np.linspace(0, 1, 61)


def tables(found: Listed) -> Tree:
    """A cell for each path, its last place along a row, the places before down: q, p and, as far as they are
    summed, the products; the path of the frame is framed."""
    N, T = found.paths.shape
    side = round(N ** (1 / T))
    shape = (N // side, side)
    q, p = array(found.q), array(found.p)
    fig = make_subplots(cols=3, subplot_titles=NAMES, horizontal_spacing=0.03, shared_yaxes=True)
    for column, (values, top) in enumerate(((q, q.max()), (p, 1.0), (q * p, q.max())), start=1):
        map_ = heatmap(
            values.reshape(shape), scale="probability" if column == 2 else "violet", zmin=0, zmax=top,
            numbers=".2f", colorbar=False, hover=False,
        ).data[0]  # fmt: skip
        fig.add_trace(map_, row=1, col=column)
        fig.add_shape(
            type="rect", xref=f"x{column if column > 1 else ''}", yref=f"y{column if column > 1 else ''}",
            line={"color": theme.GREEN, "width": 5},
        )  # fmt: skip
    fig.update_traces(textfont_size=theme.FONT_SIZE)
    names = [" ".join(name.split()[:-1]) for name in found.names[::side]]
    # Ticks beside numbers look like minus signs.
    bare = {"tickcolor": "rgba(0, 0, 0, 0)", "showgrid": False, "zeroline": False}
    fig.update_xaxes(tickvals=list(range(side)), ticktext=[str(i + 1) for i in range(side)], **bare)
    fig.update_yaxes(
        tickvals=list(range(len(names))), ticktext=names, range=[len(names) - 0.45, -0.55], **bare
    )
    across = "last place" if T > 1 else "place"
    down = ("", "first place", "places before")[T - 1]
    fig.update_xaxes(title=across, row=1, col=2)
    fig.update_yaxes(title=down, row=1, col=1)
    fig.update_layout(height=400, showlegend=False)
    summed = np.where(np.tri(N, dtype=bool), q * p, np.nan).reshape(N, *shape)
    tree = turning(fig, 2, z=summed)
    y, x = np.divmod(np.arange(N), side)
    box = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5}
    for shape_ in tree["layout"]["shapes"]:
        shape_ |= {end: per_frame(place) for end, place in box.items()}
    return tree


def bounds(found: Listed) -> Tree:
    """𝓛_K over the number of draws, below log p(y | x)."""
    fig = curves({"𝓛_K": found.bounds}, range(1, len(found.bounds) + 1), markers=True,
                 colors={"𝓛_K": theme.OUTPUT}, xlabel="draws K", ylabel="nats")  # fmt: skip
    rule(
        fig, y=found.log_p, line={"color": theme.GREEN, "width": 3, "dash": "dash"},
        annotation={"text": "log p(y | x)", "font": {"color": theme.GREEN}},
    )  # fmt: skip
    room = 0.15 * max(found.log_p - found.bound, 0.05)
    fig.update_yaxes(range=[found.bound - room, found.log_p + 1.5 * room], nticks=6)
    fig.update_xaxes(dtick=1, range=[0.7, len(found.bounds) + 0.3])
    tree: Tree = fig.to_plotly_json()
    return tree


def clouds(found: Estimated, near: bool) -> Tree:
    """Means of M draws by the first and the last score, with ellipses of two standard deviations, around the
    exact gradient; without a baseline in grey. A rare draw may lie outside: the axes end at three standard
    deviations of one draw."""
    centre, away = array(found.exact[[0, -1]]), array(found.likelihood[[0, -1]])
    data, farthest, sd = [], 0.0, 0.0
    for name, dots in found.clouds.items():
        chosen = name == found.one.name
        color = theme.OUTPUT if chosen else theme.HIDDEN
        one = next(each for each in found.all if each.name == name)
        mean = array(one.mean[found.row][[0, -1]])
        farthest = max(farthest, float(np.abs(array(one.values[:, found.row][:, [0, -1]]) - centre).max()))
        covariance = found.covariance(name)
        sd = max(sd, float(torch.linalg.matrix_norm(covariance, 2).sqrt()))
        ring = mean + ellipse(covariance) / np.sqrt(DRAWS)[:, None, None]
        points = array(dots)
        data += [
            {"type": "scatter", "name": name, "x": per_frame(points[..., 0]), "y": per_frame(points[..., 1]),
             "mode": "markers", "marker": {"color": color, "size": 8, "opacity": 0.5}, "hoverinfo": "skip"},
            {"type": "scatter", "x": per_frame(ring[..., 0]), "y": per_frame(ring[..., 1]), "mode": "lines",
             "line": {"color": color, "width": 3}, "showlegend": False, "hoverinfo": "skip"},
        ]  # fmt: skip
    marks = {"∂𝓛": (centre, "cross", theme.text()), "∂ log p(y | x)": (away, "diamond", theme.GREEN)}
    data += [
        {"type": "scatter", "name": name, "x": [place[0]], "y": [place[1]], "mode": "markers",
         "marker": {"symbol": symbol, "size": 16, "color": color,
                    "line": {"color": theme.paper(), "width": 2}}}
        for name, (place, symbol, color) in marks.items()
    ]  # fmt: skip
    reach = min(1.1 * farthest, 3 * sd) / (8 if near else 1) or 1.0
    axes = {
        f"{axis}axis": {"title": f"by the score of place {place}", "range": [at - reach, at + reach],
                        "nticks": 5, "zeroline": True}
        for axis, place, at in zip("xy", (1, len(found.exact)), centre, strict=True)
    }  # fmt: skip
    return {"data": data, "layout": {"height": 400, "showlegend": True, **axes}}


def ellipse(covariance: Tensor) -> np.ndarray:
    """Two standard deviations around 0, (61, 2)."""
    sizes, ways = np.linalg.eigh(array(covariance))
    return np.stack([np.cos(TURN), np.sin(TURN)], 1) * 2 * np.sqrt(sizes.clip(min=0)) @ ways.T


def variances(found: Estimated) -> Tree:
    """Variance of one draw by each estimate."""
    names = [each.name for each in found.all]
    values = [each.variance for each in found.all]
    labels = [f"{name}<br>{value:.3f}" for name, value in zip(names, values, strict=True)]
    fig = bars(labels, values, names.index(found.one.name), horizontal=True, xlabel="variance of one draw")
    fig.data[0].marker.color = [
        theme.HIDDEN if name == NONE and name != found.one.name else color
        for name, color in zip(names, fig.data[0].marker.color, strict=True)
    ]
    fig.update_xaxes(nticks=4)
    tree: Tree = fig.to_plotly_json()
    return tree
