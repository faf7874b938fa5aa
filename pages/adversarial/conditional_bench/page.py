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
    ui.caption("Codes, no labels." if coding else f"D is told by {lens.TOLD[model.condition]}.")
network, each = lens.network_of(model), lens.EACH[model.event_shape[-1]]
frames = ui.compute(lens.story, now)
film = ui.film_of(now, len(frames))
one = frames[film.at]

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(figures.sheet(frames), key="sheet", share=1.0, film=film,
                  alt="Ten classes by eight draws of the noise")  # fmt: skip
    with right:
        ui.figure(figures.table(frames), key="table", share=1.0, film=film,
                  alt="Share of each class asked for that the network names as each")  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(frames, coding, now.target, now.turned), equations=lens.equations(frames))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    if coding:
        read = ui.compute(lens.numbers_read, now).tolist()
        said = (
            "Rows are codes, each beside the class that fits it best, one to one. Over whole samples "
            + " and ".join(
                f"{name} goes with slant by {slant:.2f} and with ink by {ink:.2f}"
                for name, (slant, ink) in zip(NUMBERS, read, strict=True)
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
        "Of 100 pictures, how many are named as asked here?", lens.OPTIONS, lens.answer(one),
        f"{one.obeyed:.1%}.",
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

        model = weights.load({ui.spelled(now.model)})
        frame = lens.story(model, {now.target}, {now.turned}, {now.seed})[{film.at}]
        result = [frame.obeyed, frame.variety, frame.slant, frame.ink]
        """,
        shows=[one.obeyed, one.variety, one.slant, one.ink],
    )
    ui.source(ConditionalGAN.judge, InfoGAN.bound, lens.made, references=ROOM.references)
