"""The training of the reader's network: errors over the steps, maps and probabilities of a digit."""

from collections.abc import Sequence

import numpy as np

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, marking, turning
from pages.convolution.architectures.room import LOOKS
from pages.convolution.architectures.training import Look, Read

HIGH, BETWEEN = 36, 4  # of the sheet of maps and between its layers, in cells


def errors(looks: Sequence[Look], height: int = 225) -> Tree:
    """Errors over the steps; the line stands at the step of the frame."""
    lines = {"test": [100 * look.test for look in looks], "training": [100 * look.train for look in looks]}
    fig = basic.curves(lines, list(LOOKS)[: len(looks)], xlabel="step of training", ylabel="error, %", mark=0,
                       height=height, colors={"test": theme.OUTPUT, "training": theme.INPUT})  # fmt: skip
    fig.update_xaxes(range=[0, LOOKS[-1]])
    fig.update_yaxes(range=[0, 100], tickvals=[0, 50, 90])
    fig.update_layout(showlegend=True, legend={"x": 1, "y": 0.6, "xanchor": "right", "yanchor": "middle"})
    return marking(fig, list(LOOKS)[: len(looks)])


def probabilities(one: Read, height: int = 225) -> Tree:
    """Probabilities of the classes for the digit."""
    p = array(one.probabilities)
    fig = basic.bars([str(k) for k in range(p.shape[1])], p[-1], highlight=one.answer, probability=True,
                     ylabel="probability", height=height)  # fmt: skip
    return turning(fig, y=p)


def maps(one: Read, height: int = 225) -> Tree:
    """The digit and maps of each layer, as many as there is room for, every layer divided by its largest
    value."""
    frames = len(one.probabilities)
    cells, names, x = [], [], 0
    for name, values in [("digit", one.digit.expand(frames, 1, -1, -1)), *one.maps]:
        count, side = values.shape[1], values.shape[2]
        across = min(HIGH // (side + 1), int(np.ceil(count**0.5)))
        grids = [
            basic.mosaic(array(v / v.abs().max().clamp_min(1e-12))[: across * (HIGH // (side + 1))], across)
            for v in values
        ]
        cell = np.stack(grids)
        scale = max(1, HIGH // max(cell.shape[1:]))
        cell = cell.repeat(scale, 1).repeat(scale, 2)
        column = np.full((frames, HIGH, cell.shape[2] + BETWEEN), np.nan)
        top = (HIGH - cell.shape[1]) // 2
        column[:, top : top + cell.shape[1], : cell.shape[2]] = cell
        cells.append(column)
        names.append((x + cell.shape[2] / 2, f"{name}<br>{count}" + f" × {side}²" * (side > 1)))
        x += column.shape[2]
    every = np.concatenate(cells, 2)
    fig = basic.image(every[-1], zmin=-1, zmax=1, height=height, hover=False)
    fig.data[0].update(hoverinfo="skip", colorscale=theme.scale("diverging"))
    fig.layout.annotations = [
        {"x": at, "y": -1.5, "showarrow": False, "yanchor": "bottom", "text": text,
         "font": {"size": theme.FONT_SIZE - 4}} for at, text in names
    ]  # fmt: skip
    fig.layout.yaxis.range = [HIGH + 0.5, -11.5]
    return turning(fig, z=np.round(every, 2))
