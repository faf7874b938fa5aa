"""Reversible block: two additions, two subtractions, a determinant of 1; and what a deep stack must keep."""

from lab import ui
from modules.flow import revnet
from pages.flow.reversible import figures, lens
from pages.flow.reversible.room import ROOM

VIEWS = ["Plane", "Blocks", "Memory"]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "One addition": ui.scene("h1 moves by f1(h2): a shear. The orange patch keeps its area.", step=1),
        "Two additions": ui.scene("Then h2 moves by f2 of the new h1: another shear, the same area.", step=2),
        "And back": ui.scene("The same numbers are subtracted, last one first: the grid is straight again.",
                             step=4),
        "Four blocks": ui.scene("However bent, the determinant is 1 and the area unchanged.",
                                blocks=4, step=8),
        "With corners": ui.scene("f may have corners, and need not be invertible: |h| is not.",
                                 f1="bend", f2="bend", strength=0.8, step=2),
        "Wide block": ui.scene("Upper left is the identity; the rest is dense, and the determinant is 1.",
                               view="Blocks"),
        "Memory": ui.scene("What the backward pass needs grows with depth, or does not.", view="Memory"),
    }
)  # fmt: skip


@ui.cached
def measured() -> dict[str, list[float]]:
    *_, (_, rows) = lens.memory()
    return rows


@ui.cached
def travelled(f1: str, f2: str, strength: float, blocks: int, h1: float, h2: float) -> lens.Round:
    return lens.travel((f1, f2), strength, blocks, (h1, h2))


def plane() -> None:
    with stage.rail:
        f1 = ui.choice("f1", lens.KINDS, key="f1", default="sine", as_list=True)
        f2 = ui.choice("f2", lens.KINDS, key="f2", default="sine", as_list=True)
        strength = ui.slider("Strength", 0.0, 1.5, 0.6, key="strength", step=0.1)
        blocks = ui.slider("Blocks", 1, 4, 1, key="blocks")
        h1 = ui.slider("Point h1", -1.5, 1.5, 0.5, key="h1", step=0.1)
        h2 = ui.slider("Point h2", -1.5, 1.5, 0.5, key="h2", step=0.1)
    run = travelled(f1, f2, strength, blocks, h1, h2)
    frames = len(run.captions)
    film = ui.film(frames, key="step", values=range(frames), default=2, label="Addition", seconds=0.9)
    fig, moves = figures.plane(run.grid, run.patch, run.point, lens.DOTS, film.at)
    jac, turns = figures.matrix(run.jacobians, film.at)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(fig, alt="A grid of the plane after the additions so far, with a patch and a point",
                      key="plane", share=1.0, film=film, frames=moves,
                      data={"frame": range(frames), "area": run.areas})  # fmt: skip
        with right:
            ui.figure(jac, alt="The Jacobian of the additions so far at the point", key="jacobian", share=1.0,
                      film=film, frames=turns)  # fmt: skip
    with stage.foot:
        film.bar(captions=run.captions, equations=run.equations)
    back = float((run.grid[-1] - run.grid[0]).abs().max())
    spread = float((run.areas - run.areas[0]).abs().max())
    stage.metrics(
        {
            "Area of the patch": f"{float(run.areas[film.at]):.4f}",
            "Largest change of it": f"{spread:.0e}",
            "Grid after the way back, error": f"{back:.0e}",
        }
    )
    with stage.below:
        ui.notice(
            "Each addition is a shear: it reads one half and moves the other, so its Jacobian is triangular "
            "with ones on the diagonal. f may be any function. [UDL] 16.3.6 says that this Jacobian cannot "
            "be computed efficiently: true of the matrix, but its determinant is exactly 1, so the block is "
            "a flow that keeps volumes."
        )
        ui.check(
            "After both additions of a block, the patch's area is …",
            ["smaller", "the same", "larger"],
            "the same",
            "A shear slides lines along themselves; two of them keep areas too.",
            wrong={
                "smaller": "The patch gets thinner, but longer as well: a shear takes no area.",
                "larger": "The patch gets longer, but thinner as well: a shear gives no area.",
            },
            veils=("picture", "equation", "numbers"),
        )
        block = lens.block((f1, f2), strength)
        point = run.point[0].tolist()
        if blocks == 1 and "network" not in (f1, f2):
            ui.program(
                f"""
                import torch
                from modules.flow.revnet import ReversibleBlock
                from pages.flow.reversible.lens import Addition

                block = ReversibleBlock(2, Addition({f1!r}, {strength}), Addition({f2!r}, {strength}))
                h = torch.tensor({point}, dtype=torch.float64)
                jacobian = torch.autograd.functional.jacobian(lambda z: block.generate(z)[0], h)
                result = [*block.generate(h)[0], torch.linalg.det(jacobian)]
                """,
                shows=[*run.point[2].tolist(), float(run.jacobians[2].det())],
            )
        ui.source(type(block), lens.travel, references=ROOM.references)


