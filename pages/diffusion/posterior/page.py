"""Posterior: one step back when the data are known, as a product of two Gaussian densities."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion.schedule import Schedule
from pages.diffusion.posterior import figures, lens
from pages.diffusion.posterior.room import ROOM

stage = ui.stage(ROOM)

with stage.rail:
    now = ui.read(ROOM)
steps = ui.compute(lens.steps, now)
film = ui.film_of(now, now.T, values=range(1, now.T + 1))
at = steps[film.at]

with stage.picture:
    ui.figure(
        figures.bells(lens.grid(), lens.densities(steps), (now.x0, now.xt)), key="bells", share=1.0,
        film=film, alt="Densities of the step before, from the data, the noisy value and both",
    )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(steps), equations=lens.equations(steps))
stage.metrics(
    {
        "Mean": f"{at.posterior.mean:.4f}",
        "Variance β̃": f"{at.posterior.variance:.5f}",
    }
)
heavier = "x₀" if at.c0 > at.ct else "xₜ"
with stage.below:
    ui.notice(
        f"Precisions add, so the product is narrower than either density. Its mean is {at.c0:.3f} x₀ + "
        f"{at.ct:.3f} xₜ: at t = {film.at + 1} {heavier} weighs more. With a network's prediction of x₀ "
        f"this is one step of sampling. {SAID}"
    )
    ui.check(
        "Which has the greater weight in the mean here?",
        ["x₀", "xₜ"],
        heavier,
        f"The weights are {at.c0:.3f} and {at.ct:.3f}.",
        wrong={
            "x₀": "One step back is short: the density about xₜ is narrow beside the one given x₀.",
            "xₜ": "So near the data little noise lies between: the density about x₀ is the narrower one.",
        },
        veils=("picture", "numbers", "equation"),
    )
    ui.program(
        f"""
        from pages.diffusion.posterior import lens

        at = lens.step(lens.four({now.top}, {now.T}), {now.x0}, {now.xt}, {film.at + 1})
        result = [at.posterior.mean, at.posterior.variance]
        """,
        shows=[at.posterior.mean, at.posterior.variance],
    )
    ui.source(Schedule.posterior_weights, lens.step, references=ROOM.references)
