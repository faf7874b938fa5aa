r"""The Kalman filter and smoother step by step, on a path in the plane and on a series of numbers.

    plane   state (x₁, x₂, v₁, v₂): x moves on by v, v drifts with variance q;  seen: x + N(0, r² I)
    line    z_t = a z_{t−1} + N(0, q),  seen: z_t + N(0, r²)

    forward    m = m⁻ + G (x − C m⁻),  G = P Cᵀ R⁻¹;      backward   m̂ = m + J (m̂⁺ − A m),  J = P Aᵀ (P⁻)⁻¹

Shapes: observations (T, D), NaN where a frame is missing; means (T, K); covariances (T, K, K).
References: Kalman 1960; Rauch, Tung, Striebel 1965; [DGM], list of models.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import cells
from lab.lenses import typed as read
from modules.latent.kalman import LinearDynamicalSystem, condition_gaussian, scalar_system

STEPS, MOST, REACH = 30, 60, 100.0
GAP = slice(12, 20)  # frames that are hidden, if a gap is asked for
MISSING = "?"


# --- Paths ----------------------------------------------------------------------------------------


def circle() -> Tensor:
    angle = torch.linspace(0, 1.8 * math.pi, STEPS, dtype=torch.float64)
    return 2 * torch.stack([angle.cos(), angle.sin()], 1)


def zigzag() -> Tensor:
    t = torch.linspace(0, 6, STEPS, dtype=torch.float64)
    return torch.stack([t - 3, 2 * (t % 2 - 1).abs() * 1.5 - 1.5], 1)


def wander() -> Tensor:
    """A path of the model itself, with q = 0.01."""
    z, _ = plane_system(0.01, 0.1).sample_states(1, length=STEPS, generator=torch.Generator().manual_seed(4))
    path = z[0, :, :2]
    path = path - path.mean(0)
    return 2.5 * path / path.abs().max()


PATHS: dict[str, Callable[[], Tensor]] = {"circle": circle, "zigzag": zigzag, "wander": wander}


def step() -> Tensor:
    return torch.where(torch.arange(STEPS) < STEPS // 2, 0.0, 2.0).double()[:, None]


def wave() -> Tensor:
    return (2 * torch.sin(0.35 * torch.arange(STEPS, dtype=torch.float64)))[:, None]


def still() -> Tensor:
    """Nothing moves; one observation of it, in `observations`, is far off."""
    return torch.zeros(STEPS, 1, dtype=torch.float64)


SERIES: dict[str, Callable[[], Tensor]] = {"jump": step, "wave": wave, "outlier": still}


def observations(truth: Tensor, noise: float, seed: int, outlier: bool = False) -> Tensor:
    """The truth (T, D) with noise; with an outlier, the middle frame is 5 away."""
    generator = torch.Generator().manual_seed(seed)
    x = truth + noise * torch.randn(truth.shape, generator=generator, dtype=torch.float64)
    if outlier:
        x[len(x) // 2] = truth[len(x) // 2] + 5
    return x


def hidden(x: Tensor) -> Tensor:
    """Without the frames of GAP, as far as there are any."""
    x = x.clone()
    x[GAP] = math.nan
    return x


def typed(text: str, columns: int) -> tuple[Tensor, str]:
    """Frames (T, columns), "?" for one that is missing, and a sentence that names the first that is none.

    Args:
        columns: 1 for numbers between blanks, commas or on lines; 2 for points, "1, 2; 3, 0" or on lines.

    Raises:
        ValueError: fewer than two frames, or nothing seen at all.
    """
    if columns == 2:
        results, bad = read.points(text, REACH, MOST, missing=True, lines=False)
    else:
        words, decided = cells.words(text)
        known = [math.nan if word == MISSING else cells.number(word) for word in words]
        good = [v is not None and not abs(v) > REACH for v in known]
        results = [[float(v)] for v, fits in zip(known, good, strict=True) if fits and v is not None]
        strange = [word for word, fits in zip(words, good, strict=True) if not fits]
        left = (
            f"{strange[0][:30]!r} is left out: write a number, up to ±{REACH:g}, or {MISSING}."
            if strange
            else ""
        )
        many = f"There are {len(results)} frames: the first {MOST} are used." if len(results) > MOST else ""
        bad = " ".join(filter(None, (decided, left or many)))
    x = torch.tensor(results[:MOST], dtype=torch.float64).reshape(-1, columns)
    if len(x) < 2 or bool(x.isnan().all()):
        raise ValueError(f"{bad} At least two frames are needed, one of them seen.".strip())
    return x, bad


# --- Systems and their beliefs --------------------------------------------------------------------


def plane_system(q: float, noise: float) -> LinearDynamicalSystem:
    """A point with a velocity that drifts; q: variance of an acceleration, all in frames of time."""
    eye, zero = torch.eye(2, dtype=torch.float64), torch.zeros(2, 2, dtype=torch.float64)
    move = torch.cat([torch.cat([eye, eye], 1), torch.cat([zero, eye], 1)])
    drift = q * torch.cat([torch.cat([eye / 3, eye / 2], 1), torch.cat([eye / 2, eye], 1)])
    start = torch.diag(torch.tensor([9.0, 9.0, 1.0, 1.0], dtype=torch.float64))
    look = torch.cat([eye, zero], 1)
    return LinearDynamicalSystem(
        move, drift, look, noise**2 * eye, torch.zeros(4, dtype=torch.float64), start
    )


def line_system(a: float, q: float, noise: float) -> LinearDynamicalSystem:
    return scalar_system(a, q, 1.0, noise**2)


@dataclass(frozen=True)
class Story:
    """Beliefs about each state: before its frame is seen, after it, and after all frames.

    Attributes:
        x: (T, D).
        predicted, filtered, smoothed: means (T, K); the same with `_spread`: covariances (T, K, K).
        gains: G (T, K, D), 0 where nothing is seen; back: J (T − 1, K, K).
        log_steps: log p(x_t | past), (T,), nats; 0 where nothing is seen.
    """

    x: Tensor
    predicted: Tensor
    predicted_spread: Tensor
    filtered: Tensor
    filtered_spread: Tensor
    smoothed: Tensor
    smoothed_spread: Tensor
    gains: Tensor
    back: Tensor
    log_steps: Tensor

    @property
    def first_gain(self) -> Tensor:
        """G of the first number seen to the first of the state, (T,); NaN where nothing is seen."""
        return torch.where(self.x.isnan().any(1), torch.nan, self.gains[:, 0, 0])


def story(system: LinearDynamicalSystem, x: Tensor) -> Story:
    """Filter and smoother of one sequence (T, D)."""
    forward, backward = system.filter(x[None]), system.smooth(x[None])
    A, Q, C, R = system.transition, system.transition_noise, system.emission, system.emission_noise
    m, P = forward.means[0], forward.covariances
    before = torch.cat([system.first_mean[None], m[:-1] @ A.T])
    spread = torch.cat([system.first_covariance[None], A @ P[:-1] @ A.T + Q])
    gains = torch.linalg.solve(R, C @ P).mT  # P Cᵀ R⁻¹, as P is after the frame
    gains = torch.where(x.isnan().any(1)[:, None, None], 0.0, gains)
    back = torch.linalg.solve(spread[1:], A @ P[:-1]).mT
    return Story(x, before, spread, m, P, backward.means[0], backward.covariances, gains, back,
                 forward.log_steps[0])  # fmt: skip


def referee(system: LinearDynamicalSystem, result: Story) -> float:
    """The largest difference between the smoother and conditioning in the one Gaussian of all states and
    observations."""
    count, states = len(result.x), result.smoothed.numel()
    mean, covariance = system.joint(count)
    at = ~result.x.isnan()
    known = torch.cat([torch.zeros(states, dtype=torch.bool), at.flatten()])
    keep = known | (torch.arange(len(mean)) < states)  # frames that are missing are in neither
    m, c = condition_gaussian(mean[keep], covariance[keep][:, keep], known[keep], result.x[at])
    blocks = c.reshape(count, -1, count, result.smoothed.shape[1]).diagonal(dim1=0, dim2=2).permute(2, 0, 1)
    means = (m - result.smoothed.flatten()).abs().max()
    return float(torch.maximum(means, (blocks - result.smoothed_spread).abs().max()))


def distance(path: Tensor, truth: Tensor) -> float:
    """Root mean squared distance from the truth (T, D), of the frames that are there."""
    squares = (path[:, : truth.shape[1]] - truth).square().sum(1)
    return float(squares[~squares.isnan()].mean().sqrt())


def ellipses(means: Tensor, spreads: Tensor) -> Tensor:
    """Two standard deviations of the first two coordinates, (T, 37, 2)."""
    angle = torch.linspace(0, 2 * math.pi, 37, dtype=torch.float64)
    root = torch.linalg.cholesky(spreads[:, :2, :2])
    return means[:, None, :2] + 2 * (root @ torch.stack([angle.cos(), angle.sin()])).mT
