"""The table for models of MNIST, measured before: 500 pictures of 784 pixels one by one take minutes."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from datamodules.mnist import MNIST
from lab import weights
from lab.experiments import ZOO
from lab.lenses import generated, recorded, stock, verdicts
from modules.convolution.classifier import Classifier
from pages.adversarial.property_table.lens import Measured, measure
from pages.adversarial.property_table.room import LARGE

FILE = "families-mnist"
NETWORK = "cnn-mnist"
LIKELIHOODS = ("none", "bound", "by ODE", "exact")
NUMBERS = ("work", "precision", "recall", "jump", "likelihood")


@dataclass(frozen=True)
class Reached:
    """Metrics of test digits."""

    precision: float
    recall: float


def record() -> None:
    """Sample from all models and measure them anew."""
    network: Any = weights.load(NETWORK)
    known = verdicts.known(network, digits("train"))
    real = verdicts.evaluate(network, known, digits("test"), 3)
    rows = [measured(name, network, known) for name in LARGE.values()]
    kept = [[row.work, row.precision, row.recall, math.nan if row.jump is None else row.jump,
             LIKELIHOODS.index(row.likelihood)] for row in rows]  # fmt: skip
    columns = dict(zip(NUMBERS, torch.tensor(kept, dtype=torch.float64).T.contiguous(), strict=True))
    columns["real"] = torch.tensor([real.precision, real.recall], dtype=torch.float64)
    columns["samples"] = torch.stack([(255 * row.samples).round().byte() for row in rows])
    recorded.write(FILE, columns)


def measured(name: str, network: Classifier, known: verdicts.Known) -> Measured:
    """One model, beside the training digits that are known."""
    model = weights.load(name)
    *_, (_, x) = generated.drawn(model, verdicts.DRAWN, 0)
    ink = generated.ink(weights.read_card(ZOO / name), x)
    return measure(model, verdicts.evaluate(network, known, black_and_white(ink), 3), ink)


def digits(split: Literal["train", "test"]) -> Tensor:
    """As many digits of MNIST as are drawn of each model, black and white."""
    pictures = stock.examples(MNIST, split)[0]
    order = torch.randperm(len(pictures), generator=torch.Generator().manual_seed(0))
    return black_and_white(pictures[order[: verdicts.DRAWN], 0])


def black_and_white(ink: Tensor) -> Tensor:
    return (ink > verdicts.CUT).float()


def table() -> tuple[Reached, list[Measured]]:
    """Table of what test digits reach, and of the models as they were measured."""
    kept = recorded.read(FILE)
    rows = zip(*(kept[key].tolist() for key in NUMBERS), kept["samples"].float() / 255, strict=True)
    return Reached(*kept["real"].tolist()), [
        Measured(int(work), precision, recall, None if math.isnan(jump) else jump,
                 LIKELIHOODS[int(likelihood)], samples)
        for work, precision, recall, jump, likelihood, samples in rows
    ]  # fmt: skip
