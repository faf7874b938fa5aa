"""Edges of several kinds: R-GCN against PyTorch Geometric, the text's form, and molecules that need both."""

import contracts
import pytest
import torch
from graphs import G4, both_ways
from torch import nn
from torch_geometric.nn import RGCNConv, SAGEConv

from datamodules.bonds import CARBON, DOUBLE, OXYGEN, SINGLE, Bonds, molecule
from datamodules.graphs import Graph, union
from lab.seeding import seeded
from modules.graph.relations import RelationalConvolution, RelationalGCN

EDGES, N, R = both_ways(G4), 9, 4  # the last node is isolated, the last kind has no edge
GENERATOR = torch.Generator().manual_seed(0)
X = torch.randn(N, 3, dtype=torch.float64, generator=GENERATOR)
KINDS = torch.randint(R - 1, (EDGES.shape[1],), generator=GENERATOR)


def layer_of(bases: int = 0, relations: int = R) -> RelationalConvolution:
    return contracts.exact(RelationalConvolution(3, 5, relations, bases), scale=0.7)


@pytest.mark.parametrize("bases", [0, 2, 6])
def test_it_is_pytorch_geometrics_and_the_sum_node_by_node(bases: int) -> None:
    layer = layer_of(bases)
    peer = RGCNConv(3, 5, R, num_bases=bases or None).double()
    state = {"weight": layer.weight.transpose(1, 2), "root": layer.own.T, "bias": layer.bias}
    peer.load_state_dict(state | ({"comp": layer.shares} if bases else {}))
    y, theirs = layer(X, EDGES, KINDS), peer(X, EDGES, KINDS)
    assert (y - theirs).abs().max() <= 1e-12
    pull = torch.randn(N, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    (ours,) = torch.autograd.grad((y * pull).sum(), layer.weight)
    (other,) = torch.autograd.grad((theirs * pull).sum(), peer.weight)
    assert (ours - other.transpose(1, 2)).abs().max() <= 1e-10
    for n in range(N):
        total = layer.bias + layer.own @ X[n]
        for r in range(R):
            senders = EDGES[0][(EDGES[1] == n) & (r == KINDS)].tolist()
            total = total + sum(layer.matrices[r] @ X[m] / len(senders) for m in senders)
        assert (y[n] - total).abs().max() <= 1e-12


def test_enough_bases_give_any_matrices_and_few_do_not() -> None:
    free = layer_of()
    for bases in (R, R + 2):
        based = layer_of(bases)
        based.own.data, based.bias.data = free.own.data, free.bias.data
        based.weight.data = torch.cat([free.weight.data, torch.randn(bases - R, 5, 3, dtype=torch.float64)])
        based.shares.data = torch.eye(R, bases, dtype=torch.float64)
        torch.testing.assert_close(based(X, EDGES, KINDS), free(X, EDGES, KINDS), rtol=0, atol=1e-12)
    assert torch.linalg.matrix_rank(layer_of(2).matrices.flatten(1)) == 2
    assert torch.linalg.matrix_rank(free.matrices.flatten(1)) == R


def test_sizes_of_the_specification() -> None:
    count = lambda layer: sum(p.numel() for p in layer.parameters())  # noqa: E731
    assert count(RelationalConvolution(3, 2, 30)) == 188
    assert count(RelationalConvolution(3, 2, 30, bases=2)) == 80


def test_one_kind_is_a_mean() -> None:
    layer, peer = layer_of(relations=1), SAGEConv(3, 5).double()
    peer.load_state_dict({
        "lin_l.weight": layer.weight[0], "lin_l.bias": layer.bias, "lin_r.weight": layer.own
    })  # fmt: skip
    y = layer(X, EDGES, torch.zeros_like(KINDS))
    assert (y - peer(X, EDGES)).abs().max() <= 1e-12


def test_names_do_not_matter_but_kinds_do() -> None:
    layer, generator = layer_of(), torch.Generator().manual_seed(3)
    places = torch.randperm(N, generator=generator)
    moved = torch.empty_like(X)
    moved[places] = X
    order = torch.randperm(EDGES.shape[1], generator=generator)
    y = layer(X, EDGES, KINDS)
    again = layer(moved, places[EDGES][:, order], KINDS[order])
    torch.testing.assert_close(again[places], y, rtol=0, atol=1e-12)
    other = KINDS.clone()
    other[0] = (KINDS[0] + 1) % R
    assert (layer(X, EDGES, other) - y).abs().max(1).values.nonzero()[:, 0].tolist() == [int(EDGES[1, 0])]


def test_a_union_gives_what_its_graphs_give() -> None:
    generator = torch.Generator().manual_seed(2)
    graphs = [molecule(bool(i % 2), generator) for i in range(4)]
    graphs.append(Graph(graphs[0].x[:1], EDGES[:, :0], 0, KINDS[:0]))
    graphs = [graph._replace(x=graph.x.double()) for graph in graphs]
    for pooling in ("mean", "sum", "max"):
        model = contracts.exact(RelationalGCN(2, 2, hidden=[4, 3], bases=1, pooling=pooling), scale=0.5)
        whole, each = model.predict(union(graphs)), torch.cat([model.predict(union([g])) for g in graphs])
        assert whole.shape == (5, 2)
        assert (whole - each).abs().max() <= 1e-12


def test_wrong_arguments_are_one_sentence() -> None:
    layer = layer_of()
    for wrong in (KINDS + 2, KINDS - 1):
        with pytest.raises(ValueError, match="kind of an edge is outside 0 … 3"):
            layer(X, EDGES, wrong)
    with pytest.raises(ValueError, match="edge_type has 3 entries for 22 edges"):
        layer(X, EDGES, KINDS[:3])
    with pytest.raises(ValueError, match="bases is -1"):
        RelationalConvolution(3, 5, 2, bases=-1)
    plain = union([Graph(X.float()[:, :2], EDGES, 0)])
    with pytest.raises(ValueError, match="need the kind of each edge"):
        RelationalGCN(2, 2).predict(plain)


# --- Molecules --------------------------------------------------------------------------------------


def group(graph: Graph) -> list[tuple[int, int]]:
    """Elements at both ends of the double bonds, each once."""
    elements = graph.x.argmax(1)
    ends = graph.edge_index[:, graph.edge_type == DOUBLE].T.tolist()
    return sorted((int(elements[a]), int(elements[b])) for a, b in ends if elements[a] <= elements[b])


def test_molecules_have_two_double_bonds_and_keep_their_valences() -> None:
    data = Bonds(num_train=40, num_val=10, num_test=4)
    data.setup()
    for graph in data.train_set.graphs:
        assert graph.edge_type.sum() == 4  # both ways
        carbonyls = (CARBON, OXYGEN) in group(graph)
        assert carbonyls == bool(graph.y)
        size, edges = len(graph.x), graph.edge_index
        assert edges.shape[1] == 2 * (size - 1)  # a tree
        bonds = torch.zeros(size, dtype=torch.long).index_add(0, edges[1], 1 + graph.edge_type)
        limit = torch.where(graph.x.argmax(1) == OXYGEN, 2, 4)
        assert (bonds <= limit).all() and (graph.x.sum(1) == 1).all()
    assert [graph.y for graph in data.val_set.graphs] == [0, 1] * 5
    again = Bonds(num_train=40, num_val=1, num_test=1, seed=7)
    again.setup()
    assert torch.equal(again.train_set.graphs[3].x, data.train_set.graphs[3].x)


def test_what_is_hidden_is_one_for_all() -> None:
    shown = {}
    for atoms, kinds in ((True, True), (False, True), (True, False)):
        data = Bonds(atoms, kinds, num_train=4, num_val=1, num_test=1)
        data.setup()
        shown[atoms, kinds] = data.train_set.graphs[1]
        assert data.sizes["num_features"] == shown[atoms, kinds].x.shape[1]
    every = shown[True, True]
    assert (shown[False, True].x == 1).all() and torch.equal(shown[False, True].edge_type, every.edge_type)
    assert (shown[True, False].edge_type == SINGLE).all() and torch.equal(shown[True, False].x, every.x)


def accuracy(atoms: bool, kinds: bool) -> float:
    """Test accuracy after 80 steps on 150 molecules at once."""
    data = Bonds(atoms, kinds, num_train=150, num_val=1, num_test=200)
    data.setup()
    train, test = (s[torch.arange(len(s))] for s in (data.train_set, data.test_set))
    model = seeded(lambda: RelationalGCN(**data.sizes, hidden=[16]), 0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(80):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model.predict(train), train.y).backward()
        optimizer.step()
    with torch.no_grad():
        return float((model.predict(test).argmax(1) == test.y).double().mean())


def test_atoms_and_kinds_together_tell_what_neither_tells() -> None:
    assert accuracy(atoms=True, kinds=True) >= 0.99
    for atoms, kinds in ((True, False), (False, True)):
        assert 0.35 <= accuracy(atoms, kinds) <= 0.65
