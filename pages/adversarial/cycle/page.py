"""CycleGAN: digits and outlines learned without a pair, and what each term of the loss is for."""

from lab import ui
from lab.figures.basic import image
from lab.lenses import drawing
from lab.ui.drawing import inked
from modules.adversarial.cyclegan import CycleGAN
from pages.adversarial.cycle import figures, lens
from pages.adversarial.cycle.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "There": ui.scene("A digit gets its outline, though no pair was ever shown."),
        "And back": ui.scene("An outline is filled; back again it is nearly what it was.", way=lens.DIGITS),
        "No content": ui.scene("It comes home, and its outline is another's: a cycle does not say whose.",
                               trained=lens.NO_CONTENT),
        "No cycle": ui.scene("One scrawl for every digit: nothing is left by which to come home.",
                             trained=lens.NO_CYCLE),
        "Any other": ui.scene("The same scrawl: compare the picture that came home.", digit="2",
                              trained=lens.NO_CYCLE),
        "One way good": ui.scene("Without the cycle outlines are filled all the same; the way home is lost.",
                                 way=lens.DIGITS, trained=lens.NO_CYCLE),
    }
)  # fmt: skip


@ui.cached
def examples():
    return drawing.examples(lens.SIDE)


with stage.rail:
    digit = ui.draw("Draw a digit", key="digit", size=lens.SIDE, examples=examples())
    way = ui.choice("Way", list(lens.WAYS), key="way", as_list=True)
    name = ui.choice("Trained with", list(lens.TRAININGS), key="trained", as_list=True)
if not bool((digit > 0.5).any()):
    ui.stop("There is no ink: draw something dark enough to have an outline.")
trips = lens.trips({key: ui.load(model) for key, model in lens.TRAININGS.items()}, digit, way)
found = trips[name]

with stage.picture:
    left, middle, right = ui.columns(3)
    with left:
        ui.figure(image(found.source, "a, where it starts", zmin=0, zmax=1), key="source", share=0.5,
                  alt="The picture that is translated")  # fmt: skip
        ui.figure(image(found.around, "g′(g(a)), and back", zmin=0, zmax=1), key="around", share=0.5,
                  alt="The picture after the way there and back")  # fmt: skip
    with middle:
        ui.figure(image(found.made, "g(a), there", zmin=0, zmax=1), key="made", share=0.5,
                  alt="What the generator makes of it in the other domain")  # fmt: skip
        ui.figure(image(found.partner, "b, its hidden partner", zmin=0, zmax=1), key="partner", share=0.5,
                  alt="The true picture of the other domain, which no generator was shown")  # fmt: skip
    with right:
        ui.figure(figures.verdict(found), key="verdict", share=0.5,
                  alt="What D of the other domain says of what was made, patch by patch",
                  data={"output": found.verdict.flatten()})  # fmt: skip
        ui.figure(
            figures.costs(trips, name), key="costs", share=0.5,
            alt="Distance to the hidden partner, and of the round trip, for all four trainings",
            data={"training": list(trips), "partner": [t.to_partner for t in trips.values()],
                  "cycle": [t.cycle for t in trips.values()]},
        )  # fmt: skip
stage.equation(lens.equation(found), "around, to the partner, and of a mere copy")
stage.metrics(
    {f"Test digits, {key}": "{:.3f}, home {:.3f}".format(*lens.measured(key, way)) for key in lens.TRAININGS}
)
with stage.below:
    ui.notice(
        "All three trainings had the same games; the digits of one domain are not those of the other. The "
        f"way there and back ends {found.cycle:.3f} from where it began, and there is {found.to_partner:.3f} "
        f"from the hidden partner, where a copy is {found.copied:.3f}: a thin line that is one pixel off "
        "counts twice. The content is the paper's: what is of a domain already is to stay as it is, with the "
        "same weight in both trainings that have it. D answers for patches of 16 × 16 pixels; 1 is real."
    )
    best = min(trips, key=lambda key: trips[key].cycle)
    ui.check(
        "Which training brings this picture home best?", list(trips), best,
        "Its round trip costs least.",
        wrong={
            lens.ALL: "The content term pulls at the same weights, and takes from the round trip of this "
            "picture.",
            lens.NO_CONTENT: "The cycle is asked for there too, but leaving the content out does not help "
            "this picture.",
            lens.NO_CYCLE: "Nothing in this training asks that the way back undo the way there.",
        },
        veils=("costs", "numbers", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import weights
        from lab.ui import drawing
        from pages.adversarial.cycle import lens

        digit = {inked(digit)}
        models = {{name: weights.load(model).eval() for name, model in lens.TRAININGS.items()}}
        trips = lens.trips(models, digit, {way!r})
        result = [number for trip in trips.values() for number in (trip.cycle, trip.to_partner)]
        """,
        shows=[number for trip in trips.values() for number in (trip.cycle, trip.to_partner)],
    )
    ui.source(CycleGAN.generator_loss, lens.trip, references=ROOM.references)
