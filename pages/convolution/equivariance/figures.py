"""A moved or turned picture, two outputs and their difference; how large that is; a digit and its class."""

import numpy as np
import plotly.graph_objects as go

from lab.figures import basic, theme
from lab.figures.basic import array
from lab.figures.moving import Tree, per_frame, resting, turning
from lab.figures.pictures import HEIGHT, LIGHT, Sheet, reach_of, shade, signed
from pages.convolution.equivariance.lens import Compared, Read
from pages.convolution.equivariance.room import ANGLE, BLUR, CONVOLUTION, MAX, STRIDED
from pages.convolution.equivariance.rotation import Angles, Turned

COLORS = {CONVOLUTION: theme.HIDDEN, STRIDED: theme.VERMILLION, MAX: theme.PURPLE, BLUR: theme.BLUE}
SHORT = {CONVOLUTION: "convolution", STRIDED: "strided", MAX: "max", BLUR: "max-blur"}
LEFT, RIGHT, UPPER, LOWER = (0.0, 0.48), (0.52, 1.0), (0.53, 0.95), (0.0, 0.42)


def maps(one: Compared) -> Tree:
    """The picture and its output; the output that is moved, and the difference, framed what counts."""
    sheet = Sheet()
    reach = max(reach_of(one.first), reach_of(one.second))
    light = shade(one.x[0], 0, 1, LIGHT) | {"z": per_frame(array(one.x).astype(np.float32))}
    sheet.panel("x, moved by t", [light], one.x.shape[1:], LEFT, UPPER)
    rows = float(one.first.shape[1])
    edges = np.array([[a - 0.5, b - 0.5, -0.5, rows - 0.5] for a, b in one.inside])
    panels = (
        ("f of it", one.first, RIGHT, UPPER),
        ("f(x), moved", one.second, LEFT, LOWER),
        ("difference", one.difference, RIGHT, LOWER),
    )
    for title, z, x, y in panels:
        trace = signed(z[0], reach) | {"z": per_frame(array(z).astype(np.float32))}
        boxes = edges if z is panels[2][1] else None
        sheet.panel(title, [trace], z.shape[1:], x, y, 0, boxes)
    return sheet.tree


def errors(one: Compared, layer: str) -> Tree:
    """ε of each layer by shift; a dot on the chosen one."""
    shifts = list(range(len(one.x)))
    names = [name for name in one.errors if name != layer] + [layer]
    fig = basic.curves(
        {SHORT[name]: array(one.errors[name]) for name in names}, shifts, xlabel="shift t", ylabel="ε",
        colors={SHORT[name]: COLORS[name] for name in names}, height=HEIGHT,
    )  # fmt: skip
    for trace, name in zip(fig.data, names, strict=True):
        trace.line.width = 5 if name == layer else 2
    fig.update_xaxes(dtick=4, range=[-0.4, shifts[-1] + 0.4])
    fig.update_yaxes(rangemode="tozero", nticks=5)
    return resting(fig, (shifts, array(one.errors[layer]), COLORS[layer]), size=18)


def turned_maps(one: Turned) -> Tree:
    """The turned picture; by orientation the kernel, what it makes of it, and f(x), turned and moved on."""
    sheet, count = Sheet(), len(one.kernels)
    light = shade(one.x[0], 0, 1, LIGHT) | {"z": per_frame(array(one.x).astype(np.float32))}
    sheet.panel("x, turned", [light], one.x.shape[1:], (0.0, 0.27), (0.2, 0.68))
    reach = max(reach_of(one.first), reach_of(one.second))
    shape = one.first.shape[2:]
    for r, kernel in enumerate(one.kernels):
        across = (0.31 + 0.175 * r, 0.475 + 0.175 * r)
        sheet.panel(f"r = {r}", [signed(kernel, reach_of(kernel))], kernel.shape, across, (0.8, 0.94))
        for title, z, y in (("f(ρᵏx)", one.first, (0.4, 0.72)), ("ρᵏf(x)", one.second, (0.0, 0.32))):
            trace = signed(z[0, r], reach) | {"z": per_frame(array(z[:, r]).astype(np.float32))}
            sheet.panel(title, [trace], shape, across, y, size=16)
    if count == 1:
        gap = one.difference[:, 0]
        trace = signed(gap[0], reach) | {"z": per_frame(array(gap).astype(np.float32))}
        sheet.panel("difference", [trace], shape, (0.52, 1.0), (0.0, 0.72))
    return sheet.tree


def by_angle(one: Angles, names: list[str]) -> Tree:
    """Probability of the class by angle, of both networks."""
    degrees = [ANGLE * f for f in range(len(one.x))]
    values = array(one.p[:, :, one.label])
    colors = dict(zip(names, (theme.BLUE, theme.OUTPUT), strict=True))
    fig: go.Figure = basic.curves(
        dict(zip(names, values, strict=True)), degrees, xlabel="angle, degrees",
        ylabel=f"p(y = {one.label})", colors=colors, height=HEIGHT,
    )  # fmt: skip
    fig.update_yaxes(range=[-0.03, 1.03])
    fig.update_xaxes(dtick=90, range=[-6, degrees[-1] + 6])
    return resting(fig, *((degrees, row, colors[name]) for name, row in zip(names, values, strict=True)))


def digit(one: Read | Angles) -> Tree:
    return turning(basic.image(one.x[0], height=HEIGHT, hover=False), z=one.x)


def probabilities(one: Read) -> Tree:
    """Probability of the class by shift, and of the likeliest other one there."""
    shifts = list(range(len(one.x)))
    own = array(one.probabilities[:, one.label])
    fig: go.Figure = basic.curves(
        {f"p(y = {one.label})": own}, shifts, xlabel="shift t", ylabel="probability",
        colors={f"p(y = {one.label})": theme.OUTPUT}, height=HEIGHT,
    )  # fmt: skip
    fig.update_yaxes(range=[-0.03, 1.03])
    fig.update_xaxes(dtick=2, range=[-0.4, shifts[-1] + 0.4])
    return resting(fig, (shifts, own, theme.OUTPUT), size=18)
