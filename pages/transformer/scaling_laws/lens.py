"""Laws of the loss as curves: budgets and their optima, presets that disagree, a fit of runs with noise.

Shapes: F frames (budgets, or tokens), P points of a curve.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lab.bench import scaling
from lab.errors import UserError
from modules.transformer.scaling_laws import (
    KAPLAN,
    MODELS,
    PRESETS,
    Chinchilla,
    JointLaw,
    Line,
    PowerLaw,
    bootstrap,
    fit_chinchilla,
    fit_line,
)
from pages.transformer.scaling_laws.room import (
    BUDGETS,
    NO_FLOOR,
    OURS,
    OWN,
    OWN_LAW,
    PRINTED,
    SERVED,
    TOKENS,
    VIEWS,
)

Array = NDArray[np.float64]
P = 121
SMALL, LARGE = 1e8, 1e9  # parameters whose tokens are compared
SEEDS, RESAMPLES = 20, 40
STARTS = [(0.5, 6.0, 6.0, 0.35, 0.3), (0.0, 3.0, 3.0, 0.1, 0.1)]  # of log E, log A, log B, α, β
TRUTH = PRESETS[PRINTED]
# seven sizes by seven sets of data, as the specification has them
GRID_N, GRID_D = np.logspace(7, 10, 7), np.logspace(8.5, 11.5, 7)


def numbers(text: str, count: int, what: str) -> list[float]:
    """So many positive numbers that a reader types, between commas."""
    parts = [part.strip() for part in text.replace(";", ",").split(",") if part.strip()]
    try:
        values = [float(part) for part in parts]
    except ValueError:
        raise UserError(f"{text!r} is not {what}: give {count} numbers between commas, like 8e9.") from None
    if len(values) != count:
        raise UserError(f"These are {len(values)} numbers: give {count}, {what}.")
    if not all(math.isfinite(value) and value > 0 for value in values):
        raise UserError(f"Numbers above 0 are needed for {what}.")
    return values


def law_of(text: str) -> Chinchilla:
    """Constants E, A, B, α, β as a reader types them."""
    E, A, B, alpha, beta = numbers(text, 5, "E, A, B, α, β")
    if not (0.02 <= alpha <= 2 and 0.02 <= beta <= 2):
        raise UserError("Exponents from 0.02 to 2 can be drawn: change α or β.")
    if max(E, A, B) > 1e9:
        raise UserError("Constants up to a billion can be drawn: make E, A and B smaller.")
    return Chinchilla(E, A, B, alpha, beta)


def model_of(text: str) -> tuple[float, float]:
    """N and D of a model as a reader types them."""
    N, D = numbers(text, 2, "N, D")
    if not (1e6 <= N <= 1e14 and 1e6 <= D <= 1e16):
        raise UserError("A model of 10⁶ to 10¹⁴ parameters, trained on 10⁶ to 10¹⁶ tokens, can be drawn.")
    return N, D


def chosen(preset: str, own: Chinchilla) -> Chinchilla:
    return own if preset == OWN else PRESETS[preset]


# --- Budgets -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Budgets:
    """isoFLOP curves of a law.

    Attributes:
        law: whose they are.
        sizes, losses: (F, P), around the optimum of each budget.
        best: (F, 3), N*, D* and the loss there. served: the same where tokens are to be served, else None.
        models: name -> N, D, loss by the law.
    """

    law: Chinchilla
    sizes: Array
    losses: Array
    best: Array
    served: Array | None
    models: dict[str, tuple[float, float, float]]


def budgets(preset: str, own: Chinchilla, model: tuple[float, float], served: str) -> Budgets:
    """Curves, optima, and the models that were trained."""
    law = chosen(preset, own)
    best = np.array([law.optimum(C) for C in BUDGETS])  # (F, 2)
    sizes = best[:, :1] * np.geomspace(1 / 40, 40, P)
    losses = law.loss(sizes, np.array(BUDGETS)[:, None] / (6 * sizes))
    tokens = SERVED[served]
    cheaper = np.array([law.served(C, tokens) for C in BUDGETS]) if tokens else None
    named = MODELS | {"yours": model}
    return Budgets(
        law, sizes, losses, with_loss(law, best),
        None if cheaper is None else with_loss(law, cheaper),
        {name: (N, D, float(law.loss(N, D))) for name, (N, D) in named.items()},
    )  # fmt: skip


def with_loss(law: Chinchilla, places: Array) -> Array:
    """(F, 2) of N and D -> (F, 3), the loss beside them."""
    return np.column_stack([places, law.loss(places[:, 0], places[:, 1])])


def ratios(preset: str, own: Chinchilla) -> dict[str, Array]:
    """Tokens per parameter at the optimum of each budget, (F,), by every preset, and by own constants."""
    laws = PRESETS | ({OWN_LAW: own} if preset == OWN else {})
    return {
        name: np.array([D / N for N, D in (law.optimum(C) for C in BUDGETS)]) for name, law in laws.items()
    }


# --- Kaplan's laws -----------------------------------------------------------------------------------


def power(law: str) -> tuple[PowerLaw, Array, Array]:
    """A law of Kaplan et al., and places (P,) with losses."""
    scale = KAPLAN[law].scale
    x = np.geomspace(scale * 1e-11, scale, P)
    return KAPLAN[law], x, KAPLAN[law].loss(x)


def halved(law: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Two points of the law: a place and its loss, and where the loss is half of it."""
    one = KAPLAN[law]
    x = one.scale / one.to_halve**1.5
    return (x, float(one.loss(x))), (x * one.to_halve, float(one.loss(x * one.to_halve)))


