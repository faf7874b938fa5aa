"""Divergences: how far two laws are apart, by five measures, while one of them moves."""

from lab import ui
from modules.adversarial import divergences
from pages.adversarial.divergences import figures, lens
from pages.adversarial.divergences.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Gaussians": ui.scene("Past a = 2 JS flattens under log 2; W1 rises by 1 a unit of way throughout."),
        "Boxes": ui.scene("Once they part, KL is ∞ and JS exactly log 2, however far.", kind="boxes"),
        "What is felt": ui.scene(
            "The slopes: JS gives the generator nothing at a distance, W1 always 1.",
            kind="boxes", show="slope", a=2.0,
        ),
        "Half over": ui.scene("Boxes that overlap: JS is log 2 times the shift, W1 the shift.",
                              kind="boxes", a=0.5),
        "Two widths": ui.scene("One law is wide: no measure is 0 at a = 0, and the two KLs differ.",
                               sd=0.5, sd2=2.0, a=0.0),
        "As printed": ui.scene("Equal laws with σ = 2: the printed W2² is 4 at a = 0, the right one 0.",
                               sd=2.0, sd2=2.0, a=0.0, printed=True),
    }
)  # fmt: skip


@ui.cached
def told_of(kind: lens.Kind, sd: float, sd2: float) -> lens.Story:
    return lens.story(kind, sd, sd2)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    kind = ui.choice("Laws", ["Gaussians", "boxes"], key="kind")
    show = ui.choice("Show", ["value", "slope"], key="show")
    boxes = kind == "boxes"
    sd = ui.slider("σ of the data", 0.5, 3.0, 1.0, key="sd", step=0.25, disabled=boxes)
    sd2 = ui.slider("σ of the generator", 0.5, 3.0, 1.0, key="sd2", step=0.25, disabled=boxes)
    printed = (
        not boxes
        and show == "value"
        and ui.toggle(
            "W2² as printed",
            False,
            key="printed",
            help="[UDL] eq. 15.21 has −2√(σ₁σ₂) where −2σ₁σ₂ is right.",
        )
    )
told = told_of(kind, 1.0, 1.0) if boxes else told_of(kind, sd, sd2)
film = ui.film(len(lens.SHIFTS), key="a", values=lens.SHIFTS, default=1.5, label="Shift a", seconds=0.1)

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.laws(told, film.at), alt="The data's law and the generator's, shifted", key="laws",
            share=1.0, film=film, frames={"data.1.y": told.q},
            data={"x": told.x, "p": told.p, "q": told.q[film.at]},
        )  # fmt: skip
    with right:
        old = lens.printed_w2(sd, sd2) if printed and not boxes else None
        ui.figure(
            figures.against_shift(told, film.at, show, old), key="measures", share=1.0, film=film,
            frames={f"layout.shapes.0.x{end}": lens.SHIFTS for end in (0, 1)},
            alt=f"The {show} of five divergences against the shift", data=lens.table(told),
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(told), equations=lens.equations(told))

# --- Words --------------------------------------------------------------------------------------

gain = float(told.jump[film.at])
with stage.below:
    ui.notice(
        "The original game minimises 2·JS − 2 log 2. Where the laws do not overlap, a discriminator tells "
        "them apart for certain, JS is log 2 whatever the generator does, and its slope is 0: not infinite, "
        "as is sometimes written; infinite is KL. W1 asks how far the earth must be carried: it shrinks all "
        "the way together. W2² is a square: the name says which of the two is meant."
    )
    ui.check(
        f"q moves {lens.STEP:g} further away from a = {film.value:g}. By how much does JS grow?",
        lens.OPTIONS, lens.option(gain), f"By {gain:.2g} nats, to at most log 2 = 0.693.",
        wrong=(
            "JS grows by the overlap that a step takes away, and here the laws still overlap.",
            "JS has no one slope: it follows the overlap, and this step takes another share of it.",
            "JS never passes log 2, and between equal Gaussians its slope is 0: it is steep only in between.",
        ),
        veils=("picture", "equation"),
    )  # fmt: skip
    a = film.value
    ui.program(
        f"""
        import torch
        from modules.adversarial import divergences

        a = torch.tensor({a!r}, dtype=torch.float64)
        found = divergences.{"box_divergences(a)" if boxes else f"gaussian_divergences(a, {sd!r}, {sd2!r})"}
        result = [float(v) for v in found.values()]
        """,
        shows=[float(told.values[name][film.at]) for name in lens.NAMES],
    )
    ui.source(divergences.box_divergences, divergences.gaussian_divergences, references=ROOM.references)
