"""Lens on message passing: what a node hears, how far it hears, and what depth forgets.

Every number is taken from the layer that runs (PyTorch Geometric's hooks record its messages), not
from a second implementation; `edge_index` is (2, E), undirected graphs hold each edge both ways.
"""

import copy
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data

from datamodules.graph import OneGraph
from datamodules.karate import Karate
from datamodules.planetoid import Planetoid
from lab.errors import UserError
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.graph.gcn import GCN, GraphConvolution, Propagation, propagation_matrix
from modules.trace import Step, Trace

# What S is, in words, for the reader.
RULES = {
    "sum": "Every message weighs 1: S = A + I.",
    "mean": "Neighbours are averaged, the node itself weighs 1: S = AD⁻¹ + I.",
    "symmetric": "A message weighs 1/√(d_m d_n), the node itself 1: S = D^-½ A D^-½ + I.",
    "gcn": "A message weighs 1/√((d_m + 1)(d_n + 1)), d counting neighbours: the more of them "
    "sender and receiver have, the less it weighs.",
    "average": "The node and its neighbours are averaged: S = (A + I)(D + I)⁻¹.",
}

# What to notice in each view.
NOTICES = {
    "Messages": "Every neighbour sends the same kind of message, Ω h, and only the weight S differs. "
    "The terms may come in any order; the sum is the same. Cut an edge and its term is gone, and all other "
    "weights change with the node's degree.",
    "Reach": "Each layer carries messages one hop further, so k layers hear the nodes within k hops, no "
    "others. Within the field the gradient falls with distance and with the degrees on the way.",
    "Depth": "Two layers mix a node with its surroundings; thirty mix everything with everything. In the "
    "long run the distance shrinks by |λ₂/λ₁| in each layer. Trained nets lose test accuracy with depth "
    "although the labels are still fitted.",
}

# --- The graph ------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _graph(kind: str, name: str, seed: int) -> OneGraph:
    module = Karate(seed) if kind == "Karate" else Planetoid(name, seed=seed)  # type: ignore[arg-type]
    module.setup()
    return module


def graph(card: dict[str, Any]) -> OneGraph:
    """The graph that a model was trained on, kept once per process. Do not change it.

    Raises:
        MissingData: its files are neither on disk nor to be fetched.
        UserError: the card names another kind of data.
    """
    data = card["config"]["data"]
    kind, args = data["class_path"].rpartition(".")[2], data.get("init_args") or {}
    if kind not in ("Karate", "Planetoid"):
        raise UserError(f"The data {data['class_path']} are no single graph: pick a model of one graph.")
    return _graph(kind, args.get("name", kind), args.get("seed", 0))


def neighbourhood(edge_index: Tensor, num_nodes: int, node: int, limit: int) -> Tensor:
    """The `limit` nodes nearest to `node`, in ascending order: what a page can draw of a large graph."""
    distance = hops(edge_index, num_nodes, node)
    distance = torch.where(distance < 0, num_nodes, distance)
    nearest = distance.argsort(stable=True)[:limit]
    return (
        nearest[distance[nearest] < num_nodes].sort().values if num_nodes > limit else torch.arange(num_nodes)
    )


def inside(edge_index: Tensor, nodes: Tensor) -> Tensor:
    """The edges among `nodes` (M,), renumbered 0..M-1."""
    place = torch.full((int(max(edge_index.max() if edge_index.numel() else 0, nodes.max())) + 1,), -1)
    place[nodes] = torch.arange(len(nodes))
    edges = place[edge_index]
    return edges[:, (edges >= 0).all(0)]


def layers(model: GCN) -> list[str]:
    """The layers by number, from 1, as a choice names them."""
    return [str(k + 1) for k in range(len(model.layers))]


def places(nodes: Tensor) -> dict[int, int]:
    """Node -> its place among those that are drawn."""
    return {n: i for i, n in enumerate(nodes.tolist())}


