"""Pictures after each stack with a heatmap or a skeleton over them, and correct joints by stack."""

import math
from typing import Any

import numpy as np
from torch import Tensor

from datamodules.stick_figures import JOINTS, LIMBS
from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame, resting
from pages.convolution.pose.lens import Judged, Look
from pages.convolution.pose.room import SHARES, SIDE

HEIGHT = 540
GAP = 0.02  # between pictures, of the width
SIDES = {"left": theme.SKY, "right": theme.ORANGE, "middle": theme.YELLOW}
HEAT = [[k / 4, theme.fade(theme.VERMILLION, 0.85 * k / 4)] for k in range(5)]
MOST = 3  # stacks that are shown


def side_of(joint: int) -> str:
    word = JOINTS[joint].split()[0]
    return word if word in SIDES else "middle"


def limb_side(limb: tuple[int, int]) -> str:
    """The side that a limb belongs to: that of its ends, "middle" where they differ."""
    sides = {side_of(joint) for joint in limb} - {"middle"}
    return sides.pop() if len(sides) == 1 else "middle"


def shown(stacks: int) -> list[int]:
    """Numbers of the stacks that have room: the first ones, and the last."""
    return [*range(min(stacks, MOST) - 1), stacks - 1]


class Panels:
    """Pictures side by side, in coordinates of their edges."""

    def __init__(self, count: int, titles: list[str]) -> None:
        self.data: list[dict[str, Any]] = []
        width = (1 - GAP * (count - 1)) / count
        self.layout: dict[str, Any] = {
            "height": HEIGHT, "margin": {"l": 4, "r": 4, "t": 30, "b": 36}, "annotations": [],
            "showlegend": True,
            "legend": {"orientation": "h", "x": 0.5, "xanchor": "center", "y": -0.01, "yanchor": "top"},
        }  # fmt: skip
        for k, title in enumerate(titles):
            at = self.at(k)
            axis = {"visible": False, "constrain": "domain", "range": [0, SIDE]}
            left = k * (width + GAP)
            self.layout[f"xaxis{at}"] = axis | {"domain": [left, left + width], "anchor": f"y{at}"}
            self.layout[f"yaxis{at}"] = axis | {
                "range": [SIDE, 0], "anchor": f"x{at}", "scaleanchor": f"x{at}",
            }  # fmt: skip
            self.layout["annotations"].append({
                "x": 0.5, "xref": f"x{at} domain", "y": 1, "yref": f"y{at} domain", "xanchor": "center",
                "yanchor": "bottom", "text": title, "showarrow": False, "font": {"size": theme.FONT_SIZE + 1},
            })  # fmt: skip

    @staticmethod
    def at(k: int) -> str:
        return "" if k == 0 else str(k + 1)

    def add(self, k: int, **trace: Any) -> None:
        axes = {"xaxis": f"x{self.at(k)}", "yaxis": f"y{self.at(k)}"}
        self.data.append(axes | {"showlegend": False, "hoverinfo": "skip"} | trace)

    def map(self, k: int, z: Any, cell: float, colors: Any) -> None:
        """A map from 0 to 1 whose cells have so many pixels."""
        middles = (np.arange(round(SIDE / cell)) + 0.5) * cell
        self.add(k, type="heatmap", z=z, x=middles, y=middles, zmin=0, zmax=1, colorscale=colors,
                 showscale=False)  # fmt: skip

    def dots(self, k: int, places: Any, **marker: Any) -> None:
        """Marks at places (F, P, 2), row and column, in each frame."""
        p = array(places)
        self.add(k, type="scatter", mode="markers", x=per_frame(p[..., 1]), y=per_frame(p[..., 0]),
                 marker=marker)  # fmt: skip

    def named(self, name: str, **marker: Any) -> None:
        """An entry of the legend."""
        self.data.append({"type": "scatter", "x": [None], "y": [None], "mode": "markers", "name": name,
                          "hoverinfo": "skip", "marker": {"size": 14} | marker})  # fmt: skip

    def clicked(self, k: int) -> None:
        at = np.arange(1.0, SIDE)
        plane = basic.click_plane(at, at).to_plotly_json()
        self.data.append(plane | {"xaxis": f"x{self.at(k)}", "yaxis": f"y{self.at(k)}"})

    @property
    def tree(self) -> Tree:
        return {"data": self.data, "layout": self.layout}


def titles(stacks: int) -> list[str]:
    return [f"after stack {s + 1}" for s in shown(stacks)]


def ring(color: str) -> dict[str, Any]:
    """The look of a true place."""
    return {"size": 20, "symbol": "circle-open", "color": color, "line": {"width": 3, "color": color}}


CROSS = {"size": 18, "symbol": "x", "color": theme.VERMILLION, "line": {"width": 2, "color": "#FFFFFF"}}


