"""Receptive field: which inputs a unit can see in theory, which it does see, and its own arithmetic."""

from collections.abc import Callable
from typing import Any

import torch

from lab import ui
from lab.figures import basic
from lab.lenses import drawing, receptive_field
from modules.convolution import cnn1d, cnn2d
from modules.convolution.mlp import as_linear
from pages.convolution.receptive_field import figures, lens

REFERENCES = [
    "[UDL] §10.2-10.4, figures 10.3-10.7, problems 10.9-10.11, 10.17",
    "Luo, Li, Urtasun, Zemel 2016, the effective receptive field, arXiv:1701.04128",
    "Greydanus, Kobak 2020, MNIST-1D, arXiv:2011.14439",
]
SIGNAL = "5.2 5.3 5.4 5.1 10.1 10.3 9.9 10.3 3.2 3.4 3.3 3.1"  # [UDL] notebook 10.1
ONE, MANY, PATHS = "this input", "ten inputs", "paths"
FIELDS = [ONE, MANY, PATHS]
WHAT = {
    ONE: "|gradient| of the unit at this input",
    MANY: "|gradient| averaged over ten inputs: the effective field",
    PATHS: "number of paths from each input, whatever the weights",
}


@ui.cached
def digits(side: int) -> list:
    return drawing.examples(side)


@ui.cached
def signals() -> list:
    return lens.signals()


