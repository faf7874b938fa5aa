"""Eight Gaussians under three equations of noise, forwards and both ways back, with the exact score.

The data have variance 1 a coordinate. The way forwards is exact, whatever the steps: with m and v of the
kernel, x_{t+h} = a x_t + √(v_{t+h} − a² v_t) z, a = m_{t+h}/m_t. Seen in its own unit, x/√(m² + v), the cloud
of each equation runs through the same distributions as that of every other, at other times.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from lab.lenses.attention import number
from lab.lenses.diffusion import stops
from modules.diffusion import exact, sde
from modules.diffusion.sde import SDE
from modules.noise import normal_like
from pages.diffusion.equations.room import KINDS, NOISING, SDE_BACK, WAYS

RADIUS, SD, NEAR = 3.0, 0.25, 3
UNIT = math.sqrt(RADIUS**2 / 2 + SD**2)  # what makes a coordinate's variance 1
MIXTURE = exact.eight(RADIUS / UNIT, SD / UNIT)
FIRST, UNTIL = 0.01, 1e-3  # VE's σ at t = 0; where the ways back end
CLOUD, TRAILS, REACH = 600, 8, 3.0
GRID = torch.linspace(UNTIL, 1, 201, dtype=torch.float64)
OFF = 0.01  # of the width at t = 1
COMPARED, GREYS = ("VP", "VE"), 2.0  # of the digit, and the end of its scale


def equation(kind: str, end: float) -> SDE:
    """VP and sub-VP with the paper's β; VE from FIRST up to σ = `end`."""
    return sde.VE(FIRST, end) if kind == "VE" else sde.VP(sub=kind == "sub-VP")


@dataclass(frozen=True)
class Run:
    """
    Attributes:
        times: of each frame. cloud: (F, CLOUD, 2). share: (F,) of it within NEAR sds of a mode.
    """

    times: list[float]
    cloud: Tensor
    share: Tensor


def near(x: Tensor) -> Tensor:
    """Share of points (..., N, 2) within NEAR sds of a mode."""
    return (torch.cdist(x, MIXTURE.means).amin(-1) < NEAR * SD / UNIT).double().mean(-1)


def run(kind: str, way: str, S: int, end: float, seed: int) -> Run:
    """Trajectory of S steps, at most 41 states of it.

    Raises:
        ValueError: no such way.
    """
    if way not in WAYS:
        raise ValueError(f"way is {way!r}: it must be one of {', '.join(WAYS)}.")
    result, generator = equation(kind, end), torch.Generator().manual_seed(seed)
    if way == NOISING:
        times = torch.linspace(0, 1, S + 1, dtype=torch.float64)
        trajectory = drowned(result, MIXTURE.draw(CLOUD, generator)[0], times, generator)
    else:
        times = torch.linspace(1, UNTIL, S + 1, dtype=torch.float64)
        x, score = (
            sde.prior_sample(result, torch.zeros(CLOUD, 2, dtype=torch.float64), generator),
            score_of(result),
        )
        if way == SDE_BACK:
            trajectory = [state.x for state in sde.reverse(result, score, x, S, UNTIL, generator)]
        else:
            trajectory = along_flow(result, score, x, times)
    kept = stops(len(trajectory))
    cloud = torch.stack([trajectory[i] for i in kept])
    return Run([float(times[i]) for i in kept], cloud, near(cloud))


def score_of(result: SDE) -> sde.Score:
    """The exact score under this equation."""
    return sde.exact_score(result, MIXTURE)


def drowned(result: SDE, x: Tensor, times: Tensor, generator: torch.Generator) -> list[Tensor]:
    """x (N, 2) at each of `times`, from t = 0 on: draws of the exact kernel from each to the next."""
    trajectory = [x]
    for t, p in pairwise(times):
        kept = result.mean(p) / result.mean(t)
        noise = (result.variance(p) - kept**2 * result.variance(t)).sqrt()
        x = kept * x + noise * normal_like(x, generator)
        trajectory.append(x)
    return trajectory


def along_flow(result: SDE, score: sde.Score, x: Tensor, times: Tensor) -> list[Tensor]:
    """x (N, 2) at each of `times`, from t = 1 down: Euler's steps on the probability-flow ODE."""
    trajectory = [x]
    for t, p in pairwise(times.tolist()):
        x = x - (t - p) * sde.flow_field(result, score, x, t)
        trajectory.append(x)
    return trajectory


def width(result: SDE, t: float) -> float:
    """√(m² + v): standard deviation of a coordinate at time t."""
    return sde.radius(result, t)[0]


def widths(end: float) -> dict[str, Tensor]:
    """Widths of the clouds of every equation over GRID."""
    results = {kind: equation(kind, end) for kind in KINDS}
    return {kind: torch.tensor([width(one, float(t)) for t in GRID]) for kind, one in results.items()}


def log_snr(end: float) -> dict[str, Tensor]:
    """log₁₀ m²/v of every equation over GRID."""
    results = {kind: equation(kind, end) for kind in KINDS}
    return {kind: (one.mean(GRID).square() / one.variance(GRID)).log10() for kind, one in results.items()}


def curves(end: float) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """`widths` and `log_snr`."""
    return widths(end), log_snr(end)


