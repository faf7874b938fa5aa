"""Scaling laws: the loss as a function of parameters N, tokens D and compute C, and what a budget buys.

    Kaplan:      L(N) = (N_c/N)^α_N,   L(D) = (D_c/D)^α_D,   L(C) = (C_c/C)^α_C
    joint:       L(N, D) = [(N_c/N)^(α_N/α_D) + D_c/D]^α_D
    Chinchilla:  L(N, D) = E + A/N^α + B/D^β
    compute:     C = 6ND           (forward 2N and backward 4N FLOPs a token; no attention, no head)
    optimum:     N* = G (C/6)^(β/(α+β)),  D* = (C/6)^(α/(α+β))/G,  G = (αA/βB)^(1/(α+β))

What [LLM] part 5 prints otherwise: to halve the loss takes 9,139 times N, not "about 8,000"; α_C = 0.050 is
the exponent of C_min, the compute that is spent well; the joint law becomes L(D) where (N_c/N)^(α_N/α_D) is
far below D_c/D, not "when N ≫ N_c"; it gives N ∝ C^0.556 and not C^0.73; and N, D ∝ C^0.50 needs α = β, while
the constants that are printed give 0.452 and 0.548. E is the constant of one fit to one tokeniser.

Shapes: losses and budgets are NumPy arrays that broadcast; a fit is of n runs, (n,) each.

References:
    Kaplan et al. 2020, arXiv:2001.08361; Hoffmann et al. 2022, arXiv:2203.15556 (approach 3).
    Besiroglu et al. 2024, arXiv:2404.10102 (the refit); Sardana et al. 2024, arXiv:2401.00448 (serving).
    [LLM] 1.32-1.35.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, least_squares, minimize_scalar
from scipy.special import logsumexp
from scipy.stats import t as student

Array = NDArray[np.float64]
DELTA = 1e-3  # of the Huber loss, in log L, as Hoffmann et al. have it
PF_DAY = 1e15 * 86_400  # FLOPs


def flops(N: ArrayLike, D: ArrayLike) -> Any:
    """Compute of a training, 6ND."""
    return 6 * np.multiply(N, D)


def days(C: float, devices: int = 1024, speed: float = 312e12, utilisation: float = 1.0) -> float:
    """Days that C FLOPs take on so many devices of so many FLOPs per second, A100s unless said otherwise."""
    return C / (devices * speed * utilisation) / 86_400


@dataclass(frozen=True)
class PowerLaw:
    """L(x) = (x_c/x)^α."""

    scale: float
    exponent: float

    def loss(self, x: ArrayLike) -> Any:
        return (self.scale / np.asarray(x, float)) ** self.exponent

    @property
    def to_halve(self) -> float:
        """Factor of x that halves the loss, 2^(1/α)."""
        return float(2 ** (1 / self.exponent))


# N_c parameters, D_c tokens, C_c PF-days of C_min
KAPLAN = {"N": PowerLaw(8.8e13, 0.076), "D": PowerLaw(5.4e13, 0.095), "C": PowerLaw(3.1e8, 0.050)}


@dataclass(frozen=True)
class JointLaw:
    """L(N, D) = [(N_c/N)^(α_N/α_D) + D_c/D]^α_D."""

    of_size: PowerLaw = KAPLAN["N"]
    of_data: PowerLaw = KAPLAN["D"]

    def terms(self, N: ArrayLike, D: ArrayLike) -> tuple[Any, Any]:
        """What the size and what the data add within the brackets; the larger one is the bottleneck."""
        size = (self.of_size.scale / np.asarray(N, float)) ** (self.of_size.exponent / self.of_data.exponent)
        return size, self.of_data.scale / np.asarray(D, float)

    def loss(self, N: ArrayLike, D: ArrayLike) -> Any:
        size, data = self.terms(N, D)
        return (size + data) ** self.of_data.exponent

    @property
    def exponent(self) -> float:
        """a of N* ∝ C^a under C = 6ND, 1/(1 + α_N/α_D)."""
        return 1 / (1 + self.of_size.exponent / self.of_data.exponent)

    def tokens(self, N: float, loss: float) -> float:
        """Tokens that a model of N parameters needs for a loss.

        Raises:
            ValueError: it does not reach it with any number of tokens.
        """
        rest = loss ** (1 / self.of_data.exponent) - float(self.terms(N, 1.0)[0])
        if rest <= 0:
            raise ValueError(
                f"{N:.3g} parameters do not reach a loss of {loss:.4g} with any number of tokens: "
                f"give a loss above {float(self.of_size.loss(N)):.4g}."
            )
        return self.of_data.scale / rest


@dataclass(frozen=True)
class Chinchilla:
    """L(N, D) = E + A/N^α + B/D^β: what no model avoids, what the size costs, what the data cost."""

    E: float
    A: float
    B: float
    alpha: float
    beta: float

    def loss(self, N: ArrayLike, D: ArrayLike) -> Any:
        return (
            self.E + self.A / np.asarray(N, float) ** self.alpha + self.B / np.asarray(D, float) ** self.beta
        )

    @property
    def exponents(self) -> tuple[float, float]:
        """a and b of N* ∝ C^a and D* ∝ C^b."""
        a = self.beta / (self.alpha + self.beta)
        return a, 1 - a

    def optimum(self, C: float) -> tuple[float, float]:
        """N and D of the least loss under 6ND = C, by Lagrange: αA/N^α = βB/D^β."""
        G = (self.alpha * self.A / (self.beta * self.B)) ** (1 / (self.alpha + self.beta))
        a, b = self.exponents
        return G * (C / 6) ** a, (C / 6) ** b / G

    def spend(self, N: float, loss: float) -> float:
        """Tokens that a model of N parameters needs for a loss; infinite where none suffice."""
        rest = loss - self.E - self.A / N**self.alpha
        return (self.B / rest) ** (1 / self.beta) if rest > 0 else math.inf

    def served(self, C: float, tokens: float) -> tuple[float, float]:
        """N and D that reach the loss of the optimum of C and cost least when `tokens` are served, too.

        Serving costs 2N FLOPs a token: 6ND + 2N·tokens is least for a smaller model, trained for longer.
        """
        N, D = self.optimum(C)
        loss = float(self.loss(N, D))
        least = (self.A / (loss - self.E)) ** (1 / self.alpha)  # with data without end

        def cost(log_n: float) -> float:
            n = math.exp(log_n)
            return math.log(n) + math.log(6 * self.spend(n, loss) + 2 * tokens)

        found = minimize_scalar(
            cost,
            bounds=(math.log(least) + 1e-6, math.log(N) + 1e-6),
            method="bounded",
            options={"xatol": 1e-10},
        )
        N = math.exp(found.x)
        return N, self.spend(N, loss)


PRESETS = {
    "as printed": Chinchilla(1.69, 406.4, 410.7, 0.34, 0.28),
    "not rounded": Chinchilla(1.6934, 406.4, 410.7, 0.3392, 0.2849),
    "refit 2024": Chinchilla(1.8172, 482.01, 2085.43, 0.3478, 0.3658),
}
# parameters and tokens of training
MODELS = {
    "GPT-3": (175e9, 300e9),
    "Gopher": (280e9, 300e9),
    "Chinchilla": (70e9, 1.4e12),
    "LLaMA-65B": (65e9, 1.4e12),
}


def numeric_optimum(law: Chinchilla | JointLaw, C: float) -> tuple[float, float]:
    """N and D of the least loss under 6ND = C, by search: for laws without a closed form."""

    def loss(log_n: float) -> float:
        N = math.exp(log_n)
        return float(law.loss(N, C / (6 * N)))

    middle = math.log(C / 6) / 2
    grid = np.linspace(middle - 15, middle + 15, 301)
    best = int(np.argmin([loss(x) for x in grid]))
    low, high = grid[max(0, best - 1)], grid[min(300, best + 1)]

    def slope(log_n: float) -> float:
        return loss(log_n + 1e-4) - loss(log_n - 1e-4)

    # the minimum is flat: where the slope changes its sign is known better than where the loss is least
    N = math.exp(brentq(slope, low, high, xtol=1e-9))
    return N, C / (6 * N)


# --- Fits --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """log y = c − α log x by least squares, and how well the next y is known.

    Attributes:
        law: the power law y = (x_c/x)^α.
        r2: share of the variance of log y that it explains.
        error: standard deviation of log y about it, with n − 2 degrees of freedom.
        mean, spread: of log x: mean, and sum of squares about it. n: points.
    """

    law: PowerLaw
    r2: float
    error: float
    mean: float
    spread: float
    n: int

    def predict(self, x: ArrayLike, level: float = 0.9) -> tuple[Any, Any, Any]:
        """y at x, and the interval in which a new y falls with probability `level`, if errors are normal."""
        y, away = np.log(self.law.loss(x)), np.log(x) - self.mean
        reach = self.error * np.sqrt(1 + 1 / self.n + away**2 / self.spread)
        reach = reach * student.ppf((1 + level) / 2, self.n - 2)
        return np.exp(y), np.exp(y - reach), np.exp(y + reach)


def fit_line(x: ArrayLike, y: ArrayLike) -> Line:
    """Straight line through log y against log x.

    Raises:
        ValueError: fewer than 3 points, all at one x, or a number that has no logarithm.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    if len(x) < 3 or len(set(x.tolist())) < 2:
        raise ValueError(f"A line with an error needs 3 points at 2 places or more, not {len(x)} at "
                         f"{len(set(x.tolist()))}.")  # fmt: skip
    if not (np.all(x > 0) and np.all(y > 0)):
        raise ValueError("A power law is of positive numbers: subtract a smaller E, or drop the point.")
    u, v = np.log(x), np.log(y)
    du, dv = u - u.mean(), v - v.mean()
    slope = float((du @ dv) / (du @ du))
    rest = dv - slope * du
    error = math.sqrt(float(rest @ rest) / (len(x) - 2))
    if slope >= 0:
        raise ValueError("The loss does not fall with x: there is no scale at which it is 1.")
    scale = math.exp(u.mean() - float(v.mean()) / slope)
    r2 = 1 - float(rest @ rest) / float(dv @ dv)
    return Line(PowerLaw(scale, -slope), r2, error, float(u.mean()), float(du @ du), len(x))


