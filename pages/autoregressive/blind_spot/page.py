"""Blind spot: which earlier pixels a stack of masked convolutions never sees, and what that costs."""

from typing import Literal

import torch

from lab import ui
from lab.figures import basic
from lab.lenses import drawing
from modules.autoregressive import gated_pixelcnn, pixelcnn
from pages.autoregressive.blind_spot import figures, lens

REFERENCES = [
    "van den Oord, Kalchbrenner, Kavukcuoglu 2016, PixelCNN, arXiv:1601.06759",
    "van den Oord et al. 2016, Gated PixelCNN, arXiv:1606.05328",
    "[GM] §3.11.1; [UDL] notes of chapter 14",
]
ONE, TWO = "one stack", "two stacks"
SAMPLES = 200


@ui.cached
def gradient(shape: lens.Shape, pixel: int) -> torch.Tensor:
    return lens.gradient(shape, pixel)


@ui.cached
def unread(shape: lens.Shape, pixel: int) -> list[int]:
    return [int(lens.blind(read, pixel).sum()) for read in lens.layers_read(shape, pixel)]


@ui.cached
def ever_unread(shape: lens.Shape, pixel: int) -> int:
    return int(lens.at_any_depth(shape, pixel).sum())


@ui.cached
def costs(name: str) -> torch.Tensor:
    return lens.costs(ui.load(name), lens.stripes(name).patterns)


@ui.cached
def least(shape: lens.Shape, name: str) -> torch.Tensor:
    return lens.least_costs(lens.stripes(name).patterns, shape)


@ui.cached
def drawn(name: str, count: int, seed: int) -> torch.Tensor:
    return ui.load(name).sample(count, generator=torch.Generator().manual_seed(seed))


