"""Graphs that a reader edits or types, and the one that a model was trained on.

`edge_index` is (2, E); undirected graphs hold each edge both ways.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from datamodules.fetch import MissingData
from datamodules.graph import OneGraph
from datamodules.graphs import Graph
from datamodules.house_shapes import HouseShapes
from datamodules.karate import Karate
from datamodules.links import CommunityLinks
from datamodules.motifs import Motifs
from datamodules.planetoid import Planetoid
from datamodules.tu import TU
from lab.errors import UserError
from lab.known_graphs import FIGURE_13_4, FIGURE_13_11, PATH, RING
from modules.graph.encoding import adjacency

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


# --- Graphs that are typed --------------------------------------------------------------------------

MOST = 24  # nodes whose numbers can be read
WORD = re.compile(r"(\d+)(?:([-−–:])(\d+))?")


def examples() -> dict[str, str]:
    """Graphs to begin with."""
    return {"Figure 13.4": FIGURE_13_4, "Figure 13.11": FIGURE_13_11, "Path": PATH, "Ring": RING}


@dataclass(frozen=True)
class Typed:
    """edge_index (2, E) in order, an undirected edge both ways, and the label of each node (N,)."""

    edge_index: Tensor
    labels: Tensor


def typed(text: str) -> Tensor:
    """A (N, N) int64 of an undirected graph in words, see `labelled`."""
    graph = labelled(text, MOST)
    return adjacency(graph.edge_index, len(graph.labels))


def arrows(text: str) -> Tensor:
    """A (N, N) int64 of a directed graph in words, where 0-1 is the edge 0 → 1, see `labelled`."""
    graph = labelled(text, MOST, directed=True)
    return adjacency(graph.edge_index, len(graph.labels))


def labelled(text: str, most: int, labels: int = 0, directed: bool = False) -> Typed:
    """A graph in words: 0-1 is an edge, 5 a node alone, 2:3 node 2 with the label 3; all others have the
    label 1, and N is the largest node + 1.

    Args:
        most: nodes that there may be. labels: the largest of them; 0 if there are none.
        directed: 0-1 is the edge 0 → 1 alone.

    Raises:
        UserError: a word is none of these, an edge joins a node to itself, a number is too large, or there
            is no node.
    """
    pairs, given, last = set[tuple[int, int]](), dict[int, int](), -1
    for word in text.replace(",", " ").replace(";", " ").split():
        match = WORD.fullmatch(word)
        if match is None or (match[2] == ":" and not labels):
            raise UserError(
                f"“{word[:20]}” is neither an edge such as 0-1 nor a label such as 2:3."
                if labels
                else f"“{word[:20]}” is no edge: write 0-1 to join nodes 0 and 1, or 5 for a node alone."
            )
        a, b = (int(digits[:9]) for digits in (match[1], match[3] or match[1]))
        ends = (a,) if match[2] == ":" else (a, b)
        if match[2] not in (None, ":") and a == b:
            raise UserError(f"{word[:20]} joins a node to itself: choose two nodes.")
        if max(ends) >= most:
            raise UserError(f"There is no node {max(ends)}: number the nodes from 0 to {most - 1}.")
        if match[2] == ":":
            if not 1 <= b <= labels:
                raise UserError(f"{word[:20]}: a label is a number from 1 to {labels}.")
            given[a] = b
        elif a != b:
            pairs |= {(a, b)} if directed else {(a, b), (b, a)}
        last = max(last, *ends)
    if last < 0:
        raise UserError("The graph is empty: write an edge such as 0-1.")
    edges = torch.tensor(sorted(pairs), dtype=torch.long).reshape(-1, 2).T
    return Typed(edges, torch.tensor([given.get(n, 1) for n in range(last + 1)]))


# --- Graphs of the models -----------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _graph(kind: str, name: str, seed: int) -> OneGraph:
    module: OneGraph
    if kind == "HouseShapes":
        module = HouseShapes(seed=seed)
    else:
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
    if kind not in ("Karate", "Planetoid", "HouseShapes"):
        raise UserError(f"The data {data['class_path']} are no single graph: pick a model of one graph.")
    return _graph(kind, args.get("name", kind), args.get("seed", 0))


@lru_cache(maxsize=4)
def _graph_set(kind: str, name: str, fold: int, seed: int) -> list[Graph]:
    module = TU(name, fold, seed=seed) if kind == "TU" else Motifs(seed=seed)  # type: ignore[arg-type]
    module.setup()
    return list(module.test_set.graphs)  # type: ignore[attr-defined]


def held_out(card: dict[str, Any]) -> list[Graph]:
    """Test graphs of a model that classifies graphs, kept once per process. Do not change them.

    Raises:
        UserError: they are not on disk and cannot be fetched, or the card names another kind of data.
    """
    data = card["config"]["data"]
    kind, args = data["class_path"].rpartition(".")[2], data.get("init_args") or {}
    if kind not in ("Motifs", "TU"):
        raise UserError(f"The data {data['class_path']} are no set of graphs: pick a model of graphs.")
    try:
        return _graph_set(kind, args.get("name", "MUTAG"), args.get("fold", 0), args.get("seed", 0))
    except MissingData as error:
        raise UserError(str(error)) from None


def karate() -> OneGraph:
    """Zachary's karate club, kept once per process. Do not change it."""
    return _graph("Karate", "Karate", 0)


@lru_cache(maxsize=1)
def communities() -> CommunityLinks:
    """The communities whose links are hidden, kept once per process. Do not change them."""
    module = CommunityLinks()
    module.setup()
    return module


def world(model_card: dict[str, Any]) -> OneGraph:
    """The graph of a model.

    Raises:
        UserError: it is not on disk and cannot be fetched.
    """
    try:
        return graph(model_card)
    except MissingData as error:
        raise UserError(str(error)) from None
