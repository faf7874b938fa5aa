"""One planar or radial layer on the plane, from no effect to full effect; and K planar layers in a row.

planar   x = z + û tanh(wᵀz + b)          a cut: only wᵀz counts. One to one iff wᵀû ≥ −1
radial   x = z + β (z − z0)/(α + r)       a ball: only r = ‖z − z0‖ counts. One to one iff β ≥ −α
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import plane
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.flow.planar import Planar, PlanarFlow, Radial
from modules.flow.reverse_kl import TARGETS, log_normaliser, reverse_kl

SHARES = 21  # frames from no effect to all of it
REACH, LINES, DOTS = 3.0, 13, 61
TRAINED, EVERY = 600, 40  # steps of K layers on a potential, and steps between two frames


def raw(target: float) -> float:
    """The number whose softplus is `target` > 0."""
    return math.log(math.expm1(target))


def planar(u: tuple[float, float], w: tuple[float, float], b: float, constrained: bool) -> Planar:
    layer = seeded(lambda: Planar(2, constrained=constrained)).double()
    layer.theta.data = torch.tensor([*u, *w, b], dtype=torch.float64)
    return layer.requires_grad_(False)


def radial(centre: tuple[float, float], alpha: float, beta: float) -> Radial:
    """β must be above −α."""
    layer = seeded(lambda: Radial(2)).double()
    layer.centre.data = torch.tensor(centre, dtype=torch.float64)
    layer.raw_alpha.data = torch.tensor(raw(alpha), dtype=torch.float64)
    layer.raw_beta.data = torch.tensor(raw(beta + alpha), dtype=torch.float64)
    return layer.requires_grad_(False)


@dataclass(frozen=True)
class Bend:
    """A layer whose push is scaled from 0 to 1.

    Attributes:
        grid: (SHARES, P, 2) a grid of lines of DOTS points.
        cloud: (SHARES, N, 2) draws of N(0, I).
        along: (C,) wᵀz, or the signed distance from the centre; profile: (SHARES, C) where that goes.
        slopes: (SHARES,) the least slope of the profile: below 0 the plane is folded.
        ladj: (SHARES,) log |det J| at the marked point, moved: (SHARES, 2) where that goes.
    """

    grid: Tensor
    cloud: Tensor
    along: Tensor
    profile: Tensor
    slopes: Tensor
    ladj: Tensor
    moved: Tensor


def grid() -> Tensor:
    across = torch.linspace(-REACH, REACH, LINES, dtype=torch.float64)
    along = torch.linspace(-REACH, REACH, DOTS, dtype=torch.float64)
    level = torch.stack(torch.broadcast_tensors(along, across[:, None]), -1)
    return torch.cat([level, level.flip(-1)]).reshape(-1, 2)


def draws(count: int = 500) -> Tensor:
    return torch.randn(count, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def bend(layer: Planar | Radial, point: tuple[float, float]) -> Bend:
    """Scaling the push of a layer scales û, or β: every share is a layer of the same kind."""
    shares = torch.linspace(0, 1, SHARES, dtype=torch.float64)
    a = torch.linspace(-4, 4, 401, dtype=torch.float64)
    if isinstance(layer, Planar):
        u, w, b = layer.parts(None)
        inner = float(w @ u)
        push, slope = inner * (a + b).tanh(), inner * (1 - (a + b).tanh() ** 2)
    else:
        alpha, beta = float(layer.alpha), float(layer.beta)
        push, slope = beta * a / (alpha + a.abs()), beta * alpha / (alpha + a.abs()) ** 2
    marked = torch.tensor(point, dtype=torch.float64)

    def scaled(z: Tensor) -> Tensor:
        return z + shares[:, None, None] * (layer.generate(z)[0] - z)

    return Bend(
        scaled(grid()), scaled(draws()), a, a + shares[:, None] * push,
        (1 + shares[:, None] * slope).min(1).values, ladj(layer, marked, shares), scaled(marked[None])[:, 0],
    )  # fmt: skip


def ladj(layer: Planar | Radial, z: Tensor, shares: Tensor) -> Tensor:
    """log |det (I + s (J − I))| at z for every share s."""
    with torch.enable_grad():
        J = torch.autograd.functional.jacobian(lambda h: layer.generate(h)[0], z)
    eye = torch.eye(2, dtype=z.dtype)
    return torch.linalg.slogdet(eye + shares[:, None, None] * (J - eye)).logabsdet


def preimages(run: Bend, at: float = 0.0) -> int:
    """Number of places of the profile that go to `at`, with all of the push."""
    off = run.profile[-1] - at
    return int((off[:-1] * off[1:] < 0).sum() + (off == 0).sum())


def captions(run: Bend) -> list[str]:
    """A sentence for every share."""
    texts = []
    for i in range(SHARES):
        slope = float(run.slopes[i])
        state = "the plane is folded: several points go to the same place" if slope < 0 else "one to one"
        texts.append(f"{5 * i} % of the push: least slope {slope:.3f}, {state}.")
    return texts


def equations(run: Bend, point: tuple[float, float]) -> list[str]:
    """Image of the marked point, and its ladj, as LaTeX."""
    return [
        rf"({point[0]:g},\ {point[1]:g}) \to ({float(x[0]):.4f},\ {float(x[1]):.4f}),\qquad "
        rf"\log|\det J| = {float(d):.4f}"
        for x, d in zip(run.moved, run.ladj, strict=True)
    ]


# --- K layers on a potential ----------------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """Progress of training; one entry per frame.

    Attributes:
        steps: done. samples: (F, N, 2) of the flow. kl: KL(flow ‖ target), nats.
    """

    steps: list[int]
    samples: Tensor
    kl: list[float]


def fit(target: str, layers: int, seed: int):
    """Planar layers trained on an unnormalised density by reverse KL: yields the share done and a Fit."""
    log_q = TARGETS[target]
    log_z = log_normaliser(log_q, 8.0, 401)
    flow = seeded(lambda: PlanarFlow((2,), layers, fit_data=False), seed)
    generator = torch.Generator().manual_seed(seed)
    fixed = flow.noise(1000, generator=torch.Generator().manual_seed(99))
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, TRAINED)
    steps, samples, kls = [], [], []

    def loss() -> Tensor:
        return reverse_kl(flow.stack, flow.noise(256, generator=generator), log_q).mean()

    for done, _ in training_steps(loss, optimizer, TRAINED, schedule, clip=5.0):
        if done % EVERY == 0:
            with torch.no_grad():
                steps.append(done)
                samples.append(flow.generate(fixed)[0])
                kls.append(float(reverse_kl(flow.stack, fixed, log_q).mean()) + log_z)
            yield done / TRAINED, Fit(list(steps), torch.stack(samples), list(kls))


def density(target: str, reach: float = 4.0, cells: int = 100) -> Tensor:
    """The target over [−reach, reach]², scaled to a maximum of 1, (cells, cells), row = x_2 upwards."""
    log_q = TARGETS[target](plane.middles(reach, cells))
    return (log_q - log_q.max()).exp()


def answer(layer: Planar | Radial, point: tuple[float, float]) -> list[float]:
    """Image of a point, and log |det J| there."""
    x, result = layer.generate(torch.tensor(point, dtype=torch.float64))
    return [*x.tolist(), float(result)]
