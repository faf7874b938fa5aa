"""Analogies asked of word vectors: one question with its parallelogram, and all questions of a planted corpus
whose size and noise the reader chooses.

`V` words, `d` dimensions.

References: [GM] §1.6.1; Mikolov et al. 2013, arXiv:1301.3781.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules import relations
from datamodules.cooccurrence import counts, windows
from lab.lenses.embeddings import Table
from modules.language import word_vectors as wv
from modules.language.count_vectors import CountSVD


def answer(table: Table, a: str, b: str, c: str, exclude: bool = True, n: int = 8) -> list[tuple[str, float]]:
    """The n best words for a : b = c : ?, with their cosines."""
    question = torch.tensor([[*(table.find(w) for w in (a, b, c)), 0]])
    ranked = wv.analogies(table.vectors, question, exclude).scores[0].sort(descending=True, stable=True)
    return [
        (table.words[int(i)], float(s)) for i, s in zip(ranked.indices[:n], ranked.values[:n], strict=True)
    ]


def known(table: Table, a: str, b: str, c: str) -> str | None:
    """The right answer to a : b = c : ?, where a relation has both pairs."""
    for pairs in table.pairs.values():
        if (a, b) in pairs:
            for first, second in pairs:
                if first == c:
                    return second
    return None


def corners(table: Table, a: str, b: str, c: str, best: str) -> tuple[Tensor, list[str]]:
    """a, b, c, b − a + c and the answer in the plane that holds most of them: (5, 2), and their names."""
    names = [w.strip().lower() for w in (a, b, c)]
    unit = F.normalize(table.vectors[[table.find(w) for w in (*names, best)]], dim=-1)
    five = torch.stack([unit[0], unit[1], unit[2], unit[1] - unit[0] + unit[2], unit[3]])
    return wv.plane(five), [*names, "", best]


# --- A planted corpus of one's own --------------------------------------------------------------------


def corpus(sentences: int, noise: float, seed: int = 0) -> Tensor:
    """Planted sentences (N, 5), a share `noise` of the words replaced by any word."""
    drawn = relations.sentences(sentences, 3 * seed)
    generator = torch.Generator().manual_seed(seed + 1)
    anything = torch.randint(len(relations.VOCABULARY), drawn.shape, generator=generator)
    return torch.where(torch.rand(drawn.shape, generator=generator) < noise, anything, drawn)


@dataclass(frozen=True)
class Board:
    """Number of questions that word vectors of d = 1 … V dimensions answer rightly.

    Attributes:
        vectors: (V, V), of which the first d are those of d dimensions. hits: V. questions: of all relations.
    """

    vectors: Tensor
    hits: list[int]
    questions: int


def board(sentences: int, noise: float, seed: int = 0) -> Board:
    """Count a planted corpus, weigh by PPMI, decompose once, and ask every question in every dimension."""
    lines, V = corpus(sentences, noise, seed), len(relations.VOCABULARY)
    model = CountSVD(V, V).double().fit(counts(*windows(list(lines), 2), V).double())
    ids = {word: i for i, word in enumerate(relations.VOCABULARY)}
    questions = torch.cat(
        [
            wv.quadruples(torch.tensor([[ids[a], ids[b]] for a, b in pairs]))
            for pairs in relations.pairs().values()
        ]
    )
    hits = [int((wv.analogies(model.vectors[:, :d], questions).rank == 1).sum()) for d in range(1, V + 1)]
    return Board(model.vectors, hits, len(questions))
