"""Divergences: how far two distributions are apart, by five measures, while one of them moves."""

from lab import ui
from modules.adversarial import divergences
from pages.adversarial.divergences import figures, lens
from pages.adversarial.divergences.room import BOXES, ROOM, SHIFTS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
story = ui.compute(lens.story, now)
film = ui.film_of(now, len(SHIFTS))

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    printed = lens.printed_w2(now.sd, now.sd2, lens.DRAWN) if now.printed else None
    ui.figure(
        figures.laws_and_measures(story, ui.compute(lens.curves, now), now.show, printed),
        alt="Densities of the data and of the shifted generator; below, along the same axis, five "
        f"divergences or their gradients against the shift ({now.show})",
        key="measures",
        share=1.0,
        film=film,
    )
with stage.foot:
    film.bar(captions=lens.captions(story), equations=lens.equations(story))

# --- Words --------------------------------------------------------------------------------------

gain = float(story.jump[film.at])
with stage.below:
    ui.notice(
        "The original GAN minimises 2·JS − 2 log 2. Without overlap a discriminator separates the two "
        "distributions with certainty, JS is log 2 wherever the generator lies, and its gradient is 0; it is "
        "KL that is infinite, not JS. W₁ is the mean distance over which mass must be moved, so it decreases "
        "all the way as the two approach each other. W₂² is the squared W₂ distance."
    )
    ui.check(
        f"q moves {lens.STEP:g} further away from a = {film.value:g}. By how much does JS grow?",
        lens.OPTIONS,
        lens.option(gain),
        f"By {gain:.2g} nats, to at most log 2 = 0.693.",
        wrong=(
            "JS grows by the overlap that a step removes, and here the distributions still overlap.",
            "The gradient of JS is not constant: it follows the overlap that this step removes.",
            "JS never exceeds log 2, and between equal Gaussians its gradient is 0: it is steep only in "
            "between.",
        ),
        veils=("picture", "equation"),
    )
    called = f"gaussian_divergences(a, {now.sd!r}, {now.sd2!r})"
    ui.program(
        f"""
        import torch
        from modules.adversarial import divergences

        a = torch.tensor({film.value!r}, dtype=torch.float64)
        values = divergences.{"box_divergences(a)" if now.kind == BOXES else called}
        result = [float(v) for v in values.values()]
        """,
        shows=[float(story.values[name][film.at]) for name in lens.NAMES],
    )
    ui.source(divergences.box_divergences, divergences.gaussian_divergences, references=ROOM.references)
