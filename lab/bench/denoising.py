"""Diffusion in the plane at one budget: what the network is asked for, the schedule, straight lines, and a
flow.

One protocol: the same residual network (a spline flow has its own), 3,000 steps of 512 points, Adam with a
cosine to 0, weights averaged. Told are the mean −log p of test points by the probability-flow ODE, of
densities that integrate to 1; the bound, which is what a chain promises; and the energy distance of samples
in 100 steps of DDIM, whose floor is that of other points of the data. No x̂₀ is clipped: the cosine's last
step has next to no signal, and what ε̂ misses there, x̂₀ magnifies; v̂ does not.
"""

import math
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any

import torch
from torch import Tensor

from datamodules import points
from lab.bench.timing import Row
from lab.seeding import seeded
from modules.base import Module
from modules.diffusion import ode_likelihood, sde
from modules.diffusion.ddpm import DDPM
from modules.diffusion.flow_matching import FlowMatching, energy_distance
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.flow.cnf import solve
from modules.flow.coupling import NSF

SHAPES: tuple[points.Shape, ...] = ("moons", "spirals", "checkerboard", "pinwheel")
BATCH, RATE, DECAY = 512, 2e-3, 0.995
SAMPLER_STEPS = 100  # of a sample

# name -> what is trained, of data with this standard deviation
ASKED: dict[str, Callable[[float], Module]] = {
    "noise ε": lambda scale: DDPM(scale=scale),
    "data x₀": lambda scale: DDPM(scale=scale, target="x0"),
    "velocity v": lambda scale: DDPM(scale=scale, target="v"),
    "noise ε, cosine": lambda scale: DDPM(scale=scale, noise_schedule="cosine"),
    "velocity v, cosine": lambda scale: DDPM(scale=scale, noise_schedule="cosine", target="v"),
    "straight lines": lambda scale: FlowMatching(scale=scale),
    "no diffusion: splines": lambda scale: NSF(layers=4, hidden=[64, 64], bins=8, bound=4.0),
}


def measure(quick: bool = False) -> list[Row]:
    """One row a case: −log p in nats, and the rest in the note."""
    steps, count = (2, 20) if quick else (3000, 2000)
    return [row for shape in SHAPES[: 1 if quick else None] for row in of_shape(shape, steps, count)]


def of_shape(shape: points.Shape, steps: int, count: int) -> Iterator[Row]:
    """All cases of one distribution, and the floor of the distance."""
    x = points.sample(shape, 200_000, seed=0)[0]
    test, other = points.sample(shape, 2 * count, seed=1)[0].split(count)
    scale = float(x.std())
    for name, build in ASKED.items():
        model = seeded(partial(build, scale), 0)
        trained(model, x, steps)
        nll = -log_prob(model, test[:500])
        error = float(nll.std()) / math.sqrt(len(nll))
        generator = torch.Generator().manual_seed(2)
        knobs: dict[str, Any] = {} if isinstance(model, NSF) else {"steps": SAMPLER_STEPS}
        samples = model.sample(count, generator=generator, **knobs)  # type: ignore[operator]
        note = f"± {error:.3f}, energy distance {1000 * float(energy_distance(samples, test)):.1f}e-3"
        if isinstance(model, GaussianDiffusion):
            bound = model.bound(model.preprocess(test[:200]), generator=generator).total  # of all steps
            note += f", bound {float(bound.mean()) - model.log_unit:.3f}"
        yield Row("denoising", f"{shape}: {name}", float(nll.mean()), unit="nats", note=note)
    floor = 1000 * float(energy_distance(other, test))
    yield Row("denoising", f"{shape}: floor of the distance", floor, unit="e-3")


def trained(
    model: Module, x: Tensor, steps: int, batch: int = BATCH, rate: float = RATE, decay: float = DECAY,
    seed: int = 0,
) -> None:  # fmt: skip
    """Train on data x (N, …); the averages of the weights stay."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    average = deepcopy(model.state_dict())
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)  # a training step draws as it does in a run
        for _ in range(steps):
            drawn = x[torch.randint(len(x), (batch,), generator=generator)]
            optimizer.zero_grad()
            model.step((drawn,), "train").backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            cosine.step()
            for name, value in model.state_dict().items():
                if value.is_floating_point():
                    average[name].lerp_(value, 1 - decay)
    model.load_state_dict(average)
    model.eval()


def log_prob(model: Module, x: Tensor) -> Tensor:
    """log p (N,) of points (N, 2) in the data's units: of a chain as it is before its first step."""
    if isinstance(model, NSF):
        with torch.no_grad():
            return model.log_prob(x)
    if isinstance(model, FlowMatching):
        return straight(model, x)
    assert isinstance(model, GaussianDiffusion)
    equation = sde.VP()
    score = sde.learned_score(equation, model.denoiser(), model.schedule)
    since = sde.first_time(equation, model.schedule)
    result = ode_likelihood.likelihood(
        equation, score, model.preprocess(x), since, tolerance=1e-3, norm="rms"
    )
    return result.log_prob + model.log_unit


def straight(model: FlowMatching, x: Tensor) -> Tensor:
    """log p (N,) of a flow of velocities: back to the noise, with what it stretches on the way."""

    def field(t: float, state: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        def velocity(y: Tensor, s: float) -> Tensor:
            return model.velocity(y, y.new_full((len(y),), s))

        return ode_likelihood.divergence(velocity, state[0], t)

    begin = (x / model.scale, x.new_zeros(len(x)))
    (end, stretch), _ = solve(field, begin, 1.0, 0.0, "dopri5", 100, 1e-3, None, "rms")
    log_noise = -end.square().sum(1) / 2 - math.log(2 * math.pi)
    return log_noise + stretch - x.shape[1] * math.log(model.scale)
