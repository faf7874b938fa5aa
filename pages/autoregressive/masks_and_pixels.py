"""Masks and pixels: how masks make an autoencoder autoregressive, and a picture drawn pixel by pixel."""

import torch

from lab import ui
from lab.figures import basic
from lab.figures import masks as figures
from lab.lenses import masks
from modules.autoregressive import base, made

REFERENCES = [
    "Germain, Gregor, Murray, Larochelle 2015, MADE, arXiv:1502.03509",
    "Uria, Murray, Larochelle 2014, order-agnostic training, arXiv:1310.1757",
    "[GM] §1.5.4; [UDL] §16.3.4",
]
MNIST, DIGITS, ANY_ORDER = "made-mnist", "made-digits", "made-digits-orders"


@ui.cached
def draw(name: str, order: list[int] | None, temperature: float, seed: int) -> masks.Drawing:
    return masks.unroll(ui.load(name).sample_trace(order=order, temperature=temperature, seed=seed))


@ui.cached
def complete(
    name: str, given: torch.Tensor, order: list[int], n: int, temperature: float, seed: int
) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    model = ui.load(name)
    return model.sample(n, given=given, order=order, temperature=temperature, generator=generator)


@ui.cached
def digits(pixels: int) -> list:
    return masks.shelf(pixels)


def model_and_side() -> tuple[str, made.MADE, int]:
    name = ui.experiment(
        "Model",
        family="autoregressive",
        key="model",
        default=MNIST,
        only=lambda e: e.module.endswith(".MADE"),
    )
    model = ui.load(name)
    if not masks.side(model):
        ui.stop(f"{name} is no model of square pictures: pick another one.")
    return name, model, masks.side(model)


