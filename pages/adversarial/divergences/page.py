"""Divergences: how far two laws are apart, by five measures, while one of them moves."""

from lab import ui
from modules.adversarial import divergences
from pages.adversarial.divergences import figures, lens
from pages.adversarial.divergences.room import BOXES, ROOM, SHIFTS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
told = ui.compute(lens.story, now)
film = ui.film_of(now, len(SHIFTS))

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.laws(told),
            alt="The data's law and the generator's, shifted",
            key="laws",
            share=1.0,
            film=film,
        )
    with right:
        printed = lens.printed_w2(now.sd, now.sd2) if now.printed else None
        ui.figure(
            figures.against_shift(told, now.show, printed),
            alt=f"The {now.show} of five divergences against the shift",
            key="measures",
            share=1.0,
            film=film,
        )
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
    called = f"gaussian_divergences(a, {now.sd!r}, {now.sd2!r})"
    ui.program(
        f"""
        import torch
        from modules.adversarial import divergences

        a = torch.tensor({film.value!r}, dtype=torch.float64)
        found = divergences.{"box_divergences(a)" if now.kind == BOXES else called}
        result = [float(v) for v in found.values()]
        """,
        shows=[float(told.values[name][film.at]) for name in lens.NAMES],
    )
    ui.source(divergences.box_divergences, divergences.gaussian_divergences, references=ROOM.references)
