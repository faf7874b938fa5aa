"""Unpaired: which maps between two domains games and cycles allow, and what makes the choice."""

from lab import ui
from lab.lenses import ink
from lab.ui.drawing import inked
from modules.adversarial.cyclegan import CycleGAN, History
from pages.adversarial.unpaired import figures, lens
from pages.adversarial.unpaired.room import ROOM

PAD, HALF = 20, (lens.TURNS - 1) // 2

stage = ui.stage(ROOM)
stage.scenes(
    {
        "The shift": ui.scene("No turn: every colour meets its partner, and the content costs least."),
        "Upside down": ui.scene("Turned by 180°: same law, same cycle of 0, wrong partners.", turn=HALF),
        "A mirror": ui.scene("Mirrored: again neither the laws nor the cycle notice.", mirror=True),
        "No way back": ui.scene("Back undoes the shift alone: now the cycle sees every turn.", undoes=False,
                                turn=HALF),
        "Shrunk": ui.scene("A cloud of half the size: its cycle is 0, its law is wrong.", scale=0.5),
        "A wave": ui.scene("A shape without symmetry: here the laws notice a half turn too.",
                           domain=lens.OWN, ink="wave", turn=HALF // 2),
    }
)  # fmt: skip


@ui.cached
def looked(name: str, picture, mirror: bool, scale: float, undoes: bool) -> lens.Look:
    return lens.look(name, picture, mirror, scale, undoes)


with stage.rail:
    name = ui.choice("First domain", list(lens.DOMAINS), key="domain", as_list=True)
    picture = ink.examples(PAD)[0][1]
    if name == lens.OWN:
        picture = ui.draw("Your ink", key="ink", size=PAD, examples=ink.examples(PAD))
        if not bool(picture.any()):
            ui.stop("There is no ink: draw something.")
    mirror = ui.toggle("Mirror", False, key="mirror")
    scale = ui.slider("Scale s", 0.25, 1.5, 1.0, key="scale", step=0.25)
    undoes = ui.toggle("Back undoes all of it", True, key="undoes", help="Else it undoes the shift alone.")
found = looked(name, picture, mirror, scale, undoes)
ui.ahead(looked, *((name, picture, mirror, each, undoes) for each in ui.near(scale, 0.25, 1.5, 0.25)),
         (name, picture, not mirror, scale, undoes), (name, picture, mirror, scale, not undoes))  # fmt: skip
film = ui.film(lens.TURNS, key="turn", label="Turn", seconds=0.2)

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.plane(found, film.at), key="plane", share=1.0, film=film,
            frames={"data.2.x": found.made[..., 0], "data.2.y": found.made[..., 1]},
            alt="The first domain, the hidden partners as rings, and what the generator makes as diamonds; "
                "what belongs together has one colour",
        )  # fmt: skip
    with right:
        turns = lens.degrees()
        ui.figure(
            figures.costs(found, film.at), key="costs", share=1.0, film=film,
            frames={f"layout.shapes.0.x{end}": turns for end in (0, 1)},
            alt="Distance of the laws, cycle loss and both content terms over the turn",
            data={"degrees": turns, "W1": found.law, "cycle": found.cycle, "before": found.before,
                  "identity": found.identity, "partner": found.partner},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(found), equations=lens.equations(found))
best = lens.degrees()[lens.chosen(found.before)]
span = (float(found.cycle.min()), float(found.cycle.max()))
stage.metrics(
    {
        "Cycle over all turns": f"{span[0]:.2f} to {span[1]:.2f}",
        "W₁ of the laws": f"{float(found.law.min()):.2f} to {float(found.law.max()):.2f}",
        "Before and after picks": f"{best:.0f}°",
    }
)
options = ["it is the same for all", "it depends on the turn"]
with stage.below:
    ui.notice(
        f"W₁ is between {lens.COMPARED} points of each law, so it is never 0. The cycle only asks that back "
        "undoes there, whatever there is. The content of the text, before against after, is least at "
        f"{best:.0f}°; the paper's, the identity on what is of the target domain already, at "
        f"{lens.degrees()[lens.chosen(found.identity)]:.0f}°. The generators of a CycleGAN have weights of "
        "their own, two discriminators, and each of these sees some older pictures too."
    )
    ui.check(
        "What does the cycle loss say of the turn?", options, options[span[1] - span[0] > 1e-3],
        f"It runs from {span[0]:.3f} to {span[1]:.3f}.",
        wrong={
            options[0]: "A turn is free only where the way back undoes it: here back undoes the shift alone.",
            options[1]: "The cycle asks only that back undo there: any turn that is undone is as good.",
        },
        veils=("costs", "numbers", "equation"),
    )  # fmt: skip
    drawn = (
        inked(picture)
        if name == lens.OWN else f"ink.examples({PAD})[0][1]"
    )  # fmt: skip
    ui.program(
        f"""
        from lab.lenses import ink
        from lab.ui import drawing
        from pages.adversarial.unpaired import lens

        found = lens.look({name!r}, {drawn}, {mirror}, {scale}, {undoes})
        result = [float(x[{film.at}]) for x in (found.law, found.cycle, found.before, found.identity)]
        """,
        shows=[float(x[film.at]) for x in (found.law, found.cycle, found.before, found.identity)],
    )
    ui.source(CycleGAN.generator_loss, History.swap, lens.look, references=ROOM.references)
