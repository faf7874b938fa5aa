r"""A discriminator that learns between two known distributions, and what is left for the generator.

    D*(x) = p/(p + q)     L[D] = −E_p log D − E_q log(1 − D)  ≥  L* = 2 log 2 − 2 D_JS
    D_JS = ½ KL(q ‖ m) + ½ KL(p ‖ m)      quality + coverage

The distributions are mixtures of two unit Gaussians; integrals are sums over a grid of G cells.
Reference: [UDL] §15.2.1 (eqs 15.6–15.9), which says that coverage does not depend on the generator: true
while D is held fixed. At the best D the slope of the value is that of both parts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from lab.seeding import seeded
from modules.adversarial.divergences import (
    gaussian_log_density,
    jensen_shannon_parts,
    optimal_discriminator,
)
from modules.adversarial.gan import Discriminator
from pages.adversarial.optimal_discriminator.room import HILLS

LOW, HIGH, CELLS = -12.0, 18.0, 3001
SHOWN = slice(500, 2901, 8)  # x from −7 to 17
FRAMES = [0, 1, 2, 4, 7, 11, 16, 23, 32, 45, 62, 85, 115, 155, 210, 280, 370, 480, 600]  # steps
EXAMPLES = 2000  # of each distribution
WIDTH = 0.06  # of the cells in whose middles D sees them: far below what it can tell apart
LEAK = 0.2  # of a `Discriminator`'s leaky ReLUs
OPTIONS = ["below 0.05", "0.05 to 0.3", "above 0.3"]


@dataclass(frozen=True)
class Pair:
    """Data distribution p and generator distribution q, each w N(left, 1) + (1 − w) N(right, 1)."""

    left: float
    right: float
    data_weight: float
    weight: float

    def log_densities(self, x: Tensor, weight: Tensor | None = None, places: Tensor | None = None) -> Tensor:
        """log p and log q at x, (2, G); q's weight and places (2,) may be tensors of their own."""
        w = torch.tensor(self.weight).double() if weight is None else weight
        at = torch.tensor([self.left, self.right]).double()
        one = torch.ones((), dtype=torch.float64)
        rows = []
        for share, (a, b) in (
            (torch.tensor(self.data_weight).double(), at),
            (w, at if places is None else places),
        ):
            parts = [
                share.log() + gaussian_log_density(x, a, one),
                (1 - share).log() + gaussian_log_density(x, b, one),
            ]
            rows.append(torch.stack(parts).logsumexp(0))
        return torch.stack(rows)

    def sample(self, weight: float, n: int, generator: torch.Generator) -> Tensor:
        """(n, 1)"""
        at = torch.tensor([self.left, self.right])
        which = (torch.rand(n, generator=generator) >= weight).long()
        return (at[which] + torch.randn(n, generator=generator))[:, None]


def hills(distance: float) -> Pair:
    """Data N(d, 1), generator N(0, 1)."""
    return Pair(0.0, distance, 0.0, 1.0)


def modes(weight: float) -> Pair:
    """Data ½N(−3, 1) + ½N(3, 1); the generator has `weight` of the left mode."""
    return Pair(-3.0, 3.0, 0.5, weight)


def pair(laws: str, d: float, w: float) -> Pair:
    """The distributions that the controls give."""
    return hills(d) if laws == HILLS else modes(w)


@dataclass(frozen=True)
class Story:
    """A training, on the shown part of the grid (X cells).

    Attributes:
        x, p, q, best: (X,); best is D*. discriminator: (F, X), D after each of FRAMES.
        values: (F,) L[D]. least: L*. quality, coverage: the parts of D_JS.
    """

    x: Tensor
    p: Tensor
    q: Tensor
    best: Tensor
    discriminator: Tensor
    values: list[float]
    least: float
    quality: float
    coverage: float

    @property
    def js(self) -> float:
        return self.quality + self.coverage

    def distance(self, at: int) -> float:
        """Mean of |D − D*| where examples lie, under (p + q)/2."""
        weight = self.p + self.q
        return float(((self.discriminator[at] - self.best).abs() * weight).sum() / weight.sum())


def grid() -> tuple[Tensor, float]:
    """The grid (G,) and the width of a cell."""
    return torch.linspace(LOW, HIGH, CELLS, dtype=torch.float64), (HIGH - LOW) / (CELLS - 1)


def story(pair: Pair, hidden: int, rate: float, seed: int) -> Story:
    """Train a discriminator of one hidden layer on samples of both distributions; look at it at FRAMES."""
    x, width = grid()
    p, q = pair.log_densities(x).exp() * width  # tables
    best = optimal_discriminator(p, q)
    logits = train(pair, x, hidden, rate, seed)
    values = [float(value(p, q, logit)) for logit in logits]
    quality, coverage = (float(part) for part in jensen_shannon_parts(p, q))
    return Story(
        x[SHOWN], p[SHOWN] / width, q[SHOWN] / width, best[SHOWN], logits[:, SHOWN].sigmoid(), values,
        2 * math.log(2) - 2 * (quality + coverage), quality, coverage,
    )  # fmt: skip


