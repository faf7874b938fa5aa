"""Batches of one graph: what a network learns from parts or samples of it, and how noisy their gradients are.

Accuracy on Cora after 200 steps, two layers, 16 hidden units, the public split, the epoch by the smallest
loss on validation (whole graph), five seeds:

    whole graph        each step sees all nodes
    parts              of 16 parts that keep most edges inside, 1 or 4 are seen, with the edges among them
    random parts       the same with parts drawn at random
    samples            of 32 labelled nodes, each layer hears at most 5 or 10 senders of a node

Noise of sampled gradients, all labelled papers in the batch, 200 draws: deviation and bias of the gradient of
the first layer, as shares of the length of the exact one. A sum of s of d senders has s/d of the sum over
all; with the factor d/s its expectation is right, yet that of a gradient through ReLU need not be.

A run is a line of `results/graph-batches-runs.jsonl`: delete it to run it again.

References: [UDL] §13.7.1; Chiang et al. 2019, arXiv:1905.07953; Hamilton et al. 2017, arXiv:1706.02216.
"""

import datetime
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import to_torch_csr_tensor

from lab.bench import runs_file
from lab.bench.cora import EPOCHS, NETWORKS, Fit, fit, papers
from lab.bench.timing import Row, spread
from lab.seeding import seeded
from modules.graph.convolution import Propagation
from modules.graph.gcn import GCN
from modules.graph.partition import batch, partition
from modules.graph.sampling import Sample, Senders, sample

KEPT = runs_file.RESULTS / "graph-batches-runs.jsonl"
PARTS, LABELLED, DRAWS, SEEDS = 16, 32, 200, 5
SIZES = (1, 2, 5, 10)


@dataclass(frozen=True)
class Run:
    """One training; `nodes` that a step sees, mean over the steps."""

    network: str
    way: str
    seed: int
    epoch: int
    seconds: float
    date: str
    nodes: float
    acc: float


Step = tuple[int, Callable[[], Tensor]]  # nodes of the batch, and the loss on it


@cache
def parts_of(name: str, random: bool) -> Tensor:
    """Part (N,) of each node."""
    graph = papers(name)
    if not random:
        return partition(graph.edge_index, graph.num_nodes, PARTS)
    generator = torch.Generator().manual_seed(0)
    return torch.randperm(graph.num_nodes, generator=generator) % PARTS


def of_parts(
    model: GCN, graph: Data, parts: Tensor, count: int, generator: torch.Generator
) -> Iterator[Step]:
    """Batches of so many parts; a batch without a labelled node is passed over."""
    x = graph.x.to_dense()
    while True:
        chosen = torch.randperm(PARTS, generator=generator)[:count]
        nodes, edges = batch(graph.edge_index, parts, chosen.tolist())
        piece = Data(x=x[nodes], edge_index=edges, y=graph.y[nodes], train_mask=graph.train_mask[nodes])
        if piece.train_mask.any():
            yield len(nodes), lambda piece=piece: model.step(piece, "train")  # type: ignore[misc]


def heard(x: Tensor, sampled: Sample, propagation: Propagation, factor: bool = True) -> Iterator[Tensor]:
    """S (M, M) of each layer of a sample, by which a node hears others: means, or sums with their factor."""
    for (source, target), factors in zip(sampled.layers, sampled.factors, strict=True):
        count = target.bincount(minlength=len(x)).clamp(min=1)
        weight = 1 / count if propagation == "mean" else factors if factor else torch.ones_like(factors)
        edges = torch.stack([target, source])
        yield to_torch_csr_tensor(edges, weight[target].to(x.dtype), size=(len(x), len(x)))


def sampled_loss(model: GCN, x: Tensor, y: Tensor, sampled: Sample, factor: bool = True) -> Tensor:
    """Cross-entropy of the batch, the first of the nodes x (M, D); y (B,)."""
    h = x
    for k, (layer, s) in enumerate(
        zip(model.layers, heard(x, sampled, model.propagation, factor), strict=True)
    ):
        h = layer(F.dropout(F.relu(h) if k else h, model.dropout, model.training), s)
    return F.cross_entropy(h[: len(y)], y)


def of_samples(
    model: GCN, graph: Data, sizes: list[int | None], generator: torch.Generator
) -> Iterator[Step]:
    """Batches of labelled nodes and what is sampled for them."""
    x, labelled = graph.x.to_dense(), graph.train_mask.nonzero()[:, 0]
    senders = Senders.of(graph.edge_index, graph.num_nodes)
    while True:
        chosen = labelled[torch.randperm(len(labelled), generator=generator)[:LABELLED]]
        drawn = sample(senders, chosen, sizes, generator)
        yield (
            len(drawn.nodes),
            lambda drawn=drawn, y=graph.y[chosen]: sampled_loss(model, x[drawn.nodes], y, drawn),  # type: ignore[misc]
        )


