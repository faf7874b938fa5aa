"""Papers by their citations: what neighbours say, by layer, by number of labels, seen in training or not.

GCN        sums by degrees, as published          mean       the text's mean of neighbours plus the node
SAGE       a map of the mean, one of the node     GIN        a sum, the node counted 1 + ε times
no edges   the same network on the words alone

Two layers, 16 hidden units, dropout ½, Adam, rate .01, 200 epochs, weight decay on the first layer; rows of
words are divided by their sum. The public split; one rule for all, fixed before: the epoch with the smallest
loss on validation, the earliest of equals, is tested. The last epoch stands beside it.

A run is a line of `results/cora-runs.jsonl`: delete it to run it again.

References: [UDL] §13.6–13.8; Kipf & Welling 2017, arXiv:1609.02907; Yang et al. 2016, arXiv:1603.08861.
"""

import datetime
import statistics
import time
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import subgraph

from datamodules.karate import Karate
from datamodules.planetoid import Planetoid
from lab.bench import runs_file
from lab.bench.timing import Row, spread
from lab.seeding import seeded
from modules.graph.gcn import GCN
from modules.graph.nodes import NodeClassifier

KEPT = runs_file.RESULTS / "cora-runs.jsonl"
EPOCHS, RATE = 200, 1e-2
NETWORKS: dict[str, dict[str, Any]] = {
    "GCN": {"propagation": "gcn"},
    "mean": {"propagation": "mean"},
    "SAGE": {"propagation": "mean", "combine": "separate"},
    "GIN": {"propagation": "sum", "combine": "diagonal"},
    "no edges": {"propagation": "gcn"},
}
LABELS = (1, 2, 5, 10, 20)
ALL, INDUCTIVE = "public split", "test papers unseen in training"


def labelled(count: int) -> str:
    """Name of the setting with so many labels of each class, drawn by the seed."""
    return f"{count} label{'s' * (count > 1)} a class"


@dataclass(frozen=True)
class Run:
    """One training: accuracy on test papers at the epoch that validation chose, and after the last."""

    data: str
    network: str
    setting: str
    seed: int
    epoch: int
    seconds: float
    date: str
    acc: float
    last: float


@cache
def papers(name: str) -> Data:
    """The graph with its masks; "karate" is the embedded one, on which a quick run is made."""
    module = Karate() if name == "karate" else Planetoid(name)  # type: ignore[arg-type]
    module.prepare_data()
    module.setup()
    return module.data


def with_labels(graph: Data, count: int, seed: int) -> Data:
    """The graph with `count` of the training labels of each class."""
    generator, mask = torch.Generator().manual_seed(seed), torch.zeros_like(graph.train_mask)
    for k in range(int(graph.y.max()) + 1):
        nodes = (graph.train_mask & (graph.y == k)).nonzero()[:, 0]
        mask[nodes[torch.randperm(len(nodes), generator=generator)[:count]]] = True
    changed = copy(graph)
    changed.train_mask = mask
    return changed


def without_test(graph: Data) -> Data:
    """The graph with no edge from or to a test paper: in training nobody hears one, and none is labelled."""
    seen = ~graph.test_mask
    changed = copy(graph)
    changed.edge_index = subgraph(seen, graph.edge_index, num_nodes=graph.num_nodes)[0]
    return changed


def graphs(name: str, network: str, setting: str, seed: int) -> tuple[Data, Data]:
    """The graph of training and validation, and that of the test."""
    graph = papers(name)
    if network == "no edges":
        graph = copy(graph)
        graph.edge_index = graph.edge_index[:, :0]
    for count in LABELS:
        if setting == labelled(count):
            graph = with_labels(graph, count, seed)
    return (without_test(graph) if setting == INDUCTIVE else graph), graph


def right(logits: Tensor, graph: Data, split: str = "test") -> float:
    """Share of the papers of a split whose class is right."""
    mask = graph[f"{split}_mask"]
    return float((logits.argmax(-1) == graph.y)[mask].double().mean())


class Fit(NamedTuple):
    """A training: the epoch that validation chose, accuracy on test papers there and after the last epoch,
    and then on training papers."""

    epoch: int
    acc: float
    last: float
    train: float


def fit(
    model: NodeClassifier,
    learnt: Data,
    tested: Data,
    epochs: int = EPOCHS,
    batches: Iterator[Callable[[], Tensor]] | None = None,
) -> Fit:
    """Train in place.

    Args:
        batches: makers of the loss of each step; without them it is that of the whole graph.
    """
    optimizer = torch.optim.Adam(model.parameter_groups(), RATE)
    least, best, acc, last, train = torch.inf, 0, 0.0, 0.0, 0.0
    for epoch in range(1, epochs + 1):
        model.train()
        loss = next(batches)() if batches else model.step(learnt, "train")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            logits = model.eval().predict(learnt)
            mask = learnt.val_mask
            now = float(F.cross_entropy(logits[mask], learnt.y[mask]))
            if now < least or epoch == epochs:
                seen = logits if tested is learnt else model.predict(tested)
                last, train = (right(seen, tested, of) for of in ("test", "train"))
            if now < least:
                least, best, acc = now, epoch, last
    return Fit(best, acc, last, train)


def train(name: str, network: str, setting: str, seed: int, epochs: int = EPOCHS) -> Run:
    """Train once; the seed draws the weights, the dropout and, where they are few, the labels."""
    learnt, tested = graphs(name, network, setting, seed)
    start = time.process_time()

    def fitted() -> Fit:
        model = GCN(learnt.num_features, int(learnt.y.max()) + 1, **NETWORKS[network])
        return fit(model, learnt, tested, epochs)

    best, acc, last, _ = seeded(fitted, seed)
    seconds, today = round(time.process_time() - start, 1), datetime.date.today().isoformat()
    return Run(name, network, setting, seed, best, seconds, today, round(acc, 4), round(last, 4))


def plan() -> list[tuple[str, str, str, int]]:
    """Data, network, setting and seed of all trainings."""
    cases = [("Cora", "GCN", ALL, 20), ("Citeseer", "GCN", ALL, 20), ("Cora", "GCN", INDUCTIVE, 10)]
    cases += [("Cora", network, ALL, 10) for network in NETWORKS if network != "GCN"]
    cases += [("Cora", network, labelled(count), 10) for count in LABELS for network in ("GCN", "no edges")]
    return [(*case, seed) for *case, seeds in cases for seed in range(seeds)]  # type: ignore[misc]


def rows(runs: list[Run]) -> list[Row]:
    """Accuracy by data, setting and network, mean over the seeds, in the order of the plan."""
    cases: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        cases.setdefault((run.data, run.setting, run.network), []).append(run)
    return [
        Row("cora", f"{data}, {setting}: {network}", statistics.mean(run.acc for run in mine),
            note=f"{spread([run.acc for run in mine], 3)}; after the last epoch "
                 f"{statistics.mean(run.last for run in mine):.3f} {spread([run.last for run in mine], 3)}",
            unit="right")
        for (data, setting, network), mine in cases.items()
    ]  # fmt: skip


def measure(quick: bool = False) -> list[Row]:
    """Accuracy on test papers; what is missing is trained first, a quarter of an hour in all."""
    if quick:
        return rows([train("karate", network, ALL, 0, epochs=2) for network in NETWORKS])
    for run in runs_file.missing(plan(), KEPT, Run):
        runs_file.append(train(*run), KEPT)
    return rows(runs_file.kept(plan(), KEPT, Run))
