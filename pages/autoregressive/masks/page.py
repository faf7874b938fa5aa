"""Masks: how masks make an autoencoder autoregressive."""

from lab import ui
from lab.lenses import drawing
from modules.autoregressive import base, made
from pages.autoregressive.masks import figures, lens

REFERENCES = [
    "Germain, Gregor, Murray, Larochelle 2015, MADE, arXiv:1502.03509",
    "Uria, Murray, Larochelle 2014, order-agnostic training, arXiv:1310.1757",
    "[GM] §1.5.4; [UDL] §16.3.4",
]

ui.header(
    "Masks",
    "Masks that let no output see itself or what comes later turn an autoencoder into a density.",
    lenses=("receptive_field",),
)
left, middle, right = ui.columns([3, 2, 3])
with left:
    n = ui.slider("Variables", 2, 8, 5, key="n")
    rule = ui.choice("Degrees", ["even", "random", "own"], key="degrees", default="random")
    seed = ui.number("Seed of degrees, weights, order", 0, 9999, 0, key="seed")
with middle:
    width = ui.slider("Units a layer", 1, 12, 5, key="width")
    depth = ui.slider("Hidden layers", 1, 3, 1, key="depth")
    direct = ui.toggle("Direct connections", False, key="direct")
with right:
    sorts = ["natural", "reversed", "random", "own"]
    sort = ui.choice("Order", sorts, key="order", default="natural")
    own = sort == "own" and ui.text("Own order, the first variable first", "2 3 1", key="own", max_chars=40)
    typed = rule == "own" and ui.text("Own degrees, layers apart by ;", "1 2 1 2", key="m", max_chars=120)
    bits = ui.text("Input x", "10101010", key="x", max_chars=8, help="Its first digits are used.")
try:
    named = "raster" if sort == "natural" else sort
    order = drawing.typed_order(own, n) if own else base.resolve_order(named, n, seed)
    spaced = lens.spaced_degrees(n, [width] * depth, rule, seed) if not typed else []
    degrees = lens.typed_degrees(typed, n) if typed else spaced
    x = lens.typed_bits(bits, n)
except ValueError as error:
    ui.stop(str(error))
model = lens.toy_model(order, degrees, direct, seed)
wiring = lens.connectivity(model)

sizes = [n, *(len(m) for m in degrees), n]
layer, unit = figures.unit_at(sizes, ui.selection("unit")) or (len(sizes) - 1, int(order[n // 2]))
network = figures.network(
    wiring.rank, degrees, wiring.layers, wiring.direct, lens.reached(wiring, layer, unit)
)
names = " → ".join(f"x{v + 1}" for v in order.tolist())
ui.markdown(f"Order **{names}**. Click a unit: every path that leads into it lights up.")
ui.clickable(network, key="unit", alt="Masked network: inputs, hidden units with degrees, outputs",
        data={"layer": [k for k, size in enumerate(sizes) for _ in range(size)],
              "number": [int(v) for m in (wiring.rank, *degrees, wiring.rank) for v in m]})  # fmt: skip

ui.markdown("The masks: a row is a unit, named by its degree (an output by its rank).")
numbers = [wiring.rank, *degrees, wiring.rank]
for k, (column, mask) in enumerate(zip(ui.columns(len(wiring.layers)), wiring.layers, strict=True)):
    title = "M, inputs to hidden" if k == 0 else "M, to outputs" if k == len(degrees) else "M, hidden"
    with column:
        matrix = figures.mask_matrix(mask, numbers[k + 1], numbers[k], title)
        ui.figure(matrix, alt=f"Mask {k + 1}", key=f"mask-{k}")

where = ui.choice("Gradient measured", ["over 64 inputs", "at x"], key="jacobian",
                  help="The largest of 64 random inputs, or at the input x alone.")  # fmt: skip
at_x = where == "at x"
gradient = drawing.jacobian(model, x) if at_x else lens.measured_support(model)
theory, measured = ui.columns(2)
with theory:
    counts = figures.paths(wiring.paths, order, wiring.lost, "Paths: mask product")
    ui.figure(counts, alt="Number of paths from each input to each output")
with measured:
    title = "Measured: ∂ logit / ∂ x" if at_x else "Measured: |∂ logit / ∂ x|"
    ui.figure(
        figures.measured(gradient, order, title),
        alt="Jacobian of the logits by autograd",
        data={"output, input": drawing.pairs(n), "paths": wiring.paths, "gradient": gradient},
    )
log_p = model.log_prob(x[None])
string = drawing.bit_strings(x[None])[0]
for column, (label, value) in zip(
    ui.columns(3),
    {
        f"Σ p(x) over all {2**n} strings": f"{lens.total_probability(model):.6f}",
        f"log p({string}), nats": f"{log_p.item():.4f}",
        "Predecessor edges lost": f"{len(wiring.lost)} of {n - 1}",
    }.items(),
    strict=True,
):
    column.metric(label, value)

latex, note = lens.unit_equation(model, wiring, x, layer, unit)
ui.equation(latex, note + " Weights are random; what is masked or zero is left out.")
ui.notice(
    "Sorted by the order, everything on and above the diagonal is exactly 0, whatever the weights: that "
    "alone makes the product of the outputs a density. A red cross is an edge between neighbours of "
    "the order that no unit has the right degree for; direct connections bring all of them back. "
    "At a single x more entries can be 0: units that the relu shuts there."
)
one = {"order": "natural", "degrees": "own", "direct": False, "unit": None}
narrow = {"n": 8, "order": "natural", "degrees": "random", "width": 3, "depth": 1, "unit": None}
ui.presets(
    {
        "x2 → x3 → x1": {**one, "n": 3, "order": "own", "own": "2 3 1", "m": "1 2 1 2", "x": "010"},
        "Deep": {**one, "n": 4, "m": "1 2 3 1 2; 1 2 3 2"},
        "Narrow": {**narrow, "direct": False},
        "Narrow, direct": {**narrow, "direct": True},
    }
)
options = [f"x{i + 1}" for i in range(n)]
ui.check(
    "Which input is read by no output?",
    options,
    options[int(order[-1])],
    "It comes last in the order, so nobody may know it.",
)
ui.source(
    made.draw_degrees, made.make_masks, made.MaskedLinear, made.MADE.forward, lens.connect,
    references=REFERENCES,
)  # fmt: skip
