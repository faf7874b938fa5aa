"""log det (I + J) without a determinant: truncated series, random probes, a random number of terms; and
which rule makes h + f(h) invertible.

    log det (I + J) = Σ_{k≥1} (−1)^{k−1} tr(J^k) / k        |rest after n| ≤ D Σ_{k>n} L^k / k,  L = ‖J‖₂ < 1
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import typed
from modules.flow.iresnet import NotConverged, fixed_point, roulette, series
from modules.flow.tangent import Push, probes, unit_vectors

TERMS = 12
SETS = 500  # repetitions of an estimate, to see its spread
PROBES = (1, 4, 16, 64)
LONGEST = 400  # terms of the roulette that are followed


def matrix(rows: list[list[float]]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def jacobian(text: str) -> Tensor:
    """J as a reader types it."""
    return matrix(typed.square(text, 1.5, 4))


def plane_map(text: str) -> Tensor:
    """M as a reader types it, (2, 2)."""
    M = matrix(typed.square(text, 20, 2))
    if len(M) != 2 or not M.any():
        raise UserError("This view takes two rows of two numbers, not all of them 0.")
    return M


def pushed(J: Tensor) -> Push:
    """v → J v, of tangents (..., n, D)."""
    return lambda v: v @ J.T


@dataclass(frozen=True)
class Sums:
    """Partial sums for n = 1 … TERMS, each (TERMS,).

    Attributes:
        exact: log det (I + J).
        right: the series. bound: what the rest may be at most; inf where L ≥ 1.
        without: as [UDL] 16.22 prints it, without 1/k. powers: with (tr J)^k for tr(J^k).
        norm: L. radius: the largest modulus of an eigenvalue.
    """

    exact: float
    right: Tensor
    bound: Tensor
    without: Tensor
    powers: Tensor
    norm: float
    radius: float


def sums(J: Tensor) -> Sums:
    D = len(J)
    k = torch.arange(1, TERMS + 1, dtype=torch.float64)
    sign = (-1.0) ** (k - 1)
    right = torch.stack(
        [series(pushed(J), torch.eye(D, dtype=J.dtype), n).sum() for n in range(1, TERMS + 1)]
    )
    traces = right.diff(prepend=right.new_zeros(1)) * k * sign
    norm = float(torch.linalg.matrix_norm(J, 2))
    rest = -math.log1p(-norm) - (norm**k / k).cumsum(0) if norm < 1 else torch.full_like(k, math.inf)
    det = torch.linalg.det(torch.eye(D, dtype=J.dtype) + J)
    return Sums(
        float(det.abs().log()), right, (D * rest).clamp(min=0), (sign * traces).cumsum(0),
        (sign / k * J.trace() ** k).cumsum(0), norm, float(torch.linalg.eigvals(J).abs().max()),
    )  # fmt: skip


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of an estimate for n = 1 … TERMS, by its name; each (TERMS,)."""

    names: list[str]
    means: Tensor  # (E, TERMS)
    sds: Tensor


def spread(J: Tensor, noise: str, p: float, seed: int) -> Spread:
    """Hutchinson's estimate with several numbers of probes, measured; the roulette's, exact."""
    return with_roulette(probed(J, noise, seed), J, p)


@torch.inference_mode()
def probed(J: Tensor, noise: str, seed: int) -> Spread:
    """The estimates by probes alone."""
    generator = torch.Generator().manual_seed(seed)
    v = probes(torch.zeros(SETS, len(J), dtype=J.dtype), max(PROBES), noise, generator)  # (SETS, I, D)
    means, sds = [], []
    one = [series(pushed(J), v, n) for n in range(1, TERMS + 1)]  # each (SETS, I)
    for count in PROBES:
        estimates = torch.stack([values[:, :count].mean(1) for values in one])  # (TERMS, SETS)
        means.append(estimates.mean(1))
        sds.append(estimates.std(1))
    return Spread([f"{n} probe{'s' * (n > 1)}" for n in PROBES], torch.stack(means), torch.stack(sds))


def with_roulette(result: Spread, J: Tensor, p: float) -> Spread:
    """The same and the roulette, which stops with probability p."""
    moments = [torch.full((1, TERMS), value, dtype=J.dtype) for value in roulette_moments(J, p)]
    means, sds = (torch.cat(rows) for rows in zip((result.means, result.sds), moments, strict=True))
    return Spread([*result.names, "roulette"], means, sds)


def roulette_values(J: Tensor, p: float, most: int) -> Tensor:
    """The estimate when N = 1, 2, …, `most` terms are drawn, with exact traces, (most,)."""
    eye = unit_vectors(torch.zeros(len(J), dtype=J.dtype))
    weights = roulette(most, p)
    pushed_eye, total, values = eye, J.new_zeros(()), []
    for k in range(1, most + 1):
        pushed_eye = pushed_eye @ J.T
        total = total + weights[k - 1] * (-1) ** (k - 1) / k * (pushed_eye * eye).sum()
        values.append(total)
    return torch.stack(values)


def roulette_moments(J: Tensor, p: float) -> tuple[float, float]:
    """Mean and standard deviation over N, geometric with stop probability p; inf where they do not exist."""
    radius = float(torch.linalg.eigvals(J).abs().max())
    if radius**2 >= 1 - p:
        return math.nan, math.inf
    most = min(LONGEST, 1 + int(600 / -math.log10(1 - p) / 10))
    chance = p * (1 - p) ** torch.arange(most, dtype=J.dtype)
    values = roulette_values(J, p, most)
    mean = float((chance * values).sum())
    return mean, math.sqrt(max(0.0, float((chance * (values - mean) ** 2).sum())))