def scene(edited: "Edited", data: Data, shown: Tensor, node: int) -> dict[str, Any]:
    """What every picture of the graph has: nodes, edges, and what the edits change."""
    place = places(shown)
    return {
        "edges": inside(edited.edge_index, shown),
        "numbers": shown.tolist(),
        "labelled": data.train_mask[shown],
        "selected": place[node],
        "added": [(place[a], place[b]) for a, b in edited.added if a in place and b in place],
        "removed": [(place[a], place[b]) for a, b in edited.removed if a in place and b in place],
    }


@torch.no_grad()
def predict(model: GCN, x: Tensor, edge_index: Tensor) -> Tensor:
    """Class probabilities of every node, (N, C)."""
    return model(x, edge_index).softmax(1)


# --- Editing --------------------------------------------------------------------------------------

EDIT = re.compile(r"([+\-−])(\d+)-(\d+)")


@dataclass(frozen=True)
class Edited:
    """An edited graph.

    Attributes:
        edge_index: (2, E).
        added, removed: pairs (a, b), a < b, by which it differs from the original.
    """

    edge_index: Tensor
    added: list[tuple[int, int]]
    removed: list[tuple[int, int]]


def edit(edge_index: Tensor, num_nodes: int, edits: str) -> Edited:
    """Apply edits like "+0-9 -0-1" (join 0 and 9, cut 0 and 1) in turn to an undirected graph.

    Raises:
        UserError: no such node, a node joined to itself, an edge that is there already or is not
            there, or no edit at all; the sentence names it.
    """
    original = {(a, b) for a, b in edge_index.T.tolist() if a < b}
    edges = set(original)
    for token in edits.replace(",", " ").split():
        match = EDIT.fullmatch(token)
        if match is None:
            raise UserError(
                f"{token[:20]!r} is no edit: write +0-9 to join nodes 0 and 9, or -0-1 to cut the edge 0-1."
            )
        a, b = sorted(int(digits[:9]) for digits in match.groups()[1:])
        if b >= num_nodes:
            raise UserError(f"{token}: there is no node {b}, the nodes run from 0 to {num_nodes - 1}.")
        if a == b:
            raise UserError(f"{token}: every layer already sends node {a} its own state; choose two nodes.")
        if match[1] == "+" and (a, b) in edges:
            raise UserError(f"{token}: nodes {a} and {b} are joined already; write -{a}-{b} to cut them.")
        if match[1] != "+" and (a, b) not in edges:
            raise UserError(f"{token}: there is no edge {a}-{b} to cut; write +{a}-{b} to join them.")
        edges ^= {(a, b)}
    added, removed = sorted(edges - original), sorted(original - edges)
    kept = torch.tensor([(a, b) not in set(removed) for a, b in (sorted(e) for e in edge_index.T.tolist())])
    new = torch.tensor(added, dtype=torch.long).reshape(-1, 2).T
    kept_edges = edge_index[:, kept] if len(kept) else edge_index
    return Edited(torch.cat([kept_edges, new, new.flip(0)], dim=1), added, removed)


def toggle(edge_index: Tensor, num_nodes: int, edits: str, a: int, b: int) -> str:
    """The edits after joining a and b, or cutting them if they are joined now.

    Raises:
        UserError: as `edit`.
    """
    now = edit(edge_index, num_nodes, edits)
    a, b = min(a, b), max(a, b)
    if (a, b) in now.added or (a, b) in now.removed:  # take the edit back
        tokens = [f"+{p}-{q}" for p, q in now.added if (p, q) != (a, b)]
        tokens += [f"-{p}-{q}" for p, q in now.removed if (p, q) != (a, b)]
    else:
        joined = bool(((now.edge_index[0] == a) & (now.edge_index[1] == b)).any())
        tokens = [*edits.replace(",", " ").split(), f"{'-' if joined else '+'}{a}-{b}"]
    result = " ".join(tokens)
    edit(edge_index, num_nodes, result)
    return result


