"""Chains of real numbers: paths, covariance, the chain rule and one normal distribution."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.distributions import MultivariateNormal

from datamodules import cells
from modules.autoregressive.gaussian_chain import GaussianChain
from modules.trace import Trace

LONGEST = 30  # values of a typed path


def chain(slope: float, scale: float, steps: int, stationary: bool) -> GaussianChain:
    """x_{t+1} = slope · x_t + scale · ε; from its stationary distribution, or from x_0 = 0.

    Raises:
        ValueError: a stationary distribution is asked for where there is none.
    """
    if stationary and abs(slope) >= 1:
        raise ValueError(
            f"With a = {slope:g} the variance grows for ever: no stationary distribution, start from 0."
        )
    model = GaussianChain((steps,))
    model.put(slope, scale, scale**2 / (1 - slope**2) if stationary else scale**2)
    return model


def stationary_covariance(slope: float, scale: float, steps: int) -> Tensor:
    """a^{|t-u|} s² / (1 - a²), (steps, steps): the formula."""
    t = torch.arange(steps, dtype=torch.float64)
    a = torch.tensor(slope, dtype=torch.float64)
    return a ** (t[:, None] - t[None, :]).abs() * scale**2 / (1 - slope**2)


def deviation(model: GaussianChain) -> float:
    """The largest difference between the covariance of a stationary chain and the formula."""
    formula = stationary_covariance(float(model.slopes), float(model.variance.sqrt()), model.n)
    return float((model.moments()[1] - formula).abs().max())


def paths(model: GaussianChain, count: int, seed: int) -> Tensor:
    """Draws (count, steps)."""
    return model.sample(count, generator=torch.Generator().manual_seed(seed))


def draw_trace(model: GaussianChain, seed: int) -> Trace:
    """One draw as steps."""
    return model.sample_trace(generator=torch.Generator().manual_seed(seed))


def means(trace: Trace) -> Tensor:
    """Mean around which each value of a path was drawn, (steps,)."""
    return torch.tensor([step.values["mean"] for step in trace], dtype=torch.float64)


def links(slope: float) -> str:
    """Say how the covariance of a value with later ones goes on."""
    if slope == 0:
        return "With a = 0 no value knows of another: the covariance is a diagonal."
    side = " and changes sign" if slope < 0 else ""
    if abs(slope) == 1:
        return (
            f"Only neighbours are linked, yet all values are correlated, and at a = {slope:g} no link fades."
        )
    how = "shrinks" if abs(slope) < 1 else "grows"
    return (
        "Only neighbours are linked, yet all values are correlated: with each step further off the "
        f"covariance {how} by the factor {abs(slope):g}{side}."
    )


MOVES = {  # of the variance, and why it does not move so
    "shrinks": "Each step adds noise: it shrinks only from above the v of a²v + s² = v.",
    "stays": "It stays only where the first value has the variance that a step keeps.",
    "grows": "Noise is added, but what was there is multiplied by a²: with |a| < 1 the two balance.",
}


def growth(slope: float, stationary: bool) -> str:
    """Say how the variance goes on."""
    if stationary:
        return "Every value has the same variance, by the choice of the first."
    if abs(slope) < 1:
        return "From x₀ = 0 the variance grows towards s² / (1 − a²)."
    if abs(slope) == 1:
        return "The variance grows by s² a step: the walk spreads like the root of time."
    return "The variance grows without end, and ever faster."


def variance_equation(slope: float, scale: float, model: GaussianChain, stationary: bool) -> tuple[str, str]:
    """LaTeX, and where its numbers come from: of the covariance, or of the last variance from x_0 = 0 on."""
    variances, steps = model.moments()[1].diagonal().tolist(), model.n
    if stationary:
        return (
            rf"\mathrm{{Cov}}(x_t, x_u) = a^{{|t-u|}}\, s^2 / (1-a^2) = ({slope:g})^{{|t-u|}} \cdot "
            rf"{scale**2 / (1 - slope**2):.4f}",
            "The picture is L⁻¹ D L⁻ᵀ, from the model; the formula differs from it by at most "
            f"{deviation(model):.1e}.",
        )
    terms = " + ".join(f"{slope ** (2 * k) * scale**2:.3g}" for k in range(min(3, steps)))
    terms += r" + \dots" if steps > 3 else ""
    return (
        rf"\mathrm{{Var}}(x_{{{steps}}}) = s^2 \textstyle\sum_{{k<{steps}}} a^{{2k}} = {terms}"
        rf" = {variances[-1]:.4f}",
        f"From x₀ = 0 on: Var(x₁) = {variances[0]:.4f}; each step multiplies by a² = {slope * slope:.4f} and "
        "adds s².",
    )


# --- Own path -------------------------------------------------------------------------------------


def commas(text: str) -> str:
    """Say what was decided about the commas of a path, "" where nothing was to be."""
    return cells.words(text)[1]


def typed_path(text: str) -> Tensor:
    """ "0.3, -0.2 0.5" -> (n,), float64.

    Raises:
        ValueError: something is no number, or the path is too short or too long.
    """
    words = cells.words(text)[0]
    values = []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = float("nan")
        if not abs(value) <= 1e3:
            raise ValueError(f"{word!r} is no number from −1000 to 1000: give numbers with commas between.")
        values.append(value)
    if not 2 <= len(values) <= LONGEST:
        raise ValueError(f"A path has 2 to {LONGEST} numbers; there are {len(values)}.")
    return torch.tensor(values, dtype=torch.float64)


@dataclass(frozen=True)
class LogDensity:
    """One path (n,) under a chain.

    Attributes:
        means, spreads: (n,) of the normal distribution of each value, given the value before it.
        terms: (n,) log p(x_t | x_{t-1}), nats.
        joint: log-density of the one multivariate normal of all values, nats.
    """

    means: Tensor
    spreads: Tensor
    terms: Tensor
    joint: float

    @property
    def total(self) -> float:
        """The chain rule's sum, nats."""
        return float(self.terms.sum())


def log_density(model: GaussianChain, x: Tensor) -> LogDensity:
    """Both ways of computing log p(x), x (n,)."""
    L, shift, variance = model.system()
    means = x - L @ x + shift
    joint = MultivariateNormal(*model.moments()).log_prob(x)
    return LogDensity(means, variance.sqrt(), model.log_conditionals(x[None])[0], float(joint))


def terms(result: LogDensity, x: Tensor) -> dict[str, list[str]]:
    """Captions and equations (LaTeX) of the values of the path (n,)."""
    captions, equations = [], []
    rows = zip(x.tolist(), result.means.tolist(), result.spreads.tolist(), result.terms.tolist(), strict=True)
    for t, (value, mean, spread, term) in enumerate(rows, start=1):
        off = abs(value - mean) / spread
        captions.append(
            f"Value {t}: {value:g}, expected around {mean:.4g}: {off:.2f} standard deviations off."
        )
        equations.append(rf"\log N({value:g};\, {mean:.4g},\, {spread:.4g}^2) = {term:.4f}\;\text{{nats}}")
    return {"captions": captions, "equations": equations}


def term_table(result: LogDensity, x: Tensor) -> dict[str, list[Any]]:
    """The terms of the chain rule, a row a value."""
    return {
        "step": list(range(1, len(x) + 1)),
        "x": [f"{v:g}" for v in x.tolist()],
        "mean": [f"{v:.4f}" for v in result.means.tolist()],
        "standard deviation": [f"{v:.4f}" for v in result.spreads.tolist()],
        "log N(x; mean, sd²)": [f"{v:.7f}" for v in result.terms.tolist()],
    }
