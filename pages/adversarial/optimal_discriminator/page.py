"""Optimal discriminator: a trained D beside the best one, and what its loss says to the generator."""

from lab import ui
from modules.adversarial import divergences
from pages.adversarial.optimal_discriminator import figures, lens
from pages.adversarial.optimal_discriminator.room import ROOM

FAR, SHARE, UNITS = (0.0, 12.0, 0.5), (0.05, 0.95, 0.05), (2, 32, 1)  # sliders: from, to, step

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Learning": ui.scene("Play: D bends onto D*, and its loss comes down to 2 log 2 − 2 JS.", step=0),
        "On it": ui.scene("After 600 steps D lies on D* wherever there are examples."),
        "Far apart": ui.scene("No overlap: D is certain, its loss near 0, and JS stops at log 2.", d=10.0),
        "Equal laws": ui.scene("p = q: D* is ½ everywhere; what D finds beyond it is chance.", d=0.0),
        "Small and slow": ui.scene("Two units at a small rate: after 600 steps D is still off D*.",
                                   hidden=2, lr=0.001),
        "A missing mode": ui.scene(
            "The weight's slope is large, coverage included; moving samples gains next to nothing.",
            laws="two modes", w=0.9, show="slopes",
        ),
    }
)  # fmt: skip


@ui.cached
def told_of(pair: lens.Pair, hidden: int, rate: float, seed: int) -> lens.Story:
    return lens.story(pair, hidden, rate, seed)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    laws = ui.choice("Laws", ["two hills", "two modes"], key="laws")
    if laws == "two hills":
        d = ui.slider("Distance of the means", *FAR[:2], 4.5, key="d", step=FAR[2])
        pair, words = lens.hills(d), f"lens.hills({d!r})"
    else:
        w = ui.slider("Generator's weight of the left mode", *SHARE[:2], 0.9, key="w", step=SHARE[2])
        pair, words = lens.modes(w), f"lens.modes({w!r})"
    show = ui.choice("Below", ["parts", *(["slopes"] if laws == "two modes" else [])], key="show")
    hidden = ui.slider("Units a layer of D", *UNITS[:2], 16, key="hidden")
    rate = ui.choice("Learning rate", lens.RATES, key="lr", default=0.01)
    seed = ui.number("Seed", 0, 999, 0, key="seed")
told = told_of(pair, hidden, rate, seed)
others = [lens.hills(each) for each in ui.near(d, *FAR)] if laws == "two hills" else [
    lens.modes(each) for each in ui.near(w, *SHARE)
]  # fmt: skip
ui.ahead(told_of, *((each, hidden, rate, seed) for each in others),
         *((pair, each, rate, seed) for each in ui.near(hidden, *UNITS)),
         *((pair, hidden, each, seed) for each in lens.RATES if each != rate),
         (lens.modes(0.9) if laws == "two hills" else lens.hills(4.5), hidden, rate, seed))  # fmt: skip
last = len(lens.FRAMES) - 1
film = ui.film(len(lens.FRAMES), key="step", default=last, label="Step", seconds=0.25, names=lens.FRAMES)

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(figures.laws(told), alt="Densities of the data and of the generator", key="laws",
                  share=0.5, data={"x": told.x, "p": told.p, "q": told.q})  # fmt: skip
        ui.figure(
            figures.discriminator(told, film.at), key="discriminator", share=0.5, film=film,
            frames={"data.0.y": told.discriminator},
            alt="What the trained discriminator says at every x, and what the best one says",
            data={"x": told.x, "D": told.discriminator[film.at], "best": told.best},
        )  # fmt: skip
    with right:
        fig, turn = figures.losses(told, film.at)
        ui.figure(
            fig, key="losses", share=0.5, film=film, frames=turn,
            alt="The discriminator's loss along its training", data={"steps": lens.FRAMES, "L": told.values},
        )  # fmt: skip
        if show == "slopes":
            felt = lens.slopes(pair)
            ui.figure(figures.slopes(felt), alt="What changing the generator's weight or places gains",
                      key="slopes", share=0.5)  # fmt: skip
        else:
            ui.figure(figures.parts(told), key="parts", share=0.5,
                      alt="Quality and coverage, the parts of the Jensen–Shannon divergence")  # fmt: skip
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

        told = lens.story({words}, {hidden}, {rate!r}, {seed})
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
