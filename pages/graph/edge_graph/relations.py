"""Edges of up to three kinds, and what a node hears of each, with a matrix for each kind.

    x'_n = Ψ x_n + Σ_r Ω_r mean_{m ∈ ne_r(n)} x_m,      Ω_r = Σ_b c_rb V_b with B bases

Shapes: N nodes, E edges, R kinds, two features.

Reference: Schlichtkrull et al. 2018, arXiv:1703.06103.
"""

import re
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from lab.errors import UserError
from lab.seeding import seeded
from modules.graph.relations import RelationalConvolution
from pages.graph.edge_graph.lens import MOST_EDGES, MOST_NODES
from pages.graph.edge_graph.room import SIGNS

WORD = re.compile(rf"(\d+)([{re.escape(SIGNS)}])(\d+)")
WIDTH = 2  # features of a node


@dataclass(frozen=True)
class Kinds:
    """pairs (E, 2), smaller end first, and the kind of each edge (E,) of 0 … R − 1."""

    pairs: Tensor
    kinds: Tensor

    @property
    def num_nodes(self) -> int:
        return int(self.pairs.max()) + 1


def parse(text: str) -> Kinds:
    """Edges such as 0-1, 1=2 and 2#3, of the first, the second and the third kind; a pair may have several.

    Raises:
        UserError: a word is no edge, joins a node to itself, names too large a node, or there are too many
            edges or none.
    """
    found = set[tuple[int, int, int]]()
    for word in text.replace(",", " ").split():
        match = WORD.fullmatch(word)
        if match is None:
            raise UserError(
                f"“{word[:20]}” is no edge: write 0-1, 0=1 or 0#1 for the first, second or third kind."
            )
        a, b = sorted(int(end[:9]) for end in (match[1], match[3]))
        if a == b:
            raise UserError(f"{word[:20]} joins a node to itself: choose two nodes.")
        if b >= MOST_NODES:
            raise UserError(f"There is no node {b}: number the nodes from 0 to {MOST_NODES - 1}.")
        found.add((a, b, SIGNS.index(match[2])))
    if not found:
        raise UserError("There is no edge: write one such as 0-1.")
    if len(found) > MOST_EDGES:
        raise UserError(f"These are {len(found)} edges: take {MOST_EDGES} at most, so that each can be seen.")
    rows = torch.tensor(sorted(found))
    return Kinds(rows[:, :2], rows[:, 2])


@dataclass(frozen=True)
class Heard:
    """What all nodes hear.

    Attributes:
        of: the graph. x: (N, 2), whole numbers.
        own: Ψ (2, 2). matrices: Ω_r (R, 2, 2).
        senders: node -> kind -> its senders of that kind.
        means: (N, R, 2), zero of a kind that is not heard.
        result: (N, 2), the layer's output.
    """

    of: Kinds
    x: Tensor
    own: Tensor
    matrices: Tensor
    senders: list[list[list[int]]]
    means: Tensor
    result: Tensor

    @property
    def terms(self) -> Tensor:
        """Ψ x_n, then Ω_r times the mean of each kind: (N, 1 + R, 2)."""
        heard = torch.einsum("nrj,rij->nri", self.means, self.matrices)
        return torch.cat([(self.x @ self.own.T)[:, None], heard], 1)


@torch.no_grad()
def heard(related: Kinds, bases: int, seed: int) -> Heard:
    """A layer with weights that are multiples of one half, on whole numbers."""
    N, R = related.num_nodes, len(SIGNS)
    layer = seeded(partial(RelationalConvolution, WIDTH, WIDTH, R, bases), seed).double()
    for weight in layer.parameters():
        weight.copy_((2 * weight).round() / 2)
    x = torch.randint(1, 6, (N, WIDTH), generator=torch.Generator().manual_seed(seed)).double()
    both = torch.cat([related.pairs, related.pairs.flip(1)]).T
    result = layer(x, both, related.kinds.repeat(2))
    senders = [
        [both[0, (both[1] == n) & (related.kinds.repeat(2) == r)].sort().values.tolist() for r in range(R)]
        for n in range(N)
    ]
    means = torch.stack([
        torch.stack([x[every].mean(0) if every else torch.zeros(WIDTH).double() for every in kinds])
        for kinds in senders
    ])  # fmt: skip
    return Heard(related, x, layer.own, layer.matrices, senders, means, result)
