"""Two maps of equal axes: what patches restore, and what the gradient says; a film goes through the rows."""

from collections.abc import Sequence

from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, heatmap
from lab.figures.moving import Tree, per_frame
from lab.figures.tokens import escape, shortened

NUMBERED = 7  # columns: of more the numbers do not stand in the cells


def shares(
    values: Tensor,
    rows: Sequence[str],
    columns: Sequence[Sequence[str]],
    column: int,
    title: str,
    xlabel: str,
) -> Tree:
    """A map of shares, the first row at the bottom; the film frames one cell of a column.

    Args:
        values: (R, K). columns: the names of each, one or two below each other. column: that is framed.
    """
    z = array(values)[::-1]
    R, K = z.shape
    names = ["<br>".join(escape(shortened(name)) for name in column) for column in columns]
    fig = heatmap(
        z, names, list(rows)[::-1], title, "diverging", clickable=True, zmin=-1.0, zmax=1.0, xlabel=xlabel,
        numbers=".2f" if K <= NUMBERED else False, colorbar=False, height=460,
    )  # fmt: skip
    fig.update_traces(textfont={"size": theme.FONT_SIZE - 2}, selector={"type": "heatmap"})
    fig.add_shape(
        type="rect",
        x0=column - 0.5,
        x1=column + 0.5,
        y0=-0.5,
        y1=0.5,
        line={"width": 4, "color": theme.OUTPUT},
    )
    tree = fig.to_plotly_json()
    below = [R - 1 - row for row in range(R)]  # the film begins at the bottom
    tree["layout"]["shapes"][0] |= {
        "y0": per_frame([y - 0.5 for y in below]), "y1": per_frame([y + 0.5 for y in below]),
    }  # fmt: skip
    return tree