def shares(way: str, S: int, end: float, seed: int) -> dict[str, float]:
    """Shares of home of every equation, at the end of a way."""
    return {kind: float(run(kind, way, S, end, seed).share[-1]) for kind in KINDS}


def data() -> float:
    """Share of the data themselves within NEAR sds: 1 − e^{−NEAR²/2}, the modes being far apart."""
    return 1 - math.exp(-(NEAR**2) / 2)


def cloud_and_means(result: Run, results: SDE, own_unit: bool) -> tuple[Tensor, Tensor]:
    """The cloud (F, CLOUD, 2) and the eight means (F, 8, 2), as they are or in the cloud's own unit."""
    times = torch.tensor(result.times, dtype=torch.float64)
    unit = torch.tensor([width(results, t) if own_unit else 1.0 for t in result.times], dtype=torch.float64)
    means = results.mean(times)[:, None, None] * MIXTURE.means
    return result.cloud / unit[:, None, None], means / unit[:, None, None]


def reach(result: SDE, own_unit: bool) -> float:
    """Reach of the plane that is shown."""
    return REACH * (1.0 if own_unit else max(width(result, t) for t in (0.0, 1.0)))


def short(result: SDE) -> float:
    """By what share the noise that the way back starts from is narrower than the cloud at t = 1, if it is."""
    return max(0.0, 1 - math.sqrt(result.prior_variance) / width(result, 1.0))


def captions(result: Run) -> list[str]:
    """Caption of how wide the cloud is, and how much of it is home."""
    return [
        f"t = {t:.3f}: a coordinate's deviation is {float(x.std()):.3g}; {float(s):.1%} lie within {NEAR} sd "
        "of a mode."
        for t, x, s in zip(result.times, result.cloud, result.share, strict=True)
    ]


def equations(result: Run, results: SDE) -> list[str]:
    """The kernel with its numbers, LaTeX."""
    answer = []
    for t in result.times:
        now = torch.tensor(t, dtype=torch.float64)
        m, noise = float(results.mean(now)), float(results.variance(now).sqrt())
        answer.append(
            rf"x_{{{t:.3f}}} = m x_0 + \sqrt v\,\epsilon = {number(m)}\,x_0 + {number(noise)}\,\epsilon"
        )
    return answer


# --- A digit ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Terms:
    """
    Attributes:
        times: of each frame. mean, sd: (F, 2) m and √v of each of COMPARED.
        pictures: (F, 2, 3, S, S) of each m x_0, √v ε and their sum; ink is 1, paper −1, and ε is one draw.
    """

    times: list[float]
    mean: Tensor
    sd: Tensor
    pictures: Tensor

    def ratio(self, at: int) -> list[float]:
        """m²/v of each at a frame; infinite where there is no noise."""
        return (self.mean[at] / self.sd[at]).square().tolist()  # type: ignore[no-any-return]


def terms(digit: Tensor, end: float, seed: int) -> Terms:
    """x_t = m x_0 + √v ε of a digit (S, S) in [0, 1], term by term, at 21 times."""
    times, x = torch.linspace(0, 1, 21, dtype=torch.float64), 2 * digit - 1
    eps = torch.randn(x.shape, generator=torch.Generator().manual_seed(seed))
    results = [equation(kind, end) for kind in COMPARED]
    mean = torch.stack([one.mean(times) for one in results], 1)
    sd = torch.stack([one.variance(times).sqrt() for one in results], 1)
    data, noise = (weight[..., None, None].float() * part for weight, part in ((mean, x), (sd, eps)))
    return Terms(times.tolist(), mean, sd, torch.stack([data, noise, data + noise], 2))


def names(result: Terms) -> list[list[str]]:
    """Names above each picture at each frame: the weights of the sum."""
    return [
        [
            text
            for kind, m, sd in zip(COMPARED, mean, noise, strict=True)
            for text in (f"{kind}: {m:.2f} x₀", f"+ {sd:.2f} ε", "= xₜ")
        ]
        for mean, noise in zip(result.mean.tolist(), result.sd.tolist(), strict=True)
    ]


def clearer(result: Terms, at: int) -> str:
    """The one of COMPARED that has the larger signal-to-noise ratio, or that neither has."""
    vp, ve = result.ratio(at)
    return "neither" if vp == ve else "VP" if vp > ve else "VE"


def digit_captions(result: Terms) -> list[str]:
    """The signal-to-noise ratios."""
    return [
        f"t = {t:.2f}: the signal-to-noise ratio m²/v is {vp:.3g} under VP, {ve:.3g} under VE."
        for t, (vp, ve) in zip(result.times, map(result.ratio, range(len(result.times))), strict=True)
    ]


def digit_equations(result: Terms) -> list[str]:
    """Both kernels with their numbers, LaTeX."""
    return [
        rf"x_t = m x_0 + \sqrt v\,\epsilon:\quad "
        rf"\text{{VP}}\ {m[0]:.3f}\,x_0 + {sd[0]:.3f}\,\epsilon,\quad "
        rf"\text{{VE}}\ {m[1]:.3f}\,x_0 + {sd[1]:.3f}\,\epsilon"
        for m, sd in zip(result.mean.tolist(), result.sd.tolist(), strict=True)
    ]
