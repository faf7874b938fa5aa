"""Denoise a digit: noise on the left, and what the network makes of it on the right, step by step."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.guidance import classifier_free_guidance
from pages.diffusion.denoise_digit import figures, lens
from pages.diffusion.denoise_digit.room import ROOM

stage = ui.stage(ROOM)


def show(run: lens.Run, film: ui.Film | None = None) -> None:
    """x_t and the prediction, where the film stands, or as far as they have come."""
    sides = (("noisy", run.noisy, "xₜ"), ("prediction", run.x0, "prediction x̂₀"))
    for column, (key, pictures, title) in zip(ui.columns(2), sides, strict=True):
        fig, alt = figures.sheet(lens.greys(pictures), title), f"Twelve digits at this noise level: {title}"
        with column:
            ui.figure(fig, key=key, share=1.0, film=film, alt=alt)


with stage.rail:
    now = ui.read(ROOM)
with stage.picture:
    result = ui.compute(lens.running, now, says="Digits, when they are out of noise.", show=show)
    film = ui.film_of(now, len(result.times), values=range(len(result.times)), names=result.times)
    show(result, film)
with stage.foot:
    ui.machine(now.model, film=film, lit=["xt", *["net"] * (film.count - 1)], says=lens.numbers(result))
    film.bar(captions=lens.captions(result), equations=lens.equations(result, ui.load(now.model)))
early = lens.settled(result)
with stage.below:
    ui.notice(
        f"From t = {result.times[early]} on x̂₀ differs from the end by less than a tenth per pixel; "
        "the detail comes later. Guidance moves every prediction towards the class; with more of it the "
        f"digits of a class are more alike: here their pixels spread by {lens.spread(result):.3f}. Sampling "
        "can also start from a drawing under noise (SDEdit): less noise keeps more of the drawing. "
        f"{lens.kept(result)}{lens.unbound(result) if not now.clip else ''}{SAID}"
    )
    ui.check(
        "When does the prediction come within 0.1 per pixel of the end?",
        ["in the first half of the steps", "in the second half"],
        lens.first_half(result),
        f"At step {early} of {len(result.times) - 1}.",
        wrong=(
            "Under much noise the prediction is a mean of many digits: which one it becomes is settled late.",
            "The shape is settled under much noise: what is left for the end is detail.",
        ),
        veils=("prediction", "equation"),
    )
    picture = f"drawing.pixels({now.ink!r}, {result.noisy.shape[-1]})" if now.ink else None
    ui.program(
        f"""
        from lab import weights
        from lab.ui.controls import drawing
        from pages.diffusion.denoise_digit import lens

        picture = {picture}
        model, settings = weights.load({now.model!r}), {(now.wanted, now.w, now.S, now.eta, now.seed)}
        run = lens.run(model, *settings, picture, {now.level}, {now.clip})
        result = lens.spread(run)
        """,
        shows=lens.spread(result),
    )
    ui.source(GaussianDiffusion.trajectory, classifier_free_guidance, lens.run, references=ROOM.references)