@dataclass(frozen=True)
class Joint:
    """L(N, D) over D of two sizes.

    Attributes:
        D: (P,). small, large: losses (P,). loss, fewer: at each frame, the loss of the small model and the
            tokens with which the large one has it, (F,).
    """

    D: Array
    small: Array
    large: Array
    loss: Array
    fewer: Array


def joint() -> Joint:
    law, D = JointLaw(), np.geomspace(1e7, 1e13, P)
    loss = law.loss(SMALL, np.array(TOKENS))
    fewer = np.array([law.tokens(LARGE, float(each)) for each in loss])
    return Joint(D, law.loss(SMALL, D), law.loss(LARGE, D), loss, fewer)


# --- A fit of runs with noise ------------------------------------------------------------------------


@dataclass(frozen=True)
class Fitted:
    """A fit of simulated runs.

    Attributes:
        law: the fit, E = 0 where the form has none.
        losses: (7 sizes, 7 sets of data), with noise. kept: how many sizes were fitted.
        said: (7, 7), by the fit. low, high: 90 % of the bootstrap, (7, 7).
        number: what is followed over the seeds: E, or where the form has none, the loss of the largest run.
        interval: 90 % of the bootstrap, of this number. over_seeds: (SEEDS,). truth: without noise.
    """

    law: Chinchilla
    losses: Array
    kept: int
    said: Array
    low: Array
    high: Array
    number: float
    interval: tuple[float, float]
    over_seeds: Array
    truth: float


def runs(noise: float, seed: int) -> Array:
    """Losses of the printed law on the grid, with normal noise of their logarithm: (7, 7)."""
    D, N = np.meshgrid(GRID_D, GRID_N)
    # drawn in the order of the specification's oracle, data by data
    normal = np.random.default_rng(seed).standard_normal(49).reshape(7, 7).T
    return np.asarray(TRUTH.loss(N, D) * np.exp(noise / 100 * normal))


@lru_cache(maxsize=64)
def fit(form: str, noise: float, without: int, seed: int) -> Fitted:
    """Fit the smaller sizes, and predict those left out with the bootstrap's interval."""
    kept, floor = 7 - without, (1e-9 if form == NO_FLOOR else None)
    losses = runs(noise, seed)
    D, N = np.meshgrid(GRID_D, GRID_N)
    law = fit_of(losses, kept, floor)
    laws = bootstrap(N[:kept].ravel(), D[:kept].ravel(), losses[:kept].ravel(), RESAMPLES, floor, seed)
    said = np.stack([one.loss(N, D) for one in laws])  # (RESAMPLES, 7, 7)
    low, high = np.quantile(said, [0.05, 0.95], axis=0)

    def number(one: Chinchilla) -> float:
        return one.E if floor is None else float(one.loss(GRID_N[-1], GRID_D[-1]))

    over_seeds = [number(fit_of(runs(noise, other), kept, floor)) for other in range(SEEDS)]
    ends = np.quantile([number(one) for one in laws], [0.05, 0.95])
    return Fitted(law, losses, kept, np.asarray(law.loss(N, D)), low, high, number(law),
                  (float(ends[0]), float(ends[1])), np.array(over_seeds), number(TRUTH))  # fmt: skip


def fit_of(losses: Array, kept: int, floor: float | None) -> Chinchilla:
    """The law of the smaller sizes' losses."""
    D, N = np.meshgrid(GRID_D, GRID_N)
    law = fit_chinchilla(N[:kept].ravel(), D[:kept].ravel(), losses[:kept].ravel(), floor, STARTS)
    return replace(law, E=0.0) if floor is not None else law


# --- Runs of our own ---------------------------------------------------------------------------------

FEWEST = 6  # sizes that there must be before they are shown


@dataclass(frozen=True)
class Ours:
    """What `lab bench scaling` has found so far.

    Attributes:
        N, excess: sizes and L − E, (S,), the mean of the seeds. kept: how many were fitted.
        line: the fit. curves: budget C -> sizes and L − E, of budgets with three sizes or more.
        seeds: how many. floor: E of the language.
    """

    N: Array
    excess: Array
    kept: int
    line: Line
    curves: dict[float, tuple[Array, Array]]
    seeds: int
    floor: float


def views() -> tuple[str, ...]:
    """Views with something to show: our runs once there are enough of them."""
    sizes = scaling.means(scaling.of_group(scaling.kept(), "size"))
    return VIEWS if len(sizes) >= FEWEST else tuple(view for view in VIEWS if view != OURS)


