"""Receptive field: which inputs a unit of a trained network can see in theory, and which it does see."""

import math
from collections.abc import Callable

from lab import ui
from lab.figures import basic, receptive_fields
from lab.lenses import drawing, receptive_field, signals, units
from modules.convolution import cnn1d, cnn2d
from pages.convolution.receptive_field import figures, lens
from pages.convolution.receptive_field.room import ROOM

stage = ui.stage(ROOM)
NETWORK = "cnn-mnist"
kinds = list(lens.layer_names(ui.load(NETWORK)).values())
conv, logits = [kind for kind in kinds if "conv" in kind], kinds[-1]
stage.scenes(
    {
        "The strongest unit": ui.scene("Blue: what the unit can see. Orange: what moves it. Play."),
        "The first layer": ui.scene("The first layer sees a few pixels; the box is as large as its kernel.",
                                    layer=conv[0]),
        "A logit": ui.scene("A dense unit reads all units below it: no box is wider.", layer=logits),
        "The effective field": ui.scene("Averaged over ten inputs: a bell inside the box.",
                                        layer=conv[-1], over=units.MANY),
        "Only paths": ui.scene("Whatever the weights: more paths lead to the middle than to the rim.",
                               layer=conv[-1], over=units.PATHS),
        "A signal": ui.scene("The same on a curve of 40 numbers: the box is an interval.",
                             model="cnn-mnist1d", over=units.PATHS),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.experiment("Model", family="convolution", key="model", default=NETWORK)
    model = ui.load(name)
    shape = tuple(model.hparams["image_shape"])
    names = lens.layer_names(model)
    places = {label: place for place, label in names.items()}
    default = names[lens.weighted_places(model)[-2]]  # the last one below the logits
    index = places[ui.choice("Layer", list(places), key="layer", default=default)]
    kind = ui.choice("Over the input", units.FIELDS, key="over", default=units.ONE)


@ui.cached
def digits(side: int) -> list:
    return drawing.examples(side)


with stage.rail:
    if len(shape) == 3:
        examples = digits(shape[-1])
        x = ui.draw("Draw a digit, or pick one", key=f"digit{shape[-1]}", size=shape[-1], examples=examples)
        x, others = x[None], signals.stacked(examples)
    else:
        curves = dict(signals.signals())
        chosen = ui.choice("Signal", [*curves, "own"], key="signal", default="3", help="Or draw a curve.")
        others = signals.stacked(list(curves.items()))
        if chosen == "own":
            start = [(label, signals.sketch(curve)) for label, curve in curves.items()]
            x = signals.curve(
                ui.draw("Draw a curve from left to right", key="curve", size=shape[-1], examples=start)
            )
        else:
            x = curves[chosen]

# --- The units of a row ---------------------------------------------------------------------------


@ui.cached
def swept(name: str, index: int, units: list, x, others, kind: str) -> lens.Sweep:
    model = ui.load(name)
    return lens.sweep(model, receptive_field.walk(model, x), index, units, x, others, kind)


layers = receptive_field.walk(model, x)
layer, title = layers[index], names[index]
h = layer.output
units_of: Callable[[int, int], tuple[int, ...]]
if h.ndim == 3:  # one map a channel: choose one, then a unit of it
    with stage.rail:
        channel = ui.slider("Channel", 0, len(h) - 1, lens.strongest_channel(h), key="channel",
                            help="Starts at the strongest.")  # fmt: skip
    grid, units_of = h[channel], lambda row, column: (channel, row, column)
    alt = f"Channel {channel} of layer {title}; click a unit"
elif h.ndim == 2:
    grid, units_of = h, lambda row, column: (row, column)
    alt = f"Channels (rows) and positions (columns) of layer {title}; click a unit"
else:
    grid = lens.rows_of(h, 19)
    units_of = lambda row, column: (row * grid.shape[1] + column,)  # noqa: E731
    alt = f"The {len(h)} units of layer {title}, row by row; click one"
first = lens.strongest(grid)
with stage.rail:
    row = ui.slider("Channel" if h.ndim == 2 else "Row", 0, len(grid) - 1, first[0], key="row",
                    help="Starts at the strongest unit's. Or click a unit.")  # fmt: skip
across = lens.filled(grid[row])
film = ui.film(across, key="column", default=first[1], label="Unit", seconds=0.15)
run = swept(name, index, [units_of(row, column) for column in range(across)], x, others, kind)
ui.ahead(swept, *((name, index, run.units, x, others, each) for each in units.FIELDS if each != kind))
unit, found, box = run.units[film.at], run.found[film.at], run.boxes[film.at]

# --- Pictures -----------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            receptive_fields.field(x, found, box, "paths" if kind == units.PATHS else "|gradient|"),
            key="field", share=1.0, film=film, frames=receptive_fields.fields(x, run.found, run.boxes),
            alt=f"The input with the box of theory in blue and, in orange, {units.WHAT[kind]}",
            data={"input": list(range(found.numel())), "value": x[0].flatten(), kind: found.flatten()},
        )  # fmt: skip
    with right:
        ui.button_figure(
            figures.feature_map(grid, (row, film.at)), key="map", alt=alt, share=1.0, film=film,
            frames=figures.marks([(row, column) for column in range(across)]),
            on_press=lambda x, y: {"row": y, "column": x}, data={"value": grid.flatten()},
        )  # fmt: skip
stage.metrics(units.sizes(found, box))
with stage.foot:
    film.bar(captions=run.captions, equations=run.equations)
channels = units.arithmetic(layer, unit)

# --- Words --------------------------------------------------------------------------------------

p, guess = lens.prediction(layers)
with stage.below:
    if formula := receptive_field.field_equation(layer, unit):
        ui.equation(*formula)
    if channels.kernel is not None and channels.kernel.ndim > 1:
        into = units.loudest(channels)
        if len(channels.kernel) > 1:
            into = ui.slider("Input channel", 0, len(channels.kernel) - 1, into, key="into",
                             help="Starts at the one whose products add up to most.")  # fmt: skip
        ui.figure(
            receptive_fields.product(channels.patch[into], channels.kernel[into]), key="product",
            alt=f"Patch, kernel and their products in input channel {into}",
            data={"patch": channels.patch[into].flatten(), "kernel": channels.kernel[into].flatten(),
                  "product": channels.products[into].flatten()},
        )  # fmt: skip
    if h.ndim == 3:
        ui.figure(basic.images(h, columns=16, title=f"All {len(h)} channels of {title}", scale="diverging"),
                  alt=f"All channels of layer {title}", key="channels")  # fmt: skip
    ui.figure(
        basic.bars([str(k) for k in range(len(p))], p, highlight=guess, probability=True, height=260,
                   title=f"Prediction: {guess}, probability {float(p[guess]):.3f}"),
        alt="Class probabilities", key="prediction", data={"class": range(len(p)), "probability": p},
    )  # fmt: skip
    ui.notice(
        "Play: the window slides along the row as the units do. Orange never leaves the blue box: theory "
        "says which inputs can matter, the gradient which do, here. "
        "Inside the box most of the weight sits near the middle, because more paths lead there. "
        "A dense layer has no box: any of its units may read everything below it."
    )
    size = math.prod(last - first + 1 for first, last in box or [])
    held = receptive_field.half_held(found)
    ui.check(
        "Which share of the box is enough to hold half of the orange?",
        ["less than a tenth", "a tenth to a third", "more than a third"],
        receptive_field.shares(held, size), f"{held} of {size} inputs hold half of it.",
        wrong=(
            "Sums over many paths are bell-shaped, but this bell is not so narrow.",
            "Depth decides: a deep stack is narrow within its box, a shallow one fills it.",
            "The box tells what can reach the unit: what does falls off from the middle like a bell.",
        ),
        veils=("picture", "numbers"),
    )  # fmt: skip
    if kind == units.PATHS:
        ui.program(
            f"""
            import torch
            from lab import experiments, weights
            from lab.lenses import drawing, receptive_field, signals

            model = weights.load(experiments.find({name.partition("/")[0]!r}).weights)
            layers = receptive_field.walk(model, torch.zeros{shape})
            result = layers[{index}].support({unit})  # paths from each input
            """,
            shows=found,
        )
    else:
        ui.program(
            f"""
            import torch
            from lab import experiments, weights
            from lab.lenses import drawing, receptive_field, signals

            model = weights.load(experiments.find({name.partition("/")[0]!r}).weights)
            sizes = receptive_field.walk(model, torch.zeros{shape})
            result = sum(sizes[{index}].box({unit}), ())  # first and last input of each axis
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
