"""Error over the steps of training above its floor, and outputs beside targets."""

from collections.abc import Sequence

import numpy as np

from lab.figures import theme
from lab.figures.basic import array, curves, rule
from lab.figures.moving import Tree, marking, resting, turning
from lab.lenses.rewind import Frame, stacked

TALL = 460


def course(frames: Sequence[Frame], steps: Sequence[int], floor: float, last: int) -> Tree:
    """Error over the steps; the dashed line is the floor."""
    y = stacked(frames, "error").astype(float)
    fig = curves({"error": y}, steps, mark=0, xlabel="steps of training", ylabel="mean squared error",
                 colors={"error": theme.OUTPUT}, height=TALL)  # fmt: skip
    rule(fig, y=floor, line={"color": theme.VERMILLION, "width": 3, "dash": "dash"},
         annotation={"text": f"floor {floor:.4g}", "font": {"color": theme.VERMILLION},
                     "yanchor": "top"})  # fmt: skip
    fig.update_xaxes(range=[0, last], nticks=6)
    fig.update_yaxes(range=[-0.05, max(1.1, 1.05 * min(float(np.nanmax(y)), 3.0))])
    return resting(marking(fig, list(steps)), (list(steps), y.tolist(), theme.OUTPUT))


def outputs(frames: Sequence[Frame], targets: np.ndarray) -> Tree:
    """Outputs over targets, a colour per position; on the diagonal both are equal."""
    y = stacked(frames, "outputs").astype(float)  # (F, B, T)
    fig = curves({"equal": ([-3, 3], [-3, 3])}, colors={"equal": theme.HIDDEN}, xlabel="target",
                 ylabel="output", height=TALL)  # fmt: skip
    T = targets.shape[1]
    for i in range(T):
        fig.add_scatter(
            x=array(targets[:, i]), y=y[0, :, i], mode="markers", name=f"token {i + 1}",
            marker={"size": 8, "color": theme.CATEGORIES[i % len(theme.CATEGORIES)]},
        )  # fmt: skip
    fig.update_xaxes(range=[-3, 3], tickvals=[-2, 0, 2])
    fig.update_yaxes(range=[-3, 3], tickvals=[-2, 0, 2])
    fig.update_layout(showlegend=True)
    fig.data[0].showlegend = False
    tree: Tree = fig.to_plotly_json()
    for i in range(T):
        tree = turning(tree, i + 1, y=y[:, :, i])
    return tree
