"""Pairs that count as the same, and how likely two of n draws are."""

from typing import Any

import numpy as np

from lab.figures import basic, sheets, theme
from lab.figures.basic import array
from lab.figures.moving import turning
from pages.adversarial.birthday.lens import DRAWS, SHOWN, Found, probability

COLUMNS = 2  # of pairs


def sheet(result: list[Found]) -> dict[str, Any]:
    """The last pairs within each threshold, each in a frame of its own."""
    pairs = np.stack([array(one.sheet) for one in result])  # (F, 2 · SHOWN, H, W), first and second in turn
    pairs = np.concatenate([pairs[:, ::2], pairs[:, 1::2]], axis=-1)
    high, wide = pairs.shape[-2:]
    gap = high // 4
    tree = sheets.film(pairs, COLUMNS, gap, zmin=0, zmax=1)
    rows, columns = tree["data"][0]["z"].values.shape[1:]
    tree["layout"]["xaxis"]["range"], tree["layout"]["yaxis"]["range"] = (
        [-1, columns],
        [rows, -1],
    )  # whole frames
    line = {"color": theme.OUTPUT, "width": 3}
    tree["layout"]["shapes"] = [
        {"type": "rect", "x0": left - 0.5, "x1": left + wide - 0.5, "y0": top - 0.5, "y1": top + high - 0.5,
         "line": line}
        for top, left in basic.corners(SHOWN, COLUMNS, high + gap, wide + gap)
    ]  # fmt: skip
    return tree


def chances(result: list[Found], support: int) -> dict[str, Any]:
    """P of two that are the same: measured, with the estimate of N, and with a given N."""
    n = list(range(1, DRAWS + 1))
    measured = np.stack([array(one.measured) for one in result])
    estimated = np.stack([array(probability(one.support)) for one in result])
    lines = {
        "measured": measured[0],
        "estimate of N": estimated[0],
        f"N = {support:,}": probability(support),
    }
    colors = dict(zip(lines, (theme.OUTPUT, theme.INPUT, theme.HIDDEN), strict=True))
    fig = basic.curves(lines, n, xlabel="samples n", ylabel="P(two are the same)", colors=colors, ends=True)
    fig.add_hline(y=0.5, line={"color": theme.text(), "width": 2, "dash": "dot"})
    fig.update_yaxes(range=[-0.02, 1.03], tickvals=[0.25, 0.5, 0.75, 1])
    fig.update_xaxes(range=[0, DRAWS], tickvals=[0, 100, 200, 300, 400])
    return turning(turning(fig, 0, y=measured), 1, y=estimated)