# --- Which rule makes h + f(h) invertible ---------------------------------------------------------

RULES = ("singular value", "eigenvalue", "none")


@dataclass(frozen=True)
class Rule:
    """f(h) = −Mᵀ tanh(M h) after a rule has scaled M (2, 2).

    Attributes:
        scaled: M as it is used. singular: its singular values; eigen: moduli of its eigenvalues.
        zeros: (N, 2) every h found with h + f(h) = 0.
        steps: of the fixed-point inverse of the image of a test point; None if it does not find it.
    """

    scaled: Tensor
    singular: Tensor
    eigen: Tensor
    zeros: Tensor
    steps: int | None


def scale(M: Tensor, rule: str, c: float) -> Tensor:
    size = {
        "singular value": torch.linalg.svdvals(M).max(),
        "eigenvalue": torch.linalg.eigvals(M).abs().max(),
    }
    return M if rule == "none" else M * (c / size[rule]).clamp(max=1.0)


def residual(M: Tensor, h: Tensor) -> Tensor:
    """h + f(h) for h (..., 2)."""
    return h - (h @ M.T).tanh() @ M


def applied(M: Tensor, rule: str, c: float) -> Rule:
    W = scale(M, rule, c)
    test = torch.tensor([0.6, -0.4], dtype=M.dtype)
    image = residual(W, test)
    try:
        result, steps = fixed_point(lambda h: image - (residual(W, h) - h), image, 1e-12)
        reached: int | None = steps if float((result - test).abs().max()) < 1e-6 else None
    except NotConverged:
        reached = None
    sizes = torch.linalg.svdvals(W), torch.linalg.eigvals(W).abs()
    return Rule(W, *sizes, zeros(W), reached)


def zeros(M: Tensor, iterations: int = 60) -> Tensor:
    """Solutions of h + f(h) = 0, by Newton's method from many starts, (N, 2); 0 is always one."""
    reach = 1.2 * float(M.abs().sum(0).max()) + 1
    axis = torch.linspace(-reach, reach, 15, dtype=M.dtype)
    h = torch.cartesian_prod(axis, axis)
    eye = torch.eye(2, dtype=M.dtype)
    for _ in range(iterations):
        slope = 1 - (h @ M.T).tanh() ** 2  # (S, 2)
        J = eye - M.T @ (slope[..., None] * M)
        safe = J + 1e-9 * eye
        h = (h - torch.linalg.solve(safe, residual(M, h)[..., None])[..., 0]).clamp(-10 * reach, 10 * reach)
    good = h[residual(M, h).abs().max(-1).values < 1e-8]
    kept: list[Tensor] = [torch.zeros(2, dtype=M.dtype)]
    for one in good:
        if all(float((one - other).abs().max()) > 1e-4 for other in kept):
            kept.append(one)
    return torch.stack(kept)


def along(M: Tensor, W: Tensor, cells: int = 301) -> tuple[Tensor, Tensor, Tensor]:
    """h + f(h) with weight W on the line through 0 that leads to the farthest other zero of the unscaled map:
    t, both components (2, cells), and the line's end (2,)."""
    result = zeros(M)
    far = result[result.norm(dim=1).argmax()]
    if float(far.norm()) < 1e-6:
        far = 3 * torch.linalg.svd(M).Vh[0]
    t = torch.linspace(-1.5, 1.5, cells, dtype=M.dtype)
    return t, residual(W, t[:, None] * far).T, far


# --- What is said of it ---------------------------------------------------------------------------


def caption(result: Sums, estimates: Spread, n: int) -> str:
    """Bias and noise with n terms."""
    bias = float(result.right[n - 1]) - result.exact
    bound = float(result.bound[n - 1])
    most = f", at most {bound:.4f}" if math.isfinite(bound) else ", with no bound as ‖J‖ is not below 1"
    noise = float(estimates.sds[0, n - 1])
    terms = f"{n} term{'s' * (n > 1)}"
    return f"{terms}: the truncation is off by {bias:+.4f}{most}; one probe scatters by {noise:.3f}."


def equation(result: Sums, n: int) -> str:
    """The partial sum with its numbers, LaTeX; the middle of a long one is left out."""
    parts = result.right.diff(prepend=result.right.new_zeros(1))[:n].tolist()
    texts = [f"{v:+.4f}" for v in parts]
    if n > 5:
        texts = [*texts[:3], r"\cdots", texts[-1]]
    total = rf"{float(result.right[n - 1]):.6f}\quad(\text{{exact }} {result.exact:.6f})"
    return rf"{' '.join(texts).removeprefix('+')} = {total}"


def on_line(zeros: Tensor, end: Tensor) -> Tensor:
    """Places t of zeros (N, 2) on the line from 0 to `end`; those beside it are left out."""
    t = zeros @ end / end.square().sum()
    return t[((zeros - t[:, None] * end).norm(dim=1) < 1e-3) & (t.abs() <= 1.5)]


def singular(M: Tensor) -> Tensor:
    return torch.linalg.svdvals(M)
