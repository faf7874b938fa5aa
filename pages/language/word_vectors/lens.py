"""The latent lens for words: a map, neighbours, analogies with their misses, rare words.

`V` words, `d` dimensions.

References: [GM] §1.6.1; Mikolov et al. 2013, arXiv:1301.3781.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.cooccurrence import Cooccurrence
from lab.lenses import stock
from lab.lenses.embeddings import Table
from modules.language import word_vectors as wv


def passes(card: Mapping[str, Any]) -> int:
    """Number of passes of a training through its corpus: a step on the count matrix is one pass."""
    args = card["config"]["data"]["init_args"]
    return card["epochs"] * (args["steps_per_epoch"] if args["examples"] == "matrix" else 1)


@dataclass(frozen=True)
class Map:
    """Words in the plane of the two directions in which they differ most.

    Attributes:
        points: (N, 2). words: N. share: of their variance that the plane keeps.
    """

    points: Tensor
    words: Sequence[str]
    share: float


def plane(table: Table, chosen: Sequence[str]) -> Map:
    """PCA of the unit vectors of some words."""
    unit = F.normalize(table.vectors[[table.find(w) for w in chosen]], dim=-1)
    points = wv.plane(unit)
    centred = unit - unit.mean(0)
    return Map(points, list(chosen), float(points.square().sum() / centred.square().sum()))


# --- Rare words ----------------------------------------------------------------------------------

DRAWN = {  # is the nearest word on the map, or not
    "yes": "The map draws a part of the words: the nearest of all need not be among them.",
    "no": "Most words are left out of the map, but the nearest one is not.",
}
QUARTERS = (1, 2, 3, 4)  # of pairs or words, the most frequent first
ENDINGS = ("s", "es", "ed", "er", "ing")


def inflections(words: Sequence[str]) -> Tensor:
    """Pairs of a word and itself with an ending, both in the vocabulary: (P, 2)."""
    ids = {word: i for i, word in enumerate(words)}
    pairs = [(ids[w], ids[w + e]) for w in words if len(w) > 2 for e in ENDINGS if w + e in ids]
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2)


def nearest(vectors: Tensor, n: int = 10) -> Tensor:
    """The n nearest words of every word: (V, n)."""
    unit = F.normalize(vectors, dim=1)
    return (unit @ unit.T).fill_diagonal_(-torch.inf).topk(n).indices


def are_near(near: Tensor, pairs: Tensor) -> Tensor:
    """True where a word of a pair is among the nearest of the other: near (V, n), pairs (P, 2) -> (P,)."""
    a, b = pairs.unbind(1)
    return (near[a] == b[:, None]).any(1) | (near[b] == a[:, None]).any(1)


def by_frequency(values: Tensor, rank: Tensor | None = None, parts: int = 4) -> list[float]:
    """Means of values (P,) in equal parts, the most frequent first; rank (P,) if in another order."""
    order = torch.arange(len(values)) if rank is None else rank.argsort(stable=True)
    return [float(values[part].double().mean()) for part in order.tensor_split(parts)]


def agreement(one: Tensor, other: Tensor) -> Tensor:
    """Share of its nearest words that two methods have in common, for every word: (V, n), (V, n) -> (V,)."""
    return (one[:, :, None] == other[:, None]).any(2).double().mean(1)


def cost(contexts: Tensor) -> tuple[int, int]:
    """Predictions in one pass: of CBOW, one a window, and of skip-gram, one a pair; contexts (N, 2k)."""
    return len(contexts), int((contexts >= 0).sum())


def predictions(corpus: str, window: int) -> tuple[int, int]:
    """`cost` of a corpus."""
    return cost(stock.examples(Cooccurrence, "train", corpus=corpus, window=window)[1])
