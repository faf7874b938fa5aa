"""Densities of whole numbers: without noise Gaussians shrink onto them.

References: Uria, Murray, Larochelle 2013, arXiv:1306.0186; Theis, van den Oord, Bethge 2016,
arXiv:1511.01844.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from lab.lenses import stock
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.autoregressive.rnade import RNADE
from modules.trace import Step, Trace

PIXELS = (28, 29)  # two neighbours in the middle of an 8×8 digit
LEVELS = 17
UNIT = 4 / LEVELS  # levels are fed to the network as numbers of [-2, 2)


def levels(count: int = 400) -> Tensor:
    """Grey levels 0..16 of two neighbouring pixels of training digits, (count, 2)."""
    return stock.digits("train", form="levels")[0][:count].flatten(1)[:, list(PIXELS)]


def entropy(x: Tensor) -> float:
    """Entropy of the rows of whole numbers (N, m) as they occur, nats."""
    p = x.unique(dim=0, return_counts=True)[1].double() / len(x)
    return -float((p * p.log()).sum())


def whole_numbers(components: int, seed: int = 0, steps: int = 200, every: int = 10) -> Trace:
    """RNADE on whole numbers as they are, and with uniform noise in [0, 1) added anew in each step.

    The integral of a density over the cell of a whole number is its probability, so with noise -log p is at
    least the entropy of the levels (Jensen). Without noise nothing holds it: log σ has no floor here.
    Step values: `steps`, and for "raw" and "noisy" `nll_…` (nats of a pair of levels) and
    `log_sigma_…` (of the narrowest component, in units of a level). Result: the entropy, nats.
    """
    x, generator = levels(), torch.Generator().manual_seed(seed)
    log_sigma: dict[str, float] = {}  # of the narrowest component now, in units of the input

    def training(name: str) -> Iterator[tuple[int, float]]:
        model = seeded(
            lambda: RNADE(event_shape=(2,), hidden=16, components=components, min_log_sigma=-30.0), seed
        )
        # the narrower a component, the smaller the steps that its mean can bear: the rate decays
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03, betas=(0.9, 0.99))
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.98)

        def loss() -> Tensor:
            noise = torch.rand(x.shape, generator=generator) if name == "noisy" else 0.5
            inputs = (x + noise) * UNIT - 2
            outputs = model.logits(inputs)
            log_sigma[name] = model.mixture(outputs.detach())[2].min().item()
            return -model.conditional_log_prob(outputs, inputs).sum(1).mean()

        return training_steps(loss, optimizer, steps, schedule, clip=1.0)

    trace: list[Step] = []
    for (done, raw), (_, noisy) in zip(training("raw"), training("noisy"), strict=True):
        if done % every == 0:
            seen: dict[str, float] = {"steps": done}
            for name, loss in (("raw", raw), ("noisy", noisy)):
                # a density per level is UNIT times the one per unit of the input
                seen[f"nll_{name}"] = loss - 2 * math.log(UNIT)
                seen[f"log_sigma_{name}"] = log_sigma[name] - math.log(UNIT)
            trace.append(look(seen, entropy(x)))
    return Trace(trace, entropy(x))


def column(trace: Trace, name: str) -> list[float]:
    """One value of every step."""
    return [float(step.values[name]) for step in trace]


def look(seen: dict[str, float], floor: float) -> Step:
    """One step of `whole_numbers`."""
    caption = (
        f"After {seen['steps']} steps: {seen['nll_raw']:.2f} nats without noise, {seen['nll_noisy']:.2f} "
        f"with it; the entropy of the levels is {floor:.2f}."
    )
    sigma = math.exp(seen["log_sigma_raw"])
    peak = -seen["log_sigma_raw"] - 0.5 * math.log(2 * math.pi)
    equation = (
        rf"\log N(\mu; \mu, \sigma^2) = -\log \sigma - \tfrac12 \log 2\pi = -\log {sigma:.4f} - 0.9189 = "
        rf"{peak:.3f}"
    )
    return Step(caption, seen, equation)
