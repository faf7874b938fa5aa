"""The grid of the logit lens, and a logit as a table of terms; a film goes through the tokens."""

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, curves, heatmap
from lab.figures.moving import Tree, per_frame, resting, turning
from lab.figures.tokens import escape, shortened

SIZE = 15  # of the names in cells
LEAST = 1e-3  # nats; what is nearer is drawn there


def layer_names(count: int) -> list[str]:
    """Names of L + 1 states of the stream, the embedding first."""
    return ["embedding", *(f"after layer {l + 1}" for l in range(count - 1))]


def lens(values: Tensor, names: Sequence[Sequence[str]], pieces: Sequence[str], label: str) -> Tree:
    """Next token in each cell, columns tokens, rows layers, the last one at the top; a frame marks a column.

    Args:
        values: (L + 1, T), from 0 to 1, the colour. names: of the tokens in the cells. label: of the colour.
    """
    z, rows = array(values)[::-1], layer_names(len(names))[::-1]
    cells = [[escape(shortened(name)) for name in row] for row in names[::-1]]
    columns = [escape(shortened(piece)) for piece in pieces]
    fig = heatmap(z, columns, rows, xlabel="token read", hover=False, colorbar=False, height=460)
    T = len(pieces)
    fig.update_traces(
        text=cells, texttemplate="%{text}", textfont={"size": SIZE}, hoverinfo=None,
        hovertemplate="%{y}: %{text}, " + label + " %{z:.3f}<extra></extra>",
    )  # fmt: skip
    fig.add_shape(
        type="rect", x0=T - 1.5, x1=T - 0.5, y0=-0.5, y1=len(names) - 0.5,
        line={"width": 4, "color": theme.OUTPUT},
    )  # fmt: skip
    tree = fig.to_plotly_json()
    tree["layout"]["shapes"][0] |= {
        "x0": per_frame(np.arange(T) - 0.5), "x1": per_frame(np.arange(T) + 0.5),
    }  # fmt: skip
    return tree


def through_layers(final_p: Tensor) -> Tree:
    """Probability of the final token after each layer, for each token read. final_p: (L + 1, T)."""
    p = array(final_p).T  # (T, L + 1)
    fig = curves({"p": p[0]}, xlabel="layer", ylabel="probability of the final token", markers=True,
                 colors={"p": theme.OUTPUT}, height=460)  # fmt: skip
    fig.update_xaxes(tickvals=list(range(p.shape[1])))
    fig.update_yaxes(range=[-0.03, 1.03])
    return turning(fig, y=p)


def divergences(kls: Mapping[str, Tensor]) -> Tree:
    """KL of the prediction to what each lens reads after each layer but the last, where all are 0, for each
    token read: (L + 1, T) each."""
    curve = {name: array(values[:-1]).T.clip(LEAST) for name, values in kls.items()}  # (T, L)
    inks = dict(zip(curve, (theme.HIDDEN, theme.OUTPUT), strict=False))
    fig = curves(
        {name: y[0] for name, y in curve.items()}, xlabel="layer", ylabel="KL to the prediction, nats",
        markers=True, colors=inks, height=460,
    )  # fmt: skip
    ends = [np.log10(bound) for bound in (min(map(np.min, curve.values())), max(map(np.max, curve.values())))]
    fig.update_xaxes(tickvals=list(range(next(iter(curve.values())).shape[1])))
    fig.update_yaxes(type="log", range=[ends[0] - 0.15, ends[1] + 0.15], dtick=1)
    tree: Tree = fig.to_plotly_json()
    for trace, y in enumerate(curve.values()):
        tree = turning(tree, trace, y=y)
    return tree


def terms(heads: Tensor, mlp: Tensor) -> Tree:
    """What each head and each MLP adds to a logit, rows layers, the last one at the top, for each token.

    Args:
        heads: (T, L, H). mlp: (T, L).
    """
    z = np.concatenate([array(heads), array(mlp)[..., None]], 2)[:, ::-1]  # (T, L, H + 1)
    _, L, columns = z.shape
    fig = heatmap(
        z[0], [*(str(h + 1) for h in range(columns - 1)), "MLP"], [f"layer {l}" for l in range(L, 0, -1)],
        scale="diverging", xlabel="head", hover=False, numbers="+.2f" if columns <= 9 else False,
        colorbar=columns > 9, height=460,
    )  # fmt: skip
    most = float(abs(z).max()) or 1.0
    fig.update_traces(
        zmin=-most, zmax=most, hoverinfo=None, hovertemplate="%{y}, %{x}: %{z:+.3f}<extra></extra>",
        textfont={"size": theme.FONT_SIZE + 2},
    )  # fmt: skip
    return turning(fig, z=z)


def running(sums: Tensor, label: str) -> Tree:
    """Sum of all terms up to each layer, for each token: (T, L + 1)."""
    y = array(sums)
    fig = curves({"z": y[0]}, xlabel="up to layer", ylabel=label, markers=True,
                 colors={"z": theme.OUTPUT}, height=460)  # fmt: skip
    room = 0.06 * float(y.max() - y.min() or 1.0)
    fig.update_xaxes(tickvals=list(range(y.shape[1])))
    fig.update_yaxes(range=[float(y.min()) - room, float(y.max()) + room])
    last = y.shape[1] - 1
    return resting(turning(fig, y=y), ([last] * len(y), y[:, -1], theme.OUTPUT))
