"""CycleGAN: digits and outlines learned without a pair, and what each term of the loss is for."""

from lab import ui
from lab.figures.basic import image
from lab.ui.drawing import inked
from modules.adversarial.cyclegan import CycleGAN
from pages.adversarial.cycle import figures, lens
from pages.adversarial.cycle.room import ALL, NO_CONTENT, NO_CYCLE, OUTLINES, ROOM, TRAININGS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
trips, way = ui.compute(lens.trips, now), now.way
found = trips[now.trained]

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
            figures.costs(trips, now.trained), key="costs", share=0.5,
            alt="Distance to the hidden partner, and of the round trip, for all four trainings",
            data={"training": list(trips), "partner": [t.to_partner for t in trips.values()],
                  "cycle": [t.cycle for t in trips.values()]},
        )  # fmt: skip
stage.equation(lens.equation(found), "around, to the partner, and of a mere copy")
stage.metrics(
    {f"Test digits, {key}": "{:.3f}, home {:.3f}".format(*lens.measured(key, way)) for key in TRAININGS}
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
            ALL: "The content term pulls at the same weights, and takes from the round trip of this "
            "picture.",
            NO_CONTENT: "The cycle is asked for there too, but leaving the content out does not help "
            "this picture.",
            NO_CYCLE: "Nothing in this training asks that the way back undo the way there.",
        },
        veils=("costs", "numbers", "equation"),
    )  # fmt: skip
    drawing = inked(found.source if way == OUTLINES else found.partner)
    ui.program(
        f"""
        from lab import weights
        from lab.ui import drawing
        from pages.adversarial.cycle import lens

        digit = {drawing}
        models = [weights.load(name).eval() for name in {list(TRAININGS.values())}]
        trips = lens.trips(*models, digit, {way!r})
        result = [number for trip in trips.values() for number in (trip.cycle, trip.to_partner)]
        """,
        shows=[number for trip in trips.values() for number in (trip.cycle, trip.to_partner)],
    )
    ui.source(CycleGAN.generator_loss, lens.trip, references=ROOM.references)
