"""Attention weights row by row, words beside them, a score in its parts, curves over the length."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly.subplots import make_subplots

from lab.figures import theme
from lab.figures.alignments import gold_frames, growing
from lab.figures.basic import array, bars, curves
from lab.figures.moving import Tree, per_frame, turning
from lab.lenses.translations import ABOVE, differing
from pages.recurrent.translation.compare import Decoding, Lengths
from pages.recurrent.translation.lens import Pair, Parts, column


def alignment(pair: Pair, word: int) -> Tree:
    """γ, row by row as the decoder writes; gold cells have a frame, dashed where a link is possible only."""
    source, result = pair.source, pair.attention
    T = len(result.gamma)
    tree = growing(result.gamma, source.names, result.names)
    held = [column(result, t, word) for t in range(T)]
    mark = {
        "type": "scatter", "mode": "markers", "showlegend": False, "hoverinfo": "skip",
        "x": per_frame([[j] for j in held]), "y": per_frame([[t] for t in range(T)]),
        "marker": {"symbol": "circle-open", "size": 16, "color": theme.VERMILLION, "line": {"width": 3}},
    }  # fmt: skip
    if source.gold is not None:
        tree["layout"]["shapes"] = gold_frames(source.gold.sure[:T], source.gold.possible[:T])
    return tree | {"data": [*tree["data"], mark]}


def in_columns(
    names: Sequence[str], columns: Sequence[Sequence[str]], differ: Sequence[Sequence[bool]], film: int
) -> Tree:
    """Translations beside each other, one word per row, up to the step of the frame; words that differ are
    coloured."""
    rows = max(len(each) for each in columns)
    data: list[dict[str, Any]] = []
    for x, (name, each, wrong) in enumerate(zip(names, columns, differ, strict=True)):
        seen = [[w if t <= f else "" for t, w in enumerate(each)] for f in range(film - 1)] + [list(each)]
        data.append(
            {
                "type": "scatter", "mode": "text", "name": name, "showlegend": False, "hoverinfo": "skip",
                "x": [x] * len(each), "y": list(range(len(each))), "text": per_frame(seen),
                "textposition": "middle center",
                "textfont": {"color": [theme.VERMILLION if w else theme.text() for w in wrong]},
            }
        )  # fmt: skip
    across = {"range": [-0.5, len(names) - 0.5], "tickvals": list(range(len(names))), "side": "top",
              "ticktext": list(names), "showgrid": False, "zeroline": False}  # fmt: skip
    down = {"range": [rows - 0.5, -0.9], "tickvals": [], "showgrid": False, "zeroline": False}
    return {"data": data, "layout": {"xaxis": across, "yaxis": down, "height": 460}}


def translations(pair: Pair) -> Tree:
    """Gold, where it is known, attention and the fixed context."""
    columns = {"attention": pair.attention.names, "fixed": pair.fixed.names}
    if pair.source.gold is not None:
        columns = {"gold": pair.reference} | columns
    differ = [differing(each, pair.reference) for each in columns.values()]
    return in_columns(list(columns), list(columns.values()), differ, len(pair.attention.names))


def score(found: Parts) -> Tree:
    """The units of a score: what state and source add, and what comes of their sum."""
    A = found.terms.shape[1]
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08)
    units = list(range(1, A + 1))
    both = {"(Ws)ₐ": (found.query, theme.HIDDEN), "(Uz)ₐ": (found.key, theme.INPUT)}
    for name, (values, color) in both.items():
        fig.add_bar(x=units, y=array(values[0]), name=name, marker={"color": color}, row=1, col=1)
    fig.add_bar(x=units, y=array(found.terms[0]), name="vₐ tanh", row=2, col=1, showlegend=False)
    for row, shown in ((1, [found.query, found.key]), (2, [found.terms])):
        reach = 1.08 * max(float(each.abs().max()) for each in shown)
        fig.update_yaxes(range=[-reach, reach], row=row, col=1)
    fig.update_yaxes(title="Ws, Uz", row=1, col=1)
    fig.update_yaxes(title="v tanh(Ws + Uz)", row=2, col=1)
    fig.update_xaxes(title="hidden unit", row=2, col=1)
    fig.update_layout(height=460, barmode="group", showlegend=True)
    signs = [[theme.POSITIVE if v > 0 else theme.NEGATIVE for v in row] for row in found.terms.tolist()]
    tree = fig.to_plotly_json()
    for trace, values in enumerate((found.query, found.key, found.terms)):
        tree = turning(tree, trace, y=array(values))
    tree["data"][2] = {**tree["data"][2], "marker": {"color": per_frame(signs)}}
    return tree


def scores(pair: Pair) -> Tree:
    """e of all source words at each step, and their softmax γ."""
    result, names = pair.attention, pair.source.names
    fig = bars(names, result.gamma[0], horizontal=True, probability=True, xlabel="γ", color=theme.ATTENTION)
    fig.data[0].update(hovertext=None, hoverinfo="x")
    return turning(fig, 0, x=array(result.gamma))


def forced_and_free(result: Decoding) -> Tree:
    """The gold word and what is written at each step, forced and free; p of the gold word beside."""
    T = len(result.gold)
    columns = [result.gold, *result.words]
    differ = [[a != b for a, b in zip(each, result.gold, strict=True)] for each in columns]
    tree = in_columns(["gold", "forced", "free"], columns, differ, T)
    if result.divergence is not None:
        line = {"type": "line", "x0": -0.5, "x1": 2.5, "y0": result.divergence - 0.5,
                "y1": result.divergence - 0.5, "line": {"color": theme.VERMILLION, "width": 2}}  # fmt: skip
        tree["layout"]["shapes"] = [line]
    return tree


def gold_probabilities(result: Decoding) -> Tree:
    """p of the gold word at each step, forced and free, up to the step of the frame."""
    T = len(result.gold)
    steps, lines = list(range(1, T + 1)), {"forced": result.p[:, 0], "free": result.p[:, 1]}
    colors = {"forced": theme.INPUT, "free": theme.OUTPUT}
    fig = curves(lines, steps, colors=colors, markers=True, xlabel="step", ylabel="p(gold word)")
    fig.update_yaxes(range=[-0.05, 1.05], tickvals=[0, 0.5, 1])
    fig.update_xaxes(range=[0.5, T + 0.5])
    fig.update_layout(height=460)
    seen = np.tri(T, dtype=bool)
    tree: Tree = fig.to_plotly_json()
    for i, line in enumerate(lines.values()):
        tree = turning(tree, i, y=np.where(seen, array(line)[None], np.nan))
    return tree


def over_length(found: Lengths, of: str) -> Tree:
    """Share of sentences that are right, or alignment error, by clauses; the lengths of training shaded."""
    K = len(found.exact)
    if of == "exact":
        lines = {"attention": found.exact[:, 0], "fixed": found.exact[:, 1]}
        colors, title = {"attention": theme.ATTENTION, "fixed": theme.HIDDEN}, "sentences all right"
    else:
        lines = {f"γ > {ABOVE:g}": found.error[:, 0], "largest γ": found.error[:, 1]}
        colors, title = dict(zip(lines, (theme.ATTENTION, theme.SKY), strict=True)), "alignment error"
    fig = curves(lines, range(1, K + 1), colors=colors, markers=True, xlabel="clauses", ylabel=title)
    fig.update_yaxes(range=[-0.04, 1.04], tickvals=[0, 0.25, 0.5, 0.75, 1])
    fig.update_xaxes(tickvals=list(range(1, K + 1)), range=[0.7, max(K, 2) + 0.3])
    fig.add_vrect(x0=0.7, x1=found.trained + 0.5, fillcolor=theme.HIDDEN, opacity=0.15, line_width=0,
                  layer="below")  # fmt: skip
    fig.update_layout(height=460)
    return fig.to_plotly_json()
