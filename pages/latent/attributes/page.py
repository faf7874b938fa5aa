"""Attribute grid: two attributes as two axes through the code of one picture."""

from lab import ui
from lab.figures import basic, sheets
from lab.lenses import latent
from lab.ui.models import shelves
from modules.latent import resynthesis
from pages.latent.attributes import figures, lens
from pages.latent.attributes.room import ROOM

CODES = ("mean", "MAP")
START = "factorvae-sprites"

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Right × down": ui.scene("Steps to the right and down come back as they were taken."),
        "Large × ell": ui.scene("To the model an ell is a large thing: the lattice shrinks to a diagonal.",
                                a="large", b="ell"),
        "Wedge × large": ui.scene("And a wedge is a small one: the lattice lies on the other diagonal.",
                                  a="wedge", b="large"),
        "Bold × leaning": ui.scene("A 3 from thin to bold, and from left to right leaning.",
                                   model="vae-mnist", digit="3"),
        "A 6 and bold": ui.scene("A zero on its way to a six, thin above and bold below.",
                                 model="vae-mnist", digit="0", a="a 6", b="bold", s=1.5),
        "Too strong": ui.scene("At s = 2 less comes back: no sprite lies beyond the edge.", s=2.0),
        "MAP code": ui.scene("The code of highest log p(x|z) + log p(z) beats the encoder's mean.",
                             code="MAP", model="vae-mnist", digit="3"),
        "No digit": ui.scene("A box is drawn as a round zero; its corners come back where it leans.",
                             model="vae-mnist", digit="box"),
    }
)  # fmt: skip


@ui.cached
def axes_of(name: str, kind: str, side: int):
    model = ui.load(name)
    if kind == "":
        pictures, has = lens.sprite_attributes()
    else:
        pictures, labels = shelves.examples(kind, side)
        has = lens.digit_attributes(pictures, labels)
    return lens.axes(model, latent.as_input(model, pictures), has)


@ui.cached
def readied(name: str):
    """The axes of a model with the examples that its page begins with."""
    side = latent.side_of(ui.load(name))
    sprites = lens.sprites.fits(ui.recipe(name))
    return axes_of(name, "" if sprites else shelves.kinds(side)[0], side)


@ui.cached
def code_of(name: str, x, best: bool):
    return lens.code(ui.load(name), x, best)


@ui.cached
def grid_of(name: str, z, a, b) -> lens.Grid:
    return lens.grid(ui.load(name), z, a, b)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.experiment("Model", family="latent", key="model", default=START, only=lens.fits)
    model = ui.load(name)
    side = latent.side_of(model)
    sprites = lens.sprites.fits(ui.recipe(name))
    kind = "" if sprites else ui.choice("Examples", shelves.kinds(side), key="examples", as_list=True)
    axes = axes_of(name, kind, side)
    for_a, for_b = ui.columns(2)
    with for_a:
        first = ui.choice("Across", list(axes), key="a", as_list=True)
    with for_b:
        second = ui.choice("Down", [one for one in axes if one != first], key="b", as_list=True)
    which = ui.choice("Code of your picture", CODES, key="code")
    if sprites:
        picture = ui.draw("Your sprite", key="sprite", size=side, examples=lens.examples())
    else:
        chosen = latent.examples(*shelves.examples(kind, side))
        picture = ui.draw("Your digit", key="digit", size=side, examples=chosen)
film = ui.film(len(lens.STRENGTHS), key="s", values=lens.STRENGTHS, default=1.0, label="s =", seconds=0.35)
x = latent.as_input(model, picture)
z = code_of(name, x, which == "MAP")
ui.prefetch(readied, *((each,) for each in ui.trained("latent", lens.fits) if each != name))
ui.prefetch(code_of, (name, x, which != "MAP"))
a, b = axes[first], axes[second]
result = grid_of(name, z, a, b)
cos = lens.cosine(a, b)

# --- Pictures -----------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.grid(result.pictures[film.at], first, second), key="grid", share=1.0, film=film,
            frames={"data.0.z": sheets.sheet(result.pictures)},
            alt=f"Your picture with more {first} to the right and more {second} below",
        )  # fmt: skip
    with right:
        given, rebuilt = ui.columns(2)
        with given:
            ui.figure(basic.image(x.reshape(side, side), title="x", zmin=0, zmax=1), key="x", share=0.32,
                      alt="Your picture")  # fmt: skip
        with rebuilt:
            ui.figure(
                basic.image(latent.decoded(model, z), title="from its code", zmin=0, zmax=1), key="rebuilt",
                share=0.32, alt=f"Your picture decoded from its {which} code",
            )  # fmt: skip
        ui.figure(
            figures.lattice(result.planned[film.at], result.read[film.at], first, second), key="lattice",
            share=0.68, film=film, frames=figures.moves(result.planned, result.read),
            alt="The steps taken on both axes, and those read from the pictures when they are encoded again",
        )  # fmt: skip
reached, mean = lens.joint(model, x, z), lens.joint(model, x, code_of(name, x, False))
with stage.foot:
    film.bar(
        captions=[
            lens.sentence(result, frame, first, second) for frame in range(len(lens.STRENGTHS))
        ],
        equations=[
            rf"z+{s:g}\,(u\,a+v\,b),\qquad \cos(a,b)={cos:.3f},\quad \|a\|={float(a.norm()):.2f},\quad "
            rf"\|b\|={float(b.norm()):.2f}"
            for s in lens.STRENGTHS
        ],
    )  # fmt: skip
stage.equation(
    rf"\log p(x|z)+\log p(z)={mean:.2f}" + (rf"\to {reached:.2f}" if which == "MAP" else ""),
    "At the encoder's mean"
    + (
        f", and after {lens.MAP_STEPS} steps of L-BFGS from there."
        if which == "MAP"
        else " for your picture."
    ),
)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        "An axis is the mean code of the examples that have the attribute less that of the others; nobody "
        f"trained for it. Here the two stand {lens.angle(cos)} (cosine {cos:.2f}). "
        + (
            "The factors are independent in the data; where two axes lie alike, the code has no number of "
            "its own for each: ells have more ink than wedges, and so have large sprites."
            if sprites
            else "Bold, leaning and wide mean: more so than half of the examples are. "
            "What goes with an attribute among the examples goes with its axis."
        )
    )
    ui.check(
        "How do the two axes stand to each other?", lens.ANGLES, lens.angle(cos),
        f"Their cosine is {cos:.3f}.",
        wrong=(
            "Attributes that differ in sense may share a direction: here the cosine is not near 0.",
            "Alike axes would change both attributes at once: that takes a cosine near 1.",
            "Opposed axes would undo each other: that takes a cosine near −1.",
        ),
        veils=("equation", "lattice"),
    )  # fmt: skip
    examples = (
        "pictures, has = lens.sprite_attributes()"
        if sprites
        else f"pictures, labels = shelves.examples({kind!r}, {side})\n        "
        "has = lens.digit_attributes(pictures, labels)"
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.ui.models import shelves
        from pages.latent.attributes import lens

        model = weights.load({ui.spelled(name)})
        {examples}
        axes = lens.axes(model, lens.latent.as_input(model, pictures), has)
        a, b = axes[{first!r}], axes[{second!r}]
        result = [a.norm().item(), b.norm().item(), lens.cosine(a, b)]
        """,
        shows=[float(a.norm()), float(b.norm()), cos],
    )  # fmt: skip
    ui.source(resynthesis.attribute_vector, resynthesis.map_projection, lens.grid, references=ROOM.references)
