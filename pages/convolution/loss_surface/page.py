"""Loss surface: slices of the loss around trained networks with and without skips."""

from typing import Any

from lab import ui
from modules.convolution import loss_surface
from pages.convolution.loss_surface import figures, lens, relief, words
from pages.convolution.loss_surface.room import (
    CONTOURS,
    LOOKS,
    NETWORKS,
    PATH,
    RELIEF,
    ROOM,
    TENTHS,
    TURNS,
    WITH,
    WITHOUT,
)

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
both = ui.compute(lens.trained, now)
chain = f"{now.filters}, {now.reach}, {now.draw}"


def pressed(x: float, y: float) -> dict[str, Any]:
    """Takes the nearest place of the grid."""
    alpha, beta = (max(-TENTHS, min(TENTHS, round(TENTHS * v / now.reach))) for v in (x, y))
    return ui.moved(now, alpha=alpha, beta=beta)


if now.view == PATH:
    pair = ui.compute(lens.walked, now)
    film = ui.film_of(now, len(LOOKS))
    low, high = relief.scale(lens.losses_of(pair))
    with stage.picture:
        for column, one in zip(ui.columns(2), pair, strict=True):
            with column:
                ui.figure(
                    figures.path(one, low, high), key=f"path {one.name}", share=1.0, film=film,
                    alt=f"Loss on the plane of the training path, {one.name}, and the path up to this step",
                    data={"step": LOOKS, "u1": one.path[:, 0], "u2": one.path[:, 1], "loss": one.true},
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.steps(pair), equations=words.walk_equations(pair))
    said = words.of_walks(pair)
    check: Any = (
        "The same path on the plane of two random directions: what would it look like?",
        ["a point", "the same line", "a circle"], "a point",
        "Among thousands of directions two random ones are nearly orthogonal to the path.",
        {"the same line": "That would need directions in which the weights moved.",
         "a circle": "Nothing moves in those directions, neither away nor back."},
    )  # fmt: skip
    shows, call = pair[1].path[:, 0], "lens.walked(both)[1].path[:, 0]"
else:
    if now.view in (CONTOURS, RELIEF):
        found = ui.compute(lens.slices, now)
        said = words.about(found, both)
        call = f"lens.slices(both, {chain}).losses[:, 10]"
        check = (
            "Which network's slice has more places that are not convex?", [*NETWORKS, words.NEITHER],
            words.rougher(found),
            f"It is {100 * max(found.bends):.0f} % against {100 * min(found.bends):.0f} % of the places.",
            {WITHOUT: "Its lines are rounder.", WITH: "Look for bays on the left.",
             words.NEITHER: "Look for bays: lines that turn the other way."},
        )  # fmt: skip
    else:
        found = ui.compute(lens.same, now)
        said = words.of_same(found)
        call = f"lens.same(both, {now.which!r}, {chain}, {now.factor}).losses[:, 10]"
        check = (
            "Both networks give the same outputs. Which has the sharper minimum?",
            ["the left one", "the right one", "it is one function"], "it is one function",
            "Sharpness along raw directions depends on how the weights are scaled.",
            {"the left one": "The right one gives the same outputs, so it has the same minimum.",
             "the right one": "Only its weights have another scale: the function is that of the left."},
        )  # fmt: skip
    shows = found.losses[:, TENTHS]
    if now.view == RELIEF:
        hills = ui.compute(relief.hills, now)
        film = ui.film_of(now, len(TURNS))
        with stage.picture:
            for column, name, one in zip(ui.columns(2), found.names, hills, strict=True):
                with column:
                    ui.figure(
                        figures.hill(one, name, *relief.scale(found.losses)), key=f"hill {name}", share=1.0,
                        film=film, alt=f"The slice of the loss {name} as a hill, turned",
                    )  # fmt: skip
        with stage.foot:
            film.bar(captions=words.turns(found), equations=words.turned(found))
    else:
        with stage.picture:
            for i, (column, side) in enumerate(zip(ui.columns(2), ("left", "right"), strict=True)):
                with column:
                    ui.button_figure(
                        figures.contours(found, i, now.alpha, now.beta), key=side, share=1.0,
                        on_press=pressed, whole=False,
                        alt=f"Contours of the loss over α and β, {found.names[i]}; click a place",
                    )  # fmt: skip
        stage.equation(words.equation(found, now.alpha, now.beta))

with stage.below:
    ui.notice(said)
    text, options, answer, why, wrong = check
    wrong = {option: reason for option, reason in wrong.items() if option != answer}
    ui.check(text, options, answer, why, wrong=wrong, veils=("picture", "equation"))
    ui.program(
        f"""
        from pages.convolution.loss_surface import lens

        both = lens.trained({now.held!r}, {now.layers}, {now.seed})
        result = {call}
        """,
        shows=shows,
    )
    ui.source(
        loss_surface.direction, loss_surface.loss_slice, loss_surface.curvature, loss_surface.rescaled,
        loss_surface.path_plane, references=ROOM.references,
    )  # fmt: skip
