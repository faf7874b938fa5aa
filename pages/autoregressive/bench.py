"""Autoregressive bench: one picture, any member of the family: what a conditional is, reads, and costs."""

from typing import Any

import torch

from lab import experiments, ui
from lab.figures import basic
from lab.figures import masks as figures
from lab.lenses import conditionals as members
from lab.lenses import masks
from modules.autoregressive import base

REFERENCES = [
    "Larochelle, Murray 2011, NADE; Uria et al. 2016, arXiv:1605.02226",
    "Germain, Gregor, Murray, Larochelle 2015, MADE, arXiv:1502.03509",
    "Uria, Murray, Larochelle 2014, order-agnostic training, arXiv:1310.1757",
    "[GM] §1.4, §1.5; [UDL] §12.7",
]
START, MNIST, ANY_ORDER = "nade-digits", "made-mnist", "made-orders-mnist"


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


def model_and_side(default: str = START) -> tuple[str, Any, int]:
    name = ui.experiment(
        "Model", family="autoregressive", key="model", default=default, only=members.of_binary_pictures
    )
    model = ui.load(name)
    if not masks.side(model):
        ui.stop(f"{name} is no model of square pictures: pick another one.")
    return name, model, masks.side(model)


@ui.cached
def look(name: str, x: torch.Tensor, pixel: int) -> members.Conditional:
    return members.conditional(ui.load(name), x, pixel)


@ui.cached
def compared(first: str, second: str, x: torch.Tensor) -> members.Comparison:
    return members.compare(ui.load(first), ui.load(second), x)


def own_figure(model: Any, x: torch.Tensor, view: members.Conditional, side: int) -> None:
    """What a member can show of itself; else the cost of every pixel."""
    if isinstance(model, members.NADE):
        units = members.running_units(model, x, view.pixel)
        names = [f"a{k}" for k in units.unit.tolist()]
        bars = basic.bars(names, units.after, baseline=units.state, xlabel="hidden unit",
                          names=("after this pixel", "running sum"), title="The running sum a")  # fmt: skip
        ui.figure(bars, alt="Running pre-activations before and after this pixel's column is added",
                  data={"unit": units.unit, "before": units.state, "column": units.column,
                        "after": units.after, "vote": units.vote})  # fmt: skip
        ui.caption(
            f"The units with the largest vote V σ(a). Carried column by column; summed anew it differs by at "
            f"most {units.drift:.0e}."
        )
    elif isinstance(model, members.FVSBN):
        row = members.weights_row(model, view.pixel)
        ui.figure(
            figures.reads(row, side, view.pixel, f"Row {view.pixel} of A"),
            alt="Weights of the logistic regression of this pixel, on the picture",
            data={"pixel": range(model.n), "weight": row},
        )
    else:
        cost = -members.compare(model, model, x).first
        ui.figure(
            figures.surprise(cost, side, "Surprise −log p, nats"),
            alt="What each pixel costs under this model",
            data={"pixel": range(model.n), "surprise": cost},
        )


def conditional_mode() -> None:
    left, right = ui.columns(2)
    with right:
        name, model, side = model_and_side()
    with left:
        picture = ui.draw("Draw a digit", key="digit", size=side, shelf=digits(side))
    x = members.bits(picture)
    held = ui.held("pixel")
    inside = held is not None and max(int(held["x"]), int(held["y"])) < side
    pixel = int(held["y"]) * side + int(held["x"]) if held and inside else members.default_pixel(x)
    view = look(name, x, pixel)
    with right:
        ui.pick(
            figures.canvas(view.seen, side, pixel, f"What pixel {pixel} may see; click", clickable=True),
            key="pixel", alt="The picture as far as it comes before the chosen pixel", mark=False,
            data={"pixel": range(model.n), "x": view.seen},
        )  # fmt: skip
    values = {
        "p(1 | before)": f"{view.p:.4f}",
        "Place in the order": f"{view.rank} of {model.n}",
        "Reads of what is before": f"{view.reads} of {view.rank - 1}",
        "Reads of itself and after": str(view.leaks),
    }
    for column, (label, value) in zip(ui.columns(4), values.items(), strict=True):
        column.metric(label, value)
    read, own = ui.columns(2)
    with read:
        ui.figure(
            figures.reads(view.gradient, side, pixel, "Measured: ∂ logit / ∂ x"),
            alt="Gradient of this pixel's logit with respect to every pixel",
            data={"pixel": range(model.n), "gradient": view.gradient},
        )
    with own:
        own_figure(model, x, view, side)
    ui.equation(*members.arithmetic(model, x, view))
    ui.notice(
        "The picture is the same for every member; what differs is how far back a pixel looks. FVSBN weighs "
        "all of the past by one row of numbers; NADE keeps one sum for all pixels and adds a column a pixel; "
        "MADE and PixelCNN compute all conditionals in one pass. Whatever comes later is read by nobody."
    )
    ui.presets(
        {
            "Linear": {"model": "fvsbn-digits", "pixel": None},
            "Running sum": {"model": "nade-digits", "pixel": None},
            "Masked": {"model": "made-digits", "pixel": None},
            "A row of weights": {"model": "fvsbn-mnist", "pixel": None},
            "500 units": {"model": "nade-mnist", "pixel": None},
        }
    )
    ui.check(
        f"This pixel is {view.bit}. Had the model, asked for the likelier value, said so?",
        ["yes", "no"],
        "yes" if (view.p > 0.5) == bool(view.bit) else "no",
        f"It gives a one the probability {view.p:.3f}.",
    )
    ui.source(type(model).logits, base.Autoregressive.conditionals, references=REFERENCES)


