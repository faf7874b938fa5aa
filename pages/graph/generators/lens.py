"""Graphs that a model makes, beside those that it learned from, and embeddings that a prior makes graphs of.

Shapes: rows (T, M) of a graph; A (N, N); z (N, D_z).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import networkx as nx
import torch
from torch import Tensor

from datamodules.graph_families import GRIDS, MOST, GraphFamilies, breadth_first, grid, rows
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import graphs
from modules.graph import graph_statistics as statistics
from modules.graph.graph_rnn import GraphRNN, adjacency_of
from modules.graph.graph_statistics import Classes, Statistic
from modules.graph.vgae import VGAE
from modules.trace import Trace
from pages.graph.generators.room import PRIOR

SAMPLES, SHOWN = 100, 10
Card = Mapping[str, Any]


def fits(experiment: Experiment) -> bool:
    return experiment.module.endswith(".GraphRNN")


def has_prior(experiment: Experiment) -> bool:
    return experiment.module.endswith(".VGAE")


def family(card: Card) -> str:
    """The family that a model was trained on."""
    return str(card["config"]["data"]["init_args"]["family"])


def beginning(text: str) -> Tensor | None:
    """Rows (N − 1, M) of a typed graph from node 0 on, None of no text.

    Raises:
        UserError: it is no graph, has parts, or leaves no node to add.
    """
    if not text.strip():
        return None
    a = graphs.typed(text)
    order = breadth_first(a, torch.arange(len(a)))
    if len(order) < len(a):
        apart = min(set(range(len(a))) - set(order))
        raise UserError(f"Node {apart} is not joined to node 0: the model makes connected graphs alone.")
    if len(a) >= MOST:
        raise UserError(f"The graph has {len(a)} nodes, and a model makes at most {MOST}: leave some to it.")
    if len(a) < 2:
        raise UserError("A node alone is how every graph begins: write an edge such as 0-1.")
    return rows(a, order)[: len(a) - 1]


def grown(model: GraphRNN, start: Tensor | None, temperature: float, seed: int) -> Trace:
    """One graph, row by row."""
    return model.sample_trace(
        temperature=temperature, generator=torch.Generator().manual_seed(seed), given=start
    )


def sampled(model: GraphRNN, temperature: float, seed: int, count: int = SAMPLES) -> list[Tensor]:
    """A (N, N) of samples."""
    generator = torch.Generator().manual_seed(seed)
    return [adjacency_of(x) for x in model.sample(count, temperature=temperature, generator=generator)]


def examples(model_card: Card, split: str = "train") -> list[Tensor]:
    """Graphs of the family of a model."""
    return GraphFamilies(family(model_card)).graphs(split)  # type: ignore[arg-type]


def valid(a: Tensor, kind: str) -> bool | None:
    """Whether a graph is a grid, or a tree; None for communities, of which nobody can say."""
    edges = int(a.sum()) // 2
    if kind == "trees":
        return edges == len(a) - 1  # it is connected
    if kind == "grids":
        mine = nx.from_numpy_array(a.int().numpy())
        alike = [size for size in GRIDS if size[0] * size[1] == len(a)]
        return any(nx.is_isomorphic(mine, nx.from_numpy_array(grid(*size).int().numpy())) for size in alike)
    return None


@dataclass(frozen=True)
class Gallery:
    """The first examples and samples, and whether each sample is valid."""

    examples: list[Tensor]
    samples: list[Tensor]
    valid: list[bool | None]


def gallery(model: GraphRNN, model_card: Card, temperature: float, seed: int) -> Gallery:
    samples = sampled(model, temperature, seed, SHOWN)
    return Gallery(examples(model_card)[:SHOWN], samples, [valid(a, family(model_card)) for a in samples])


@dataclass(frozen=True)
class Measured:
    """
    Attributes:
        mmds: MMD² by set and statistic. valid, unique, new: shares of the samples; valid None of communities.
        nodes: mean numbers of the samples and of training.
    """

    mmds: dict[str, dict[str, float]]
    valid: float | None
    unique: float
    new: float
    nodes: tuple[float, float]


def measured(model: GraphRNN, model_card: Card, temperature: float, seed: int) -> Measured:
    """100 samples and 100 random graphs against 100 test graphs, beside the two halves of training."""
    train, test = examples(model_card), examples(model_card, "test")
    samples = sampled(model, temperature, seed)
    random = statistics.erdos_renyi(train[:SAMPLES], torch.Generator().manual_seed(seed))
    mmds = {
        "the model": statistics.all_mmds(samples, test[:SAMPLES]),
        "Erdős–Rényi": statistics.all_mmds(random, test[:SAMPLES]),
        "halves of training": statistics.all_mmds(train[:SAMPLES], train[SAMPLES : 2 * SAMPLES]),
    }
    known = Classes(train)
    marks = [valid(a, family(model_card)) for a in samples]
    share = None if None in marks else sum(map(bool, marks)) / SAMPLES
    new = sum(a not in known for a in samples) / SAMPLES
    nodes = tuple(sum(map(len, some)) / len(some) for some in (samples, train))
    return Measured(mmds, share, len(Classes(samples)) / SAMPLES, new, (nodes[0], nodes[1]))


@dataclass(frozen=True)
class Embedded:
    """
    Attributes:
        z: (N, D_z). p: (N, N), of an edge. a: (N, N). order: (N,), of the nodes in the matrices.
        communities: (N,), None of a graph that a prior made.
        sd: (N, D_z) of the posterior, ones of the prior.
        density: shares of pairs that are joined, here and in the graph of training.
    """

    z: Tensor
    p: Tensor
    a: Tensor
    order: Tensor
    communities: Tensor | None
    sd: Tensor
    density: tuple[float, float]


@torch.no_grad()
def embedded(vgae: VGAE, origin: str, seed: int) -> Embedded:
    """Means of the posterior of the graph of training, or draws from the prior and their graph."""
    data = graphs.communities()
    batch = data.train_set[torch.arange(1)]
    N = len(batch.x)
    pairs, linked = vgae.all_pairs(batch.edge_index, N)
    if origin == PRIOR:
        z, a = vgae.prior_graph(N, torch.Generator().manual_seed(seed))
        sd, communities, order = torch.ones_like(z), None, torch.atan2(z[:, 1], z[:, 0]).argsort()
    else:
        z, log_var = vgae.posterior(batch.x, batch.edge_index)
        sd, communities, order = (log_var / 2).exp(), data.data.y, data.data.y.argsort(stable=True)
        a = z.new_zeros(N, N)
        a[pairs[0], pairs[1]] = linked
        a = a + a.T
    p = (z @ z.T + vgae.bias).sigmoid()
    density = float(a.sum()) / (N * (N - 1)), float(linked.mean())
    return Embedded(z, p, a, order, communities, sd, density)


# --- What is said of them ---------------------------------------------------------------------------


def table(one: Measured) -> dict[str, list[Any]]:
    """MMD² by set, a column a statistic."""
    return {"graphs": list(one.mmds)} | {
        name: [f"{row[name]:.4f}" for row in one.mmds.values()] for name in get_args(Statistic)
    }


def shares(one: Measured) -> str:
    parts = [] if one.valid is None else [f"{one.valid:.0%} valid"]
    parts += [f"{one.unique:.0%} unique", f"{one.new:.0%} new"]
    return ", ".join(parts)
