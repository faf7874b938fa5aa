"""Molecules with what each atom or bond does to the answer."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame, resting
from lab.figures.networks import ink, layout, strokes
from pages.graph.molecule.lens import NETS, Atoms, Cuts, Pair
from pages.graph.molecule.reading import Molecule

HEIGHT, MANY = 500, 24
NAMES = dict(zip(NETS, ("GCN, mean", "GIN, sum", "atoms alone"), strict=True))
COLORS = dict(zip(NAMES.values(), (theme.BLUE, theme.GREEN, theme.HIDDEN), strict=True))
ELEMENTS = {"C": theme.HIDDEN, "N": theme.BLUE, "O": theme.VERMILLION}


def places(one: Molecule) -> np.ndarray:
    """Of the atoms, (N, 2), the longer side across."""
    p = array(layout(one.edge_index, len(one.symbols)))
    p = p - p.mean(0)
    if len(p) < 2:
        return p
    _, _, axes = np.linalg.svd(p)
    turned = p @ axes.T
    return turned * np.where(turned[np.abs(turned).argmax(0), range(2)] < 0, -1, 1)


def atom_at(one: Molecule, x: float, y: float) -> int:
    """The atom that is drawn nearest."""
    return int(np.linalg.norm(places(one) - [x, y], axis=1).argmin())


def lines(p: np.ndarray, bonds: Sequence[Sequence[int]], at: str = "", **line: Any) -> dict[str, Any]:
    x, y = strokes(p, bonds)
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip", "showlegend": False,
            "xaxis": f"x{at}", "yaxis": f"y{at}", "line": line}  # fmt: skip


def discs(one: Molecule, p: np.ndarray, colors: Sequence[str], at: str = "", **more: Any) -> dict[str, Any]:
    size = 40 if len(p) <= MANY else 28
    return {
        "type": "scatter", "mode": "markers+text", "x": p[:, 0], "y": p[:, 1], "text": list(one.symbols),
        "hoverinfo": "skip", "showlegend": False, "xaxis": f"x{at}", "yaxis": f"y{at}",
        "textfont": {"size": 20 if len(p) <= MANY else 15, "color": [ink(c) for c in colors]},
        "marker": {"size": size, "color": list(colors), "opacity": 1,
                   "line": {"width": 1.5, "color": theme.text()}} | more,
    }  # fmt: skip


def whole(data: list[dict[str, Any]], p: np.ndarray) -> Tree:
    room = 0.45, 0.3  # to a side there is a number beside its atom
    low, high = p.min(0) - room, p.max(0) + room
    shape = {"visible": False, "constrain": "domain"}
    return {"data": data, "layout": {
        "height": HEIGHT, "margin": {"l": 4, "r": 4, "t": 4, "b": 4}, "hovermode": "closest",
        "meta": theme.SHRINKING, "xaxis": shape | {"range": [low[0], high[0]]},
        "yaxis": shape | {"range": [low[1], high[1]], "scaleanchor": "x"},
    }}  # fmt: skip


def shade(value: float, most: float) -> str:
    """A colour of the diverging scale, "#RRGGBB"."""
    colors = [str(color) for _, color in theme.scale("diverging")]
    place = (len(colors) - 1) * (0.5 + 0.5 * value / (most or 1.0))
    low = min(int(place), len(colors) - 2)
    ends = [[int(colors[k][i : i + 2], 16) for i in (1, 3, 5)] for k in (low, low + 1)]
    mixed = [round(a + (b - a) * (place - low)) for a, b in zip(*ends, strict=True)]
    return "#" + "".join(f"{v:02X}" for v in mixed)


def free_sides(p: np.ndarray, bonds: Any) -> np.ndarray:
    """Directions (N, 2) of length 1 into a wide gap between the bonds of each atom, rather to the outside."""
    results = []
    for n, here in enumerate(p):
        ends = [b if a == n else a for a, b in bonds if n in (a, b)]
        x, y = (p[ends] - here).T if ends else np.array([[0.0], [-1.0]])
        turns = np.sort(np.arctan2(y, x))
        gaps = np.diff(turns, append=turns[0] + 2 * np.pi)
        sides = np.stack([np.cos(turns + gaps / 2), np.sin(turns + gaps / 2)], 1)
        away = here - p.mean(0)
        results.append(sides[(gaps + sides @ away / max(float(np.linalg.norm(away)), 1e-6)).argmax()])
    return np.stack(results)


def number(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def contributions(one: Atoms) -> Tree:
    """The molecule in the colours of its contributions; frame k has added the first k atoms."""
    p, parts = places(one.molecule), array(one.answer.parts)
    N, most = len(p), float(np.abs(parts).max())
    colors = [shade(v, 1.2 * most) for v in parts]
    width = [[6.0 if n == k - 1 else 1.5 for n in range(N)] for k in range(N + 1)]
    shown = [[1.0 if n < k else 0.3 for n in range(N)] for k in range(N + 1)]
    disc = discs(one.molecule, p, colors, opacity=per_frame(shown))
    disc["marker"]["line"] = {"width": per_frame(width), "color": theme.text()}
    disc |= {"hoverinfo": "text", "hovertext": [f"atom {n}: {number(v)}" for n, v in enumerate(parts)]}
    data = [lines(p, one.molecule.bonds, color=theme.HIDDEN, width=4), disc]
    if N <= MANY:
        beside = p + 0.23 * free_sides(p, one.molecule.bonds)
        data.append({
            "type": "scatter", "mode": "text", "x": beside[:, 0], "y": beside[:, 1], "hoverinfo": "skip",
            "text": [number(v) for v in parts], "showlegend": False,
            "textfont": {"size": 15, "color": theme.text()},
        })  # fmt: skip
    return whole(data, p)


def waterfall(one: Atoms) -> Tree:
    """β, then the contributions one above the other; frame k has the first k of them full."""
    parts = array(one.answer.parts)
    N = len(parts)
    ends = np.concatenate([[0.0, one.answer.bias], one.answer.bias + np.cumsum(parts)])
    steps = np.diff(ends)
    colors = [theme.HIDDEN, *(theme.POSITIVE if v >= 0 else theme.NEGATIVE for v in parts)]
    shown = [[1.0 if n <= k else 0.2 for n in range(N + 1)] for k in range(N + 1)]
    low, high = min(ends.min(), 0), max(ends.max(), 0)
    room = 0.08 * (high - low or 1.0)
    bars = {"type": "bar", "x": list(range(N + 1)), "y": steps, "base": ends[:-1], "showlegend": False,
            "hoverinfo": "skip", "marker": {"color": colors, "opacity": per_frame(shown)}}  # fmt: skip
    edge = {"width": 2, "color": theme.text()}
    dot = {"type": "scatter", "mode": "markers", "x": per_frame([[k] for k in range(N + 1)]),
           "y": per_frame([[ends[k + 1]] for k in range(N + 1)]), "hoverinfo": "skip", "showlegend": False,
           "marker": {"size": 15, "color": theme.OUTPUT, "line": edge}}  # fmt: skip
    return {"data": [bars, dot], "layout": {
        "height": HEIGHT, "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "xaxis": {"title": {"text": "β, then atoms"}, "showgrid": False, "range": [-0.7, N + 0.7],
                  "tickvals": [0], "ticktext": ["β"]},
        "yaxis": {"title": {"text": "logit so far"}, "range": [low - room, high + room], "nticks": 5},
    }}  # fmt: skip


def plain(one: Molecule) -> list[str]:
    """Colours of the elements."""
    return [ELEMENTS.get(symbol, theme.GREEN) for symbol in one.symbols]


def cut(one: Cuts) -> Tree:
    """The molecule; frame b + 1 has bond b dotted."""
    p, bonds = places(one.molecule), one.molecule.bonds
    ends = np.array([[p[a], p[b]] for a, b in bonds]).reshape(-1, 2, 2)
    still = np.concatenate([np.full((1, 2, 2), np.nan), ends])
    paper = lines(p, [], color=theme.paper(), width=8)
    dots = lines(p, [], color=theme.VERMILLION, width=5, dash="dot")
    for line in (paper, dots):
        line |= {"x": per_frame(still[..., 0]), "y": per_frame(still[..., 1])}
    return whole(
        [
            lines(p, bonds, color=theme.HIDDEN, width=5),
            paper,
            dots,
            discs(one.molecule, p, plain(one.molecule)),
        ],
        p,
    )


def probabilities(one: Cuts) -> Tree:
    """p of every network without each bond; "0" is the whole molecule."""
    curves = {NAMES[name]: np.array(values) for name, values in one.p.items()}
    xs = list(range(len(one.molecule.bonds) + 1))
    fig = basic.curves(curves, xs, xlabel="bond that is cut (first: none)", ylabel="p of mutagenic",
                       height=HEIGHT, colors=COLORS)  # fmt: skip
    fig.update_yaxes(range=[-0.04, 1.06], nticks=3)
    fig.update_xaxes(nticks=5)
    return resting(fig, *((xs, values, COLORS[name]) for name, values in curves.items()), size=16)


def two(one: Pair) -> Tree:
    """Both molecules, side by side, named by their atoms."""
    data, axes, notes = list[dict[str, Any]](), dict[str, Any](), []
    for k, (each, at) in enumerate(((one.first, ""), (one.second, "2"))):
        p = places(each)
        data += [lines(p, each.bonds, at, color=theme.HIDDEN, width=5), discs(each, p, plain(each), at)]
        half = max(float(np.abs(p).max()), 0.4) + 0.3
        domain = [0.52 * k, 0.48 + 0.52 * k]
        shape = {"visible": False, "range": [-half, half]}
        axes |= {
            f"xaxis{at}": shape | {"domain": domain, "anchor": f"y{at}"},
            f"yaxis{at}": shape | {"domain": [0, 0.9], "anchor": f"x{at}", "scaleanchor": f"x{at}"},
        }
        notes.append(
            {
                "x": domain[0],
                "xref": "paper",
                "xanchor": "left",
                "y": 1,
                "yref": "paper",
                "yanchor": "top",
                "text": f"<b>{('first', 'second')[k]}</b>",
                "showarrow": False,
            }
        )
    return {"data": data, "layout": axes | {
        "height": HEIGHT, "margin": {"l": 4, "r": 4, "t": 4, "b": 4}, "annotations": notes,
        "meta": theme.SHRINKING,
    }}  # fmt: skip


def compared(one: Pair) -> Tree:
    """p of both molecules by each network."""
    names = [NAMES[name] for name in one.p]
    values = torch.tensor([list(pair) for pair in one.p.values()])
    bars = [
        {"type": "bar", "x": names, "y": array(values[:, k]), "name": name, "marker": {"color": color},
         "text": [f"{v:.2f}" for v in values[:, k].tolist()], "textposition": "outside", "hoverinfo": "skip",
         "textfont": {"size": 15}, "cliponaxis": False}
        for k, (name, color) in enumerate((("first", theme.OUTPUT), ("second", theme.SKY)))
    ]  # fmt: skip
    return {"data": bars, "layout": {
        "height": HEIGHT, "margin": {"l": 8, "r": 8, "t": 40, "b": 8}, "barmode": "group",
        "yaxis": {"title": {"text": "p of mutagenic"}, "range": [0, 1.1], "nticks": 3},
    }}  # fmt: skip
