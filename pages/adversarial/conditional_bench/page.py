"""Conditional bench: three ways to tell a generator the class, and one that finds classes by itself."""

from lab import ui
from lab.figures import basic, sheets
from modules.adversarial.conditional import ConditionalGAN
from modules.adversarial.infogan import InfoGAN
from pages.adversarial.conditional_bench import figures, lens
from pages.adversarial.conditional_bench.room import ROOM

INFO = "infogan-mnist"

stage = ui.stage(ROOM)
stage.scenes(
    {
        "A channel": ui.scene("D sees the class as one more image: rows obey, columns share a hand."),
        "A projection": ui.scene("D weighs its features by the class: rows obey as well.",
                                 model="projectiongan-digits"),
        "Extra logits": ui.scene("ACGAN: D names the class itself; a little less variety within it.",
                                 model="acgan-digits"),
        "Half an eight": ui.scene("Half of every class, half of the eight: most keep their name.",
                                  turn=5),
        "All eights": ui.scene("At the end of the film all rows are eights, each column one hand.", turn=10),
        "No labels": ui.scene("InfoGAN saw no class: its code finds most, and mistakes some.", model=INFO),
        "A number": ui.scene("Its number c₃ from −1 to 1: play the film.", model=INFO, number="c₃", turn=0),
    }
)  # fmt: skip


@ui.cached
def told(name: str, target: int, turned: int, seed: int):
    model = ui.load(name)
    return lens.story(model, ui.load(lens.network_of(model)), target, turned, seed)


@ui.cached
def read(name: str):
    return lens.numbers_read(ui.load(name)).tolist()


# --- Controls -----------------------------------------------------------------------------------

names = ui.trained(None, lens.fits, first=lens.SHELF)
with stage.rail:
    name = ui.choice("Model", names, key="model", as_list=True)
    model = ui.load(name)
    coding = isinstance(model, InfoGAN)
    target, turned = 8, 0
    if coding:
        turned = ["c₂", "c₃"].index(ui.choice("Number", ["c₂", "c₃"], key="number"))
    else:
        target = ui.slider("Mix with class", 0, 9, 8, key="target")
    seed = ui.number("Seed", 0, 999, 0, key="seed")
    ui.caption("Codes, no labels." if coding else f"D is told by {lens.TOLD[model.condition]}.")
network, each = lens.network_of(model), lens.EACH[model.event_shape[-1]]
frames = told(name, target, turned, seed)
if coding:
    ui.ahead(told, (name, target, 1 - turned, seed))
else:
    ui.ahead(told, *((name, each, turned, seed) for each in ui.near(target, 0, 9, 1)))
ui.ahead(told, *((other, target, 0, seed) for other in lens.SHELF if other in names and other != name))
film = ui.film(len(frames), key="turn", default=5 if coding else 0, label="Stop", seconds=0.4)
now = frames[film.at]

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            basic.images(now.sheet, lens.COLUMNS, zmin=0, zmax=1), key="sheet", share=1.0, film=film,
            frames={"data.0.z": sheets.frames([one.sheet for one in frames], lens.COLUMNS)},
            alt="Ten classes by eight draws of the noise",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.table(now), key="table", share=1.0, film=film,
            frames={"data.0.z": figures.tables(frames)},
            alt="Share of each class asked for that the network names as each",
            data={"asked": range(lens.CLASSES),
                  **{f"named {c}": now.table[:, c] for c in range(lens.CLASSES)}},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(frames, coding, target, turned), equations=lens.equations(frames))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    if coding:
        said = (
            "Rows are codes, each beside the class that fits it best, one to one. Over whole samples "
            + " and ".join(
                f"c{'₂₃'[i]} goes with slant by {slant:.2f} and with ink by {ink:.2f}"
                for i, (slant, ink) in enumerate(read(name))
            )
            + " (correlations): nothing tells a number what to mean."
        )
    else:
        said = "A mixed class was never asked for in training; what it makes is between the two."
    ui.notice(
        f"The names are those of {network}, which took no part in the game, on {each} pictures of "
        f"each class with the same {each} draws of the noise. {said}"
    )
    ui.check(
        "Of 100 pictures, how many are named as asked here?", lens.OPTIONS, lens.answer(now),
        f"{now.obeyed:.1%}.",
        wrong=(
            "A condition that is given is not yet obeyed: G follows it only as far as that was trained.",
            "That is what a few classes mixed up with each other would leave.",
            "Ignoring the class altogether leaves ten of 100: this network has learned to use it.",
        ),
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from pages.adversarial.conditional_bench import lens

        model, network = weights.load({ui.spelled(name)}), weights.load({network!r})
        frame = lens.story(model, network, {target}, {turned}, {seed})[{film.at}]
        result = [frame.obeyed, frame.variety, frame.slant, frame.ink]
        """,
        shows=[now.obeyed, now.variety, now.slant, now.ink],
    )
    ui.source(ConditionalGAN.judge, InfoGAN.bound, lens.made, references=ROOM.references)
