"""Perplexity of a text under a model or under typed probabilities, and the distances of two distributions."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules import cells
from lab.errors import UserError
from lab.lenses import counts
from modules.language import information as info

MOST = 8  # outcomes of a distribution


@dataclass(frozen=True)
class Scored:
    """A text, token by token.

    Attributes:
        tokens: as shown. p: (T,) the probability of each. characters: of the text.
    """

    tokens: list[str]
    p: Tensor
    characters: int

    @property
    def nats(self) -> Tensor:
        """Surprisal of each token, (T,)."""
        return info.surprisal(self.p)

    @property
    def mean(self) -> float:
        """Ĥ in nats."""
        return self.nats.mean().item()

    @property
    def perplexity(self) -> float:
        return info.perplexity(self.nats).item()

    @property
    def bits_per_character(self) -> float:
        return info.bits_per(self.nats, self.characters).item()


def probabilities(text: str) -> Tensor:
    """Typed numbers in [0, 1], apart by spaces or commas.

    Raises:
        UserError: something else was typed, or nothing.
    """
    parts = cells.words(text)[0]
    try:
        values = [fraction(part) for part in parts]
    except (ValueError, ZeroDivisionError):
        raise UserError("Type probabilities like 0.7 0.5 1/3, apart by spaces.") from None
    if not values:
        raise UserError("There is no probability: type at least one, like 0.5.")
    if any(not 0 <= v <= 1 for v in values):
        raise UserError("A probability lies between 0 and 1: change the one that does not.")
    return torch.tensor(values, dtype=torch.float64)


def fraction(part: str) -> float:
    """`0.25` or `1/4`."""
    above, slash, below = part.partition("/")
    return float(above) / float(below) if slash else float(above)


def typed(text: str, numbers: str) -> Scored:
    """Tokens apart by spaces, with one typed probability each; missing tokens get numbers as names.

    The text is the tokens with a space between two; without, where a token ␣ says that they spell it.
    """
    p, names = probabilities(numbers), text.split()
    tokens = [names[i] if i < len(names) else str(i + 1) for i in range(len(p))]
    return Scored(tokens, p, max(1, len(("" if "␣" in tokens else " ").join(tokens))))


def scored(counted: counts.Counted, text: str) -> Scored:
    """The text under an n-gram model.

    Raises:
        UserError: nothing to score, or a character outside the vocabulary.
    """
    if not text.strip():
        raise UserError("There is no text to score: type at least one character.")
    nats = counts.surprisals(counted, text)
    end = counted.model.eos
    ids = (
        counted.encode(text)
        if end is None
        else torch.cat([torch.cat([counted.encode(line), torch.tensor([end])])
                        for line in text.splitlines() if line.strip()])
    )  # fmt: skip
    return Scored(counted.names(ids), (-nats).exp(), len(text))


def dearest(one: Scored, most: int = 5) -> tuple[str, str, dict[str, str]]:
    """Token that costs most, why, and why not each of the `most` dearest, or "several alike"."""
    p, alike = one.p.tolist(), "several alike"
    shown = sorted(sorted(range(len(p)), key=lambda i: p[i])[:most])
    least = min(p)
    names = {i: f"{i + 1}: {one.tokens[i]}" for i in shown}
    top = [i for i in shown if p[i] <= least * (1 + 1e-9)]
    reasons = {
        name: f"“{name}” has probability {p[i]:.4g}: a token costs by that, not by what it is."
        for i, name in names.items()
    }
    reasons[alike] = "One of them is less probable than all others."
    return names[top[0]] if len(top) == 1 else alike, f"The least probability is {least:.4g}.", reasons


def distribution(weights: list[float]) -> Tensor:
    """Slider positions as a distribution (K,).

    Raises:
        UserError: all are 0.
    """
    w = torch.tensor(weights, dtype=torch.float64)
    if not w.sum() > 0:
        raise UserError("All weights are 0: raise at least one of P and one of Q.")
    return w / w.sum()


def measures(p: Tensor, q: Tensor) -> dict[str, float]:
    """All measures of two distributions (K,), in nats; TV is a probability."""
    return {
        "H(P)": info.entropy(p).item(),
        "H(Q)": info.entropy(q).item(),
        "H(P, Q)": info.cross_entropy(p, q).item(),
        "KL(P‖Q)": info.kl(p, q).item(),
        "KL(Q‖P)": info.kl(q, p).item(),
        "TV(P, Q)": info.total_variation(p, q).item(),
    }


def binary(p: float, points: int = 201) -> dict[str, list[float]]:
    """The distances of a coin P = (p, 1 - p) from every coin Q = (q, 1 - q); ∞ at the edges is left out."""
    q = torch.linspace(0, 1, points, dtype=torch.float64)
    Q = torch.stack([q, 1 - q], 1)
    P = torch.tensor([p, 1 - p], dtype=torch.float64)
    curves = {"KL(P‖Q)": info.kl(P, Q), "KL(Q‖P)": info.kl(Q, P), "TV": info.total_variation(P, Q)}
    return {"q": q.tolist()} | {
        name: [v if v < math.inf else math.nan for v in values.tolist()] for name, values in curves.items()
    }


# Corners of the triangle: certainly outcome 1, 2, 3.
CORNERS = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]], dtype=torch.float64)


@dataclass(frozen=True)
class Simplex:
    """All distributions of three outcomes whose probabilities are multiples of 1/steps.

    Attributes:
        q: (N, 3). place: (N, 2) in the triangle of CORNERS. kl: (N,) nats, ∞ where it is.
    """

    q: Tensor
    place: Tensor
    kl: Tensor


def simplex(p: Tensor, steps: int = 20, reverse: bool = False) -> Simplex:
    """KL(P‖Q) for a grid of Q, or KL(Q‖P) if `reverse`; p (3,)."""
    i, j = (index.flatten() for index in torch.meshgrid(torch.arange(steps + 1), torch.arange(steps + 1),
                                                        indexing="ij"))  # fmt: skip
    inside = i + j <= steps
    i, j = i[inside], j[inside]
    q = torch.stack([i, j, steps - i - j], 1).double() / steps
    return Simplex(q, q @ CORNERS, info.kl(q, p) if reverse else info.kl(p, q))


def weights_at(point: Mapping[str, Any] | None, start: list[float]) -> list[float]:
    """The three probabilities at a place of the triangle, {"x": …, "y": …}; `start` where there is none."""
    if point is None or not all(isinstance(point[axis], int | float) for axis in "xy"):
        return start
    third = min(1.0, max(0.0, point["y"] / float(CORNERS[2, 1])))
    second = min(1.0 - third, max(0.0, point["x"] - third / 2))
    return [max(0.0, round(1 - second - third, 4)), round(second, 4), round(third, 4)]


def spell(value: float, digits: int = 4) -> str:
    """A number; ∞ where it is infinite."""
    return "∞" if value == math.inf else f"{value:.{digits}f}"


def latex(value: float, digits: int = 4) -> str:
    r"""The same in LaTeX."""
    return r"\infty" if value == math.inf else f"{value:.{digits}f}"
