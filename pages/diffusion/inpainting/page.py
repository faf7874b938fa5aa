"""Inpainting: what is missing of a digit, drawn by a denoiser that was never trained for it."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion import inpainting
from pages.diffusion.inpainting import figures, lens
from pages.diffusion.inpainting.room import DIGIT, PASSES, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def draw_toy() -> None:
    """The distribution that is reached in two dimensions, by the number of passes."""
    result, film = ui.compute(lens.toy, now), ui.film_of(now, len(PASSES))
    at, passes = film.at, PASSES[film.at]
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            reached = lens.bells(result.mean, result.variance)
            ui.figure(
                figures.toy(lens.grid(), reached, lens.exact_bell(result)), key="bells", share=1.0, film=film,
                alt="Densities of x₂: exact, and reached",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.means(PASSES, result.mean, result.exact[0]), key="means", share=1.0, film=film,
                alt="Mean of x₂ against the number of passes",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.toy_captions(result), equations=lens.toy_equations(result, now.rho, now.value))
    mean, variance = float(result.mean[at]), float(result.variance[at])
    with stage.below:
        ui.notice(
            "The denoiser and its steps are exact here, T = 250: what is off is due to replacement. The "
            "noise that is put on the known entry knows nothing of the other one. After "
            f"{passes} pass{'es' if at else ''} a level the mean is {mean:.3f}, where "
            f"{result.exact[0]:.3f} is right, the variance {variance:.3f}, where {result.exact[1]:.3f} is. "
            + SAID
        )
        ui.check(
            f"With r = {passes}, where is the mean of x₂?",
            lens.LANDED,
            lens.landed(result, at),
            f"{mean:.4f}; exact is {result.exact[0]:.4f}.",
            wrong=(
                "Passes up and down let x₂ learn of x₁, and an x₁ that tells little leaves nothing to miss.",
                "The noisy x₁ knows nothing of x₂: put beside it once a level it tells too little.",
            ),
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from pages.diffusion.inpainting import lens

            toy = lens.toy({now.rho}, {now.value})
            result = [float(toy.mean[{at}]), float(toy.variance[{at}])]
            """,
            shows=[mean, variance],
        )
        ui.source(inpainting.exact_gaussian, lens.moments, references=ROOM.references)


def draw_digit() -> None:
    """Completions of a digit."""
    with stage.picture:
        result = ui.compute(
            lens.completing, now, label="Complete", quick=now.S * now.r <= 100,
            says="Twelve completions, when they are drawn.",
        )  # fmt: skip
        film = ui.film_of(now, len(result.times), values=range(len(result.times)), names=result.times)
        sides = (("noisy", result.noisy, "xₜ"), ("prediction", result.x0, "x̂₀"))
        for column, (key, pictures, title) in zip(ui.columns(2), sides, strict=True):
            fig = figures.digits(lens.marked(pictures, result.missing), title)
            with column:
                ui.figure(
                    fig, key=key, share=1.0, film=film,
                    alt=f"Twelve completions at this step: {title}; what was missing is orange",
                )  # fmt: skip
    with stage.foot:
        lit = ["xt", *["net"] * (film.count - 1)]
        ui.machine(now.model, film=film, lit=lit, says=lens.numbers(result, now.r))
        film.bar(captions=lens.captions(result, now.r))
    named, votes = lens.judged(ui.load(now.referee), result)
    same = int(votes[named])
    with stage.below:
        ui.notice(
            f"Known ink is dark, drawn ink orange; {lens.gone(result.missing)} of {result.missing.numel()} "
            f"pixels are missing, and the known ones are off by {result.off:g} at the end. {now.referee} "
            f"calls your whole digit {named}, and {same} of the {lens.SHOWN} completions too. Of 120 digits "
            "of 8×8 pixels without their middle, in 10 steps, cnn-digits finds the class in 57 % at one pass "
            "a level and in 78 % at ten. The model has not seen masks: the same weights draw whole digits. "
            + SAID
        )
        ui.check(
            "How many of the twelve are judged to be of the whole digit's class?",
            lens.ALIKE,
            lens.alike(same),
            f"{same} of {lens.SHOWN}, by {now.referee}.",
            wrong=(
                "The known pixels are given at every level, and they still show which digit it is.",
                "What is left either shows the class or does not: it is rarely a matter of half.",
                "What is hidden is drawn and not recalled: more than one class fits what is left.",
            ),
            veils=("picture",),
        )
        digit, missing, side = now.inks
        ui.program(
            f"""
            from collections import deque
            from lab import weights
            from lab.ui.controls import drawing
            from pages.diffusion.inpainting import lens

            digit = drawing.pixels({digit!r}, {side})
            missing = drawing.pixels({missing!r}, {side})
            model = weights.load({now.model!r})
            work = lens.complete(model, digit, missing, {now.S}, {now.r}, {now.seed})
            ((_, state),) = deque(work, maxlen=1)
            result = float(state.noisy[-1].mean())
            """,
            shows=float(result.noisy[-1].mean()),
        )
        ui.source(inpainting.inpaint, inpainting.ancestral_step, references=ROOM.references)


if now.view == DIGIT:
    draw_digit()
else:
    draw_toy()
