"""Linear flows: a plane under Ω = P L D S, and a system solved by its triangles.

    x = β + Ω h,    |det Ω| = area of the image of a unit square = Π |D_dd|,  if L has ones on its diagonal

Shapes: matrices (D, D), vectors (D,).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import typed
from modules.flow.linear import LU

MOST = 4  # numbers of the typed factors
REACH = 20.0


def column(values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


# --- The plane ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plane:
    """The plane under the factors of Ω, one after the other.

    Attributes:
        names, factors: F maps, h first; x = β + P L D S h.
        square: (F + 2, 5, 2) corners. circle: (F + 2, N, 2). cloud: (F + 2, M, 2). areas: (F + 2,).
        matrix: Ω. bias: β.
    """

    names: list[str]
    factors: list[Tensor]
    square: Tensor
    circle: Tensor
    cloud: Tensor
    areas: Tensor
    matrix: Tensor
    bias: Tensor

    @property
    def det(self) -> float:
        return float(self.matrix.det())


def matrix(text: str) -> Tensor:
    """A typed invertible 2 × 2 matrix.

    Raises:
        UserError: it is none.
    """
    rows = typed.square(text, REACH, 2)
    if len(rows) != 2:
        raise UserError("The plane needs a matrix of two rows, such as 2 0; 1 3.")
    result = torch.tensor(rows, dtype=torch.float64)
    if abs(float(torch.linalg.det(result))) < 1e-6:
        raise UserError("The determinant is 0: the plane falls onto a line, and nothing leads back.")
    return result


def plane(omega: Tensor, bias: Tensor) -> Plane:
    permutation, lower, upper = torch.linalg.lu(omega)
    scale = upper.diagonal()
    names = ["S = I + D⁻¹U, a shear", "D, a scaling", "L, a shear", "P, a permutation"]
    factors = [upper / scale[:, None], scale.diag(), lower, permutation]
    corners = torch.tensor([[0.0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], dtype=torch.float64)
    angle = torch.linspace(0, 2 * math.pi, 81, dtype=torch.float64)
    circle = 2 * torch.stack([angle.cos(), angle.sin()], 1)
    cloud = torch.randn(200, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    shown = [[shape] for shape in (corners, circle, cloud)]
    for factor in factors:
        for frames in shown:
            frames.append(frames[-1] @ factor.T)
    for frames in shown:
        frames.append(frames[-1] + bias)
    square, round_, points = (torch.stack(frames) for frames in shown)
    return Plane(names, factors, square, round_, points, area(square), omega, bias)


def area(corners: Tensor) -> Tensor:
    """Areas (...) of closed polygons (..., N + 1, 2), by Gauss's formula."""
    x, y = corners.unbind(-1)
    return 0.5 * (x[..., :-1] * y[..., 1:] - x[..., 1:] * y[..., :-1]).sum(-1).abs()


def plane_captions(result: Plane) -> list[str]:
    texts = ["A unit square, the circle that holds 86 % of N(0, I), and samples of it."]
    for name, before, after in zip(result.names, result.areas, result.areas[1:], strict=False):
        same = "keeps areas" if math.isclose(before, after) else f"multiplies areas by {after / before:.3f}"
        texts.append(f"{name}, {same}: the square's area is {after:.3f}.")
    return [*texts, "β moves everything: the image is N(β, ΩΩᵀ), an ellipse again."]


def plane_equations(result: Plane) -> list[str]:
    (a, b), (c, d) = result.matrix.tolist()
    det = rf"\det\Omega = {a:g} \cdot ({d:g}) - ({b:g}) \cdot ({c:g}) = {a * d - b * c:.3f}"
    return [rf"{det}, \quad \text{{area}} = {float(value):.3f}" for value in result.areas]


# --- The triangles --------------------------------------------------------------------------------


class Scaled(LU):
    """An LU layer whose L may have any diagonal: its `log_det`, which counts D alone, is then wrong."""

    diagonal: Tensor

    def factors(self) -> tuple[Tensor, Tensor]:
        lower, upper = super().factors()
        return lower - torch.eye(len(lower)).to(lower) + self.diagonal.diag(), upper


