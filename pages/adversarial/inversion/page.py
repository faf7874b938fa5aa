"""Inversion: the code of a picture that the generator has not made, and what an edit of the code does."""

from lab import ui
from lab.ui.drawing import inked
from modules.adversarial import inversion
from pages.adversarial.inversion import figures, lens, words
from pages.adversarial.inversion.room import ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
with stage.picture:
    if now.tune:
        says = "The search, then the tuning, frame by frame."
        search = ui.compute(lens.searching, now, says=says, label="Search", quick=False)
    else:
        search = ui.compute(lens.found, now)
steps = search.steps
film = ui.film_of(now, len(steps), names=[one.number for one in steps])
step = ui.compute(lens.direction, now)
made, values = lens.edited(ui.load(now.model), now.space, search, now.edit, step)

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(figures.views(lens.views(search)), key="views", share=0.55, film=film,
                  alt="Target, what is made of the code, and their difference")  # fmt: skip
        ui.figure(
            figures.edits(made, now.edit, values), key="edits", share=0.45,
            alt=f"Pictures of the code that was found as it is edited to less and more {now.edit}",
        )  # fmt: skip
    with right:
        ui.figure(figures.errors(steps), key="errors", share=1.0, film=film,
                  alt="Mean squared error at each step, logarithmic")  # fmt: skip
with stage.foot:
    film.bar(
        captions=words.captions(search, now.space, now.encoder), equations=words.equations(search, now.space)
    )

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(words.notice(search, now.space, now.edit, values))
    ui.check(
        "Where does the error end?",
        words.OPTIONS,
        words.bracket(steps[-1].error),
        f"It is {steps[-1].error:.5f}.",
        wrong=(
            "G makes what lies on its own surface: what is beside it leaves an error that no code removes.",
            "How near it ends is a matter of where the target lies, on the surface of G or off it.",
            "The search goes down on this very error, and G can make pictures nearer than that.",
        ),
        veils=("errors", "equation"),
    )
    ui.program(
        f"""
        from lab import weights
        from lab.ui import drawing
        from pages.adversarial.inversion import lens

        model, x = weights.load({now.model!r}), {inked(search.x)}
        search = lens.found(model, {now.space!r}, x, {now.encoder}, {now.seed}, {now.tune})
        result = [step.error for step in search.steps]
        """,
        shows=[s.error for s in steps],
    )
    ui.source(inversion.invert, inversion.LinearEncoder, inversion.tune, references=ROOM.references)
