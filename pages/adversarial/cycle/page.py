"""CycleGAN: digits and outlines learned without a pair, and what each term of the loss is for."""

from lab import ui
from lab.figures.basic import image
from lab.ui.controls.drawing import ink_code
from modules.adversarial.cyclegan import CycleGAN
from pages.adversarial.cycle import figures, lens
from pages.adversarial.cycle.room import ALL, NO_CONTENT, NO_CYCLE, OUTLINES, ROOM, TRAININGS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
trips, way = ui.compute(lens.trips, now), now.way
result = trips[now.trained]

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        for column, x, key, title, alt in zip(
            ui.columns(2), (result.source, result.translation), ("source", "made"),
            ("input a", "output g(a)"),
            ("The picture that is translated, a", "Output of the generator in the other domain, g(a)"),
            strict=True,
        ):  # fmt: skip
            with column:
                ui.figure(image(x, title, zmin=0, zmax=1), key=key, share=0.6, alt=alt)
        around, partner, judged = ui.columns(3)
        with around:
            ui.figure(image(result.around, "back g′(g(a))", zmin=0, zmax=1), key="around", share=0.4,
                      alt="The picture translated forth and back, g′(g(a))")  # fmt: skip
        with partner:
            ui.figure(image(result.partner, "partner b", zmin=0, zmax=1), key="partner", share=0.4,
                      alt="The true picture of the other domain, never shown with a in "
                          "training")  # fmt: skip
        with judged:
            ui.figure(figures.verdict(result), key="verdict", share=0.4,
                      alt="Output of the other domain's discriminator for each patch of g(a)",
                      data={"output": result.verdict.flatten()})  # fmt: skip
    with right:
        ui.figure(
            figures.costs(trips, now.trained), key="costs", share=1.0,
            alt="Cycle loss, and distance to the hidden partner, of all three trainings",
            data={"training": list(trips), "partner": [t.to_partner for t in trips.values()],
                  "cycle": [t.cycle for t in trips.values()]},
        )  # fmt: skip
stage.equation(lens.equation(result), "cycle loss, distance to the partner, and that of a copy of the input")
with stage.foot:
    mean = float(result.verdict.mean())
    ui.machine(TRAININGS[now.trained], lit=[["z", "G", "made", "D"]], says=[{"D": f"{mean:.2f}"}])
with stage.below:
    ui.notice(
        "All three trainings have the same adversarial losses, and no digit is in both domains. The cycle "
        f"loss of this picture is {result.cycle:.3f}, the distance of g(a) to the hidden partner "
        f"{result.to_partner:.3f}, that of a copy of the input {result.copied:.3f}: a thin line that is one "
        "pixel off counts twice. On test digits the distance to the partner is "
        + ", ".join(f"{lens.measured(key, way)[0]:.3f} ({key})" for key in TRAININGS)
        + " and the cycle loss of both directions "
        + ", ".join(f"{lens.measured(key, way)[1]:.3f}" for key in TRAININGS)
        + ". The identity loss asks that a picture that is in the target domain already does not change. D "
        "classifies patches of 16 × 16 pixels; 1 is real."
    )
    best = min(trips, key=lambda key: trips[key].cycle)
    ui.check(
        "Which training has the lowest cycle loss on this picture?",
        list(trips),
        best,
        "Its cycle loss is the lowest of the three.",
        wrong={
            ALL: "The identity loss acts on the same weights, at the expense of this picture's cycle.",
            NO_CONTENT: "This training has a cycle loss too, but leaving the identity loss out does "
            "not "
            "help this picture.",
            NO_CYCLE: "Nothing in this training asks that g′ invert g.",
        },
        veils=("costs", "equation"),
    )
    drawing = ink_code(result.source if way == OUTLINES else result.partner)
    ui.program(
        f"""
        from lab import weights
        from lab.ui.controls import drawing
        from pages.adversarial.cycle import lens

        digit = {drawing}
        models = [weights.load(name).eval() for name in {list(TRAININGS.values())}]
        trips = lens.trips(*models, digit, {way!r})
        result = [number for trip in trips.values() for number in (trip.cycle, trip.to_partner)]
        """,
        shows=[number for trip in trips.values() for number in (trip.cycle, trip.to_partner)],
    )
    ui.source(CycleGAN.g_loss, lens.trip, references=ROOM.references)
