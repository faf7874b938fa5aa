"""Orders and ensembles: one set of weights, many joints; how to mix them, and how not to."""

import torch

from lab import ui
from lab.figures import basic, raster
from lab.lenses import drawing, neighbours
from modules.autoregressive import base, bayesnet, fvsbn, made
from pages.autoregressive.orders import figures, lens, restricted

REFERENCES = [
    "Uria, Murray, Larochelle 2014, A deep and tractable density estimator, arXiv:1310.1757",
    "Germain, Gregor, Murray, Larochelle 2015, MADE, arXiv:1502.03509",
    "[GM] §1.5.4",
]


@ui.cached
def digits(pixels: int) -> list:
    return drawing.examples(pixels)


@ui.cached
def scored(name: str, pictures: torch.Tensor, count: int, seed: int) -> lens.Orders:
    return lens.under_many_orders(ui.load(name), pictures, count, seed)


@ui.cached
def complete(name: str, given: torch.Tensor, order: list[int], n: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return ui.load(name).sample(n, given=given, order=order, generator=generator)


def choose_model() -> tuple[str, made.MADE, int]:
    name = ui.experiment(
        "Model", family="autoregressive", key="model", default="made-digits-orders",
        only=lambda e: e.module.endswith(".MADE") and drawing.of_binary_pictures(e),
    )  # fmt: skip
    model = ui.load(name)
    return name, model, drawing.side(model)


def ensemble_mode() -> None:
    left, right = ui.columns(2)
    with right:
        name, _, side = choose_model()
        count = ui.slider("Orders", 2, 32, 8, key="s")
        seed = ui.number("Seed of the orders", 0, 999, 0, key="seed")
        which = ui.choice("Pictures", ["mine", "ten digits"], key="which", default="mine")
    with left:
        drawn = ui.draw("Draw a digit", key="digit", size=side, examples=digits(side))
    sheet = [drawn] if which == "mine" else [picture for _, picture in digits(side)]
    x = torch.stack([drawing.bits(picture) for picture in sheet])
    found = scored(name, x, count, seed)
    title = "Your digit under each order" if which == "mine" else "Ten digits under each order, mean"
    ui.figure(
        figures.strip(found.each, {"mean": found.mean, "mixture": found.ensemble}, title),
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
    ui.source(lens.under_many_orders, base.Autoregressive.log_prob, references=REFERENCES)


def averaging_mode() -> None:
    raw = []
    for column, (cell, start) in zip(
        ui.columns(4), {"00": 18, "01": 2, "10": 8, "11": 72}.items(), strict=True
    ):
        with column:
            raw.append(ui.slider(f"Weight of {cell}", 1, 100, start, key=f"p{cell}"))
    joint = torch.tensor(raw, dtype=torch.float64) / sum(raw)
    found = lens.averages(joint)
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
    ui.source(lens.averages, references=REFERENCES)


def imputation_mode() -> None:
    left, right = ui.columns(2)
    with right:
        name, model, side = choose_model()
        region = ui.choice("Given", list(drawing.REGIONS), key="given", default="left half")
        inside = ui.choice("Second order inside the hole", list(lens.INSIDE), key="inside", default="random")
        count = ui.slider("Completions", 1, 16, 9, key="count")
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    with left:
        drawn = ui.draw("Draw a digit", key="digit", size=side, examples=digits(side))
    given, x = drawing.keep(drawn, region), drawing.bits(drawn)
    known = ~given.isnan()
    scores: dict[int, float] = {}
    for column, kind in zip(ui.columns(2), ("raster", inside), strict=True):
        order = lens.order_of_hole(given, kind, seed)
        scores[len(scores)] = lens.hole_score(model, x, given, order)
        with column:
            sheet = complete(name, given, order.tolist(), count, seed)
            ui.figure(
                raster.completions(sheet, known, side, f"Hole filled in {kind} order"),
                alt=f"Completions with the hole visited in {kind} order",
                data={"picture": drawing.bit_strings(sheet)},
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
    ui.source(lens.order_of_hole, base.observed_first, base.Autoregressive.sample, references=REFERENCES)


AGNOSTIC, RASTER, SIDE = "made-digits-orders", "made-digits", 8


@ui.cached
def imputed(half: str, seed: int) -> dict[str, torch.Tensor | None]:
    """Nats of the removed half of every test digit, by model."""
    gone, x = lens.removed(half, SIDE, seed), neighbours.digits()[1]
    alone = neighbours.counted(tuple(bayesnet.TEMPLATES["none"]), shared=False)
    return {
        "independent pixels": lens.without_neighbours(alone, x, gone),
        "MADE, raster order": lens.imputation(ui.load(RASTER), x, gone),
        "MADE, fresh orders": lens.imputation(ui.load(AGNOSTIC), x, gone),
    }


def removed_mode() -> None:
    left, middle, right = ui.columns(3)
    with left:
        half = ui.choice("Removed", list(lens.HALVES), key="half", default="lower")
    with middle:
        index = ui.slider("Test digit", 0, len(neighbours.digits()[1]) - 1, 0, key="digit-number")
    with right:
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    gone = lens.removed(half, SIDE, seed)
    truth = neighbours.digits()[1][index]
    given = lens.without(truth, gone)
    by_half = {name: imputed(name, seed) for name in lens.HALVES}
    means = {name: lens.summary(found) for name, found in by_half.items()}
    left, right = ui.columns(2)
    with left:
        order = lens.order_of_hole(given, "raster")
        sheet = complete(AGNOSTIC, given, order.tolist(), 8, seed)
        ui.figure(
            raster.completions(lens.stacked(truth, sheet), ~gone, SIDE, "The digit, eight completions"),
            alt="A test digit and completions of it by the model of fresh orders",
            data={"picture": drawing.bit_strings(sheet)},
        )  # fmt: skip
    with right:
        names = list(lens.HALVES)
        ui.figure(
            basic.bars(names, [means[n]["MADE, fresh orders"] for n in names],
                       baseline=[means[n]["independent pixels"] for n in names],
                       names=("fresh orders", "independent"), ylabel="nats", height=460,
                       title="Cost of the removed half"),
            alt="Mean cost of each removed half, by the model of fresh orders and by independent pixels",
            data={"half": names, "fresh orders": [means[n]["MADE, fresh orders"] for n in names],
                  "independent": [means[n]["independent pixels"] for n in names]},
        )  # fmt: skip
    ui.table(lens.imputation_table(means), alt="Cost of each removed half by each model")
    ui.caption(
        f"−log p(removed | kept), mean over {len(neighbours.digits()[1])} test digits: nats, and bits a "
        "removed pixel. A model of one order can give it exactly only where what is removed comes last in it."
    )
    mine = {name: cost for name, cost in means[half].items() if cost is not None}
    saved = mine["independent pixels"] - mine["MADE, fresh orders"]
    costs = by_half[half]["MADE, fresh orders"]
    assert costs is not None  # any order can be asked for
    one = float(costs[index])
    ui.equation(
        rf"-\log p(x_{{\text{{removed}}}} \mid x_{{\text{{kept}}}}) = {one:.2f}\;"
        rf"\text{{nats for this digit}}, \quad {mine['MADE, fresh orders']:.2f}\;\text{{on average}}",
        f"Looking at the {half} half's complement saves {saved:.2f} nats against independent pixels.",
    )
    ui.notice(
        "Kept pixels come first in the order, so one pass gives the exact conditional of any half, also of a "
        "random one. The raster model does it for the lower half alone, and there it may be better: it has "
        "spent all its weights on that one order. A random half is the easiest: every hole has neighbours."
    )
    ui.presets({"Lower": {"half": "lower"}, "Right": {"half": "right"}, "Scattered": {"half": "random"}})
    easiest = min(means, key=lambda name: means[name]["MADE, fresh orders"] or 0.0)
    ui.check(
        "Which half is cheapest to fill in for the model of fresh orders?",
        list(lens.HALVES),
        easiest,
        "; ".join(f"{name} {means[name]['MADE, fresh orders']:.2f}" for name in lens.HALVES) + " nats.",
    )
    ui.source(lens.imputation, lens.removed, base.observed_first, references=REFERENCES)


@ui.cached
def optima(side: int, count: int, seed: int) -> torch.Tensor:
    return restricted.least(restricted.pictures(side), restricted.orders(side, count, seed))


@ui.cached
def beside(side: int) -> dict[str, float]:
    return restricted.references(side)


def restricted_mode() -> None:
    left, middle, right = ui.columns(3)
    with left:
        side = ui.choice("Bars and stripes", [3, 4], key="side", format=lambda s: f"{s} × {s}")
    with middle:
        count = ui.slider("Orders", 2, 40, 20, key="orders")
    with right:
        seed = ui.number("Seed of the orders", 0, 999, 0, key="seed")
    each, drawn = optima(side, count, seed), restricted.orders(side, count, seed)
    floor, worst = restricted.entropy(side), int(each.argmax())
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.strip(each, {f"ln {len(restricted.pictures(side))}": floor},
                          "The best FVSBN of each order"),
            alt="Least cost of an FVSBN in each order, and the entropy of the pictures",
            data={"order": range(1, count + 1), "nll": each},
        )  # fmt: skip
    with right:
        rank = base.ranks(drawn[worst]).reshape(side, side)
        ui.figure(
            basic.heatmap(rank, numbers=".0f", zmin=0, zmax=side * side, colorbar=False, square=True,
                          title=f"Order {worst + 1}, the dearest", height=420),
            alt="When each pixel is visited in the dearest order", data={"rank": rank},
        )  # fmt: skip
    rows = beside(side)
    ui.table(
        {"model": list(rows), "least −log p, nats": [f"{v:.4f}" for v in rows.values()]},
        alt="Least cost of other models of the same pictures",
    )
    lowest, highest = float(each.min()), float(each.max())
    many = len(restricted.pictures(side))
    ui.equation(
        rf"\min_A \; -\frac{{1}}{{{many}}} \sum_x \log p_A(x) = "
        rf"{lowest:.4f} \;\text{{to}}\; {highest:.4f} \qquad \ln {many} = {floor:.4f}",
        f"Raster order is order 1: {float(each[0]):.4f} nats. Each point is a convex optimum, found by "
        "Newton's method.",
    )
    ui.notice(
        "A text blames a fixed order itself, because late variables are unseen by early ones. The chain rule "
        "loses nothing in any order: tables reach the entropy in all of them. What differs is what a "
        "logistic conditional can say, and that depends on which pixels it may read."
    )
    ui.presets({"3 × 3": {"side": 3, "orders": 40}, "4 × 4": {"side": 4, "orders": 8}})
    ui.check(
        "Does raster order reach the entropy of the pictures here?",
        ["yes", "no"],
        "yes" if float(each[0]) < floor + 1e-4 else "no",
        f"{float(each[0]):.4f} against {floor:.4f} nats.",
    )
    ui.source(restricted.logistic, restricted.least, fvsbn.FVSBN, references=REFERENCES)


ui.header(
    "Orders and ensembles",
    "One set of weights holds a density for every order: mix the densities, never their factors.",
    lenses=("sampling",),
)
modes = {
    "Ensemble": ensemble_mode,
    "Averaging": averaging_mode,
    "Two orders": imputation_mode,
    "Removed half": removed_mode,
    "Restricted class": restricted_mode,
}
modes[ui.choice("Show", list(modes), key="show", default="Ensemble")]()
