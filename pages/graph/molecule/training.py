"""A small network that learns before the reader's eyes to tell ethers from alcohols, epoch by epoch.

    alcohol    the oxygen ends a chain:      C–C–C–O
    ether      it stands between two carbons: C–C–O–C

Both are made of each drawn skeleton, so that they are isomers: the counts of atoms tell nothing, bonds all.

Shapes: E looks, one before the first epoch and one behind each; N atoms.
"""

from dataclasses import dataclass
from functools import lru_cache, partial

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules import tu
from datamodules.bonds import skeleton
from datamodules.graphs import Graph, GraphSplit, union
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.graph.gin import GIN
from modules.graph.graphs import GraphClassifier
from modules.graph.pooled_gcn import PooledGCN
from pages.graph.molecule.lens import Answer, answered
from pages.graph.molecule.reading import Molecule
from pages.graph.molecule.room import ALONE, EPOCHS, SUMS

WIDTH, LAYERS, RATE, BATCH = 16, 3, 0.005, 32
PAIRS = 100  # of isomers to learn from, and as many to test
TRAIN, TEST = 1, 2  # seeds of the drawings, the same whatever the seed of the network


def isomers(count: int, seed: int) -> list[Graph]:
    """So many pairs of molecules with one oxygen, an alcohol (0) and an ether (1) of the same skeleton."""
    generator, found = torch.Generator().manual_seed(seed), list[Graph]()
    carbon, oxygen = (tu.ATOMS.index(symbol) for symbol in "CO")
    while len(found) < 2 * count:
        once = torch.tensor(skeleton(generator)).T  # (2, B)
        degree = once.flatten().bincount()
        if not (degree == 2).any():
            continue
        for label, bonds in enumerate((1, 2)):
            places = (degree == bonds).nonzero()[:, 0]
            at = places[torch.randint(len(places), (), generator=generator)]
            elements = torch.full_like(degree, carbon).index_fill(0, at, oxygen)
            x = F.one_hot(elements, len(tu.ATOMS)).float()
            found.append(Graph(x, torch.cat([once, once.flip(0)], 1), label))
    return found


@dataclass(frozen=True)
class Learner:
    """
    Attributes:
        models: (E,), the network after 0, 1, … epochs. bonds: whether it sees them.
        accuracy: (E,) on test molecules.
    """

    models: tuple[GraphClassifier, ...]
    bonds: bool
    accuracy: tuple[float, ...]


def network(learner: str, seed: int) -> GraphClassifier:
    """The network with its first weights."""
    count = len(tu.ATOMS)
    if learner == SUMS:  # batch norm would make single epochs jump
        return seeded(partial(GIN, count, 2, WIDTH, LAYERS, norm=False), seed)
    return seeded(partial(PooledGCN, count, 2, [WIDTH] * LAYERS), seed)


@lru_cache(maxsize=8)
def learned(learner: str, seed: int) -> Learner:
    """Train it for all epochs, kept once per process."""
    bonds = learner != ALONE
    train, test = (
        [graph if bonds else graph._replace(edge_index=graph.edge_index[:, :0]) for graph in split]
        for split in (isomers(PAIRS, TRAIN), isomers(PAIRS, TEST))
    )
    model, generator = network(learner, seed), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    data, held, steps = GraphSplit(train), union(test), -(-2 * PAIRS // BATCH)
    batches = list[Tensor]()
    models, right = list[GraphClassifier](), list[float]()

    def loss() -> Tensor:
        if not batches:
            batches.extend(torch.randperm(len(train), generator=generator).split(BATCH))
        batch = data[batches.pop(0)]
        return F.cross_entropy(model.predict(batch), batch.y)

    for done, _ in training_steps(loss, optimizer, steps * EPOCHS[-1]):
        if done % steps == 0:
            look = network(learner, seed)
            look.load_state_dict(model.state_dict())
            models.append(look.eval())
            with torch.no_grad():
                right.append(float((look.predict(held).argmax(1) == held.y).float().mean()))
    return Learner(tuple(models), bonds, tuple(right))


@dataclass(frozen=True)
class Epochs:
    """Two molecules, the answers (E,) to each, and the accuracy (E,) on test molecules."""

    first: Molecule
    second: Molecule
    answers: tuple[tuple[Answer, ...], tuple[Answer, ...]]
    accuracy: tuple[float, ...]

    @property
    def p(self) -> Tensor:
        """Probability of an ether, (2, E)."""
        return torch.tensor([[one.p for one in each] for each in self.answers])


def epochs(learner: str, seed: int, molecule: Molecule, other: Molecule) -> Epochs:
    """What the network says of two molecules, epoch by epoch."""
    found = learned(learner, seed)
    first, second = (
        tuple(answered(model, each, found.bonds) for model in found.models) for each in (molecule, other)
    )
    return Epochs(molecule, other, (first, second), found.accuracy)
