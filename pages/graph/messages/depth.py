"""Over-smoothing: rounds of averaging make all nodes alike; networks of several depths.

`edge_index` is (2, E); undirected graphs hold each edge both ways.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.graph.convolution import Propagation, propagation_matrix
from modules.graph.depth import dirichlet_energy, distance, dominant
from modules.graph.gcn import GCN
from pages.graph.messages.hearing import spell

# What S is, in words, for the reader.


@dataclass(frozen=True)
class Smoothing:
    """Rounds 0..K of H ← HS from one-hot states, in float64.

    Attributes:
        distance: (K+1,) share of ‖H‖ outside the dominant eigenspace, where all difference has gone.
        energy: (K+1,) tr(HLHᵀ)/‖H‖², L = D − A: how much neighbours still differ.
        expected: (K+1,) the rate's line through the last distance.
        rate: |λ₂/λ₁|, by which the distance shrinks each round in the long run.
        similarity: (K+1, N, N) cosine between the nodes' states.
    """

    distance: Tensor
    energy: Tensor
    expected: Tensor
    rate: float
    similarity: Tensor


def smoothing(edge_index: Tensor, num_nodes: int, propagation: Propagation, rounds: int) -> Smoothing:
    """Follow one-hot states through `rounds` layers without Ω, β and ReLU: only the graph acts."""
    s = propagation_matrix(edge_index, num_nodes, propagation, torch.float64).to_dense()  # Sᵀ
    adjacency = torch.zeros_like(s)
    adjacency[edge_index[0], edge_index[1]] = 1
    basis, rate = dominant(s)
    h = torch.eye(num_nodes, dtype=torch.float64)  # Hᵀ: row n is node n's state
    far, energy, similarity = [], [], []
    for k in range(rounds + 1):
        h = s @ h if k else h
        h = h / h.norm()  # only directions matter, and sums grow without bound
        far.append(distance(h, basis))
        energy.append(dirichlet_energy(h, adjacency))
        unit = F.normalize(h, dim=1)
        similarity.append(unit @ unit.T)
    expected = far[-1] * rate ** torch.arange(-rounds, 1, dtype=torch.float64)
    return Smoothing(torch.stack(far), torch.stack(energy), expected, rate, torch.stack(similarity))


def distance_equation(smooth: Smoothing, rounds: int) -> str:
    """The distance after so many rounds, and the rate at which it shrinks, in LaTeX."""
    return (
        rf"\frac{{\lVert H_{{{rounds}}} - P H_{{{rounds}}} \rVert}}{{\lVert H_{{{rounds}}} \rVert}} = "
        rf"{spell(smooth.distance[rounds])}, \qquad \left|\frac{{\lambda_2}}{{\lambda_1}}\right| = "
        rf"{spell(smooth.rate)}"
    )


def train_depths(
    data: Data, propagation: Propagation, layers: Sequence[int], seed: int, steps: int = 60, width: int = 16
) -> list[tuple[int, float, float]]:
    """Train one net per depth on the graph's labelled nodes and test it on its test nodes.

    No dropout: it would fail deep nets by itself and hide what the graph does.

    Returns: per depth (layers, training accuracy, test accuracy).
    """
    results = []
    for depth in layers:
        hidden = [width] * (depth - 1)
        build = partial(GCN, data.x.shape[1], int(data.y.max()) + 1, hidden, propagation, dropout=0.0)
        model = seeded(build, seed)
        optimizer = torch.optim.Adam(model.parameter_groups(), lr=0.03)

        def loss(model: GCN = model) -> Tensor:
            return F.cross_entropy(model(data.x, data.edge_index)[data.train_mask], data.y[data.train_mask])

        deque(training_steps(loss, optimizer, steps), maxlen=0)  # to the last
        with torch.no_grad():
            right = (model(data.x, data.edge_index).argmax(1) == data.y).float()
        results.append((depth, right[data.train_mask].mean().item(), right[data.test_mask].mean().item()))
    return results
