"""Autoregressive inspector: one picture, any member of the family: what a conditional is, reads and costs."""

from typing import Any

import torch

from lab import experiments, ui
from lab.figures import basic, raster
from lab.lenses import drawing
from modules.autoregressive import base
from pages.autoregressive.inspector import lens

REFERENCES = [
    "Larochelle, Murray 2011, NADE; Uria et al. 2016, arXiv:1605.02226",
    "Germain, Gregor, Murray, Larochelle 2015, MADE, arXiv:1502.03509",
    "Uria, Murray, Larochelle 2014, order-agnostic training, arXiv:1310.1757",
    "[GM] §1.4, §1.5; [UDL] §12.7",
]
START, MNIST, ANY_ORDER = "nade-digits", "made-mnist", "made-orders-mnist"
DRAWN, LIKELIEST = "drawn", "likeliest"


@ui.cached
def draw(
    name: str, order: list[int] | None, temperature: float, seed: int, y: int | None
) -> tuple[drawing.Drawing, int | None]:
    """A draw, and its class where the model knows classes."""
    chosen = {} if y is None else {"y": y}
    trace = ui.load(name).sample_trace(order=order, temperature=temperature, seed=seed, **chosen)
    return drawing.unroll(trace), trace.result.get("y")


@ui.cached
def complete(
    name: str,
    given: torch.Tensor,
    order: list[int] | None,
    n: int,
    temperature: float,
    seed: int,
    y: int | None,
) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    model, chosen = ui.load(name), {} if y is None else {"y": y}
    return model.sample(n, given=given, order=order, temperature=temperature, generator=generator, **chosen)


@ui.cached
def digits(pixels: int) -> list:
    return drawing.examples(pixels)


def model_and_side(default: str = START, only: Any = drawing.of_pictures) -> tuple[str, Any, int]:
    name = ui.experiment("Model", family="autoregressive", key="model", default=default, only=only)
    model = ui.load(name)
    if not drawing.side(model):
        ui.stop(f"{name} is no model of square pictures: pick another one.")
    return name, model, drawing.side(model)


def class_choice(model: Any, first: str) -> int | None:
    """A class, of models that know classes; None for `first`."""
    if not lens.classes(model):
        return None
    chosen = ui.choice("Class", [first, *map(str, range(lens.classes(model)))], key="class", as_list=True)
    return None if chosen == first else int(chosen)


@ui.cached
def look(name: str, x: torch.Tensor, pixel: int, index: int) -> lens.Conditional:
    return lens.conditional(ui.load(name), x, pixel, index=index)


@ui.cached
def posterior(name: str, x: torch.Tensor) -> torch.Tensor:
    return lens.posterior(ui.load(name), x)


@ui.cached
def running(name: str, x: torch.Tensor) -> lens.RunningState:
    return lens.running_state(ui.load(name), x)


def distribution_figure(p: torch.Tensor, value: int) -> None:
    """A pixel's conditional over all its values."""
    names = [str(k) for k in range(len(p))]
    live = basic.bars(names, p, highlight=value, probability=len(p) == 2, xlabel="value",
                      title="This pixel's conditional")  # fmt: skip
    ui.figure(live, alt="The conditional of this pixel", data={"value": names, "p": p})


@ui.cached
def compared(first: str, second: str, x: torch.Tensor) -> lens.Comparison:
    return lens.compare(ui.load(first), ui.load(second), x)


def own_figure(name: str, model: Any, x: torch.Tensor, view: lens.Conditional, y: int | None) -> None:
    """What a member can show of itself; else the cost of every pixel."""
    side = drawing.side(model)
    if model.num_categories > 2:
        distribution_figure(view.distribution, view.value)
    elif y is not None:
        p, names = posterior(name, x), [str(c) for c in range(lens.classes(model))]
        bars = basic.bars(names, p, highlight=y, probability=True, title="p(class | your picture)",
                          xlabel="class")  # fmt: skip
        ui.figure(bars, alt="Probability of each class given the picture", data={"class": names, "p": p})
    elif isinstance(model, lens.NADE):
        units = lens.running_units(model, x, view.pixel)
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
    elif isinstance(model, lens.FVSBN):
        row = lens.weights_row(model, view.pixel)
        ui.figure(
            raster.reads(row, side, view.pixel, f"Row {view.pixel} of A"),
            alt="Weights of the logistic regression of this pixel, on the picture",
            data={"pixel": range(model.n), "weight": row},
        )
    else:
        cost = -lens.terms(model, x)
        ui.figure(
            raster.surprisal(cost, side, "Surprisal −log p, nats"),
            alt="What each pixel costs under this model",
            data={"pixel": range(model.n), "surprisal": cost},
        )


