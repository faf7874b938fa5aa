"""Maps of what made a classifier decide, and whether they can be right.

Shapes: N positions, F frames, M maps, L layers of weights.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from datamodules.digits import Digits
from datamodules.mnist import MNIST
from datamodules.mnist1d import MNIST1D
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import attribution, inputs, surfaces
from lab.lenses.attribution import Path, Score
from lab.lenses.receptive_field import layers_of
from modules.convolution.classifier import Classifier
from modules.convolution.cnn1d import CNN1d
from modules.convolution.cnn2d import CNN2d
from pages.convolution.attribution.room import (
    CAM,
    GRADIENT,
    INTEGRATED,
    LIKELIEST,
    NONE,
    OCCLUSION,
    RANDOM,
    RUNNER_UP,
    TIMES,
)  # fmt: skip

STEPS, ORDERS, CUTS = 32, 20, 40  # of the integral; random orders; steps of a deletion
OF_GRADIENTS = (GRADIENT, TIMES, CAM, INTEGRATED)  # maps of random weights too


def fits(experiment: Experiment) -> bool:
    """Check whether it is a stack of convolutions on signals, or on digits of 8 or 28 pixels a side."""
    if surfaces.is_a(experiment, CNN1d):
        return surfaces.is_a(experiment, MNIST1D, part="data")
    return (
        surfaces.is_a(experiment, CNN2d)
        and surfaces.is_a(experiment, MNIST, Digits, part="data")
        and surfaces.option(experiment, "image_size", "data") in (8, 28)
    )


def sees_small(model: Classifier) -> bool:
    return inputs.sees_pictures(model) and inputs.side(model) == 8


def sees_large(model: Classifier) -> bool:
    return inputs.sees_pictures(model) and inputs.side(model) == 28


@dataclass(frozen=True)
class Asked:
    """A model, its input x (1, positions...), its logits (K,), a class, and the one against it, if any."""

    model: Classifier
    x: Tensor
    logits: Tensor
    target: int
    against: int | None

    @property
    def S(self) -> Score:
        return attribution.score(self.model.predict, self.target, self.against)


def classes(model: Classifier) -> list[str]:
    """The likeliest, or one by its number."""
    return [LIKELIEST, *map(str, range(outputs(model)))]


def others(model: Classifier) -> list[str]:
    """What there is to set against a class: nothing, the likeliest of the others, or one by its number."""
    return [NONE, RUNNER_UP, *map(str, range(outputs(model)))]


def outputs(model: Classifier) -> int:
    return int(model.layers[-1].out_features)  # type: ignore[arg-type]


def asked(
    model: Classifier, digit: Tensor | None, small: Tensor | None, signal: str, curve: Tensor | None,
    target: str, against: str,
) -> Asked:  # fmt: skip
    """The reader's input and question.

    Raises:
        UserError: a class is set against itself.
    """
    x = inputs.chosen(model, digit if small is None else small, signal, curve)
    with torch.no_grad():
        logits = model.predict(x[None])[0]
    wanted = int(logits.argmax()) if target == LIKELIEST else int(target)
    rest = logits.index_fill(0, torch.tensor([wanted]), -torch.inf)
    less = None if against == NONE else int(rest.argmax()) if against == RUNNER_UP else int(against)
    if less == wanted:
        raise UserError(f"Class {wanted} stands against itself: choose another one below Against.")
    return Asked(model, x, logits, wanted, less)


# --- Maps ---------------------------------------------------------------------------------------------


def of_gradients(one: Asked, baseline: float = 0.0) -> dict[str, Tensor]:
    """The maps of OF_GRADIENTS, (positions...) each."""
    return {
        GRADIENT: attribution.gradient(one.S, one.x),
        TIMES: attribution.gradient_times_input(one.S, one.x),
        CAM: attribution.grad_cam(one.model, one.x, one.target, one.against),
        INTEGRATED: attribution.integrated(one.S, one.x, baseline, STEPS).sums[-1],
    }


def compared(question: Asked, patch: int, baseline: float) -> dict[str, Tensor]:
    """All maps, (positions...) each."""
    maps = of_gradients(question, baseline)
    maps[OCCLUSION] = attribution.occlusion(question.S, question.x, patch, baseline)
    return {name: maps[name] for name in (GRADIENT, TIMES, CAM, OCCLUSION, INTEGRATED)}


def integrated(question: Asked, baseline: float, steps: int) -> Path:
    return attribution.integrated(question.S, question.x, baseline, steps)


@dataclass(frozen=True)
class Cascade:
    """Maps of OF_GRADIENTS as layers get random weights, the last first.

    Attributes:
        maps: (M, L + 1, positions...); 0 is the trained network.
        correlations: (M, L + 1), of ranks, with the map of the trained network.
    """

    maps: Tensor
    correlations: Tensor


def cascade(question: Asked, seed: int, absolute: bool) -> Cascade:
    """Of 0 to L layers drawn anew from a seed, the maps for the same class.

    Args:
        absolute: ranks are of |values|.
    """
    layers = sum(isinstance(layer, attribution.WEIGHTED) for layer in layers_of(question.model))
    each = []
    for count in range(layers + 1):
        drawn = replace(question, model=attribution.randomized(question.model, count, seed))
        each.append(torch.stack(list(of_gradients(drawn).values())))
    maps = torch.stack(each, 1)  # (M, L + 1, positions...)
    ranked = maps.abs() if absolute else maps
    correlations = [[attribution.rank_correlation(row[0], one) for one in row] for row in ranked]
    return Cascade(maps, torch.tensor(correlations))


@dataclass(frozen=True)
class Deletion:
    """What is left of S as inputs are set to the baseline, the largest of a map first.

    Attributes:
        counts: (F,), inputs that are gone. inputs: (F, positions...). gone: (F, positions...) bool.
        scores: map -> (F,); RANDOM is the mean of ORDERS random orders.
    """

    counts: Tensor
    inputs: Tensor
    gone: Tensor
    scores: dict[str, Tensor]

    @property
    def share(self) -> Tensor:
        return self.counts / self.counts[-1]

    def mean(self, name: str) -> float:
        """Mean of S over the shares from 0 to 1: small where those that matter go first."""
        return float(torch.trapezoid(self.scores[name], self.share))

    def crossing(self, name: str) -> float:
        """Share of the inputs that are gone when S is first below 0; infinite where it never is."""
        below = (self.scores[name] < 0).nonzero()
        return float(self.share[below[0, 0]]) if len(below) else float("inf")


def deletion(question: Asked, patch: int, baseline: float, method: str) -> Deletion:
    """Inputs deleted in the order of each map, and in ORDERS random ones; pictures of the chosen order."""
    S, x = question.S, question.x
    N = x[0].numel()
    counts = (N * torch.linspace(0, 1, CUTS + 1) ** 2).round().long().unique()  # dense where S falls
    generator = torch.Generator().manual_seed(0)
    random = [torch.randperm(N, generator=generator) for _ in range(ORDERS)]
    maps = compared(question, patch, baseline)
    orders = {name: attribution.falling(values) for name, values in maps.items()} | {RANDOM: random[0]}
    runs = {name: attribution.deleted(S, x, order, counts, baseline) for name, order in orders.items()}
    scores = {name: run[1] for name, run in runs.items()}
    scores[RANDOM] = torch.stack([attribution.deleted(S, x, o, counts, baseline)[1] for o in random]).mean(0)
    rank = orders[method].argsort().view(x.shape[1:])
    gone = rank < counts.view(-1, *[1] * (x.ndim - 1))  # (F, positions...)
    return Deletion(counts, runs[method][0][:, 0], gone, scores)
