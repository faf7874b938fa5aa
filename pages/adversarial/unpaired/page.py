"""Unpaired: which maps between two domains games and cycles allow, and what makes the choice."""

from lab import ui
from modules.adversarial.cyclegan import CycleGAN, History
from pages.adversarial.unpaired import figures, lens
from pages.adversarial.unpaired.room import ROOM, TURNS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
result = ui.compute(lens.look, now)
film = ui.film_of(now, TURNS, names=[f"{degrees:.0f}°" for degrees in lens.degrees()])

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.plane(result), key="plane", share=1.0, film=film,
            alt="Points of the source domain, and beside it the generator's output in the target domain; of "
                "eight points the partners are rings, in one colour with them",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.costs(result),
            key="costs",
            share=1.0,
            film=film,
            alt="Distance of the distributions, cycle loss and both content losses over the rotation",
        )
with stage.foot:
    film.bar(captions=lens.captions(result), equations=lens.equations(result))
best = lens.degrees()[lens.chosen(result.before)]
span = (float(result.cycle.min()), float(result.cycle.max()))
stage.metrics(
    {
        "Cycle loss over all φ": f"{span[0]:.2f} to {span[1]:.2f}",
        "W₁ of the distributions": f"{float(result.w1.min()):.2f} to {float(result.w1.max()):.2f}",
    }
)
options = ["it is the same for all", "it depends on the rotation"]
with stage.below:
    ui.notice(
        f"W₁ is between {lens.COMPARED} points of each distribution, so it is never 0. The cycle loss only "
        "asks that the backward map invert the forward map, whichever it is. The textbook's content loss, "
        f"input against output, is least at {best:.0f}°; the paper's identity loss, on points that are in "
        f"the target domain already, at {lens.degrees()[lens.chosen(result.identity)]:.0f}°. The two "
        "generators of a CycleGAN do not share weights, and each of its two discriminators also sees a "
        "buffer of earlier outputs."
    )
    ui.check(
        "How does the cycle loss depend on the rotation?",
        options,
        options[span[1] - span[0] > 1e-3],
        f"It runs from {span[0]:.3f} to {span[1]:.3f}.",
        wrong={
            options[0]: "A rotation is free only if the backward map inverts it: here it inverts the shift "
            "alone.",
            options[1]: "The cycle loss asks only for an inverse: any rotation that is inverted is as good.",
        },
        veils=("costs", "numbers", "equation"),
    )
    drawn = f"drawing.pixels({now.ink!r}, 20)" if now.ink else None
    ui.program(
        f"""
        from lab.ui.controls import drawing
        from pages.adversarial.unpaired import lens

        stages = lens.look({now.domain!r}, {drawn}, {now.mirror}, {now.scale}, {now.undoes})
        result = [float(x[{film.at}]) for x in (stages.w1, stages.cycle, stages.before, stages.identity)]
        """,
        shows=[float(x[film.at]) for x in (result.w1, result.cycle, result.before, result.identity)],
    )
    ui.source(CycleGAN.g_loss, History.swap, lens.look, references=ROOM.references)
