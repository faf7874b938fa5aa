"""Adjacency, walks, distances and new numbers of nodes, by the oracles of the specification."""

import itertools

import pytest
import torch
from graphs import FIXTURES, G4, G5, G5_RENUMBERED, RING, adjacency, both_ways

from modules.graph import encoding


@pytest.mark.parametrize("name", FIXTURES)
def test_fixtures_are_the_figures(name: str) -> None:
    edges, n, degrees, triangles, diameter, _ = FIXTURES[name]
    a = encoding.adjacency(both_ways(edges), n)
    assert torch.equal(a, a.T) and torch.equal(a, adjacency(both_ways(edges), n).long())
    assert a.sum(0).tolist() == degrees == encoding.walks(a, 2).diagonal().tolist()
    assert int(encoding.walks(a, 3).trace()) == 6 * triangles
    assert int(encoding.distances(a).max()) == diameter


def test_numbers_of_walks() -> None:
    a = encoding.adjacency(both_ways(G4), 8)
    assert encoding.walks(a, 2)[:, 5].tolist() == [0, 1, 1, 1, 1, 3, 0, 1]
    assert encoding.walks(a, 3)[:, 0].tolist() == [2, 6, 3, 5, 3, 2, 0, 2]
    assert int(encoding.walks(a, 3)[3, 7]) == 2
    assert [int(encoding.walks(a, L)[0, 6]) for L in range(1, 5)] == [0, 0, 0, 2]
    for name, counts in {
        "A1": [1, 0, 6, 5, 42, 67, 321], "A2": [0, 2, 3, 19, 45, 197, 573], "G4": [1, 1, 6, 13, 49, 140, 469],
        "G14a": [1, 2, 9, 25, 88, 267, 879], "G14b": [0, 0, 3, 3, 26, 42, 203],
    }.items():  # fmt: skip
        edges, n = FIXTURES[name][:2]
        a = encoding.adjacency(both_ways(edges), n)
        assert [int(encoding.walks(a, L)[0, 1]) for L in range(1, 8)] == counts


def test_walks_are_those_that_can_be_listed() -> None:
    """Brute force: all sequences of nodes along edges of a directed graph."""
    edges = torch.tensor([[0, 1, 2, 3, 3, 1], [1, 2, 0, 0, 2, 3]])
    a = encoding.adjacency(edges, 4)
    pairs = set(map(tuple, edges.T.tolist()))
    for length in range(5):
        counts = torch.zeros(4, 4, dtype=torch.long)
        for nodes in itertools.product(range(4), repeat=length + 1):
            if all(step in pairs for step in itertools.pairwise(nodes)):
                counts[nodes[0], nodes[-1]] += 1
        assert torch.equal(encoding.walks(a, length), counts)
    # A e_n of one edge 0 → 1 marks those that lead to n: the forward step is that of the transpose
    one = encoding.adjacency(torch.tensor([[0], [1]]), 2)
    assert one[:, 0].tolist() == [0, 0] and one.T[:, 0].tolist() == [0, 1]


def test_exactly_a_length_and_at_most_it() -> None:
    """The text's Min[A^L + I, 1] loses direct neighbours where L is even."""
    path = [(0, 1), (1, 2), (2, 3)]
    for edges, n, kept, printed_ones, ones in (
        (path, 4, 0, 8, 14),
        (RING, 6, 0, 18, 30),
        (G4, 8, 20, 50, 52),
    ):
        a = encoding.adjacency(both_ways(edges), n)
        printed = (encoding.walks(a, 2) + torch.eye(n, dtype=torch.long)).clamp(max=1)
        assert int((printed * a).sum()) == kept
        right = encoding.within(a, 2)
        assert bool((right >= a.bool()).all())
        assert torch.equal(right, (encoding.distances(a) >= 0) & (encoding.distances(a) <= 2))
        assert int(printed.sum()) == printed_ones and int(right.sum()) == ones


def test_new_numbers() -> None:
    places = torch.tensor([2, 0, 5, 1, 3, 4])
    p = encoding.permutation(places)
    a, b = (encoding.adjacency(both_ways(edges), 6) for edges in (G5, G5_RENUMBERED))
    assert torch.equal(p.T @ a @ p, b)
    assert torch.equal(encoding.adjacency(encoding.renumbered(both_ways(G5), places), 6), b)
    x = torch.arange(12).view(2, 6)  # nodes as columns
    assert torch.equal((x @ p)[:, places], x)
    same = [
        order for order in itertools.permutations(range(6))
        if torch.equal(encoding.adjacency(encoding.renumbered(both_ways(G5), torch.tensor(order)), 6), a)
    ]  # fmt: skip
    assert len(same) == 2


def test_refusals() -> None:
    with pytest.raises(ValueError, match="names node 7: nodes run from 0 to 6"):
        encoding.adjacency(both_ways(G4), 7)
    with pytest.raises(ValueError, match="0 edges or more"):
        encoding.walks(torch.zeros(2, 2, dtype=torch.long), -1)
    with pytest.raises(ValueError, match="take a shorter length"):
        encoding.walks(torch.ones(9, 9, dtype=torch.long), 30)
    with pytest.raises(ValueError, match="comes once"):
        encoding.permutation(torch.tensor([0, 0, 2]))


def test_nothing_joined() -> None:
    a = encoding.adjacency(torch.zeros(2, 0, dtype=torch.long), 3)
    assert torch.equal(encoding.distances(a), 2 * torch.eye(3, dtype=torch.long) - 1 - torch.eye(3).long())
    assert int(encoding.walks(a, 0).trace()) == 3 and not encoding.walks(a, 1).any()
