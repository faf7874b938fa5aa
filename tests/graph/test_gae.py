"""Graph auto-encoder and its data: what is hidden, PyTorch Geometric's decoder, ranks, what is learned."""

from itertools import combinations

import contracts
import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torch_geometric.nn import GCNConv, InnerProductDecoder

from datamodules.links import CitationLinks, CommunityLinks, Links, edges_once, non_edges
from modules.graph.gae import GAE

ALL = torch.arange(1)


def pairs_of(edges: torch.Tensor) -> set[tuple[int, int]]:
    return {(min(m, n), max(m, n)) for m, n in edges.T.tolist()}


def disjoint(data: Links) -> None:
    """Hidden edges are no message edges, in neither direction; what is called none is no edge."""
    data.setup()
    whole = pairs_of(data.data.edge_index)
    train, val, test = (split[ALL] for split in (data.train_set, data.val_set, data.test_set))
    seen = pairs_of(train.edge_index)
    assert torch.equal(train.edge_index, val.edge_index) and torch.equal(train.edge_index, test.edge_index)
    linked = [pairs_of(b.pairs[:, b.linked == 1]) for b in (train, val, test)]
    assert linked[0] == seen and set.union(*linked) == whole
    assert all(not one & other for one, other in combinations(linked, 2))
    others = [pairs_of(b.pairs[:, b.linked == 0]) for b in (train, val, test)]
    for b, none in zip((train, val, test), others, strict=True):
        assert len(none) == int((b.linked == 0).sum()) == int((b.linked == 1).sum())  # each once
        assert not none & whole and all(m < n for m, n in none)
    assert not others[1] & others[2]


def test_hidden_edges_send_nothing() -> None:
    for seed in range(3):
        disjoint(CommunityLinks(seed=seed))
    data = CommunityLinks()
    data.setup()
    assert data.describe()["split"] == {"train": 344, "val": 20, "test": 40}
    first = data.train_set[ALL].pairs
    data.train_set.set_epoch(1)  # type: ignore[union-attr]
    second = data.train_set[ALL].pairs
    assert torch.equal(first[:, :344], second[:, :344]) and not torch.equal(first, second)
    data.train_set.set_epoch(0)  # type: ignore[union-attr]
    assert torch.equal(data.train_set[ALL].pairs, first)


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "edges"), [("Cora", 5278), ("Citeseer", 4552)])
def test_citations(name, edges, real_data, monkeypatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data(name)))
    data = CitationLinks(name)
    disjoint(data)
    split = data.describe()["split"]
    assert split["val"] == round(0.05 * edges) and split["test"] == round(0.1 * edges)
    assert sum(split.values()) == edges
    if name == "Cora":  # the baseline: products of the words alone
        batch = data.test_set[ALL]
        x = (batch.x.to_dense() > 0).float()
        scores = GAE.logits(x / x.norm(dim=1, keepdim=True).clamp(min=1), batch.pairs)
        assert 0.74 < roc_auc_score(batch.linked, scores) < 0.83


def test_all_pairs_that_are_none_can_be_drawn() -> None:
    edges = torch.tensor([[0, 1, 0], [1, 2, 3]])
    none = non_edges(edges, 4, 3, torch.Generator().manual_seed(0))
    assert pairs_of(none) == {(0, 2), (1, 3), (2, 3)}
    with pytest.raises(ValueError, match="4 pairs that are no edges are asked for: this graph has 3"):
        non_edges(edges, 4, 4, torch.Generator())
    loops = torch.tensor([[0, 1, 1, 2], [1, 0, 1, 2]])
    assert edges_once(loops).tolist() == [[0], [1]]


def test_shares_that_hide_all_or_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match=r"hide all edges: leave some"):
        CommunityLinks(0.5, 0.5)
    with pytest.raises(ValueError, match=r"hide none: give larger ones"):
        CommunityLinks(0.0005, 0.1).setup()
    with pytest.raises(ValueError, match=r"val_share is -0\.1: give a share from 0 to 1"):
        CommunityLinks(-0.1)


def batch_of() -> tuple[GAE, torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    data = CommunityLinks()
    data.setup()
    batch = data.test_set[ALL]
    return contracts.exact(GAE(32, hidden=[6], dim=3)), batch.x.double(), batch.edge_index, batch.pairs


def test_it_is_pytorch_geometrics_network_and_decoder() -> None:
    model, x, edge_index, pairs = batch_of()
    first, last = GCNConv(32, 6).double(), GCNConv(6, 3).double()
    for ours, theirs in zip(model.layers, (first, last), strict=True):
        theirs.lin.weight.data.copy_(ours.weight)
        theirs.bias.data.copy_(ours.bias)
    z = last(first(x, edge_index).relu(), edge_index)
    torch.testing.assert_close(model(x, edge_index), z, rtol=0, atol=1e-12)
    torch.testing.assert_close(
        model.logits(z, pairs).sigmoid(), InnerProductDecoder()(z, pairs), rtol=0, atol=1e-12
    )


def test_logits_are_symmetric_and_of_low_rank() -> None:
    model, x, edge_index, pairs = batch_of()
    z = model(x, edge_index)
    every = torch.cartesian_prod(torch.arange(120), torch.arange(120)).T
    logits = model.logits(z, every).view(120, 120)
    assert torch.equal(logits, logits.T) and bool((logits.diagonal().sigmoid() >= 0.5).all())
    assert 1 < int(torch.linalg.matrix_rank(logits)) <= 3
    torch.testing.assert_close(logits[pairs[0], pairs[1]], model.logits(z, pairs))


def test_measures_are_those_of_scikit_learn() -> None:
    """Over all pairs of the split, edges first; an untrained network is close to ln 2."""
    data = CommunityLinks()
    torch.manual_seed(0)
    model = GAE(32)
    trainer = contracts.trainer()
    found = trainer.test(model, data, verbose=False)[0]
    batch = data.test_set[ALL]
    with torch.no_grad():
        p = model.predict(batch).sigmoid()
    assert abs(found["test/auc"] - roc_auc_score(batch.linked, p)) < 1e-6
    assert abs(found["test/ap"] - average_precision_score(batch.linked, p)) < 1e-6
    assert abs(found["test/nll"] - torch.log(torch.tensor(2.0))) < 0.1


def test_parameters_of_the_published_network() -> None:
    assert GAE(1433, hidden=[32], dim=16).num_parameters == 1433 * 32 + 32 + 32 * 16 + 16
