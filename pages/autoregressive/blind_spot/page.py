"""Blind spot: which earlier pixels a stack of masked convolutions never sees, and what that costs."""

from typing import Literal

from lab import ui
from modules.autoregressive import gated_pixelcnn, pixelcnn
from pages.autoregressive.blind_spot import figures, lens, stripes
from pages.autoregressive.blind_spot.room import ROOM

ONE, TWO = lens.ONE, lens.TWO
DEPTHS = list(range(lens.DEEPEST + 1))


@ui.cached
def paths(shape: lens.Shape, pixel: int):
    return lens.layers_paths(shape, pixel)


@ui.cached
def ever_unread(shape: lens.Shape, pixel: int) -> int:
    return lens.never_read(shape, pixel)


def line(slope: int, constant: int) -> str:
    """slope · i + constant, LaTeX."""
    return ("" if slope == 1 else rf"{slope}\,") + "i" + (f" {constant:+d}" if constant else "")


def reach_view() -> None:
    with stage.rail:
        gated = ui.choice("Network", [ONE, TWO], key="stacks") == TWO
        mask: Literal["A", "B"] = "A" if gated else ui.choice("First mask", ["A", "B"], key="mask")
        k1 = ui.choice("First kernel", [3, 5, 7], key="first")
        k = ui.choice("Kernel of the others", [k for k in (3, 5, 7) if k <= k1], key="kernel")
        side = ui.choice("Picture", [28, 14, 7], key="side", format=lambda s: f"{s} × {s}")
    film = ui.film(len(DEPTHS), key="layers", values=DEPTHS, default=13, label="Further layers", seconds=0.25)
    row, column = ui.selected_cell("pixel", side, side) or (side // 2, side // 2)
    pixel = row * side + column
    shape = lens.Shape(gated, k1, k, lens.DEEPEST, side, mask)
    result, never = paths(shape, pixel), ever_unread(shape, pixel)
    both = {name: paths(lens.Shape(name == TWO, k1, k, lens.DEEPEST, side), pixel) for name in (ONE, TWO)}
    deep = {name: lens.unread(each, pixel) for name, each in both.items()}
    missed, leaks = lens.unread(result, pixel), lens.leaks(result, pixel)

    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            picture, frames = figures.reach(result, pixel, film.at)
            ui.clickable(
                picture, key="pixel", mark=False, share=1.0, film=film, frames=frames,
                alt="Which pixels reach one pixel's logit, and which earlier ones never do",
                data={"pixel": range(side * side), "paths": result[film.at]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.unread(deep, film.at),
                alt="Earlier pixels that are not read, layer by layer, for one stack and for two", share=1.0,
                data={"layers": DEPTHS, **deep}, film=film,
                frames={"layout.shapes.0.x0": DEPTHS, "layout.shapes.0.x1": DEPTHS},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=[
            f"{n} of the {pixel} pixels before ({row}, {column}) are not read"
            + (f", and {leak} that it must not see is." if leak else ".")
            for n, leak in zip(missed, leaks, strict=True)
        ])  # fmt: skip
    if gated:
        stage.equation(
            r"\text{vertical: } \lfloor k/2 \rfloor + 1 \text{ whole rows},\qquad \text{blind} = "
            + str(never),
            "The window of rows above widens to both sides with each layer, so in time it covers them all.",
        )
    else:
        h, constant = shape.reach
        wedge = lens.wedge(shape, pixel)
        shown = " + ".join(map(str, wedge[:3])) + (r" + \cdots" if len(wedge) > 3 else "")
        stage.equation(
            rf"\text{{blind}} = \textstyle\sum_i \max(0, {side - 1 - column} - \text{{reach}}(i)) = "
            rf"{shown or 0} = {never}",
            rf"$i$ rows up it reads at most reach$(i) = {line(h, constant)}$ of the "
            f"{side - 1 - column} columns to the right.",
        )
    with stage.below:
        ui.notice(
            "A step up takes the view of one stack some columns to the right and no more, so a wedge above "
            "to the right stays unread: more layers only fill in what lies left of its edge. Two stacks have "
            "no such wedge. The darker a blue pixel, the more paths lead from it."
            + (" With a B mask first a pixel reads itself: the loss collapses, and what it has learned is to "
               "copy." if mask == "B" else "")
        )  # fmt: skip
        last = deep[TWO if gated else ONE][-1]
        ui.check(
            f"Would {lens.DEEPEST} layers let pixel ({row}, {column}) read all that comes before it?",
            ["yes", "no"],
            "no" if last else "yes",
            f"{last} of {pixel} would stay unread.",
            wrong={
                "yes": "Depth widens the field, but every mask cuts the same corner: a wedge to the right "
                "stays blind.",
                "no": "Of this pixel the blind wedge lies outside the picture: nothing before it is lost.",
            },
            veils=("picture", "equation"),
        )
        sizes = f"channels=1, layers={film.at}, kernel={k}, first_kernel={k1}"
        made = f"GatedPixelCNN(shape, {sizes})" if gated else f'PixelCNN(shape, {sizes}, first_mask="{mask}")'
        ui.program(
            f"""
            import torch
            from modules.autoregressive.gated_pixelcnn import GatedPixelCNN
            from modules.autoregressive.pixelcnn import MaskedConv2d, PixelCNN

            shape = (1, {side}, {side})
            model = {made}.double().eval()
            for module in model.modules():
                if isinstance(module, MaskedConv2d):  # positive weights: nothing cancels
                    torch.nn.init.constant_(module.weight, 1 / module.weight[0].numel())
                    torch.nn.init.zeros_(module.bias)
            x = torch.full((1, model.n), 0.5, dtype=torch.float64, requires_grad=True)
            model.logits(x)[0, {pixel}].backward()
            result = int((x.grad[0, :{pixel}] == 0).sum())  # earlier pixels that are not read
            """,
            shows=missed[film.at],
        )
        ui.source(
            pixelcnn.causal_mask, gated_pixelcnn.GatedLayer, lens.layers_paths, lens.gradient,
            references=ROOM.references,
        )  # fmt: skip


stage = ui.stage(ROOM)
stage.scenes(
    {
        "3×3": ui.scene("78 earlier pixels, a wedge above to the right, are not read."),
        "Deeper": ui.scene("Thirty further layers read not one pixel more than thirteen.", layers=30),
        "7×7 first": ui.scene("A wider first kernel narrows the wedge: 55 pixels.", first=7),
        "All 7×7": ui.scene("Wide kernels everywhere: 22 stay unread.", first=7, kernel=7, layers=10),
        "Two stacks": ui.scene("A stack of whole rows beside one of the own row: nothing stays unread.",
                               stacks=TWO),
        "Leak": ui.scene("A B mask in the first layer lets the pixel read itself.", mask="B", layers=3),
        "Stripes": ui.scene("Each pixel copies the one above, two to the right: one stack cannot know.",
                            show="Stripes"),
        "Coin": ui.scene("This pixel copies none: no model can pay less than ln 2 on average.",
                                 show="Stripes", cell=(4, 2)),
        "Fine": ui.scene("Another picture, another copy: two stacks are sure of it.",
                                 show="Stripes", pattern=5461, cell=(2, 3)),
    }
)  # fmt: skip
with stage.rail:
    view = ui.choice("Show", ["Reach", "Stripes"], key="show")
if view == "Reach":
    reach_view()
    stripes.ahead()
else:
    stripes.view(stage)
