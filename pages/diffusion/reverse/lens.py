"""From noise to data, eight Gaussians: the same trajectory with the exact score and with a trained
network."""

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from lab.lenses.diffusion import stops
from lab.lenses.eight import NEAR, near, start, truth
from lab.lenses.precision import double
from modules.diffusion import langevin, samplers
from modules.diffusion.exact import Denoiser
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.schedule import Schedule

MEND = 0.2  # of the corrector: Langevin's step over 1 − ᾱ


@dataclass(frozen=True)
class Run:
    """
    Attributes:
        times: t of each frame.
        cloud: (F, CLOUD, 2) in data units.
        share: (F,) of the cloud within NEAR sds of a mode.
        calls: of the denoiser up to each frame.
    """

    times: list[int]
    cloud: Tensor
    share: Tensor
    calls: list[int]


@torch.no_grad()
def ride(
    predict: Denoiser, schedule: Schedule, scale: float, sampler: str, steps: int, eta: float, seed: int
) -> Run:
    """The trajectory from `start(seed)`, at most 41 states of it."""
    x, times, calls = start(seed), schedule.times(steps), 0

    def counted(x: Tensor, t: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        nonlocal calls
        calls += 1
        return predict(x, t)

    generator = torch.Generator().manual_seed(seed + 1)
    if sampler == "Heun":
        trajectory = samplers.heun(counted, schedule, x, times)
    elif sampler == "DPM++":
        trajectory = samplers.dpm_solver(counted, schedule, x, times)
    elif sampler == "corrected":
        trajectory = langevin.predictor_corrector(counted, schedule, x, times, 1, MEND, generator)
    else:
        trajectory = samplers.ddim(counted, schedule, x, times, eta, generator=generator)
    states = [(state, calls) for state in trajectory]
    kept, asked = zip(*(states[i] for i in stops(len(states))), strict=True)
    cloud = scale * torch.stack([m.x for m in kept])
    return Run([m.t for m in kept], cloud, near(cloud), list(asked))


def both(model: GaussianDiffusion, sampler: str, steps: int, eta: float, seed: int) -> dict[str, Run]:
    """With the exact score and with the network, from the same noise."""
    sources = {"exact": truth(model.scale).denoiser(model.schedule), "network": model.denoiser()}
    return {
        name: ride(predict, model.schedule, model.scale, sampler, steps, eta, seed)
        for name, predict in sources.items()
    }


def rides(model: GaussianDiffusion, sampler: str, S: int, noise: float, seed: int) -> dict[str, Run]:
    """`both`, in double precision."""
    return both(double(model), sampler, S, noise, seed)


def data() -> float:
    """Share of the data themselves within NEAR sds: 1 − e^{−NEAR²/2}, the modes being far apart."""
    return float(1 - torch.exp(torch.tensor(-(NEAR**2) / 2)))


def turns(run: Run) -> float:
    """Length of the paths against their straight lines, the mean over the cloud."""
    legs = sum((b - a).norm(dim=1) for a, b in pairwise(run.cloud))
    return float((legs / (run.cloud[-1] - run.cloud[0]).norm(dim=1)).median())


def numbers(run: Run) -> list[dict[str, str]]:
    """Numbers of the machine's parts at each frame: the time, and the calls of the network so far."""
    return [
        {"xt": f"t = {t}", "net": f"call {n} of {run.calls[-1]}"}
        for t, n in zip(run.times, run.calls, strict=True)
    ]


def captions(run: Run) -> list[str]:
    """Caption of where the cloud is."""
    return [
        f"t = {t}: {100 * float(s):.1f} % lie within {NEAR} sd of a mode."
        for t, s in zip(run.times, run.share, strict=True)
    ]


def equations(run: Run, schedule: Schedule) -> list[str]:
    """Equation of how much of x_t is data, how much noise."""
    return [
        rf"\sqrt{{\bar\alpha_{{{t}}}}} = {float(schedule.alpha_bar[t].sqrt()):.3f}, \quad "
        rf"\sqrt{{1 - \bar\alpha_{{{t}}}}} = {float((1 - schedule.alpha_bar[t]).sqrt()):.3f}"
        for t in run.times
    ]
