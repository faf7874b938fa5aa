"""Frequencies of a graph, and filters of a signal on it by Chebyshev polynomials.

Shapes: N nodes, F frames.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import typed
from lab.lenses.graphs import MOST
from modules.graph import spectral
from pages.graph.spectral.room import BAND, HEAT, IDENTITY, KIPF, LOW, NORMALISED, TERMS

GRID = torch.linspace(0, 2, 101, dtype=torch.float64)
WIDTH = 0.2  # of a band, standard deviation


def signal(text: str) -> Tensor:
    """Numbers of a signal, in the order of the nodes."""
    return torch.tensor(typed.numbers(text, 100, MOST), dtype=torch.float64)


@dataclass(frozen=True)
class Spectrum:
    """
    Attributes:
        values: (N,), rising. vectors: (N, N), eigenvectors as columns.
        slopes: (E, N), differences of each vector along the edges, each end over √d if normalised.
        changes: (N,), edges along which the sign changes.
        edges: (E, 2).
    """

    values: Tensor
    vectors: Tensor
    slopes: Tensor
    changes: Tensor
    edges: Tensor

    @property
    def scaled(self) -> Tensor:
        """Eigenvectors as rows, the largest entry of each ±1: their length says nothing."""
        return (self.vectors / self.vectors.abs().amax(0)).T


def spectrum(a: Tensor, matrix: str) -> Spectrum:
    """Eigenvectors of a Laplacian, and how they change along edges."""
    normalised = matrix == NORMALISED
    values, vectors = spectral.frequencies(a.double(), normalised)
    edges = a.triu().nonzero()
    u = vectors / a.sum(0).clamp(min=1).double().sqrt()[:, None] if normalised else vectors
    ends = vectors[edges]  # (E, 2, N)
    changes = ((ends[:, 0] * ends[:, 1] < 0) & (ends.abs().amin(1) > 1e-9)).sum(0)
    return Spectrum(values.clamp(min=0), vectors, u[edges[:, 0]] - u[edges[:, 1]], changes, edges)


def gain(kind: str, cut: float, time: float, frequency: Tensor) -> Tensor:
    """g(λ)."""
    if kind == LOW:
        return (frequency < cut).double()
    if kind == HEAT:
        return (-time * frequency).exp()
    if kind == BAND:
        return (-(((frequency - cut) / WIDTH) ** 2) / 2).exp()
    if kind == KIPF:
        return 2 - frequency
    assert kind == IDENTITY
    return torch.ones_like(frequency)


@dataclass(frozen=True)
class Filtered:
    """
    Attributes:
        x: (N,), the signal. exact: (N,), filtered in the eigenbasis.
        values: (N,), frequencies of the normalised Laplacian. kept: (N,), g of each.
        theta: (F,), coefficients. outputs: (F, N), of the first K terms. curves: (F, G), their gain.
        wanted: (G,), g on the grid.
    """

    x: Tensor
    exact: Tensor
    values: Tensor
    kept: Tensor
    theta: Tensor
    outputs: Tensor
    curves: Tensor
    wanted: Tensor


def filtered(a: Tensor, x: Tensor, kind: str, cut: float, time: float) -> Filtered:
    """A signal through a filter, and through 1, 2, … terms of its Chebyshev series.

    Raises:
        UserError: more numbers than nodes.
    """
    if len(x) > len(a):
        raise UserError(f"The signal has {len(x)} numbers, the graph {len(a)} nodes: write at most so many.")
    x = torch.cat([x, x.new_zeros(len(a) - len(x))])
    adjacency = a.double()
    values, vectors = spectral.frequencies(adjacency, normalised=True)
    kept = gain(kind, cut, time, values)
    theta = spectral.coefficients(lambda v: gain(kind, cut, time, v), TERMS[-1])
    outputs = torch.stack([spectral.chebyshev(x[:, None], adjacency, theta[:K], 2.0)[:, 0] for K in TERMS])
    waves = (torch.arange(TERMS[-1])[:, None] * (GRID - 1).clamp(-1, 1).acos()).cos()  # T_k(λ − 1)
    return Filtered(
        x, spectral.filtered(x[:, None], vectors, kept)[:, 0], values, kept, theta, outputs,
        (theta[:, None] * waves).cumsum(0), gain(kind, cut, time, GRID),
    )  # fmt: skip


def number(value: float | Tensor) -> str:
    text = f"{float(value):.2f}"
    return "0.00" if text == "-0.00" else text


def vector_captions(one: Spectrum) -> list[str]:
    many = len(one.edges)
    return [
        f"λ = {number(v)}: along {int(c)} of {many} edges the sign changes."
        for v, c in zip(one.values, one.changes, strict=True)
    ]


def vector_equations(one: Spectrum, matrix: str) -> list[str]:
    """The sum of squared differences along edges, the largest first, is the frequency."""
    term = (
        r"\left(\frac{u_m}{\sqrt{d_m}} - \frac{u_n}{\sqrt{d_n}}\right)^2"
        if matrix == NORMALISED
        else ("(u_m - u_n)^2")
    )
    texts = []
    for k, value in enumerate(one.values):
        largest = one.slopes[:, k].square().sort(descending=True).values[:3]
        terms = " + ".join(f"{float(v):.3f}" for v in largest) or "0"
        more = r" + \cdots" if len(one.edges) > 3 else ""
        texts.append(rf"\lambda_{{{k}}} = \sum_{{(m,n) \in E}} {term} = {terms}{more} = {number(value)}")
    return texts


def filter_captions(one: Filtered) -> list[str]:
    texts = []
    for K, output, curve in zip(TERMS, one.outputs, one.curves, strict=True):
        held = int((output.abs() > 1e-12).sum())
        far = float((curve - one.wanted).abs().max())
        hops = "no hop" if K == 1 else "1 hop" if K == 2 else f"{K - 1} hops"
        texts.append(
            f"{K} term{'s' if K > 1 else ''}, {hops}: {held} of {len(output)} nodes are not 0; the curve is "
            f"up to {number(far)} off g."
        )
    return texts


def filter_equations(one: Filtered) -> list[str]:
    texts = []
    for K in TERMS:
        shown = ",\\ ".join(number(v) for v in one.theta[: min(K, 5)])
        more = r",\ \ldots" if K > 5 else ""
        texts.append(
            rf"y = \sum_{{k=0}}^{{{K - 1}}} \theta_k\, T_k(\tilde{{L}})\, x, \qquad "
            rf"\theta = ({shown}{more})"
        )
    return texts