def own_input(shape: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """The reader's input (C, ...) and ten examples (10, C, ...) of the same shape."""
    if len(shape) == 3:
        examples = digits(shape[-1])
        x = ui.draw("Draw a digit, or pick one", key=f"digit{shape[-1]}", size=shape[-1], examples=examples)[
            None
        ]
        return x, torch.stack([picture for _, picture in examples])[:, None]
    curves = dict(signals())
    names = [*curves, "own"]
    name = ui.choice("Signal", names, key="signal", default="3", help="A digit's curve, or one you draw.")
    if name != "own":
        return curves[name], torch.stack(list(curves.values()))
    start = [(label, lens.sketch(curve)) for label, curve in curves.items()]
    picture = ui.draw("Draw a curve from left to right", key="curve", size=shape[-1], examples=start)
    return lens.curve(picture), torch.stack(list(curves.values()))


def weights_on_input(
    chain: torch.nn.Module,
    layers: list,
    index: int,
    unit: tuple,
    x: torch.Tensor,
    examples: torch.Tensor,
    kind: str,
) -> torch.Tensor:
    """What is laid over the input, (positions...)."""  # fmt: skip
    if kind == PATHS:
        return layers[index].support(unit)
    return receptive_field.measured_field(chain, x[None] if kind == ONE else examples, index, unit)


def draw_field(x: torch.Tensor, found: torch.Tensor, box: list | None, kind: str) -> None:
    """The input with the box of theory and what was measured."""
    position = list(range(found.numel()))
    if x.ndim == 3:
        fig = figures.on_image(x[0], found, box)
    else:
        fig = figures.on_signal(x[0], found, box[0] if box else None)
    ui.figure(
        fig, key="field", alt=f"The input with the box of theory in blue and, in orange, {WHAT[kind]}",
        data={"input": position, "value": x[0].flatten(), kind: found.flatten()},
    )  # fmt: skip


def sizes(found: torch.Tensor, box: list | None, kind: str) -> None:
    """The field in numbers."""
    spans = [last - first + 1 for first, last in box] if box else [0]
    inside_box = int((found != 0).sum())
    wide = " × ".join(f"{s:.1f}" for s in receptive_field.spread(found))
    numbers = {
        "Box in theory": " × ".join(map(str, spans)),
        f"Inputs that count, of {found.numel()}": str(inside_box),
        "Half of it is held by": f"{receptive_field.half_held(found)} inputs",
        "Half-width σ": wide,
    }
    for column, (label, value) in zip(ui.columns(len(numbers)), numbers.items(), strict=True):
        column.metric(label, value)
    if kind != PATHS and inside_box == 0 and box:
        ui.caption("The unit is shut: its ReLU gives 0 here, so no input can move it a little.")


def equations(layer: receptive_field.Layer, unit: tuple) -> None:
    """The unit's own arithmetic, then the formula of its box."""
    numbers = lens.arithmetic(layer, unit)
    channel = 0
    if numbers.kernel is not None and numbers.kernel.ndim > 1:
        if len(numbers.kernel) > 1:
            help = "Starts at the one whose products add up to most."
            start = lens.loudest(numbers)
            channel = ui.slider("Input channel", 0, len(numbers.kernel) - 1, start, key="into", help=help)
        ui.figure(
            figures.product(numbers.patch[channel], numbers.kernel[channel]), key="product",
            alt=f"Patch, kernel and their products in input channel {channel}",
            data={"patch": numbers.patch[channel].flatten(), "kernel": numbers.kernel[channel].flatten(),
                  "product": numbers.products[channel].flatten()},
        )  # fmt: skip
    ui.equation(*lens.unit_equation(layer, unit, channel))
    if formula := receptive_field.field_equation(layer, unit):
        ui.equation(*formula)


def trained_view() -> None:
    left, right = ui.columns(2)
    with left:
        name = ui.experiment("Model", family="convolution", key="model", default="cnn-mnist")
        model = ui.load(name)
        shape = tuple(model.hparams["image_shape"])
        kinds = [receptive_field.describe(module) for module in receptive_field.layers_of(model)]
        shown = [k for k, kind in enumerate(kinds) if kind not in ("flatten", "dropout")]
        names = {k: f"{n} · {kinds[k]}" for n, k in enumerate(shown, 1)}
        weighted = [k for k in shown if kinds[k].startswith(("conv", "dense"))]
        default = weighted[-2]  # the last one below the logits
        index = ui.choice("Layer", shown, key="layer", default=default, format=lambda k: names[k])
        kind = ui.choice("Over the input", FIELDS, key="over", default=ONE)
    with right:
        x, examples = own_input(shape)
    layers = receptive_field.walk(model, x)
    layer = layers[index]
    title = names[index]

    picture, units = ui.columns(2)
    with units:
        h = layer.output
        units_of: Callable[[int, int], tuple[int, ...]]
        if h.ndim == 3:  # one map a channel: choose one, then a unit of it
            channel = ui.slider("Channel", 0, len(h) - 1, int(h.flatten(1).amax(1).argmax()), key="channel",
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
        row, column = lens.clicked(grid, ui.selection("unit"))
        ui.clickable(figures.feature_map(grid, (row, column), f"{title}: click a unit"), key="unit", alt=alt,
                mark=False, data={"value": grid.flatten()})  # fmt: skip
        unit = units_of(row, column)
    found = weights_on_input(model, layers, index, unit, x, examples, kind)
    box = layer.box(unit)
    with picture:
        ui.markdown(f"Blue: the box of theory. Orange: {WHAT[kind]}.")
        draw_field(x, found, box, kind)
    sizes(found, box, kind)

    p = layers[-1].output.softmax(0)
    guess = int(p.argmax())
    if h.ndim == 3:
        ui.figure(basic.images(h, columns=16, title=f"All {len(h)} channels of {title}", scale="diverging"),
                  alt=f"All channels of layer {title}", key="channels")  # fmt: skip
    ui.figure(
        basic.bars([str(k) for k in range(len(p))], p, highlight=guess, probability=True, height=260,
                   title=f"Prediction: {guess}, probability {float(p[guess]):.3f}"),
        alt="Class probabilities", key="prediction", data={"class": range(len(p)), "probability": p},
    )  # fmt: skip
    ui.markdown(f"##### Unit {', '.join(map(str, unit))} of layer {title}: {float(h[unit]):.4f}")
    equations(layer, unit)
    ui.notice(
        "Orange never leaves the blue box: theory says which inputs can matter, the gradient which do, here. "
        "Inside the box most of the weight sits near the middle, because more paths lead there. "
        + (
            "With kernel 3, stride 2 and no padding the last of 40 inputs reaches no unit at all."
            if name.startswith("cnn-mnist1d")
            else "A dense layer has no box: any of its units may read everything below it."
        )
    )
    ui.presets(
        {
            "The first layer": {"layer": shown[0], "over": ONE, "unit": None},
            "The effective field": {"layer": shown[-2], "over": MANY, "unit": None},
            "Only paths": {"layer": shown[-2], "over": PATHS, "unit": None},
            "A stack of your own": {"show": "Own stack"},
        }
    )
    size = int(torch.tensor([last - first + 1 for first, last in box or []]).prod())
    options = ["less than a tenth", "a tenth to a third", "more than a third"]
    held = receptive_field.half_held(found)
    ui.check(
        "Which share of the box is enough to hold half of the orange?",
        options, receptive_field.shares(held, size), f"{held} of {size} inputs hold half of it.",
    )  # fmt: skip
    architecture = cnn1d.CNN1d if len(shape) == 2 else cnn2d.CNN2d
    ui.source(
        architecture,
        receptive_field.walk,
        receptive_field.measured_field,
        lens.arithmetic,
        references=REFERENCES,
    )


def own_view() -> None:
    left, right = ui.columns([2, 3])
    with left:
        kind_of = ui.choice("Input", ["signal", "image"], key="input", default="signal")
        axes = 1 if kind_of == "signal" else 2
        depth = ui.slider("Layers", 1, 5, 3, key="depth")
        weights = ui.choice("Weights", list(lens.WEIGHTS), key="w", default="all ones")
        relu = ui.toggle("ReLU behind each layer", False, key="relu")
        seed = ui.number("Seed of random weights", 0, 999, 0, key="seed")
    settings = []
    with right:
        ui.markdown("Kernel K, stride s, dilation d, padding p of each layer, the first on top.")
        for k in range(1, depth + 1):
            kernel, stride, dilation, padding = ui.columns(4)
            with kernel:
                size = ui.number(f"K {k}", 1, 9, 3, key=f"k{k}")
            with stride:
                jump = ui.number(f"s {k}", 1, 4, 1, key=f"s{k}")
            with dilation:
                gap = ui.number(f"d {k}", 1, 8, 1, key=f"d{k}")
            with padding:
                zeros = ui.number(f"p {k}", 0, 9, 0, key=f"p{k}")
            settings.append(receptive_field.Window(size, jump, gap, zeros))
    x, examples = own_input((1, 40) if axes == 1 else (1, 28, 28))
    kind = ui.choice("Over the input", FIELDS, key="over", default=ONE)
    chain = lens.stack(settings, axes, weights, relu, seed)
    x, examples = x.double(), examples.double()
    try:
        layers = receptive_field.walk(chain, x)
    except ValueError as error:
        ui.stop(str(error))
    step = 2 if relu else 1  # what stands in the picture are the convolutions
    windows = layers[::step]
    selected = ui.selection("cone")
    level, unit = lens.cone_unit(windows, selected)
    cone = receptive_field.cone(windows, level, unit)
    names = ["input", *(f"layer {k}" for k in range(1, depth + 1))]
    ui.markdown(f"Click any unit of any layer. Chosen: **{names[level]}, unit {unit}**.")
    point = ui.clickable(
        figures.cone(cone.centres, cone.lit, cone.edges, cone.padding, names),
        key="cone", mark=True, alt="Layers of units, each above the middle of its field, paths lit",
        data={"layer": [k for k, row in enumerate(cone.lit) for _ in row],
              "unit": [i for row in cone.lit for i in range(len(row))],
              "centre": torch.cat(cone.centres), "lit": torch.cat(cone.lit)},
    )  # fmt: skip
    if selected and point is None:
        ui.caption("The unit of the link is not in this stack; the middle of the last layer is shown.")
    windows_seen = receptive_field.fields(settings)
    ui.table(
        {"layer": names, "positions": [x.shape[-1], *(w.output.shape[-1] for w in windows)],
         "field r": [f.size for f in windows_seen], "step j": [f.jump for f in windows_seen],
         "start o": [f.start for f in windows_seen]},
        alt="Positions, field, step and start of each layer", key="table",
    )  # fmt: skip
    if level:
        index = level * step - 1
        layer, whole = layers[index], (0,) + (unit,) * axes
        found = weights_on_input(chain, layers, index, whole, x, examples, kind)
        box = layer.box(whole)
        draw_field(x, found, box, kind)
        sizes(found, box, kind)
        ui.markdown(f"##### Unit {unit} of layer {level}")
        equations(windows[level - 1], whole)
    ui.equation(
        receptive_field.growth(settings),
        "Each layer adds d(K − 1) steps of the layer below; strides multiply.",
    )
    ui.notice(
        "The field grows by d(K − 1) times the product of the strides **below**: a layer's own stride widens "
        "only the fields of those above it. With all weights 1 the gradient counts paths, a bell that widens "
        "with the square root of the depth while the box widens with the depth itself. "
        "Equal dilations leave holes: inputs inside the box that no path reaches."
    )
    plain = {
        f"{letter}{k}": value for k in range(1, 6) for letter, value in zip("sdp", (1, 1, 0), strict=True)
    }
    threes = {f"k{k}": 3 for k in range(1, 6)}
    start = {
        "show": "Own stack",
        "input": "signal",
        "w": "all ones",
        "relu": False,
        "cone": None,
        **plain,
        **threes,
    }
    ui.presets(
        {
            "Three by three": {**start, "depth": 3},
            "The MNIST-1D network": {**start, "depth": 3, "s1": 2, "s2": 2, "s3": 2},
            "Dilations 1, 2, 4, 8": {**start, "depth": 4, "d2": 2, "d3": 4, "d4": 8},
            "Holes": {**start, "depth": 2, "d1": 2, "d2": 2},
            "Padded": {**start, "depth": 3, "p1": 1, "p2": 1, "p3": 1},
        }
    )
    more = lens.with_stride(settings, max(level, 1), settings[max(level, 1) - 1].stride + 1)
    grown = receptive_field.fields(more)[max(level, 1)].size
    own = windows_seen[max(level, 1)].size
    options = sorted({own, own + 2, 2 * own, own + settings[max(level, 1) - 1].kernel})
    ui.check(
        f"Layer {max(level, 1)} gets a stride one larger. How many inputs does one of its own units see?",
        options, grown, f"Still {own}: its stride moves its own units apart, and widens only what is above."
    )  # fmt: skip
    ui.source(
        receptive_field.Field,
        receptive_field.window_matrix,
        receptive_field.compose,
        receptive_field.measured,
        references=REFERENCES,
    )


def slide_view() -> None:
    left, right = ui.columns(2)
    with left:
        examples = {"Two steps": SIGNAL, "One step": "0 0 0 0 1 1 1 1", "Digits of π": "3 1 4 1 5 9"}
        typed = ui.text("Input x", SIGNAL, key="x", max_chars=300, examples=examples, area=False)
        kernels = {"Mean": "0.33 0.33 0.33", "Edge": "-1 0 1", "Uneven": "-1 0.5 -0.2"}
        kernel = ui.text("Kernel ω", kernels["Mean"], key="taps", max_chars=80, examples=kernels)
    with right:
        stride = ui.slider("Stride s", 1, 4, 1, key="stride")
        dilation = ui.slider("Dilation d", 1, 4, 1, key="dilation")
        padding = ui.slider("Padding p", 0, 6, 1, key="padding")
        bias = ui.slider("Bias β", -5.0, 5.0, 0.0, key="bias", step=0.5)
    try:
        x = torch.tensor(lens.numbers_of(typed, 40), dtype=torch.float64)[None]
        taps = lens.numbers_of(kernel, 9)
        chain = lens.single(taps, receptive_field.Window(len(taps), stride, dilation, padding), bias)
        trace = lens.slide(chain, x)
    except ValueError as error:
        ui.stop(str(error))
    index = ui.stepper(len(trace), key="step", default=min(1, len(trace) - 1))
    step = trace[index]
    now = step.values
    ui.markdown(step.caption)
    signal, matrix = ui.columns(2)
    with signal:
        ui.figure(figures.sliding(x[0], now["reads"], now["output"], len(trace)), key="sliding",
                  alt="The inputs that are read now, and the outputs so far",
                  data={"output": range(len(trace)), "value": trace.result})  # fmt: skip
    with matrix:
        layer: Any = chain[0]
        dense = as_linear(layer, x.shape[1])
        ui.figure(figures.matrix(dense.weight, index), key="matrix",
                  alt="The convolution as a matrix; the row of this output is framed",
                  data={"row": [i for i in range(len(trace)) for _ in range(x.shape[1])],
                        "weight": dense.weight.flatten()})  # fmt: skip
    ui.figure(figures.product(now["patch"], now["kernel"]), key="taps-product", alt="Patch times kernel",
              data={"patch": now["patch"], "kernel": now["kernel"], "product": now["products"]})  # fmt: skip
    ui.equation(step.equation, "Patch times kernel, summed up, plus the bias. The kernel is not flipped.")
    n, k = x.shape[1], len(taps)
    ui.equation(
        r"n_{out} = \left\lfloor \frac{n + 2p - d(K-1) - 1}{s} \right\rfloor + 1 = "
        rf"\left\lfloor \frac{{{n} + {2 * padding} - {dilation}\cdot{k - 1} - 1}}{{{stride}}} \right\rfloor"
        rf" + 1 = {len(trace)}",
        f"n = {n} inputs, K = {k} taps, s = {stride}, d = {dilation}, p = {padding}.",
    )
    ui.notice(
        "Every row of the matrix holds the same weights, moved by the stride: a dense layer with most of its "
        "weights tied or zero. Dilation spreads the weights of a row, stride skips rows, padding cuts the "
        "first and last rows off at the border."
    )
    ui.presets(
        {
            "Smooth": {"taps": "0.33 0.33 0.33", "stride": 1, "dilation": 1, "padding": 1, "bias": 0.0},
            "Every second output": {"taps": "0.33 0.33 0.33", "stride": 2, "dilation": 1, "padding": 1},
            "Dilated": {"taps": "0.33 0.33 0.33", "stride": 1, "dilation": 2, "padding": 2},
            "Edges": {"taps": "-1 0 1", "stride": 1, "dilation": 1, "padding": 0},
        }
    )
    full = (n + 2 * padding - dilation * (k - 1) - 1) // (stride + 1) + 1
    ui.check(
        f"With stride {stride + 1} instead, how many outputs are there?",
        sorted({full, full + 1, max(1, full - 1), len(trace)}), full,
        f"⌊({n} + {2 * padding} − {dilation * (k - 1)} − 1) / {stride + 1}⌋ + 1 = {full}.",
    )  # fmt: skip
    ui.source(lens.slide, lens.arithmetic, as_linear, references=REFERENCES)


ui.header(
    "Receptive field",
    "A unit sees the input through a window that its layers open; the gradient shows how much of it counts.",
)
views = {"Trained network": trained_view, "Own stack": own_view, "Kernel": slide_view}
views[ui.choice("Show", list(views), key="show", default="Trained network")]()
