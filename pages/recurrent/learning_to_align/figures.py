"""The weights of a sentence at each frame of a training, what is written beside them, and the curves."""

from collections.abc import Sequence

import numpy as np

from lab.figures import theme
from lab.figures.alignments import gold_frames, weights
from lab.figures.basic import array
from lab.figures.moving import Tree, marking, per_frame, turning
from lab.figures.panels import level, over_training
from lab.lenses.rewind import Frame, stacked
from lab.lenses.translations import Sentence
from pages.recurrent.learning_to_align.lens import Reading, error, gold_words

BLANK = " "  # Plotly forgets a text that is empty, and shows the next one there a frame too late
WRITTEN = 0.24  # of the width: the words that are written
LINES: dict[str, tuple[str | int, str, str]] = {
    "words": ("words", theme.OUTPUT, "solid"),
    "sentences": ("sentences", theme.OUTPUT, "dot"),
    "AER γ > ¼": (0, theme.ATTENTION, "solid"),
    "AER max γ": (1, theme.ATTENTION, "dot"),
}


def alignment(read: Sequence[Reading], source: Sentence) -> Tree:
    """γ at each frame, gold cells framed, a row for each gold word; beside it what the model writes, wrong
    words coloured."""
    names = gold_words(source)
    gamma = np.stack([each.gamma for each in read])
    fig = weights(gamma[0], source.names, names)
    across = {
        "domain": [0, 1 - WRITTEN],
        "tickfont": {"size": max(8, min(theme.FONT_SIZE, 290 // len(source.names)))},
    }
    fig.update_layout(
        height=460, xaxis=across,
        xaxis2={"domain": [1 - WRITTEN, 1], "range": [-0.5, 0.5], "anchor": "y", "side": "top", "ticks": "",
                "tickvals": [0], "ticktext": ["writes"], "showgrid": False, "zeroline": False},
        shapes=[] if source.gold is None else gold_frames(source.gold.sure, source.gold.possible),
    )  # fmt: skip
    for wrong, color in ((False, theme.text()), (True, theme.VERMILLION)):
        fig.add_scatter(
            x=[0] * len(names), y=list(range(len(names))), xaxis="x2", mode="text", showlegend=False,
            hoverinfo="skip", textfont={"color": color, "size": fig.layout.yaxis.tickfont.size},
            name="wrong" if wrong else "right",
        )  # fmt: skip
    tree = turning(fig, 0, z=gamma)
    for trace, wrong in ((1, False), (2, True)):
        seen = [
            [(word or BLANK) if (bool(name) and word != name) == wrong else BLANK
             for word, name in zip(each.words, names, strict=True)]
            for each in read
        ]  # fmt: skip
        tree["data"][trace] |= {"text": per_frame(seen)}
    return tree


def course(
    frames: Sequence[Frame], steps: Sequence[int], turned: Sequence[int], last: int, uniform: float
) -> Tree:
    """What is right, alignment errors, and below the entropy of a row of γ, up to the step of each frame.

    Args:
        turned: steps at which knobs were turned. last: end of the abscissa.
        uniform: entropy of equal weights.
    """
    fig = over_training(
        ("right; alignment error", "entropy of γ; dotted: uniform"),
        steps, turned, last,
    )  # fmt: skip
    errors = error(stacked(frames, "links"))  # (F, 2)
    shown = {
        name: (stacked(frames, of) if isinstance(of, str) else errors[..., of], "y", color, dash)
        for name, (of, color, dash) in LINES.items()
    } | {"entropy": (stacked(frames, "entropy"), "y2", theme.HIDDEN, "solid")}
    for name, (values, axis, color, dash) in shown.items():
        fig.add_scatter(
            x=array(steps), y=values, name=name, yaxis=axis, hoverinfo="x+y+name",
            mode="lines" if len(steps) > 1 else "lines+markers", marker={"size": 8},
            line={"width": 3, "color": color, "dash": dash}, showlegend=axis == "y",
        )  # fmt: skip
    level(fig, "y2", uniform)
    fig.update_layout(
        showlegend=True, meta=theme.NAMED_ENDS, yaxis={"range": [-0.04, 1.06], "nticks": 4},
        yaxis2={"range": [-0.1, 1.15 * uniform], "nticks": 4},
    )  # fmt: skip
    tree = marking(fig, steps)
    until = np.tri(len(steps), dtype=bool)
    for trace, (values, *_) in enumerate(shown.values()):
        tree = turning(tree, trace, y=np.where(until, values.astype(float), np.nan))
    return tree
