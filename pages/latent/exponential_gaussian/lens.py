"""The bound of the exponential-Gaussian model over θ and φ, right and as printed, and the evidence."""

from dataclasses import dataclass

import torch
from torch import Tensor

from modules.latent.exponential_gaussian import elbo, log_evidence, maximum_likelihood, optimum, printed_elbo

VALUES = [round(0.1 * i, 1) for i in range(1, 41)]  # of θ and of φ
FORMULAS = {"right": elbo, "printed": printed_elbo}
MOVES = ["both rise", "both fall", "L rises, log p falls", "L falls, log p rises"]


@dataclass(frozen=True)
class Surface:
    """Over θ (T,) and φ (P,) of VALUES at one x; nats.

    Attributes:
        bound, printed: (T, P).
        evidence: log p(x), (T,).
        summit: θ = φ where the bound is highest; None for x ≤ 0, where it grows without end.
        likeliest: θ of maximum likelihood, or None.
    """

    x: float
    bound: Tensor
    printed: Tensor
    evidence: Tensor
    summit: float | None
    likeliest: float | None

    def of(self, formula: str) -> Tensor:
        return self.bound if formula == "right" else self.printed

    def peak(self, formula: str) -> float | None:
        """θ = φ of the highest value; the printed formula puts it at 1/x."""
        return None if self.summit is None else self.summit / (1 if formula == "right" else 2)

    @property
    def broken(self) -> Tensor:
        """Mark where the printed formula exceeds log p(x), (T, P)."""
        return self.printed > self.evidence[:, None]


def surface(x: float) -> Surface:
    """All of it at this x."""
    v, at = torch.tensor(VALUES, dtype=torch.float64), torch.tensor(x, dtype=torch.float64)
    right, printed = (formula(v[:, None], v, at) for formula in FORMULAS.values())
    summit = float(optimum(at)[0]) if x > 0 else None
    return Surface(x, right, printed, log_evidence(v, at), summit, maximum_likelihood(x) if x > 0 else None)


def index(value: float) -> int:
    """The place of a θ or φ in VALUES."""
    return min(range(len(VALUES)), key=lambda i: abs(VALUES[i] - value))


def captions(result: Surface, phi: float) -> list[str]:
    """A sentence for every θ."""
    p = index(phi)
    return [
        f"L stands {evidence - bound:.3f} below log p(x); the printed formula says {printed:.3f}, "
        + ("above log p(x): no bound." if printed > evidence else "here still below.")
        for bound, printed, evidence in zip(
            result.bound[:, p].tolist(), result.printed[:, p].tolist(), result.evidence.tolist(), strict=True
        )
    ]


def equations(result: Surface, phi: float) -> list[str]:
    """The bound with its numbers, LaTeX, for every θ."""
    p = index(phi)
    return [
        rf"L=\log\theta-\tfrac\theta\varphi-\tfrac12\log2\pi-\tfrac12\left(x^2-\tfrac{{2x}}\varphi"
        rf"+\tfrac2{{\varphi^2}}\right)-\log\varphi+1={bound:.3f}\le\log p(x)={evidence:.3f}"
        for bound, evidence in zip(result.bound[:, p].tolist(), result.evidence.tolist(), strict=True)
    ]


def move(result: Surface, at: int, phi: float) -> str:
    """Effect of one step up in θ on L and on log p, one of MOVES; at the end, one step down."""
    to = at + 1 if at + 1 < len(VALUES) else at - 1
    p = index(phi)
    up, likelier = (
        bool(result.bound[to, p] > result.bound[at, p]),
        bool(result.evidence[to] > result.evidence[at]),
    )
    return MOVES[(0 if likelier else 2) if up else (3 if likelier else 1)]
