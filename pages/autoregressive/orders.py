"""Orders and ensembles: one set of weights, many joints; how to mix them, and how not to."""

import torch

from lab import ui
from lab.figures import basic
from lab.figures import masks as pictures
from lab.figures import orders as figures
from lab.lenses import conditionals, masks, orders
from modules.autoregressive import base, made

REFERENCES = [
    "Uria, Murray, Larochelle 2014, A deep and tractable density estimator, arXiv:1310.1757",
    "Germain, Gregor, Murray, Larochelle 2015, MADE, arXiv:1502.03509",
    "[GM] §1.5.4",
]


@ui.cached
def digits(pixels: int) -> list:
    return masks.shelf(pixels)


@ui.cached
def scored(name: str, pictures: torch.Tensor, count: int, seed: int) -> orders.Orders:
    return orders.under_many_orders(ui.load(name), pictures, count, seed)


@ui.cached
def complete(name: str, given: torch.Tensor, order: list[int], n: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return ui.load(name).sample(n, given=given, order=order, generator=generator)


def choose_model() -> tuple[str, made.MADE, int]:
    name = ui.experiment(
        "Model", family="autoregressive", key="model", default="made-digits-orders",
        only=lambda e: e.module.endswith(".MADE") and conditionals.of_binary_pictures(e),
    )  # fmt: skip
    model = ui.load(name)
    return name, model, masks.side(model)


def ensemble_mode() -> None:
    left, right = ui.columns(2)
    with right:
        name, _, side = choose_model()
        count = ui.slider("Orders", 2, 32, 8, key="s")
        seed = ui.number("Seed of the orders", 0, 999, 0, key="seed")
        which = ui.choice("Pictures", ["mine", "ten digits"], key="which", default="mine")
    with left:
        drawn = ui.draw("Draw a digit", key="digit", size=side, shelf=digits(side))
    sheet = [drawn] if which == "mine" else [picture for _, picture in digits(side)]
    x = torch.stack([conditionals.bits(picture) for picture in sheet])
    found = scored(name, x, count, seed)
    title = "Your digit under each order" if which == "mine" else "Ten digits under each order, mean"
    ui.figure(
        figures.strip(found.each, found.mean, found.ensemble, title),
        alt="Cost of the pictures under each order, their mean, and the cost under the mixture",
        data={"order": range(1, count + 1), "nll": found.each},
    )
    best = float(found.each.min())
    values = {
        "Best order": f"{best:.2f}",
        "Mean of the orders": f"{found.mean:.2f}",
        "Mixture of joints": f"{found.ensemble:.2f}",
    }
    for column, (label, value) in zip(ui.columns(3), values.items(), strict=True):
        column.metric(label, f"{value} nats")
    ui.equation(
        rf"-\log \frac{{1}}{{{count}}} \sum_s p_s(x) = {found.ensemble:.2f} \;\le\; "
        rf"\frac{{1}}{{{count}}} \sum_s -\log p_s(x) = {found.mean:.2f}",
        "Each order is a density of its own; their mean is one too. The inequality is Jensen's.",
    )
    ui.notice(
        "The chain rule is exact in any order, but these conditionals are learned: every order is another "
        "joint that shares the weights. The mixture costs less than the mean order. A model of one order "
        "knows the first point only: all others are far worse."
    )
    ui.presets(
        {
            "Fresh orders": {"model": "made-digits-orders", "s": 8},
            "One order": {"model": "made-digits", "s": 8},
            "32 orders": {"model": "made-digits-orders", "s": 32},
            "MNIST": {"model": "made-orders-mnist", "s": 8},
        }
    )
    first = float(found.each[0])
    ui.check(
        "Is the mixture better than its best order here?",
        ["yes", "no"],
        "yes" if found.ensemble < best else "no",
        f"Mixture {found.ensemble:.2f}, best {best:.2f}, first {first:.2f} nats: sure is only the mean.",
    )
    ui.source(orders.under_many_orders, base.Autoregressive.log_prob, references=REFERENCES)


def averaging_mode() -> None:
    raw = []
    for column, (cell, start) in zip(
        ui.columns(4), {"00": 18, "01": 2, "10": 8, "11": 72}.items(), strict=True
    ):
        with column:
            raw.append(ui.slider(f"Weight of {cell}", 1, 100, start, key=f"p{cell}"))
    joint = torch.tensor(raw, dtype=torch.float64) / sum(raw)
    found = orders.averages(joint)
    totals = found.totals()
    left, right = ui.columns([3, 2])
    cells = ["00", "01", "10", "11"]
    with left:
        ui.figure(
            basic.bars(cells, found.probabilities, baseline=found.mixture, xlabel="x₁x₂", height=420,
                       names=("averaged conditionals", "mixture = the joint"),
                       title="What each way assigns"),
            alt="Probability of each cell by the mixture and by averaged conditionals",
            data={"cell": cells, "mixture": found.mixture, "averaged probabilities": found.probabilities,
                  "averaged logits": found.logits},
        )  # fmt: skip
    with right:
        for label, total in totals.items():
            ui.metric(f"Sum, {label}", f"{total:.7f}")
    a, b = (float(v) for v in found.conditionals[:, 3, 1])
    ui.equation(
        rf"\sum_x \prod_i \tfrac12\big(p_\rightarrow + p_\leftarrow\big)(x_i) = "
        rf"{totals['averaged probabilities']:.4f} \ne 1",
        f"For x = 11, p(x₂=1) is {a:.3f} in the order 1, 2 and {b:.3f} in the order 2, 1: both right, one "
        "knows x₁ and the other does not. Their mean belongs to no order.",
    )
    ui.notice(
        "Both orders are exact here, so their mixture is the joint itself. Averaging the conditionals lets "
        "each factor borrow what only the other order may know: the product is no density, and its "
        '"likelihood" looks better than it is. Published code has done this.'
    )
    ui.presets(
        {
            "As printed": {"p00": 18, "p01": 2, "p10": 8, "p11": 72},
            "Independent": {"p00": 36, "p01": 24, "p10": 24, "p11": 16},
            "Copies": {"p00": 50, "p01": 1, "p10": 1, "p11": 50},
        }
    )
    excess = totals["averaged probabilities"]
    answer = "exactly 1" if abs(excess - 1) < 1e-9 else "above 1" if excess > 1 else "below 1"
    ui.check(
        "The averaged conditionals sum to …",
        ["below 1", "exactly 1", "above 1"],
        answer,
        f"{excess:.6f}; exactly 1 where the bits are independent and both orders say the same.",
    )
    ui.source(orders.averages, references=REFERENCES)


def imputation_mode() -> None:
    left, right = ui.columns(2)
    with right:
        name, model, side = choose_model()
        region = ui.choice("Given", list(masks.REGIONS), key="given", default="left half")
        inside = ui.choice(
            "Second order inside the hole", list(orders.INSIDE), key="inside", default="random"
        )
        count = ui.slider("Completions", 1, 16, 9, key="count")
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    with left:
        drawn = ui.draw("Draw a digit", key="digit", size=side, shelf=digits(side))
    given, x = masks.keep(drawn, region), conditionals.bits(drawn)
    known = ~given.isnan()
    scores = {}
    for column, kind in zip(ui.columns(2), ("raster", inside), strict=True):
        order = orders.order_of_hole(given, kind, seed)
        scores[len(scores)] = orders.hole_score(model, x, given, order)
        with column:
            sheet = complete(name, given, order.tolist(), count, seed)
            ui.figure(
                pictures.completions(sheet, known, side, f"Hole filled in {kind} order"),
                alt=f"Completions with the hole visited in {kind} order",
                data={"picture": masks.bit_strings(sheet)},
                key=f"sheet-{len(scores)}",
            )
    one, two = scores[0], scores[1]
    ui.equation(
        rf"\log p_1(\text{{hole}} \mid \text{{given}}) = {one:.2f}, \qquad "
        rf"\log p_2(\text{{hole}} \mid \text{{given}}) = {two:.2f}",
        "Of your own picture, nats. Both orders visit what is given first, so both draws are exact for "
        "their own joint; the two joints differ a little.",
    )
    ui.notice(
        "Given pixels come first in both orders and stay as they are. A model of fresh orders fills any hole "
        "in any order; one that knows a single order fills holes at the end of it, and is lost elsewhere."
    )
    ui.presets(
        {
            "Left half given": {"model": "made-digits-orders", "given": "left half"},
            "Bottom given": {"model": "made-digits-orders", "given": "bottom half"},
            "One order only": {"model": "made-digits", "given": "bottom half"},
            "MNIST": {"model": "made-orders-mnist", "given": "bottom half"},
        }
    )
    ui.check(
        "Under which order is your own picture the likelier completion?",
        ["raster", "the second"],
        "raster" if one >= two else "the second",
        f"{one:.2f} against {two:.2f} nats.",
    )
    ui.source(orders.order_of_hole, base.observed_first, base.Autoregressive.sample, references=REFERENCES)


ui.header(
    "Orders and ensembles",
    "One set of weights holds a density for every order: mix the densities, never their factors.",
    lenses=("sampling",),
)
modes = {"Ensemble": ensemble_mode, "Averaging": averaging_mode, "Two orders": imputation_mode}
modes[ui.choice("Show", list(modes), key="show", default="Ensemble")]()