def ours(without: int) -> Ours:
    """The runs that there are, and a line through all sizes but the largest."""
    results = scaling.kept()
    runs = scaling.of_group(results, "size")
    sizes = scaling.means(runs)
    N, y = np.array([n for n, _ in sizes], float), np.array(list(sizes.values()))
    kept = len(N) - without
    curves = {}
    for C in scaling.BUDGETS:
        if len(curve := scaling.isoflop(results, C)) >= 3:
            curves[C] = np.array(list(curve), float), np.array(list(curve.values()))
    floor = float(runs[0]["loss"] - runs[0]["excess"])
    line = fit_line(N[:kept], y[:kept])
    return Ours(N, y, kept, line, curves, len({run["seed"] for run in runs}), floor)


# option of the question -> tokens per parameter that lie in it
SPLITS = {"fewer than 10": 3, "10 to 30": 20, "30 to 70": 50, "more than 70": 200}


def answer(ratio: float) -> str:
    """The option in which a number of tokens per parameter lies."""
    return list(SPLITS)[sum(ratio >= bound for bound in (10, 30, 70))]


def reasons(law: Chinchilla, C: float) -> dict[str, str]:
    """What speaks against each option: which term would still be the larger one there."""
    texts = {}
    for option, ratio in SPLITS.items():
        N = math.sqrt(C / 6 / ratio)
        size, data = law.alpha * law.A / N**law.alpha, law.beta * law.B / (ratio * N) ** law.beta
        more = "more tokens" if data > size else "more parameters"
        texts[option] = (
            f"With {ratio} the term αA/N^α is {size:.3f} and βB/D^β {data:.3f}: {more} would lower the loss."
        )
    return texts


# --- In words ----------------------------------------------------------------------------------------


def big(value: float) -> str:
    """A count in words of three figures: 32.5 B."""
    for size, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def power_of_ten(value: float) -> str:
    """5.88 · 10²³, or 10²⁴."""
    mantissa, exponent = f"{value:.2e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".")
    raised = str(int(exponent)).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
    return f"10{raised}" if mantissa == "1" else f"{mantissa} · 10{raised}"


def latex(value: float) -> str:
    """The same in LaTeX."""
    if 1e-2 <= value < 1e4:
        return f"{value:.3g}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def budget_captions(found: Budgets) -> list[str]:
    texts = []
    for i, C in enumerate(BUDGETS):
        N, D, loss = found.best[i]
        text = (
            f"C = {power_of_ten(C)}: best at {big(N)} parameters and {big(D)} tokens, {D / N:.3g} for each, "
        )
        text += f"loss {loss:.4f}."
        if found.served is not None:
            n, d, _ = found.served[i]
            text += f" With serving, {big(n)} and {big(d)} tokens reach it at the least cost."
        texts.append(text)
    return texts


def budget_equations(found: Budgets) -> list[str]:
    law, (a, _) = found.law, found.law.exponents
    size, data = rf"\frac{{{law.A:g}}}{{N^{{{law.alpha:g}}}}}", rf"\frac{{{law.B:g}}}{{D^{{{law.beta:g}}}}}"
    return [
        rf"L = {law.E:g} + {size} + {data},\quad N^* = {latex(N)},\; D^* = {latex(D)},"
        rf"\; N^* \propto C^{{{a:.3f}}}"
        for N, D, _ in found.best
    ]


def ratio_captions(found: dict[str, Array]) -> list[str]:
    return [
        f"C = {power_of_ten(C)}: " + ", ".join(f"{name} {ratio[i]:.3g}" for name, ratio in found.items())
        + " tokens per parameter."
        for i, C in enumerate(BUDGETS)
    ]  # fmt: skip


def ratio_equations(preset: str, own: Chinchilla) -> list[str]:
    law = chosen(preset, own)
    return [
        rf"\frac{{\alpha A}}{{N^{{*\alpha}}}} = \frac{{\beta B}}{{D^{{*\beta}}}},\quad 6 N^* D^* = {latex(C)}"
        rf"\;\Rightarrow\; \frac{{D^*}}{{N^*}} = \frac{{{latex(D)}}}{{{latex(N)}}} = {D / N:.3g}"
        for C in BUDGETS
        for N, D in [law.optimum(C)]
    ]


def joint_captions(found: Joint) -> list[str]:
    return [
        f"{big(SMALL)} parameters reach {loss:.3f} with {big(D)} tokens; {big(LARGE)} with {big(fewer)}, "
        f"{D / fewer:.3g} times fewer."
        for D, loss, fewer in zip(TOKENS, found.loss, found.fewer, strict=True)
    ]


def joint_equations(found: Joint) -> list[str]:
    return [
        r"L = \left[\left(\frac{N_c}{N}\right)^{\alpha_N/\alpha_D} + \frac{D_c}{D}\right]^{\alpha_D}"
        rf",\quad \frac{{{latex(D)}}}{{{latex(fewer)}}} = {D / fewer:.3g}"
        for D, fewer in zip(TOKENS, found.fewer, strict=True)
    ]
