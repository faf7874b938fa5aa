"""Property table: six promises of five families, beside what was measured on trained models."""

from lab import ui
from pages.adversarial.property_table import figures, large, lens
from pages.adversarial.property_table.room import CRITERIA, MNIST, MODELS, ROOM

ROWS = list(MODELS)

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    topic = lens.room(now.family, now.criterion)
    ui.page_link(next(page for page in ui.pages() if page.topic == topic))
row, column = ROWS.index(now.family), CRITERIA.index(now.criterion)

# --- Picture ------------------------------------------------------------------------------------


def draw(result) -> None:
    """The table, as far as it is measured."""
    words, agree = lens.cells(result[1], result[0])
    left, right = ui.columns([1, 2])
    with left:
        ui.figure(
            figures.samples(lens.shown(result[1])),
            key="samples",
            share=1.0,
            alt=f"Samples of {', '.join(now.models.values())}, one row a model",
        )
    with right:
        ui.button_figure(
            figures.table(ROWS, CRITERIA, words, agree, row, column),
            key="table",
            share=1.0,
            alt="Six criteria of five families: what was measured, and whether the textbook agrees",
            on_press=lambda x, y: ui.moved(now, family=ROWS[y], criterion=CRITERIA[x]),
            data={"models": ROWS, **{name: [line[j] for line in words] for j, name in enumerate(CRITERIA)}},
        )


with stage.picture:
    says = "The table fills as the models are measured."
    if now.digits == MNIST:
        floor, measured = ui.compute(large.table, now)
    else:
        floor, measured = ui.compute(lens.measuring, now, says=says, label="Measure", show=draw)
    draw((floor, measured))
gan = measured[0]
with stage.foot:
    ui.caption(
        "Blue: the measurement agrees with the textbook; orange: it contradicts it; grey: one of the two is "
        f"missing. {lens.sentence(now.family, column, measured[row], gan, floor)}"
    )

# --- Words --------------------------------------------------------------------------------------

agree = lens.cells(measured, floor)[1]
wrong = [f"{name}: {CRITERIA[j]}" for name, line in zip(ROWS, agree, strict=True)
         for j, state in enumerate(line) if state == 2]  # fmt: skip
with stage.below:
    ui.notice(
        f"The models are {', '.join(now.models.values())}. "
        + "They were measured before: five hundred pictures of each take minutes. " * (now.digits == MNIST)
        + (f"The measurement contradicts the textbook for {'; '.join(wrong)}. " if wrong else "")
        + "The cost counts operations, not which of them must wait for others. For large pictures, of "
        "which the textbook speaks, the verdicts may differ."
    )
    ui.check(
        "How many verdicts of the textbook does the measurement contradict?",
        ["none", "1 to 3", "more than 3"],
        "none" if not wrong else "1 to 3" if len(wrong) <= 3 else "more than 3",
        f"{len(wrong)} of the cells that have both a verdict and a measurement.",
        wrong={
            "none": "The textbook gives rules of thumb for large pictures: some do not hold on small digits.",
            "1 to 3": "Only cells with both a verdict and a measurement count, and those are not 1, 2 or 3.",
            "more than 3": "Most trade-offs between the families do not depend on the size of the pictures.",
        },
        veils=("picture",),
    )
    small = f"""
        from lab import weights
        from lab.lenses import verdicts
        from pages.adversarial.property_table import lens

        name = {MODELS[now.family]!r}
        network = weights.load(verdicts.NETWORK)
        drawn = verdicts.drawn_by(name, 0)
        verdict = verdicts.evaluate(network, verdicts.digits("train"), drawn, 3)
        measurement = lens.measure(weights.load(name), verdict, drawn)
        result = [measurement.work, measurement.precision, measurement.recall]
        """
    kept = f"""
        from pages.adversarial.property_table import large

        table = large.table()[1][{row}]
        result = [table.work, table.precision, table.recall]
        """
    ui.program(
        kept if now.digits == MNIST else small,
        shows=[measured[row].work, measured[row].precision, measured[row].recall],
    )
    ui.source(lens.measure, lens.held, references=ROOM.references)
