"""A graph auto-encoder that is trained as the page opens, and the links that it finds again.

Shapes: N nodes, `H` hidden edges and as many pairs that are none, D_z dimensions. The 2H pairs stand in the
order of their probability, the most likely first.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.links import CommunityLinks, edges_once, non_edges
from lab.errors import UserError
from lab.lenses import graphs
from lab.seeding import seeded
from modules.graph.gae import GAE
from pages.graph.missing_links.room import COMMUNITIES, KARATE

STEPS, RATE, HIDDEN = 200, 0.02, 32


@dataclass(frozen=True)
class World:
    """Features x (N, D), edges (2, E), each once, and communities (N,), None where nobody names any."""

    x: Tensor
    edges: Tensor
    communities: Tensor | None


@dataclass(frozen=True)
class Found:
    """
    Attributes:
        world: the whole graph. seen: (2, E − H), edges that sent messages.
        z: (N, D_z). nll: (STEPS,), loss by step, nats per pair.
        pairs: (2, 2H). linked: (2H,) bool. logits: (2H,), falling.
    """

    world: World
    seen: Tensor
    z: Tensor
    nll: Tensor
    pairs: Tensor
    linked: Tensor
    logits: Tensor

    @property
    def p(self) -> Tensor:
        return self.logits.sigmoid()

    @property
    def true(self) -> Tensor:
        """Shares of the hidden edges that are found among the first k pairs, (2H + 1,)."""
        return share(self.linked)

    @property
    def false(self) -> Tensor:
        """Shares of the pairs that are none among the first k pairs, (2H + 1,)."""
        return share(~self.linked)

    @property
    def auc(self) -> float:
        """Area under the curve of `true` over `false`."""
        return float(torch.trapezoid(self.true, self.false))


def share(marked: Tensor) -> Tensor:
    """Share of the marked ones among the first k, k from 0: (M + 1,) of (M,) bool."""
    return F.pad(marked.double().cumsum(0) / marked.sum(), (1, 0))


def world(graph: str, own: Tensor) -> World:
    """A graph by its name, or the reader's A (N, N); a node without words has its number as feature."""
    if graph == COMMUNITIES:
        data = CommunityLinks().graph()
        return World(data.x, edges_once(data.edge_index), data.y)
    if graph == KARATE:
        data = graphs.karate().data
        return World(data.x, edges_once(data.edge_index), data.y)
    return World(torch.eye(len(own)), own.triu(1).nonzero().T, None)


def hidden(edges: Tensor, nodes: int, hide: float, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Edges that are left (2, E − H), hidden ones (2, H), and as many pairs that are none (2, H).

    Raises:
        UserError: the graph has too few edges, or too few pairs without one.
    """
    count, E = max(1, round(hide * edges.shape[1])), edges.shape[1]
    generator = torch.Generator().manual_seed(seed)
    if E < 2:
        raise UserError("One edge cannot be hidden and learned from: write at least two.")
    if nodes * (nodes - 1) // 2 - E < E:
        raise UserError("More than half of all pairs are joined: take edges away.")
    left, away = edges[:, torch.randperm(E, generator=generator)].split([E - count, count], 1)
    return left, away, non_edges(edges, nodes, count, generator)


def found(graph: str, own: Tensor, hide: float, dim: int, negatives: int, seed: int) -> Found:
    """Train on the edges that are left, then rank the hidden ones among as many pairs that are none.

    Args:
        own: A (N, N) of the reader's graph. hide: share of the edges.
        negatives: pairs that are none per edge.
    """
    here = world(graph, own)
    N = len(here.x)
    seen, away, none = hidden(here.edges, N, hide, seed)
    both = torch.cat([seen, seen.flip(0)], 1)
    model = seeded(lambda: GAE(here.x.shape[1], hidden=[HIDDEN], dim=dim), seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    generator = torch.Generator().manual_seed(seed)
    free = N * (N - 1) // 2 - here.edges.shape[1]
    count = min(negatives * seen.shape[1], free)
    nll = []
    for _ in range(STEPS):
        others = non_edges(here.edges, N, count, generator)
        z = model(here.x, both)
        joined, apart = model.logits(z, seen), model.logits(z, others)
        loss = torch.cat([F.softplus(-joined), F.softplus(apart)]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        nll.append(float(loss.detach()))
    with torch.no_grad():
        z = model(here.x, both)
        pairs = torch.cat([away, none], 1)
        logits = model.logits(z, pairs)
    order = logits.argsort(descending=True, stable=True)
    linked = torch.arange(len(order)) < away.shape[1]
    return Found(here, seen, z, torch.tensor(nll), pairs[:, order], linked[order], logits[order])


# --- What is said of them ---------------------------------------------------------------------------


def probabilities(one: Found) -> Tensor:
    """sig[ZᵀZ] of all pairs, (N, N)."""
    return (one.z @ one.z.T).sigmoid()


def captions(one: Found) -> list[str]:
    """Of each k from 0: the k-th pair, and how many of both kinds are found so far."""
    half = len(one.linked) // 2
    texts = [f"No pair is called linked yet: 0 of {half} hidden edges are found."]
    hits = one.linked.long().cumsum(0)
    for k, ((m, n), edge) in enumerate(zip(one.pairs.T.tolist(), one.linked.tolist(), strict=True)):
        what = "a hidden edge" if edge else "no edge"
        texts.append(
            f"Pair {k + 1}, nodes {m} and {n}, is {what}. Found: {int(hits[k])} of {half} hidden edges, "
            f"with {k + 1 - int(hits[k])} of {half} pairs that are none."
        )
    return texts


def equations(one: Found) -> list[str]:
    """Of each k from 0: the probability of the k-th pair."""
    texts = [rf"\Pr(y_{{mn}} = 1) = \operatorname{{sig}}[z_m^\top z_n], \qquad \text{{AUC}} = {one.auc:.2f}"]
    for (m, n), v in zip(one.pairs.T.tolist(), one.logits.tolist(), strict=True):
        p = 1 / (1 + torch.tensor(-v).exp())
        texts.append(
            rf"\Pr(y_{{{m},{n}}} = 1) = \operatorname{{sig}}[z_{{{m}}}^\top z_{{{n}}}] = "
            rf"\operatorname{{sig}}[{v:.2f}] = {float(p):.3f}"
        )
    return texts
