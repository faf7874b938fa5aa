"""How far two sets of graphs differ: distributions of degrees, clustering and orbits, and classes.

    MMD²(P, Q) = E k(p, p') + E k(q, q') − 2 E k(p, q),    k(p, q) = exp(−d(p, q)² / 2σ²)

    degrees      histogram of a graph's degrees              d = earth mover's distance    σ = 1
    clustering   histogram of its clustering coefficients    d = earth mover's distance    σ = 0.1
    orbits       mean number, over its nodes, of how often   d = Euclidean                 σ = 30
                 a node is in each orbit of the connected
                 graphs of four nodes: 11 numbers

The means run over all pairs, a graph with itself too, as in the original: MMD² is then never negative, and
of two samples of one distribution about 2 (1 − E k) / n. The original counts orbits of two and three nodes as
well. For histograms on a line the earth mover's distance is the area between their distribution functions.

A graph is new if no training graph is isomorphic to it; the share of unique graphs is that of classes of
isomorphic ones.

Shapes: A (N, N), one matrix per graph.

References: You et al. 2018, arXiv:1802.08773, §4.3; orbits: Hočevar & Demšar 2014.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Literal, get_args

import networkx as nx
import torch
from torch import Tensor

from modules.base import require_one_of

Statistic = Literal["degrees", "clustering", "orbits"]
SIGMA: dict[str, float] = {"degrees": 1.0, "clustering": 0.1, "orbits": 30.0}
BINS = 100  # of clustering coefficients
# orbit of a node in a connected graph of four: by the degrees of all, and by its own
ORBITS = {
    (1, 1, 2, 2): {1: 0, 2: 1}, (1, 1, 1, 3): {1: 2, 3: 3}, (2, 2, 2, 2): {2: 4},
    (1, 2, 2, 3): {1: 5, 2: 6, 3: 7}, (2, 2, 3, 3): {2: 8, 3: 9}, (3, 3, 3, 3): {3: 10},
}  # fmt: skip


def clustering(a: Tensor) -> Tensor:
    """Clustering coefficients (N,): the share of pairs of a node's neighbours that are joined; 0 of none."""
    a = a.double()
    d = a.sum(1)
    return (a @ a @ a).diagonal() / (d * (d - 1)).clamp(min=1)


@lru_cache(maxsize=64)
def fours(nodes: int) -> Tensor:
    """All sets of four nodes, (S, 4)."""
    return torch.tensor(list(combinations(range(nodes), 4)), dtype=torch.long).reshape(-1, 4)


def orbit_counts(a: Tensor) -> Tensor:
    """How often each node is in each of the 11 orbits of connected graphs of four nodes, (N, 11)."""
    sets = fours(len(a))
    d = a.long()[sets[:, :, None], sets[:, None, :]].sum(2)  # (S, 4), degrees within the four
    ordered = d.sort(1).values
    counts = torch.zeros(len(a), 11, dtype=torch.long)
    for degrees, orbit_of in ORBITS.items():
        mine = (ordered == torch.tensor(degrees)).all(1)
        for degree, orbit in orbit_of.items():
            nodes = sets[mine][d[mine] == degree]
            counts[:, orbit] = nodes.bincount(minlength=len(a))
    return counts


def histogram(places: Tensor, bins: int) -> Tensor:
    """Shares (bins,) of whole numbers."""
    return places.bincount(minlength=bins)[:bins].double() / len(places)


def described(graphs: Sequence[Tensor], statistic: Statistic, most: int) -> Tensor:
    """A row for each graph (G, K).

    Args:
        most: nodes that any graph may have.
    """
    require_one_of(Statistic, statistic=statistic)
    if statistic == "degrees":
        return torch.stack([histogram(a.sum(1).long(), most) for a in graphs])
    if statistic == "clustering":
        places = [(clustering(a) * BINS).round().long() for a in graphs]
        return torch.stack([histogram(place, BINS + 1) for place in places])
    return torch.stack([orbit_counts(a).double().mean(0) for a in graphs])


def distances(p: Tensor, q: Tensor, statistic: Statistic) -> Tensor:
    """d (G, G') between the rows p (G, K) and q (G', K)."""
    if statistic == "orbits":
        return torch.cdist(p, q)
    between = torch.cdist(p.cumsum(1), q.cumsum(1), p=1)  # areas, in bins
    return between / BINS if statistic == "clustering" else between


def mmd(one: Sequence[Tensor], other: Sequence[Tensor], statistic: Statistic) -> float:
    """MMD² of a statistic between two sets of graphs."""
    most = max(len(a) for a in [*one, *other])
    p, q = described(one, statistic, most), described(other, statistic, most)

    def mean(x: Tensor, y: Tensor) -> Tensor:
        return (-distances(x, y, statistic).square() / (2 * SIGMA[statistic] ** 2)).exp().mean()

    return float(mean(p, p) + mean(q, q) - 2 * mean(p, q))


def all_mmds(one: Sequence[Tensor], other: Sequence[Tensor]) -> dict[str, float]:
    """MMD² of every statistic."""
    return {statistic: mmd(one, other, statistic) for statistic in get_args(Statistic)}


class Classes:
    """Classes of isomorphic graphs, to which graphs can be added."""

    def __init__(self, graphs: Sequence[Tensor] = ()) -> None:
        self.by_key: dict[tuple, list[nx.Graph]] = {}
        for a in graphs:
            self.add(a)

    def __len__(self) -> int:
        return sum(map(len, self.by_key.values()))

    def find(self, a: Tensor) -> tuple[list[nx.Graph], nx.Graph | None]:
        """A graph, None where its class is here, and those that might be isomorphic to it."""
        graph = nx.from_numpy_array(a.int().cpu().numpy())
        a = a.long()
        walks = [a.sum(1), (a @ a @ a).diagonal(), (a @ a @ a @ a).diagonal()]
        key = tuple(sorted(map(tuple, torch.stack(walks, 1).tolist())))
        alike = self.by_key.setdefault(key, [])
        return alike, None if any(nx.is_isomorphic(graph, other) for other in alike) else graph

    def add(self, a: Tensor) -> bool:
        """Add the class of a graph; whether it is another one."""
        alike, fresh = self.find(a)
        if fresh is not None:
            alike.append(fresh)
        return fresh is not None

    def __contains__(self, a: Tensor) -> bool:
        return self.find(a)[1] is None


def erdos_renyi(graphs: Sequence[Tensor], generator: torch.Generator) -> list[Tensor]:
    """A random graph beside each of these, with as many nodes, and pairs joined with its share of edges."""
    found = []
    for a in graphs:
        N = len(a)
        share = float(a.sum()) / max(N * (N - 1), 1)
        b = (torch.rand(N, N, generator=generator) < share).triu(1)
        found.append(b | b.T)
    return found
