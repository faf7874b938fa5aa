"""Own stack: how kernel, stride, dilation and padding open the window of every layer."""

from lab import ui
from lab.figures import receptive_fields
from lab.lenses import receptive_field, units
from pages.convolution.own_stack import figures, lens
from pages.convolution.own_stack.room import CONE, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    built = ui.compute(lens.built, now)
layers, settings, x = built.layers, built.settings, built.x

# --- Pictures -----------------------------------------------------------------------------------

step = 2 if now.relu else 1  # what stands in the picture are the convolutions
windows = layers[::step]
level, unit = lens.cone_unit(windows, now.cone)
cone = receptive_field.cone(windows, level, unit)
names = ["input", *(f"layer {k}" for k in range(1, now.depth + 1))]
fields = receptive_field.fields(settings)
whole, index = (0,) + (unit,) * (x.ndim - 1), level * step - 1
result = box = None
if level:
    (result,) = units.over_input(built.chain, layers, index, [whole], x, built.others, now.over)
    box = layers[index].box(whole)
with stage.picture:
    stack = figures.cone(cone.centres, cone.lit, cone.edges, cone.padding, names)
    point = ui.clickable(
        stack, key=CONE, mark=True, share=0.5 if level else 1.0,
        alt="Layers of units, each above the middle of its field, paths lit",
        data={"layer": [k for k, row in enumerate(cone.lit) for _ in row],
              "unit": [i for row in cone.lit for i in range(len(row))],
              "centre": [float(c) for row in cone.centres for c in row],
              "lit": [bool(on) for row in cone.lit for on in row]},
    )  # fmt: skip
    if result is not None:
        measure = "paths" if now.over == units.PATHS else "|gradient|"
        ui.figure(
            figures.under(stack, receptive_fields.field(x, result, box, measure)),
            key="field",
            share=0.5,
            alt=f"The input with the box of theory in blue and, in orange, {units.WHAT[now.over]}",
        )
if result is not None:
    stage.metrics(units.sizes(result, box))
with stage.foot:
    ui.caption(
        f"Chosen: {names[level]}, unit {unit}; click any other. Its field r = {fields[level].size} inputs, "
        f"one unit further it lies {fields[level].jump} inputs further."
        + (" The unit of the link is not in this stack." if now.cone and point is None else "")
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
    held = (
        f"Half of what reaches the chosen unit is held by {receptive_field.half_held(result)} inputs, with a "
        f"half-width σ of {' × '.join(f'{s:.1f}' for s in receptive_field.spread(result))}. "
        if result is not None
        else ""
    )
    ui.notice(
        f"{held}The field grows by d(K − 1) times the product of the strides **below**: "
        "a layer's own stride widens only the fields of those above it. With all weights 1 the gradient "
        "counts paths, a bell that widens with the square root of the depth while the box widens with the "
        "depth itself."
    )
    asked = max(level, 1)
    more = lens.with_stride(settings, asked, settings[asked - 1].stride + 1)
    grown, own = receptive_field.fields(more)[asked].size, fields[asked].size
    ui.check(
        f"Layer {asked} gets a stride one larger. How many inputs does one of its own units see?",
        sorted({own, own + 2, 2 * own, own + settings[asked - 1].kernel}),
        grown,
        f"Still {own}: its stride moves its own units apart, and widens only what is above.",
        wrong={
            own + 2: "A unit's field grows by the strides below it, not by its own.",
            2 * own: "A stride sets neighbouring units further apart: it does not widen what one of them "
            "sees.",
            own + settings[asked - 1].kernel: "That is another layer on top: a kernel adds K − 1 times the "
            "strides below it.",
        },
        veils=("picture", "equation"),
    )
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
