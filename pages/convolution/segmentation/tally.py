"""One answer beside the vote of several, and what the vote gains and loses."""

from typing import Any

import numpy as np

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame, resting
from pages.convolution.segmentation.figures import HEIGHT, LEGEND, flat, keys, tile
from pages.convolution.segmentation.room import VOTES
from pages.convolution.segmentation.voting import Vote

TRUE, FALSE, SOME = theme.GREEN, theme.VERMILLION, theme.YELLOW
MEASURES = {"precision": theme.GREEN, "recall": theme.PURPLE}


def codes(one: Vote, agreed: Any) -> Any:
    """0 for a true pixel of what is agreed on, 1 for a wrong one, 2 where only some say so, NaN elsewhere."""
    found = np.full(agreed.shape, np.nan)
    right = array(one.masks[0] if one.truth is None else one.truth).astype(bool)
    found[agreed] = np.where(right[agreed], 0.5, 1.5)
    return found


def ballots(one: Vote) -> Tree:
    """The picture with one answer, and with the vote of as many as the frame says."""
    grey = {"zmin": 0, "zmax": 1, "colorscale": theme.scale("grey"), "hoverinfo": "skip",
            "hovertemplate": None}  # fmt: skip
    over = {"zmin": 0, "zmax": 3, "colorscale": flat((TRUE, FALSE, SOME)), "hoverinfo": "skip",
            "hovertemplate": None, "opacity": 0.85}  # fmt: skip
    masks = array(one.masks).astype(bool)
    films = []
    for count in VOTES:
        agreed, any_of = masks[:count].all(0), masks[:count].any(0)
        z = codes(one, agreed)
        z[any_of & ~agreed] = 2.5
        films.append(z)
    titles = "one answer", per_frame(["one answer", *(f"all {k} agree" for k in VOTES[1:])])
    data, layout, notes = list[dict[str, Any]](), dict[str, Any](), []
    for column, z in enumerate((codes(one, masks[0]), per_frame(np.array(films)))):
        below, x, y, title = tile(array(one.of.x), titles[column], column, 0, 1, 2, **grey)
        above, *_ = tile(z, titles[column], column, 0, 1, 2, **over)
        data += [below, above]
        layout |= x | y
        notes.append(title)
    if one.truth is None:  # of a drawing nobody knows more than that they agree
        data += keys(("all say so", "only some say so"), (TRUE, SOME))
    else:
        data += keys(("true", "wrong", "only some say so"), (TRUE, FALSE, SOME))
    return {"data": data, "layout": layout | LEGEND | {"height": HEIGHT - 40, "annotations": notes}}


def shares(one: Vote) -> Tree:
    """Precision and recall against the number of answers that must agree."""
    xs, columns = list(VOTES), np.array(one.shares).T
    lines = dict(zip(MEASURES, columns, strict=True))
    fig = basic.curves(lines, xs, xlabel="answers", height=HEIGHT - 40, colors=MEASURES, markers=True)
    fig.update_yaxes(range=[-0.04, 1.06], nticks=3)
    fig.update_xaxes(tickvals=xs)
    return resting(fig, *((xs, lines[name], color) for name, color in MEASURES.items()), size=16)
