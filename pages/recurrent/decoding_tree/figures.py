"""The tree of a translation, a row a word; beside it weights of one hypothesis, or the finished pool."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import alignments, beam_trees, theme
from lab.figures.moving import Tree, per_frame
from lab.figures.tokens import escape
from lab.lenses.beam_tree import along
from modules.language.beam import length_norm
from pages.recurrent.decoding_tree import lens
from pages.recurrent.decoding_tree.lens import Found, Tokens

TOP = 0.84  # of the height ends tree and weights, so that the rows of both are at one height
BESIDE = 220  # pixels of weights beside the tree at 1280×720
FEW, MANY = 5, 9  # columns of a tree: nodes have room for log p; have not all room for their words


def tree(found: Found, tokens: Tokens, top: float = TOP) -> go.Figure:
    """The tree of the search, up to this share of the height; the way to a hypothesis is marked."""
    nodes = found.tree
    names = ["", *found.names(tuple(nodes.tokens[1:]))]
    sums = [f"{log_p:.2f}".replace("-", "−") for log_p in nodes.log_prob]
    labels = names
    if max(nodes.place) < FEW:
        labels = [
            name if state == "pruned" else f"{name} {log_p}"
            for name, log_p, state in zip(names, sums, nodes.state, strict=True)
        ]
    elif max(nodes.place) >= MANY:  # words of what has finished, and of the hypothesis
        ends = [tokens, *(each.tokens for each in found.pool)]
        labels = [
            name if any(end[: len(text)] == text for end in ends) else ""
            for name, text in zip(names, nodes.text, strict=True)
        ]
    hover = [f"{found.read(text)}: log p = {log_p}" for text, log_p in zip(nodes.text, sums, strict=True)]
    fig = beam_trees.tree(
        nodes.depth, nodes.place, nodes.parent, labels, hover, nodes.state, nodes.group,
        along(nodes, tokens), way="best" if tokens == found.best.tokens else "this hypothesis", down=True,
    )  # fmt: skip
    return fig.update_layout(margin={"t": 8}, yaxis={"domain": [0, top]}, legend={"y": top + 0.01})


def weights(found: Found, tokens: Tokens) -> Tree:
    """γ of a hypothesis row by row; behind its fork circles where the best hypothesis has its largest."""
    T, names = len(found.trace), found.names(tokens)
    result = alignments.growing(lens.weights(found, tokens), found.source.names, names, count=T)
    result["layout"] |= {"margin": {"t": 8}}
    size = max(8, min(theme.FONT_SIZE - 2, BESIDE // len(found.source.names)))
    result["layout"]["xaxis"] |= {"automargin": False, "tickfont": {"size": size}}
    result["layout"]["yaxis"] |= {"range": [T - 0.4, -1.5], "domain": [0, TOP]}
    if (at := lens.behind(found, tokens)) is not None:
        best = lens.weights(found, found.best.tokens).argmax(1).tolist()
        seen = [[t if t <= f else np.nan for t in range(at, len(best))] for f in range(T)]
        circles = {
            "type": "scatter", "mode": "markers", "showlegend": False, "hoverinfo": "skip",
            "x": best[at:], "y": per_frame(seen),
            "marker": {"symbol": "circle-open", "size": 11, "color": theme.GREEN, "line": {"width": 2.5}},
        }  # fmt: skip
        line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": at - 0.5, "y1": at - 0.5,
                "line": {"color": theme.VERMILLION, "width": 2, "dash": "dot"}}  # fmt: skip
        result["data"] = [*result["data"], circles]
        result["layout"]["shapes"] = [line]
    return result


def pool(found: Found, alpha: float, k: int) -> Tree:
    """log p over the length: what has finished by each step, greedy and gold, and the line of the best score:
    what lies below it has less."""
    T, texts = len(found.trace), found.pool
    compared = [("greedy", found.greedy, theme.ORANGE, "diamond-open")]
    if found.gold is not None:
        compared = [("gold", found.gold, theme.YELLOW, "star"), *compared]
    known = [*texts, *(each for _, each, _, _ in compared)]
    lengths, sums = [len(each.tokens) for each in known], [each.log_prob for each in known]
    hover = [
        escape(f"{found.read(each.tokens)}: log p = {each.log_prob:.3f}, score = {each.score:.3f}")
        for each in known
    ]
    fig = go.Figure()
    for (name, each, color, symbol), says in zip(compared, hover[len(texts) :], strict=True):
        fig.add_scatter(
            x=[len(each.tokens)], y=[each.log_prob], name=name, mode="markers",
            hoverinfo="text", hovertext=[says],
            marker={"symbol": symbol, "size": 22, "color": color, "line": {"width": 2.5}},
        )  # fmt: skip
    low, high = min(lengths) - 1.5, max(lengths) + 1.5
    pad = 0.12 * (max(sums) - min(sums)) or 0.5
    result: dict[str, Any] = fig.to_plotly_json()
    ended = np.array([[len(each.tokens) <= f + 1 for each in texts] for f in range(T)])
    result["data"] = [*result["data"], {
        "type": "scatter", "mode": "markers", "name": "finished", "x": lengths[: len(texts)],
        "y": per_frame(np.where(ended, np.array(sums[: len(texts)]), np.nan)),
        "marker": {"size": 12, "symbol": "square", "color": theme.BLUE},
        "hoverinfo": "text", "hovertext": hover[: len(texts)],
    }]  # fmt: skip
    if texts:
        n = range(max(1, min(lengths) - 1), max(lengths) + 2)
        line = np.array([texts[0].score * length_norm(each, alpha, k) for each in n])
        result["data"].append({
            "type": "scatter", "mode": "lines", "name": "best score", "x": list(n), "hoverinfo": "skip",
            "y": per_frame([np.full_like(line, np.nan)] * (T - 1) + [line]),
            "line": {"color": theme.GREEN, "width": 3, "dash": "dot"},
        })  # fmt: skip
    result["layout"] |= {
        "xaxis": {"title": "words n", "range": [low, high], "dtick": 1 if high - low < 9 else 2},
        "yaxis": {"title": "log p", "range": [min(sums) - pad, max(sums) + pad]},
    }  # fmt: skip
    return result
