"""Unpaired: which maps between two domains games and cycles allow, and what makes the choice."""

from lab import ui
from modules.adversarial.cyclegan import CycleGAN, History
from pages.adversarial.unpaired import figures, lens
from pages.adversarial.unpaired.room import ROOM, TURNS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
found = ui.compute(lens.look, now)
film = ui.film_of(now, TURNS)

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.plane(found), key="plane", share=1.0, film=film,
            alt="The first domain, the hidden partners as rings, and what the generator makes as diamonds; "
                "what belongs together has one colour",
        )  # fmt: skip
    with right:
        ui.figure(figures.costs(found), key="costs", share=1.0, film=film,
                  alt="Distance of the laws, cycle loss and both content terms over the turn")  # fmt: skip
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
    drawn = f"drawing.pixels({now.ink!r}, 20)" if now.ink else None
    ui.program(
        f"""
        from lab.ui import drawing
        from pages.adversarial.unpaired import lens

        found = lens.look({now.domain!r}, {drawn}, {now.mirror}, {now.scale}, {now.undoes})
        result = [float(x[{film.at}]) for x in (found.law, found.cycle, found.before, found.identity)]
        """,
        shows=[float(x[film.at]) for x in (found.law, found.cycle, found.before, found.identity)],
    )
    ui.source(CycleGAN.generator_loss, History.swap, lens.look, references=ROOM.references)
