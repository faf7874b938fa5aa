"""Two norms of a convolution: of its kernel laid flat, and of what it does to whole padded pictures.

    h + K∗h  is undone by  h ← z − K∗h,  and the error of a step is at most ‖K∗‖ times the one before

Shapes: kernel (3, 3); S sides of square pictures; errors (S, 2, STEPS + 1).
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.errors import UserError
from lab.lenses import typed
from modules.flow.tangent import conv_norm

SIDES = (1, 2, 3, 4, 6, 8, 12, 16)
SHOWN = SIDES.index(8)
STEPS = 20
LEAST, MOST = 1e-6, 1e8  # errors that are drawn
RULES = ("the flat kernel's norm", "the map's norm")


@dataclass(frozen=True)
class Norms:
    """A kernel scaled to c by either rule, on pictures of every side.

    Attributes:
        flat: norm of the kernel as a row of nine numbers.
        whole: (S,) of the map of pictures, before any scaling.
        scaled: (S, 2) of the map after the kernel was scaled by each of RULES.
        errors: (S, 2, STEPS + 1) of the way back from a random picture, as a share of its length.
    """

    flat: float
    whole: Tensor
    scaled: Tensor
    errors: Tensor


def kernel(text: str) -> Tensor:
    """A kernel as a reader types it, (3, 3)."""
    rows = typed.square(text, 20, 3)
    if len(rows) != 3 or not any(v for row in rows for v in row):
        raise UserError("A kernel has three rows of three numbers, not all of them 0.")
    return torch.tensor(rows, dtype=torch.float64)


def looked(K: Tensor, c: float, seed: int = 0) -> Norms:
    """Both rules for a kernel, c the norm that they allow."""
    flat = float(K.norm())
    whole = torch.stack([conv_norm(K[None, None], (side, side)) for side in SIDES])
    factors = torch.stack([torch.full_like(whole, min(1.0, c / flat)), (c / whole).clamp(max=1)], 1)  # (S, 2)
    errors = torch.stack(
        [way_back(K * factor[:, None, None], side, seed) for side, factor in zip(SIDES, factors, strict=True)]
    )
    return Norms(flat, whole, factors * whole[:, None], errors)


def way_back(kernels: Tensor, side: int, seed: int) -> Tensor:
    """‖h_k − x‖ / ‖x‖ of h ← z − K∗h from h_0 = z = x + K∗x, for each of the kernels (2, 3, 3):
    (2, STEPS + 1)."""
    x = torch.randn(side, side, generator=torch.Generator().manual_seed(seed), dtype=kernels.dtype)
    x = x.expand(1, 2, side, side)

    def moved(h: Tensor) -> Tensor:
        return F.conv2d(h, kernels[:, None], padding=1, groups=2)

    h = z = x + moved(x)
    results = [h]
    for _ in range(STEPS):
        h = z - moved(h)
        results.append(h)
    return (torch.stack(results) - x).flatten(-2).norm(dim=-1)[:, 0].T / x[0, 0].norm()


def captions(norms: Norms) -> list[str]:
    """A sentence for every side."""
    texts = []
    for side, (by_flat, by_map), errors in zip(SIDES, norms.scaled.tolist(), norms.errors, strict=True):
        before, after = float(errors[0, 0]), float(errors[0, -1])
        fate = "grows" if after > before else "shrinks"
        texts.append(
            f"Pictures of {side}×{side}: scaled by its own norm, the kernel is a map of norm {by_flat:.3f}, "
            f"and the error {fate} from {before:.2g} to {after:.2g}; by the map's norm it is {by_map:.3f}."
        )
    return texts


def equations(norms: Norms, c: float) -> list[str]:
    return [
        rf"\|K\ast\| = {whole:.4f}\ \ (\|\mathrm{{vec}}\,K\| = {norms.flat:.4f}),\quad "
        rf"K \leftarrow \min\!\left(1, \tfrac{{{c:g}}}{{{whole:.4f}}}\right) K"
        for whole in norms.whole.tolist()
    ]
