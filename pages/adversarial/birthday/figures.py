"""Pairs that count as the same, and how likely two of n draws are."""

from typing import Any

import numpy as np

from lab.figures import basic, sheets, theme
from lab.figures.basic import array
from lab.figures.moving import turning
from pages.adversarial.birthday.lens import DRAWS, Found, probability


def sheet(found: list[Found]) -> dict[str, Any]:
    """The last pairs within each threshold, side by side."""
    return sheets.film([one.sheet for one in found], 4, zmin=0, zmax=1)


def chances(found: list[Found], support: int) -> dict[str, Any]:
    """P of two that are the same: measured, with the estimate of N, and with a given N."""
    n = list(range(1, DRAWS + 1))
    measured = np.stack([array(one.measured) for one in found])
    estimated = np.stack([array(probability(one.support)) for one in found])
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
