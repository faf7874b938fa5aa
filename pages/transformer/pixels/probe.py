"""What the layers of an ImageGPT know of classes: a linear classifier on each.

Shapes: `N` pictures, `C` channels, `L` layers, `R` = L + 2 things that are read.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import stock
from lab.lenses.probes import logistic_accuracy
from modules.transformer.image_gpt import ImageGPT

LABELS, SEEDS = 500, 3  # digits that a probe learns from, and draws of them


@dataclass(frozen=True)
class Probed:
    """
    Attributes:
        names: of what is read. accuracy: (R, SEEDS), shares of test digits that are right.
        tested: number of these.
    """

    names: list[str]
    accuracy: Tensor
    tested: int


@torch.no_grad()
def features(model: ImageGPT, pictures: Tensor) -> list[Tensor]:
    """Mean over pixels of the residual stream: as it enters, and after each layer; L + 1 of (N, C)."""
    x = model.as_vectors((pictures * (model.num_categories - 1)).round())
    return [z.mean(1) for z in model.stream(x)]


def probed(model: ImageGPT) -> Probed:
    """Logistic regressions on the frozen embeddings of each layer, and on the pixels."""
    (x, y), (test, truth) = stock.digits("train"), stock.digits("test")
    train_rows = [*features(model, x), x.flatten(1)]
    test_rows = [*features(model, test), test.flatten(1)]
    names = ["input", *(f"layer {l + 1}" for l in range(len(train_rows) - 2)), "pixels"]
    accuracy = torch.zeros(len(names), SEEDS)
    for seed in range(SEEDS):
        chosen = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))[:LABELS]
        for r, (rows, others) in enumerate(zip(train_rows, test_rows, strict=True)):
            accuracy[r, seed] = logistic_accuracy(rows[chosen], y[chosen], others, truth)
    return Probed(names, accuracy, len(test))
