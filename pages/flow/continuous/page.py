"""Continuous flow: a field moves the plane; density on the way, the way back, and the price of accuracy."""

from lab import ui
from lab.errors import UserError
from lab.lenses import typed
from modules.flow import cnf
from pages.flow.continuous import figures, lens
from pages.flow.continuous.room import ROOM

FIELDS = ["parting", "waves", "turning", "spiral", "own matrix"]
SOLVERS = ["euler", "rk4", "dopri5"]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Parting": ui.scene("The field parts the cloud: paths run side by side and never cross."),
        "Spiral": ui.scene("A sink: the cloud shrinks as it turns, and its density rises.", field="spiral"),
        "Turning": ui.scene("Half a turn takes h to about −h without a stretch: a line alone cannot.",
                            field="turning", T=3.1, step=20),
        "Waves": ui.scene("No matrix gives this one; the mass stays all the same.", field="waves", step=20),
        "Coarse": ui.scene("Euler in 2 steps: one call each, and the way back misses the start.",
                           field="spiral", solver="euler", steps=2, step=20),
        "Fine": ui.scene("RK4 in 16 steps: the circled run lies far down; the way back returns.",
                         field="spiral", steps=16, step=20),
    }
)  # fmt: skip


@ui.cached
def ridden(name: str, rows: list[list[float]], solver: str, steps: int, time: float, at: tuple[float, float]):
    return lens.ride(lens.field(name, rows), solver, steps, time, at, moved(name, rows, time))  # type: ignore[arg-type]


@ui.cached
def moved(name: str, rows: list[list[float]], time: float):
    return lens.densities(lens.field(name, rows), lens.frames(time))


@ui.cached
def priced(name: str, rows: list[list[float]], time: float, at: tuple[float, float]):
    result = lens.field(name, rows)
    truth = lens.end(result, time, at)
    return truth, lens.costs(result, time, at, truth)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.choice("Field", FIELDS, key="field", as_list=True)
    rows = [[0.3, 0.2], [-0.1, 0.4]]
    if name == "own matrix":
        text = ui.text("J of f(h) = J h", "0.3 0.2; -0.1 0.4", key="J", max_chars=60,
                       says=typed.square_commas)  # fmt: skip
        try:
            rows = typed.square(text, 3, 2)
        except UserError as error:
            ui.stop(str(error))
        if len(rows) != 2:
            ui.stop("The plane takes two rows of two numbers, such as 0.3 0.2; −0.1 0.4.")
    solver = ui.choice("Solver", SOLVERS, key="solver", default="rk4")
    steps = ui.slider("Steps", 1, 32, 8, key="steps", disabled=solver == "dopri5")
    time = ui.slider("T", 0.2, 4.0, 1.0, key="T", step=0.1)
    h1 = ui.slider("Marked h₁", -2.0, 2.0, 1.0, key="h1", step=0.1)
    h2 = ui.slider("Marked h₂", -2.0, 2.0, 0.5, key="h2", step=0.1)
near = [(time, (a, h2)) for a in ui.near(h1, -2.0, 2.0, 0.1)]
near += [(time, (h1, b)) for b in ui.near(h2, -2.0, 2.0, 0.1)]
near += [(t, (h1, h2)) for t in ui.near(time, 0.2, 4.0, 0.1)]
fields = [each for each in FIELDS[:4] if each != name]
ui.prefetch(ridden, *((each, rows, solver, steps, time, (h1, h2)) for each in fields))
ui.prefetch(priced, *((each, rows, time, (h1, h2)) for each in fields))
ui.prefetch(priced, *((name, rows, *each) for each in near))
ui.prefetch(ridden, *((name, rows, solver, steps, *each) for each in near),
         *((name, rows, solver, n, time, (h1, h2)) for n in ui.near(steps, 1, 32, 1)))  # fmt: skip
run = ridden(name, rows, solver, steps, time, (h1, h2))
truth, cost = priced(name, rows, time, (h1, h2))
film = ui.film(lens.FRAMES, key="step", values=range(lens.FRAMES), default=14, label="t =", seconds=0.15,
               names=[f"{t:.2f}" for t in run.times.tolist()])  # fmt: skip

# --- Picture ------------------------------------------------------------------------------------

missed = lens.off(run.marked[-1], truth)
fig, moves = figures.stream(run.density, run.paths, run.marked, lens.REACH, film.at)
with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(fig, alt="Density of the moved cloud, paths of some points, and the marked one", key="flow",
                  share=1.0, film=film, frames=moves,
                  data={"t": run.times, "h1": run.marked[:, 0], "h2": run.marked[:, 1]})  # fmt: skip
    with right:
        ui.figure(figures.costs(cost, solver, run.calls, missed), key="costs", share=1.0,
                  alt="Error of the marked point at T against calls of the field, by solver")  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(run), equations=lens.equations(run))
stage.metrics(
    {
        "Calls of the field": str(run.calls),
        "Error at T": f"{missed:.1e}",
        "Way back, error": f"{run.back:.1e}",
        "log |det J| at T": f"{float(run.ladj[-1]):.4f}",
    }
)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        "The solution of an ODE is one to one by itself: paths never cross, so the field is free. "
        "The log-density changes by the field's divergence along the path. A solver only comes near: what a "
        "coarse one does can be far from a bijection, and its density need not have mass 1. The map of "
        "densities is solved finely whatever solver moves the points."
    )
    ui.check(
        "Twice as many steps of RK4: how much smaller does the error get, for small steps?",
        ["2 times", "4 times", "16 times"],
        "16 times",
        "Its error goes with the fourth power of the step; Euler's with the first.",
        wrong={
            "2 times": "That is Euler, whose error goes with the first power of the step.",
            "4 times": "That is a method of second order, such as the midpoint's.",
        },
        veils=("costs",),
    )
    ui.program(
        f"""
        import torch
        from modules.flow.cnf import Continuous
        from pages.flow.continuous.lens import field

        layer = Continuous(field({name!r}, {rows}), {solver!r}, {steps}, 1e-6, {time})
        (h, ladj), calls = layer.flow(torch.tensor([[{h1}, {h2}]], dtype=torch.float64), 0.0, {time})
        result = [*h[0].tolist(), float(ladj)]
        """,
        shows=[*run.marked[-1].tolist(), float(run.ladj[-1])],
    )
    ui.source(cnf.solve, cnf.Continuous, lens.ride, references=ROOM.references)
