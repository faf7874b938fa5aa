"""A point's way to noise by the probability-flow ODE, and the log-density that its stretching adds up to."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from datamodules import points
from lab.lenses import plane, quadrature
from modules.diffusion import exact, ode_likelihood, sde
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from pages.diffusion.ode_likelihood.room import EIGHT_NET, EQUATIONS, MOONS_NET, TWO

REACH, CELLS, CLOUD, FRAMES = 4.5, 61, 500, 31
HELD = {1e-3: 0.6, 1e-5: 0.06}  # how near to a network's log p a tolerance holds it, where log p > −20
INTEGRATED = 1e-4  # tolerance of the integral
PART = 800  # its points in one solve: the worst sets the steps of all, of a few easy ones they are too long
GRID, FINER = 41, 3  # cells of the integral, each way; points in one in which the density bends


@dataclass(frozen=True)
class Source:
    """
    Attributes:
        truth: the data's distribution in the model's units; None where no formula is known.
        scale: data = scale × model.
        since: the time whose density is meant.
        precision: of the numbers.
    """

    equation: sde.VP
    score: sde.Score
    truth: exact.Mixture | None
    scale: float
    since: float
    precision: torch.dtype


def two() -> exact.Mixture:
    """Two unequal hills."""
    shape = torch.tensor([[[0.4, 0.2], [0.2, 0.3]], [[0.2, 0.0], [0.0, 0.5]]])
    return exact.Mixture(torch.tensor([[-1.5, -0.5], [1.5, 0.5]]), shape, [0.6, 0.4])


def named(name: str, last: float, model: GaussianDiffusion | None = None, kind: str = EQUATIONS[0]) -> Source:
    """A score by the name of its source; `last` is β at the end, `model` the network's."""
    equation = sde.VP(beta_max=last, sub=kind == EQUATIONS[1])
    if model is None:
        truth = two() if name == TWO else exact.eight()
        return Source(equation, sde.exact_score(equation, truth), truth, 1.0, 0.0, torch.float64)
    score = sde.learned_score(equation, model.denoiser(), model.schedule)
    known = exact.eight(3 / model.scale, 0.25 / model.scale) if name == EIGHT_NET else None
    since = sde.first_time(equation, model.schedule)
    return Source(equation, score, known, model.scale, since, torch.float32)


@dataclass(frozen=True)
class Run:
    """
    Attributes:
        times: (FRAMES,), even; path: (FRAMES, 2) data units; stretch: (FRAMES,) ∫ of the divergence so far:
            by fine steps, whatever the tolerance.
        stops, sums: times of the solver's own steps, and what it has of the integral there.
        prior, log_prob: of the point, data units.
        true_end: log p of the point with the true p_1 in the prior's place, or NaN.
        truth: the data's own log-density, or NaN.
        probed: (k,) log p of each probe.
        calls: of the score.
    """

    times: list[float]
    path: Tensor
    stretch: Tensor
    stops: list[float]
    sums: list[float]
    prior: float
    log_prob: float
    true_end: float
    truth: float
    probed: Tensor
    calls: int

    @property
    def mismatch(self) -> float:
        """Cost of N(0, I) in the place of p_1."""
        return self.true_end - self.log_prob


def run(source: Source, point: tuple[float, float], tolerance: float, probes: int) -> Run:
    """One point's way; the probes' ways beside it, all in one solve."""
    x = torch.tensor([point], dtype=source.precision) / source.scale
    unit = 2 * torch.log(torch.tensor(source.scale)).item()
    stops, fine = [(source.since, 0.0)], [(source.since, x[0], x.new_zeros(()))]
    known = partial(ode_likelihood.likelihood, source.equation, source.score, x, source.since)
    result = known(tolerance, record=lambda t, s: stops.append((t, float(s[1][0]))))
    known(solver="rk4", steps=FRAMES - 1, record=lambda t, s: fine.append((t, s[0][0], s[1][0])))
    true_end = truth = float("nan")
    if source.truth is not None:
        ends = sde.exact_log_prob(source.equation, source.truth, result.end.double(), 1.0)
        true_end = float(ends + result.stretch) - unit
        truth = float(source.truth.log_prob(x)) - unit
    probed = x.new_zeros(0)
    if probes:
        many = x.expand(probes, 2)
        ones = ode_likelihood.rademacher(many, torch.Generator().manual_seed(0))
        probed = (
            ode_likelihood.likelihood(
                source.equation, source.score, many, source.since, tolerance, ones
            ).log_prob
            - unit
        )
    return Run(
        [t for t, _, _ in fine],
        source.scale * torch.stack([p for _, p, _ in fine]),
        torch.stack([s for _, _, s in fine]),
        [t for t, _ in stops],
        [s for _, s in stops],
        float(result.prior) - unit,
        float(result.log_prob) - unit,
        true_end,
        truth,
        probed,
        result.calls,
    )