# --- One node's sum -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Heard:
    """What one node hears in one layer, the node itself last among the senders.

    Attributes:
        node: n.
        layer: k, counted from 1.
        senders: (M,) the nodes m.
        weights: (M,) S_mn.
        transformed: (M, D') Ω h_m.
        messages: (M, D') S_mn Ω h_m.
        bias: (D',) β.
        total: (D',) β + Σ_m S_mn Ω h_m.
        output: (D',) after the activation.
        last: no activation follows; the output is the logits.
        width: D, numbers in a sender's state.
    """

    node: int
    layer: int
    senders: Tensor
    weights: Tensor
    transformed: Tensor
    messages: Tensor
    bias: Tensor
    total: Tensor
    output: Tensor
    last: bool
    width: int


@torch.no_grad()
def hear(model: GCN, x: Tensor, edge_index: Tensor, node: int, layer: int) -> Heard:
    """Record the messages that reach `node` in `layer` (1..K) while the layer runs.

    Raises:
        UserError: no such node or layer.
    """
    if not 0 <= node < x.shape[0]:
        raise UserError(f"There is no node {node}: the nodes run from 0 to {x.shape[0] - 1}.")
    if not 1 <= layer <= len(model.layers):
        raise UserError(f"There is no layer {layer}: this model has layers 1 to {len(model.layers)}.")
    states = model.embeddings(x, edge_index)
    # a copy: hooks on the model itself, which all readers share, would record their messages too
    conv = cast(GraphConvolution, copy.deepcopy(model.layers[layer - 1]))
    record: dict[str, Any] = {}
    conv.register_propagate_forward_pre_hook(lambda _, args: record.update(edges=args[0]))
    conv.register_message_forward_hook(lambda _, args, out: record.update(args[0], messages=out))
    total = conv(states[layer - 1], edge_index)[node]
    source, target = record["edges"]
    heard = (target == node).nonzero()[:, 0]
    order = torch.where(source[heard] == node, x.shape[0], source[heard]).argsort()
    heard = heard[order]
    return Heard(
        node, layer, source[heard], record["edge_weight"][heard], record["x_j"][heard],
        record["messages"][heard], conv.bias, total, states[layer][node], layer == len(model.layers),
        conv.weight.shape[1],
    )  # fmt: skip


def spell(value: float | Tensor) -> str:
    """A number as the page writes it: three digits after the point; no negative zero."""
    return f"{round(torch.as_tensor(value).item(), 3) + 0.0:.3f}"


def factor(value: float | Tensor) -> str:
    """A number after a multiplication sign: a negative one in parentheses."""
    text = spell(value)
    return f"({text})" if text.startswith("-") else text


def listen(heard: Heard, unit: int) -> Trace:
    """The node's sum, one message a step, then the bias, then the activation, if one follows.

    The equations hold the numbers of one unit.

    Step values: `sender` (−1 for bias and activation), `weight`, `message` (D',), `sum` (D',) so far.
    """
    n, c = heard.node, unit
    steps, total = [], torch.zeros_like(heard.total)
    for m, weight, moved, message in zip(
        heard.senders.tolist(), heard.weights, heard.transformed, heard.messages, strict=True
    ):
        before, total = total, total + message
        who = f"Node {n} hears itself" if m == n else f"Node {m} sends to node {n}"
        equation = (
            rf"\underbrace{{{spell(before[c])}}}_{{\text{{so far}}}} + "
            rf"\underbrace{{{factor(weight)}}}_{{S_{{{m},{n}}}}} \cdot "
            rf"\underbrace{{{factor(moved[c])}}}_{{[\Omega h_{{{m}}}]_{{{c}}}}} = {spell(total[c])}"
        )
        values = {"sender": m, "weight": weight, "message": message, "sum": total}
        steps.append(Step(f"{who}: weight {spell(weight)} times {spell(moved[c])}.", values, equation))
    before, total = total, heard.total
    end = " No activation follows the last layer: this is the logit." if heard.last else ""
    steps.append(
        Step(
            f"The bias is added.{end}",
            {"sender": -1, "weight": torch.ones(()), "message": heard.bias, "sum": total},
            rf"{spell(before[c])} + \underbrace{{{factor(heard.bias[c])}}}_{{\beta_{{{c}}}}} "
            rf"= {spell(total[c])}",
        )
    )
    if not heard.last:
        steps.append(
            Step(
                "The activation keeps what is positive.",
                {
                    "sender": -1,
                    "weight": torch.ones(()),
                    "message": heard.output - total,
                    "sum": heard.output,
                },
                rf"[h'_{{{n}}}]_{{{c}}} = \max(0,\ {spell(total[c])}) = {spell(heard.output[c])}",
            )
        )
    return Trace(steps, heard.output)


