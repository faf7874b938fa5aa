"""A graph as its reader has edited it: edges added and taken away.

`edge_index` is (2, E); undirected graphs hold each edge both ways.
"""

import re
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError

# What S is, in words, for the reader.


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
