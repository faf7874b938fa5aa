"""The seven nodes of batch normalisation with their numbers, and the batch before and after."""

from typing import Any

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame
from pages.convolution.normalization.by_hand import Worked
from pages.convolution.normalization.room import MOVES, NODES

HEIGHT = 480
# Columns of the nodes with one number for each example, and of those with one: (x, whether it is low).
PLACES = {"z": (0.0, False), "f1": (0.6, True), "f2": (1.2, False), "f3": (2.4, False), "f4": (2.4, True),
          "f5": (3.45, True), "f6": (4.5, True), "f7": (4.5, False), "y": (5.7, False)}  # fmt: skip
WIRES = (("z", "f1"), ("z", "f2"), ("f1", "f2"), ("f2", "f3"), ("f3", "f4"), ("f4", "f5"), ("f5", "f6"),
         ("f6", "f7"), ("f2", "f7"), ("f7", "y"))  # fmt: skip
SIGNS = {"z": "z", "f1": "f₁ mean", "f2": "f₂ = z − f₁", "f3": "f₃ = f₂²", "f4": "f₄ mean", "f5": "f₅ root",
         "f6": "f₆ = 1/f₅", "f7": "f₇ = f₂f₆", "y": "y = γf₇ + δ"}  # fmt: skip
WIDE = 0.42  # half the width of a box


def at_move(move: int) -> tuple[str, bool]:
    """The node that a step computes, and whether it is its gradient."""
    n = len(NODES)
    return (NODES[move], False) if move < n else (NODES[2 * n - 1 - move], True)


def known(node: str, move: int) -> tuple[bool, bool]:
    """Whether value and gradient of a node are there after a step."""
    place = NODES.index(node)
    return move >= place, move >= 2 * len(NODES) - 1 - place


def shorter(value: float) -> str:
    """A number in few signs."""
    if value and not 1e-3 <= abs(value) < 1e4:
        return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e").replace("-", "−")
    return f"{value:z.3f}".replace("-", "−")


def nodes(one: Worked) -> Tree:
    """Values above and gradients below in each box; in frame f those of the first steps, the last in full."""
    N = len(one.before)
    low = -(N + 1.0)  # of the row of single numbers
    notes, shapes, x, y = list[dict[str, Any]](), list[dict[str, Any]](), [], []
    texts: list[list[str]] = [[] for _ in MOVES]
    slopes: list[list[str]] = [[] for _ in MOVES]
    for node, (column, single) in PLACES.items():
        values, gradients = (v[node].reshape(-1).tolist() for v in (one.forward, one.backward))
        for row, (value, gradient) in enumerate(zip(values, gradients, strict=True)):
            height = low if single else -row - 0.5
            x.append(column)
            y.append(height)
            for move in MOVES:
                there, back = known(node, move)
                texts[move].append(shorter(value) if there else "")
                slopes[move].append(shorter(gradient) if back else "")
            shapes.append({
                "type": "rect", "x0": column - WIDE, "x1": column + WIDE, "y0": height - 0.46,
                "y1": height + 0.46, "layer": "below", "fillcolor": theme.fade(theme.HIDDEN, 0.12),
                "line": {"width": per_frame([5.0 if at_move(m)[0] == node else 1.5 for m in MOVES]),
                         "color": theme.HIDDEN},
            })  # fmt: skip
        notes.append({"x": column, "y": low - 0.5 if single else 0.08, "text": SIGNS[node],
                      "showarrow": False, "yanchor": "top" if single else "bottom",
                      "font": {"size": 17}})  # fmt: skip
    for a, b in WIRES:
        notes.append(wire(a, b, N, low))
    arc = "M 1.2,0.55 C 1.7,1.15 4.0,1.15 4.5,0.55"
    shapes.append({"type": "path", "path": arc, "line": {"width": 2, "color": theme.HIDDEN}})
    both = {"type": "scatter", "mode": "text", "x": x, "hoverinfo": "skip", "showlegend": False}
    data = [
        both | {"y": [v + 0.2 for v in y], "text": per_frame(texts),
                "textfont": {"size": 17, "color": theme.INPUT if theme.mode() == "light" else theme.SKY}},
        both | {"y": [v - 0.2 for v in y], "text": per_frame(slopes),
                "textfont": {"size": 17, "color": theme.VERMILLION}},
    ]  # fmt: skip
    quiet = {"showgrid": False, "zeroline": False, "showticklabels": False, "fixedrange": True}
    layout = {
        "height": HEIGHT, "shapes": shapes, "annotations": [n for n in notes if n],
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
        "xaxis": quiet | {"range": [-0.5, 6.2]}, "yaxis": quiet | {"range": [low - 1.1, 1.1]},
    }  # fmt: skip
    return {"data": data, "layout": layout}


def wire(a: str, b: str, N: int, low: float) -> dict[str, Any]:
    """An arrow from a node to another; none for the arc over f3."""
    if (a, b) == ("f2", "f7"):
        return {}
    (x0, down0), (x1, down1) = PLACES[a], PLACES[b]
    middle, rim = -N / 2, -N - 0.02
    if down0 == down1:
        start, end = (x0 + WIDE, low if down0 else middle), (x1 - WIDE, low if down1 else middle)
    elif down1:
        start, end = (x0, rim), (x1, low + 0.48)
    else:
        start, end = (x0, low + 0.48), (x1, rim)
    return {"ax": start[0], "ay": start[1], "x": end[0], "y": end[1], "xref": "x", "yref": "y", "axref": "x",
            "ayref": "y", "text": "", "showarrow": True, "arrowhead": 2, "arrowwidth": 2,
            "arrowcolor": theme.HIDDEN}  # fmt: skip


def before_after(one: Worked) -> Tree:
    """The batch and what is made of it, each on a line of numbers, joined."""
    fig = basic.curves({}, height=HEIGHT, ylabel="")
    for a, b in zip(array(one.before), array(one.after), strict=True):
        fig.add_scatter(x=[0, 1], y=[a, b], mode="lines+markers", hoverinfo="skip", showlegend=False,
                        line={"color": theme.fade(theme.HIDDEN, 0.6), "width": 2},
                        marker={"size": 15, "color": [theme.INPUT, theme.OUTPUT]})  # fmt: skip
    fig.update_xaxes(tickvals=[0, 1], ticktext=["z", "y"], range=[-0.25, 1.25], showgrid=False)
    return fig.to_plotly_json()
