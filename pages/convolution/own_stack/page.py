"""Own stack: how kernel, stride, dilation and padding open the window of every layer."""

from lab import ui
from lab.figures import receptive_fields
from lab.lenses import drawing, receptive_field, signals, units
from pages.convolution.own_stack import figures, lens
from pages.convolution.own_stack.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Three by three": ui.scene("Three kernels of 3 see 7 inputs: each adds two."),
        "The MNIST-1D network": ui.scene("Stride 2 three times: 3, 7, 15 inputs, and the last is unseen.",
                                         s1=2, s2=2, s3=2),
        "Dilations 1, 2, 4, 8": ui.scene("Doubled dilations double the growth: 31 inputs in four layers.",
                                         depth=4, d2=2, d3=4, d4=8),
        "Holes": ui.scene("Equal dilations leave holes: every second input is never read.",
                          depth=2, d1=2, d2=2),
        "Padded": ui.scene("With padding every layer keeps its length; crosses are zeros around it.",
                           p1=1, p2=1, p3=1),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    axes = 1 if ui.choice("Input", ["signal", "image"], key="input", default="signal") == "signal" else 2
    depth = ui.slider("Layers", 1, 5, 3, key="depth")
    ui.caption("Kernel K, stride s, dilation d, padding p of each layer")
    settings = []
    for k in range(1, depth + 1):
        ranges = {"k": (1, 9, 3), "s": (1, 4, 1), "d": (1, 8, 1), "p": (0, 9, 0)}
        row = []
        for column, (letter, (low, high, usual)) in zip(
            ui.columns(4, gap="small"), ranges.items(), strict=True
        ):
            with column:
                label = f"{'K' if letter == 'k' else letter} {k}"
                row.append(ui.number(label, low, high, usual, key=f"{letter}{k}"))
        settings.append(receptive_field.Window(*row))
    kind = ui.choice("Over the input", units.FIELDS, key="over", default=units.ONE)
    weights = ui.choice("Weights", list(lens.WEIGHTS), key="w", default="all ones")
    relu = ui.toggle("ReLU behind each layer", False, key="relu")
    seed = ui.number("Seed of random weights", 0, 999, 0, key="seed")
    curves = dict(signals.signals())
    if axes == 1:
        chosen = ui.choice("Signal", [*curves, "own"], key="signal", default="3", help="Or draw a curve.")
        others = signals.stacked(list(curves.items()))
        if chosen == "own":
            start = [(label, signals.sketch(curve)) for label, curve in curves.items()]
            x = signals.curve(
                ui.draw("Draw a curve from left to right", key="curve", size=40, examples=start)
            )
        else:
            x = curves[chosen]
    else:
        examples = drawing.examples(28)
        x = ui.draw("Draw a digit, or pick one", key="digit28", size=28, examples=examples)[None]
        others = signals.stacked(examples)
chain = lens.stack(settings, axes, weights, relu, seed)
x, others = x.double(), others.double()
try:
    layers = receptive_field.walk(chain, x)
except ValueError as error:
    ui.stop(str(error))

# --- Pictures -----------------------------------------------------------------------------------

step = 2 if relu else 1  # what stands in the picture are the convolutions
windows = layers[::step]
chosen_point = ui.selection("cone")
level, unit = lens.cone_unit(windows, chosen_point)
cone = receptive_field.cone(windows, level, unit)
names = ["input", *(f"layer {k}" for k in range(1, depth + 1))]
fields = receptive_field.fields(settings)
whole = (0,) + (unit,) * axes
found = units.over_input(chain, layers, level * step - 1, [whole], x, others, kind)[0] if level else None
box = layers[level * step - 1].box(whole) if level else None
with stage.picture:
    point = ui.clickable(
        figures.cone(cone.centres, cone.lit, cone.edges, cone.padding, names), share=0.5 if level else 1.0,
        key="cone", mark=True, alt="Layers of units, each above the middle of its field, paths lit",
        data={"layer": [k for k, row in enumerate(cone.lit) for _ in row],
              "unit": [i for row in cone.lit for i in range(len(row))],
              "centre": [float(c) for row in cone.centres for c in row],
              "lit": [bool(on) for row in cone.lit for on in row]},
    )  # fmt: skip
    if found is not None:
        ui.figure(
            receptive_fields.field(x, found, box, "paths" if kind == units.PATHS else "|gradient|"),
            key="field", share=0.5,
            alt=f"The input with the box of theory in blue and, in orange, {units.WHAT[kind]}",
            data={"input": list(range(found.numel())), "value": x[0].flatten(), kind: found.flatten()},
        )  # fmt: skip
if found is not None:
    stage.metrics(units.sizes(found, box))
with stage.foot:
    ui.caption(
        f"Chosen: {names[level]}, unit {unit}; click any other. Its field r = {fields[level].size} inputs, "
        f"one unit further it lies {fields[level].jump} inputs further."
        + (" The unit of the link is not in this stack." if chosen_point and point is None else "")
    )

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.equation(receptive_field.growth(settings), "Each layer adds d(K − 1) steps of the layer below.")
    if level and (formula := receptive_field.field_equation(windows[level - 1], whole)):
        ui.equation(*formula)
        ui.equation(*units.unit_equation(windows[level - 1], whole))
    ui.table(
        {"layer": names, "positions": [x.shape[-1], *(w.output.shape[-1] for w in windows)],
         "field r": [f.size for f in fields], "step j": [f.jump for f in fields],
         "start o": [f.start for f in fields]},
        alt="Positions, field, step and start of each layer", key="table",
    )  # fmt: skip
    ui.notice(
        "The field grows by d(K − 1) times the product of the strides **below**: a layer's own stride widens "
        "only the fields of those above it. With all weights 1 the gradient counts paths, a bell that widens "
        "with the square root of the depth while the box widens with the depth itself."
    )
    asked = max(level, 1)
    more = lens.with_stride(settings, asked, settings[asked - 1].stride + 1)
    grown, own = receptive_field.fields(more)[asked].size, fields[asked].size
    ui.check(
        f"Layer {asked} gets a stride one larger. How many inputs does one of its own units see?",
        sorted({own, own + 2, 2 * own, own + settings[asked - 1].kernel}), grown,
        f"Still {own}: its stride moves its own units apart, and widens only what is above.",
        wrong={
            own + 2: "A unit's field grows by the strides below it, not by its own.",
            2 * own: "A stride sets neighbouring units further apart: it does not widen what one of them "
            "sees.",
            own + settings[asked - 1].kernel: "That is another layer on top: a kernel adds K − 1 times the "
            "strides below it.",
        },
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab.lenses.receptive_field import Window, fields

        stack = {settings}
        result = [field.size for field in fields(stack)]
        """,
        shows=[f.size for f in fields],
    )
    ui.source(
        receptive_field.Field,
        receptive_field.window_matrix,
        receptive_field.compose,
        receptive_field.measured,
        references=ROOM.references,
    )
