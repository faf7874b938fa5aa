"""Losses over the steps of training beside entropies of the text, a sample in lines, the loss by position."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import curves, rule
from lab.figures.moving import Tree, marking, per_frame, resting, turning
from lab.figures.tokens import escape
from lab.lenses.rewind import Frame, stacked
from pages.transformer.gpt_trainer.lens import COLUMNS, ROWS, Recipe, levels
from pages.transformer.gpt_trainer.words import rows, visible

BOUNDS = {"training": theme.INPUT, "held out": theme.OUTPUT}
BLANK = " "  # Plotly forgets a text that is empty, and shows the next one there a frame too late


def losses(frames: Sequence[Frame], recipe: Recipe) -> list[float]:
    """Ends of an axis of losses: a little below 0, whose label would lie on that of the other axis, and above
    ln V and what has run away as far as it is drawn."""
    most = max(levels(recipe).values())
    values = np.concatenate([stacked(frames, name).ravel() for name in ("train", "val", "places")])
    seen = values[np.isfinite(values)]
    end = float(min(max(1.12 * most, 1.05 * seen.max(initial=0)), 2.5 * most))
    return [-0.08 * end, end]


def leveled(fig: go.Figure, recipe: Recipe) -> None:
    """Dotted lines at ln V and the two entropies, each with its name."""
    for name, height in levels(recipe).items():
        rule(fig, y=height, line={"color": theme.HIDDEN, "width": 2, "dash": "dot"},
             annotation={"text": f"{name} {height:.2f}"})  # fmt: skip


def course(
    frames: Sequence[Frame], steps: Sequence[int], turned: Sequence[int], last: int, recipe: Recipe
) -> Tree:
    """Losses of training and held-out windows; shape 0 is a line at the frame.

    Args:
        turned: steps at which knobs were turned. last: end of the abscissa.
    """
    train, val = (stacked(frames, name).astype(float) for name in ("train", "val"))
    fig = curves({"training": train, "held out": val}, steps, mark=0, xlabel="steps of training",
                 ylabel="loss in nats", colors=BOUNDS)  # fmt: skip
    for place in turned:
        rule(fig, x=place, line={"color": theme.VERMILLION, "width": 2})
    leveled(fig, recipe)
    fig.update_xaxes(range=[0, last], nticks=6)
    fig.update_yaxes(range=losses(frames, recipe), nticks=6)
    tree = marking(fig, list(steps))
    return resting(tree, (list(steps), val.tolist(), theme.OUTPUT))


def colored(line: str, known: frozenset[str]) -> str:
    """A line in which the words of the text are orange; it ends where the row is cut, in a word or not."""
    parts = []
    for space, run in groupby(line, str.isspace):
        text = "".join(run)
        shown = escape(visible(text)).replace(" ", "\u00a0")
        parts.append(
            f'<span style="color:{theme.OUTPUT}">{shown}</span>' if not space and text in known else shown
        )
    return "".join(parts) or BLANK


def sample(frames: Sequence[Frame], recipe: Recipe) -> Tree:
    """Rows of the sample at each frame, the words that the training text has in orange."""
    known = recipe.data.words
    lines = [[colored(line, known) for line in rows(recipe, frame)] for frame in frames]
    fig = go.Figure(
        go.Scatter(
            x=[0] * ROWS, y=list(range(ROWS)), text=lines[0], mode="text", textposition="middle right",
            hoverinfo="skip", showlegend=False,
            textfont={"family": "monospace", "size": theme.FONT_SIZE, "color": theme.text()},
        )
    )  # fmt: skip
    fig.update_xaxes(visible=False, range=[-0.5, COLUMNS + 1])
    fig.update_yaxes(visible=False, range=[ROWS - 0.4, -0.6])
    fig.update_layout(margin={"t": 4, "b": 4, "l": 4, "r": 4}, height=160)
    tree: dict[str, Any] = fig.to_plotly_json()
    tree["data"][0]["text"] = per_frame(lines)
    return tree


def by_place(frames: Sequence[Frame], recipe: Recipe) -> Tree:
    """Held-out loss at each place of the window, over the characters that are seen there."""
    places = stacked(frames, "places").astype(float)  # (F, T)
    T = recipe.context
    fig = curves({"held out": places[0]}, np.arange(1, T + 1), xlabel="characters seen", markers=T <= 16,
                 ylabel="loss in nats", colors=BOUNDS)  # fmt: skip
    leveled(fig, recipe)
    fig.update_xaxes(range=[0, T + 1], nticks=6)
    fig.update_yaxes(range=losses(frames, recipe), nticks=6)
    return turning(fig, y=places)
