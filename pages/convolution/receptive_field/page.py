"""Receptive field: which inputs a unit of a trained network can see in theory, and which it does see."""

import math

from lab import ui
from lab.figures import basic, receptive_fields
from lab.lenses import inputs, receptive_field, units
from modules.convolution import cnn1d, cnn2d
from pages.convolution.receptive_field import figures, lens
from pages.convolution.receptive_field.room import ONE, PATHS, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
ran, run = ui.compute(lens.on_input, now), ui.compute(lens.swept, now)
chosen = lens.mapped(ran, now.channel)
film = ui.film_of(now, len(run.units), names=range(len(run.units)))
unit, result, box = run.units[film.at], run.fields[film.at], run.boxes[film.at]
h, title, shape = ran.layer.output, now.layer, inputs.shape(ran.model)

# --- Pictures -----------------------------------------------------------------------------------

pale = inputs.sees_pictures(ran.model) and now.over != ONE  # the field is not of this digit alone
alts = {
    3: f"Channel {now.channel} of layer {title}; click a unit",
    2: f"Channels (rows) and positions (columns) of layer {title}; click a unit",
    1: f"The {len(h)} units of layer {title}, row by row; click one",
}
with stage.picture:
    left, right = ui.columns(2)
    with left:
        x, measure = 0.3 * ran.x if pale else ran.x, "paths" if now.over == PATHS else "|gradient|"
        ui.figure(
            receptive_fields.fields(x, run.fields, run.boxes, measure), key="field", share=1.0, film=film,
            alt=f"The input with the box of theory in blue and, in orange, {units.WHAT[now.over]}",
        )  # fmt: skip
    with right:
        ui.button_figure(
            figures.feature_map(chosen.grid, now.row, len(run.units)), key="map", alt=alts[h.ndim],
            share=1.0, film=film, on_press=lambda x, y: ui.moved(now, row=y, column=x),
        )  # fmt: skip
with stage.foot:
    part, _ = lens.part_of(ran)
    ui.machine(now.model, film=film, lit=[part] * film.count, says=lens.numbers(ran, run))
    film.bar(captions=run.captions, equations=run.equations)

# --- Words --------------------------------------------------------------------------------------

numbers = units.arithmetic(ran.layer, unit)
p, guess = lens.prediction(ran.layers)
with stage.below:
    if formula := receptive_field.field_equation(ran.layer, unit):
        ui.equation(*formula)
    now = ui.read(ROOM, now, at="below")
    if numbers.kernel is not None and numbers.kernel.ndim > 1:
        into = now.into or 0
        ui.figure(
            receptive_fields.product(numbers.patch[into], numbers.kernel[into]),
            key="product",
            alt=f"Patch, kernel and their products in input channel {into}",
        )
    if h.ndim == 3:
        ui.figure(basic.images(h, columns=16, title=f"All {len(h)} channels of {title}", scale="diverging"),
                  alt=f"All channels of layer {title}", key="channels")  # fmt: skip
    ui.figure(
        basic.bars([str(k) for k in range(len(p))], p, highlight=guess, probability=True, height=260,
                   title=f"Prediction: {guess}, probability {float(p[guess]):.3f}"),
        alt="Class probabilities", key="prediction"
    )  # fmt: skip
    ui.notice(
        f"{int((result != 0).sum())} of {result.numel()} inputs count here, with a half-width σ of "
        f"{' × '.join(f'{s:.1f}' for s in receptive_field.spread(result))} inputs. "
        "Along a row of units the box moves with them. Orange never leaves the blue box: theory "
        "says which inputs can matter, the gradient which do, here. "
        "The more layers lie below a unit, the more paths lead to the middle of its box. "
        "A dense layer has no box: any of its units may read everything below it."
    )
    size = math.prod(last - first + 1 for first, last in box or [])
    held = receptive_field.half_held(result)
    ui.check(
        "Which share of the box is enough to hold half of the orange?",
        ["less than a tenth", "a tenth to a third", "more than a third"],
        receptive_field.shares(held, size),
        f"{held} of {size} inputs hold half of it.",
        wrong=(
            "The orange is spread over more of the box than that.",
            "Half of the orange can lie in a few strong inputs, or be spread over many pale ones.",
            "The box says which inputs can reach the unit; fewer of them hold half of the orange.",
        ),
        veils=("picture",),
    )
    if now.over == PATHS:
        ui.program(
            f"""
            import torch
            from lab import experiments, weights
            from lab.lenses import receptive_field

            model = weights.load(experiments.find({now.model.partition("/")[0]!r}).weights)
            layers = receptive_field.walk(model, torch.zeros{shape})
            result = layers[{ran.index}].support({unit})  # paths from each input
            """,
            shows=result,
        )
    else:
        ui.program(
            f"""
            import torch
            from lab import experiments, weights
            from lab.lenses import receptive_field

            model = weights.load(experiments.find({now.model.partition("/")[0]!r}).weights)
            sizes = receptive_field.walk(model, torch.zeros{shape})
            result = sum(sizes[{ran.index}].box({unit}), ())  # first and last input of each axis
            """,
            shows=[end for span in box or [] for end in span],
        )
    architecture = cnn1d.CNN1d if len(shape) == 2 else cnn2d.CNN2d
    ui.source(
        architecture,
        receptive_field.walk,
        receptive_field.measured_fields,
        units.arithmetic,
        references=ROOM.references,
    )
