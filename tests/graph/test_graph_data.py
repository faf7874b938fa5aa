"""Cora, Citeseer and the karate club: sizes, splits, and one sentence where the files are missing."""

from pathlib import Path

import pytest
import torch
from torch_geometric import datasets

from datamodules.fetch import MissingData
from datamodules.house_shapes import HOUSE, HouseShapes
from datamodules.karate import Karate
from datamodules.planetoid import Planetoid


def test_karate_is_split_once_and_reproducibly() -> None:
    module = Karate()
    assert module.sizes == {"num_features": 34, "num_classes": 4}
    data = module.data
    assert data.num_edges == 2 * 78
    masks = torch.stack([data.train_mask, data.val_mask, data.test_mask])
    assert torch.equal(masks.sum(0), torch.ones(34, dtype=torch.long))
    assert masks.sum(1).tolist() == [4, 10, 20]
    assert sorted(data.y[data.train_mask].tolist()) == [0, 1, 2, 3]
    for mask in masks:  # every community is in every part
        assert len(data.y[mask].unique()) == 4
    again, other = Karate(), Karate(seed=1)
    again.setup(), other.setup()
    assert torch.equal(again.data.val_mask, data.val_mask)
    assert not torch.equal(other.data.val_mask, data.val_mask)
    assert module.describe()["split"] == {"train": 4, "val": 10, "test": 20}


def test_houses_hang_on_a_graph() -> None:
    for seed in range(20):
        module = HouseShapes(base=4, houses=9, seed=seed)
        module.setup()
        data = module.data
        source, target = data.edge_index
        inside = (data.house[source] == data.house[target]) & (data.house[source] >= 0)
        assert int(inside.sum()) == 9 * 2 * len(HOUSE)
        assert data.y.bincount().tolist() == [4, 9, 18, 18]
        for k in range(9):
            first = 4 + 5 * k
            mine = {
                (a - first, b - first)
                for a, b in data.edge_index[:, inside].T.tolist()
                if first <= a < first + 5
            }
            assert mine == {*HOUSE, *((b, a) for a, b in HOUSE)}
            assert (data.house[target][source >= first][data.house[source][source >= first] == k] != k).any()
        masks = torch.stack([data.train_mask, data.val_mask, data.test_mask])
        assert torch.equal(masks.sum(0), torch.ones(49, dtype=torch.long)) and (source != target).all()
    again = HouseShapes(base=4, houses=9, seed=19)
    again.setup()
    assert torch.equal(again.data.edge_index, data.edge_index)
    with pytest.raises(ValueError, match="houses"):
        HouseShapes(houses=0)


def test_a_batch_is_the_whole_graph() -> None:
    module = Karate()
    module.setup()
    for loader in (module.train_dataloader(), module.val_dataloader(), module.test_dataloader()):
        batches = list(loader)
        assert len(batches) == 1 and batches[0].num_nodes == 34


@pytest.mark.real_data
@pytest.mark.parametrize(
    "name, nodes, edges, words, classes, stored, labelled, isolated",
    [("Cora", 2708, 5278, 1433, 7, 49_216, 140, 0), ("Citeseer", 3327, 4552, 3703, 6, 105_165, 120, 48)],
)
def test_planetoid(
    name, nodes, edges, words, classes, stored, labelled, isolated, real_data, tmp_path, monkeypatch
) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(root := real_data(name)))
    module = Planetoid(name)
    assert module.sizes == {"num_features": words, "num_classes": classes}
    data = module.data
    assert data.num_nodes == nodes and data.num_edges == 2 * edges
    assert len(data.x.values()) == stored
    assert module.describe()["split"] == {"train": labelled, "val": 500, "test": 1000}
    assert nodes - len(data.edge_index[0].unique()) == isolated
    x = data.x.to_dense()
    sums = x.sum(1)
    assert torch.allclose(sums[sums > 0], torch.ones(1)) and (sums > 0).sum() >= nodes - 15

    # PyTorch Geometric's own class writes beside its raw files: give it a copy.
    folder = tmp_path / name
    folder.mkdir()
    (folder / "raw").symlink_to(root / "Planetoid" / name / "raw")
    theirs = datasets.Planetoid(str(tmp_path), name)[0]
    for key in ("edge_index", "y", "train_mask", "val_mask", "test_mask"):
        assert torch.equal(theirs[key], data[key])
    assert torch.equal(theirs.x > 0, x > 0)


def test_missing_files_are_one_sentence_that_names_the_embedded_sister(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(tmp_path))
    with pytest.raises(MissingData) as error:
        Planetoid("Cora").setup()
    sentence = str(error.value)
    assert "ind.cora.x" in sentence and str(tmp_path) in sentence and "gcn-karate" in sentence
    assert "\n" not in sentence


def test_an_unknown_graph_is_one_sentence() -> None:
    with pytest.raises(ValueError, match="'Pubmed': choose one of Cora, Citeseer"):
        Planetoid("Pubmed")  # type: ignore[arg-type]
