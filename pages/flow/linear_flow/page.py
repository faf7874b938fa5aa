"""Linear and LU: a matrix as four simple maps; its determinant, its inverse, and what they cost."""

import math

from lab import ui
from lab.errors import UserError
from lab.lenses import typed
from modules.flow import linear
from pages.flow.linear_flow import cost, figures, lens
from pages.flow.linear_flow.room import ROOM

VIEWS = ["plane", "triangles", "time"]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Unit square": ui.scene("The image of the unit square has the area |det Ω| = 6.", step=4),
        "Shear first": ui.scene("A shear: the square leans, its area stays 1.", matrix="2 1; 1 3", step=1),
        "Then scale": ui.scene("Only the scaling D changes the area: the determinant is that of D.",
                               matrix="2 1; 1 3", step=2),
        "Rotation": ui.scene("A rotation by 30°: two shears and a scaling, and the area is 1.",
                             matrix="0.866 -0.5; 0.5 0.866", step=4),
        "Gaussian": ui.scene("Whatever the matrix: the circle becomes an ellipse, a Gaussian stays one.",
                             matrix="-1 2; 1.5 0.5", bias="1 -1", step=5),
        "Two solves": ui.scene("Two triangles, one unknown a row: the last row is h = (1, 2, 3) again.",
                               view="triangles", step=7),
        "Other diagonal": ui.scene("With 2, 3, ½ on L's diagonal ΣlogD misses log 3: 1.386, not 2.485.",
                                   view="triangles", diagonal="2 3 0.5", step=7),
        "Time": ui.scene("Measured now, beside lines of slope 3 and 2: a dense inverse, and two triangles.",
                         view="time"),
    }
)  # fmt: skip


def numbers(label: str, default: str, key: str) -> list[float]:
    """Typed numbers; what is none is named."""
    values, text = typed.named(ui.text(label, default, key=key, max_chars=80), 6, -lens.REACH, lens.REACH)
    if text:
        ui.warning(text)
    return values


def plane() -> None:
    with stage.rail:
        try:
            omega = lens.matrix(ui.text("Matrix Ω", "2 0; 1 3", key="matrix", max_chars=80,
                                        says=typed.square_commas))  # fmt: skip
        except UserError as error:
            ui.stop(str(error))
        bias = numbers("β", "0 0", "bias")
        if len(bias) != 2:
            ui.stop("β needs two numbers, such as 1 −1.")
    result = lens.plane(omega, lens.column(bias))
    labels = ["at first", "S", "D", "L", "P", "β"]
    film = ui.film(len(labels), key="step", default=4, seconds=1.0)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            fig, moves = figures.plane(result.square, result.circle, result.cloud, film.at)
            ui.figure(fig, alt="Unit square, circle and samples under the factors of the matrix so far",
                      key="plane", share=1.0, film=film, frames=moves)  # fmt: skip
        with right:
            fig, moves = figures.areas(result.areas, labels, film.at)
            ui.figure(fig, alt="The area of the square after each factor", key="areas", share=1.0, film=film,
                      frames=moves, data={"factor": labels, "area": result.areas})  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.plane_captions(result), equations=lens.plane_equations(result))
    det = result.det
    stage.metrics({"det Ω": f"{det:.6f}", "Area of the image": f"{float(result.areas[-1]):.6f}",
                   "log |det Ω|": f"{math.log(abs(det)):.6f}",
                   "Π |D|": f"{float(result.factors[1].diagonal().prod().abs()):.6f}"})  # fmt: skip
    with stage.below:
        ui.notice(
            "Any invertible matrix is P L D S: a shear, a scaling, another shear and a permutation. Shears "
            f"and permutations keep areas, so |det Ω| = {abs(det):.3f} is the product of the scales. An "
            "ellipse stays an ellipse: a stack of linear layers is one, and its density a Gaussian."
        )
        answers = ["shrinks", "stays", "grows"]
        ui.check("An area under this matrix …", answers,
                 answers[1 if math.isclose(abs(det), 1, abs_tol=1e-3) else 0 if abs(det) < 1 else 2],
                 f"|det Ω| = {abs(det):.3f}.",
                 wrong=(
                     "Small entries alone shrink no area: that takes |det Ω| below 1.",
                     "Shears and turns keep areas, but here Ω also scales: that takes |det Ω| = 1.",
                     "Large entries alone widen no area: that takes |det Ω| above 1.",
                 ),
                 veils=("picture", "equation", "numbers"),
        )  # fmt: skip
        ui.program(
            f"""
            import torch

            result = float(torch.tensor({omega.tolist()}, dtype=torch.float64).slogdet().logabsdet)
            """,
            shows=float(omega.slogdet().logabsdet),
        )
        ui.source(linear.Linear, lens.plane, references=ROOM.references)