def learned(laws: str, d: float, w: float, hidden: int, lr: float, seed: int) -> Story:
    return story(pair(laws, d, w), hidden, lr, seed)


def value(p: Tensor, q: Tensor, logit: Tensor) -> Tensor:
    """L[D] of a discriminator given by its logits, nats."""
    return (p * F.softplus(-logit) + q * F.softplus(logit)).sum(-1)


def train(pair: Pair, x: Tensor, hidden: int, rate: float, seed: int) -> Tensor:
    """Logits on the grid after each of FRAMES steps of Adam, (F, G) float64."""
    generator = torch.Generator().manual_seed(seed)
    places, p, q = counted(
        pair.sample(pair.data_weight, EXAMPLES, generator), pair.sample(pair.weight, EXAMPLES, generator)
    )
    discriminator = seeded(
        lambda: Discriminator(1, [hidden, hidden], pack=1, minibatch_std=False, energy=False), seed
    )
    optimizer = torch.optim.Adam(discriminator.parameters(), lr=rate, fused=True)
    theta, result = list(discriminator.parameters()), []
    for step in range(FRAMES[-1] + 1):
        if step in FRAMES:
            with torch.no_grad():
                result.append(discriminator(x.float()[:, None]).double())
        for parameter, slope in zip(theta, gradients(theta, places, p, q), strict=True):
            parameter.grad = slope
        optimizer.step()
    return torch.stack(result)


@torch.no_grad()
def gradients(theta: Sequence[Tensor], x: Tensor, p: Tensor, q: Tensor) -> list[Tensor]:
    """∇_θ of `value` for a `Discriminator` of two hidden layers, at places x (C, 1) with shares (C,).

    Written out, from dL/df = (p + q) D − p down: for so few numbers autograd takes three times as long.
    """
    w1, b1, w2, b2, w3, b3 = theta
    h1 = F.leaky_relu(F.linear(x, w1, b1), LEAK)
    h2 = F.leaky_relu(F.linear(h1, w2, b2), LEAK)
    of_f = ((p + q) * F.linear(h2, w3, b3)[:, 0].sigmoid() - p)[:, None]
    of_2 = of_f * w3
    of_2 = of_2.where(h2 > 0, LEAK * of_2)
    of_1 = of_2 @ w2
    of_1 = of_1.where(h1 > 0, LEAK * of_1)
    return [of_1.T @ x, of_1.sum(0), of_2.T @ h1, of_2.sum(0), of_f.T @ h2, of_f.sum(0)]


def counted(real: Tensor, result: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The middles of the cells that have examples (C, 1), and the shares of both distributions in each, (C,).

    The loss of thousands of examples is then that of a few hundred cells, each with its shares.
    """
    cells = (torch.cat([real, result])[:, 0] / WIDTH).round().long()
    taken, cell = cells.unique(return_inverse=True)
    shares = [
        part.bincount(minlength=len(taken)) / len(part) for part in cell.split([len(real), len(result)])
    ]
    return taken[:, None] * WIDTH, *shares


@dataclass(frozen=True)
class Slopes:
    """Slopes that the best D gives a generator with too much of the left mode: d/dw of E_q log(1 − D*), its
    part of quality and of coverage; and the slope of moving either mode's samples, D* held fixed."""

    value: float
    quality: float
    coverage: float
    left: float
    right: float


def slopes(pair: Pair) -> Slopes:
    """By differentiating sums over the grid."""
    x, width = grid()
    w = torch.tensor(pair.weight, dtype=torch.float64, requires_grad=True)
    places = torch.tensor([pair.left, pair.right], dtype=torch.float64, requires_grad=True)
    p, q = pair.log_densities(x, w).exp() * width
    parts = [torch.autograd.grad(2 * part, w, retain_graph=True)[0] for part in jensen_shannon_parts(p, q)]
    best = optimal_discriminator(p, q).detach()
    log_no = torch.log1p(-best.clamp(max=1 - 1e-12))
    (direct,) = torch.autograd.grad((q * log_no).sum(), w)
    moved = pair.log_densities(x, places=places)[1].exp() * width
    (paths,) = torch.autograd.grad((moved * log_no).sum(), places)
    return Slopes(float(direct), *(float(part) for part in parts), *paths.tolist())


# --- Words ----------------------------------------------------------------------------------------


def captions(result: Story) -> list[str]:
    """Caption of how far the trained D is from the best one."""
    return [
        f"After {step} steps |D − D*| is {result.distance(i):.3f} on average, and the loss is "
        f"{result.values[i] - result.least:.3f} above its minimum."
        for i, step in enumerate(FRAMES)
    ]


def equations(result: Story) -> list[str]:
    """L[D] against its least, LaTeX."""
    least = (
        r"2\log 2-2D_{\mathrm{JS}}="
        rf"{2 * math.log(2):.4f}-2\,({result.quality:.4f}+{result.coverage:.4f})={result.least:.4f}"
    )
    return [rf"L[D]={v:.4f}\ \ge\ {least}" for v in result.values]


def option(js: float) -> str:
    """The one of OPTIONS that a divergence is."""
    return OPTIONS[(js >= 0.05) + (js > 0.3)]
