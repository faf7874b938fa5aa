"""A trained model of rows of numbers, and the rows it was trained on: what rooms show of a saved run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from datamodules.base import DataModule
from datamodules.chains import Chains
from datamodules.points import Points
from datamodules.table import Series, Table
from lab import experiments, untrusted, weights
from lab.experiments import Experiment
from lab.lenses import surfaces
from lab.lenses.rows import MOST_ROWS, Data
from modules.flow.flow import Flow
from modules.latent.hmm import HMM
from modules.latent.linear_gaussian import LinearGaussian
from modules.latent.mixture import GaussianMixture

CLASSES: dict[str, Any] = {
    "mixture": GaussianMixture,
    "factor analysis": LinearGaussian,
    "HMM": HMM,
    "flow": Flow,
}
COLOURS = {  # what `belief` is, in words
    "mixture": "each row's likeliest component",
    "factor analysis": "the posterior mean of the first factor",
    "HMM": "each row's likeliest state",
    "flow": "log p of each row",
}


def fits(kind: str) -> Callable[[Experiment], bool]:
    """True if an experiment trains such a density on rows of numbers, however many there are in a row."""

    def one(entry: Experiment) -> bool:
        return (
            surfaces.is_a(entry, CLASSES[kind])
            and surfaces.is_a(entry, Table, Points, Chains, part="data")
            and str(surfaces.option(entry, "emission") or "gaussian").startswith("gaussian")
            and not surfaces.option(entry, "conditional")
            and not surfaces.option(entry, "context")
        )

    return one


def read(folder: Path, at: int = 0) -> Data:
    """The rows that the model in `folder` was trained on, at most MOST_ROWS of them; of a set of sequences
    number `at` of those held out.

    Raises:
        ValueError: they are gone, or are of other columns now; one sentence.
    """
    card = experiments.read_card(folder)
    part = card["config"]["data"]
    kind = untrusted.find_class(part["class_path"], DataModule, "data of Lectern", folder, untrusted.OURS)
    source = kind(**(part.get("init_args") or {}))
    source.setup("fit")
    train, held = (
        split[torch.arange(len(split))][0].double() for split in (source.train_set, source.val_set)
    )
    if isinstance(source, Table):
        names, rows, (mean, deviation) = source.names, source.rows, source.scale
        length = source.length if isinstance(source, Series) else 0
        known = (card.get("data") or {}).get("columns", names)
        if known != names:
            raise ValueError(f"The table of this run has other columns now: {', '.join(names)[:80]}.")
    else:
        rows, length = (held, 0) if held.ndim == 2 else (held[at % len(held)], held.shape[1])
        names = [f"x{i + 1}" for i in range(rows.shape[1])]
        mean, deviation = torch.zeros(rows.shape[1]).double(), torch.ones(rows.shape[1]).double()
    texts = []
    if len(rows) > MOST_ROWS:
        texts.append(f"The first {MOST_ROWS:,} of {len(rows):,} rows are shown.")
    return Data(names, rows[:MOST_ROWS], mean, deviation, train, held, length, texts, names)


@torch.no_grad()
def belief(model: Any, kind: str, data: Data) -> Tensor:
    """Answer of the model for each row, (N,): its likeliest component or state; E[z_1 | x]; log p(x)."""
    x = data.examples
    if kind == "mixture":
        return model.responsibilities(x).argmax(1)
    if kind == "HMM":
        return model.posterior(x).smoothed[0].argmax(1)
    if kind == "factor analysis":
        return model.posterior(x).mean[:, 0]
    return model.log_prob(x)


@dataclass(frozen=True)
class Answers:
    """Answers of a trained model for its rows.

    Attributes:
        belief: (N,) as of `belief`.
        log_prob: (N,) log p of each row; of a chain log p(x_t | all before).
        bars: by name, about one row: of a mixture p(k | x), of factors E[z | x], of a chain p(z_t | x), of a
            flow log |det J| of each layer, from the data to the base.
    """

    belief: Tensor
    log_prob: Tensor
    bars: dict[str, float]

    def below(self, row: int) -> float:
        """The share of rows that are less likely than this one."""
        return float((self.log_prob < self.log_prob[row]).double().mean())


@torch.no_grad()
def answers(model: Any, kind: str, data: Data, row: int) -> Answers:
    """Answers for all rows, and for number `row` from 0."""
    x = data.examples
    log_p = model.filtered(x)[1][0] if kind == "HMM" else model.log_prob(x)
    if kind == "mixture":
        about = {f"{k}": v for k, v in enumerate(model.responsibilities(x[row : row + 1])[0].tolist(), 1)}
    elif kind == "HMM":
        about = {f"{k}": v for k, v in enumerate(model.posterior(x).smoothed[0, row].tolist(), 1)}
    elif kind == "factor analysis":
        about = {f"z{j}": v for j, v in enumerate(model.posterior(x[row : row + 1]).mean[0].tolist(), 1)}
    else:
        steps = [float(ladj[0]) for _, ladj in model.normalizing(x[row : row + 1])]
        about = {f"{i}": v for i, v in enumerate(steps, 1)}
    return Answers(belief(model, kind, data), log_p, about)


@torch.no_grad()
def outlines(model: Any, kind: str, data: Data, pair: tuple[int, int]) -> Tensor:
    """Two standard deviations of each Gaussian of the model in two columns, (K, 48, 2), in their units; of a
    flow, or of one column, none. The marginal of a Gaussian over columns is a Gaussian with their rows and
    columns of Σ."""
    if kind == "flow" or pair[0] == pair[1]:
        return torch.empty(0, 48, 2)
    if kind == "factor analysis":
        means, matrices = model.mean[None], model.covariance()[None]
    else:
        gaussians = model.gaussians if kind == "mixture" else model.emission
        means, matrices = gaussians.means, gaussians.matrices
    at, scale = list(pair), data.deviation[list(pair)]
    values, vectors = torch.linalg.eigh(matrices[:, at][:, :, at])
    angle = torch.linspace(0, 2 * torch.pi, 48, dtype=torch.float64)
    circle = 2 * torch.stack([angle.cos(), angle.sin()], 1)
    around = circle @ (vectors * values.clamp(min=0).sqrt()[:, None]).mT
    return data.mean[at] + scale * (means[:, None, at] + around)


def parameters(model: Any, kind: str, data: Data) -> dict[str, list[Any]]:
    """The model's numbers in the columns' own units, a row a component, state or column; {} of a flow."""
    if kind == "flow":
        return {}
    if kind == "factor analysis":
        total = model.covariance().diagonal()
        loads = {f"loading on z{j}": spelled(w * data.deviation) for j, w in enumerate(model.loadings.T, 1)}
        share = [f"{v:.0%}" for v in (1 - model.noise.expand_as(total) / total).tolist()]
        return {"column": data.names, **loads, "explained": share}
    gaussians = model.gaussians if kind == "mixture" else model.emission
    means = data.mean + data.deviation * gaussians.means
    columns = {f"mean {name[:20]}": spelled(means[:, i]) for i, name in enumerate(data.names[:8])}
    own = (
        {"weight": [f"{v:.3f}" for v in model.weights.tolist()]}
        if kind == "mixture"
        else {"stays with": [f"{v:.3f}" for v in model.transition.diagonal().tolist()]}
    )
    return {"component" if kind == "mixture" else "state": list(range(1, len(means) + 1)), **own, **columns}


def window(count: int, row: int, most: int) -> slice:
    """At most so many of the rows, around one of them."""
    first = max(0, min(row - most // 2, count - most))
    return slice(first, first + most)


def spelled(values: Tensor) -> list[str]:
    return [f"{v:.4g}" for v in values.tolist()]


def load(folder: Path) -> Any:
    """The model in double precision."""
    return weights.load(folder).double().requires_grad_(False)
