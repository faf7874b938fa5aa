"""Dequantization: a density of whole numbers has no bound until noise fills the gaps."""

import math
from functools import partial

from lab import ui
from modules.flow import dequantize
from pages.flow.dequantization import figures, lens
from pages.flow.dequantization.room import ROOM

NAMES = {"none": "off", "uniform": "uniform", "learned": "learned"}
SHELF = {"Falling": "8 4 2 1", "Flat": "1 1 1 1", "Two levels": "3 7", "A gap": "3 0 0 2 5"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "No noise": ui.scene("The red curve falls far below the entropy: spikes on whole numbers."),
        "Uniform noise": ui.scene("With noise the flow fits the bars, and its cost stays above the entropy.",
                                  noise="uniform"),
        "Learned noise": ui.scene("Learned noise has a shape that is easy to fit: it pays less.",
                                  noise="learned"),
        "Two levels": ui.scene("Fewer gaps to cross, higher spikes.", weights="3 7"),
        "A gap": ui.scene("Levels of weight 0: the flow must pass over them, and pays for it.",
                          weights="3 0 0 2 5", noise="uniform"),
        "Before training": ui.scene("One wide hump: all three start there.", step=0, noise="uniform"),
    }
)  # fmt: skip

with stage.rail:
    noise = ui.choice("Noise", lens.KINDS, key="noise", format=NAMES.__getitem__)
    text = ui.text("Weights of the levels 0, 1, 2, …", SHELF["Falling"], key="weights", examples=SHELF,
                   max_chars=120, help="The share of each level in the data; at most 17.")  # fmt: skip
    seed = ui.number("Seed", 0, 999, 0, key="seed")
    weights, left = lens.weights_of(text)
    if left:
        ui.warning(left, icon=":material/info:")
first = [(lens.weights_of(each)[0], seed) for each in SHELF.values()]
soon = [((tuple(levels), each), partial(lens.fit, levels, seed=each))
        for levels, each in ((weights, min(999, seed + 1)), *first) if len(levels) <= 5]  # fmt: skip
with stage.picture:
    course = ui.result(
        "Train", lambda: lens.fit(weights, seed=seed), key="train", of=(tuple(weights), seed),
        quick=len(weights) <= 5, soon=soon,
        says="Three flows are trained: with no, uniform and learned noise.",
    )  # fmt: skip
steps, H = course.steps, course.entropy
film = ui.film(len(steps), key="step", default=len(steps) - 1, seconds=0.12)

# --- Pictures -----------------------------------------------------------------------------------

density, noisy = course.densities(noise), course.noisy(noise)
top = lens.top(course)
with stage.picture:
    left_side, right_side = ui.columns([3, 2])
    with left_side:
        ui.figure(
            figures.densities(course.p, course.places, noisy[film.at], density[film.at], top),
            key="density", share=1.0, film=film, frames={"data.1.y": noisy, "data.2.y": density},
            alt="Probabilities of the levels as bars, the density of the levels with noise, and the flow's",
            data={"x": course.places, "flow": density[film.at], "data with noise": noisy[film.at]},
        )  # fmt: skip
    with right_side:
        ui.figure(
            figures.course(course.curves(), steps, H, steps[film.at]), key="course", share=1.0, film=film,
            frames={"layout.shapes.0.x0": steps, "layout.shapes.0.x1": steps},
            alt="Cost in nats of the three kinds of noise over the training, and the entropy",
            data={"step": steps, **course.curves()},
        )  # fmt: skip
costs = course.curves()[noise]
masses = [course.exact(i, noise) for i in range(len(steps))]
with stage.foot:
    film.bar(
        captions=[
            f"Step {step}: {cost:.3f} nats, {cost / math.log(2):.3f} bits; the entropy is {H:.3f} nats. "
            + lens.verdict(noise, cost, H, peak)
            for step, cost, peak in zip(steps, costs, density.amax(1).tolist(), strict=True)
        ],
        equations=[lens.formula(noise, cost, exact, H) for cost, exact in zip(costs, masses, strict=True)],
    )

# --- Words --------------------------------------------------------------------------------------

last = {kind: course.loss(-1, kind) for kind in lens.KINDS}
with stage.below:
    ui.notice(
        f"At the end the flow without noise pays {last['none']:.3f} nats, the entropy is {H:.3f}: "
        "a density at a point is no probability, and this one can be as high as the spline's least width "
        f"allows. With uniform noise it pays {last['uniform']:.3f}; the mass that it puts on each level "
        f"costs {course.exact(-1, 'uniform'):.3f}, and the difference is the price of noise whose shape the "
        f"flow does not match. Learned noise pays {last['learned']:.3f}, of which its masses are "
        f"{course.exact(-1, 'learned'):.3f}."
    )
    ui.table(
        {
            "level": list(range(len(course.p))),
            "P": [f"{v:.4f}" for v in course.p.tolist()],
            **{f"∫ p, {kind} noise": [f"{v:.4f}" for v in course.masses[film.at][i].tolist()]
               for i, kind in enumerate(lens.KINDS) if kind != "none"},
        },
        alt="Probability of each level, and the mass that the flows put on it",
    )  # fmt: skip
    ui.check(
        "Train without noise for ten times as long: what does −log p do?",
        ["it falls further", "it settles at the entropy", "it rises to the entropy"],
        "it falls further",
        "Nothing holds it: only the least width of the spline's bins does in the end.",
        wrong={
            "it settles at the entropy": "That holds for probabilities; this is a density at points.",
            "it rises to the entropy": "Training never raises what it minimises, on average.",
        },
        veils=("picture", "equation", "notice"),
    )  # fmt: skip
    ui.program(
        f"""
        from collections import deque
        from pages.flow.dequantization import lens

        ((share, course),) = deque(lens.fit({weights}, seed={seed}), maxlen=1)
        result = course.loss({film.at}, {noise!r})
        """,
        shows=costs[film.at],
    )
    ui.source(
        lens.Three, lens.Noise, dequantize.VariationalNoise, dequantize.bits_per_dim,
        references=ROOM.references,
    )  # fmt: skip