def summary(heard: Heard, unit: int) -> str:
    """The whole sum of one unit: the layer's formula, then bias and messages in numbers."""
    n, c = heard.node, unit
    name, rule = (r"\text{logit}", "") if heard.last else ("h'", r"\mathrm{ReLU}")
    messages = heard.messages[:, c].sum()
    return (
        rf"[{name}_{{{n}}}]_{{{c}}} = {rule}\Big[\beta + \sum_{{m \in \mathrm{{ne}}({n}) \cup \{{{n}\}}}} "
        rf"S_{{m,{n}}}\, \Omega h_m\Big]_{{{c}}} = {rule}[{spell(heard.bias[c])} + {factor(messages)}] "
        rf"= {spell(heard.output[c])}"
    )


def prediction(before: Tensor, now: Tensor, data: Data, node: int, classes: Sequence[str], edits: str) -> str:
    """What is predicted of a node, and what the edits change; probabilities (N, C) of both graphs."""
    moved = (now.argmax(1) != before.argmax(1)).nonzero()[:, 0].tolist()
    role = "labelled in training" if data.train_mask[node] else "not labelled in training"
    guess, truth = int(now[node].argmax()), int(data.y[node])
    sentence = f"Node {node} is predicted **{classes[guess]}** and is {classes[truth]}; {role}."
    if edits.strip():
        many = ", ".join(map(str, moved[:8])) + (" …" if len(moved) > 8 else "")
        sentence += f" The edits change the prediction of {len(moved)} nodes{': ' + many if moved else ''}."
    return sentence


def verdicts(now: Tensor, data: Data, nodes: Tensor, classes: Sequence[str]) -> list[str]:
    """What each node is predicted as, and what it is."""
    told = zip(nodes.tolist(), now[nodes].argmax(1).tolist(), data.y[nodes].tolist(), strict=True)
    return [f"node {m}: predicted {classes[guess]}, is {classes[truth]}" for m, guess, truth in told]


def terms(heard: Heard, unit: int) -> dict[str, list[Any]]:
    """The terms of one unit's sum as columns, the bias last."""
    bias = float(heard.bias[unit])
    return {
        "sender": [*map(str, heard.senders.tolist()), "β"],
        "weight": [*heard.weights.tolist(), 1.0],
        "transformed": [*heard.transformed[:, unit].tolist(), bias],
        "term": [*heard.messages[:, unit].tolist(), bias],
    }


def ring_hover(distance: Tensor, nodes: Tensor) -> list[str]:
    """How far each node is, in words."""
    told = zip(nodes.tolist(), distance[nodes].tolist(), strict=True)
    return [f"node {m}: {f'{hops} hops' if hops >= 0 else 'never heard'}" for m, hops in told]


def gradient_hover(measured: Tensor, nodes: Tensor) -> list[str]:
    """How much each node is heard."""
    return [f"node {m}: {g:.3g}" for m, g in zip(nodes.tolist(), measured[nodes].tolist(), strict=True)]


def strongest(terms: Sequence[float], count: int) -> list[int]:
    """Places of the terms that are largest in absolute value, the largest first."""
    return sorted(range(len(terms)), key=lambda i: -abs(terms[i]))[:count]


