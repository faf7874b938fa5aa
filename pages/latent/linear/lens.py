"""Factor analysis and probabilistic PCA of one table: as a column turns noisy, changes its unit, or is turned
into another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from lab.lenses import stock
from modules.latent.factor_analysis import FactorAnalysis
from modules.latent.ppca import PPCA

Change = Literal["noise", "unit", "rotation"]

# What the film turns: noise in standard deviations of the column, its unit's factor, an angle in degrees.
VALUES: dict[Change, list[float]] = {
    "noise": [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0],
    "unit": [0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0],
    "rotation": [0.0, 15.0, 30.0, 45.0, 60.0, 75.0, 90.0],
}
STEPS, TOLERANCE = 200, 1e-6  # of EM; nats per example


# --- Data -----------------------------------------------------------------------------------------


def gauges(count: int = 200) -> Tensor:
    """Three gauges of one cause, (N, 3): x_d = w_d z + noise."""
    generator = torch.Generator().manual_seed(0)
    z, noise = torch.randn(count, 1, generator=generator), torch.randn(count, 3, generator=generator)
    return (z * torch.tensor([1.0, 0.9, 0.8]) + 0.35 * noise).double()


def spectrum(values: Sequence[float] = (4.0, 1.0, 0.25), count: int = 200) -> Tensor:
    """Points (N, D) whose covariance is exactly diagonal with these eigenvalues, and whose mean is 0."""
    x = torch.randn(count, len(values), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x = x - x.mean(0)
    root = torch.linalg.cholesky(x.T @ x / count)
    return torch.linalg.solve_triangular(root, x.T, upper=False).T * torch.tensor(values).double().sqrt()


def irises() -> Tensor:
    """Four measurements of 150 irises, cm, (150, 4)."""
    return stock.irises()[0]


DATA: dict[str, tuple[list[str], Callable[[], Tensor]]] = {
    "Three gauges": (["x1", "x2", "x3"], gauges),
    "Spectrum 4, 1, ¼": (["x1", "x2", "x3"], spectrum),
    "Irises": (["sepal l.", "sepal w.", "petal l.", "petal w."], irises),
}


# --- A column changes -----------------------------------------------------------------------------


def changed(x: Tensor, change: Change, column: int, value: float) -> Tensor:
    """The table (N, D) with noise of `value` standard deviations on a column, with its unit `value` times
    finer, or with this column and the one before it turned by `value` degrees."""
    x = x - x.mean(0)
    if change == "noise":
        e = torch.randn(len(x), generator=torch.Generator().manual_seed(1)).to(x)
        extra = torch.zeros_like(x)
        extra[:, column] = value * x[:, column].std(correction=0) * e
        return x + extra
    return x @ linear_map(change, x.shape[1], column, value).T


def linear_map(change: Change, size: int, column: int, value: float) -> Tensor:
    """The matrix (D, D) of a change of unit or a rotation; of noise, the identity."""
    matrix = torch.eye(size, dtype=torch.float64)
    if change == "unit":
        matrix[column, column] = value
    elif change == "rotation":
        angle = torch.deg2rad(torch.tensor(value, dtype=torch.float64))
        j = column - 1 if column else 1
        matrix[column, column] = matrix[j, j] = angle.cos()
        matrix[column, j], matrix[j, column] = angle.sin(), -angle.sin()
    return matrix


@dataclass(frozen=True)
class Fits:
    """Both models of one table.

    Attributes:
        x: (N, D).
        covariances: by model, (D, D) of p(x).
        directions: by model, (D, K) orthonormal: the plane of the factors, its leading direction first.
        shares: by model, (D,) how much of each column's variance the factors take.
        log_probs: by model, mean log p(x), nats.
        noise: by model, ψ (D,): of PPCA σ² in every column.
    """

    x: Tensor
    covariances: dict[str, Tensor]
    directions: dict[str, Tensor]
    shares: dict[str, Tensor]
    log_probs: dict[str, float]
    noise: dict[str, Tensor]


def factor_analysis(x: Tensor, factors: int) -> FactorAnalysis:
    """Fitted by EM, always from the same start."""
    model = FactorAnalysis((x.shape[1],), factors, floor=1e-4)
    model.fit(x, STEPS, TOLERANCE, torch.Generator().manual_seed(0))
    return model


def ppca(x: Tensor, factors: int) -> PPCA:
    """Fitted in closed form."""
    model = PPCA((x.shape[1],), factors, closed_form=True)
    model.fit(x, 1, generator=torch.Generator().manual_seed(0))
    return model


def fits(x: Tensor, factors: int) -> Fits:
    """Factor analysis and PPCA of a table (N, D)."""
    models = {"FA": factor_analysis(x, factors), "PPCA": ppca(x, factors)}
    planes = {name: torch.linalg.svd(m.loadings, full_matrices=False).U for name, m in models.items()}
    shares = {n: m.loadings.square().sum(1) / m.covariance().diagonal() for n, m in models.items()}
    return Fits(
        x,
        {name: m.covariance() for name, m in models.items()},
        planes,
        shares,
        {name: float(m.log_prob(x).mean()) for name, m in models.items()},
        {name: m.noise.clone() for name, m in models.items()},
    )


@torch.inference_mode()
def sweep(x: Tensor, change: Change, column: int, factors: int) -> list[Fits]:
    """Both models at every value of the film."""
    return [fits(changed(x, change, column, value), factors) for value in VALUES[change]]


def neutral(change: Change) -> int:
    """The frame at which nothing has changed."""
    return VALUES[change].index(1.0 if change == "unit" else 0.0)


def turns(films: Sequence[Fits], change: Change, column: int) -> dict[str, list[float]]:
    """By model: how far each frame's plane, brought back to the first units and axes, is turned from that of
    the frame where nothing has changed (largest principal angle, degrees)."""
    start = films[neutral(change)]
    results: dict[str, list[float]] = {}
    for name, plane in start.directions.items():
        results[name] = []
        for value, one in zip(VALUES[change], films, strict=True):
            back = linear_map(change, len(plane), column, value)
            own = torch.linalg.qr(torch.linalg.solve(back, one.directions[name])).Q
            cosine = torch.linalg.svdvals(plane.T @ own).min().clamp(max=1)
            results[name].append(float(torch.rad2deg(cosine.acos())))
    return results


def ellipse(covariance: Tensor, pair: Sequence[int], points: int = 73) -> Tensor:
    """Two standard deviations of a Gaussian (D, D), in the plane of two columns: (points, 2)."""
    two = covariance[list(pair)][:, list(pair)]
    values, vectors = torch.linalg.eigh(two)
    angle = torch.linspace(0, 2 * torch.pi, points, dtype=torch.float64)
    circle = torch.stack([angle.cos(), angle.sin()], 1)
    return 2 * circle * values.clamp(min=0).sqrt() @ vectors.T
