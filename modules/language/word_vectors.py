"""Words as vectors: who is near whom, and which differences mean the same.

    neighbours of w:   the largest cos(v_x, v_w)
    analogy a : b = c : ?      argmax_{x ∉ {a, b, c}} cos(v_x, v̂_b − v̂_a + v̂_c)        (3CosAdd)

v̂ has length 1. The three inputs are left out because one of them usually is the nearest: a score that
does not say so is another score. Everything here takes a table of vectors, (V, d), whatever made it:
counts, their SVD, word2vec, the embedding of a language model.

Shapes: `V` words, `d` dimensions, `Q` questions, `P` pairs.

References: Mikolov et al. 2013, arXiv:1301.3781, and Mikolov, Yih & Zweig 2013, NAACL; Levy &
Goldberg 2014, CoNLL (the excluded inputs); [GM] §1.6.1.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor


def neighbours(vectors: Tensor, word: int, n: int = 10) -> tuple[Tensor, Tensor]:
    """The n words nearest to a word by cosine, itself left out: ids (n,) and cosines (n,)."""
    unit = F.normalize(vectors, dim=-1)
    cosines = unit @ unit[word]
    cosines[word] = -math.inf
    best = cosines.sort(descending=True, stable=True)
    n = min(n, len(vectors) - 1)
    return best.indices[:n], best.values[:n]


def quadruples(pairs: Tensor) -> Tensor:
    """Questions that a relation makes: pairs (P, 2) of (a, b) -> (P(P − 1), 4) of (a, b, c, d)."""
    P = len(pairs)
    first, second = torch.meshgrid(torch.arange(P), torch.arange(P), indexing="ij")
    different = first != second
    return torch.cat([pairs[first[different]], pairs[second[different]]], dim=1)


@dataclass(frozen=True)
class Answers:
    """Answers of the vectors to Q questions a : b = c : d.

    Attributes:
        scores: (Q, V), cosines; −∞ where a word may not be the answer.
        best: (Q,), the first of the largest.
        rank: (Q,), of the right answer, 1 is best. Words with an equal score stand before it, so a
            table that cannot tell words apart gets no credit.
    """

    scores: Tensor
    best: Tensor
    rank: Tensor

    @property
    def accuracy(self) -> float:
        """Share of questions with the right word alone at the top."""
        return (self.rank == 1).double().mean().item()


def analogies(vectors: Tensor, questions: Tensor, exclude: bool = True) -> Answers:
    """Answer questions (Q, 4) by 3CosAdd.

    Args:
        exclude: leave out a, b and c.
    """
    unit = F.normalize(vectors, dim=-1)
    a, b, c, d = questions.unbind(1)
    target = F.normalize(unit[b] - unit[a] + unit[c], dim=-1)
    scores = target @ unit.T  # (Q, V)
    if exclude:
        scores = scores.scatter(1, questions[:, :3], -math.inf)
    right = scores.gather(1, d[:, None])
    # equal but for rounding is equal
    rank = (scores >= right - 1e-6).sum(1)
    return Answers(scores, scores.argmax(1), rank)


@dataclass(frozen=True)
class Offsets:
    """Likeness of the differences b − a of one relation.

    Attributes:
        cosine: mean over all pairs of differences; 1 is parallel.
        length: mean length. spread: standard deviation of the lengths divided by their mean.
    """

    cosine: float
    length: float
    spread: float


def offsets(vectors: Tensor, pairs: Tensor) -> Offsets:
    """Direction and length of a relation: vectors (V, d), pairs (P, 2) with P ≥ 2."""
    if len(pairs) < 2:
        raise ValueError(f"{len(pairs)} pair has no other to be compared with: give at least two.")
    unit = F.normalize(vectors.double(), dim=-1)
    difference = unit[pairs[:, 1]] - unit[pairs[:, 0]]
    cosines = F.normalize(difference, dim=-1) @ F.normalize(difference, dim=-1).T
    different = ~torch.eye(len(pairs), dtype=torch.bool)
    lengths = difference.norm(dim=-1)
    return Offsets(
        cosines[different].mean().item(),
        lengths.mean().item(),
        (lengths.std(correction=0) / lengths.mean()).item(),
    )


def plane(vectors: Tensor) -> Tensor:
    """The two directions in which the words differ most (PCA): (V, d) -> (V, 2) coordinates."""
    centred = vectors - vectors.mean(0)
    U, S, _ = torch.linalg.svd(centred, full_matrices=False)
    U = U[:, :2] * S[:2]
    # a direction has no sign of its own: make the largest coordinate positive, so that maps can be compared
    sign = U.gather(0, U.abs().argmax(0, keepdim=True)).sign()
    return F.pad(U * sign, (0, 2 - U.shape[1]))
