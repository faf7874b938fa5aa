"""Cost of a blind spot: pictures in which each pixel copies one that a single stack never sees."""

from typing import Any

import torch

from lab import ui
from lab.figures import basic
from lab.lenses import drawing
from modules.autoregressive import gated_pixelcnn
from pages.autoregressive.blind_spot import cost, figures, lens
from pages.autoregressive.blind_spot.lens import ONE, TWO
from pages.autoregressive.blind_spot.room import ROOM

SAMPLES = 200
PLAIN = cost.TRAINED[ONE]
ALL, WIDER = "all", "one stack with a first kernel of 5"  # who else reads, for the least cost


@ui.cached
def coins() -> float:
    return cost.coins(cost.stripes(PLAIN).patterns)


@ui.cached
def costs(name: str) -> torch.Tensor:
    return cost.costs(ui.load(name), cost.stripes(name).patterns)


@ui.cached
def least(reader: str) -> torch.Tensor:
    data, one = cost.stripes(PLAIN), cost.shape_of(ui.load(PLAIN))
    shapes = {
        ALL: lens.Shape(True, 3, 3, 2 * data.side, data.side),
        ONE: one,
        WIDER: lens.Shape(False, 5, 3, one.layers, data.side),
    }
    return cost.least_costs(data.patterns, shapes[reader])


@ui.cached
def drawn(name: str, count: int, seed: int) -> torch.Tensor:
    return drawing.samples(ui.load(name), count, seed)


def ahead() -> None:
    """Compute what this view will show while nobody asks for it."""
    ui.prefetch(coins, ())
    ui.prefetch(least, *((reader,) for reader in (ALL, ONE, WIDER)))
    ui.prefetch(drawn, *((name, SAMPLES, 0) for name in cost.TRAINED.values()))
    ui.prefetch(costs, *((name,) for name in cost.TRAINED.values()))


def view(stage: Any) -> None:
    """Three models of stripes: what each pixel costs them, and what they draw."""
    data = cost.stripes(PLAIN)
    side, shift, count = data.side, data.shift, len(data.patterns)
    with stage.rail:
        number = ui.number("Pattern", 0, count - 1, 2788, key="pattern")
    row, column = ui.selected_cell("cell", side, side) or (1, 1)
    pixel = row * side + column
    source, picture = cost.source_of(pixel, side, shift), data.patterns[number]
    each = {label: costs(name) for label, name in cost.TRAINED.items()}
    total = {label: float(cost.sum()) for label, cost in each.items()}
    fair = coins()
    maps = {
        "floor": least(ALL),
        "one: floor": least(ONE),
        "one": each[ONE],
        "two": each[TWO],
    }
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.clickable(
                figures.copied(picture[0], pixel, source, "A picture; click"), key="cell", mark=False,
                alt="One pattern of stripes, the chosen pixel and the one it copies", share=1.0,
                data={"pixel": range(side * side), "x": picture},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.against(total, data.least_nll, fair, "−log p of a picture"), share=0.5,
                alt="Cost of a picture under the three models, the least any density can pay, and fair coins",
                data={"model": list(total), "nats": list(total.values())},
            )  # fmt: skip
            ui.figure(
                basic.images(
                    [cost.reshape(side, side) for cost in maps.values()], columns=4, labels=list(maps),
                    scale="violet", zmin=0, zmax=0.7, title="Cost of each pixel",
                ),
                alt="Mean cost of each pixel: what is possible, and what the models reach", share=0.5,
                data={"pixel": range(side * side), **maps},
            )  # fmt: skip
    says = {label: cost.prediction(ui.load(name), picture, pixel) for label, name in cost.TRAINED.items()}
    bit = int(picture.flatten()[pixel])
    stage.equation(
        rf"-\log p(x_{{{pixel}}}{{=}}{bit} \mid \cdot):\;\; \text{{one stack }} {says[ONE].cost:.4f},\; "
        rf"\text{{two stacks }} {says[TWO].cost:.4f},\; H = {float(maps['floor'][pixel]):.4f}",
        f"Pixel ({row}, {column}) copies ({row - 1}, {column + shift})."
        if source is not None
        else f"Pixel ({row}, {column}) is a fresh coin: nobody can know it.",
    )
    with stage.below:
        ui.caption(
            f"{count:,} pictures, equally likely: no density pays less than ln {count:,} = "
            f"{data.least_nll:.4f} nats on average; {side * side} fair coins cost {fair:.4f}."
        )
        for place, (label, name) in zip(ui.columns(3), cost.TRAINED.items(), strict=True):
            with place:
                samples = drawn(name, SAMPLES, 0)
                ui.figure(
                    figures.sheet(samples, f"Drawn by {label}"),
                    alt=f"16 samples of {name}",
                    data={"picture": drawing.bit_strings(samples)},
                )
                share, kinds = cost.share_of_stripes(samples, shift), cost.kinds(samples)
                ui.caption(f"Of {SAMPLES} draws {share:.0%} are stripes; number of different ones: {kinds}.")
        ui.notice(
            "What a pixel copies stands above it, two to the right. One row up 3×3 masks reach one to the "
            "right: the stack learns nothing at all. Two stacks of as many parameters pay the floor. "
            "The B mask pays far less than any density can, and draws empty sheets: it copies what is there."
        )
        wider = least(WIDER)
        known = float(maps["floor"][pixel]) < 1e-6
        ui.check(
            f"Could one stack know pixel ({row}, {column}) if its first kernel were 5×5?",
            ["yes", "no"],
            "yes" if float(wider[pixel]) < 1e-6 else "no",
            (f"It would read {shift} to the right in the row above: " if known else "It is a fresh coin: ")
            + f"the least cost of this pixel is then {float(wider[pixel]):.2f} nats.",
            wrong={
                "yes": "Reading more does not help where the pixel copies none of what is read.",
                "no": "The blind spot belongs to 3×3 kernels: 5×5 reach two to the right in the row above.",
            },
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from datamodules.binary_images import BinaryImages
            from lab import experiments, weights

            x = BinaryImages(kind="{data.kind}", side={side}, shift={shift}).patterns[{number}][None]
            names = {[cost.TRAINED[label] for label in (ONE, TWO)]}
            models = [weights.load(experiments.ZOO / name) for name in names]
            result = [-m.log_conditionals(x).flatten()[{pixel}].item() for m in models]
            """,
            shows=[says[ONE].cost, says[TWO].cost],
        )
        ui.source(cost.least_costs, cost.costs, gated_pixelcnn.GatedPixelCNN, references=ROOM.references)