WHOLE, SAMPLES = "whole graph", "10 and 5 senders of 32 papers"
# name → number of parts, and whether they are random
OF_PARTS = {
    f"{count} of {PARTS} {'random ' * random}parts": (count, random)
    for count in (1, 4)
    for random in (False, True)
}
WAYS = {"GCN": [WHOLE, *OF_PARTS], "SAGE": [WHOLE, SAMPLES]}


def steps(model: GCN, graph: Data, way: str, name: str, seed: int) -> Iterator[Step]:
    """The batches of a training."""
    generator = torch.Generator().manual_seed(1_000_003 * (seed + 1))
    if way == SAMPLES:
        return of_samples(model, graph, [10, 5], generator)
    count, random = OF_PARTS[way]
    return of_parts(model, graph, parts_of(name, random), count, generator)


def train(network: str, way: str, seed: int, epochs: int = EPOCHS, name: str = "Cora") -> Run:
    """Train once, and test once."""
    graph, start, seen = papers(name), time.process_time(), []

    def fitted() -> Fit:
        model = GCN(graph.num_features, int(graph.y.max()) + 1, **NETWORKS[network])

        def losses() -> Iterator[Callable[[], Tensor]]:
            for nodes, loss in steps(model, graph, way, name, seed):
                seen.append(nodes)
                yield loss

        return fit(model, graph, graph, epochs, None if way == WHOLE else losses())

    result = seeded(fitted, seed)
    seconds, today = round(time.process_time() - start, 1), datetime.date.today().isoformat()
    nodes = statistics.mean(seen) if seen else graph.num_nodes
    return Run(network, way, seed, result.epoch, seconds, today, round(nodes, 1), round(result.acc, 4))


def noise(
    name: str, propagation: Propagation, most: int, factor: bool, draws: int = DRAWS
) -> tuple[float, float]:
    """Deviation and bias of the first layer's sampled gradient, as shares of the exact gradient's length."""
    graph = papers(name)
    x, labelled = graph.x.to_dense(), graph.train_mask.nonzero()[:, 0]
    senders, generator = Senders.of(graph.edge_index, graph.num_nodes), torch.Generator().manual_seed(0)
    sizes = graph.num_features, int(graph.y.max()) + 1
    model = seeded(lambda: GCN(*sizes, propagation=propagation, combine="separate").eval(), 0)

    def gradient(size: int | None) -> Tensor:
        drawn = sample(senders, labelled, [size, size], generator)
        loss = sampled_loss(model, x[drawn.nodes], graph.y[labelled], drawn, factor)
        return torch.autograd.grad(loss, model.layers[0].weight)[0].flatten()  # type: ignore[arg-type]

    exact = gradient(None)
    drawn = torch.stack([gradient(most) for _ in range(draws)])  # (draws, D' D)
    length, mean = exact.norm(), drawn.mean(0)
    deviation = (drawn - mean).square().sum(1).mean().sqrt()
    return float(deviation / length), float((mean - exact).norm() / length)


def plan() -> list[tuple[str, str, int]]:
    """Network, batches and seed of all trainings."""
    return [(network, way, seed) for network, ways in WAYS.items() for way in ways for seed in range(SEEDS)]


def rows(runs: list[Run]) -> list[Row]:
    """Accuracy on test papers by network and batches, mean over the seeds, in the order of the plan."""
    cases: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        cases.setdefault((run.network, run.way), []).append(run)
    return [
        Row("graph-batches", f"{network}: {way}", statistics.mean(run.acc for run in mine),
            note=f"{spread([run.acc for run in mine], 3)}; "
                 f"{statistics.mean(run.nodes for run in mine):,.0f} nodes a step",
            unit="right")
        for (network, way), mine in cases.items()
    ]  # fmt: skip


def noises(name: str, draws: int = DRAWS) -> list[Row]:
    """Deviation of sampled gradients by sample, aggregate and factor."""
    results = []
    cases: list[tuple[str, Propagation, bool]] = [
        ("mean", "mean", True), ("sum, with its factor", "sum", True), ("sum, without", "sum", False)
    ]  # fmt: skip
    for case, propagation, factor in cases:
        for most in SIZES:
            deviation, bias = noise(name, propagation, most, factor, draws)
            note = f"bias {bias:.3f}, of which {deviation / draws**0.5:.3f} is the draws'; {draws} draws"
            title = f"gradient of {most} senders, {case}"
            results.append(Row("graph-batches", title, deviation, note=note, unit="of its length"))
    return results


def measure(quick: bool = False) -> list[Row]:
    """Accuracy and noise; what is missing is trained first, five minutes in all."""
    if quick:
        runs = [train(network, way, 0, 2, "karate") for network, ways in WAYS.items() for way in ways]
        return rows(runs) + noises("karate", 3)
    for run in runs_file.missing(plan(), KEPT, Run):
        runs_file.append(train(*run), KEPT)
    return rows(runs_file.kept(plan(), KEPT, Run)) + noises("Cora")