def conditional_mode() -> None:
    left, right = ui.columns(2)
    with right:
        name, model, side = model_and_side()
    with left:
        picture = ui.draw("Draw a digit", key="digit", size=side, examples=digits(side))
    x = drawing.entries(picture, model.num_categories)
    with right:
        y = class_choice(model, LIKELIEST)
    if lens.classes(model) and y is None:
        y = int(posterior(name, x).argmax())
    cell = ui.selected_cell("pixel", side, side)
    pixel = cell[0] * side + cell[1] if cell else lens.default_pixel(x)
    view = look(name, x, pixel, y or 0)
    with right:
        ui.clickable(
            raster.canvas(
                lens.ink(view.seen, model), side, pixel, f"What pixel {pixel} may see; click",
                clickable=True,
            ),
            key="pixel", alt="The picture as far as it comes before the chosen pixel", mark=False,
            data={"pixel": range(model.n), "x": view.seen},
        )  # fmt: skip
    values = {
        f"p({view.asked} | before)": f"{view.p:.4f}",
        "Place in the order": f"{view.rank} of {model.n}",
        "Reads of what is before": f"{view.reads} of {view.rank - 1}",
        "Reads of itself and after": str(view.leaks),
    }
    for column, (label, value) in zip(ui.columns(4), values.items(), strict=True):
        column.metric(label, value)
    read, own = ui.columns(2)
    with read:
        ui.figure(
            raster.reads(view.gradient, side, pixel, "Measured: ∂ logit / ∂ x"),
            alt="Gradient of this pixel's logit with respect to every pixel",
            data={"pixel": range(model.n), "gradient": view.gradient},
        )
    with own:
        own_figure(name, model, x, view, y)
    ui.equation(*lens.arithmetic(model, x, view))
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
            "Grey levels": {"model": "nade-greys-digits", "pixel": None},
            "With classes": {"model": "gatedpixelcnn-digits", "pixel": None},
            "A row of weights": {"model": "fvsbn-mnist", "pixel": None},
            "500 units": {"model": "nade-mnist", "pixel": None},
        }
    )
    ui.check(
        f"This pixel is {view.value}. Had the model, asked for the likeliest value, said so?",
        ["yes", "no"],
        "yes" if int(view.distribution.argmax()) == view.value else "no",
        f"It gives {view.asked} the probability {view.p:.3f}; the likeliest is "
        f"{int(view.distribution.argmax())}.",
    )
    ui.source(type(model).logits, base.Autoregressive.conditionals, references=REFERENCES)


