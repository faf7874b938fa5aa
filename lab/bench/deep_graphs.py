"""Depth of graph networks on Cora: what plain layers lose, on training papers too, and what holds against it.

plain      layers of the published GCN           residual   each hidden layer adds its input
PairNorm   distances of states are kept          jump       the last layer reads all hidden ones
edges dropped   a share of the edges is left out of each step

16 hidden units, Adam, rate .01, 200 epochs, the public split. Dropout ½ stands before every layer, as
published, or nowhere: with it, deep networks fail for another reason. The epoch of the smallest loss on
validation is tested; on training papers the last epoch counts.

A run is a line of `results/deep-graphs-runs.jsonl`: delete it to run it again.

References: [UDL] §13.8.2 and notes; Zhao & Akoglu 2020, arXiv:1909.12223 (PairNorm); Xu et al. 2018,
arXiv:1806.03536 (jump); Rong et al. 2020, arXiv:1907.10903 (dropped edges).
"""

import datetime
import statistics
import time
from dataclasses import dataclass
from typing import Any

from lab.bench import runs_file
from lab.bench.cora import EPOCHS, fit, papers
from lab.bench.timing import Row, spread
from lab.seeding import seeded
from modules.graph.depth import DeepGCN

KEPT = runs_file.RESULTS / "deep-graphs-runs.jsonl"
WIDTH, SEEDS = 16, 3
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "residual": {"residual": "sum"},
    "PairNorm": {"pair_norm": 1.0},
    "jump": {"jump": "concat"},
    "a third of the edges dropped": {"drop_edge": 0.3},
    "half of the edges dropped": {"drop_edge": 0.5},
}
DEPTHS = (2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Run:
    """One training of a network with so many layers."""

    kind: str
    layers: int
    dropout: float
    seed: int
    epoch: int
    seconds: float
    date: str
    train: float
    acc: float


def train(kind: str, layers: int, dropout: float, seed: int, epochs: int = EPOCHS, name: str = "Cora") -> Run:
    """Train once, and test once."""
    graph, start = papers(name), time.process_time()
    hidden = [WIDTH] * (layers - 1)

    def network() -> DeepGCN:
        return DeepGCN(graph.num_features, int(graph.y.max()) + 1, hidden, dropout=dropout, **KINDS[kind])

    result = seeded(lambda: fit(network(), graph, graph, epochs), seed)
    seconds, today = round(time.process_time() - start, 1), datetime.date.today().isoformat()
    accuracies = round(result.train, 4), round(result.acc, 4)
    return Run(kind, layers, dropout, seed, result.epoch, seconds, today, *accuracies)


def plan() -> list[tuple[str, int, float, int]]:
    """Kind, layers, dropout and seed of all trainings."""
    cures = [kind for kind in KINDS if "dropped" not in kind]
    cases = [(kind, layers, dropout) for dropout in (0.0, 0.5) for kind in cures for layers in DEPTHS]
    cases += [(kind, layers, 0.5) for kind in KINDS if "dropped" in kind for layers in (2, 8)]
    return [(*case, seed) for case in cases for seed in range(SEEDS)]


def rows(runs: list[Run]) -> list[Row]:
    """Accuracy on test papers by kind, depth and dropout, mean over the seeds, in the order of the plan."""
    cases: dict[tuple[float, str, int], list[Run]] = {}
    for run in runs:
        cases.setdefault((run.dropout, run.kind, run.layers), []).append(run)
    return [
        Row("deep-graphs", f"{'dropout ½' if dropout else 'no dropout'}, {kind}, {layers} layers",
            statistics.mean(run.acc for run in mine),
            note=f"{spread([run.acc for run in mine], 3)}; {statistics.mean(run.train for run in mine):.3f} "
                 f"{spread([run.train for run in mine], 3)} on training papers",
            unit="right")
        for (dropout, kind, layers), mine in cases.items()
    ]  # fmt: skip


def measure(quick: bool = False) -> list[Row]:
    """Accuracy on test papers; what is missing is trained first, half an hour in all."""
    if quick:
        return rows([train(kind, 3, 0.5, 0, 2, "karate") for kind in KINDS])
    for run in runs_file.missing(plan(), KEPT, Run):
        runs_file.append(train(*run), KEPT)
    return rows(runs_file.kept(plan(), KEPT, Run))
