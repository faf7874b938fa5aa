"""Explanations with a known answer: how masks, gradients and chance rank the edges that were planted.

motifs, mean   gin-mean-motifs on trees with a ring or a house; the truth is the motif's edges
motifs, sum    gin-motifs on the same graphs; of the motif's edges alone it answers ring, for houses too
houses         gcn-houses, nodes of houses on a random graph; the truth is the edges of the node's house

The first test graphs, or test nodes in houses, that the network answers rightly. A mask is GNNExplainer's;
its size penalty was chosen beforehand, on validation graphs and nodes. Three seeds, of the sum one, are of
its first values, and of chance. AUC is the probability that a planted edge ranks above another one of the
field, mean over the answers.

A run is a line of `results/explanations-runs.jsonl`: delete it to run it again.

Reference: Ying et al. 2019, arXiv:1903.03894.
"""

import datetime
import statistics
from dataclasses import dataclass
from functools import cache
from typing import Literal

import torch
from torch import Tensor

from datamodules.house_shapes import HouseShapes
from datamodules.motifs import RING, ROOF, Motifs
from lab import weights
from lab.bench import runs_file
from lab.bench.timing import Row, spread
from modules.graph.explainer import (
    Explanation,
    Network,
    Penalties,
    auc,
    edge_numbers,
    explain,
    gradients,
    logits,
)

Task = Literal["motifs, mean", "motifs, sum", "houses"]
KEPT = runs_file.RESULTS / "explanations-runs.jsonl"
MODELS: dict[Task, str] = {
    "motifs, mean": "gin-mean-motifs", "motifs, sum": "gin-motifs", "houses": "gcn-houses",
}  # fmt: skip
SIZES: dict[Task, float] = {"motifs, mean": 0.5, "motifs, sum": 0.5, "houses": 0.1}
SEEDS: dict[Task, int] = {"motifs, mean": 3, "motifs, sum": 1, "houses": 3}
ENTROPY, ANSWERS = 0.1, 50
WAYS = "mask", "gradient", "random"
Asked = tuple[Tensor, Tensor, int | None, Tensor]  # x, edge_index, node, truth (E,)


@dataclass(frozen=True)
class Run:
    """All answers of one task with one seed: mean AUC of each way; `first` is of class 1 (house) alone, of
    nodes of the nodes at the top."""

    task: str
    seed: int
    answers: int
    date: str
    mask: float
    gradient: float
    random: float
    first: float


def planted(edge_index: Tensor, num_nodes: int) -> Tensor:
    """Edges of the motif, (E,) bool: those that are no bridges."""
    import networkx as nx

    graph = nx.Graph(edge_index.T.tolist())
    bridges = {frozenset(pair) for pair in nx.bridges(graph)}
    truth = torch.tensor([frozenset(pair) not in bridges for pair in edge_index.T.tolist()])
    assert int(truth.sum()) in (2 * len(RING), 2 * len([*RING, ROOF])), num_nodes
    return truth


def network(task: Task) -> Network:
    """The shipped network of a task."""
    model = weights.load(MODELS[task])
    assert isinstance(model, Network)
    return model


@cache
def asked(task: Task, count: int = ANSWERS) -> list[tuple[Asked, int]]:
    """What is explained, with its class: the first that are answered rightly."""
    model, found = network(task), list[tuple[Asked, int]]()
    if task == "houses":
        module = HouseShapes()
        module.setup()
        data = module.data
        y = model(data.x, data.edge_index).argmax(1)
        for node in (data.test_mask & (data.house >= 0) & (y == data.y)).nonzero()[:, 0].tolist():
            truth = (data.house[data.edge_index] == data.house[node]).all(0)
            found.append(((data.x, data.edge_index, node, truth), int(data.y[node])))
        return found[:count]
    motifs = Motifs()
    motifs.setup()
    for x, edges, y, _ in motifs.test_set.graphs:  # type: ignore[attr-defined]
        if len(found) < count and int(logits(model, x, edges).argmax()) == y:
            found.append(((x, edges, None, planted(edges, len(x))), y))
    return found


def areas(model: Network, one: Asked, size: float, seed: int) -> dict[str, float]:
    """AUC of each way, over the undirected edges of the field."""
    x, edges, node, truth = one
    cost = Penalties(size=size, entropy=ENTROPY)
    mask: Explanation = explain(model, x, edges, node, features=False, cost=cost, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    number = edge_numbers(edges)
    chance = torch.rand(int(number.max()) + 1, generator=generator)[number]
    field = (mask.edges[-1] > 0) & (edges[0] < edges[1])
    scores = {"mask": mask.edges[-1], "gradient": gradients(model, x, edges, node)[0], "random": chance}
    return {way: auc(score[field], truth[field]) for way, score in scores.items()}


def run(task: Task, seed: int, count: int = ANSWERS) -> Run:
    """Explain all answers of a task."""
    model = network(task)
    rows, kinds = [], []
    for one, y in asked(task, count):
        area = areas(model, one, SIZES[task], seed)
        if area["mask"] == area["mask"]:  # not NaN: the field has edges beside the truth
            rows.append(area)
            kinds.append(y)
    means = {way: round(statistics.mean(row[way] for row in rows), 4) for way in WAYS}
    first = [row["mask"] for row, y in zip(rows, kinds, strict=True) if y == 1]
    today = datetime.date.today().isoformat()
    return Run(
        task, seed, len(rows), today, **means, first=round(statistics.mean(first), 4) if first else 0.0
    )


def plan() -> list[tuple[Task, int]]:
    """Task and seed of all runs."""
    return [(task, seed) for task in MODELS for seed in range(SEEDS[task])]


def rows(runs: list[Run]) -> list[Row]:
    """AUC by task and way, mean over the seeds."""
    found = []
    for task in dict.fromkeys(run.task for run in runs):
        mine = [run for run in runs if run.task == task]
        for way in WAYS:
            each = [getattr(run, way) for run in mine]
            note = f"{spread(each, 3)}; {mine[0].answers} answers"
            found.append(Row("explanations", f"{task}: {way}", statistics.mean(each), note=note, unit="AUC"))
    return found


def measure(quick: bool = False) -> list[Row]:
    """AUC of each way; what is missing is explained first, a quarter of an hour in all."""
    if quick:
        return rows([run(task, 0, 2) for task in MODELS])
    for one in runs_file.missing(plan(), KEPT, Run):
        runs_file.append(run(*one), KEPT)
    return rows(runs_file.kept(plan(), KEPT, Run))
