r"""Flows of one dimension fitted to whole numbers: without noise, with uniform and with learned noise.

    no noise    −Σ_k P(k) log p(k)                                   no lower bound: spikes
    uniform     −Σ_k P(k) E_u log p(k + u)                           ≥ H(P)
    learned     −Σ_k P(k) E_{u~q(·|k)} [log p(k + u) − log q(u|k)]   ≥ H(P), closer

Three flows of one shape (a spline and a scaling) are trained side by side, as three coordinates that
know nothing of each other. The mass on [k, k + 1) is exact: Φ(f⁻¹(k + 1)) − Φ(f⁻¹(k)).

Shapes: K levels, M points of noise, F frames, G places of the drawn density; kinds in the order of `KINDS`.
References: Theis et al. 2016, arXiv:1511.01844; Ho et al. 2019, arXiv:1902.00275; [UDL] 16.5.2.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from datamodules import cells
from lab.lenses.training import training_steps
from modules.flow.layer import FlowStack
from modules.flow.linear import Diagonal
from modules.flow.monotone import Elementwise
from modules.flow.spline import RationalQuadratic

KINDS = ("none", "uniform", "learned")
STEPS, EVERY = 200, 5
MOST = 17  # levels
NOISE = 16  # points of u a level in training, evenly spread and shifted at random
FINE = 200  # of u where a bound is reported, by Gauss and Legendre: log q has no bound at the ends
CURVE = 40  # places a level of the drawn density


def weights_of(text: str) -> tuple[list[float], str]:
    """The reader's weights of the levels 0, 1, …, and a sentence about what could not be read, or ""."""
    good: list[float] = []
    bad: list[str] = []
    words, decided = cells.words(text)
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = -1.0
        if 0 <= value < 1e9:
            good.append(value)
        else:
            bad.append(word)
    left = f"{bad[0]!r} is no weight of 0 or more and is left out." if bad and text.strip() else ""
    if len(good) > MOST:
        left = f"There are {len(good)} weights; the first {MOST} are used."
    return good[:MOST], f"{decided} {left}".strip()


class Noise(nn.Module):
    """q(u|k): u = sigmoid(t_k + s_k ε), ε logistic; at first uniform."""

    def __init__(self, levels: int) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(levels))
        self.log_scale = nn.Parameter(torch.zeros(levels))

    def forward(self, even: Tensor) -> tuple[Tensor, Tensor]:
        """Uniform numbers (K, M) -> u (K, M), log q(u|k)."""
        z = even.logit()
        h = self.shift[:, None] + self.log_scale.exp()[:, None] * z
        log_q = sides(z) - self.log_scale[:, None] - sides(h)
        return h.sigmoid().clamp(1e-6, 1 - 1e-6), log_q

    def log_density(self, u: Tensor) -> Tensor:
        """log q(u|k) of u (K, M)."""
        h = u.logit()
        z = (h - self.shift[:, None]) * (-self.log_scale).exp()[:, None]
        return sides(z) - self.log_scale[:, None] - sides(h)


def sides(h: Tensor) -> Tensor:
    """log of the slope of the sigmoid."""
    return F.logsigmoid(h) + F.logsigmoid(-h)


