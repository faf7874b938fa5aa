"""Arithmetic: the difference of two classes' mean codes, added to a digit."""

from lab import ui
from lab.figures import basic, sheets
from lab.lenses import latent, vaes
from lab.ui.models import shelves
from modules.latent.vae import VAE
from pages.latent.arithmetic.room import ROOM

STRENGTHS = [-1 + 0.25 * i for i in range(13)]
NEAREST, COLUMNS = 6, 3

stage = ui.stage(ROOM)
stage.scenes(
    {
        "In two dimensions": ui.scene("A zero plus the arrow from 0 to 6: see which digit the sum is."),
        "In forty": ui.scene("The same arrow in forty dimensions: play it from s = −1 to 2.",
                             model="vae-mnist"),
        "Backwards": ui.scene("s = −1: away from the sixes.", model="vae-mnist", strength=-1.0),
        "Twice": ui.scene("Twice the arrow: as far again as from the mean 0 to the mean 6.",
                          model="vae-mnist", strength=2.0),
        "A 7 with a 4's arrow": ui.scene("The arrow from 4 to 9, added to a digit that is neither.",
                                         model="vae-mnist", a="7", minus=4, plus=9),
        "A box": ui.scene("Added to what is no digit.", model="vae-mnist", a="box"),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.experiment("Model", family="latent", key="model", default=vaes.START, only=vaes.fits)
    minus = ui.choice("Take away", list(range(10)), key="minus", default=0, as_list=True)
    plus = ui.choice("Add", list(range(10)), key="plus", default=6, as_list=True)
    shelf = shelves.shelf(name)
    a = shelves.digit("a", name, shelf)
model, side = ui.load(name), shelf.side
film = ui.film(len(STRENGTHS), key="strength", values=STRENGTHS, default=1.0, label="s =", seconds=0.2)
arrow = latent.class_difference(shelf.overview.means, shelf.labels, minus, plus)
line = latent.along(a.code, arrow, STRENGTHS)  # (13, K)
pictures = latent.decoded(model, line)
near = [latent.neighbours(shelf.overview.means, code, NEAREST) for code in line]
classes = [shelf.labels[index].tolist() for index, _ in near]
shown = latent.stacked([shelf.pictures[index] for index, _ in near])  # (13, 6, side, side)
words = [
    [f"a {c} at {d:.2f}" for c, d in zip(result, distance.tolist(), strict=True)]
    for result, (_, distance) in zip(classes, near, strict=True)
]

# --- Pictures -----------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([2, 3])
    with left:
        ui.figure(
            basic.image(pictures[film.at], title="the sum, decoded"), key="sum", share=0.62, film=film,
            frames={"data.0.z": pictures}, alt="Digit A plus s times the arrow, decoded",
        )  # fmt: skip
    with right:
        ui.figure(
            sheets.labelled(list(shown[film.at]), words[film.at], columns=COLUMNS), key="nearest",
            share=0.62, film=film,
            frames={
                "data.0.z": sheets.frames(shown, COLUMNS, sheets.label_gap(side)),
                **{f"layout.annotations.{i}.text": [text[i] for text in words] for i in range(NEAREST)},
            },
            alt=f"The {NEAREST} examples nearest to the sum, with their classes and distances",
            data={"s": STRENGTHS, "nearest class": [c[0] for c in classes]},
        )  # fmt: skip
    fig = sheets.contact_sheet(pictures[None], ["A + s·arrow"], [f"{s:g}" for s in STRENGTHS], xlabel="s")
    ui.figure(
        sheets.frame(fig, side, film.at, None, 1), key="line", share=0.38, film=film,
        frames=sheets.frame_moves(side, range(len(STRENGTHS))),
        alt=f"Digit A plus s times the mean {plus} minus the mean {minus}, s from −1 to 2; this s is framed",
    )  # fmt: skip
with stage.foot:
    film.bar(
        captions=[
            f"The nearest examples at s = {s:g} are of the classes {', '.join(map(str, c))}."
            for s, c in zip(STRENGTHS, classes, strict=True)
        ],
        equations=[
            rf"z_A+s\,(\bar z_{{{plus}}}-\bar z_{{{minus}}})={vaes.vector(a.code, 2)}"
            rf"{'-' if s < 0 else '+'}{abs(s):g}\cdot{vaes.vector(arrow, 2)}={vaes.vector(z, 2)}"
            for s, z in zip(STRENGTHS, line, strict=True)
        ],
    )

# --- Words --------------------------------------------------------------------------------------

s = film.value
with stage.below:
    reached = [v for v, c in zip(STRENGTHS, classes, strict=True) if c[0] == plus]
    ui.notice(
        f"z̄ is the mean code of a class among the examples; the arrow has length {arrow.norm().item():.3f}. "
        + (
            f"Along it the nearest example is of class {plus} at s = {', '.join(f'{v:g}' for v in reached)}. "
            if reached
            else f"Nowhere along it is the nearest example of class {plus}. "
        )
        + "Where the decoder bends, the same arrow means something else: that is the limit of arithmetic "
        "with codes."
    )  # fmt: skip
    ui.check(
        f"At s = {s:g}, which class has the example nearest to the sum?",
        list(range(10)),
        classes[film.at][0],
        "It stands first beside the decoded sum.",
        wrong={
            digit: f"At this s an example of another class lies nearer to the sum than any {digit}."
            for digit in range(10)
        },
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import latent
        from lab.ui.controls import drawing
        from lab.ui.models import shelves

        model = weights.load({ui.spelled(name)})
        x = {a.program}
        pictures, labels = shelves.examples({shelf.kind!r}, {side})
        means = latent.codes(model, latent.as_input(model, pictures))
        arrow = latent.class_difference(means, labels, {minus}, {plus})
        result = (latent.codes(model, x)[0] + {s:g} * arrow)[:3]
        """,
        shows=line[film.at][:3],
    )
    ui.source(
        latent.class_difference, latent.along, latent.neighbours, VAE.decode,
        references=ROOM.references,
    )  # fmt: skip
