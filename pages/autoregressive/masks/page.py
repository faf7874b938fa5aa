"""Masks: how masks make an autoencoder autoregressive."""

from lab import ui
from lab.lenses import drawing
from modules.autoregressive import made
from modules.autoregressive.orders import resolve_order
from pages.autoregressive.masks import figures, lens
from pages.autoregressive.masks.room import ROOM

ALL, HERE = "over 64 inputs", "at x"

stage = ui.stage(ROOM)
narrow = {"n": 8, "width": 3}
stage.scenes(
    {
        "One output": ui.scene("Output x3 is lit: its paths start at x1 and x2 alone. Click another unit."),
        "A hidden unit": ui.scene("A hidden unit of degree 1 reads what has rank 1: x1 alone.", unit=(1, 2)),
        "x2 → x3 → x1": ui.scene(
            "In this order x2 comes first and is read by the others; x1 comes last and is read by none.",
            n=3, order="own", own="2 3 1", degrees="own", m="1 2 1 2", x="010",
        ),
        "Deep": ui.scene(
            "Two hidden layers: degrees may stay or grow on the way, so no path turns back.",
            n=4, degrees="own", m="1 2 3 1 2; 1 2 3 2",
        ),
        "Narrow": ui.scene("Three units are too few: red crosses are neighbours without a path.", **narrow),
        "Narrow, direct": ui.scene(
            "The same three units; direct connections bring every lost edge back.", **narrow, direct=True
        ),
        "Even degrees": ui.scene("Degrees dealt out evenly: no edge is lost.", degrees="even"),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    n = ui.slider("Variables", 2, 8, 5, key="n")
    sorts = ["natural", "reversed", "random", "own"]
    sort = ui.choice("Order", sorts, key="order", default="natural", as_list=True)
    own = sort == "own" and ui.text("Own order, the first variable first", "2 3 1", key="own", max_chars=40)
    rule = ui.choice("Degrees", ["even", "random", "own"], key="degrees", default="random")
    typed = rule == "own" and ui.text("Own degrees, layers apart by ;", "1 2 1 2", key="m", max_chars=120)
    if not typed:
        width = ui.slider("Units a layer", 1, 12, 5, key="width")
        depth = ui.slider("Hidden layers", 1, 3, 1, key="depth")
    direct = ui.toggle("Direct connections", False, key="direct")
    bits = ui.held_text("x", "10101010")
    try:
        x = lens.typed_bits(bits, n)
    except ValueError as error:
        ui.stop(str(error))
    ui.markdown("Input x: press a bit to flip it")
    with ui.container(horizontal=True, gap="small", key="bits"):
        for i in range(n):
            ui.button(f"{x[i]:.0f}", key=f"bit-{i}", help=f"x{i + 1}", on_click=ui.set_values,
                      args=({"x": lens.flipped(x, i)},))  # fmt: skip
    where = ui.choice("Gradient measured", [ALL, HERE], key="jacobian", as_list=True,
                      help="The largest of 64 random inputs, or at the input x alone.")  # fmt: skip
    seed = ui.number("Seed of degrees, weights, order", 0, 9999, 0, key="seed")
try:
    named = "raster" if sort == "natural" else sort
    order = drawing.typed_order(own, n) if own else resolve_order(named, n, seed)
    degrees = lens.typed_degrees(typed, n) if typed else lens.spaced_degrees(n, [width] * depth, rule, seed)
except ValueError as error:
    ui.stop(str(error))
model = lens.toy_model(order, degrees, direct, seed)
wiring = lens.connectivity(model)
sizes = [n, *(len(m) for m in degrees), n]
layer, unit = figures.unit_at(sizes, ui.selection("unit")) or (len(sizes) - 1, int(order[n // 2]))
gradient = drawing.jacobian(model, x) if where == HERE else lens.measured_support(model)

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    net, maps = ui.columns([2, 1])
    with net:
        ui.clickable(
            figures.network(
                wiring.rank, degrees, wiring.layers, wiring.direct, lens.reached(wiring, layer, unit)
            ),
            key="unit", alt="Masked network: inputs, hidden units with degrees, outputs", share=1.0,
            data={"layer": [k for k, size in enumerate(sizes) for _ in range(size)],
                  "number": [int(v) for m in (wiring.rank, *degrees, wiring.rank) for v in m]},
        )  # fmt: skip
    with maps:
        ui.figure(
            figures.paths(wiring.paths, order, wiring.lost, "Paths"),
            alt="Number of paths from each input to each output", share=0.5,
            data={"output, input": drawing.pairs(n), "paths": wiring.paths},
        )  # fmt: skip
        ui.figure(
            figures.measured(gradient, order, "∂ logit / ∂ x" if where == HERE else "|∂ logit / ∂ x|"),
            alt="Jacobian of the logits by autograd", share=0.5,
            data={"output, input": drawing.pairs(n), "paths": wiring.paths, "gradient": gradient},
        )  # fmt: skip
log_p = model.log_prob(x[None]).item()
stage.metrics(
    {
        f"Σ p over {2**n} strings": f"{lens.total_probability(model):.6f}",
        "log p(x)": f"{log_p:.4f} nats",
        "Edges lost": f"{len(wiring.lost)} of {n - 1}",
    }
)
stage.equation(*lens.unit_equation(model, wiring, x, layer, unit))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.markdown("The masks: a row is a unit, named by its degree (an output by its rank).")
    numbers = [wiring.rank, *degrees, wiring.rank]
    for k, (column, mask) in enumerate(zip(ui.columns(len(wiring.layers)), wiring.layers, strict=True)):
        title = "M, inputs to hidden" if k == 0 else "M, to outputs" if k == len(degrees) else "M, hidden"
        with column:
            ui.figure(
                figures.mask_matrix(mask, numbers[k + 1], numbers[k], title),
                alt=f"The mask of layer {k + 1}: a row is a unit", key=f"mask-{k}",
            )  # fmt: skip
    ui.notice(
        "Sorted by the order, everything on and above the diagonal is exactly 0, whatever the weights, which "
        "are random here: that alone makes the product of the outputs a density. "
        + (f"{len(wiring.lost)} of the {n - 1} edges between neighbours of the order are lost: no unit has "
           "the right degree for them; direct connections would bring them back. " if wiring.lost else "")
        + ("At a single x more entries can be 0: units that the relu shuts there." if where == HERE else "")
    )  # fmt: skip
    last = int(order[-1]) + 1
    ui.check(
        "Which input may be read by no output, whatever the degrees are?",
        [f"x{i + 1}" for i in range(n)],
        f"x{last}",
        "It comes last in the order, so nobody may know it.",
        wrong={f"x{i}": f"x{i} comes before x{last} in the order: output {last} may read it."
               for i in range(1, n + 1) if i != last},
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        import torch
        from modules.autoregressive.made import MADE

        model = MADE(
            event_shape=({n},), hidden={[len(m) for m in degrees]}, degrees={[m.tolist() for m in degrees]},
            order={order.tolist()}, direct={direct},
        ).double()
        noise = torch.Generator().manual_seed({seed})
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=noise, dtype=torch.float64))
        result = model.log_prob(torch.tensor([{x.tolist()}], dtype=torch.float64)).item()
        """,
        shows=log_p,
    )
    ui.source(
        made.draw_degrees, made.make_masks, made.MaskedLinear, made.MADE.forward, lens.connect,
        references=ROOM.references,
    )  # fmt: skip
