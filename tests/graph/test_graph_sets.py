"""MUTAG, PROTEINS and ENZYMES against their raw files; folds; rings and houses."""

from collections import Counter
from pathlib import Path

import networkx as nx
import pytest
import torch

from datamodules.fetch import MissingData
from datamodules.motifs import Motifs
from datamodules.tu import ATOMS, FOLDS, TU, fold_of


def test_folds_are_stratified_and_depend_on_the_seed() -> None:
    y = torch.tensor([0] * 63 + [1] * 125)
    folds = fold_of(y)
    assert torch.equal(folds, fold_of(y)) and not torch.equal(folds, fold_of(y, seed=1))
    for mine in (folds, folds[y == 0], folds[y == 1]):
        sizes = mine.bincount(minlength=FOLDS)
        assert sizes.max() - sizes.min() <= 1


def raw(root: Path, name: str, part: str) -> list[list[str]]:
    text = (root / "TUDataset" / name / "raw" / f"{name}_{part}.txt").read_text()
    return [line.replace(" ", "").split(",") for line in text.splitlines()]


@pytest.mark.real_data
@pytest.mark.parametrize(
    "name, graphs, nodes, edges, features, largest, isolated, classes",
    [
        ("MUTAG", 188, 3371, 3721, 7, 28, 0, [63, 125]),
        ("PROTEINS", 1113, 43_471, 81_044, 3, 620, 5, [663, 450]),
        ("ENZYMES", 600, 19_580, 37_282, 21, 126, 106, [100] * 6),
    ],
)
def test_sets(
    name, graphs, nodes, edges, features, largest, isolated, classes, real_data, monkeypatch
) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(root := real_data(name)))
    data = TU(name)
    assert data.sizes == {"num_features": features, "num_classes": len(classes)}
    every = data.load()
    assert len(every) == graphs
    assert sum(len(g.x) for g in every) == nodes and max(len(g.x) for g in every) == largest
    assert sum(g.edge_index.shape[1] for g in every) == 2 * edges
    assert sum(len(g.x) - len(g.edge_index.unique()) for g in every) == isolated
    assert torch.tensor([g.y for g in every]).bincount().tolist() == classes
    # line by line: an edge lies in one graph, a node's label is one-hot behind its attributes
    owner = [int(row[0]) - 1 for row in raw(root, name, "graph_indicator")]
    first = {g: owner.index(g) for g in (0, 7, graphs - 1)}
    for g, start in first.items():
        lines = [(int(a) - 1, int(b) - 1) for a, b in raw(root, name, "A")]
        inside = {(a - start, b - start) for a, b in lines if owner[a] == g}
        assert {tuple(e) for e in every[g].edge_index.T.tolist()} == inside
        labels = raw(root, name, "node_labels")
        least = min(int(row[0]) for row in labels)
        mine = [int(row[0]) - least for row in labels[start : start + len(every[g].x)]]
        hot = every[g].x[:, 18 if name == "ENZYMES" else 0 :]
        assert hot.argmax(1).tolist() == mine and torch.equal(hot.sum(1), torch.ones(len(mine)))
    assert sum(data.describe()["split"].values()) == graphs


@pytest.mark.real_data
def test_each_graph_is_tested_in_one_fold(real_data, monkeypatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("MUTAG")))
    seen = Counter()
    for fold in range(FOLDS):
        data = TU("MUTAG", fold)
        data.setup()
        seen.update(i for i, part in enumerate(data.parts) if part == "test")
        assert Counter(data.parts).total() == 188
        assert len(data.test_set) == data.parts.count("test")
        assert len(data.val_set) == data.parts.count("val")
    assert set(seen.values()) == {1} and len(seen) == 188
    batches = list(data.train_dataloader())
    assert len(batches) == len(data.train_set) // 32 and batches[0].y.shape == (32,)
    assert len(batches[0].ptr) == 33 and batches[0].batch.max() == 31


@pytest.mark.real_data
def test_atoms_of_mutag_have_the_bonds_that_they_can_have(real_data, monkeypatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("MUTAG")))
    most = dict.fromkeys(ATOMS, 0)
    for graph in TU("MUTAG").load():
        degrees = graph.edge_index[1].bincount(minlength=len(graph.x))
        for atom, degree in zip(graph.x.argmax(1).tolist(), degrees.tolist(), strict=True):
            most[ATOMS[atom]] = max(most[ATOMS[atom]], degree)
    assert all(most[halogen] == 1 for halogen in ("F", "Cl", "Br", "I"))
    assert most["C"] <= 4 and most["N"] <= 3 and most["O"] <= 2


@pytest.mark.real_data
def test_attributes_are_standardised_by_the_training_graphs(real_data, monkeypatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("ENZYMES")))
    data = TU("ENZYMES", fold=3)
    data.setup()
    x = torch.cat([g.x for g in data.train_set.graphs])[:, :18]
    assert x.mean(0).abs().max() < 1e-4 and (x.std(0) - 1).abs().max() < 1e-3
    assert torch.cat([g.x for g in data.test_set.graphs])[:, :18].mean(0).abs().max() > 1e-3


@pytest.mark.real_data
def test_without_edges_a_graph_is_a_bag_of_nodes(real_data, monkeypatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("MUTAG")))
    bags, graphs = TU("MUTAG", edges=False).load(), TU("MUTAG").load()
    assert all(bag.edge_index.shape == (2, 0) for bag in bags)
    assert all(torch.equal(bag.x, graph.x) for bag, graph in zip(bags, graphs, strict=True))


def test_missing_files_and_wrong_arguments_are_one_sentence(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(tmp_path))
    with pytest.raises(MissingData, match=r"MUTAG_A\.txt") as error:
        TU("MUTAG").setup()
    assert "gin-motifs" in str(error.value) and "\n" not in str(error.value)
    with pytest.raises(ValueError, match="name is 'NCI1': choose one of MUTAG, PROTEINS, ENZYMES"):
        TU("NCI1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="fold is 10: it must be at least 0 and at most 9"):
        TU(fold=10)


def test_motifs_are_trees_with_a_ring_or_a_house() -> None:
    data = Motifs(num_train=40, num_val=10, num_test=10)
    data.setup()
    assert [len(s) for s in (data.train_set, data.val_set, data.test_set)] == [40, 10, 10]
    for graph in data.train_set.graphs:
        net = nx.Graph(graph.edge_index.T.tolist())
        assert nx.is_connected(net) and len(net) == len(graph.x)
        assert len({tuple(sorted(e)) for e in graph.edge_index.T.tolist()}) == graph.edge_index.shape[1] // 2
        core = nx.k_core(net, 2)
        assert len(core) == 5 and core.number_of_edges() == 5 + graph.y
        assert sum(nx.triangles(core).values()) == 3 * graph.y
    sizes = [Counter(len(g.x) for g in data.train_set.graphs if g.y == y) for y in (0, 1)]
    assert sizes[0].keys() & sizes[1].keys()
    again = Motifs(num_train=40, seed=5)
    again.setup()
    assert torch.equal(again.train_set.graphs[3].edge_index, data.train_set.graphs[3].edge_index)
    assert not torch.equal(data.val_set.graphs[3].edge_index, data.test_set.graphs[3].edge_index)
