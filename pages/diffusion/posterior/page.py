"""Posterior: one step back when the data are known, as a product of two bells."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion.schedule import Schedule
from pages.diffusion.posterior import figures, lens
from pages.diffusion.posterior.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Product": ui.scene("The orange bell is the product: narrower than both, its mean between theirs."),
        "Certain": ui.scene("At t = 1 the step before is the data itself: nothing is left to draw.", t=1),
        "Late": ui.scene("Under much noise x₀ alone says little; xₜ has the greater weight.", t=8, top=0.4),
        "Small steps": ui.scene("Small steps: narrow bells, and a small step back.", top=0.05, t=4),
        "At odds": ui.scene("x₀ and xₜ disagree, and the mean still lies between the two bells.", x0=-2.0,
                            xt=2.0),
    }
)  # fmt: skip

with stage.rail:
    x0 = ui.slider("Data x₀", -2.0, 2.0, 1.0, key="x0", step=0.1)
    xt = ui.slider("Noisy xₜ", -2.0, 2.0, -0.4, key="xt", step=0.1)
    top = ui.slider("Largest β", 0.05, 0.9, 0.4, key="top", step=0.05)
    T = ui.slider("Steps T", 4, 12, 8, key="T")
schedule = lens.four(top, T)
steps = [lens.step(schedule, x0, xt, t) for t in range(1, T + 1)]
film = ui.film(T, key="t", values=range(1, T + 1), default=4, label="t =", seconds=0.8)
now = steps[film.at]
fig, moves = figures.bells(lens.grid(), lens.densities(steps), (x0, xt), film.at)

with stage.picture:
    ui.figure(fig, alt="Densities of the step before, from the data, the noisy value and both", key="bells",
              share=1.0, film=film, frames=moves)  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(steps), equations=lens.equations(steps))
stage.metrics(
    {
        "Weight of x₀": f"{now.c0:.4f}",
        "Weight of xₜ": f"{now.ct:.4f}",
        "Mean": f"{now.posterior.mean:.4f}",
        "Variance β̃": f"{now.posterior.variance:.5f}",
    }
)
heavier = "x₀" if now.c0 > now.ct else "xₜ"
with stage.below:
    ui.notice(
        f"Precisions add, so the product is narrower than either bell. The mean is {now.c0:.3f} x₀ + "
        f"{now.ct:.3f} xₜ: at t = {film.at + 1} {heavier} weighs more. With a network's guess of x₀ "
        f"this is one step of sampling. {SAID}"
    )
    ui.check(
        "Which has the greater weight in the mean here?", ["x₀", "xₜ"], heavier,
        f"The weights are {now.c0:.3f} and {now.ct:.3f}.",
        wrong={
            "x₀": "One step back is short: the bell about xₜ is narrow beside that of the long way from x₀.",
            "xₜ": "So near the data little noise lies between: the bell about x₀ is the narrower one.",
        },
        veils=("picture", "numbers", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from pages.diffusion.posterior import lens

        now = lens.step(lens.four({top}, {T}), {x0}, {xt}, {film.at + 1})
        result = [now.posterior.mean, now.posterior.variance]
        """,
        shows=[now.posterior.mean, now.posterior.variance],
    )
    ui.source(Schedule.posterior_weights, lens.step, references=ROOM.references)
