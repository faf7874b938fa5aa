"""A run over a text drawn, the next characters, and where a unit fires in a text."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, bars, heatmap, ticks
from lab.figures.moving import Tree, per_frame
from lab.figures.tokens import escape
from pages.recurrent.recurrence.finding import Found
from pages.recurrent.recurrence.lens import NEXT, Run
from pages.recurrent.recurrence.room import NAMES

LIVELIEST, ACROSS = 32, 60  # units of the map; characters of a line


def unrolled(result: Run, before: Run | None, show: str, unit: int) -> Tree:
    """One unit over the characters, and below it the units that move most; a line goes along."""
    values = array(result.inside[NAMES[show]][1:])  # (T, H)
    T = len(values)
    liveliest = np.sort(np.argsort(-values.std(0), kind="stable")[:LIVELIEST])
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.35, 0.65])
    lines = (
        [] if before is None else [("as trained", array(before.inside[NAMES[show]][1:, unit]), theme.HIDDEN)]
    )
    for name, line, color in [
        *lines,
        (f"unit {unit}" + (", changed" if lines else ""), values[:, unit], theme.ORANGE),
    ]:
        fig.add_scatter(y=line, name=name, mode="lines+markers", line={"width": 3, "color": color},
                        marker={"size": 6}, row=1, col=1)  # fmt: skip
    gate = NAMES[show] not in ("h", "cell", "candidate")
    reach = max(1.0, float(np.abs(values[:, liveliest]).max()))
    low, high = (0, 1) if gate else (-reach, reach)
    map_ = heatmap(values[:, liveliest].T, scale="probability" if gate else "diverging", zmin=low, zmax=high,
                   hover=False).data[0]  # fmt: skip
    map_.update(y=[f"unit {k}" for k in liveliest], hoverinfo=None, ygap=0, xgap=0,
                hovertemplate="%{y}, character %{x}: %{z:.3f}<extra></extra>")  # fmt: skip
    map_.colorbar.update(len=0.6, y=0.3)
    fig.add_trace(map_, row=2, col=1)
    fig.update_yaxes(title=show, nticks=4, row=1, col=1)
    fig.update_yaxes(title=f"{len(liveliest)} units", type="category", tickvals=[], showgrid=False,
                     autorange="reversed", row=2, col=1)  # fmt: skip
    fig.update_xaxes(range=[-0.5, T - 0.5], tickvals=[], showgrid=False, zeroline=False)
    names = [escape(name) for name in result.names]
    fig.update_xaxes(ticks(names, T) | {"tickangle": 0}, row=2, col=1)
    fig.add_shape(
        type="rect", xref="x", yref="paper", y0=0, y1=1, line={"color": theme.VERMILLION, "width": 3}
    )
    fig.update_layout(height=460, showlegend=True)
    tree = fig.to_plotly_json()
    places = np.arange(T)
    tree["layout"]["shapes"][0] |= {"x0": per_frame(places - 0.5), "x1": per_frame(places + 0.5)}
    return tree


def following(result: Run, before: Run | None, known: list[str]) -> Tree:
    """The most probable next characters after each, beside them what they were before the change."""
    best = result.p.topk(NEXT)
    was = None if before is None else array(before.p.gather(1, best.indices))
    names = [[escape(known[k]) for k in row] for row in best.indices.tolist()]
    fig = bars(names[0], best.values[0], baseline=None if was is None else was[0], horizontal=True,
               probability=True, xlabel="P(next character)", names=("changed", "as trained"))  # fmt: skip
    tree = fig.to_plotly_json()
    tree["data"][-1] |= {"x": per_frame(array(best.values)), "hovertext": per_frame(names)}
    if was is not None:
        tree["data"][0] |= {"x": per_frame(was), "hovertext": per_frame(names)}
    tree["layout"]["yaxis"] |= {"ticktext": per_frame(names)}
    return tree


def fired(found: Found, rank: int) -> go.Figure:
    """The text in lines, a character coloured by h of a unit after it; the marked ones are framed."""
    N = len(found.text)
    rows = -(-N // ACROSS)
    z = np.full(rows * ACROSS, np.nan)
    z[:N] = array(found.h[:, rank - 1])
    fig = heatmap(z.reshape(rows, ACROSS), scale="diverging", zmin=-1.5, zmax=1.5, hover=False)
    fig.data[0].colorbar.update(tickvals=[-1, 0, 1])
    fig.data[0].update(xgap=0, ygap=2, hoverinfo=None, hovertemplate="h = %{z:.3f}<extra></extra>")
    x, y = np.arange(N) % ACROSS, np.arange(N) // ACROSS
    on = array(found.marked).astype(bool)
    fig.add_scatter(
        x=x[on], y=y[on] + 0.42, mode="markers", hoverinfo="skip",
        marker={"symbol": "line-ew", "size": 9, "line": {"width": 3, "color": theme.text()}},
    )  # fmt: skip
    shown = [escape("⏎" if c == "\n" else c) for c in found.text]
    fig.add_scatter(x=x, y=y, mode="text", text=shown, hoverinfo="skip",
                    textfont={"family": "monospace", "size": 13})  # fmt: skip
    fig.update_xaxes(visible=False)
    fig.update_yaxes(visible=False)
    fig.update_layout(showlegend=False)
    return fig


def areas(units: list[int], chosen: Tensor, again: Tensor, rank: int) -> go.Figure:
    """AUC of the best units where they were chosen, and on the text that is shown."""
    fig = bars([f"unit {k}" for k in units], again, highlight=rank - 1, baseline=chosen, horizontal=True,
               probability=True, xlabel="AUC", names=("this text", "text before"))  # fmt: skip
    fig.add_shape(type="line", xref="x", yref="y domain", x0=0.5, x1=0.5, y0=0, y1=1,
                  line={"color": theme.text(), "dash": "dot", "width": 2})  # fmt: skip
    return fig
