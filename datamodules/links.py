"""Pairs of nodes of one graph: are they joined? Some edges are hidden, and to be found again.

    message edges   those of training, both ways: all that a model may propagate along
    train           the same edges, and as many pairs that are none, drawn anew in each epoch
    val, test       hidden edges, and as many pairs that are none, drawn once for all

No pair that is called none is an edge of the whole graph, hidden or not, and none of validation is one of the
test. An edge stands once, its smaller end first.

Shapes: `edge_index` (2, 2E) int64; `pairs` (2, 2M) int64, edges first, and `linked` (2M,) float32, 1 or 0.

References: Kipf & Welling 2016, arXiv:1611.07308 (5 % and 10 % of the edges are hidden); [UDL] §13.3.1.
"""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from datamodules.base import DataModule
from datamodules.fetch import fetch
from datamodules.planetoid import Name, Planetoid

SIZES = (30, 30, 30, 30)  # of the communities
INSIDE, ACROSS = 0.2, 0.01  # probabilities of an edge
WORDS, OWN, OTHER = 32, 0.3, 0.1  # of these words a quarter is a community's own; probabilities of a word


def edges_once(edge_index: Tensor) -> Tensor:
    """Undirected edges without self-loops, (2, E), each once, smaller end first."""
    source, target = edge_index
    return edge_index[:, source < target].unique(dim=1)


