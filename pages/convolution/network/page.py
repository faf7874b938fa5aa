"""Whole network: a digit on its way through a CNN, layer by layer."""

from lab import ui
from lab.lenses import receptive_field, units
from modules.convolution import cnn2d
from pages.convolution.network import figures, lens, sheet
from pages.convolution.network.room import ROOM, SIDE

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
ran, looks = ui.compute(sheet.on_digit, now), ui.compute(lens.looks, now)
film = ui.film_of(now, len(looks), names=[*(column.short for column in ran.columns), "logits"])


def pressed(x: float, y: float) -> dict[str, object]:
    """The layer whose unit was clicked, and that unit."""
    for layer, column in enumerate(ran.columns):
        if unit := column.unit(x, y):
            return ui.moved(now, layer=layer, unit=" ".join(map(str, (layer, *unit))))
    return ui.moved(now)


with stage.picture:
    ui.button_figure(
        figures.sheet(ran, looks), key="sheet", share=0.5, film=film, on_press=pressed,
        alt="Maps of all layers, the input on the left; red frames a map and a unit, blue what it reads",
    )  # fmt: skip
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.product(looks), key="product", share=0.5, film=film,
            alt="The patch that the framed unit reads, the kernel and their products",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.probabilities(ran, looks, now.off), key="probabilities", share=0.5, film=film,
            alt="Probabilities of the ten classes" + (", with and without the framed map" * now.off),
        )  # fmt: skip
with stage.foot:
    ui.machine(now.model, film=film, lit=lens.parts(ran), says=[{}] * film.count)
    film.bar(
        captions=[look.product.caption for look in looks], equations=[look.product.equation for look in looks]
    )

# --- Words --------------------------------------------------------------------------------------

p = ran.logits.softmax(0)
counts = [int((c.maps > 0).sum()) for c in ran.columns[1:]]
sizes = [c.maps.numel() for c in ran.columns[1:]]
with stage.below:
    ui.notice(
        f"Every map is divided by the largest value of its layer, so that pale maps are weak ones. "
        f"A click on a map opens the number of that unit: what it reads in the input map with the largest "
        f"sum of products, the kernel, their products; the equation adds the other input maps. "
        f"{sum(counts):,} of {sum(sizes):,} units are above 0 for this digit, {counts[-1]:,} of "
        f"{sizes[-1]:,} in the last maps."
    )
    share = counts[-1] / sizes[-1]
    ui.check(
        "Which share of the units in the last maps is above 0 for this digit?",
        ["less than a quarter", "a quarter to a half", "more than a half"],
        "less than a quarter"
        if share < 0.25
        else "a quarter to a half"
        if share <= 0.5
        else "more than a half",
        f"{counts[-1]} of {sizes[-1]}, {share:.0%}.",
        wrong=(
            "More units than that are above 0: count the cells that are not white.",
            "Count again: each small square is one unit.",
            "Most units of the last maps are cut off by their ReLU.",
        ),
        veils=(),
    )
    ui.program(
        f"""
        import torch
        from lab import experiments, weights

        model = weights.load(experiments.find({now.model.partition("/")[0]!r}).weights)
        h = torch.tensor({[round(v, 6) for v in ran.columns[0].maps.flatten().tolist()]})
        h = h.view(1, 1, {SIDE}, {SIDE})
        for layer in model.layers:
            h = layer(h)
        result = h.softmax(-1)[0]  # probabilities of the classes
        """,
        shows=p,
    )
    ui.source(
        cnn2d.CNN2d,
        receptive_field.walk,
        units.arithmetic,
        lens.probabilities_without,
        references=ROOM.references,
    )
