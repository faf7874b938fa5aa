r"""Colours of the nodes of two graphs, round by round, and their states in a GIN with random weights.

    c_n^{r+1} = number of (c_n^r, {{c_m^r : m ∈ ne(n)}})
    h_n^{r+1} = MLP[(1 + ε) h_n^r + ⊕_m h_m^r],      ⊕: sum, mean or maximum

Both graphs are refined in one disjoint union, so that a colour has one meaning. Of states, colours are equal
where the states are, up to rounding.

Shapes: N nodes of the first graph, N' of the second, M = N + N', R + 1 rounds, D numbers at a node.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.lenses.graphs import Typed, labelled
from lab.seeding import seeded
from modules.graph import isomorphism
from modules.graph.encoding import adjacency
from modules.graph.gin import GIN, Aggregation
from modules.graph.graphs import Pooling, pooled
from pages.graph.isomorphism.room import AS_NUMBERS, OWN, PAIRS, RANDOM, TRIANGLES

MOST, LABELS, LEAST, WIDTH = 12, 9, 3, 64  # nodes, labels, rounds that are shown, numbers of a state
EQUAL = 1e-9  # relative distance of states that rounding alone makes


def typed(text: str) -> Typed:
    """A graph with labels in words, see `lab.lenses.graphs.labelled`."""
    return labelled(text, MOST, LABELS)


def triangles(graph: Typed) -> Tensor:
    """In how many triangles each node is: (N,)."""
    a = adjacency(graph.edge_index, len(graph.labels)).double()
    return (a @ a @ a).diagonal() / 2


def features(graphs: list[Typed], data: str, seed: int) -> Tensor:
    """What the nodes of both graphs have, (M, D) float64."""
    labels = torch.cat([graph.labels for graph in graphs])
    if data == AS_NUMBERS:
        return labels.double()[:, None]
    found, names = labels.unique(return_inverse=True)
    x = F.one_hot(names, len(found)).double()
    if data == RANDOM:
        generator = torch.Generator().manual_seed(seed)
        drawn = torch.randn(len(x), 1, generator=generator, dtype=torch.float64)
        return torch.cat([x, drawn], 1)
    return torch.cat([x, torch.cat(list(map(triangles, graphs)))[:, None]], 1) if data == TRIANGLES else x


def alike(h: Tensor) -> Tensor:
    """Class of each row of h (M, D), (M,): rows of one class are equal up to rounding."""
    far = torch.cdist(h, h, p=float("inf")) > EQUAL * h.abs().max().clamp(min=1e-300)
    return (~far).int().argmax(1)  # the first row that equals it


def kept(rounds: list[Tensor]) -> list[list[int]]:
    """Numbers of the classes of each round, such that the first node of a class that parts keeps its own."""
    numbers: list[list[int]] = []
    for colours in (each.tolist() for each in rounds):
        given, taken = dict[int, int](), set[int]()
        free = 1 + max(numbers[-1]) if numbers else 0
        for n, colour in enumerate(colours):
            if colour in given:
                continue
            before = numbers[-1][n] if numbers else None
            if before is None or before in taken:
                before, free = free, free + 1
            given[colour] = before
            taken.add(before)
        numbers.append([given[colour] for colour in colours])
    return numbers


@dataclass(frozen=True)
class Compared:
    """Two graphs, refined side by side.

    Attributes:
        graphs: both. test, states: colour numbers of all nodes, (R + 1, M), by the test and by the network.
        told: round in which the multisets of the test differ first, None for never.
        distance: (R + 1,) largest difference of the pooled states, relative to the largest pooled number.
    """

    graphs: list[Typed]
    test: list[list[int]]
    states: list[list[int]]
    told: int | None
    distance: list[float]

    def counts(self, colours: list[int]) -> list[list[int]]:
        """How often each graph has each colour, for the colours 0, 1, …"""
        n, most = len(self.graphs[0].labels), 1 + max(colours)
        return [[part.count(k) for k in range(most)] for part in (colours[:n], colours[n:])]


def network(d: int, layers: int, aggregation: Aggregation, seed: int) -> GIN:
    """A GIN with random weights, biases and ε: with biases of 0, as before training, its MLP is linear on
    positive numbers, and with ε = 0 a node cannot tell itself from a neighbour."""
    model = seeded(lambda: GIN(d, 2, WIDTH, layers, aggregation, norm=False), seed).double()
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if name.endswith(("hear.bias", "hear.epsilon")):
            nn.init.normal_(parameter, std=0.3 if name.endswith("epsilon") else 1.0, generator=generator)
    return model


@torch.no_grad()
def compared(
    pair: str, one: Typed, other: Typed, data: str, aggregation: Aggregation, pooling: Pooling, seed: int
) -> Compared:
    """The test on both graphs, and a network with random weights."""
    graphs = [one, other] if pair == OWN else [typed(text) for text in PAIRS[pair]]
    edges, graph = isomorphism.union([(g.edge_index, len(g.labels)) for g in graphs])
    x = features(graphs, data, seed)
    rounds = isomorphism.rounds(edges, len(x), x.unique(dim=0, return_inverse=True)[1])
    rounds += rounds[-1:] * (LEAST + 1 - len(rounds))
    hs = network(x.shape[1], len(rounds) - 1, aggregation, seed).embeddings(x, edges)
    distance = []
    for h in hs:
        first, second = pooled(h, graph, 2, pooling)
        largest = torch.maximum(first.abs(), second.abs()).max().clamp(min=1e-300)
        far = float((first - second).abs().max() / largest)
        distance.append(far if far > EQUAL else 0.0)
    n = len(graphs[0].labels)
    differ = [c[:n].sort().values.tolist() != c[n:].sort().values.tolist() for c in rounds]
    told = differ.index(True) if any(differ) else None
    return Compared(graphs, kept(rounds), kept([alike(h) for h in hs]), told, distance)


# --- In words ------------------------------------------------------------------------------------------


def captions(found: Compared) -> list[str]:
    """Whether test and network tell the graphs apart, round by round."""
    said = []
    for r, (colours, states) in enumerate(zip(found.test, found.states, strict=True)):
        first, second = found.counts(colours)
        test = "the same multiset of colours" if first == second else "different multisets of colours"
        net = "differ" if any(found.distance[: r + 1]) else "are equal so far"
        k, j = len(set(colours)), len(set(states))
        said.append(
            f"Round {r}: {test}, {k} in all. "
            f"In the network {j} kind{'s' * (j > 1)} of state; pooled, they {net}."
        )
    return said


def equations(found: Compared) -> list[str]:
    """The rule of the test, and how far pooled states are apart, LaTeX."""
    return [
        r"c_n \leftarrow \big(c_n, \{c_m : m \in \mathrm{ne}(n)\}\big),\quad r = "
        rf"{r},\qquad \frac{{\max|\mathrm{{pool}}\,h_G - \mathrm{{pool}}\,h_{{G'}}|}}"
        rf"{{\max|\mathrm{{pool}}\,h|}} = {far:.4f}"
        for r, far in enumerate(found.distance)
    ]


def verdict(found: Compared) -> str:
    return "never" if found.told is None else f"in round {found.told}"
