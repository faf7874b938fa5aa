"""The bench of batches of a graph: its plan, exact gradients of whole fields, parts and factors."""

from pathlib import Path

import pytest
import torch

from lab.bench import graph_batches, runs_file
from lab.bench.cora import NETWORKS, papers
from lab.bench.graph_batches import SAMPLES, SEEDS, WAYS, WHOLE, Run, noise, sampled_loss, train
from lab.seeding import seeded
from modules.graph.gcn import GCN
from modules.graph.sampling import Senders, sample


def test_the_plan_names_each_training_once_and_goes_on(tmp_path: Path) -> None:
    runs, path = graph_batches.plan(), tmp_path / "runs.jsonl"
    assert len(set(runs)) == len(runs) == 7 * SEEDS
    for seed, acc in enumerate((0.8, 0.9)):
        runs_file.append(Run("GCN", WHOLE, seed, 9, 0.1, "2026-11-30", 34, acc), path)
    assert len(runs_file.missing(runs, path, Run)) == len(runs) - 2
    (row,) = graph_batches.rows(runs_file.kept(runs, path, Run))
    assert row.case == f"GCN: {WHOLE}" and abs(row.ours - 0.85) < 1e-12 and "34 nodes" in row.note


@pytest.mark.parametrize("network, way", [(network, way) for network, ways in WAYS.items() for way in ways])
def test_a_training_is_repeated_to_the_same_accuracy(network: str, way: str) -> None:
    first, again = (train(network, way, 1, 3, "karate") for _ in range(2))
    assert (first.acc, first.nodes, first.epoch) == (again.acc, again.nodes, again.epoch)
    assert first.nodes == 34 if way == WHOLE else first.nodes < 34 or way == SAMPLES


@pytest.mark.parametrize("network, propagation", [("SAGE", "mean"), ("sum", "sum")])
def test_all_senders_of_the_batch_give_the_loss_of_the_whole_graph(network: str, propagation: str) -> None:
    graph = papers("karate")
    options = NETWORKS.get(network, {"propagation": "sum", "combine": "separate"})
    model = seeded(lambda: GCN(graph.num_features, 4, **options).double().eval(), 0)
    x, labelled = graph.x.to_dense().double(), graph.train_mask.nonzero()[:, 0]
    drawn = sample(Senders.of(graph.edge_index, 34), labelled, [None, None])
    loss = sampled_loss(model, x[drawn.nodes], graph.y[labelled], drawn)
    whole = torch.nn.functional.cross_entropy(model(x, graph.edge_index)[labelled], graph.y[labelled])
    assert torch.allclose(loss, whole, atol=1e-12)


def test_more_senders_make_less_noise_and_sums_without_their_factor_are_small() -> None:
    deviations = [noise("karate", "mean", most, True, 60)[0] for most in (1, 4, 50)]
    assert deviations[0] > deviations[1] > deviations[2] and deviations[2] < 1e-6
    assert noise("karate", "sum", 50, True, 2)[1] < 1e-6
    _, with_factor = noise("karate", "sum", 2, True, 200)
    _, without = noise("karate", "sum", 2, False, 200)
    assert without > with_factor
