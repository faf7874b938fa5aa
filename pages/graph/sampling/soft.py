r"""Soft parts of a graph, learned from its edges alone: the two losses by which DiffPool finds clusters.

    L = ‖A − S Sᵀ‖_F / N + λ · 1/N Σ_n −Σ_k S_nk log S_nk,        S = softmax of a layer on X = I

Shapes: N nodes, K parts, F looks.
"""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.graph.convolution import GraphConvolution
from modules.graph.partition import cut
from modules.graph.pooling import Coarse, diff_pool
from pages.graph.sampling.room import STEPS

RATE = 0.1


@dataclass(frozen=True)
class Soft:
    """A training, looked at after each of `STEPS`.

    Attributes:
        edges: (2, E). s: (F, N, K). between: (F, K, K), Sᵀ A S. link: (F,), ‖A − S Sᵀ‖_F / N.
        entropy: (F,). cut: F, edges between the likeliest parts.
    """

    edges: Tensor
    s: Tensor
    between: Tensor
    link: Tensor
    entropy: Tensor
    cut: list[int]


def softened(divided: Tensor, count: str, entropy: float, seed: int) -> Soft:
    """Soft parts, a step of Adam after another; each node knows its own number."""
    edges, N, K = divided.nonzero().T, len(divided), int(count)
    x, graph = torch.eye(N), torch.zeros(N, dtype=torch.long)
    layer = seeded(partial(GraphConvolution, N, K, "mean", "separate"), seed)
    optimizer = torch.optim.Adam(layer.parameters(), lr=RATE)
    found = list[Coarse]()

    def loss() -> Tensor:
        found.append(diff_pool(x, layer(x, edges), edges, graph, 1))
        return N * found[-1].link[0] + entropy * found[-1].entropy[0]

    for _ in training_steps(loss, optimizer, STEPS[-1]):
        pass
    looks = [found[step] for step in STEPS]
    s, between = torch.stack([one.s for one in looks]), torch.stack([one.a[0] for one in looks])
    link = N * torch.cat([one.link for one in looks])
    spread, cuts = torch.cat([one.entropy for one in looks]), [cut(edges, one.s.argmax(1)) for one in looks]
    return Soft(edges, s.detach(), between.detach(), link.detach(), spread.detach(), cuts)
