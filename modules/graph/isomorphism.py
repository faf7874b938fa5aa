"""The test of Weisfeiler and Leman: nodes that message passing cannot tell apart.

    c⁰_n = colour of the node's own data                             one colour where there is none
    c^{r+1}_n = number of (c^r_n, {{c^r_m : m ∈ ne(n)}})             a multiset: how often counts

Rounds go on until no class of nodes parts any more, N rounds at most. Two graphs with different multisets of
colours are not isomorphic; with the same they may still differ, as a ring of six and two triangles. A layer
that sums, averages, takes the largest or attends gives equal states to nodes of equal colour; one that sums
behind a multilayer perceptron (GIN) can part all that the test parts, if the readout, too, tells multisets
apart: means and maxima do not.

Shapes: `edge_index` (2, E), colours (N,) int64. Graphs are compared in one disjoint union: colours of two
runs are not the same names.

References: Weisfeiler & Leman 1968; Xu et al. 2019, arXiv:1810.00826; [UDL] §13 notes.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch_geometric.utils import remove_self_loops


def refined(colours: Tensor, edge_index: Tensor) -> Tensor:
    """Colours after one round, (N,) int64, numbered by first appearance in the order of the signatures."""
    source, target = remove_self_loops(edge_index)[0].tolist()
    heard: list[list[int]] = [[] for _ in colours]
    names = colours.tolist()
    for m, n in zip(source, target, strict=True):
        heard[n].append(names[m])
    signatures = [(name, *sorted(others)) for name, others in zip(names, heard, strict=True)]
    number = {signature: i for i, signature in enumerate(sorted(set(signatures)))}
    return torch.tensor([number[signature] for signature in signatures], dtype=torch.long)


def rounds(edge_index: Tensor, num_nodes: int, colours: Tensor | None = None) -> list[Tensor]:
    """Colours before the first round and after each that parted a class, (N,) each."""
    start = torch.zeros(num_nodes, dtype=torch.long) if colours is None else colours
    found = [start]
    while len(found) <= num_nodes:
        new = refined(found[-1], edge_index)
        if len(new.unique()) == len(found[-1].unique()):
            break
        found.append(new)
    return found


def union(graphs: Sequence[tuple[Tensor, int]]) -> tuple[Tensor, Tensor]:
    """Disjoint union of (edge_index, N): its edges (2, ΣE), and the graph of each node (ΣN,)."""
    sizes = torch.tensor([n for _, n in graphs])
    starts = sizes.cumsum(0) - sizes
    edges = torch.cat([e + start for (e, _), start in zip(graphs, starts, strict=True)], 1)
    return edges, torch.arange(len(graphs)).repeat_interleave(sizes)


def told_apart(
    one: tuple[Tensor, int], other: tuple[Tensor, int], colours: Tensor | None = None
) -> int | None:
    """Round after which two graphs (edge_index, N) have different multisets of colours; 0 is before the
    first, None never.

    Args:
        colours: first colours of the nodes of both, (N + N',).
    """
    edges, graph = union([one, other])
    for number, found in enumerate(rounds(edges, len(graph), colours)):
        first, second = (found[graph == g].sort().values for g in (0, 1))
        if not torch.equal(first, second):
            return number
    return None
