"""The view of masks on a picture."""

from typing import Any

from lab import ui
from lab.figures import basic
from lab.ui.controls.drawing import ink_code
from lab.ui.models import grey_digits
from modules.flow import coupling, image
from pages.flow.coupling import figures, masks
from pages.flow.coupling.room import ROOM

DEPTH = 4


def view(stage: Any) -> None:
    """A digit through couplings by masks, a film over the layers; a click frames a pixel."""
    with stage.rail:
        pattern = ui.choice("Masks", list(masks.PATTERNS), key="masks", default="both in turn", as_list=True)
        own = grey_digits.digit("Your digit", "digit", 3)
        seed = ui.number("Seed", 0, 99, 0, key="seed")
    h = 2 * own.picture.double() - 1
    side = len(h)
    film = ui.film(DEPTH, key="layer", values=range(1, DEPTH + 1), default=1, label="Layer", seconds=1.2)
    place = ui.selected_cell("pixel", side, side) or (3, 4)
    result = list(masks.looks(h, pattern, DEPTH, seed))
    now, number = result[film.at], place[0] * side + place[1]
    reach = max(float(look.after.abs().max()) for look in result)
    with stage.picture:
        left, middle, right = ui.columns(3)
        with left:
            fig, moves = figures.masked([look.before for look in result], [look.copied for look in result],
                                        film.at, reach, "before; crosses are copied")  # fmt: skip
            ui.figure(fig, key="before", share=0.75, film=film, frames=moves,
                      alt="The picture before the layer, with a cross on every copied pixel")  # fmt: skip
        with middle:
            fig = basic.image(now.after, "after; click a pixel", "diverging", True, zmin=-reach, zmax=reach)
            ui.clickable(
                figures.framed(fig, place), key="pixel", mark=False, share=0.75, film=film,
                frames={"data.0.z": [look.after for look in result]}, alt="The picture after the layer",
                data={f"column {j + 1}": now.after[:, j] for j in range(side)},
            )  # fmt: skip
        with right:
            top = max(1e-9, max(float(look.heard[number].max()) for look in result))
            fig = basic.image(now.heard[number], "heard by the framed one", "violet", zmin=0, zmax=top)
            ui.figure(
                figures.framed(fig, place), key="heard", share=0.75, film=film,
                frames={"data.0.z": [look.heard[number] for look in result]},
                alt="By how much each pixel before the layer moves the framed pixel after it",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=masks.captions(result, place))
    moved = float((now.after - now.before)[now.copied].abs().max())
    stage.metrics({"ladj, this layer": f"{now.ladj:.4f}", "Copied pixels move": f"{moved:g}"})
    with stage.below:
        ui.notice(
            "On a checkerboard a changed pixel stands among copied neighbours, and its network, a small "
            "convolution, sees those alone. Squeezed, 2×2 pixels are four channels, two of them copied at "
            "every place: one row of each block tells what becomes of the other. A copied pixel hears nobody "
            "but itself."
        )
        ui.check("How many masks in turn move every pixel?", [1, 2, 4], 2,
                 "What one copies the other changes.",
                 wrong={
                     1: "One mask copies half of the pixels, and those have not moved.",
                     4: "Two are enough if each is the other's opposite: more only mix further.",
                 },
                 veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab.ui.controls import drawing
            from pages.flow.coupling import masks

            h = 2 * {ink_code(own.picture)}.double() - 1
            state = list(masks.looks(h, {pattern!r}, {DEPTH}, {seed}))
            result = [look.ladj for look in state]
            """,
            shows=[look.ladj for look in result],
        )
        ui.source(
            coupling.MaskedCoupling,
            coupling.checkerboard,
            image.Squeeze,
            masks.looks,
            references=ROOM.references,
        )
