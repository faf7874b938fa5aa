"""Inversion: the code of a picture that the generator has not made, and what an edit of the code does."""

from lab import ui
from lab.ui.controls.drawing import ink_code
from modules.adversarial import inversion
from pages.adversarial.inversion import figures, lens, words
from pages.adversarial.inversion.room import ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
with stage.picture:
    if now.tune:
        says = "The search, and then the fine-tuning of G."
        search = ui.compute(lens.searching, now, says=says, label="Search", quick=False)
    else:
        search = ui.compute(lens.search, now)
steps = search.steps
film = ui.film_of(now, len(steps), names=[one.number for one in steps])
step = ui.compute(lens.direction, now)
shown = lens.views(search)
result, values = lens.edited(ui.load(now.model), now.space, search, now.edit, step)

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.views(shown), key="views", share=0.7, film=film, alt="Target, and reconstruction G(w)"
        )
        ui.figure(
            figures.edits(shown, result, now.edit, values), key="edits", share=0.3, film=film,
            alt="Difference of target and reconstruction, and the reconstruction at the end "
            f" edited from less to more {now.edit}",
        )  # fmt: skip
    with right:
        ui.figure(figures.errors(steps), key="errors", share=1.0, film=film,
                  alt="Mean squared error at each iteration, logarithmic")  # fmt: skip
with stage.foot:
    ui.machine(
        now.model,
        film=film,
        lit=["G" if one.tuned else "z" for one in steps],
        says=[{"made": f"error {one.error:.4f}"} for one in steps],
    )
    film.bar(
        captions=words.captions(search, now.space, now.encoder), equations=words.equations(search, now.space)
    )

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(words.notice(search, now.space, now.edit, values))
    ui.check(
        "What is the mean squared error at the end?",
        words.OPTIONS,
        words.bracket(steps[-1].error),
        f"It is {steps[-1].error:.5f}.",
        wrong=(
            "G reaches a surface of pictures only: a target beside it leaves an error that no code removes.",
            "The error at the end depends on how far the target lies from the pictures that G can make.",
            "The search minimizes this very error, and G can make pictures nearer to the target than that.",
        ),
        veils=("errors", "equation"),
    )
    ui.program(
        f"""
        from lab import weights
        from lab.ui.controls import drawing
        from pages.adversarial.inversion import lens

        model, x = weights.load({now.model!r}), {ink_code(search.x)}
        search = lens.search(model, {now.space!r}, x, {now.encoder}, {now.seed}, {now.tune})
        result = [step.error for step in search.steps]
        """,
        shows=[s.error for s in steps],
    )
    ui.source(inversion.invert, inversion.LinearEncoder, inversion.tune, references=ROOM.references)
