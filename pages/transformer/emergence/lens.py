r"""One series of runs by several metrics, and one sum that the reader asks.

    exact match      1[all digits are the likeliest]
    p^k              what a share p of right digits would give, were mistakes independent and equally likely
    Π_j p_j          were they independent only

The runs are those that `lab bench addition` keeps; nothing is shown of a size that was not trained. At each
of 21 looks a run was scored on 2,000 validation sums.

Shapes: F looks, N sizes, four digits in the order in which they are written.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from datamodules.addition import DIGITS, LEAST, MOST_SUMMAND, encode
from lab import weights
from lab.bench import addition
from lab.errors import UserError
from lab.experiments import ZOO, Experiment
from modules.transformer.answer import scores
from modules.transformer.gpt import GPT
from pages.transformer.emergence.room import ACCURACY, BRIER, LIKELIHOOD, ORDERS, REVERSED, STEPS

KEYS = {ACCURACY: "accuracy", LIKELIHOOD: "log_likelihood", BRIER: "brier"}
PLACES = ("ones", "tens", "hundreds", "thousands")
Card = Mapping[str, Any]


# --- What the runs say -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Series:
    """Runs of one order and one seed: a mean over seeds that jump at different sizes would be no jump.

    Attributes:
        sizes: parameters, (N,).
        values: exact, accuracy, log_likelihood, brier: (F, N). digits: (F, N, 4).
        product: Π_j p_j, (F, N).
    """

    sizes: list[int]
    values: dict[str, np.ndarray]
    digits: np.ndarray
    product: np.ndarray


@lru_cache(maxsize=1)
def runs() -> list[addition.Run]:
    return addition.kept()


def orders() -> tuple[str, ...]:
    """Orders of digits that were trained."""
    trained = {run.order for run in runs()}
    return tuple(order for order in ORDERS if order in trained)


def sizes(order: str) -> tuple[int, ...]:
    """Sizes of an order that were trained."""
    return tuple(sorted({run.parameters for run in runs() if run.order == order}))


def seeds(order: str) -> tuple[int, ...]:
    """Seeds with which every size of an order was trained."""
    trained = {(run.seed, run.parameters) for run in runs() if run.order == order}
    return tuple(seed for seed in range(3) if all((seed, size) in trained for size in sizes(order)))


def series(order: str, seed: int) -> Series:
    mine = [run for run in runs() if run.order == order and run.seed == seed]

    def over_looks(name: str) -> np.ndarray:
        """(F, N, ...)."""
        return np.stack([[look[name] for look in run.looks] for run in mine], 1)

    digits = over_looks("digits")
    values = {name: over_looks(name) for name in ("exact", *KEYS.values())}
    return Series([run.parameters for run in mine], values, digits, digits.prod(-1))


def equation(found: Series, look: int, k: int) -> str:
    """p^k, the product and exact match at the size where they differ most, LaTeX."""
    p, exact = found.values["accuracy"][look], found.values["exact"][look]
    n = int(np.argmax(p**DIGITS - exact))
    size = f"{found.sizes[n]:,}".replace(",", "{,}")
    return (
        rf"N={size}:\qquad p^{k}={p[n]:.3f}^{k}={p[n] ** k:.3f},\qquad \textstyle\prod_j p_j="
        rf"{found.product[look][n]:.3f},\qquad \text{{exact match}}\;{exact[n]:.3f}"
    )


def captions(found: Series, metric: str) -> list[str]:
    """Of each look, the largest size that is below one half, and the smallest above."""
    texts = []
    for look, step in enumerate(STEPS):
        exact = found.values["exact"][look]
        right = [size for size, value in zip(found.sizes, exact, strict=True) if value >= 0.5]
        reach = f"half of the sums are right from {min(right):,} parameters on" if right else (
            "no size has half of the sums right"
        )  # fmt: skip
        low, high = found.values[KEYS[metric]][look].min(), found.values[KEYS[metric]][look].max()
        texts.append(f"Step {step:,}: {reach}; {metric} from {low:.2f} to {high:.2f}.")
    return texts


def halfway(exact: np.ndarray, other: np.ndarray) -> bool:
    """Whether half of the sums are right at the first look at which a metric has gone half of its way."""
    way = (other - other[0]) / (other[-1] - other[0])
    return bool(exact[int(np.argmax(way >= 0.5))] >= 0.5)


def digit_captions(found: Series) -> list[str]:
    """Of each look, how many sizes have each digit."""
    texts = []
    for look, step in enumerate(STEPS):
        known = (found.digits[look] >= 0.9).sum(0)
        words = ", ".join(f"digit {j + 1} in {count}" for j, count in enumerate(known))
        texts.append(f"Step {step:,}: right at .9 or more, of {len(found.sizes)} sizes: {words}.")
    return texts


def places(order: str) -> list[str]:
    """Digits in the order in which they are written."""
    return list(PLACES if order == REVERSED else PLACES[::-1])


# --- One sum -----------------------------------------------------------------------------------------


def fits(experiment: Experiment) -> bool:
    return experiment.name.endswith("-addition")


def summands(text: str) -> tuple[int, int]:
    """Two numbers of three digits with a plus between.

    Raises:
        UserError: it is something else.
    """
    match = re.fullmatch(r"\s*(\d+)\s*\+\s*(\d+)\s*=?\s*", text)
    if match is None:
        raise UserError(f"{text!r} is no sum: write two numbers with a plus, such as 345+678.")
    for word in match.groups():
        if not LEAST <= int(word) <= MOST_SUMMAND:
            raise UserError(f"{word} is not from {LEAST} to {MOST_SUMMAND}: the models know three digits.")
    return int(match[1]), int(match[2])


@dataclass(frozen=True)
class Answer:
    """What a model answers.

    Attributes:
        chances: (4, 10), p of each digit behind what it wrote before. written: the likeliest, as written.
        right: the digits of the sum, in the order of the model. sum: a + b.
        log_p: of the right answer, digit by digit behind the right ones, (4,).
        metrics: exact, accuracy, log_likelihood, brier of the right answer.
    """

    chances: np.ndarray
    written: str
    right: str
    sum: int
    log_p: list[float]
    metrics: dict[str, float]

    @property
    def says(self) -> int:
        """The number that was written."""
        return int(self.written if self.right == f"{self.sum:04d}" else self.written[::-1])


@torch.no_grad()
def answer(model: GPT, model_card: Card, sum: tuple[int, int]) -> Answer:
    """Write the likeliest digits one by one, and score the right ones."""
    order = model_card["data"]["order"]
    a, b = sum
    tokens, targets = encode(torch.tensor([a]), torch.tensor([b]), order)
    truth, text = targets[:, -DIGITS:], tokens[:, : -DIGITS + 1]
    rows: list[Tensor] = []
    for _ in range(DIGITS):
        chances = model(text)[0, -1].softmax(-1)
        rows.append(chances[1:11])  # tokens of digits
        text = torch.cat([text, chances[1:11].argmax().reshape(1, 1) + 1], 1)
    log_probs = model(tokens)[:, -DIGITS:].log_softmax(-1)
    return Answer(
        torch.stack(rows).numpy(),
        "".join(str(int(row.argmax())) for row in rows),
        "".join(str(int(token) - 1) for token in truth[0]),
        a + b,
        log_probs[0].gather(-1, truth[0][:, None])[:, 0].tolist(),
        {name: float(value) for name, value in scores(log_probs, truth).items()},
    )


def told(found: Answer) -> list[str]:
    """Captions, digit by digit."""
    texts = []
    for j, (row, wanted) in enumerate(zip(found.chances, found.right, strict=True)):
        best = int(row.argmax())
        verdict = "right" if str(best) == wanted else f"the sum has {wanted}"
        texts.append(f"Digit {j + 1}: {best} with probability {row[best]:.3f}, {verdict}.")
    return texts


def likelihoods(found: Answer) -> list[str]:
    """log p of the right answer, LaTeX."""
    terms = "".join(f"{value:+.3f}" if j else f"{value:.3f}" for j, value in enumerate(found.log_p))
    total = sum(found.log_p)
    return [rf"\log p(y\mid x)=\textstyle\sum_j \log p(y_j\mid x,y_{{<j}})={terms}={total:.3f}"] * DIGITS


def written(name: str, sum: tuple[int, int]) -> str:
    """The digits that a model writes, by its name."""
    model: Any = weights.load(name)
    return answer(model, weights.read_card(ZOO / name), sum).written
