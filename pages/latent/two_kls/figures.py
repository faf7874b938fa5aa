"""The identities as stacks; the two joints as bars."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, stacks, theme
from lab.figures.basic import array
from pages.latent.two_kls.lens import COLUMNS, PRINTED, Story

PLACES = {"whole": 0, "joint": 1, "parts": 2, "rate": 3, "information": 4, "printed joint": 5, "printed": 6}


def columns(printed: bool) -> tuple[str, ...]:
    return (*COLUMNS, *PRINTED) if printed else COLUMNS


def parts(story: Story, printed: bool) -> tuple[list[stacks.Part], list[stacks.Level]]:
    """Every column's parts and the two levels, for every λ."""
    n = {name: array(values) for name, values in story.numbers.items()}
    count = len(columns(printed))

    def at(**values: Any) -> np.ndarray:
        out = np.full((len(story.q), count), np.nan)
        for name, value in values.items():
            place = PLACES[name.replace("_", " ")]
            if place < count:
                out[:, place] = value
        return out

    split = n["marginal"] + n["posterior"]
    named = (
        ("E[−ELBO]", theme.INPUT, at(whole=0), at(whole=n["negative_elbo"])),
        ("joint KL", theme.SKY, at(joint=0, printed_joint=0), at(joint=n["joint"], printed_joint=n["joint"])),
        ("KL(q_D‖p)", theme.OUTPUT, at(parts=0), at(parts=n["marginal"])),
        ("KL to the posterior", theme.VERMILLION, at(parts=n["marginal"]), at(parts=split)),
        ("H(q_D)", theme.HIDDEN, at(joint=n["joint"], parts=split),
         at(joint=n["joint"] + n["entropy"], parts=split + n["entropy"])),
        ("rate", theme.ATTENTION, at(rate=0), at(rate=n["rate"])),
        ("I(x;z)", theme.GREEN, at(information=0), at(information=n["information"])),
        ("KL(q(z)‖p)", theme.YELLOW, at(information=n["information"]),
         at(information=n["information"] + n["aggregated"])),
        ("without I", theme.INPUT, at(printed=0), at(printed=story.without_information)),
    )  # fmt: skip
    return [stacks.Part(*one, legend=False) for one in named], [
        stacks.Level("E[−ELBO]", theme.VERMILLION, np.minimum(n["negative_elbo"], 1e6), "dot"),
        stacks.Level("H(q_D): no bound goes below", theme.text(), n["entropy"]),
    ]


def reach(story: Story) -> tuple[float, float]:
    """The axis of the stacks, with room for what is infinite."""
    every = np.concatenate([array(story.numbers[name]) for name in ("negative_elbo", "rate", "entropy")])
    finite = every[np.isfinite(every)]
    return 0.0, 1.12 * max(0.1, float(finite.max()))


def joints(story: Story, labels: list[str], at: int) -> go.Figure:
    """Both joints over the pairs; trace 0 is the model's, trace 1 that of data and inference."""
    fig = basic.bars(labels, story.q[at], baseline=story.p, xlabel="x, z",
                     ylabel="probability", names=("q_D(x) q(z|x)", "p(x, z)"))  # fmt: skip
    top = max(float(story.q.max()), float(story.p.max()))
    fig.update_xaxes(tickvals=list(range(len(labels)))[:: 1 + (len(labels) > 9)],
                     ticktext=labels[:: 1 + (len(labels) > 9)], tickangle=0)  # fmt: skip
    return fig.update_yaxes(range=[0, 1.1 * top], nticks=5)
