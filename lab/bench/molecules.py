"""Graphs classified: molecules, proteins and enzymes by ten folds, motifs on trees by three seeds.

GIN, sum     graph isomorphism network, sums over neighbours and over nodes, all layers read out
GCN, mean    the text's classifier: sums of neighbours with one map, the mean of the last states
no edges     the GIN without edges: what the nodes alone tell

Each fold is tested once, after the last step of a training on the nine others; nothing is chosen on it, and
all networks of a data set have the same steps. Published numbers often choose the epoch on the test folds.

A run is a line of `results/molecules-runs.jsonl`: delete it to run it again.

References: Xu et al. 2019, arXiv:1810.00826; Errica et al. 2020, arXiv:1912.09893.
"""

import datetime
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import torch

from datamodules.graphs import GraphSplit
from datamodules.motifs import Motifs
from datamodules.tu import FOLDS, TU
from lab.bench import runs_file
from lab.bench.fitting import fit
from lab.bench.timing import Row, spread
from lab.seeding import seeded
from modules.graph.gin import GIN
from modules.graph.graphs import GraphClassifier
from modules.graph.pooled_gcn import PooledGCN

Data = Literal["motifs", "MUTAG", "PROTEINS", "ENZYMES"]
KEPT = runs_file.RESULTS / "molecules-runs.jsonl"
RATE, BATCH = 1e-2, 32
STEPS: dict[Data, int] = {"motifs": 240, "MUTAG": 300, "PROTEINS": 600, "ENZYMES": 1_000}
SPLITS: dict[Data, int] = {"motifs": 3, "MUTAG": FOLDS, "PROTEINS": FOLDS, "ENZYMES": FOLDS}
NETWORKS: dict[str, Callable[[int, int], GraphClassifier]] = {
    "GIN, sum": lambda d, c: GIN(d, c, width=32, layers=4, dropout=0.5),
    "GCN, mean": lambda d, c: PooledGCN(d, c, hidden=[64, 64, 64], dropout=0.5),
    "no edges": lambda d, c: GIN(d, c, width=32, layers=4, dropout=0.5),
}


@dataclass(frozen=True)
class Run:
    """One training: `acc` of the test graphs; `seconds` of the processor; `fold` is its seed, too."""

    data: str
    network: str
    fold: int
    steps: int
    parameters: int
    seconds: float
    date: str
    acc: float


@cache
def splits(data: Data, fold: int, edges: bool) -> tuple[GraphSplit, GraphSplit, int, int]:
    """Training graphs, test graphs, numbers at a node, classes."""
    if data == "motifs":
        motifs = Motifs()
        motifs.setup()
        parts = [motifs.train_set.graphs, motifs.test_set.graphs]  # type: ignore[attr-defined]
        if not edges:
            parts = [[g._replace(edge_index=g.edge_index[:, :0]) for g in part] for part in parts]
        return GraphSplit(parts[0]), GraphSplit(parts[1]), 1, 2
    module = TU(data, fold, edges)
    module.setup()
    learnt = [g for g, part in zip(module.graphs, module.parts, strict=True) if part != "test"]
    sizes = module.sizes
    return GraphSplit(learnt), GraphSplit(module.test_set.graphs), sizes["num_features"], sizes["num_classes"]  # type: ignore[attr-defined]


@torch.no_grad()
def accuracy(model: GraphClassifier, test: GraphSplit) -> float:
    """Share of the graphs whose class is right."""
    right = []
    for rows in torch.arange(len(test)).split(100):
        batch = test[rows]
        right.append((model.predict(batch).argmax(-1) == batch.y).double())
    return float(torch.cat(right).mean())


def train(data: Data, network: str, fold: int, steps: int | None = None) -> Run:
    """Train once: the order of the graphs and the first weights depend on the fold alone."""
    train_set, test_set, d, c = splits(data, fold, network != "no edges")
    steps = steps or STEPS[data]
    model = seeded(lambda: NETWORKS[network](d, c), fold)
    length = steps
    seconds = seeded(lambda: fit(model.train(), train_set, fold, length, RATE, batch=BATCH), fold)  # dropout
    acc = accuracy(model.eval(), test_set)
    today = datetime.date.today().isoformat()
    return Run(data, network, fold, steps, model.num_parameters, seconds, today, round(acc, 5))


def plan() -> list[tuple[Data, str, int]]:
    """Data, network and fold of all trainings."""
    return [(data, network, fold) for data in SPLITS for fold in range(SPLITS[data]) for network in NETWORKS]


def deviation(runs: list[Run]) -> str:
    """Standard deviation over the folds, or the seeds, of one network on one data set."""
    said = spread([run.acc for run in runs], 4)
    return said if runs[0].data == "motifs" else said.replace("seeds", "folds")


def rows(runs: list[Run]) -> list[Row]:
    """Accuracy by data and network, mean over the folds."""
    cases: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        cases.setdefault((run.data, run.network), []).append(run)
    return [
        Row("molecules", f"{data}: {network}", statistics.mean(run.acc for run in mine),
            note=f"{deviation(mine)}; {mine[0].parameters:,} parameters", unit="right")
        for (data, network), mine in cases.items()
    ]  # fmt: skip


def measure(quick: bool = False) -> list[Row]:
    """Accuracy on held-out graphs; what is missing is trained first, half an hour in all."""
    if quick:
        return rows([train("motifs", network, 0, steps=2) for network in NETWORKS])
    for run in runs_file.missing(plan(), KEPT, Run):
        runs_file.append(train(*run), KEPT)
    return rows(runs_file.kept(plan(), KEPT, Run))