class Three(nn.Module):
    """The three flows and the learned noise."""

    def __init__(self, levels: int) -> None:
        super().__init__()
        kinds = len(KINDS)
        self.noise = Noise(levels)
        self.stack = FlowStack(
            [
                Elementwise(kinds, RationalQuadratic(3 * levels, 4.0)),
                Diagonal(kinds),
            ]
        )
        with torch.no_grad():  # begin with the levels inside of the splines
            self.stack.layers[-1].bias.fill_(levels / 2)  # type: ignore[union-attr, operator]
            self.stack.layers[-1].log_scale.fill_(math.log(levels / 4))  # type: ignore[union-attr, operator]

    def normalize(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x (N, kinds) -> z alike, and the log slope of each coordinate alone (N, kinds)."""
        total = torch.zeros_like(x)
        for layer in reversed(self.stack.layers):
            if isinstance(layer, Elementwise):
                x, slope = layer.monotone.normalize(x, layer.parameters_for(x, None))
                total = total + slope
            else:
                x, total = layer.solve(x - layer.bias), total - layer.log_scale  # type: ignore[operator]
        return x, total

    def log_prob(self, x: Tensor) -> Tensor:
        """(N, kinds) -> (N, kinds)"""
        z, slope = self.normalize(x)
        return -0.5 * z.square() - 0.5 * math.log(2 * math.pi) + slope

    def losses(self, p: Tensor, even: Tensor, share: Tensor | None = None) -> Tensor:
        """Losses of each kind in nats (kinds,), from uniform numbers `even` (K, M), which count by their
        `share` (M,), or all alike."""
        k = torch.arange(len(p), dtype=p.dtype)[:, None].expand_as(even)
        u, log_q = self.noise(even)
        x = torch.stack([k, k + even, k + u], -1)  # (K, M, kinds)
        log_p = self.log_prob(x.flatten(0, 1)).reshape(x.shape)
        log_p = torch.cat([log_p[..., :2], (log_p[..., 2] - log_q)[..., None]], -1)
        return -(p @ (log_p.mean(1) if share is None else (log_p * share[:, None]).sum(1)))


@dataclass
class Course:
    """A training, frame by frame.

    Attributes:
        p: P of the levels, (K,).
        places: of the densities, (G,); density, noise: (kinds, G) at each frame, `noise` q(u|k) as a function
            of k + u for the kind "learned".
        steps, losses, masses: steps done, the three losses (kinds,) and ∫ p over each [k, k + 1), (kinds, K).
    """

    p: Tensor
    places: Tensor
    steps: list[int] = field(default_factory=list)
    losses: list[Tensor] = field(default_factory=list)
    density: list[Tensor] = field(default_factory=list)
    noise: list[Tensor] = field(default_factory=list)
    masses: list[Tensor] = field(default_factory=list)

    def noisy(self, kind: str) -> Tensor:
        """The density of whole numbers with their noise at `places`, (F, G); zeros where there is none."""
        k = self.places.floor().long()
        inside = (k >= 0) & (k < len(self.p))
        heights = torch.where(inside, self.p[k.clamp(0, len(self.p) - 1)], 0.0)
        if kind == "learned":
            return heights * torch.stack(self.noise)
        return heights.expand(len(self.steps), -1) * (kind == "uniform")

    def densities(self, kind: str) -> Tensor:
        """p at `places`, (F, G)."""
        return torch.stack(self.density)[:, KINDS.index(kind)]

    def curves(self) -> dict[str, list[float]]:
        """Loss of each kind, nats, at every frame."""
        return {kind: [float(v[i]) for v in self.losses] for i, kind in enumerate(KINDS)}

    @property
    def entropy(self) -> float:
        """H(P), nats."""
        return float(-torch.special.xlogy(self.p, self.p).sum())

    def exact(self, frame: int, kind: str) -> float:
        """−Σ P(k) log ∫_k^{k+1} p: what the bound is a bound of."""
        return float(-torch.special.xlogy(self.p, self.masses[frame][KINDS.index(kind)]).sum())

    def loss(self, frame: int, kind: str) -> float:
        return float(self.losses[frame][KINDS.index(kind)])


def fit(weights: list[float], steps: int = STEPS, seed: int = 0) -> Iterator[tuple[float, Course]]:
    """Train on levels of these weights: the share done, and the course so far.

    Raises:
        ValueError: fewer than two levels have a weight.
    """
    if sum(v > 0 for v in weights) < 2:
        raise ValueError("At least two levels need a weight above 0: type two numbers or more.")
    p = torch.tensor(weights, dtype=torch.float64)
    p = p / p.sum()
    three, levels = Three(len(p)).double(), len(p)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(three.parameters(), lr=0.02)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=0.002)

    def loss() -> Tensor:
        shift = torch.rand(levels, 1, generator=generator, dtype=p.dtype)
        even = ((torch.arange(NOISE, dtype=p.dtype) + shift) / NOISE).clamp(1e-6, 1 - 1e-6)
        return three.losses(p, even).sum()

    places = (torch.arange(-CURVE // 2, (levels + 1) * CURVE - CURVE // 2, dtype=p.dtype)) / CURVE
    course = Course(p, places)
    for done, _ in training_steps(loss, optimizer, steps, schedule):
        if done % EVERY == 0:
            record(course, three, done)
            yield done / steps, course


@torch.no_grad()
def record(course: Course, three: Three, done: int) -> None:
    """Add a frame."""
    p, levels = course.p, len(course.p)
    nodes, share = (torch.from_numpy(v) / 2 for v in np.polynomial.legendre.leggauss(FINE))
    even = (0.5 + nodes).expand(levels, FINE)
    ends = torch.arange(levels + 1, dtype=p.dtype)[:, None].expand(-1, len(KINDS))
    below = torch.special.ndtr(three.normalize(ends)[0])  # F(k)
    k = course.places.floor().clamp(0, levels - 1).long()
    u = (course.places - k).clamp(1e-4, 1 - 1e-4)
    inside = (course.places >= 0) & (course.places < levels)
    table = three.noise.log_density(u.expand(levels, -1))[k, torch.arange(len(u))].exp()
    course.steps.append(done)
    course.losses.append(three.losses(p, even, share))
    course.masses.append(below.diff(dim=0).t())
    course.density.append(three.log_prob(course.places[:, None].expand(-1, len(KINDS))).exp().t())
    course.noise.append(torch.where(inside, table, 0.0))


# --- Words ----------------------------------------------------------------------------------------


def top(course: Course) -> float:
    """End of the density's axis: the highest bar and what noise makes of it fit, spikes are cut."""
    fitted = max(float(course.densities(kind)[-1].max()) for kind in ("uniform", "learned"))
    return 1.15 * max(2 * float(course.p.max()), min(fitted, 4 * float(course.p.max())))


def verdict(kind: str, cost: float, entropy: float, peak: float) -> str:
    """Sentence on a frame."""
    if kind == "none":
        side = "below" if cost < entropy else "still above"
        return f"It is {side} the entropy; the highest spike is {peak:.1f}."
    return f"It is {cost - entropy:.3f} above: a bound cannot go below."


def formula(kind: str, cost: float, exact: float, entropy: float) -> str:
    """The cost with its numbers, LaTeX."""
    if kind == "none":
        sign = "<" if cost < entropy else ">"
        return rf"-\sum_k P(k)\,\log p(k)={cost:.3f}\;{sign}\;H={entropy:.3f}"
    more = r"\left[\log p(k+u)-\log q(u\mid k)\right]" if kind == "learned" else r"\log p(k+u)"
    return (
        rf"-\sum_k P(k)\,\mathbb E_u{more}={cost:.3f}\;\ge\;"
        rf"-\sum_k P(k)\log\int_k^{{k+1}}p={exact:.3f}\;\ge\;H={entropy:.3f}"
    )
