"""The latent lens for words: a map, neighbours, analogies with their misses, and a window that learns.

`V` words, `d` dimensions, `k` words on each side of a window.

References: [GM] §1.6.1; Mikolov et al. 2013, arXiv:1301.3781.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.cooccurrence import counts, windows
from datamodules.tokenizer import words
from lab.errors import UserError
from modules.base import Module
from modules.language import word_vectors as wv
from modules.language.word2vec import SkipGram
from modules.trace import Step, Trace


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
class Map:
    """Words in the plane of the two directions in which they differ most.

    Attributes:
        points: (N, 2). words: N. share: of their variance that the plane keeps.
    """

    points: Tensor
    words: Sequence[str]
    share: float


def plane(found: Table, chosen: Sequence[str]) -> Map:
    """PCA of the unit vectors of some words."""
    unit = F.normalize(found.vectors[[found.find(w) for w in chosen]], dim=-1)
    points = wv.plane(unit)
    centred = unit - unit.mean(0)
    return Map(points, list(chosen), float(points.square().sum() / centred.square().sum()))


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


def score(found: Table, relation: str, exclude: bool = True) -> Score:
    """Answer every question that the pairs of a relation make."""
    pairs = torch.tensor([[found.ids[a], found.ids[b]] for a, b in found.pairs[relation]])
    questions = wv.quadruples(pairs)
    answers = wv.analogies(found.vectors, questions, exclude)
    right = answers.rank == 1
    misses = [
        (*(found.words[i] for i in q.tolist()), found.words[int(best)])
        for q, best in zip(questions[~right], answers.best[~right], strict=True)
    ]
    return Score(int(right.sum()), len(questions), misses, wv.offsets(found.vectors, pairs))  # type: ignore[arg-type]


def answer(found: Table, a: str, b: str, c: str, exclude: bool = True, n: int = 8) -> list[tuple[str, float]]:
    """The n best words for a : b = c : ?, with their cosines."""
    question = torch.tensor([[*(found.find(w) for w in (a, b, c)), 0]])
    ranked = wv.analogies(found.vectors, question, exclude).scores[0].sort(descending=True, stable=True)
    return [
        (found.words[int(i)], float(s)) for i, s in zip(ranked.indices[:n], ranked.values[:n], strict=True)
    ]


def known(found: Table, a: str, b: str, c: str) -> str | None:
    """The right answer to a : b = c : ?, where a relation has both pairs."""
    for pairs in found.pairs.values():
        if (a, b) in pairs:
            for first, second in pairs:
                if first == c:
                    return second
    return None


def corners(found: Table, a: str, b: str, c: str, best: str) -> tuple[Tensor, list[str]]:
    """a, b, c, b − a + c and the answer in the plane that holds most of them: (5, 2), and their names."""
    names = [w.strip().lower() for w in (a, b, c)]
    unit = F.normalize(found.vectors[[found.find(w) for w in (*names, best)]], dim=-1)
    five = torch.stack([unit[0], unit[1], unit[2], unit[1] - unit[0] + unit[2], unit[3]])
    return wv.plane(five), [*names, "", best]


# --- A window over the reader's own text ---------------------------------------------------------


def slide(text: str, k: int, d: int, rate: float, seed: int = 0) -> Trace:
    """Skip-gram learning word by word from a text: one step a centre, by gradient ascent.

    Returns:
        Trace with, a step: `centre` (its place), `contexts` (their places), `word` (its number), `p` (V,),
        `observed` (d,), the mean of u_o over the contexts, `expected` (d,), Σ_x p(x) u_x, `gradient` (d,),
        `before`, `after` (d,), v of the centre, `v`, `u` (V, d) before the step, `loss` of all pairs of the
        text. Result: dict(words, vocabulary, floor), the floor being H(O | C) of its pairs.

    Raises:
        UserError: fewer than 3 words, or more than 60.
    """
    read = [w for w in words(text) if w.isalnum()]
    if not 3 <= len(read) <= 60:
        raise UserError(f"The text has {len(read)} words: write 3 to 60.")
    vocabulary = list(dict.fromkeys(read))
    ids = torch.tensor([vocabulary.index(w) for w in read])
    centres, contexts = windows([ids], k)
    C = counts(centres, contexts, len(vocabulary))
    share = C / C.sum()
    floor = -float(torch.special.xlogy(share, share / share.sum(1, keepdim=True)).sum())
    generator = torch.Generator().manual_seed(seed)
    model = SkipGram(len(vocabulary), d).requires_grad_(False)
    for parameter in (model.v, model.u):
        parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
    steps: list[Step] = []
    places = torch.arange(-k, k + 1)[torch.arange(2 * k + 1) != k]
    for t, (centre, around) in enumerate(zip(centres, contexts, strict=True)):
        there = around >= 0
        others = around[there]
        v, u = model.v.clone(), model.u.clone()
        log_p = model.log_probs(centre[None])[0]
        p = log_p.exp()
        observed, expected = u[others].mean(0), p @ u
        gradient = observed - expected
        model.v[centre].add_(rate * gradient)
        errors = torch.bincount(others, minlength=len(vocabulary)) / len(others) - p  # 1[x = o] − p, averaged
        model.u.add_(rate * errors[:, None] * v[centre])
        word = vocabulary[int(centre)]
        names = ", ".join(vocabulary[int(o)] for o in others)
        steps.append(
            Step(
                f"{word!r} is to predict {names}.",
                {
                    "centre": t, "contexts": (t + places[there]).tolist(), "word": int(centre), "p": p,
                    "observed": observed, "expected": expected, "gradient": gradient,
                    "before": v[centre], "after": model.v[centre].clone(), "v": v, "u": u,
                    "loss": -float((C * (v @ u.T).log_softmax(-1)).sum() / C.sum()),
                },
                r"\nabla_v = \bar u_o - \sum_x p(x)\,u_x = " + column(observed) + " - " + column(expected)
                + " = " + column(gradient),
            )
        )  # fmt: skip
    return Trace(steps, {"words": read, "vocabulary": vocabulary, "floor": floor})


def column(vector: Tensor) -> str:
    """The first two entries as LaTeX."""
    return rf"\begin{{pmatrix}} {float(vector[0]):.3f} \\ {float(vector[1]):.3f} \end{{pmatrix}}"