def comparison_mode() -> None:
    left, right = ui.columns(2)
    with right:
        name, model, side = model_and_side()
        fitting = members.same_pictures(name.partition("/")[0], experiments.catalog())
        other = ui.experiment("Against", family="autoregressive", key="other", default="fvsbn-digits",
                              only=lambda e: e.name in fitting and members.of_binary_pictures(e))  # fmt: skip
    with left:
        picture = ui.draw("Draw a digit", key="digit", size=side, shelf=digits(side))
    x = members.bits(picture)
    both = compared(name, other, x)
    for column, title, each in zip(ui.columns(2), (name, other), (both.first, both.second), strict=True):
        with column:
            ui.figure(
                figures.surprise(-each, side, f"{title}: {float(-each.sum()):.1f} nats"),
                alt=f"What each pixel costs under {title}",
                data={"pixel": range(model.n), "surprise": -each},
            )
    gain, running = ui.columns(2)
    with gain:
        ui.figure(
            figures.reads(both.gain, side, -1, "Nats won (orange: lost)"),
            alt="Difference of the two models' log probabilities, pixel by pixel",
            data={"pixel": range(model.n), "gain": both.gain},
        )
    with running:
        one, two = both.running()
        ui.figure(
            basic.curves({name: one, other: two}, title="Running log p, nats", xlabel="pixels"),
            alt="Sum of log p over the pixels so far, both models",
            data={"pixel": range(model.n), name: one, f"{other} ": two},
        )
    first, second = both.totals
    ui.equation(
        rf"\log p_A(x) - \log p_B(x) = {first:.2f} - ({second:.2f}) = {first - second:+.2f}",
        f"A is {name}, B is {other}; both terms summed over all {model.n} pixels.",
    )
    ui.notice(
        "Both models pay on the edges of strokes, where ink begins or ends; the better one pays less at a "
        "few of them. On one picture the worse model may win: the mean over the test split is what counts."
    )
    ui.presets(
        {
            "Neural or linear": {"model": "nade-digits", "other": "fvsbn-digits"},
            "Masked or running": {"model": "made-digits", "other": "nade-digits"},
            "On MNIST": {"model": "nade-mnist", "other": "fvsbn-mnist"},
        }
    )
    ui.check(
        "Which model finds this picture likelier?",
        [name, other],
        name if first >= second else other,
        f"{first:.2f} against {second:.2f} nats.",
    )
    ui.source(base.Autoregressive.log_conditionals, members.compare, references=REFERENCES)


def pixels_mode() -> None:
    left, middle, right = ui.columns([2, 2, 3])
    with left:
        name, model, side = model_and_side(MNIST)
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
    ui.source(
        base.Autoregressive._draw, type(model)._walk, base.Autoregressive.log_prob, references=REFERENCES
    )


def completion_mode() -> None:
    left, right = ui.columns(2)
    with right:
        name, model, side = model_and_side(MNIST)
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
    "Autoregressive bench",
    "One picture, any model of the chain rule: what each pixel reads, costs, and becomes.",
    lenses=("sampling", "receptive_field"),
)
modes = {
    "Conditional": conditional_mode,
    "Pixels": pixels_mode,
    "Completion": completion_mode,
    "Two models": comparison_mode,
}
modes[ui.choice("Show", list(modes), key="show", default="Conditional")]()
