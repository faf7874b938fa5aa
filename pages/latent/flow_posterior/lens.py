"""Three families of posteriors trained on one observation whose exact posterior is known on a grid.

z ~ N(0, I_2), x|z ~ N(g(z), σ²) with g a quadratic form of z. A diagonal Gaussian, a full one and a flow
climb the same ELBO; what is left to log p(x) is KL(q ‖ p(z|x)).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import torch
from torch import Tensor

from lab.lenses import plane
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.flow.flow import Flow
from modules.flow.layer import FlowStack
from modules.flow.linear import Diagonal, Triangular
from modules.flow.maf import IAF
from modules.flow.posterior import TOYS, Toy
from modules.flow.reverse_kl import reverse_kl

# g: coefficients of 1, z₁, z₂, z₁², z₂², z₁ z₂
FORMS = {
    "correlated": [0.0, 1.0, 1.0, 0.0, 0.0, 0.0],
    "banana": [-1.0, 0.0, 1.0, 1.0, 0.0, 0.0],
    "two modes": [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
}
FAMILIES = ("diagonal", "full", "flow")
STEPS, FRAMES, BATCH = {"diagonal": 300, "full": 300, "flow": 800}, 20, 128
SHOWN, JUDGES = 500, 4000  # draws on the picture, and those of the ELBO
REACH, CELLS = 3.5, 90


def target(form: Sequence[float], x: float, sigma: float) -> Toy:
    """The toy with this g; the named ones are those of `modules.flow.posterior`."""
    c = [*form, *[0.0] * (6 - len(form))]

    def g(z: Tensor) -> Tensor:
        a, b = z.unbind(-1)
        terms = {1: lambda: a, 2: lambda: b, 3: lambda: a * a, 4: lambda: b * b, 5: lambda: a * b}
        return sum((c[i] * term() for i, term in terms.items() if c[i]), torch.full_like(a, c[0]))

    return Toy(g, x, sigma)


def observation(name: str) -> float:
    """x of a named toy."""
    return TOYS[name].x


def family(kind: str, layers: int, seed: int) -> Flow:
    """A flow of N(0, I): diagonal, full, or inverse autoregressive layers."""
    if kind == "flow":
        return seeded(lambda: IAF((2,), layers=layers, hidden=(32, 32), spline=True), seed)

    def gaussian() -> Flow:
        flow = Flow((2,))
        flow.stack = FlowStack([Diagonal(2) if kind == "diagonal" else Triangular(2)])
        return flow

    return seeded(gaussian, seed)


@dataclass(frozen=True)
class Found:
    """A training so far.

    Attributes:
        steps, elbos: (F,) of the snapshots; error: standard error of the last ELBO.
        draws: (F, SHOWN, 2) of the same noise at each of them.
        layers: (L + 1, SHOWN, 2), the last snapshot's draws after each layer, the noise first.
        log_p: exact.
    """

    steps: list[int]
    elbos: list[float]
    error: float
    draws: Tensor
    layers: Tensor
    log_p: float

    @property
    def gap(self) -> float:
        return self.log_p - self.elbos[-1]


def training(toy: Toy, kind: str, layers: int, anneal: bool, seed: int) -> Iterator[tuple[float, Found]]:
    """Adam on −ELBO; with `anneal` log p(x, z) counts from 1 % to fully over the first half."""
    generator = torch.Generator().manual_seed(seed)
    flow, total = family(kind, layers, seed), STEPS[kind]
    optimizer = torch.optim.Adam(flow.parameters(), lr=0.03 if kind != "flow" else 5e-3, fused=kind != "flow")
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total)
    judges = torch.randn(JUDGES, 2, generator=torch.Generator().manual_seed(1))
    log_p, kept = toy.log_evidence(7.0, 701), []
    asked = count()

    def loss() -> Tensor:
        share = min(1.0, 0.01 + 2 * next(asked) / total) if anneal else 1.0
        z = torch.randn(BATCH, 2, generator=generator)
        return reverse_kl(flow.stack, z, lambda x: share * toy.log_joint(x)).mean()

    for step, _ in training_steps(loss, optimizer, total, schedule, clip=5.0):
        if step % (total // FRAMES) == 0:
            kept.append((step, *snapshot(flow, toy, judges)))
            steps, elbos, errors, draws = zip(*kept, strict=True)
            layers_now = by_layer(flow, judges[:SHOWN])
            result = Found(list(steps), list(elbos), errors[-1], torch.stack(draws), layers_now, log_p)
            yield step / total, result


@torch.no_grad()
def snapshot(flow: Flow, toy: Toy, noise: Tensor) -> tuple[float, float, Tensor]:
    """ELBO with its standard error, and the first SHOWN draws."""
    terms = -reverse_kl(flow.stack, noise, toy.log_joint)
    return float(terms.mean()), float(terms.std()) / len(terms) ** 0.5, flow.generate(noise[:SHOWN])[0]


@torch.no_grad()
def by_layer(flow: Flow, noise: Tensor) -> Tensor:
    """The draws before the first layer and after each."""
    return torch.stack([noise, *(z for z, _ in flow.stack.generating(noise))])  # type: ignore[operator]


def exact(toy: Toy) -> Tensor:
    """p(z|x) on the cells of [−REACH, REACH]², (CELLS, CELLS), row = z₂ upwards."""
    log_joint = toy.log_joint(plane.middles(REACH, CELLS))
    return (log_joint - log_joint.logsumexp((0, 1))).exp() / (2 * REACH / CELLS) ** 2


def correlation(toy: Toy) -> float:
    """Correlation of z₁ and z₂ under the exact posterior."""
    p = exact(toy)
    p = p / p.sum()
    axis = (torch.arange(CELLS, dtype=torch.float64) + 0.5) * (2 * REACH / CELLS) - REACH
    a, b = p.sum(0), p.sum(1)
    ma, mb = float(a @ axis), float(b @ axis)
    covariance = float(axis @ p @ axis) - mb * ma
    spread = (float(a @ axis**2) - ma**2) * (float(b @ axis**2) - mb**2)
    return covariance / spread**0.5


def sentences(result: Found, layered: bool) -> list[str]:
    """A sentence for every frame of the film."""
    if layered:
        count = len(result.layers) - 1
        return ["The noise, before any layer."] + [
            f"After layer {i} of {count}" + (": the posterior." if i == count else ".")
            for i in range(1, count + 1)
        ]
    return [
        f"Step {step}: the ELBO is {max(0.0, result.log_p - elbo):.3f} nats below log p(x)."
        for step, elbo in zip(result.steps, result.elbos, strict=True)
    ]