def non_edges(edges: Tensor, num_nodes: int, count: int, generator: torch.Generator) -> Tensor:
    """Different pairs of nodes that are not joined, (2, count), smaller end first.

    Args:
        edges: (2, E), each once, smaller end first.

    Raises:
        ValueError: there are fewer such pairs.
    """
    free = num_nodes * (num_nodes - 1) // 2 - edges.shape[1]
    if count > free:
        raise ValueError(f"{count} pairs that are no edges are asked for: this graph has {free}.")
    known, found = edges[0] * num_nodes + edges[1], torch.empty(0, dtype=torch.long)
    while len(found) < count:
        pairs = torch.randint(num_nodes, (2, 2 * count), generator=generator).sort(0).values
        keys = (pairs[0] * num_nodes + pairs[1])[pairs[0] < pairs[1]]
        keys = torch.cat([found, keys[~torch.isin(keys, known)]])
        # each once, in the order in which they were drawn
        places, first = keys.unique(return_inverse=True)
        order = torch.full_like(places, len(keys)).scatter_reduce(0, first, torch.arange(len(keys)), "amin")
        found = keys[order.sort().values]
    return torch.stack([found[:count] // num_nodes, found[:count] % num_nodes])


class LinkSplit:
    """A split: the graph with its message edges, and pairs of nodes.

    Args:
        graph: its `edge_index` holds the message edges.
        edges: (2, M). others: (2, M), pairs that are none.
        redraw: called with an epoch it gives other `others`; None keeps them.
    """

    def __init__(
        self, graph: Data, edges: Tensor, others: Tensor, redraw: Callable[[int], Tensor] | None = None
    ) -> None:
        self.graph, self.edges, self.others, self.redraw = graph, edges, others, redraw

    def __len__(self) -> int:
        return 1

    def set_epoch(self, epoch: int) -> None:
        if self.redraw:
            self.others = self.redraw(epoch)

    def __getitem__(self, positions: Tensor) -> Data:
        graph = copy.copy(self.graph)
        graph.pairs = torch.cat([self.edges, self.others], 1)
        graph.linked = torch.cat([torch.ones(self.edges.shape[1]), torch.zeros(self.others.shape[1])])
        return graph


class Links(DataModule):
    """Base of the datamodules of links; a subclass gives `graph`.

    A batch is the whole graph, so an epoch is one optimizer step.

    Args:
        val_share, test_share: of the edges that are hidden for validation and for the test.
        seed: of what is hidden, and of the pairs that are none.

    Raises:
        ValueError: the shares leave nothing to learn from, or hide nothing.
    """

    data: Data  # the whole graph

    def __init__(self, val_share: float = 0.05, test_share: float = 0.1, seed: int = 0) -> None:
        super().__init__(batch_size=1, seed=seed)
        for name, share in (("val_share", val_share), ("test_share", test_share)):
            if not 0 <= share <= 1:
                raise ValueError(f"{name} is {share}: give a share from 0 to 1.")
        if val_share + test_share >= 1:
            raise ValueError(
                f"Shares of {val_share} and {test_share} hide all edges: leave some to learn from."
            )
        self.val_share, self.test_share = val_share, test_share

    def graph(self) -> Data:
        """The whole graph with `x` and `edge_index`."""
        raise NotImplementedError

    def setup(self, stage: str | None = None) -> None:
        if hasattr(self, "data"):
            return
        self.data = self.graph()
        N, edges = int(self.data.num_nodes), edges_once(self.data.edge_index)
        generator = torch.Generator().manual_seed(self.seed)
        edges_drawn = edges[:, torch.randperm(edges.shape[1], generator=generator)]
        hidden = [round(share * edges.shape[1]) for share in (self.val_share, self.test_share)]
        if not all(hidden):
            raise ValueError(f"Of {edges.shape[1]} edges these shares hide none: give larger ones.")
        val, test, train = edges_drawn.split([*hidden, edges.shape[1] - sum(hidden)], 1)
        others = non_edges(edges, N, sum(hidden), generator)
        seen = copy.copy(self.data)
        seen.edge_index = torch.cat([train, train.flip(0)], 1)

        def redraw(epoch: int) -> Tensor:
            own = torch.Generator().manual_seed((self.seed * 0x9E3779B1 + epoch + 1) % 2**32)
            return non_edges(edges, N, train.shape[1], own)

        self.train_set = LinkSplit(seen, train, redraw(0), redraw)
        self.val_set = LinkSplit(seen, val, others[:, : hidden[0]])
        self.test_set = LinkSplit(seen, test, others[:, hidden[0] :])

    @property
    def sizes(self) -> dict[str, Any]:
        self.setup()
        return {"num_features": self.data.x.shape[1]}

    def describe(self) -> dict[str, Any]:
        self.setup()
        sets: dict[str, Any] = {"train": self.train_set, "val": self.val_set, "test": self.test_set}
        return {
            "name": type(self).__name__,
            "split": {name: split.edges.shape[1] for name, split in sets.items()},
            "nodes": self.data.num_nodes,
            "edges": self.data.num_edges // 2,
        }


class CitationLinks(Links):
    """Citations of Cora or Citeseer, some of them hidden; see `datamodules.planetoid`.

    Args:
        name: which graph.
        val_share, test_share, seed: see `Links`.
    """

    def __init__(
        self, name: Name = "Cora", val_share: float = 0.05, test_share: float = 0.1, seed: int = 0
    ) -> None:
        super().__init__(val_share, test_share, seed)
        self.source = Planetoid(name)

    def prepare_data(self) -> None:
        fetch(self.source.graph)

    def graph(self) -> Data:
        return self.source.load()

    def describe(self) -> dict[str, Any]:
        return {
            **super().describe(),
            "name": f"{self.source.graph} links",
            "features": "words, rows sum to 1",
        }


class CommunityLinks(Links):
    """Four communities of 30, from a stochastic block model, whose members use words of their community more
    often. Embedded.

    x (120, 32) marks words, rows divided by their number.
    """

    embedded = True

    def graph(self) -> Data:
        generator = torch.Generator().manual_seed(2016)  # one graph, whatever is hidden of it
        community = torch.arange(len(SIZES)).repeat_interleave(torch.tensor(SIZES))
        alike = community[:, None] == community
        joined = (torch.rand(alike.shape, generator=generator) < torch.where(alike, INSIDE, ACROSS)).triu(1)
        one_way = joined.nonzero().T
        own = torch.arange(WORDS) * len(SIZES) // WORDS == community[:, None]
        words = (torch.rand(own.shape, generator=generator) < torch.where(own, OWN, OTHER)).float()
        x = words / words.sum(1, keepdim=True).clamp(min=1)
        return Data(x=x, edge_index=torch.cat([one_way, one_way.flip(0)], 1), y=community)