def blocks() -> None:
    with stage.rail:
        features = ui.slider("Numbers D", 4, 24, 12, key="features", step=2)
        seed = ui.number("Seed of the networks", 0, 99, 0, key="seed")
    jacobian = lens.network_jacobian(features, seed)
    ladj = float(jacobian.slogdet().logabsdet)
    with stage.picture:
        ui.figure(figures.blocks(jacobian), alt="The Jacobian of one block with random networks",
                  key="blocks", share=1.0)  # fmt: skip
    stage.metrics({"det J": f"{float(jacobian.det()):.12f}", "log |det J|": f"{ladj:.0e}"})
    stage.equation(
        r"J = \begin{pmatrix} I & J_1 \\ J_2 & I + J_2 J_1 \end{pmatrix}"
        r" = \begin{pmatrix} I & 0 \\ J_2 & I \end{pmatrix}\begin{pmatrix} I & J_1 \\ 0 & I \end{pmatrix}",
        "Two shears, each of determinant 1.",
    )
    with stage.below:
        ui.notice(
            "Only the upper left part is the identity. No part is zero, and still nothing is stretched."
        )
        ui.source(revnet.ReversibleBlock, lens.network_jacobian, references=ROOM.references)


def memory() -> None:
    rows = measured()
    with stage.picture:
        ui.figure(figures.memory(rows), alt="Memory kept for the backward pass against the number of blocks",
                  key="memory", share=1.0, data=rows)  # fmt: skip
    deepest = int(rows["depth"][-1])
    stage.metrics(
        {
            f"{deepest} blocks, stored": f"{rows['stored'][-1]:.0f} KiB",
            f"{deepest} blocks, recomputed": f"{rows['recomputed'][-1]:.0f} KiB",
            "Gradients differ by": f"{max(rows['difference']):.0e}",
        }
    )
    stage.equation(
        rf"{deepest}\cdot\tfrac{{{rows['stored'][-1]:.0f}}}{{{deepest}}}\ \text{{KiB}}\ \to\ "
        rf"{rows['recomputed'][-1]:.0f}\ \text{{KiB}}",
        f"Counted as autograd saves them: {lens.BATCH} examples of {lens.FEATURES} numbers, in float32.",
    )
    with stage.below:
        ui.notice(
            "Recomputing keeps the output alone: each layer's input is found by going back through it, at "
            "the price of one more forward pass. The gradients are the same up to rounding."
        )
        ui.check(
            "Twice as many blocks, recomputed: how much more memory do the activations take?",
            ["none", "half as much again", "twice as much"],
            "none" if rows["recomputed"][-1] == rows["recomputed"][0] else "twice as much",
            f"{rows['recomputed'][-1]:.0f} KiB at any depth.",
            wrong={
                "none": "What is kept grows here with the blocks: nothing is computed back.",
                "half as much again": "Of no block is even a part kept: inputs are computed back from "
                "outputs.",
                "twice as much": "That is a network that keeps its activations: here they are computed "
                "back from outputs.",
            },
            veils=("picture", "equation", "numbers"),
        )
        ui.source(revnet.Rerun, lens.saved_bytes, references=ROOM.references)


with stage.rail:
    view = ui.choice("View", VIEWS, key="view")
ui.prefetch(measured, ())
{"Plane": plane, "Blocks": blocks, "Memory": memory}[view]()
