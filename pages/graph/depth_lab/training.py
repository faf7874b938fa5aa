"""A deep graph network that learns the communities of the karate club, step by step.

Shapes: K layers, F looks.
"""

from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.lenses import graphs
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.graph.depth import DeepGCN, drop_edges
from pages.graph.depth_lab.lens import WIDTH, options
from pages.graph.depth_lab.room import STEPS

RATE = 0.01


@dataclass(frozen=True)
class Trained:
    """Of each of `STEPS` (F,): loss, accuracy on training and on other nodes; gradient norms (F, K)."""

    loss: Tensor
    train: Tensor
    test: Tensor
    gradients: Tensor


def trained(layers: int, propagation: str, residual: str, pair: bool, drop: float, seed: int) -> Trained:
    """A network of so many layers that learns the communities of 14 members of the karate club."""
    data = graphs.karate().data
    known, generator = data.train_mask | data.val_mask, torch.Generator().manual_seed(seed)
    build = partial(
        DeepGCN,
        data.x.shape[1],
        4,
        [WIDTH] * (layers - 1),
        propagation=propagation,
        **options(residual, pair),
    )
    model = seeded(build, seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    found: list[tuple[float, float, float, list[float]]] = []

    def loss() -> Tensor:
        logits = model(data.x, drop_edges(data.edge_index, drop, generator))
        return F.cross_entropy(logits[known], data.y[known])

    for done, _ in training_steps(loss, optimizer, STEPS[-1]):
        if done not in STEPS:
            continue
        weights = [layer.weight for layer in model.layers]
        with torch.enable_grad():
            logits = model(data.x, data.edge_index)
            now = F.cross_entropy(logits[known], data.y[known])
            slopes = torch.autograd.grad(now, weights)  # type: ignore[arg-type]
        right = (logits.argmax(1) == data.y).double()
        found.append((
            float(now.detach()), float(right[known].mean()), float(right[~known].mean()),
            [float(g.norm()) for g in slopes],
        ))  # fmt: skip
    losses, train, test, gradients = zip(*found, strict=True)
    return Trained(torch.tensor(losses), torch.tensor(train), torch.tensor(test), torch.tensor(gradients))
