"""What the page says of each step, and of each threshold."""

from collections.abc import Mapping

from datamodules.textured_shapes import CONCEPTS
from modules.convolution.visualization import Search
from pages.convolution.unit.dissection import Dissected, Table
from pages.convolution.unit.lens import Inverted
from pages.convolution.unit.room import SHARES


def ascent_captions(wanted: Search, free: Search, largest: float) -> list[str]:
    """Of each step: the unit with and without a prior, and what a picture of the shelf makes of it."""
    pairs = zip(wanted.values[:, 0].tolist(), free.values[:, 0].tolist(), strict=True)
    return [
        f"Step {k}: the unit is at {a:.1f} with the prior, at {b:.1f} without; the best picture of the shelf "
        f"makes it {largest:.1f}."
        for k, (a, b) in enumerate(pairs)
    ]


def ascent_equations(wanted: Search) -> list[str]:
    """Of each step: the unit's value less the cost."""
    return [
        rf"a(x) - R(x) = {a:.2f} - {r:.2f} = {a - r:.2f}"
        for a, r in zip(wanted.values[:, 0].tolist(), wanted.costs[:, 0].tolist(), strict=True)
    ]


def wall_captions(wall: Search) -> list[str]:
    """Of each step: the mean of the units' values."""
    return [
        f"Step {k}: unit 0 is at {row[0]:.1f}; units 0 to {len(row) - 1} are at {sum(row) / len(row):.1f} in "
        "the mean."
        for k, row in enumerate(wall.values.tolist())
    ]


def inversion_captions(one: Inverted, free: Inverted) -> list[str]:
    """Of each step: how far activations and pixels are away."""
    rows = zip(
        one.found.values[:, 0].tolist(), one.errors.tolist(), free.found.values[:, 0].tolist(),
        free.errors.tolist(), strict=True,
    )  # fmt: skip
    return [
        f"Step {k}: activations differ by {100 * gap:.1f} %, pixels by {error:.2f} in the mean; without a "
        f"prior {100 * gap_free:.1f} % and {error_free:.2f}."
        for k, (gap, error, gap_free, error_free) in enumerate(rows)
    ]


def inversion_equations(one: Inverted) -> list[str]:
    """Of each step: the distance of the activations and the cost."""
    pairs = zip(one.found.values[:, 0].tolist(), one.found.costs[:, 0].tolist(), strict=True)
    return [
        rf"\frac{{\|\varphi(x) - \varphi_0\|^2}}{{\|\varphi_0\|^2}} + R(x) = {gap:.3f} + {cost:.3f} = "
        rf"{gap + cost:.3f}"
        for gap, cost in pairs
    ]


def dissection_captions(one: Dissected) -> list[str]:
    """Of each share: the concept that fits best."""
    return [
        f"The unit is above its threshold in {share:g} % of its map; its best concept is "
        f"{CONCEPTS[one.best(k)]}, IoU {float(one.iou[k].max()):.2f}."
        for k, share in enumerate(SHARES)
    ]


def dissection_equations(one: Dissected) -> list[str]:
    """Of each share: intersection over union of the best concept, in pixels."""
    return [
        rf"\mathrm{{IoU}} = \frac{{|A \cap C|}}{{|A \cup C|}} = "
        rf"\frac{{{int(one.both[k, one.best(k)])}}}{{{int(one.either[k, one.best(k)])}}} = "
        rf"{float(one.iou[k].max()):.3f}"
        for k in range(len(SHARES))
    ]


def leaning(table: Table, frame: int) -> float:
    """Share of a layer's units whose best concept is a texture."""
    return float((table.textures[frame] > table.shapes[frame]).float().mean())


def layer_captions(tables: Mapping[str, Table]) -> list[str]:
    """Of each share: units whose best concept is a texture, layer by layer."""
    return [
        f"{share:g} % above T. Best concept a texture: "
        + ", ".join(f"{100 * leaning(table, k):.0f} % of {name}" for name, table in tables.items())
        + "."
        for k, share in enumerate(SHARES)
    ]


def layer_equations(tables: Mapping[str, Table]) -> list[str]:
    """Of each share: mean best IoU with a texture and with a shape, first and last layer."""
    first, *_, last = tables.values()
    return [
        rf"\overline{{\mathrm{{IoU}}}}:\quad \text{{first layer}}\ {means(first, k)},\qquad "
        rf"\text{{last}}\ {means(last, k)}"
        for k in range(len(SHARES))
    ]


def means(table: Table, frame: int) -> str:
    a, b = float(table.textures[frame].mean()), float(table.shapes[frame].mean())
    return rf"{a:.3f}\ \text{{texture}},\ {b:.3f}\ \text{{shape}}"
