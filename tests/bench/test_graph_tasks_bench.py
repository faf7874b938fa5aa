"""The bench of tasks: its plan, what its draws promise, a training twice, and memory."""

from pathlib import Path

import pytest
import torch

from lab.bench import bond_tasks, degree_tasks, graph_memory, graph_tasks, runs_file, squashing
from lab.bench.graph_tasks import LEAVES, SEEDS, Run, train
from modules.graph.edge_graph import edge_graph


def test_the_plan_names_each_training_once_and_goes_on(tmp_path: Path) -> None:
    runs, path = graph_tasks.plan(), tmp_path / "runs.jsonl"
    assert len(set(runs)) == len(runs) == (2 * 8 + 11 + 2 * 4) * SEEDS
    case = next(iter(graph_tasks.CASES))
    for seed, acc in enumerate((0.5, 0.7)):
        runs_file.append(Run(LEAVES, case, seed, 9, 0.1, "2026-11-30", acc, 0.25), path)
    assert len(runs_file.missing(runs, path, Run)) == len(runs) - 2
    (row,) = graph_tasks.rows(runs_file.kept(runs, path, Run))
    assert row.case == "leaves: GCN, 4 leaves, width 32" and row.ours == pytest.approx(0.6)
    assert "a leaf has 0.2500 of the influence" in row.note


@pytest.mark.parametrize("task", dict.fromkeys(task for task, _, _ in graph_tasks.plan()))
def test_a_training_is_repeated_to_the_same_accuracy(task: str) -> None:
    case = next(case for mine, case, _ in graph_tasks.plan() if mine == task)
    first, again = (train(task, case, 1, steps=2) for _ in range(2))
    assert (first.acc, first.beside, first.steps) == (again.acc, again.beside, again.steps)
    assert 1 <= first.steps <= 2 and 0 < first.beside <= 1


def test_degrees_are_the_classes_or_say_nothing_of_them() -> None:
    graph = degree_tasks.draw("degree is the label", 0, 200)
    assert torch.equal(graph.edge_index[1].bincount(minlength=600), graph.y)
    assert int(graph.y.max()) <= degree_tasks.DEGREES and bool((graph.x == 1).all())
    noisy = degree_tasks.draw("degree is noise", 0, 200)
    source, target = noisy.edge_index
    assert torch.equal(noisy.y[source], noisy.y[target]), "all neighbours are of one class"
    masks = torch.stack([noisy.train_mask, noisy.val_mask, noisy.test_mask])
    assert bool((masks.sum(0) == 1).all()) and torch.equal(masks[:, source], masks[:, target])
    assert float((noisy.x[:, 0] - 1 - noisy.y).mean().abs()) < 0.15
    for edges in (graph.edge_index, noisy.edge_index):
        pairs = set(map(tuple, edges.T.tolist()))
        assert len(pairs) == edges.shape[1] and all((b, a) in pairs and a != b for a, b in pairs)


def test_leaves_have_all_keys_and_the_root_is_their_parents_parent() -> None:
    x, y = squashing.draw(3, 5, torch.Generator().manual_seed(0))
    assert bool((x[:, :7] == 0).all())
    keys, values = (x[:, 7:] - 1) // squashing.VALUES, (x[:, 7:] - 1) % squashing.VALUES
    assert torch.equal(keys.sort(1).values, torch.arange(8).expand(5, -1))
    assert torch.equal(y.gather(1, keys), values)
    edges = squashing.upwards(2, 2)
    assert edges.T.tolist()[:6] == [[1, 0], [2, 0], [3, 1], [4, 1], [5, 2], [6, 2]]
    assert torch.equal(edges[:, 6:], edges[:, :6] + 7)


@pytest.mark.parametrize("name", squashing.LAYERS)
def test_levels_that_the_root_will_not_hear_do_not_matter(name: str) -> None:
    """Cut short layer by layer, the root has the state that it has in whole trees."""
    torch.manual_seed(0)
    network = squashing.Matcher(squashing.LAYERS[name], 3, 8).eval()
    x, _ = squashing.draw(3, 4, torch.Generator().manual_seed(1))
    h = network.start(x)
    edges = squashing.upwards(3, 4)
    for layer, norm in zip(network.layers, network.norms, strict=True):
        h = norm(h + layer(h, edges).relu())
    cut = network.roots(network.start(x), squashing.graph_of(name, 3, 4), 4)
    torch.testing.assert_close(cut, h.view(4, 15, 8)[:, 0], rtol=0, atol=1e-5)


def test_bonds_decide_and_neither_atoms_nor_bonds_alone() -> None:
    oxygen, double, y = (
        part[..., 1] if part.dim() > 1 else part for part in bond_tasks.draw("bonds", 400, 0)
    )
    meet = (double * double.roll(1, 1)).sum(1)
    assert bool((double.sum(1) == 2).all()) and torch.equal(meet.long(), y)
    atoms, bonds, y = bond_tasks.draw("bonds and atoms", 4_000, 0)
    oxygen, double = atoms[..., 1], bonds[..., 1]
    assert bool((oxygen.sum(1) == 2).all()) and bool((double.sum(1) == 1).all())
    at = double * (oxygen + oxygen.roll(-1, 1)).clamp(max=1)
    assert torch.equal(at.sum(1).long(), y) and int(y.sum()) == 2_000
    # nothing that atoms alone can tell, up to turns and mirrors: how far the oxygens are apart
    apart = torch.stack([(oxygen * oxygen.roll(k, 1)).sum(1) for k in range(1, 6)], 1)
    difference = apart[y == 1].mean(0) - apart[y == 0].mean(0)
    assert float(difference.abs().max()) < 0.05
    seen, none, _ = bond_tasks.as_seen((atoms, bonds, y), "edges only", 0)
    assert seen is bonds and not none.any()
    drawn = bond_tasks.as_seen((atoms, bonds, y), "random bonds", 0)[1]
    assert bool((drawn.sum(-1) == 1).all()) and not torch.equal(drawn, bonds)
    ring = bond_tasks.ring_edges(2)
    assert torch.equal(ring[:, 20:], ring[:, :20].flip(0)) and ring[:, 9].tolist() == [9, 0]
    once = ring[:, :10].T.sort(1).values
    assert len(edge_graph(once)) == 10, "a ring of bonds is a ring"


def test_each_way_through_a_graph_gives_its_logits_and_says_its_memory() -> None:
    rows = graph_memory.rows(quick=True)
    assert [row.case for row in rows] == [f"memory: {way}" for way in graph_memory.WAYS]
    for row in rows:
        assert row.ours >= 0 and float(row.note.split("within ")[1].split()[0]) <= 1e-5
    edges = graph_memory.block_model(2_000, 10_000)
    assert 9_000 < edges.shape[1] / 2 <= 10_000 and bool((edges[0] != edges[1]).all())
    inside = float((edges[0] % 10 == edges[1] % 10).double().mean())
    assert inside == pytest.approx(0.82, abs=0.02)