def layer(
    scale: list[float], below: list[float], above: list[float], order: list[int], diagonal: list[float]
) -> Scaled:
    """Ω = P L (U + D) of typed numbers.

    Raises:
        UserError: there are too few or too many of them, or a 0 on a diagonal.
    """
    n = len(scale)
    if not 2 <= n <= MOST:
        raise UserError(f"D needs 2 to {MOST} numbers: they say how large the matrices are.")
    half = n * (n - 1) // 2
    for name, values, due in (("L", below, half), ("U", above, half), ("The diagonal of L", diagonal, n)):
        if len(values) != due:
            raise UserError(f"{name} needs {due} numbers for {n} rows; there are {len(values)}.")
    if 0 in scale or 0 in diagonal:
        raise UserError("A 0 on a diagonal leaves no inverse: type another number.")
    if sorted(order) != list(range(1, n + 1)):
        example = " ".join(map(str, range(n, 0, -1)))
        raise UserError(f"The order names each of 1 to {n} once, such as {example}.")
    result = Scaled(n).double().requires_grad_(False)
    number = torch.tensor(scale, dtype=torch.float64)
    result.log_scale.copy_(number.abs().log())
    result.sign.copy_(number.sign())
    result.lower.copy_(torch.tensor(below))
    result.upper.copy_(torch.tensor(above))
    result.order.copy_(torch.tensor(order) - 1)
    result.diagonal = torch.tensor(diagonal, dtype=torch.float64)
    return result


def permutation(result: LU) -> Tensor:
    """P, (D, D)."""
    return torch.eye(len(result.order), dtype=torch.float64)[result.order]


@dataclass(frozen=True)
class Solve:
    """Ω h = x solved for h, one number per step.

    Attributes:
        vectors: (F, 4, D) x, Pᵀx, y and h as far as they are known, NaN where not.
        captions, equations: of the F frames.
    """

    vectors: Tensor
    captions: list[str]
    equations: list[str]

    def error(self, h: Tensor) -> float:
        return float((self.vectors[-1, 3] - h).abs().max())


def solve(results: Scaled, h: Tensor) -> Solve:
    """x = Ω h, and the way back: undo P, then L y = Pᵀx from above, then (U + D) h = y from below."""
    lower, upper = results.factors()
    x = results.matrix() @ h
    n = len(h)
    known = x.new_full((4, n), math.nan)
    known[0] = x
    frames, text = [known.clone()], ["x = Ω h is given; h is looked for."]
    equations = [rf"x = \Omega h = ({', '.join(f'{v:.3f}' for v in x.tolist())})"]
    known[1] = torch.empty_like(x).index_copy(-1, results.order, x)
    frames.append(known.clone())
    text.append("P is undone: the numbers go back to their rows.")
    equations.append(rf"P^\top x = ({', '.join(f'{v:.3f}' for v in known[1].tolist())})")
    for at, (triangle, rows, name, right) in enumerate(
        ((lower, range(n), "y", 1), (upper, range(n - 1, -1, -1), "h", 2)), start=2
    ):
        for i in rows:
            others = [j for j in range(n) if j != i and not math.isnan(float(known[at, j]))]
            value = known[right, i] - sum(triangle[i, j] * known[at, j] for j in others)
            known[at, i] = value / triangle[i, i]
            frames.append(known.clone())
            letter = "L" if name == "y" else "U + D"
            text.append(f"Row {i + 1} of {letter} has one unknown left: {name}{i + 1}.")
            products = [(float(triangle[i, j]), float(known[at, j])) for j in others]
            less = "".join(rf" - ({a:g}) \cdot ({b:.3f})" for a, b in products)
            top, bottom, result = float(known[right, i]), float(triangle[i, i]), float(known[at, i])
            equations.append(rf"{name}_{{{i + 1}}} = \frac{{{top:.3f}{less}}}{{{bottom:g}}} = {result:.3f}")
    return Solve(torch.stack(frames), text, equations)
