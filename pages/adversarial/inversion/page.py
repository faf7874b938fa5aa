"""Inversion: the code of a picture that the generator has not made, and what an edit of the code does."""

from lab import ui
from lab.ui.drawing import inked
from modules.adversarial import inversion
from pages.adversarial.inversion import figures, lens, words
from pages.adversarial.inversion.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "A made picture": ui.scene("The generator made it, so its code exists: W finds it, nearly."),
        "Stuck in Z": ui.scene("The same picture, looked for in z: the search ends elsewhere.", space="Z"),
        "A drawn digit": ui.scene("A digit of another model: in W its outline, not all of it.", x="5"),
        "A style a layer": ui.scene("The same digit in W+: six styles come nearer than one.", x="5",
                                    space="W+"),
        "With an encoder": ui.scene("A linear guess at the code is a better start than the mean style.",
                                    x="made too", encoder=True, step=0),
        "No digit": ui.scene("No style makes a cross: what is out of range stays out.", x="cross"),
        "Tune the generator": ui.scene("At the code that was found the generator moves: the rest goes.",
                                       x="cross", space="W+", tune=True),
    }
)  # fmt: skip


@ui.cached
def targets():
    return lens.targets(ui.load(lens.NAME), ui.load(lens.PAINTER), ui.load(lens.READER))


@ui.cached
def draws():
    return lens.draws(ui.load(lens.NAME))


@ui.cached
def direction(space: lens.Space, quantity: str):
    return lens.direction(draws(), space, quantity)


@ui.cached
def searched(space: lens.Space, x, encoded: bool, seed: int) -> lens.Search:
    return lens.found(ui.load(lens.NAME), space, x, encoded, False, seed, draws() if encoded else None)


# --- Controls -----------------------------------------------------------------------------------

model = ui.load(lens.NAME)
with stage.rail:
    picture = ui.draw("Your picture", key="x", size=lens.SIDE, examples=targets())
    space = ui.choice("Look in", ["W", "W+", "Z"], key="space")
    encoded = ui.toggle("Start at an encoder's guess", False, key="encoder")
    tuned = ui.toggle("Tune the generator after", False, key="tune")
    quantity = ui.choice("Edit", list(lens.QUANTITIES), key="edit")
    seed = ui.number("Seed of a start in Z", 0, 999, 0, key="seed")
x = picture[None, None]
with stage.picture:
    search = searched(space, x, encoded, seed) if not tuned else ui.found(
        "Search", lambda: lens.searching(model, space, x, encoded, tuned, seed), key="searching",
        of=(space, ui.ink(picture), encoded, tuned, seed), quick=False,
        says="The search, then the tuning, frame by frame.",
    )  # fmt: skip
steps = search.steps
film = ui.film(len(steps), key="step", default=len(steps) - 1, label="Step", seconds=0.2,
               names=[one.number for one in steps])  # fmt: skip
made, values = lens.edited(model, space, search, quantity, direction(space, quantity))
views = lens.views(picture, steps)

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.views(views[film.at]), key="views", share=0.55, film=film,
            frames={"data.0.z": figures.frames(views)},
            alt="Target, what is made of the code, and their difference",
        )  # fmt: skip
        ui.figure(
            figures.edits(made, quantity, values), key="edits", share=0.45,
            alt=f"Pictures of the code that was found as it is edited to less and more {quantity}",
            data={"step": lens.EDITS, quantity: values},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.errors(steps, film.at), key="errors", share=1.0, film=film, frames=figures.point(steps),
            alt="Mean squared error at each step, logarithmic",
            data={"step": [s.number for s in steps], "error": [s.error for s in steps]},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=words.captions(search, space, encoded), equations=words.equations(search, space))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(words.notice(search, space, quantity, values))
    ui.check(
        "Where does the error end?", words.OPTIONS, words.bracket(steps[-1].error),
        f"It is {steps[-1].error:.5f}.",
        wrong=(
            "G makes what lies on its own surface: what is beside it leaves an error that no code removes.",
            "How near it ends is a matter of where the target lies, on the surface of G or off it.",
            "The search goes down on this very error, and G can make pictures nearer than that.",
        ),
        veils=("errors", "equation"),
    )  # fmt: skip
    ui.program(words.program_of(space, inked(picture), encoded, tuned, seed), shows=[s.error for s in steps])
    ui.source(inversion.invert, inversion.LinearEncoder, inversion.tune, references=ROOM.references)
if not tuned:
    others = [(each, x, encoded, seed) for each in ("W", "W+", "Z") if each != space]
    ui.ahead(searched, *others, (space, x, not encoded, seed))
    ui.ahead(direction, *((space, each) for each in lens.QUANTITIES if each != quantity))
