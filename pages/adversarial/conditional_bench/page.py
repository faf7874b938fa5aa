"""Conditional bench: three ways to tell a generator the class, and one that finds classes by itself."""

from lab import ui
from modules.adversarial.conditional import ConditionalGAN
from modules.adversarial.infogan import InfoGAN
from pages.adversarial.conditional_bench import figures, lens
from pages.adversarial.conditional_bench.room import NUMBERS, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    model = ui.load(now.model)
    coding = lens.coding(model)
    ui.caption("Trained without labels." if coding else f"D {lens.TOLD[model.condition]}.")
network, each = lens.network_of(model), lens.EACH[model.event_shape[-1]]
frames = ui.compute(lens.story, now)
stops = [f"{v:g}" for v in lens.stops(model)]
film = ui.film_of(now, len(frames), names=stops)
one = frames[film.at]

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(figures.sheet(frames), key="sheet", share=1.0, film=film,
                  alt=f"Ten classes in rows by {lens.COLUMNS} draws of z in columns")  # fmt: skip
    with right:
        ui.figure(figures.table(frames), key="table", share=1.0, film=film,
                  alt="Confusion matrix: class asked for by class predicted by the network")  # fmt: skip
with stage.foot:
    names = lens.quantity(model, now.number)
    says = [{"z": f"{names} = {stop}"} for stop in stops]
    ui.machine(now.model, film=film, lit=["G"] * film.count, says=says)
    film.bar(captions=lens.captions(frames, coding, now.target, now.turned), equations=lens.equations(frames))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    if coding:
        read = ui.compute(lens.numbers_read, now).tolist()
        text = (
            "Rows are values of the code c₁, each assigned to one class, one to one. Over samples "
            + " and ".join(
                f"{name} correlates with the slant by {slant:.2f} and with the ink by {ink:.2f}"
                for name, (slant, ink) in zip(NUMBERS, read, strict=True)
            )
            + ": the loss does not say what a code should mean."
        )
    else:
        text = "G was never trained on an interpolated class vector; what it makes lies between the two."
    ui.notice(
        f"The classifier is {network}, which took no part in the training of G and D, on {each} pictures "
        f"of each class with the same {each} draws of z. {text}"
    )
    ui.check(
        "Of 100 pictures, how many are classified as asked for here?",
        lens.OPTIONS,
        lens.answer(one),
        f"{one.obeyed:.1%}.",
        wrong=(
            "A class vector need not be followed: G learns it only as far as D checks it.",
            "That is what a few confused classes would leave.",
            "A G that ignores the class leaves ten of 100: this one has learned to use it.",
        ),
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from pages.adversarial.conditional_bench import lens

        model = weights.load({ui.spelled(now.model)})
        frame = lens.story(model, {now.target}, {now.turned}, {now.seed})[{film.at}]
        result = [frame.obeyed, frame.variety, frame.slant, frame.ink]
        """,
        shows=[one.obeyed, one.variety, one.slant, one.ink],
    )
    ui.source(ConditionalGAN.discriminate, InfoGAN.bound, lens.mixed_samples, references=ROOM.references)
