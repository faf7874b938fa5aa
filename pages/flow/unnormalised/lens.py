r"""A flow fitted to a density that is known up to a factor: what it is made of, and what is measured of it.

    reverse   KL(p ‖ q/Z) = E_z[log p_Z(z) − ladj − log q(f(z))] + log Z      samples of the flow
    forward   KL(q/Z ‖ p) = −E_q[log p(x)] + constant                         samples of the target
    weights   w = q(x) / p(x) of the flow's samples:  E log w ≤ log Z ≈ log mean w

A factor κ on q adds log κ to log w and to log Z, and changes no gradient. Samples of the target come from a
grid: they are there to compare, a real target has none. Shapes: x (N, 2).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lab.lenses import plane, rewind
from modules.flow import reverse_kl
from modules.flow.coupling import RealNVP
from modules.flow.flow import Flow
from modules.flow.maf import IAF
from modules.flow.planar import PlanarFlow, RadialFlow

REACH = 4.5  # the window shown is [-REACH, REACH]²
CELLS = 56  # of the window, a side
DRAWS, DRAWN = 2_000, 250  # samples that are weighed, and of these drawn
OWN = "own drawing"
PAD = 20
INK = 3.5  # the drawing covers [-INK, INK]²


def two_modes(x: Tensor) -> Tensor:
    """Two Gaussians at x_1 = ±2.5, of equal mass: log Z = log 4π."""
    modes = [-0.5 * (x[..., 0] + side).square() / 0.25 for side in (-2.5, 2.5)]
    return torch.logaddexp(*modes) - 0.5 * x[..., 1].square() / 0.25


TARGETS = {
    "ring": reverse_kl.ring, "banana": reverse_kl.banana, "two modes": two_modes,
    "double well": reverse_kl.double_well, "sine band": reverse_kl.sine,
}  # fmt: skip
KINDS: dict[str, Callable[[int], Flow]] = {
    "planar": lambda layers: PlanarFlow((2,), layers, fit_data=False),
    "radial": lambda layers: RadialFlow((2,), layers, fit_data=False),
    "IAF": lambda layers: IAF((2,), layers, (32, 32)),
    "coupling": lambda layers: RealNVP((2,), layers, (32, 32)),
}
FORWARD = ("IAF", "coupling")  # whose density of other points needs no search for a root


@dataclass(frozen=True)
class Target:
    """A density up to a factor: by name, or a drawing, rows of ink in [0, 1]."""

    name: str
    drawing: tuple[tuple[float, ...], ...] = ()

    def __call__(self, x: Tensor) -> Tensor:
        """log q(x), (N,)."""
        if self.name != OWN:
            return TARGETS[self.name](x)
        ink = torch.tensor(self.drawing, dtype=x.dtype)[None, None].flip(2)  # rows upwards
        soft = F.avg_pool2d(ink, 3, 1, 1, count_include_pad=True)
        places = (x / INK).clamp(-1, 1).reshape(1, -1, 1, 2)
        result = F.grid_sample(soft, places, align_corners=False, padding_mode="border").reshape(x.shape[:-1])
        outside = (x.abs() - INK).clamp(min=0).square().sum(-1)
        return (result + 0.002).log() - 8 * outside


@lru_cache(maxsize=16)
def cells(target: Target) -> tuple[Tensor, float]:
    """log q at the middles of the window's cells, (CELLS²,), and log Z over a wide plane."""
    with torch.no_grad():
        return target(grid()), reverse_kl.log_normaliser(target, reach=16.0, cells=801)


@lru_cache(maxsize=16)
def target_samples(target: Target, count: int = 10_000) -> Tensor:
    """Points (count, 2) of the target, each even within one of many small cells of the window."""
    fine = 300
    at, width = plane.middles(REACH, fine, torch.float32).flatten(0, 1), 2 * REACH / fine
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        cell = torch.multinomial(target(at).softmax(0), count, replacement=True, generator=generator)
    return at[cell] + (torch.rand(count, 2, generator=generator) - 0.5) * width


@lru_cache(maxsize=1)
def grid() -> Tensor:
    """The middles of the window's cells, row by row: (CELLS², 2)."""
    return plane.middles(REACH, CELLS, torch.float32).flatten(0, 1)


@dataclass(frozen=True)
class TargetRecipe(rewind.OfOneLoss):
    """A flow of `layers` layers and the divergence that it is trained by."""

    target: Target
    kind: str
    layers: int
    forward: bool
    seed: int
    stride: int = 10

    def build(self) -> Flow:
        return KINDS[self.kind](self.layers)

    def loss(self, model: Flow, knobs: Mapping[str, float], generator: torch.Generator) -> Tensor:
        """Reverse KL of a batch, up to a constant."""
        batch = int(knobs["batch"])
        if self.forward:
            x = target_samples(self.target)
            return -model.log_prob(x[torch.randint(len(x), (batch,), generator=generator)]).mean()
        z = torch.randn(batch, 2, generator=generator)
        return reverse_kl.reverse_kl(model.stack, z, self.target).mean()

    def look(self, model: Flow, knobs: Mapping[str, float]) -> dict[str, np.ndarray]:
        """map (CELLS, CELLS): log p of the flow as 0 to 255; samples (DRAWN, 2) and their weights against the
        mean; numbers: E log w, log mean w, effective share, KL to and from the target, mass to the right."""
        z = torch.randn(DRAWS, 2, generator=torch.Generator().manual_seed(self.seed + 10_000))
        x, ladj = model.generate(z)
        log_w = self.target(x) - (model.log_base(z) - ladj)
        log_z = float(log_w.logsumexp(0)) - math.log(DRAWS)
        log_p = model.log_prob(grid())
        log_q, exact = cells(self.target)
        share = log_q.softmax(0)
        forward = (share * (log_q - exact - log_p)).sum()
        weighed = reverse_kl.importance_estimates(model.stack, z, self.target)
        return {
            "map": plane.levels(log_p.view(CELLS, CELLS)),
            "samples": x[:DRAWN].numpy(),
            "weights": (log_w[:DRAWN] - log_z).exp().clamp(max=9.99).numpy(),
            "numbers": np.array(
                [-weighed["kl"], weighed["log_z"], weighed["ess"], weighed["kl"] + exact, float(forward),
                 float((x[:, 0] > 0).float().mean())]
            ),
        }  # fmt: skip


def target_map(target: Target) -> np.ndarray:
    """The target's log-density, normalised, as `plane.levels`."""
    log_q, log_z = cells(target)
    return plane.levels((log_q - log_z).view(CELLS, CELLS))


def captions(frames: list, recipe: TargetRecipe) -> list[str]:  # type: ignore[type-arg]
    texts = []
    for number, frame in enumerate(frames):
        _, _, ess, there, back, right = frame["numbers"].tolist()
        after = f"After {number * recipe.stride} steps"
        if not math.isfinite(there):
            texts.append(f"{after} the training has run away: turn the rate down.")
            continue
        texts.append(
            f"{after}: KL(flow ‖ target) {there:.3f}, KL(target ‖ flow) {back:.3f} nats; {ess:.0%} of the "
            f"samples count, {right:.0%} lie right of 0."
        )
    return texts
