"""Optimal discriminator: a trained D beside the best one, and what its loss says to the generator."""

from lab import ui
from modules.adversarial import divergences
from pages.adversarial.optimal_discriminator import figures, lens
from pages.adversarial.optimal_discriminator.room import ROOM, SLOPES

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
told = ui.compute(lens.learned, now)
film = ui.film_of(now, len(lens.FRAMES), names=lens.FRAMES)

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(figures.laws(told), alt="Densities of the data and of the generator", key="laws",
                  share=0.5, data={"x": told.x, "p": told.p, "q": told.q})  # fmt: skip
        ui.figure(
            figures.discriminator(told), key="discriminator", share=0.5, film=film,
            alt="What the trained discriminator says at every x, and what the best one says",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.losses(told), key="losses", share=0.5, film=film,
            alt="The discriminator's loss along its training",
        )  # fmt: skip
        if now.show == SLOPES:
            fig = figures.slopes(lens.slopes(lens.pair(now.laws, now.d, now.w)))
            alt = "What changing the generator's weight or places gains"
        else:
            fig, alt = figures.parts(told), "Quality and coverage, the parts of the Jensen–Shannon divergence"
        ui.figure(fig, alt=alt, key=now.show, share=0.5)
with stage.foot:
    film.bar(captions=lens.captions(told), equations=lens.equations(told))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        "With D held fixed, the coverage part does not depend on the generator. At the best D the slope of "
        "the value is that of both parts: the value knows of a missing mode. What a sample feels is only the "
        "slope of D where it lies, and across an empty gap that says nothing."
    )
    ui.check(
        "How large is the Jensen–Shannon divergence of these two laws?",
        lens.OPTIONS, lens.option(told.js), f"{told.js:.4f} nats, of at most log 2 = 0.6931.",
        wrong=(
            "JS is near 0 only where both laws put nearly the same mass everywhere: D* is ½ there.",
            "JS is large where D* is near 0 or 1, small where it is near ½: here one of them prevails.",
            "log 2 = 0.693 takes laws without overlap: what both share brings D* back towards ½.",
        ),
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from pages.adversarial.optimal_discriminator import lens

        told = lens.learned{(now.laws, now.d, now.w, now.hidden, now.lr, now.seed)}
        result = [told.values[-1], told.least, told.quality, told.coverage]
        """,
        shows=[told.values[-1], told.least, told.quality, told.coverage],
    )
    ui.source(
        divergences.optimal_discriminator,
        divergences.jensen_shannon_parts,
        lens.train,
        references=ROOM.references,
    )
