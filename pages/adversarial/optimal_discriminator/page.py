"""Optimal discriminator: a trained D beside the best one, and what its loss says to the generator."""

from lab import ui
from modules.adversarial import divergences
from pages.adversarial.optimal_discriminator import figures, lens
from pages.adversarial.optimal_discriminator.room import ROOM, SLOPES

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
result = ui.compute(lens.learned, now)
film = ui.film_of(now, len(lens.FRAMES), names=lens.FRAMES)

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(figures.densities(result), alt="Densities of the data and of the generator", key="laws",
                  share=0.5, data={"x": result.x, "p": result.p, "q": result.q})  # fmt: skip
        ui.figure(
            figures.discriminator(result), key="discriminator", share=0.5, film=film,
            alt="Output of the trained discriminator D at every x, and of the optimal one, D*",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.losses(result), key="losses", share=0.5, film=film,
            alt="The discriminator's loss over its training steps, with its minimum",
        )  # fmt: skip
        if now.show == SLOPES:
            fig = figures.slopes(lens.slopes(lens.pair(now.laws, now.d, now.w)))
            alt = "Gradients of the generator's loss with respect to its mode's weight and to its samples"
        else:
            fig, alt = (
                figures.parts(result),
                "Quality and coverage, the two parts of the Jensen–Shannon divergence",
            )
        ui.figure(fig, alt=alt, key=now.show, share=0.5)
with stage.foot:
    film.bar(captions=lens.captions(result), equations=lens.equations(result))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        "With D held fixed, the coverage term does not depend on the generator. At the optimal D the "
        "gradient of the loss is that of both terms, so the loss does penalise a missing mode. A sample, "
        "however, gets only the gradient of D where it lies, and across a gap without data that is almost "
        "zero."
    )
    ui.check(
        "How large is the Jensen–Shannon divergence of these two distributions?",
        lens.OPTIONS,
        lens.option(result.js),
        f"{result.js:.4f} nats, of at most log 2 = 0.6931.",
        wrong=(
            "JS is near 0 only if both distributions are nearly equal, where D* is ½ everywhere.",
            "JS is large if D* is near 0 or 1 and small if it is near ½: here one of the two prevails.",
            "JS reaches log 2 = 0.693 only without overlap; where both overlap D* is nearer to ½.",
        ),
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from pages.adversarial.optimal_discriminator import lens

        told = lens.learned{(now.laws, now.d, now.w, now.hidden, now.lr, now.seed)}
        result = [told.values[-1], told.least, told.quality, told.coverage]
        """,
        shows=[result.values[-1], result.least, result.quality, result.coverage],
    )
    ui.source(
        divergences.optimal_discriminator,
        divergences.jensen_shannon_parts,
        lens.train,
        references=ROOM.references,
    )
