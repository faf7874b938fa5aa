"""Batch normalisation of a few numbers through seven nodes, forwards and backwards ([UDL] figure 11.15).

    f1 = mean z    f2 = z − f1    f3 = f2²    f4 = mean f3    f5 = √(f4 + ε)    f6 = 1/f5    f7 = f2 f6
    y = γ f7 + δ

Shapes: N numbers; f1, f4, f5, f6 are one number.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import typed
from modules.convolution.normalization import Form, normalize, scale_shift
from pages.convolution.normalization.room import NODES, ROOT

MOST, REACH = 6, 1e6


def batch(text: str) -> tuple[float, ...]:
    """The numbers of a batch."""
    values = typed.numbers(text, REACH, MOST)
    if len(values) < 2:
        raise UserError(f"Write two to {MOST} numbers, such as 1 2 4 7: one alone has no variance.")
    return values


def gradients(text: str) -> tuple[float, ...]:
    """Gradients from above, one for each number of the batch; the last ones may be missing."""
    return typed.numbers(text, REACH, MOST)


@dataclass(frozen=True)
class Worked:
    """
    Attributes:
        forward, backward: node -> its value, and ∂L/∂ of it, (N,) or ().
        gamma, delta: gradients of γ and δ.
        automatic: ∂L/∂z by autograd, (N,).
        unscaled: ∂L/∂z with c = 1, (N,).
    """

    forward: dict[str, Tensor]
    backward: dict[str, Tensor]
    gamma: float
    delta: float
    automatic: Tensor
    unscaled: Tensor

    @property
    def before(self) -> Tensor:
        """The batch, (N,)."""
        return self.forward[NODES[0]]

    @property
    def after(self) -> Tensor:
        """y, (N,)."""
        return self.forward[NODES[-1]]

    @property
    def slope(self) -> Tensor:
        """∂L/∂z by hand, (N,)."""
        return self.backward[NODES[0]]

    @property
    def gap(self) -> float:
        """Largest difference between the gradients by hand and autograd; NaN where that has none."""
        return float((self.slope - self.automatic).abs().max())


def form_of(form: str) -> Form:
    return "variance" if form == ROOT else "deviation"


def forwards(z: Tensor, gamma: float, delta: float, form: str, eps: float) -> dict[str, Tensor]:
    """The value of each node."""
    f1 = z.mean()
    f2 = z - f1
    f3 = f2.square()
    f4 = f3.mean()
    f5 = (f4 + eps).sqrt() if form == ROOT else f4.sqrt() + eps
    f6 = 1 / f5
    f7 = f2 * f6
    return dict(zip(NODES, (z, f1, f2, f3, f4, f5, f6, f7, gamma * f7 + delta), strict=True))


def backwards(f: dict[str, Tensor], g: Tensor, gamma: float, form: str, eps: float) -> dict[str, Tensor]:
    """∂L/∂ each node, of g = ∂L/∂y: the last node first."""
    N = len(g)
    d7 = gamma * g
    d6 = (d7 * f["f2"]).sum()
    d5 = -d6 * f["f6"] ** 2
    root = (f["f4"] + eps).sqrt() if form == ROOT else f["f4"].sqrt()
    d4 = d5 / (2 * root) if float(root) > 0 else torch.zeros_like(d5)  # a constant batch: d6 is 0, too
    d3 = (d4 / N).expand(N)
    d2 = d7 * f["f6"] + 2 * f["f2"] * d3
    d1 = -d2.sum()
    return dict(zip(NODES, (d2 + d1 / N, d1, d2, d3, d4, d5, d6, d7, g), strict=True))


def worked(
    given: tuple[float, ...],
    above: tuple[float, ...],
    c: float,
    gamma: float,
    delta: float,
    form: str,
    power: int,
) -> Worked:
    """All numbers of the graph for a batch times c; gradients that are missing are 0.

    Raises:
        UserError: there are more gradients than numbers.
    """
    N, M = len(given), len(above)
    if M > N:
        raise UserError(f"The batch has {N} numbers: write at most {N} gradients, not {M}.")
    z, g, eps = torch.tensor(given).double(), torch.tensor([*above, *[0.0] * (N - M)]).double(), 10.0**power
    f = forwards(c * z, gamma, delta, form, eps)
    d = backwards(f, g, gamma, form, eps)
    one = backwards(forwards(z, gamma, delta, form, eps), g, gamma, form, eps)
    leaf = (c * z)[:, None].requires_grad_()
    scale, shift = (torch.tensor([v]).double() for v in (gamma, delta))
    y = scale_shift(normalize(leaf, (0,), eps, form_of(form)), scale, shift)
    (automatic,) = torch.autograd.grad(y[:, 0], leaf, g)
    return Worked(f, d, float((g * f["f7"]).sum()), float(g.sum()), automatic[:, 0], one[NODES[0]])
