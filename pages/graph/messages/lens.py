"""Lens on message passing: the graph, its nodes' places, and what each view shows of it.

Every number is taken from the layer that runs (PyTorch Geometric's hooks record its messages), not
from a second implementation; `edge_index` is (2, E), undirected graphs hold each edge both ways.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import graphs
from modules.graph.gcn import GCN
from pages.graph.messages import depth, hearing, reaching
from pages.graph.messages.room import DEPTH, MESSAGES, REACH, ROUNDS

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
    MESSAGES: "Every neighbour sends the same kind of message, Ω h, and only the weight S differs. "
    "The terms may come in any order; the sum is the same. Cut an edge and its term is gone, and all other "
    "weights change with the node's degree.",
    REACH: "Each layer carries messages one hop further, so k layers hear the nodes within k hops, no "
    "others. Within the field the gradient falls with distance and with the degrees on the way.",
    DEPTH: "Two layers average over a neighbourhood, thirty over the whole graph: over-smoothing. In the "
    "long run the distance shrinks by |λ₂/λ₁| in each layer. Trained nets lose test accuracy with depth "
    "although the labels are still fitted.",
}

# --- The graph ------------------------------------------------------------------------------------


def neighbourhood(edge_index: Tensor, num_nodes: int, node: int, limit: int) -> Tensor:
    """The `limit` nodes nearest to `node`, in ascending order: what a page can draw of a large graph."""
    distance = reaching.hops(edge_index, num_nodes, node)
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


def places(nodes: Tensor) -> dict[int, int]:
    """Node -> its place among those that are drawn."""
    return {n: i for i, n in enumerate(nodes.tolist())}


def scene(edited: graphs.Edited, data: Data, shown: Tensor, node: int) -> dict[str, Any]:
    """Parts of every picture of the graph: nodes, edges, and what the edits change."""
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


# --- Bounds of the controls -------------------------------------------------------------------------

DRAWN = 36  # nodes of a large graph that are drawn: the nearest to the selected one
DEPTHS = (1, 2, 4, 8, 16)
Card = dict[str, Any]


def fits(experiment: Experiment) -> bool:
    """Their weights are those of the graph; houses are many, and in `explanation`."""
    return experiment.module.endswith(".GCN") and not experiment.datamodule.endswith(".HouseShapes")


def last_node(model_card: Card) -> int:
    return int(graphs.world(model_card).data.num_nodes) - 1


def layers(model: GCN) -> list[str]:
    """The layers by number, from 1, as a choice names them."""
    return [str(k + 1) for k in range(len(model.layers))]


def last_layer(model: GCN) -> str:
    return layers(model)[-1]


def last_unit(model: GCN, layer: str) -> int:
    return int(model.layers[int(layer) - 1].weight.shape[0]) - 1  # type: ignore[union-attr, index]


def trains(view: str, train: bool) -> bool:
    return view == DEPTH and train


# --- What the page shows ----------------------------------------------------------------------------


@dataclass(frozen=True)
class View:
    """A graph as it is edited, and what is drawn of it.

    Attributes:
        shown: nodes, a small graph whole, of a large one the selected node's surroundings.
        before, now: (N, C) class probabilities on the original and on the edited graph.
    """

    data: Data
    classes: list[str]
    edited: graphs.Edited
    shown: Tensor
    before: Tensor
    now: Tensor

    @property
    def whole(self) -> bool:
        return len(self.shown) == self.data.num_nodes


def view(model: GCN, model_card: Card, node: int, edits: str) -> View:
    module = graphs.world(model_card)
    data, edited = module.data, graphs.edit(module.data.edge_index, int(module.data.num_nodes), edits)
    shown = neighbourhood(edited.edge_index, int(data.num_nodes), node, DRAWN)
    before, now = (predict(model, data.x, edges) for edges in (data.edge_index, edited.edge_index))
    return View(data, list(module.classes), edited, shown, before, now)


def edited_edges(model_card: Card, edits: str) -> Tensor:
    data = graphs.world(model_card).data
    return graphs.edit(data.edge_index, int(data.num_nodes), edits).edge_index


def heard(model: GCN, model_card: Card, node: int, layer: str, edits: str) -> hearing.Heard:
    """One node's sum in one layer."""
    return hearing.hear(
        model, graphs.world(model_card).data.x, edited_edges(model_card, edits), node, int(layer)
    )


def reach(model: GCN, model_card: Card, node: int, layer: str, edits: str) -> tuple[Tensor, Tensor]:
    """Reach of a node: hops in theory, gradients as measured; (N,) each."""
    data, edges = graphs.world(model_card).data, edited_edges(model_card, edits)
    theory = reaching.hops(edges, int(data.num_nodes), node)
    return theory, reaching.influence(model, data.x, edges, node, int(layer))


def smoothed(model: GCN, model_card: Card, node: int, edits: str) -> depth.Smoothing:
    """Nodes after each round of averaging, those that are drawn."""
    shown = view(model, model_card, node, edits)
    edges = inside(shown.edited.edge_index, shown.shown)
    return depth.smoothing(edges, len(shown.shown), model.propagation, ROUNDS[-1])


def trained_depths(model: GCN, model_card: Card, seed: int) -> list[tuple[int, float, float]]:
    """Accuracies of networks of several depths, trained now.

    Raises:
        UserError: the graph is too large to be trained on while a reader waits.
    """
    data = graphs.world(model_card).data
    if data.num_nodes > 100:
        raise UserError("Training here is for small graphs: choose gcn-karate, or use the page Train.")
    return depth.train_depths(data, model.propagation, DEPTHS, seed)