def masks_mode() -> None:
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
        own = sort == "own" and ui.text(
            "Own order, the first variable first", "2 3 1", key="own", max_chars=40
        )
        typed = rule == "own" and ui.text("Own degrees, layers apart by ;", "1 2 1 2", key="m", max_chars=120)
        bits = ui.text("Input x", "10101010", key="x", max_chars=8, help="Its first digits are used.")
    try:
        named = "raster" if sort == "natural" else sort
        order = masks.typed_order(own, n) if own else base.resolve_order(named, n, seed)
        spaced = masks.spaced_degrees(n, [width] * depth, rule, seed) if not typed else []
        degrees = masks.typed_degrees(typed, n) if typed else spaced
        x = masks.typed_bits(bits, n)
    except ValueError as error:
        ui.stop(str(error))
    wiring = masks.connect(order, degrees, direct)
    model = masks.toy_model(n, [len(m) for m in degrees], direct, seed)

    sizes = [n, *(len(m) for m in degrees), n]
    layer, unit = figures.unit_at(sizes, ui.held("unit")) or (len(sizes) - 1, int(order[n // 2]))
    network = figures.network(
        wiring.rank, degrees, wiring.layers, wiring.direct, masks.reached(wiring, layer, unit)
    )
    names = " → ".join(f"x{v + 1}" for v in order.tolist())
    ui.markdown(f"Order **{names}**. Click a unit: every path that leads into it lights up.")
    ui.pick(network, key="unit", alt="Masked network: inputs, hidden units with degrees, outputs",
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
    gradient = masks.jacobian(model, wiring, x) if at_x else masks.measured_support(model, wiring)
    theory, measured = ui.columns(2)
    with theory:
        counts = figures.paths(wiring.paths, order, wiring.lost, "Paths: mask product")
        ui.figure(counts, alt="Number of paths from each input to each output")
    with measured:
        title = "Measured: ∂ logit / ∂ x" if at_x else "Measured: |∂ logit / ∂ x|"
        ui.figure(
            figures.measured(gradient, order, title),
            alt="Jacobian of the logits by autograd",
            data={"output, input": masks.pairs(n), "paths": wiring.paths, "gradient": gradient},
        )
    log_p, _ = masks.evaluate(model, wiring, x[None])
    string = masks.bit_strings(x[None])[0]
    for column, (label, value) in zip(
        ui.columns(3),
        {
            f"Σ p(x) over all {2**n} strings": f"{masks.total_probability(model, wiring):.6f}",
            f"log p({string}), nats": f"{log_p.item():.4f}",
            "Predecessor edges lost": f"{len(wiring.lost)} of {n - 1}",
        }.items(),
        strict=True,
    ):
        column.metric(label, value)

    latex, note = masks.unit_equation(model, wiring, x, layer, unit)
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
        made.draw_degrees, made.make_masks, made.MaskedLinear, made.MADE.forward, masks.connect,
        references=REFERENCES,
    )  # fmt: skip


def pixels_mode() -> None:
    left, middle, right = ui.columns([2, 2, 3])
    with left:
        name, model, side = model_and_side()
    with middle:
        temperature = ui.slider("Temperature", 0.0, 2.0, 1.0, key="t", step=0.1,
                                help="Divides every logit; 0 takes the more probable bit.")  # fmt: skip
        seed = ui.number("Seed", 0, 9999, 0, key="draw")
    with right:
        visit = ui.choice("Order of drawing", ["its own", "raster", "reversed", "random"], key="visit")
        stride = {"pixel": 1, "row": side}[ui.choice("A step is a", ["pixel", "row"], key="stride")]
    order = model.component_order(0) if visit == "its own" else base.resolve_order(visit, model.n, seed)
    if not masks.knows(model, order):
        ui.caption("This model has never met this order: what you see is a density still, but a poor one.")
    run = draw(name, order.tolist(), float(temperature), seed)
    ends = masks.stops(run, stride)
    step = ends[ui.stepper(len(ends), key="step", seconds=0.15, default=len(ends) * 11 // 20)]
    pixel = int(run.pixel[step])
    ui.caption(run.captions[step])

    picture, bars = ui.columns(2)
    with picture:
        held = ui.pick(
            figures.canvas(run.picture(step), side, pixel, "So far; click a pixel", clickable=True),
            key="pixel", alt="The picture so far", mark=False,
            data={"pixel": run.pixel[: step + 1], "p": run.p[: step + 1], "bit": run.bit[: step + 1],
                  "log_prob": run.log_prob[: step + 1]},
        )  # fmt: skip
    p = float(run.p[step])
    with bars:
        live = basic.bars(["0", "1"], [1 - p, p], highlight=int(run.bit[step]), probability=True,
                          title="This pixel's conditional", xlabel="value")  # fmt: skip
        ui.figure(live, alt="The conditional of this pixel", data={"value": [0, 1], "p": [1 - p, p]})
    chosen = int(held["y"]) * side + int(held["x"]) if held else pixel
    read, surprise = ui.columns(2)
    with read:
        gradient = masks.gradient_row(model, order, run.x, chosen)
        ui.figure(
            figures.reads(gradient, side, chosen, f"What pixel {chosen} reads"),
            alt="Gradient of one pixel's logit with respect to every pixel",
            data={"pixel": range(model.n), "gradient": gradient},
        )
    with surprise:
        ui.figure(
            figures.surprise(run.surprise(step), side, "Surprise −log p, nats"),
            alt="Surprise of each pixel so far",
            data={"pixel": range(model.n), "surprise": run.surprise(step)},
        )
    running = basic.curves({"log p": run.log_prob}, mark=step, title="Running log p, nats",
                           xlabel="pixels drawn", height=300)  # fmt: skip
    ui.figure(running, alt="Running log-likelihood", data={"step": range(len(run)), "log_prob": run.log_prob})
    total = float(run.log_prob[-1])
    ui.equation(
        run.equations[step],
        f"log p before this pixel, plus the log of the probability of the drawn bit {int(run.bit[step])}"
        + ("" if temperature == 1 else " under the model itself, whatever the temperature")
        + f". Whole picture: {total:.2f} nats, {masks.bits_per_pixel(-total, model.n):.3f} bits a pixel; the "
        "same in one pass.",
    )
    ui.notice(
        "Scoring a finished picture takes one pass, drawing it takes one step a pixel. Surprise sits on the "
        "edges of strokes; the paper is almost free. The gradient is exactly 0 for every pixel drawn later."
    )
    ui.presets(
        {
            "Likeliest bit by bit": {"t": 0.0, "visit": "its own"},
            "Hot": {"t": 1.5, "visit": "its own"},
            "Unseen order": {"t": 1.0, "visit": "random"},
            "Row by row": {"t": 1.0, "visit": "its own", "stride": "row", "step": 0},
        }
    )
    upper, lower = masks.halves(run)
    ui.check(
        "Which half of this finished picture cost more nats?",
        ["upper", "lower"],
        "upper" if upper > lower else "lower",
        f"Upper {upper:.1f} nats, lower {lower:.1f}.",
    )
    ui.source(base.Autoregressive._draw, made.MADE._walk, base.Autoregressive.log_prob, references=REFERENCES)


def completion_mode() -> None:
    left, right = ui.columns(2)
    with right:
        name, model, side = model_and_side()
        region = ui.choice("Given", list(masks.REGIONS), key="given", default=masks.REGIONS[0])
        count = ui.slider("Completions", 1, 25, 12, key="count")
        temperature = ui.slider("Temperature", 0.0, 2.0, 1.0, key="t", step=0.1)
        seed = ui.number("Seed", 0, 9999, 0, key="draw")
    with left:
        picture = ui.draw(
            "Draw a digit; what you choose is kept of it", key="digit", size=side, shelf=digits(side)
        )
    given = masks.keep(picture, region)
    exact = masks.can_complete(model, given)
    order = model.sampling_order(given) if exact else model.component_order(0)
    clamp = exact or ui.toggle("Clamp and sample anyway", True, key="clamp")
    if exact:
        how = (
            "This model was trained on fresh orders: it visits what is given first, then the rest."
            if model.order_agnostic
            else "What is given comes first in the one order this model knows: an exact conditional draw."
        )
        ui.markdown(how)
    else:
        ui.markdown(
            f"**{name} cannot complete this.** In the one order it knows, what is given does not come first: "
            "pixels drawn before it cannot see it. Clamping keeps your pixels, but that is no draw from "
            "p(rest | given). Give the top of the picture, or use a model of fresh orders such as "
            f"{ANY_ORDER}."
        )
    if not clamp:
        return
    known, drawn = ui.columns([1, 2])
    with known:
        ui.figure(figures.canvas(given, side, title="Given"), alt="What is given")
    with drawn:
        completed = complete(name, given, order.tolist(), count, float(temperature), seed)
        ui.figure(
            figures.completions(completed, ~given.isnan(), side, "Drawn by the model in orange"),
            alt="Completions", data={"picture": masks.bit_strings(completed)},
        )  # fmt: skip
    seen, whole = masks.completion_score(model, picture, given, order)
    rest = whole - seen
    what = r"\log p(x_{\text{rest}} \mid x_{\text{given}})"
    if exact:
        ui.equation(
            rf"{what} = \log p(x) - \log p(x_{{\text{{given}}}}) = {whole:.2f} - ({seen:.2f}) = {rest:.2f}",
            "Of your own picture: how well the model would have guessed what you really drew, in nats.",
        )
    else:
        ui.equation(
            rf"\log p(x) = {whole:.2f}",
            "Of your own picture, nats; this order cannot tell the part that belongs to what is given.",
        )
    ui.notice(
        "Completions differ from each other but agree with what is given: a distribution, not a guess. "
        "A raster model sees only what is above and to the left: it can continue a picture, not begin one. "
        "Training on fresh orders buys any completion at the price of a worse likelihood for each order."
    )
    ui.presets(
        {
            "Continue the top": {"given": "top half"},
            "Raster meets a bottom half": {"given": "bottom half", "model": MNIST},
            "Fresh orders, bottom half": {"given": "bottom half", "model": ANY_ORDER},
            "From nothing": {"given": "nothing"},
        }
    )
    ui.check(
        f"Can {name} draw exactly from p(right half | left half)?",
        ["yes", "no"],
        "yes" if masks.can_complete(model, masks.keep(picture, "left half")) else "no",
        "Only if all given pixels come before all others in an order the model was trained on.",
    )
    ui.source(
        base.observed_first,
        base.Autoregressive.sample,
        base.Autoregressive.sampling_order,
        references=REFERENCES,
    )


ui.header(
    "Masks and pixels",
    "Masks that let no output see itself or what comes later turn an autoencoder into a density.",
    lenses=("sampling", "receptive_field"),
)
modes = {"Masks": masks_mode, "Pixels": pixels_mode, "Completion": completion_mode}
modes[ui.choice("Show", list(modes), key="show", default="Masks")]()
