"""Contexts of many sentences, in the plane of their first two principal components.

    c − c̄ = Σ_i a_i v_i,    v_i the right singular vectors of the centred contexts

References: Sutskever, Vinyals & Le 2014, arXiv:1409.3215, figure 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules import spanish
from datamodules.spanish import AlignedPairs, sentences
from lab.lenses import text as texts
from lab.lenses.translations import right, sentence
from modules.recurrent.seq2seq import Seq2Seq
from pages.recurrent.encoder_decoder.room import CLAUSES, RIGHT

MOST, COUNT = 7, 60  # clauses, and test sentences of each number of them

Words = Sequence[str]


def clauses(words: Words) -> list[range]:
    """The places of each clause, conjunctions and the point left out."""
    ends = [i for i, word in enumerate(words) if word in spanish.CONJUNCTIONS or word == "."]
    return [range(a + 1, b) for a, b in zip([-1, *ends[:-1]], ends, strict=True)]


@dataclass(frozen=True)
class Cloud:
    """N sentences of 1 to MOST clauses.

    Attributes:
        english: their words. at: in the plane of the two components, (N, 2).
        c: (N, Z). mean: c̄, (Z,). axes: v_1 and v_2, (2, Z). explained: their shares of the variance, (2,).
        right: all words are the gold ones, (N,).
    """

    english: list[list[str]]
    at: Tensor
    c: Tensor
    mean: Tensor
    axes: Tensor
    explained: Tensor
    right: Tensor

    def labels(self, mark: str) -> tuple[list[str], list[int]]:
        """Names of the classes, and the class of each sentence."""
        if mark == RIGHT:
            return ["some word wrong", "all right"], self.right.long().tolist()
        if mark == CLAUSES:
            return [f"{k + 1}" for k in range(MOST)], [len(clauses(each)) - 1 for each in self.english]
        names = list(spanish.VERBS)
        return names, [names.index(each[1]) for each in self.english]


def cloud(model: Seq2Seq, model_card: Mapping[str, Any]) -> Cloud:
    """Contexts of test sentences of each number of clauses, and their principal components."""
    drawn = [each for k in range(1, MOST + 1) for each in sentences(COUNT, (k, k), "test", seed=k)]
    pairs = AlignedPairs(drawn, texts.tokenizer(model_card))  # type: ignore[arg-type]
    source, lengths, _, _ = pairs[torch.arange(len(pairs))]
    with torch.no_grad():
        c = model.read(source, lengths).memory[0]
    centred = c - c.mean(0)
    _, widths, axes = torch.linalg.svd(centred, full_matrices=False)
    towards = torch.stack([torch.tensor([len(each) for each in drawn], dtype=c.dtype), centred @ axes[1]], 1)
    signs = torch.where(((towards - towards.mean(0)) * (centred @ axes[:2].T)).sum(0) < 0, -1.0, 1.0)
    axes = axes[:2] * signs[:, None]  # the first component grows with the length
    explained = widths.square() / widths.square().sum()
    return Cloud(drawn, centred @ axes.T, c, c.mean(0), axes, explained[:2], right(model, pairs))


def by_length(found: Cloud) -> float:
    """Share of the variance along the first component that the means of each number of clauses explain."""
    x, k = found.at[:, 0].double(), torch.tensor(found.labels(CLAUSES)[1])
    means = torch.stack([x[k == each].mean() for each in range(MOST)])
    return 1 - float((x - means[k]).square().sum() / (x - x.mean()).square().sum())


PARTS = ["a quarter at most", "between a quarter and three quarters", "more than three quarters"]


def part(share: float) -> str:
    """A share in words, one of PARTS."""
    return PARTS[0 if share <= 0.25 else 1 if share <= 0.75 else 2]


@dataclass(frozen=True)
class Growing:
    """The own sentence, clause by clause.

    Attributes:
        words: of the sentence up to each clause, a point behind it. c: their contexts, (K, Z).
    """

    words: list[list[str]]
    c: Tensor


@torch.no_grad()
def growing(model: Seq2Seq, model_card: Mapping[str, Any], text: str) -> Growing:
    """Contexts of a sentence that ends after its first clause, its second, …; where it is no sentence of
    the grammar, of the whole alone."""
    words, coder = sentence(model_card, text), texts.tokenizer(model_card)
    of = words.text.split()
    parts = [of] if words.gold is None else [[*of[: each.stop], "."] for each in clauses(of)]
    read = [model.read(torch.tensor([coder.encode(" ".join(part))])).memory[0] for part in parts]
    return Growing(parts, torch.cat(read))


def nearest(found: Cloud, c: Tensor) -> int:
    """The sentence whose context is nearest to c (Z,), itself left out."""
    away = (found.c - c).norm(dim=1)
    return int(away.masked_fill(away < 1e-4, torch.inf).argmin())


def captions(found: Cloud, own: Growing) -> list[str]:
    """How long the sentence is, and the sentence that has the nearest context."""
    rows = []
    for k, (words, c) in enumerate(zip(own.words, own.c, strict=True)):
        other = len(found.english[nearest(found, c)])
        rows.append(
            f"{k + 1} clause{'s' * (k > 0)}, {len(words)} words: {len(c)} numbers. The nearest of the "
            f"other contexts is of a sentence of {other} words."
        )
    return rows


def equations(found: Cloud, own: Growing) -> list[str]:
    """Coordinates of the sentence, and the share of the variance that two components have."""
    first, second = found.explained.tolist()
    return [
        rf"c - \bar{{c}} \approx a_1 v_1 + a_2 v_2, \quad a = ({a:.2f}, {b:.2f}), \quad "
        rf"\frac{{\lambda_1 + \lambda_2}}{{\sum_i \lambda_i}} = {first:.3f} + {second:.3f} = "
        rf"{first + second:.3f}"
        for a, b in ((own.c - found.mean) @ found.axes.T).tolist()
    ]