# --- How far a node hears ---------------------------------------------------------------------------


def hops(edge_index: Tensor, num_nodes: int, node: int) -> Tensor:
    """Theory: layers until a message from m reaches `node`, (N,) int64; −1 where none ever does."""
    distance = torch.full((num_nodes,), -1)
    distance[node] = 0
    for k in range(1, num_nodes):
        source = edge_index[0, distance[edge_index[1]] == k - 1]
        new = source[distance[source] < 0]
        if not len(new):
            break
        distance[new] = k
    return distance


def field_sizes(distance: Tensor, most: int) -> list[int]:
    """How many nodes lie within 0, 1, ..., `most` hops."""
    return [int(((distance >= 0) & (distance <= k)).sum()) for k in range(most + 1)]


def rings(distance: Tensor, reach: int) -> Tensor:
    """The class of a node for drawing: its hops, reach + 1 for all that is farther or never heard."""
    return torch.where((distance < 0) | (distance > reach), reach + 1, distance)


def ring_names(reach: int) -> list[str]:
    """Names of the classes of `rings`."""
    return ["the node", *(f"{k} hop{'s' if k > 1 else ''}" for k in range(1, reach + 1)), "not heard"]


def influence(model: GCN, x: Tensor, edge_index: Tensor, node: int, layer: int) -> Tensor:
    """Measured: Σ_{c,d} |∂ h_{n,c} / ∂ x_{m,d}| of `node` after `layer` layers, for every m: (N,)."""
    x = (x.to_dense() if x.layout != torch.strided else x).detach().clone().requires_grad_()
    with torch.enable_grad():
        state = model.embeddings(x, edge_index)[layer][node]  # (D',)
        total = torch.zeros(x.shape[0], dtype=x.dtype)
        for unit in state:
            (gradient,) = torch.autograd.grad(unit, x, retain_graph=True, allow_unused=True)
            total += gradient.abs().sum(1)
    return total


# --- What depth forgets -----------------------------------------------------------------------------


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


def dominant(s: Tensor) -> tuple[Tensor, float]:
    """Orthonormal basis (N, R) of the dominant eigenspace of s (N, N), and |λ₂/λ₁| of what is left."""
    values, vectors = torch.linalg.eig(s)
    size = values.abs()
    top = size >= size.max() * (1 - 1e-9)  # several where the graph has several components
    spanning = torch.cat([vectors[:, top].real, vectors[:, top].imag], dim=1)
    basis, strength, _ = torch.linalg.svd(spanning, full_matrices=False)
    rest = size[~top]
    return basis[:, strength > 1e-9], float(rest.max() / size.max()) if len(rest) else 0.0


def smoothing(edge_index: Tensor, num_nodes: int, propagation: Propagation, rounds: int) -> Smoothing:
    """Follow one-hot states through `rounds` layers without Ω, β and ReLU: only the graph acts."""
    s = propagation_matrix(edge_index, num_nodes, propagation, torch.float64).to_dense()  # Sᵀ
    adjacency = torch.zeros_like(s)
    adjacency[edge_index[0], edge_index[1]] = 1
    laplacian = adjacency.sum(0).diag() - adjacency
    basis, rate = dominant(s)
    h = torch.eye(num_nodes, dtype=torch.float64)  # Hᵀ: row n is node n's state
    distance, energy, similarity = [], [], []
    for k in range(rounds + 1):
        h = s @ h if k else h
        h = h / h.norm()  # only directions matter, and sums grow without bound
        distance.append((h - basis @ (basis.T @ h)).norm())
        energy.append((h * (laplacian @ h)).sum())
        unit = F.normalize(h, dim=1)
        similarity.append(unit @ unit.T)
    expected = distance[-1] * rate ** torch.arange(-rounds, 1, dtype=torch.float64)
    return Smoothing(torch.stack(distance), torch.stack(energy), expected, rate, torch.stack(similarity))


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
