"""Looking into a density of the plane, p(x_1, x_2) = p(x_1) p(x_2 | x_1), both factors mixtures of Gaussians.

Everything about x_2 follows from x_1 alone, so a whole map is one pass over the values of x_1. σ is a
standard deviation: [GM] 1.5.2 writes N(x; μ, σ) for it, and a code that puts σ where the variance belongs
still integrates to 1, so that only the values give it away (`misread`).

References: Bishop 1994, Mixture density networks; Uria, Murray, Larochelle 2013, arXiv:1306.0186; Theis,
van den Oord, Bethge 2016, arXiv:1511.01844 (dequantisation).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from datamodules import points
from datamodules.digits import Digits
from lab.experiments import Experiment, find
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.autoregressive.rnade import RNADE
from modules.trace import Step, Trace

REACH = 4.0  # the window shown is [-REACH, REACH]²
CELLS = 400  # of the window, a side
RATE = 0.02


# --- Shipped models and their data --------------------------------------------------------------


def of_the_plane(experiment: Experiment) -> bool:
    """Whether an experiment trains RNADE on points of the plane."""
    return experiment.module.endswith(".RNADE") and experiment.datamodule.endswith(".Points")


def shape_of(name: str) -> points.Shape:
    """The shape that experiment `name` (or a run of it, "name/time") was trained on."""
    return find(name.partition("/")[0]).config["data"]["init_args"]["name"]


def data(shape: points.Shape, count: int) -> Tensor:
    """Points (count, 2) of a shape, those that its test split begins with."""
    return points.sample(shape, count, seed=3)[0]


# --- One section: p(x_2 | x_1) --------------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """The conditional density of x_2 at one x_1, a mixture of K Gaussians.

    Attributes:
        weights, means, sigmas: (K,), heaviest first; σ is a standard deviation.
    """

    weights: Tensor
    means: Tensor
    sigmas: Tensor

    def components(self, x: Tensor) -> Tensor:
        """π_k N(x; μ_k, σ_k²) at x (N,), (K, N)."""
        z = (x - self.means[:, None]) / self.sigmas[:, None]
        return self.weights[:, None] * (-0.5 * z**2).exp() / (self.sigmas[:, None] * math.sqrt(2 * math.pi))

    def density(self, x: Tensor) -> Tensor:
        """(N,) -> (N,)"""
        return self.components(x).sum(0)

    def misread(self, x: Tensor) -> Tensor:
        """The density if σ is put where the variance belongs, N(x; μ, σ) instead of N(x; μ, σ²)."""
        return Section(self.weights, self.means, self.sigmas.sqrt()).density(x)

    def modes(self, x: Tensor) -> int:
        """Humps of the density on the grid x (N,): values above both neighbours and 1 % of the highest."""
        p = self.density(x)
        top = p[1:-1]
        return int(((top > p[:-2]) & (top > p[2:]) & (top > 0.01 * p.max())).sum())


@torch.no_grad()
def section(model: RNADE, x1: float) -> Section:
    """p(x_2 | x_1 = x1) in double precision."""
    x = torch.tensor([[x1, 0.0]], dtype=torch.float64).to(model.device, model.dtype)
    log_pi, mean, log_sigma = (t[0, 1].double() for t in model.mixture(model.logits(x)))
    order = log_pi.argsort(descending=True)
    return Section(log_pi[order].exp(), mean[order], log_sigma[order].exp())


PLACES = [round(-3.5 + 0.1 * i, 1) for i in range(71)]  # of x_1 on its way through the plane
SECTION_CELLS = 160  # of a section that moves


def sections(model: RNADE) -> list[Section]:
    """p(x_2 | x_1) at every one of PLACES."""
    return [section(model, x1) for x1 in PLACES]


def swept(parts: Sequence[Section]) -> tuple[Tensor, Tensor]:
    """Densities (F, SECTION_CELLS) and components (F, K, SECTION_CELLS) of sections, on `axis`."""
    components = torch.stack([part.components(axis(cells=SECTION_CELLS)) for part in parts])
    return components.sum(1), components


def term_equation(part: Section, x2: float) -> str:
    """The largest term at x2 with its numbers, and the sum of all, LaTeX."""
    terms = part.components(torch.tensor([x2], dtype=torch.float64))[:, 0]
    k = int(terms.argmax())
    pi, mu, sigma = (float(v[k]) for v in (part.weights, part.means, part.sigmas))
    return (
        rf"\pi_{{{k + 1}}} N(x_2; \mu_{{{k + 1}}}, \sigma_{{{k + 1}}}^2) = "
        rf"\tfrac{{{pi:.3f}}}{{{sigma:.3f}\sqrt{{2\pi}}}}\, "
        rf"e^{{-({x2:.2f} - ({mu:.3f}))^2 / (2 \cdot {sigma:.3f}^2)}} = "
        rf"{float(terms[k]):.4f}, \quad \textstyle\sum_k = {float(terms.sum()):.4f}"
    )


def component_table(part: Section, x2: float) -> dict[str, list[Any]]:
    """The components that weigh more than 0.001, and what each adds at x2."""
    terms = part.components(torch.tensor([x2], dtype=torch.float64))[:, 0]
    heavy = max(1, int((part.weights > 0.001).sum()))
    return {
        "component": list(range(1, heavy + 1)),
        "weight π": [f"{v:.4f}" for v in part.weights[:heavy].tolist()],
        "mean μ": [f"{v:.3f}" for v in part.means[:heavy].tolist()],
        "standard deviation σ": [f"{v:.3f}" for v in part.sigmas[:heavy].tolist()],
        "π N(x₂; μ, σ²)": [f"{v:.4f}" for v in terms[:heavy].tolist()],
    }


def axis(reach: float = REACH, cells: int = CELLS) -> Tensor:
    """Middles of the cells of [-reach, reach], (cells,)."""
    return (torch.arange(cells, dtype=torch.float64) + 0.5) * (2 * reach / cells) - reach


# --- The whole density ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Map:
    """p(x_1, x_2) on the middles of the window's cells.

    Attributes:
        density: (cells, cells), row = x_2 upwards, column = x_1.
        reach: of the window.
    """

    density: Tensor
    reach: float

    @property
    def integral(self) -> float:
        """Over the window: 1 less what lies outside, up to the error of the cells."""
        return float(self.density.sum()) * (2 * self.reach / len(self.density)) ** 2

    def coarse(self, side: int) -> Tensor:
        """Means over blocks of cells, (side, side): the same mass on fewer cells."""
        return torch.nn.functional.adaptive_avg_pool2d(self.density[None], side)[0]


@torch.no_grad()
def density_map(model: RNADE, reach: float = REACH, cells: int = CELLS) -> Map:
    """log p(x_1) + log p(x_2 | x_1) for every cell; the parameters of x_2 are one pass over x_1."""
    grid = axis(reach, cells).to(model.device, model.dtype)
    outputs = model.logits(torch.stack([grid, torch.zeros_like(grid)], 1))  # (cells, 2, 3 K)
    first = model.conditional_log_prob(outputs[:, 0], grid)  # (cells,)
    second = model.conditional_log_prob(outputs[:, None, 1], grid.expand(cells, cells))  # (x_1, x_2)
    return Map((first[:, None] + second).exp().t().double(), reach)


@torch.no_grad()
def nll(model: RNADE, x: Tensor) -> float:
    """Mean -log p of points (N, 2), nats."""
    return -float(model.log_prob(x.to(model.device, model.dtype)).mean())


def ladder(cards: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[int, float]]:
    """Trained models by name, from their cards: components and test NLL, dearest first within a shape."""
    rows = [
        (
            shape_of(name),
            -card["metrics"]["test/nll"],
            name,
            card["config"]["model"]["init_args"]["components"],
        )
        for name, card in cards.items()
    ]
    return {name: (components, -nll) for _, nll, name, components in sorted(rows)}


def ladder_table(rungs: Mapping[str, tuple[int, float]]) -> dict[str, list[Any]]:
    """Columns, a row a model."""
    return {
        "model": list(rungs),
        "Gaussians a variable": [k for k, _ in rungs.values()],
        "−log p of test points, nats": [f"{v:.3f}" for _, v in rungs.values()],
    }


# --- Own points -----------------------------------------------------------------------------------

OWN_REACH = 3.0  # the drawing pad covers [-OWN_REACH, OWN_REACH]²


def scattered(picture: Tensor, count: int, seed: int = 0) -> Tensor:
    """Points (count, 2) of the plane, spread evenly over the ink of a drawing (S, S).

    Raises:
        ValueError: there is no ink.
    """
    if not picture.sum() > 0:
        raise ValueError("There is nothing on the pad: draw where the points should lie.")
    side = len(picture)
    generator = torch.Generator().manual_seed(seed)
    cell = torch.multinomial(picture.flatten().double(), count, replacement=True, generator=generator)
    place = torch.stack([cell % side, side - 1 - cell // side], 1)  # columns to the right, rows upwards
    return (place + torch.rand(count, 2, generator=generator)) * (2 * OWN_REACH / side) - OWN_REACH


def examples(side: int) -> list[tuple[str, Tensor]]:
    """Drawings (side, side) to begin with."""
    u = (torch.arange(side) + 0.5) * 2 / side - 1
    y, x = -u[:, None], u[None, :]  # rows go down
    width = 2 / side
    drawings = {
        "ring": ((x**2 + y**2).sqrt() - 0.65).abs() < width,
        "cross": (x.abs() - y.abs()).abs() < width,
        "wave": (y - 0.6 * (3 * x).sin()).abs() < 1.6 * width,
        "two lines": (y.abs() - 0.5).abs().expand(side, side) < width,
    }
    return [(name, ink.float()) for name, ink in drawings.items()]


def gaps(picture: Tensor) -> int:
    """The most pieces into which the ink of any column of a drawing (S, S) falls."""
    ink = picture > 0
    above = torch.cat([torch.zeros_like(ink[:1]), ink[:-1]])
    return int((ink & ~above).sum(0).max())


@dataclass
class Fit:
    """A model in training.

    Attributes:
        losses: mean -log p of the points before the first step and after each, nats.
    """

    model: RNADE
    losses: list[float] = field(default_factory=list)


def fit(
    x: Tensor, components: int, hidden: int = 32, steps: int = 400, seed: int = 0
) -> Iterator[tuple[float, Fit]]:
    """Train an RNADE on points (N, 2), all at once in each step; yields the share done and the fit so far."""
    model = seeded(lambda: RNADE(event_shape=(2,), hidden=hidden, components=components), seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    found = Fit(model)
    for done, loss in training_steps(lambda: -model.log_prob(x).mean(), optimizer, steps, schedule):
        found.losses.append(loss)
        if done and (done % 5 == 0 or done == steps):
            yield done / steps, found


# --- Whole numbers --------------------------------------------------------------------------------

PIXELS = (28, 29)  # two neighbours in the middle of an 8×8 digit
LEVELS = 17
UNIT = 4 / LEVELS  # levels are fed to the network as numbers of [-2, 2)


def levels(count: int = 400) -> Tensor:
    """Grey levels 0..16 of two neighbouring pixels of training digits, (count, 2)."""
    digits = Digits(binarize="levels")
    digits.setup("fit")
    return digits.train_set[torch.arange(count)][0].flatten(1)[:, list(PIXELS)]


def entropy(x: Tensor) -> float:
    """Of the rows of whole numbers (N, m) as they occur, nats."""
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
