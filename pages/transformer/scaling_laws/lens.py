"""Laws of the loss as curves: budgets and their optima, presets that disagree, Kaplan's laws.

Shapes: F frames (budgets, or tokens), P points of a curve.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.errors import UserError
from modules.transformer.scaling_laws import KAPLAN, MODELS, PRESETS, Chinchilla, JointLaw, PowerLaw
from pages.transformer.scaling_laws.room import BUDGETS, OWN, OWN_LAW, SERVED, TOKENS

Array = NDArray[np.float64]
P = 121
SMALL, LARGE = 1e8, 1e9  # parameters whose tokens are compared


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