STARTS = [(e, a, a, alpha, alpha) for e in (-1.0, 0.5) for a in (0.0, 6.0, 12.0) for alpha in (0.2, 0.5)]


def fit_chinchilla(
    N: ArrayLike, D: ArrayLike, L: ArrayLike, floor: float | None = None, starts: Sequence[Any] = STARTS
) -> Chinchilla:
    """Law of the least Huber loss of log L, over several starts.

    Args:
        N, D, L: parameters, tokens, loss of each run, (n,).
        floor: E, where it is known; None fits it.
        starts: of log E, log A, log B, α, β.

    Raises:
        ValueError: fewer runs than constants.
    """
    u, v, y = np.log(np.asarray(N, float)), np.log(np.asarray(D, float)), np.log(np.asarray(L, float))
    free = 5 if floor is None else 4
    if len(y) < free:
        raise ValueError(f"{free} constants need as many runs at least, not {len(y)}.")

    def constants(p: Array) -> Array:
        return p if floor is None else np.append(math.log(floor), p)

    def terms(p: Array) -> Array:
        e, a, b, alpha, beta = constants(p)
        return np.stack([np.full_like(y, e), a - alpha * u, b - beta * v])

    def residual(p: Array) -> Array:
        return np.asarray(logsumexp(terms(p), axis=0) - y)

    def jacobian(p: Array) -> Array:
        t = terms(p)
        e, a, b = np.exp(t - logsumexp(t, axis=0))  # the share of each term in the loss
        return np.stack([e, a, b, -a * u, -b * v], 1)[:, 5 - free :]

    results = [
        least_squares(residual, np.array(start[5 - free :]), jacobian, loss="huber", f_scale=DELTA,
                      x_scale="jac", xtol=1e-10, ftol=1e-12, gtol=1e-12, max_nfev=500)
        for start in starts
    ]  # fmt: skip
    e, a, b, alpha, beta = constants(min(results, key=lambda result: float(result.cost)).x)
    return Chinchilla(math.exp(e), math.exp(a), math.exp(b), float(alpha), float(beta))