def maps(look: Look) -> Tree:
    """The picture after each stack under the heatmap of the frame's joint, with its maximum and its place."""
    panels = Panels(len(shown(look.stacks)), titles(look.stacks))
    count = len(JOINTS)
    for k, stack in enumerate(shown(look.stacks)):
        panels.map(k, array(look.x[0]), 1, theme.scale("grey"))
        panels.map(k, per_frame(array(look.heatmaps[0, stack].clamp(0, 1))), look.model.cell, HEAT)
        if look.joints is not None:
            panels.dots(k, look.joints.view(count, 1, 2), **ring(theme.SKY))
        panels.dots(k, look.places[0, stack].view(count, 1, 2), **CROSS)
        panels.clicked(k)
    if look.joints is not None:
        panels.named("true place", **ring(theme.SKY) | {"size": 14})
    panels.named("argmax of the heatmap", **CROSS | {"size": 14})
    panels.named("heatmap", symbol="square", color=theme.fade(theme.VERMILLION, 0.6))
    return panels.tree


def bones(panels: Panels, k: int, places: Tensor) -> None:
    """A skeleton with joints at places (F, J, 2) in each frame."""
    p = array(places)
    for side, color in SIDES.items():
        some = [limb for limb in LIMBS if limb_side(limb) == side]
        gap = np.full((len(p), 1), math.nan, np.float32)
        x, y = (
            np.concatenate([v for a, b in some for v in (p[:, [a], axis], p[:, [b], axis], gap)], 1)
            for axis in (1, 0)
        )
        panels.add(k, type="scatter", mode="lines", x=per_frame(x), y=per_frame(y),
                   line={"color": color, "width": 6})  # fmt: skip
        own = [joint for joint in range(len(JOINTS)) if side_of(joint) == side]
        panels.dots(k, p[:, own], size=11, color=color, line={"width": 1.5, "color": "#000000"})


def skeletons(look: Look) -> Tree:
    """The picture after each stack, its block moving, with the estimated skeleton and wrong joints marked."""
    panels = Panels(len(shown(look.stacks)), titles(look.stacks))
    for k, stack in enumerate(shown(look.stacks)):
        panels.map(k, per_frame(array(look.x)), 1, theme.scale("grey"))
        bones(panels, k, look.places[:, stack])
        if look.right is not None and look.joints is not None:
            wrong = ~look.right[:, stack]  # (F, J)
            places = look.joints.expand(len(look.x), -1, -1).masked_fill(~wrong[..., None], math.nan)
            panels.dots(k, places, **ring(theme.VERMILLION))
    for side in ("left", "right"):
        panels.named(f"its {side}", symbol="square", color=SIDES[side])
    if look.right is not None:
        panels.named("place of a joint that is missed", **ring(theme.VERMILLION) | {"size": 14})
    return panels.tree


# --- Many figures -----------------------------------------------------------------------------------------


def colors(stacks: int) -> list[str]:
    """Of each stack; the last is the output."""
    return [*(theme.HIDDEN, theme.BLUE, theme.GREEN)[: stacks - 1], theme.OUTPUT]


def shares(one: Judged) -> Tree:
    """Share of correct joints after each stack, against α."""
    stacks = shown(one.places.shape[1])
    lines = np.array([[float(one.right(a)[:, s].double().mean()) for a in SHARES] for s in stacks])
    names = titles(one.places.shape[1])
    tones = dict(zip(names, colors(len(stacks)), strict=True))
    fig = basic.curves(
        dict(zip(names, lines, strict=True)), SHARES, xlabel="α", ylabel="PCK(α)", colors=tones, height=HEIGHT
    )
    fig.update_yaxes(range=[0, 1.02], nticks=6)
    return resting(fig, *((SHARES, line, tones[name]) for name, line in zip(names, lines, strict=True)))


def by_joint(one: Judged) -> Tree:
    """Share of correct joints at the frame's α: both sides of a joint together, first and last stack."""
    kinds = list(dict.fromkeys(name.split()[-1] for name in JOINTS))
    groups = [[j for j, name in enumerate(JOINTS) if name.split()[-1] == kind] for kind in kinds]
    right = np.stack([array(one.right(a).double().mean(0)) for a in SHARES])  # (F, S, J)
    values = np.stack([right[..., group].mean(-1) for group in groups], -1)  # (F, S, kinds)
    stacks = values.shape[1]
    fig = basic.bars(
        kinds, values[0, -1], baseline=values[0, 0], horizontal=True, probability=True, xlabel="PCK(α)",
        names=(f"stack {stacks}", "stack 1"), height=HEIGHT,
    )  # fmt: skip
    fig.update_xaxes(nticks=3)
    fig.update_layout(legend={"orientation": "h", "y": 1.08})
    tree: dict[str, Any] = fig.to_plotly_json()
    for trace, stack in zip(tree["data"], (0, -1), strict=True):
        trace |= {"x": per_frame(values[:, stack].astype(np.float32)), "hoverinfo": "x+y"}
        trace.pop("hovertext", None)
    return tree