def maps(source: Source, times: list[float]) -> Tensor | None:
    """log p_t on the window at every frame, (F, CELLS, CELLS), row = x_2 upwards; None where unknown."""
    if source.truth is None:
        return None
    x = plane.corners(REACH, CELLS).flatten(0, 1) / source.scale
    unit = 2 * torch.log(torch.tensor(source.scale)).item()
    results = [sde.exact_log_prob(source.equation, source.truth, x, t) - unit for t in times]
    return torch.stack(results).reshape(-1, CELLS, CELLS).clamp(min=-12).float()


def clouds(name: str, source: Source, times: list[float]) -> Tensor:
    """Data with noise of every frame's time added, (F, CLOUD, 2)."""
    x, _ = points.sample("moons" if name == MOONS_NET else "eight_gaussians", CLOUD, seed=0)
    eps = torch.randn(x.shape, generator=torch.Generator().manual_seed(1))
    noisy = [
        sde.noised(source.equation, x / source.scale, torch.full((CLOUD,), t, dtype=torch.float64), eps)
        for t in times
    ]
    return source.scale * torch.stack(noisy)


@dataclass(frozen=True)
class Found:
    """
    Attributes:
        run: of the point. maps, clouds: what is drawn below it; the one that is not drawn is None.
    """

    run: Run
    maps: Tensor | None
    clouds: Tensor | None


def followed(
    source: str, model: GaussianDiffusion | None, last: float, kind: str, point: tuple[float, float],
    tolerance: float, probes: int,
) -> Found:  # fmt: skip
    """A point's way by the score of a source."""
    results = named(source, last, model, kind)
    result = run(results, point, tolerance, probes)
    known = maps(results, result.times)
    return Found(result, known, clouds(source, results, result.times) if known is None else None)


def integral(source: Source, tolerance: float) -> Iterator[tuple[float, float]]:
    """∫ e^{log p} over the window by a grid, part after part, then again where it bends, FINER points each
    way in a cell; the last is whole."""
    step = 2 * REACH / GRID
    axis = (torch.arange(GRID, dtype=source.precision) + 0.5) * step - REACH
    x, p = torch.cartesian_prod(axis, axis), torch.zeros(GRID * GRID, dtype=source.precision)
    parts = torch.arange(len(x)).split(PART)
    for done, part in enumerate(parts, 1):
        p[part] = density(source, x[part], tolerance)
        yield 0.5 * done / len(parts), float(p.sum()) * step**2
    parts = quadrature.bending_cells(p.view(GRID, GRID), step).split(PART // FINER**2)
    for done, part in enumerate(parts, 1):
        inside = quadrature.subdivided(x[part], step, FINER)
        p[part] = density(source, inside.flatten(0, 1), tolerance).view(len(part), -1).mean(1)
        yield 0.5 + 0.5 * done / len(parts), float(p.sum()) * step**2


def density(source: Source, x: Tensor, tolerance: float) -> Tensor:
    """p of x (N, 2) by the ODE, (N,), data units."""
    result = ode_likelihood.likelihood(
        source.equation, source.score, x / source.scale, source.since, tolerance
    )
    return result.log_prob.exp() / source.scale**2


def captions(result: Run) -> list[str]:
    """Caption of where the point is."""
    return [
        f"t = {t:.3f}: the point is at ({float(p[0]):.2f}, {float(p[1]):.2f}); stretched by {float(s):.3f} "
        "nats so far."
        for t, p, s in zip(result.times, result.path, result.stretch, strict=True)
    ]


def equation(result: Run) -> str:
    """The change of variables in numbers."""
    return (
        rf"\log p_0 = \log \mathcal N(x_1; 0, I) + \int_0^1 \nabla \cdot u \, dt = {result.prior:.4f} + "
        rf"({result.sums[-1]:.4f}) = {result.log_prob:.4f}"
    )
