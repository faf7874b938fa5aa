r"""Explanations of a graph network's answer: which edges, and which features, it rests on.

GNNExplainer fits a mask for one answer c of a frozen network f. One number M_e belongs to an undirected edge,
and weighs its messages both ways; one number F_d weighs feature d of all nodes:

    min_{M, F}  −log p_c + α_s Σ_e σ(M_e) + α_h mean_e H[σ(M_e)] + β_s mean_d σ(F_d) + β_h mean_d H[σ(F_d)]
                p = softmax f(x ⊙ σ(F), edges weighed by σ(M)),    H[m] = −m log m − (1 − m) log(1 − m)

The sum over e takes each message, both directions. Size makes masks small, entropy drives them to 0 or 1. For
a node's answer only messages that reach it within its K layers count: the others have no mask.

The gradient needs no fit: |∂S/∂w_e| at w = 1, both directions added, and |∂S/∂x|; S = log p_c − log(1 − p_c).

Shapes: x (N, D), `edge_index` (2, E) with each undirected edge both ways, masks (E,) and (D,).

References: Ying et al. 2019, arXiv:1903.03894; the defaults are those of its code, where PyTorch Geometric's
start at M = 0 and have a smaller step; Simonyan et al. 2014, arXiv:1312.6034 (gradients).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.utils import k_hop_subgraph

from modules.base import require
from modules.graph.gcn import GCN
from modules.graph.graphs import GraphClassifier

Network = GraphClassifier | GCN


@dataclass(frozen=True)
class Penalties:
    """Weights of what a mask costs: α_s, α_h of edges, β_s, β_h of features."""

    size: float = 0.005
    entropy: float = 1.0
    feature_size: float = 1.0
    feature_entropy: float = 0.1


@dataclass(frozen=True)
class Explanation:
    """Masks of one answer, step by step.

    Attributes:
        target: c. field: (E,) bool, messages that can reach the answer.
        edges: (T + 1, E) in [0, 1], 0 where neither direction is in the field.
        features: (T + 1, D) in [0, 1], 1 throughout where features have no mask.
        loss, probability: (T + 1,), the objective, and p_c of the masked graph.
    """

    target: int
    field: Tensor
    edges: Tensor
    features: Tensor
    loss: Tensor
    probability: Tensor


@contextmanager
def frozen(model: Network) -> Iterator[None]:
    """A network without dropout, whose batch norm uses its running averages."""
    before = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(before)


def dense(x: Tensor) -> Tensor:
    return x.to_dense() if x.layout == torch.sparse_csr else x


def logits(
    model: Network, x: Tensor, edge_index: Tensor, node: int | None = None, edge_mask: Tensor | None = None
) -> Tensor:
    """Logits (C,) of a graph, or of one of its nodes."""
    return model(x, edge_index, edge_mask=edge_mask)[0 if node is None else node]


def edge_numbers(edge_index: Tensor) -> Tensor:
    """Number of the undirected edge of each edge, (E,): both directions have one."""
    return edge_index.sort(dim=0).values.unique(dim=1, return_inverse=True)[1]


def reaching(model: Network, edge_index: Tensor, num_nodes: int, node: int | None = None) -> Tensor:
    """Whether the message of each edge can reach the answer, (E,) bool: for a node within K layers, those to
    nodes at most K − 1 hops away; for a graph all."""
    if node is None:
        return torch.ones(edge_index.shape[1], dtype=torch.bool, device=edge_index.device)
    hops = len(model.layers) - 1  # type: ignore[arg-type]
    near, *_ = k_hop_subgraph(node, hops, edge_index, num_nodes=num_nodes)
    return torch.isin(edge_index[1], near)


def entropy(m: Tensor) -> Tensor:
    """H[σ(m)] of each logit m, in nats."""
    return F.softplus(m) - m * m.sigmoid()


def objective(answer: Tensor, target: int, edges: Tensor, features: Tensor, cost: Penalties) -> Tensor:
    """What GNNExplainer minimises.

    Args:
        answer: (C,), logits of the masked graph.
        edges: (E',), M of each message in the field. features: (D,), F; empty for none.
    """
    loss = -answer.log_softmax(-1)[target]
    if len(edges):
        loss = loss + cost.size * edges.sigmoid().sum() + cost.entropy * entropy(edges).mean()
    if len(features):
        loss = loss + cost.feature_size * features.sigmoid().mean()
        loss = loss + cost.feature_entropy * entropy(features).mean()
    return loss


def explain(
    model: Network,
    x: Tensor,
    edge_index: Tensor,
    node: int | None = None,
    target: int | None = None,
    features: bool = True,
    steps: int = 100,
    lr: float = 0.1,
    cost: Penalties | None = None,
    seed: int = 0,
) -> Explanation:
    """Fit the masks of one answer by Adam; the network stays as it is.

    Args:
        node: whose answer; None: the graph's.
        target: c; None: the likeliest class.
        features: with a mask of features.
        seed: of the first masks, M ~ N(1, 2/N) and F ~ N(0, 0.01).

    Raises:
        ValueError: an argument is out of range, or an edge has no other direction.
    """
    N, cost = len(x), cost or Penalties()
    require(1, steps=steps)
    require(0, node=node or 0)
    x, pair = dense(x), edge_numbers(edge_index)
    if (pair.bincount() != 2)[pair[edge_index[0] != edge_index[1]]].any():
        raise ValueError("edge_index must hold each edge once in each direction.")
    generator = torch.Generator().manual_seed(seed)
    drawn = [
        torch.randn(size, generator=generator)
        for size in (int(pair.max()) + 1 if len(pair) else 0, x.shape[1])
    ]
    M = (1 + drawn[0] * (2 / N) ** 0.5).to(x).requires_grad_()
    V = (0.1 * drawn[1]).to(x).requires_grad_()
    chosen = [M, V] if features else [M]
    adam = torch.optim.Adam(chosen, lr=lr)
    shown: dict[str, list[Tensor]] = {name: [] for name in ("edges", "features", "loss", "probability")}
    with frozen(model), torch.enable_grad():
        field = reaching(model, edge_index, N, node)
        either = torch.zeros_like(M).index_put_((pair[field],), M.new_ones(()))[pair]  # (E,)
        if target is None:
            target = int(logits(model, x, edge_index, node).argmax())
        for step in range(steps + 1):
            m, v = M[pair], V.sigmoid() if features else torch.ones_like(V)
            answer = logits(model, x * v, edge_index, node, m.sigmoid())
            loss = objective(answer, target, m[field], V if features else V[:0], cost)
            now = (m.sigmoid() * either, v, loss, answer.softmax(-1)[target])
            for frames, value in zip(shown.values(), now, strict=True):
                frames.append(value.detach())
            if step < steps:
                grads = torch.autograd.grad(loss, chosen, allow_unused=True)
                for mask, grad in zip(chosen, grads, strict=True):
                    mask.grad = grad
                adam.step()
    return Explanation(target, field, **{name: torch.stack(frames) for name, frames in shown.items()})


def gradients(
    model: Network, x: Tensor, edge_index: Tensor, node: int | None = None, target: int | None = None
) -> tuple[Tensor, Tensor]:
    """How strongly the answer reacts to each edge, (E,), and to each feature of each node, (N, D)."""
    x = dense(x).detach().requires_grad_()
    weight = x.new_ones(edge_index.shape[1]).requires_grad_()
    with frozen(model), torch.enable_grad():
        answer = logits(model, x, edge_index, node, weight)
        target = int(answer.argmax()) if target is None else target
        others = torch.cat([answer[:target], answer[target + 1 :]])
        score = answer[target] - others.logsumexp(0)
        edges, data = torch.autograd.grad(score, (weight, x))
    pair = edge_numbers(edge_index)
    both = edges.new_zeros(edge_index.shape[1]).index_add(0, pair, edges)
    return both[pair].abs(), data.abs()


def best(edge_index: Tensor, scores: Tensor, k: int) -> Tensor:
    """Whether each edge is one of the k undirected edges with the largest scores, (E,) bool; of equal ones
    the first."""
    pair = edge_numbers(edge_index)
    count = int(pair.max()) + 1 if len(pair) else 0
    each = scores.new_zeros(count).scatter_reduce(0, pair, scores, "amax", include_self=False)
    return torch.isin(pair, each.argsort(descending=True, stable=True)[:k])


def auc(scores: Tensor, truth: Tensor) -> float:
    """Probability that an edge of the truth (E,) scores above another one, ties half; NaN without both."""
    gap = scores[truth][:, None] - scores[~truth]
    return float(((gap > 0) + 0.5 * (gap == 0)).double().mean())


@torch.no_grad()
def predicted(model: Network, x: Tensor, edge_index: Tensor, kept: Tensor, node: int | None = None) -> Tensor:
    """Probabilities of the classes on graphs that keep some of the edges, (G, C): all run as one union.

    Args:
        kept: (G, E) bool. node: whose answer; None: the graph's.
    """
    G, N = len(kept), len(x)
    which, edge = kept.nonzero().T
    edges = edge_index[:, edge] + which * N
    many = dense(x).repeat(G, 1)
    with frozen(model):
        if node is not None:
            return model(many, edges)[node + N * torch.arange(G)].softmax(-1)
        return model(many, edges, torch.arange(G).repeat_interleave(N), G).softmax(-1)
