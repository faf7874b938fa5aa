"""Trained word vectors as a table: words, vectors, neighbours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.errors import UserError
from modules.base import Module
from modules.language import word_vectors as wv


@dataclass(frozen=True)
class Table:
    """Trained vectors with their words.

    Attributes:
        vectors: (V, d). words: V of them. ids: the number of each.
        pairs: the pairs of each relation that the corpus has.
    """

    vectors: Tensor
    words: Sequence[str]
    ids: Mapping[str, int]
    pairs: Mapping[str, Sequence[tuple[str, str]]]

    def find(self, word: str) -> int:
        """The number of a word.

        Raises:
            UserError: it is not in the vocabulary.
        """
        if word.strip().lower() not in self.ids:
            some = ", ".join(self.words[1:6])
            raise UserError(f"{word!r} is not among the {len(self.words):,} words; try one of {some}.")
        return self.ids[word.strip().lower()]


def table(model: Module, card: Mapping[str, Any]) -> Table:
    """The vectors of a model trained on windows."""
    vocabulary = card["data"]["vocabulary"]
    pairs = {name: [(a, b) for a, b in p] for name, p in card["data"]["analogies"].items()}
    return Table(
        torch.as_tensor(model.vectors).float(), vocabulary, {w: i for i, w in enumerate(vocabulary)}, pairs
    )


@dataclass(frozen=True)
class Score:
    """All questions of one relation.

    Attributes:
        hits, questions: how many were answered rightly, of how many.
        misses: (a, b, c, right, answer) of the others.
        offsets: how alike the differences b − a are.
    """

    hits: int
    questions: int
    misses: Sequence[tuple[str, str, str, str, str]]
    offsets: wv.Offsets


def score(result: Table, relation: str, exclude: bool = True) -> Score:
    """Answer every question that the pairs of a relation make."""
    pairs = torch.tensor([[result.ids[a], result.ids[b]] for a, b in result.pairs[relation]])
    questions = wv.quadruples(pairs)
    answers = wv.analogies(result.vectors, questions, exclude)
    right = answers.rank == 1
    misses = [
        (*(result.words[i] for i in q.tolist()), result.words[int(best)])
        for q, best in zip(questions[~right], answers.best[~right], strict=True)
    ]
    return Score(int(right.sum()), len(questions), misses, wv.offsets(result.vectors, pairs))  # type: ignore[arg-type]


def aligned(clouds: Tensor) -> Tensor:
    """Clouds of the same points (F, N, 2), each turned or flipped so that it lies as near as it can to the
    one after it (orthogonal Procrustes): a plane of PCA has no directions of its own."""
    results = [clouds[-1]]
    for cloud in reversed(clouds[:-1].unbind()):
        U, _, V = torch.linalg.svd(cloud.T @ results[-1])
        results.append(cloud @ (U @ V))
    return torch.stack(results[::-1])
