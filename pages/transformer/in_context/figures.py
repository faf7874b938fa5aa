"""Errors over shots, one question answered again and again, attention of a question, answers, shares."""

import numpy as np
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, bars, curves, heatmap, rule
from lab.figures.moving import Tree, marking, per_frame, resting, turning
from pages.transformer.in_context import lens, maps

TALL = 460
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)  # of errors, on a log scale
COLORS = {
    lens.OURS: theme.OUTPUT, "ridge": theme.GREEN, "least squares": theme.HIDDEN, "one step": theme.INPUT,
    "shown": theme.OUTPUT, "missing": theme.VERMILLION, "missing, Bayes": theme.GREEN,
    maps.COPIES: theme.OUTPUT, maps.KEEPS: theme.VERMILLION,
}  # fmt: skip


def errors(found: dict[str, Tensor]) -> Tree:
    """Mean squared errors over shots, log scale; least squares leaves the picture at its peak."""
    lines = {name: array(values) for name, values in found.items()}
    x = np.arange(len(lines[lens.OURS]))
    fig = curves(lines, x, markers=True, log_y=True, mark=0, ends=True, xlabel="shots k",
                 ylabel="mean squared error", colors=COLORS, height=TALL)  # fmt: skip
    low, high = (f(lines[name]) for f, name in ((np.min, "ridge"), (np.max, lens.OURS)))
    ends = 0.8 * min(float(low), lens.NOISE**2), 1.6 * float(high)
    ticks = [v for v in TICKS if ends[0] <= v <= ends[1]]
    fig.update_yaxes(range=np.log10(ends).tolist(), tickvals=ticks, ticktext=[f"{v:g}" for v in ticks])
    fig.update_xaxes(tickvals=list(range(0, len(x), 5)))
    rule(fig, y=lens.NOISE**2, line={"color": theme.HIDDEN, "width": 2, "dash": "dash"})
    return resting(marking(fig, x.tolist()), (x.tolist(), lines[lens.OURS].tolist(), theme.OUTPUT))


def answers(one: lens.Answered) -> Tree:
    """One question, answered after each number of shots."""
    lines = {name: array(one.predictions[name]) for name in (lens.OURS, "ridge")}
    x = np.arange(len(lines[lens.OURS]))
    fig = curves(lines, x, markers=True, mark=0, xlabel="shots k", ylabel="answer to one question",
                 colors=COLORS, height=TALL)  # fmt: skip
    rule(fig, y=one.target, line={"color": theme.text(), "width": 2, "dash": "dash"})
    values = np.concatenate([*lines.values(), [one.target]])
    room = 0.1 * float(np.ptp(values) or 1.0)
    fig.update_yaxes(range=[float(values.min()) - room, float(values.max()) + room])
    fig.update_xaxes(tickvals=list(range(0, len(x), 5)))
    return resting(marking(fig, x.tolist()), (x.tolist(), lines[lens.OURS].tolist(), theme.OUTPUT))


def looks(one: maps.Answers) -> Tree:
    """Where each head looks from the arrow of the frame; outlined the answers of the letter asked for."""
    z, T = array(one.looks), len(one.names)
    fig = heatmap(z[0], one.names, one.heads, colorbar=False, zmin=0, zmax=1, hover=False, height=TALL,
                  xlabel="prompt", ylabel="layer.head")  # fmt: skip
    fig.update_traces(hoverinfo=None, hovertemplate="%{y} at %{x}: %{z:.3f}<extra></extra>")
    tree = turning(fig, z=z)
    frames = range(len(one.keys))
    shapes = [
        edges([3 * n + 0.5 for n in frames], [3 * n + 1.5 for n in frames], len(one.heads), theme.INPUT)
    ]
    most = max(len(one.matches(n)) for n in frames)
    for i in range(most):
        at = [one.matches(n)[i] if i < len(one.matches(n)) else T + 9 for n in frames]
        shapes.append(edges([p - 2.5 for p in at], [p + 0.5 for p in at], len(one.heads), theme.OUTPUT))
    tree["layout"]["shapes"] = shapes
    return tree


def edges(x0: list[float], x1: list[float], rows: int, color: str) -> dict[str, object]:
    """An outline around columns, which moves."""
    return {
        "type": "rect", "x0": per_frame(x0), "x1": per_frame(x1), "y0": -0.5, "y1": rows - 0.5,
        "line": {"width": 4, "color": color},
    }  # fmt: skip


def candidates(one: maps.Answers) -> Tree:
    """The likeliest answers of the frame, and their probabilities by Bayes."""
    tops = [maps.top(one, n) for n in range(len(one.keys))]
    fig = bars(tops[0][0], tops[0][1], baseline=tops[0][2], names=("transformer", "Bayes"), horizontal=True,
               probability=True, xlabel="p(answer)", height=TALL)  # fmt: skip
    tree = turning(turning(fig, 0, x=[array(b) for _, _, b in tops]), 1, x=[array(p) for _, p, _ in tops])
    tree["layout"]["yaxis"]["ticktext"] = per_frame([names for names, _, _ in tops])
    return tree


def shares(found: dict[str, Tensor]) -> Tree:
    """Accuracy over shots."""
    lines = {name: array(values) for name, values in found.items()}
    x = np.arange(len(next(iter(lines.values()))))
    fig = curves(lines, x, markers=True, mark=0, xlabel="shots k", ylabel="share of answers", colors=COLORS,
                 height=TALL, ends=True)  # fmt: skip
    fig.update_yaxes(range=[-0.03, 1.03])
    fig.update_xaxes(tickvals=list(range(0, len(x), 2)))
    return marking(fig, x.tolist())
