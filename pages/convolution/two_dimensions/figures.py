"""A picture, what is read of it, and the output; each a panel of one figure."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from lab.figures import theme
from lab.figures.basic import array, bars, click_targets
from lab.figures.moving import Tree, per_frame
from lab.figures.pictures import HEIGHT, LIGHT, Sheet, Span, between, cells, reach_of, shade, signed
from pages.convolution.two_dimensions.cheaper import Kind
from pages.convolution.two_dimensions.lens import Mixed, Walked

TINTS = [[[0, "#000000"], [1, color]] for color in ("#FF4040", "#40D040", "#5080FF")]
SIDES: tuple[Span, Span] = (0.0, 0.385), (0.4, 0.785)  # of input and output; the small tiles beside them
SMALL: Span = (0.81, 1.0)


def in_colour(x: Tensor) -> dict[str, Any]:
    """A picture (3, H, W) as it looks; what is too dark or too light is cut."""
    return {"type": "image", "z": array((x.clamp(0, 1) * 255).round().byte().permute(1, 2, 0)),
            "hoverinfo": "skip"}  # fmt: skip


def numbers(z: Any, reach: float, form: str = ".2f") -> dict[str, Any]:
    """Numbers (a, b) in their cells, or (F, a, b), others in each frame."""
    values = array(z).astype(float)
    large = max(values.shape[-2:])
    form = form if large <= 3 else ".1f"
    moves = values.ndim == 3
    return signed(values[0] if moves else values, reach) | {
        "texttemplate": f"%{{z:{form}}}", "textfont": {"size": 14 if large <= 3 else 11},
        "xgap": 1, "ygap": 1,
    } | ({"z": per_frame(values)} if moves else {})  # fmt: skip


def clicks(z: Tensor) -> dict[str, Any]:
    """Buttons on all cells of an output (H, W)."""
    i, j = (index.ravel() for index in np.indices(tuple(z.shape)))
    said = [f"row {a}, column {b}: {v:.3f}" for a, b, v in zip(i, j, array(z).ravel(), strict=True)]
    return click_targets(j, i, hover=said, size=360 / max(z.shape)).to_plotly_json()  # type: ignore[no-any-return]


def taps(one: Walked) -> list[dict[str, Any]]:
    """Dots on what a dilated kernel reads."""
    if one.dilation == 1:
        return []
    across, down = array(one.taps).transpose(1, 0, 2)
    return [{"type": "scatter", "mode": "markers", "x": per_frame(across), "y": per_frame(down),
             "hoverinfo": "skip", "marker": {"size": 6, "color": theme.ORANGE}}]  # fmt: skip


def single(one: Walked, bright: bool) -> Tree:
    """A picture and the output, and beside them the patch, the kernel and their products."""
    sheet, own = Sheet(), cells(one.row, one.output.shape[1])
    sheet.panel("input x", [shade(one.x[0], 0, 1, LIGHT), *taps(one)], one.x.shape[1:], SIDES[0], (0, 0.93),
                one.padding, one.boxes)  # fmt: skip
    kind = "light" if bright else "blue > 0, red < 0"
    sheet.panel(f"output h, {kind}", [between(one.output, bright), clicks(one.output)], one.output.shape,
                SIDES[1], (0, 0.93), 0, own)  # fmt: skip
    kernel, products = one.kernels[0], one.products[:, 0]
    tiles = (
        ("patch x", numbers(one.patches[:, 0], 1.5)),
        ("kernel ω", numbers(kernel, reach_of(kernel), ".2~g")),
        ("products", numbers(products, reach_of(products))),
    )
    for k, (title, trace) in enumerate(tiles):
        top = 0.95 - k * 0.333
        sheet.panel(title, [trace], kernel.shape, SMALL, (top - 0.275, top), size=16)
    return sheet.tree


def channels(one: Walked, bright: bool) -> Tree:
    """Three channels, a kernel of each, what they add; and their sum."""
    sheet, own = Sheet(), cells(one.row, one.output.shape[1])
    reach, weights = reach_of(one.sums), reach_of(one.kernels)
    for c, name in enumerate(("red", "green", "blue")):
        x = (0.2 * c, 0.2 * c + 0.185)
        sheet.panel(name, [shade(one.x[c], 0, 1, TINTS[c]), *taps(one)], one.x.shape[1:], x, (0.63, 0.95),
                    one.padding, one.boxes, 16)  # fmt: skip
        sheet.panel("times", [numbers(one.kernels[c], weights, ".2~g")], one.kernels.shape[1:], x,
                    (0.36, 0.575), size=16)  # fmt: skip
        sheet.panel(f"s<sub>{'RGB'[c]}</sub>", [signed(one.sums[c], reach)], one.output.shape, x, (0, 0.3),
                    0, own, 16)  # fmt: skip
    kind = "light" if bright else "blue > 0, red < 0"
    sheet.panel(f"output h, {kind}", [between(one.output, bright), clicks(one.output)], one.output.shape,
                (0.615, 1), (0, 0.95), 0, own)  # fmt: skip
    return sheet.tree


def mixing(one: Mixed) -> Tree:
    """A picture in colour before and after; beside them the channels of one pixel, times the matrix."""
    sheet, own = Sheet(), cells(one.row, one.x.shape[2])
    sheet.panel("input x", [in_colour(one.x)], one.x.shape[1:], SIDES[0], (0, 0.93), 0, own)
    after = in_colour(one.y) if len(one.y) == 3 else between(one.y[0], bool(one.matrix.sum() > 0.5))
    sheet.panel("output y", [after, clicks(one.y.mean(0))], one.x.shape[1:], SIDES[1], (0, 0.93), 0, own)
    products = array(one.pixels)[:, None, :] * array(one.matrix)
    shape = one.matrix.shape
    tiles = (
        ("pixel x", numbers(array(one.pixels)[:, None, :], 1.5), (1, 3)),
        ("matrix M", numbers(one.matrix, reach_of(one.matrix), ".3~g"), shape),
        ("products", numbers(products, reach_of(products)), shape),
    )
    for k, (title, trace, sides) in enumerate(tiles):
        top = 0.95 - k * 0.333
        sheet.panel(title, [trace], sides, SMALL, (top - 0.275, top), size=16)
    return sheet.tree


def blocks(kinds: Sequence[Kind], channels: int) -> Tree:
    """The weights of each kind; a block is the kernel from one channel (column) to another (row)."""
    sheet, most = Sheet(), kinds[0].parameters
    for k, kind in enumerate(kinds):
        row, column = divmod(k, 3)
        x, y = (column / 3 + 0.01, (column + 1) / 3 - 0.01), (0.5 - row * 0.5, 0.93 - row * 0.5)
        z = kind.blocks
        sheet.panel(f"{kind.name}: {kind.parameters / most:.0%}", [signed(z, 1.0)], z.shape, x, y, size=15)
        side = len(z) // channels
        at = sheet.count if sheet.count > 1 else ""
        for cut in range(0, len(z) + 1, side):
            for axis, other in ("xy", "yx"):
                sheet.layout["shapes"].append({
                    "type": "line", f"{axis}ref": f"{axis}{at}", f"{axis}0": cut - 0.5, f"{axis}1": cut - 0.5,
                    f"{other}ref": f"{other}{at}", f"{other}0": -0.5, f"{other}1": len(z) - 0.5,
                    "line": {"color": theme.text(), "width": 1},
                })  # fmt: skip
    return sheet.tree


def parameters(kinds: Sequence[Kind]) -> Tree:
    """Weights of each kind."""
    fig = bars([kind.name for kind in kinds], [kind.parameters for kind in kinds], horizontal=True,
               xlabel="weights", height=HEIGHT)  # fmt: skip
    return fig.update_xaxes(nticks=4).to_plotly_json()  # type: ignore[no-any-return]