def bootstrap(
    N: ArrayLike, D: ArrayLike, L: ArrayLike, resamples: int = 100, floor: float | None = None, seed: int = 0
) -> list[Chinchilla]:
    """Laws of runs drawn with replacement, each begun at the law of all runs."""
    N, D, L = (np.asarray(each, float) for each in (N, D, L))
    whole = fit_chinchilla(N, D, L, floor)
    start = (math.log(whole.E), math.log(whole.A), math.log(whole.B), whole.alpha, whole.beta)
    rng = np.random.default_rng(seed)
    laws: list[Chinchilla] = []
    while len(laws) < resamples:
        rows = rng.integers(len(N), size=len(N))
        if min(len(set(N[rows].tolist())), len(set(D[rows].tolist()))) > 1:  # else α or β is anything
            laws.append(fit_chinchilla(N[rows], D[rows], L[rows], floor, [start]))
    return laws


def parabola(N: ArrayLike, L: ArrayLike) -> float:
    """N of the least loss on an isoFLOP curve, by a parabola in log N (Hoffmann's approach 2).

    It is biased where α ≠ β, as the curve is then steeper on one side.

    Raises:
        ValueError: the curve has no minimum within its points.
    """
    u, y = np.log(np.asarray(N, float)), np.asarray(L, float)
    c, b, _ = np.polyfit(u - u.mean(), y, 2)
    least = u.mean() - b / (2 * c) if c > 0 else math.inf
    if not u.min() < least < u.max():
        raise ValueError("The curve has no minimum between its sizes: train smaller or larger ones.")
    return float(math.exp(least))