def reach_mode() -> None:
    first, second, third = ui.columns(3)
    with first:
        gated = ui.choice("Network", [ONE, TWO], key="stacks") == TWO
        mask: Literal["A", "B"] = "A" if gated else ui.choice("First mask", ["A", "B"], key="mask")
    with second:
        k1 = ui.choice("First kernel", [3, 5, 7], key="first")
        side = ui.choice("Picture", [28, 14, 7], key="side", format=lambda s: f"{s} × {s}")
    with third:
        k = ui.choice("Kernel of the others", [k for k in (3, 5, 7) if k <= k1], key="kernel")
    layers = ui.stepper(lens.DEEPEST + 1, key="layers", default=13, label="Further layers")
    row, column = ui.selected_cell("pixel", side, side) or (side // 2, side // 2)
    pixel = row * side + column
    shape = lens.Shape(gated, k1, k, layers, side, mask)

    left, right = ui.columns([3, 2])
    found = gradient(shape, pixel)
    with left:
        ui.clickable(
            figures.reach(found, pixel, f"What ({row}, {column}) reads; click"),
            key="pixel", alt="Gradient of one pixel's logit with respect to every pixel", mark=False,
            data={"pixel": range(side * side), "gradient": found},
        )  # fmt: skip
    deep = {name: unread(lens.Shape(name == TWO, k1, k, lens.DEEPEST, side), pixel) for name in (ONE, TWO)}
    with right:
        ui.figure(
            figures.unread(deep, layers, "Earlier pixels not read"),
            alt="Earlier pixels that are not read, layer by layer, for one stack and for two",
            data={"layers": range(lens.DEEPEST + 1), **deep},
        )
    blind, never = int(lens.blind(found > 0, pixel).sum()), ever_unread(shape, pixel)
    leaks = int((found.flatten()[pixel:] > 0).sum())
    numbers = {
        "Earlier pixels": str(pixel),
        "Not read by this network": str(blind),
        "Read at no depth": str(never),
        "Reads of itself and later": str(leaks),
    }
    for place, (label, value) in zip(ui.columns(4), numbers.items(), strict=True):
        place.metric(label, value)
    if gated:
        ui.equation(
            r"\text{vertical: } \lfloor k/2 \rfloor + 1 \text{ whole rows},\qquad \text{blind} = "
            + str(never),
            "The window of rows above widens to both sides with each layer, so in time it covers them all.",
        )
    else:
        h, constant = shape.reach
        missed = lens.wedge(shape, pixel)
        shown = " + ".join(map(str, missed[:4])) + (r" + \cdots" if len(missed) > 4 else "")
        ui.equation(
            rf"\text{{reach}}(i) = {h}\,i {constant:+d},\qquad "
            rf"\text{{blind}} = \sum_{{i=1}}^{{{row}}} "
            rf"\max\big(0,\; {side - 1 - column} - \text{{reach}}(i)\big) = {shown or 0} = {never}",
            f"i rows up the stack reads at most reach(i) columns to the right, at any depth; "
            f"{side - 1 - column} columns lie to the right of this pixel.",
        )
    ui.notice(
        "A step up takes the view some columns to the right and no more, so a wedge above to the right is "
        "never seen: more layers only fill in what lies left of its edge. Two stacks have no such wedge. "
        "With a B mask first a pixel reads itself: the loss collapses, and what it has learned is to copy."
    )
    plain = {"stacks": ONE, "mask": "A", "side": 28, "pixel": (14, 14)}
    ui.presets(
        {
            "3×3 masks": {**plain, "first": 3, "kernel": 3, "layers": 13},
            "7×7 first": {**plain, "first": 7, "kernel": 3, "layers": 13},
            "All 7×7": {**plain, "first": 7, "kernel": 7, "layers": 10},
            "Two stacks": {**plain, "stacks": TWO, "first": 3, "kernel": 3, "layers": 13},
            "Leak": {**plain, "mask": "B", "first": 3, "kernel": 3, "layers": 3},
        }
    )
    ui.check(
        f"Would {lens.DEEPEST} layers let this pixel read all that comes before it?",
        ["yes", "no"],
        "no" if deep[TWO if gated else ONE][-1] else "yes",
        f"{deep[TWO if gated else ONE][-1]} of {pixel} would stay unread.",
    )
    ui.source(
        pixelcnn.causal_mask, gated_pixelcnn.GatedLayer, lens.layers_read, lens.gradient,
        references=REFERENCES,
    )  # fmt: skip


def stripes_mode() -> None:
    plain = lens.TRAINED[ONE]
    data = lens.stripes(plain)
    side, shift, count = data.side, data.shift, len(data.patterns)
    number = ui.number("Pattern", 0, count - 1, 2788, key="pattern")
    row, column = ui.selected_cell("cell", side, side) or (1, 1)
    pixel = row * side + column
    source = lens.source_of(pixel, side, shift)
    picture = data.patterns[number]

    each = {label: costs(name) for label, name in lens.TRAINED.items()}
    left, right = ui.columns([2, 3])
    with left:
        ui.clickable(
            figures.copied(picture[0], pixel, source, "One of the pictures; click"), key="cell", mark=False,
            alt="One pattern of stripes, the chosen pixel and the one it copies",
            data={"pixel": range(side * side), "x": picture},
        )  # fmt: skip
    total = {label: float(cost.sum()) for label, cost in each.items()}
    coins = lens.coins(data.patterns)
    with right:
        ui.figure(
            figures.against(total, data.least_nll, coins, "−log p of a picture, nats"),
            alt="Cost of a picture under the three models, the least any density can pay, and fair coins",
            data={"model": list(total), "nats": list(total.values())},
        )
    shapes = {label: lens.shape_of(ui.load(name)) for label, name in lens.TRAINED.items()}
    maps = {
        "floor": least(lens.Shape(True, 3, 3, 2 * side, side), plain),
        "floor, one stack": least(shapes[ONE], plain),
        "one stack": each[ONE],
        "two stacks": each[TWO],
    }
    places = [place for _ in range(2) for place in ui.columns(2)]
    with places[0]:
        ui.figure(
            basic.images(
                torch.stack(list(maps.values())).view(-1, side, side), columns=2, labels=list(maps),
                scale="violet", zmin=0, zmax=0.7, title="Cost of each pixel, 0 to ln 2", height=400,
            ),
            alt="Mean cost of each pixel: what is possible, and what the models reach",
            data={"pixel": range(side * side), **maps},
        )  # fmt: skip
    for place, (label, name) in zip(places[1:], lens.TRAINED.items(), strict=True):
        with place:
            samples = drawn(name, SAMPLES, 0)
            ui.figure(
                figures.sheet(samples, f"Drawn by {label}"),
                alt=f"16 samples of {name}",
                data={"picture": drawing.bit_strings(samples)},
            )
            share, kinds = lens.share_of_stripes(samples, shift), lens.kinds(samples)
            ui.caption(f"Of {SAMPLES} draws {share:.0%} are stripes; number of different ones: {kinds}.")
    row, column = divmod(pixel, side)
    says = {label: lens.prediction(ui.load(name), picture, pixel) for label, name in lens.TRAINED.items()}
    bit = int(picture.flatten()[pixel])
    ui.equation(
        rf"-\log p(x_{{{pixel}}}{{=}}{bit} \mid \text{{before}}):\quad "
        rf"\text{{one stack }} {says[ONE].cost:.4f},\quad \text{{two stacks }} {says[TWO].cost:.4f},\quad "
        rf"H = {float(maps['floor'][pixel]):.4f}",
        (
            f"Pixel ({row}, {column}) copies ({row - 1}, {column + shift})."
            if source is not None
            else f"Pixel ({row}, {column}) is a fresh coin: nobody can know it."
        )
        + f" {count:,} pictures, equally likely: no density pays less than ln {count:,} = "
        f"{data.least_nll:.4f} nats on average; {side * side} fair coins cost {coins:.4f}.",
    )
    ui.notice(
        "Every pixel that is no fresh coin stands above, two to the right. One row up 3×3 masks reach one to "
        "the right: the stack learns nothing at all. Two stacks of as many parameters pay the floor. "
        "The B mask pays far less than any density can, and draws empty sheets: it copies what is there."
    )
    ui.presets(
        {
            "A copy": {"cell": (1, 1), "pattern": 2788},
            "A fresh coin": {"cell": (4, 2)},
            "Fine stripes": {"pattern": 5461, "cell": (2, 3)},
        }
    )
    wider = least(lens.Shape(False, 5, 3, shapes[ONE].layers, side), plain)
    ui.check(
        "Could one stack reach the floor if its first kernel were 5×5?",
        ["yes", "no"],
        "yes" if float(wider.sum()) < data.least_nll + 1e-6 else "no",
        f"It would read {shift} to the right in the row above, and could go down to "
        f"{float(wider.sum()):.2f} nats.",
    )
    ui.source(lens.least_costs, lens.costs, gated_pixelcnn.GatedPixelCNN, references=REFERENCES)


ui.header(
    "Blind spot",
    "However deep, stacked square masks never see a wedge of pixels above to the right.",
    lenses=("receptive_field", "sampling"),
)
modes = {"Reach": reach_mode, "Stripes": stripes_mode}
modes[ui.choice("Show", list(modes), key="show", default="Reach")]()
