r"""Copies or new: samples by the exact score of n training points and by a network, and how far each lies
from the nearest of those points.

    E[x_0 | x_t] = Σ_k r_k x_k,   r_k ∝ exp(−‖x_t − √ᾱ x_k‖² / 2(1 − ᾱ))

is the best denoiser there is on n points alone: nothing is left to learn, and it draws the points themselves.

Shapes: points (n, D) and samples (N, D) in data units; D = 2 or 64; F states of a trajectory.
"""

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from datamodules.points import Points
from lab.lenses import stock
from lab.lenses.diffusion import stops
from modules.diffusion import samplers
from modules.diffusion.exact import Denoiser
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.schedule import Schedule
from pages.diffusion.memorise.room import DIGITS, EXACT, NETWORK, PLANE

HELD = "held-out data"
NAMES = (EXACT, NETWORK, HELD)
COUNT = {PLANE: 400, DIGITS: 48}  # samples
SHOWN = 12  # digits of them that are drawn
STEPS, BINS, TRAILS = 40, 16, 24
COPY = 1 / 3  # of the distance to the second nearest: Yoon et al.


@cache
def splits(data: str) -> tuple[Tensor, Tensor]:
    """The network's own training points, and others of the same distribution that it has not seen; (·, D)
    float64."""

    def some(split: str) -> Tensor:
        if data == DIGITS:
            return stock.digits(split)[0]
        return stock.examples(Points, split, most=2000, name="eight_gaussians", num_train=200_000)[0]

    return some("train").flatten(1).double(), some("test").flatten(1).double()


def points(data: str, n: int) -> Tensor:
    """The first n training points, (n, D)."""
    return splits(data)[0][:n]


def best(schedule: Schedule, training: Tensor) -> Denoiser:
    """The exact denoiser of the empirical distribution of `training` (n, D), in a model's units: x̂_0 and
    ε̂."""

    def predict(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        a = schedule.alpha_bar[t][:, None]
        flat = x.flatten(1)
        off = torch.cdist(flat, a[0].sqrt() * training, compute_mode="donot_use_mm_for_euclid_dist").square()
        clean = (-off / (2 * (1 - a))).softmax(1) @ training
        return clean.view_as(x), ((flat - a.sqrt() * clean) / (1 - a).sqrt()).view_as(x)

    return predict


@dataclass(frozen=True)
class Trajectory:
    """
    Attributes:
        times: t of each frame.
        x, x0: (F, N, D) samples on their way and x̂_0, data units; of pictures the first SHOWN alone. At
            the first frame nothing has been asked yet: x̂_0 is the mean of the data.
        ends: (N, D) samples.
    """

    times: list[int]
    x: Tensor
    x0: Tensor
    ends: Tensor


def times(T: int) -> list[int]:
    """From T to 1 by squares, and 0: the last steps are short, as the exact score turns sharply there."""
    return sorted({0, *(1 + round((T - 1) * (i / STEPS) ** 2) for i in range(STEPS + 1))}, reverse=True)


@torch.no_grad()
def trajectory(model: GaussianDiffusion, data: str, n: int | None, seed: int) -> Trajectory:
    """DDIM from a seed's noise with the exact score of the first n training points, or None: with the
    network. The noise is the same for both."""
    count, schedule = COUNT[data], model.schedule
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(count, *model.event_shape, dtype=torch.float64, generator=generator)
    predict = single(model) if n is None else best(schedule, model.preprocess(points(data, n)))
    states = list(samplers.ddim(predict, schedule, x, times(schedule.T), clip=model.clip))
    shown = slice(None) if data == PLANE else slice(SHOWN)
    kept = [states[i] for i in stops(len(states))]
    nothing = splits(data)[0].mean(0).expand(count, -1)
    prediction = [nothing if m.x0 is None else model.postprocess(m.x0).flatten(1) for m in kept]
    way = [model.postprocess(m.x).flatten(1) for m in kept]
    return Trajectory(
        [m.t for m in kept], torch.stack(way)[:, shown], torch.stack(prediction)[:, shown], way[-1]
    )


def by_network(model: GaussianDiffusion, data: str, seed: int) -> Trajectory:
    """The network's trajectory."""
    return trajectory(model, data, None, seed)


def single(model: GaussianDiffusion) -> Denoiser:
    """The network, asked in its own precision."""
    result = model.denoiser()

    def predict(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        clean, noise = result(x.float(), t)
        return clean.double(), noise.double()

    return predict


def nearest(x: Tensor, training: Tensor) -> tuple[Tensor, Tensor]:
    """Distances of x (..., N, D) from its two nearest training points, (..., N, 2), and which is nearest."""
    result = torch.cdist(x, training, compute_mode="donot_use_mm_for_euclid_dist").topk(2, -1, largest=False)
    return result.values, result.indices[..., 0]


@dataclass(frozen=True)
class Found:
    """
    Attributes:
        distance: by name, (N,) from the nearest training point. copies: by name, the share that is a copy.
    """

    distance: dict[str, Tensor]
    copies: dict[str, float]

    def middle(self, name: str) -> float:
        """Median distance."""
        return float(self.distance[name].median())


def judged(ends: dict[str, Tensor], training: Tensor) -> Found:
    """Scores of samples and data by their names, (N, D) each."""
    near = {name: nearest(x, training)[0] for name, x in ends.items()}
    return Found(
        {name: d[:, 0] for name, d in near.items()},
        {name: float((d[:, 0] < COPY * d[:, 1]).double().mean()) for name, d in near.items()},
    )


def compared(exact: Trajectory, network: Trajectory, data: str, n: int) -> Found:
    """The ends of both trajectories, and as many held-out data, against the first n training points."""
    held = splits(data)[1][: COUNT[data]]
    return judged({EXACT: exact.ends, NETWORK: network.ends, HELD: held}, points(data, n))


def histogram(result: Found) -> tuple[Tensor, dict[str, Tensor]]:
    """Edges (BINS + 1,), and by name the share of distances in each bin, (BINS,)."""
    top = float(max(d.quantile(0.98) for d in result.distance.values()))
    edges = torch.linspace(0, max(top, 1e-6), BINS + 1, dtype=torch.float64)
    share = {
        name: torch.histc(d.clamp(max=float(edges[-1])), BINS, 0.0, float(edges[-1])) / len(d)
        for name, d in result.distance.items()
    }
    return edges, share


def beside(result: Trajectory, training: Tensor) -> Tensor:
    """The training points nearest to each frame's prediction, (F, SHOWN, D)."""
    return training[nearest(result.x0, training)[1]]


def captions(result: Trajectory, training: Tensor) -> list[str]:
    """Caption of how far the predictions are from the training points."""
    near = nearest(result.x0, training)[0][..., 0].median(-1).values
    first = [f"t = {result.times[0]}: noise; nothing has been asked yet."]
    return first + [
        f"t = {t}: half of the predictions x̂₀ lie within {float(d):.3g} of a training point."
        for t, d in zip(result.times[1:], near[1:], strict=True)
    ]
