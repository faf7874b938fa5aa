"""Denoise a digit: noise on the left, and what the network makes of it on the right, step by step."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.guidance import classifier_free_guidance
from pages.diffusion.denoise_digit import figures, lens
from pages.diffusion.denoise_digit.room import ROOM

stage = ui.stage(ROOM)


def show(found: lens.Run, film: ui.Film | None = None) -> None:
    """x_t and the guess, where the film stands, or as far as they have come."""
    sides = (("noisy", found.noisy, "xₜ"), ("guess", found.guess, "guess x̂₀"))
    for column, (key, pictures, title) in zip(ui.columns(2), sides, strict=True):
        fig, alt = figures.sheet(lens.greys(pictures), title), f"Twelve digits at this noise level: {title}"
        with column:
            ui.figure(fig, key=key, share=1.0, film=film, alt=alt)


with stage.rail:
    now = ui.read(ROOM)
with stage.picture:
    found = ui.compute(lens.running, now, says="Digits, when they are out of noise.", show=show)
    film = ui.film_of(now, len(found.times), values=range(len(found.times)), names=found.times)
    show(found, film)
with stage.foot:
    ui.machine(now.model, film=film, lit=["xt", *["net"] * (film.count - 1)], says=lens.numbers(found))
    film.bar(captions=lens.captions(found), equations=lens.equations(found, ui.load(now.model)))
early = lens.settled(found)
with stage.below:
    ui.notice(
        f"From t = {found.times[early]} on the guess differs from the end by less than a tenth a pixel; "
        "the detail comes later. Guidance moves every guess towards the class; with more of it the "
        f"digits of a class are more alike: here their pixels spread by {lens.spread(found):.3f}. Sampling "
        "can also start from a drawing under noise (SDEdit): less noise keeps more of the drawing. "
        f"{lens.kept(found)}{lens.unbound(found) if not now.clip else ''}{SAID}"
    )
    ui.check(
        "When does the guess come within 0.1 a pixel of the end?",
        ["in the first half of the steps", "in the second half"],
        lens.first_half(found),
        f"At step {early} of {len(found.times) - 1}.",
        wrong=(
            "Under much noise the guess is a mean of many digits: which one it becomes is settled late.",
            "The shape is settled under much noise: what is left for the end is detail.",
        ),
        veils=("guess", "equation"),
    )
    picture = f"drawing.pixels({now.ink!r}, {found.noisy.shape[-1]})" if now.ink else None
    ui.program(
        f"""
        from lab import weights
        from lab.ui.controls import drawing
        from pages.diffusion.denoise_digit import lens

        picture = {picture}
        model, settings = weights.load({now.model!r}), {(now.wanted, now.w, now.S, now.eta, now.seed)}
        found = lens.run(model, *settings, picture, {now.level}, {now.clip})
        result = lens.spread(found)
        """,
        shows=lens.spread(found),
    )
    ui.source(GaussianDiffusion.trajectory, classifier_free_guidance, lens.run, references=ROOM.references)