def running_mode() -> None:
    left, right = ui.columns(2)
    with right:
        name, model, side = model_and_side(only=lens.is_nade)
        unit = ui.number("Hidden unit k", 0, model.hidden - 1, 7, key="unit")
        kind = ui.choice("Show of it", ["a", "σ(a)"], key="state")
    with left:
        picture = ui.draw("Draw a digit", key="digit", size=side, examples=digits(side))
    x = drawing.entries(picture, model.num_categories)
    state = running(name, x)
    step = ui.stepper(model.n + 1, key="pixels", seconds=0.15, default=model.n * 9 // 16, label="Pixels read")
    states, last = lens.shown_states(state, kind), int(state.order[step - 1])
    shown = lens.around(unit, model.hidden)
    now, before = states[step, shown], states[max(step - 1, 0), shown]
    bars, path = ui.columns(2)
    with bars:
        names = [str(k) for k in shown]
        rows = basic.bars(names, now, highlight=shown.index(unit), baseline=before, xlabel="hidden unit",
                          names=("now", "a pixel ago"),
                          title="The running sum a" if kind == "a" else "Hidden units σ(a)")  # fmt: skip
        ui.figure(rows, alt="Hidden units before and after the last pixel's column was added",
                  data={"unit": shown, "now": now, "before": before})  # fmt: skip
    with path:
        line = states[:, unit]
        ui.figure(
            basic.curves({f"unit {unit}": line}, mark=step, title=f"Unit {unit} along the picture",
                         xlabel="pixels read", height=360),
            alt="One hidden unit along the picture", data={"pixels": range(model.n + 1), "state": line},
        )  # fmt: skip
    check = lens.recomputed(model, state, step, unit)
    values = {
        "Carried": f"{check.carried:.4f}",
        "Summed anew": f"{check.anew:.4f}",
        "Difference": f"{abs(check.carried - check.anew):.0e}",
        "Largest of all units": f"{check.largest:.0e}",
    }
    for column, (label, value) in zip(ui.columns(4), values.items(), strict=True):
        column.metric(label, value)
    if step:
        ui.equation(
            rf"a_{{{unit}}} \leftarrow {float(state.carried[step - 1, unit]):.4f} "
            rf"{float(model.weight[last, 0, unit]):+.4f} \cdot {float(state.fed[last]):.4g} = "
            rf"{float(state.carried[step, unit]):.4f}",
            f"One number of one column for each unit: that of pixel {last}, number {step} in the order.",
        )
    else:
        ui.equation(rf"a_{{{unit}}} = c_{{{unit}}} = {float(model.start[unit]):.4f}", "Before any pixel.")
    ui.notice(
        "The sum is additive: a pixel adds its own column, whatever came before, and nothing is forgotten. "
        "White pixels add nothing. The sum carried along and the one taken anew are the same number, but "
        "the first costs one addition a pixel and unit, the second as many as there are pixels before."
    )
    ui.presets(
        {
            "Before any pixel": {"pixels": 0},
            "Half of it": {"pixels": model.n // 2},
            "Grey levels": {"model": "nade-greys-digits", "pixels": 32},
        }
    )
    inked = lens.columns_taken(state, step)
    ui.check(
        "How many columns has the sum taken in that are not multiplied by 0?",
        sorted({inked, step, model.n, model.hidden}),
        inked,
        f"{inked} of the {step} pixels read so far have ink.",
    )
    ui.source(lens.running_state, lens.recomputed, lens.NADE._walk, references=REFERENCES)


def comparison_mode() -> None:
    left, right = ui.columns(2)
    with right:
        catalog = experiments.catalog()
        name, model, side = model_and_side(only=lambda e: lens.comparable(e, catalog))
        fitting = lens.same_pictures(name.partition("/")[0], catalog)
        other = ui.experiment("Against", family="autoregressive", key="other", default="fvsbn-digits",
                              only=lambda e: e.name in fitting and drawing.of_binary_pictures(e))  # fmt: skip
    with left:
        picture = ui.draw("Draw a digit", key="digit", size=side, examples=digits(side))
    x = drawing.bits(picture)
    both = compared(name, other, x)
    for column, title, each in zip(ui.columns(2), (name, other), (both.first, both.second), strict=True):
        with column:
            ui.figure(
                raster.surprisal(-each, side, f"{title}: {float(-each.sum()):.1f} nats"),
                alt=f"What each pixel costs under {title}",
                data={"pixel": range(model.n), "surprisal": -each},
            )
    gain, running = ui.columns(2)
    with gain:
        ui.figure(
            raster.reads(both.gain, side, -1, "Nats won (orange: lost)"),
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
    ui.source(base.Autoregressive.log_conditionals, lens.compare, references=REFERENCES)


def pixels_mode() -> None:
    left, middle, right = ui.columns([2, 2, 3])
    with left:
        name, model, side = model_and_side(MNIST)
    with middle:
        temperature = ui.slider("Temperature", 0.0, 2.0, 1.0, key="t", step=0.1,
                                help="Divides every logit; 0 takes the more probable bit.")  # fmt: skip
        seed = ui.number("Seed", 0, 9999, 0, key="draw")
    with right:
        y = class_choice(model, DRAWN)
        orders = ["its own", "raster", "reversed", "random"] if lens.any_order(model) else ["its own"]
        visit = ui.choice("Order of drawing", orders, key="visit")
        stride = {"pixel": 1, "row": side}[ui.choice("A step is a", ["pixel", "row"], key="stride")]
    order = model.component_order(0) if visit == "its own" else base.resolve_order(visit, model.n, seed)
    if not drawing.knows(model, order):
        ui.caption("This model has never met this order: what you see is a density still, but a poor one.")
    run, drawn_class = draw(name, order.tolist(), float(temperature), seed, y)
    ends = drawing.stops(run, stride)
    step = ends[ui.stepper(len(ends), key="step", seconds=0.15, default=len(ends) * 11 // 20)]
    last = run.latest(step)
    pixel = int(run.pixel[last])
    ui.caption(run.captions[step] + ("" if drawn_class is None else f" Class {drawn_class}."))

    picture, bars = ui.columns(2)
    with picture:
        selected = ui.clickable(
            raster.canvas(
                lens.ink(run.picture(step), model), side, pixel, "So far; click a pixel", clickable=True
            ),
            key="pixel", alt="The picture so far", mark=False,
            data={"pixel": run.pixel[: step + 1], "p": run.p[: step + 1], "bit": run.bit[: step + 1],
                  "log_prob": run.log_prob[: step + 1]},
        )  # fmt: skip
    with bars:
        distribution_figure(drawing.sharpened(run.distribution[pixel], temperature), int(run.bit[last]))
    chosen = int(selected["y"]) * side + int(selected["x"]) if selected else pixel
    read, surprisal = ui.columns(2)
    with read:
        asked = 1 if model.num_categories == 2 else int(run.x[chosen])
        gradient = drawing.gradient_row(model, order, run.x, chosen, asked, run.index)
        ui.figure(
            raster.reads(gradient, side, chosen, f"What pixel {chosen} reads"),
            alt="Gradient of one pixel's logit with respect to every pixel",
            data={"pixel": range(model.n), "gradient": gradient},
        )
    with surprisal:
        ui.figure(
            raster.surprisal(run.surprisal(step), side, "Surprisal −log p, nats"),
            alt="Surprisal of each pixel so far",
            data={"pixel": range(model.n), "surprisal": run.surprisal(step)},
        )
    running = basic.curves({"log p": run.log_prob}, mark=step, title="Running log p, nats",
                           xlabel="pixels drawn", height=300)  # fmt: skip
    ui.figure(running, alt="Running log-likelihood", data={"step": range(len(run)), "log_prob": run.log_prob})
    total = float(run.log_prob[-1])
    ui.equation(
        run.equations[step],
        (
            f"log p before this pixel, plus the log of the probability of what is drawn, {int(run.bit[step])}"
            + ("" if temperature == 1 else " under the model itself, whatever the temperature")
            if last == step
            else "The pixels were drawn from one joint; the model mixes several, all equally likely"
        )
        + f". Whole picture: {total:.2f} nats, {drawing.bits_per_pixel(-total, model.n):.3f} bits a pixel; "
        "the same in one pass.",
    )
    ui.notice(
        "Scoring a finished picture takes one pass, drawing it takes one step a pixel. Surprisal sits on the "
        "edges of strokes; the paper is almost free. The gradient is exactly 0 for every pixel drawn later."
    )
    ui.presets(
        {
            "Likeliest bit by bit": {"t": 0.0, "visit": "its own"},
            "Hot": {"t": 1.5, "visit": "its own"},
            "Unseen order": {"t": 1.0, "visit": "random"},
            "Grey levels": {"t": 1.0, "visit": "its own", "model": "nade-greys-digits"},
            "A seven": {"t": 1.0, "visit": "its own", "model": "gatedpixelcnn-digits", "class": "7"},
            "Row by row": {"t": 1.0, "visit": "its own", "stride": "row", "step": 0},
        }
    )
    upper, lower = drawing.halves(run)
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
        region = ui.choice("Given", list(drawing.REGIONS), key="given", default=drawing.REGIONS[0])
        count = ui.slider("Completions", 1, 25, 12, key="count")
        temperature = ui.slider("Temperature", 0.0, 2.0, 1.0, key="t", step=0.1)
        seed = ui.number("Seed", 0, 9999, 0, key="draw")
        y = class_choice(model, DRAWN)
    with left:
        picture = ui.draw(
            "Draw a digit; what you choose is kept of it", key="digit", size=side, examples=digits(side)
        )
    given = drawing.keep(picture, region, model.num_categories)
    exact = drawing.can_complete(model, given)
    order = None if exact else model.component_order(0).tolist()
    clamp = exact or ui.toggle("Clamp and sample anyway", True, key="clamp")
    if exact:
        how = (
            "This model was trained on fresh orders: it visits what is given first, then the rest."
            if model.order_agnostic
            else "What is given comes first in an order that this model knows: an exact conditional draw."
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
        ui.figure(raster.canvas(lens.ink(given, model), side, title="Given"), alt="What is given")
    with drawn:
        completed = complete(name, given, order, count, float(temperature), seed, y)
        ui.figure(
            raster.completions(
                lens.ink(completed, model), ~given.isnan(), side, "Drawn by the model in orange"
            ),
            alt="Completions", data={"picture": drawing.bit_strings(completed)},
        )  # fmt: skip
    seen, whole = drawing.completion_score(model, picture, given, order, y)
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
            "A class": {"given": "top half", "model": "gatedpixelcnn-digits", "class": "3"},
        }
    )
    ui.check(
        f"Can {name} draw exactly from p(right half | left half)?",
        ["yes", "no"],
        "yes"
        if drawing.can_complete(model, drawing.keep(picture, "left half", model.num_categories))
        else "no",
        "Only if all given pixels come before all others in an order the model was trained on.",
    )
    ui.source(
        base.observed_first,
        base.Autoregressive.sample,
        base.Autoregressive.completing,
        references=REFERENCES,
    )


ui.header(
    "Autoregressive inspector",
    "One picture, any model of the chain rule: what each pixel reads, costs, and becomes.",
    lenses=("sampling", "receptive_field"),
)
modes = {
    "Conditional": conditional_mode,
    "Pixels": pixels_mode,
    "Completion": completion_mode,
    "Running state": running_mode,
    "Two models": comparison_mode,
}
modes[ui.choice("Show", list(modes), key="show", default="Conditional")]()
