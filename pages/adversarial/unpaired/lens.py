"""Two domains of points without pairs: which maps do both games, the cycle and the content allow?

    there: a ↦ s R(φ) F a + μ        back: its inverse, or b ↦ b − μ, which undoes the shift alone

F mirrors or does not. The partner of a is a + μ: nobody tells the generators.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses.ink import scattered
from modules.adversarial.transport import assignment
from pages.adversarial.unpaired.room import OWN, TURNS

SHIFT = (3.0, 0.0)  # μ
POINTS, COMPARED, SHOWN, MARKED = 20_000, 120, 300, 8


@dataclass(frozen=True)
class Look:
    """
    Attributes:
        a: (SHOWN, 2). translations: (TURNS, SHOWN, 2) there(a). hue: (SHOWN,) of a's direction, 0 to 1.
        w1: W₁ between what is made and the second domain, of COMPARED points each.
        cycle: E ‖back(there(a)) − a‖₁. before: E ‖there(a) − a‖₁. identity: E ‖there(b) − b‖₁.
        partner: E ‖there(a) − (a + μ)‖₁, which no loss may ask for. All (TURNS,).
    """

    a: Tensor
    translations: Tensor
    hue: Tensor
    w1: Tensor
    cycle: Tensor
    before: Tensor
    identity: Tensor
    partner: Tensor

    def reach(self) -> float:
        """Reach of a window around 0, or around μ, in which nearly all points lie, and all that are
        marked."""
        around = torch.cat([self.a[None], self.translations - torch.tensor(SHIFT)]).abs()
        few = around[:, marked(self.a)]
        return max(1.05 * float(around.flatten().quantile(0.98)), 0.25 + float(few.max()))


def first_domain(domain: str, ink: Tensor | None) -> Tensor:
    """Its points (POINTS, 2), around 0.

    Raises:
        UserError: there is no ink to draw them from.
    """
    if domain == OWN:
        if ink is None or not bool(ink.any()):
            raise UserError("There is no ink: draw something.")
        points = scattered(ink, POINTS).float()
        return points - points.mean(0)
    half = torch.randn(POINTS // 2, 2, generator=torch.Generator().manual_seed(0))
    return torch.cat([half, -half])


def degrees() -> list[float]:
    """φ of every frame."""
    return [360.0 * i / (TURNS - 1) for i in range(TURNS)]


def maps(mirror: bool, scale: float) -> Tensor:
    """The matrices s R(φ) F, (TURNS, 2, 2)."""
    angle = torch.tensor(degrees()).deg2rad()
    turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], 1).view(-1, 2, 2)
    flip = torch.diag(torch.tensor([1.0, -1.0 if mirror else 1.0]))
    return scale * turn @ flip


def norm(x: Tensor) -> Tensor:
    """Mean ℓ₁ norm over the points, (..., N, 2) -> (...)."""
    return x.abs().sum(-1).mean(-1)


def look(domain: str, ink: Tensor | None, mirror: bool, scale: float, undoes: bool) -> Look:
    """Costs of every turn.

    Raises:
        UserError: there is no ink, or the scale is 0.
    """
    if scale <= 0:
        raise UserError("The scale must be above 0: else nothing could come back.")
    a, mean = first_domain(domain, ink), torch.tensor(SHIFT)
    matrices = maps(mirror, scale)
    result = a @ matrices.mT + mean  # (TURNS, N, 2)
    around = (result - mean) @ torch.linalg.inv(matrices).mT if undoes else result - mean
    second = a + mean
    order = torch.randperm(len(a), generator=torch.Generator().manual_seed(1))
    other = second[order[-COMPARED:]]  # of other points than those that are made
    w1 = [float(assignment(x[order[:COMPARED]], other)[1]) for x in result]
    shown = a[:SHOWN]
    hue = torch.atan2(shown[:, 1], shown[:, 0]) / (2 * math.pi) % 1
    return Look(
        shown,
        result[:, :SHOWN],
        hue,
        torch.tensor(w1),
        norm(around - a),
        norm(result - a),
        norm(second @ matrices.mT + mean - second),
        norm(result - second),
    )


def marked(a: Tensor) -> list[int]:
    """Rows of a (N, 2) in MARKED directions from 0, each half as far again as a point is on average."""
    angle = 2 * math.pi * torch.arange(MARKED) / MARKED
    places = 1.5 * a.norm(dim=1).mean() * torch.stack([angle.cos(), angle.sin()], 1)
    return [int(row) for row in torch.cdist(places, a).argmin(1)]


def chosen(costs: Tensor) -> int:
    """The frame of least cost, the first of several."""
    return int((costs <= costs.min() + 1e-5).nonzero()[0])


def captions(result: Look) -> list[str]:
    """Caption of what each turn reaches."""
    return [
        f"Rotation by {d:.0f}°: distance to the hidden partner {p:.2f}, cycle loss {c:.2f}, W₁ {w:.2f}."
        for d, p, c, w in zip(
            degrees(), result.partner.tolist(), result.cycle.tolist(), result.w1.tolist(), strict=True
        )
    ]


def equations(result: Look) -> list[str]:
    """The three losses at each turn, LaTeX."""
    return [
        rf"\mathrm{{E}}\|g'(g(a))-a\|_1={c:.3f},\quad \mathrm{{E}}\|g(a)-a\|_1={b:.3f},\quad "
        rf"\mathrm{{E}}\|g(b)-b\|_1={i:.3f}"
        for c, b, i in zip(
            result.cycle.tolist(), result.before.tolist(), result.identity.tolist(), strict=True
        )
    ]
