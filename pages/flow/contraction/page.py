"""Contraction: the fixed-point iteration that inverts a residual block, step by step."""

from lab import ui
from lab.lenses.typed import named
from modules.flow import iresnet
from pages.flow.contraction import figures, lens
from pages.flow.contraction.room import ROOM

FUNCTIONS = ["β sin z", "β tanh z", "β z", "typed slopes"]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Contraction": ui.scene("Slope ½ at most: a staircase that closes on the one solution."),
        "From anywhere": ui.scene("A far start, the same solution: the error falls below the dotted bound.",
                                  start=-4.0, step=8),
        "Barely": ui.scene("Slope 0.95: after 30 steps a fifth of the error is still left.",
                           f="β z", beta=0.95, step=30),
        "Too steep": ui.scene("Slope 1.8: a solution exists, and every step is farther from it.",
                              f="β z", beta=1.8, step=4),
        "f alone": ui.scene("A contraction pulls every start to its only fixed point, here 0.",
                            map="f(z)", f="β sin z", beta=0.9, start=3.5, step=8),
        "Three answers": ui.scene("Slope 3: the curve meets the diagonal three times. Which was z?",
                                  beta=3.0, y=3.0, start=0.5, step=12),
        "Own slopes": ui.scene("Four typed slopes, none above 1: the staircase still closes.",
                               f="typed slopes", slopes="0.9 -0.6 0.8 -0.9", step=12),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    kind = ui.choice("Iterate", ["y − f(z)", "f(z)"], key="map")
    name = ui.choice("f", FUNCTIONS, key="f", as_list=True)
    slopes = [0.5]
    if name == "typed slopes":
        typed = ui.text("Slopes, left to right", "0.5 -0.8 0.9", key="slopes", max_chars=80)
        slopes, text = named(typed, 12, -5, 5)
        if text:
            ui.warning(text)
        if not slopes:
            ui.stop("Type at least one slope, such as 0.5.")
        beta = max(abs(s) for s in slopes)
    else:
        beta = ui.slider("Largest slope β", 0.0, 3.0, 0.5, key="beta", step=0.05)
    y = ui.slider("y", -4.0, 4.0, 1.2, key="y", step=0.1, disabled=kind == "f(z)")
    start = ui.slider("Start z₀", -4.0, 4.0, 0.0, key="start", step=0.1)
solving = kind != "f(z)"
f = lens.function(name, beta, slopes)
run = lens.iterate((lambda z: y - f.of(z)) if solving else f.of, start)
film = ui.film(lens.STEPS + 1, key="step", values=range(lens.STEPS + 1), default=6, seconds=0.5)

# --- Picture ------------------------------------------------------------------------------------

ends = lens.window(run)
x, curve = lens.curve((lambda z: y - f.of(z)) if solving else f.of, ends)
stairs_x, stairs_y = lens.cobweb(run.path)
bound = [float(run.errors[0]) * f.steepest**k for k in range(lens.STEPS + 1)]
places = [figures.now(a, b) for a, b in zip(stairs_x, stairs_y, strict=True)]
with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.cobweb(x, curve, (stairs_x[film.at], stairs_y[film.at]), run.solutions[:50], ends, kind),
            alt="Cobweb of the iteration: the curve that is iterated, the diagonal, and the steps so far",
            key="cobweb", share=1.0, film=film, data={"step": range(len(run.path)), "z": run.path},
            frames={"data.2.x": stairs_x, "data.2.y": stairs_y, "data.3.x": [[p[0]] for p in places],
                    "data.3.y": [[p[1]] for p in places]},
        )  # fmt: skip
    with right:
        shown = run.errors.clamp(min=figures.FLOOR)
        ui.figure(
            figures.errors(shown, bound, film.at),
            alt="Distance from the solution at every step, and the bound that the largest slope gives",
            key="errors", share=1.0, film=film, data={"step": range(len(shown)), "error": run.errors},
            frames={"data.2.x": [[k] for k in range(len(shown))], "data.2.y": shown[:, None]},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(run, bound), equations=lens.equations(run, f, y if solving else None))
settles = run.settled is not None
late = "more than 1,000" if f.steepest < 1 else "does not settle"
stage.metrics(
    {
        "Largest slope": f"{f.steepest:.2f}",
        "Solutions": run.many.removesuffix("s").removesuffix(" solution"),
        "z*": f"{round(run.target, 6) + 0.0:.6f}" if run.solutions else "none",
        "Steps to 1e-12": str(run.settled) if settles else late,
    }
)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(f"{lens.verdict(run, f.steepest, solving)} The bound needs the largest slope of f anywhere; "
              "close to the solution the error falls by the slope there, which may be smaller.")  # fmt: skip
    ui.check(
        "Does the iteration from this start settle within 1,000 steps?",
        ["yes", "no"],
        "yes" if settles else "no",
        lens.verdict(run, f.steepest, solving),
        wrong={
            "yes": "It takes a contraction where the iterates go: slopes of 1 or more drive them off or "
            "hold them up.",
            "no": "A slope above 1 elsewhere does no harm: from this start the iterates go where f "
            "contracts.",
        },
        veils=("picture", "equation", "numbers"),
    )
    if f.python:
        ui.program(
            f"""
            import math

            z, result = {start!r}, []
            for step in range(8):
                z = {f"{y!r} - " if solving else ""}{f.python}
                result.append(z)
            """,
            shows=run.path[1:9].tolist(),
        )
    ui.source(iresnet.fixed_point, lens.iterate, lens.solutions, references=ROOM.references)
