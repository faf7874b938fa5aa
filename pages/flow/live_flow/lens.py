"""A flow of the plane in training: what it is made of, its data, and what is drawn of it.

−log p on points that it has not seen falls towards the entropy of the distribution that they come from, and
never below it but for the scatter of the sample: their difference is KL(data ‖ model). Linear layers end at
the best Gaussian.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lab.lenses import plane, rewind
from lab.lenses.ink import OWN, Distribution
from modules.flow.coupling import NICE, NSF, FlowPlusPlus, LinearFlow, RealNVP
from modules.flow.flow import Flow
from modules.flow.naf import NAF

REACH = 4.0  # the window shown is [-REACH, REACH]²
CELLS = 64  # of the window, a side
DRAWN = 300  # samples
TRAIN, TEST = 10_000, 2_000
KINDS = {
    "linear": LinearFlow,
    "additive": NICE,
    "affine": RealNVP,
    "spline": NSF,
    "logistics": FlowPlusPlus,  # of Flow++
    "neural": NAF,  # masked, not couplings
}
SHAPES = ("moons", "eight_gaussians", "rings", "spirals", "checkerboard", "pinwheel", OWN)


@lru_cache(maxsize=16)
def split(distribution: Distribution, part: int) -> Tensor:
    """The points of a distribution to train on (part 1) and to judge by (part 3)."""
    return distribution.sample(TRAIN if part == 1 else TEST, seed=part)


@lru_cache(maxsize=16)
def gaussian_nll(distribution: Distribution) -> float:
    """−log p a point of the Gaussian with the training points' mean and covariance, on the test points."""
    x, test = split(distribution, 1), split(distribution, 3)
    normal = torch.distributions.MultivariateNormal(x.mean(0), x.T.cov())
    return float(-normal.log_prob(test).mean())


def span(distribution: Distribution) -> tuple[float, float]:
    """Range of the curve's ordinate: from below the entropy to above the best Gaussian."""
    top = gaussian_nll(distribution)
    low = top - 2.2 if distribution.entropy is None else distribution.entropy
    return low - 0.15 * (top - low), top + 0.35 * (top - low)


@dataclass(frozen=True)
class FlowRecipe(rewind.OfOneLoss):
    """A flow of `layers` layers, its conditioners two layers of `width` units."""

    distribution: Distribution
    kind: str
    layers: int
    width: int
    seed: int
    stride: int = 10

    def build(self) -> Flow:
        if self.kind == "linear":
            return LinearFlow((2,), self.layers)
        return KINDS[self.kind]((2,), self.layers, (self.width, self.width))  # type: ignore[arg-type]

    def loss(self, model: Flow, knobs: Mapping[str, float], generator: torch.Generator) -> Tensor:
        """Mean −log p of a batch."""
        x = split(self.distribution, 1)
        return -model.log_prob(x[torch.randint(len(x), (int(knobs["batch"]),), generator=generator)]).mean()

    def look(self, model: Flow, knobs: Mapping[str, float]) -> dict[str, np.ndarray]:
        """map (CELLS, CELLS): log p from LOWEST to 0 as 0 to 255; samples (DRAWN, 2); nll; mass in the
        window."""
        log_p = model.log_prob(grid())
        noise = torch.randn(DRAWN, 2, generator=torch.Generator().manual_seed(self.seed))
        return {
            "map": plane.levels(log_p.view(CELLS, CELLS)),
            "samples": model.decode(noise).numpy(),
            "nll": (-model.log_prob(split(self.distribution, 3)).mean()).numpy(),
            "mass": (log_p.exp().sum() * (2 * REACH / CELLS) ** 2).numpy(),
        }


@lru_cache(maxsize=1)
def grid() -> Tensor:
    """The middles of the window's cells, row by row: (CELLS², 2)."""
    return plane.middles(REACH, CELLS, torch.float32).flatten(0, 1)


def captions(frames: Any, knobs: Any, recipe: FlowRecipe) -> list[str]:
    """Caption of each frame."""
    entropy = recipe.distribution.entropy
    texts = []
    for number, (frame, turned) in enumerate(zip(frames, knobs, strict=True)):
        nll, after = float(frame["nll"]), f"After {number * recipe.stride} steps"
        if not math.isfinite(nll):
            texts.append(f"{after} the training has run away: turn the rate down.")
            continue
        above = "" if entropy is None else f", {nll - entropy:.3f} above the entropy"
        texts.append(
            f"{after}: −log p of new points {nll:.3f} nats{above}. Rate {turned['rate']:g}; "
            f"mass in the window {float(frame['mass']):.3f}."
        )
    return texts
