"""What networks say of a molecule, atom by atom and bond by bond.

    z = β + Σ_n c_n,      c_n = ω · h_n / N under mean pooling, ω · h_n under sum pooling

Shapes: N atoms, B bonds, M networks.
"""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules import tu
from datamodules.graphs import Graph, union
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import graphs
from modules.graph.gin import GIN
from modules.graph.graphs import GraphClassifier
from pages.graph.molecule.reading import Molecule
from pages.graph.molecule.room import BAG, GCN
from pages.graph.molecule.room import GIN as GIN_NAME

Card = Mapping[str, Any]
NETS = (GCN, GIN_NAME, BAG)


def fits(experiment: Experiment) -> bool:
    return experiment.name in NETS


def last(gin_card: Card) -> int:
    """The last test molecule."""
    return len(graphs.held_out(dict(gin_card))) - 1


def chosen(molecule: Molecule, test: bool, which: int, gin_card: Card) -> tuple[Molecule, str]:
    """The molecule that is shown, and its class where it is known, else ""."""
    if not test:
        return molecule, ""
    every = graphs.held_out(dict(gin_card))
    if which >= len(every):
        raise UserError(f"There is no test molecule {which}: they run from 0 to {len(every) - 1}.")
    one = every[which]
    symbols = tuple(tu.ATOMS[k] for k in one.x.argmax(1).tolist())
    bonds = tuple(sorted((a, b) for a, b in one.edge_index.T.tolist() if a < b))
    return Molecule(symbols, bonds), tu.CLASSES["MUTAG"][one.y]


def features(molecule: Molecule) -> Tensor:
    """One-hot elements in the order of the raw files, (N, 7)."""
    x = torch.zeros(len(molecule.symbols), len(tu.ATOMS))
    for n, symbol in enumerate(molecule.symbols):
        x[n, tu.ATOMS.index(symbol)] = 1
    return x


def blind(card: Card) -> bool:
    """Whether the network was trained without bonds."""
    return not (card["config"]["data"].get("init_args") or {}).get("edges", True)


@dataclass(frozen=True)
class Answer:
    """
    Attributes:
        parts: (N,), contributions c_n. bias: β. logit: z. p: σ(z). mean: by mean pooling, else a sum.
    """

    parts: Tensor
    bias: float
    logit: float
    p: float
    mean: bool


def answer(model: GraphClassifier, card: Card, molecule: Molecule) -> Answer:
    """The logit of mutagenic against not mutagenic, and each atom's share in it."""
    return answered(model, molecule, not blind(card))


@torch.no_grad()
def answered(model: GraphClassifier, molecule: Molecule, bonds: bool) -> Answer:
    """The logit of the second class, and each atom's share in it, with or without bonds."""
    x = features(molecule).double()
    edges = molecule.edge_index if bonds else molecule.edge_index[:, :0]
    exact = double(model)
    hs = exact.embeddings(x, edges)
    states = torch.cat(hs, 1) if isinstance(model, GIN) else hs[-1]  # (N, D')
    mean = model.pooling == "mean"
    parts = states @ exact.head.weight[0] / (len(x) if mean else 1)
    logit = float(exact(x, edges)[0, 1])
    return Answer(parts, float(exact.head.bias), logit, 1 / (1 + math.exp(-logit)), mean)


@torch.no_grad()
def probabilities(model: GraphClassifier, card: Card, molecules: Sequence[Molecule]) -> list[float]:
    """p of mutagenic of each, all in one disjoint union."""
    batch = union([
        Graph(features(one).double(), one.edge_index[:, : 0 if blind(card) else None], 0) for one in molecules
    ])  # fmt: skip
    return [float(p) for p in double(model).predict(batch).softmax(1)[:, 1]]


def double(model: GraphClassifier) -> GraphClassifier:
    """A copy in double precision, so that sums close to the last digit."""
    return copy.deepcopy(model).double().eval()


@dataclass(frozen=True)
class Atoms:
    """The molecule, its class, and the answer of one network."""

    molecule: Molecule
    label: str
    answer: Answer


def atoms(
    model: GraphClassifier, model_card: Card, molecule: Molecule, test: bool, which: int, gin_card: Card
) -> Atoms:
    shown, label = chosen(molecule, test, which, gin_card)
    return Atoms(shown, label, answer(model, model_card, shown))


@dataclass(frozen=True)
class Cuts:
    """
    Attributes:
        molecule: whole. p: network -> (B + 1,), of the whole and without each bond.
    """

    molecule: Molecule
    p: dict[str, list[float]]


def cuts(
    gcn: GraphClassifier, gcn_card: Card, gin: GraphClassifier, gin_card: Card, bag: GraphClassifier,
    bag_card: Card, molecule: Molecule, test: bool, which: int,
) -> Cuts:  # fmt: skip
    """Every bond cut alone."""
    shown, _ = chosen(molecule, test, which, gin_card)
    every = [shown, *(shown.without(b) for b in range(len(shown.bonds)))]
    nets = zip(NETS, (gcn, gin, bag), (gcn_card, gin_card, bag_card), strict=True)
    return Cuts(shown, {name: probabilities(net, card, every) for name, net, card in nets})


@dataclass(frozen=True)
class Pair:
    """Two molecules; network -> its two probabilities; whether they have the same atoms."""

    first: Molecule
    second: Molecule
    p: dict[str, tuple[float, float]]

    @property
    def isomers(self) -> bool:
        return sorted(self.first.symbols) == sorted(self.second.symbols)


def pair(
    gcn: GraphClassifier, gcn_card: Card, gin: GraphClassifier, gin_card: Card, bag: GraphClassifier,
    bag_card: Card, molecule: Molecule, other: Molecule, test: bool, which: int,
) -> Pair:  # fmt: skip
    shown, _ = chosen(molecule, test, which, gin_card)
    nets = zip(NETS, (gcn, gin, bag), (gcn_card, gin_card, bag_card), strict=True)
    found = {name: probabilities(net, card, [shown, other]) for name, net, card in nets}
    return Pair(shown, other, {name: (first, second) for name, (first, second) in found.items()})