def triangles() -> None:
    with stage.rail:
        scale = numbers("D", "2 -0.5 4", "d")
        below = numbers("L below its diagonal, row by row", "0.5 -1 2", "l")
        above = numbers("U above its diagonal, row by row", "3 -1 0.5", "u")
        order = numbers("P takes the rows in this order", "2 3 1", "order")
        diagonal = numbers("Diagonal of L", " ".join("1" for _ in scale), "diagonal")
        h = numbers("h", " ".join(str(i + 1) for i in range(len(scale))), "h")
        try:
            layer = lens.layer(scale, below, above, [int(v) for v in order], diagonal)
        except UserError as error:
            ui.stop(str(error))
        if len(h) != len(scale):
            ui.stop(f"h needs {len(scale)} numbers, one for each row.")
    run = lens.solve(layer, lens.column(h))
    lower, upper = layer.factors()
    film = ui.film(len(run.captions), key="step", seconds=1.0)
    with stage.picture:
        permutation = lens.permutation(layer)
        ui.figure(figures.factors({"Ω =": layer.matrix(), "P": permutation, "L": lower, "U + D": upper}),
                  alt="The matrix and its three factors", key="factors", share=0.45)  # fmt: skip
        fig, moves = figures.vectors(
            run.vectors, ["x = Ω h", "Pᵀ x", "y: L y = Pᵀ x", "h: (U + D) h = y"], film.at
        )
        ui.figure(fig, alt="The numbers of the solution as far as they are known", key="vectors", share=0.55,
                  film=film, frames=moves)  # fmt: skip
    with stage.foot:
        film.bar(captions=run.captions, equations=run.equations)
    true, read = float(layer.matrix().slogdet().logabsdet), float(layer.log_det())
    stage.metrics({"Σ log |D|": f"{read:.6f}", "log |det Ω|": f"{true:.6f}",
                   "h found, error": f"{run.error(lens.column(h)):.0e}"})  # fmt: skip
    with stage.below:
        ui.notice(
            "The first row of L has one unknown, each next row one more number that is known by then; U + D "
            f"is solved from below. In all {len(h) * (len(h) + 1)} products, about D²; a dense inverse "
            "takes about D³. "
            + ("The determinant is read off D." if math.isclose(true, read, abs_tol=1e-9) else
               f"L has other numbers on its diagonal: Σ log |D| = {read:.3f} misses {true - read:.3f}.")
        )  # fmt: skip
        ui.check("Is Σ log |D| the log-determinant here?", ["yes", "no"],
                 "yes" if math.isclose(true, read, abs_tol=1e-9) else "no",
                 "It is if L's diagonal has the product 1.",
                 wrong={
                     "yes": "L is not of ones on its diagonal here, and their product belongs to the "
                     "determinant too.",
                     "no": "L and S are triangular with a diagonal of product 1, and P only turns the "
                     "sign: all is in D.",
                 },
                 veils=("numbers",),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.flow.linear_flow import lens

            layer = lens.layer({scale}, {below}, {above}, {[int(v) for v in order]}, {diagonal})
            x = layer.generate(lens.column({h}))[0]
            result = [*layer.solve(x).tolist(), float(layer.log_det())]
            """,
            shows=[*run.vectors[-1, 3].tolist(), read],
        )
        ui.source(linear.LU, linear.substitute, lens.solve, references=ROOM.references)


def draw_times(rows: dict[str, list[float]]) -> None:
    ui.figure(figures.times(rows), alt="Milliseconds against D: a dense inverse, and two triangular solves",
              key="times", share=1.0, data=rows)  # fmt: skip


def measured() -> None:
    with stage.picture:
        rows = ui.job("Measure", cost.timings, key="measure", of="times", show=draw_times, at_once=True)
        if rows is None:
            ui.wait("The times of both ways, from D = 64 to 2,048, on this machine.")
        draw_times(rows)
    slopes = {name: cost.exponent(rows["D"], rows[name]) for name in ("dense inverse", "two triangles")}
    dense, solves = slopes.values()
    ratio = rows["dense inverse"][-1] / rows["two triangles"][-1]
    stage.metrics({**{f"Slope, {name}": f"{slope:.2f}" for name, slope in slopes.items()},
                   "Ratio at D = 2,048": f"{ratio:.0f}"})  # fmt: skip
    stage.equation(
        rf"t \propto D^{{{dense:.2f}}} \quad\text{{against}}\quad D^{{{solves:.2f}}}",
        "Slopes of the last three points.",
    )
    with stage.below:
        ui.notice(
            "The times are of this machine and this moment; with small matrices the call costs more than the "
            "numbers. A flow needs one inverse for every sample it scores, and an LU layer never forms it."
        )
        ui.source(cost.timings, references=ROOM.references)


with stage.rail:
    view = ui.choice("View", VIEWS, key="view")
{"plane": plane, "triangles": triangles, "time": measured}[view]()
