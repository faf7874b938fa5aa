"""Count vectors looked into: own sentences counted, weighed, decomposed; and a sentence added later.

Shapes: `V` words, `d` dimensions, `k` words on each side.

References: [GM] §1.6.1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.cooccurrence import counts, windows
from datamodules.tokenizer import words
from lab.errors import UserError
from modules.language import word_vectors as wv
from modules.language.count_vectors import CountSVD

MOST = 400  # different words: the SVD of more takes longer than a page may


@dataclass(frozen=True)
class Counted:
    """A text's words, the most frequent first, and how often each stands near each.

    Attributes:
        words: V. counts: (V, V) float64. tokens: words of the text, repeated ones too.
    """

    words: Sequence[str]
    counts: Tensor
    tokens: int

    @property
    def zeros(self) -> float:
        """Share of the cells that are empty."""
        return float((self.counts == 0).double().mean())

    def find(self, word: str) -> int:
        """The number of a word.

        Raises:
            UserError: the text does not have it.
        """
        word = word.strip().lower()
        if word not in self.words:
            raise UserError(f"{word!r} is not in the text; try one of {', '.join(self.words[:5])}.")
        return self.words.index(word)


def sentences(text: str) -> list[list[str]]:
    """Lower-case words of each sentence; a sentence ends at . ! ? or a new line."""
    lines = [[w for w in words(s) if w[0].isalnum()] for s in re.split(r"[.!?\n]", text)]
    return [line for line in lines if line]


def matrix(lines: Sequence[Sequence[str]], vocabulary: Sequence[str], k: int) -> Tensor:
    """C (V, V) of sentences, float64."""
    ids = {word: i for i, word in enumerate(vocabulary)}
    encoded = [torch.tensor([ids[w] for w in line]) for line in lines]
    return counts(*windows(encoded, k), len(vocabulary)).double()


def count(text: str, k: int) -> Counted:
    """Count a text.

    Raises:
        UserError: no two words in one sentence, or more than `MOST` different words.
    """
    lines = sentences(text)
    results = [w for line in lines for w in line]
    vocabulary = sorted(dict.fromkeys(results), key=lambda w: -results.count(w))  # ties as they came
    if len(vocabulary) > MOST:
        raise UserError(f"The text has {len(vocabulary):,} different words: shorten it to {MOST}.")
    if max(map(len, lines), default=0) < 2 or len(vocabulary) < 2:
        raise UserError("Nothing stands beside anything: write a sentence of at least two different words.")
    return Counted(vocabulary, matrix(lines, vocabulary, k), len(results))


def add(old: Counted, text: str, k: int) -> Counted:
    """The counts with those of more sentences: only these are read; new words come last.

    Raises:
        UserError: too many different words.
    """
    lines = sentences(text)
    vocabulary = list(dict.fromkeys([*old.words, *(w for line in lines for w in line)]))
    if len(vocabulary) > MOST:
        raise UserError(f"Together these are {len(vocabulary):,} different words: {MOST} at most.")
    room = len(vocabulary) - len(old.words)
    grown = F.pad(old.counts, (0, room, 0, room))
    return Counted(vocabulary, grown + matrix(lines, vocabulary, k), old.tokens + sum(map(len, lines)))


def difference(sum_of_parts: Counted, text: str, k: int) -> float:
    """The largest difference between counts that were added and those of the whole text counted anew."""
    return float((sum_of_parts.counts - matrix(sentences(text), sum_of_parts.words, k)).abs().max())


@dataclass(frozen=True)
class Decomposed:
    """The SVD of counts, or of their PPMI.

    Attributes:
        matrix: (V, V), what was decomposed. vectors: (V, d), rows of U_d Σ_d. right: (V, d), V_d.
        spectrum: (V,) σ. approximation: (V, V) of rank d. errors: (V + 1,), √(Σ_{i>d} σ_i²), d = 0 … V.
    """

    matrix: Tensor
    vectors: Tensor
    right: Tensor
    spectrum: Tensor
    approximation: Tensor
    errors: Tensor

    @property
    def rank(self) -> int:
        return int((self.spectrum > 1e-9 * self.spectrum[0]).sum())


def decompose(counted: Counted, d: int, ppmi: bool) -> Decomposed:
    """Word vectors of d dimensions from counts."""
    V = len(counted.words)
    model = CountSVD(V, d, "ppmi" if ppmi else "counts", power=1.0).double().fit(counted.counts)
    tail = model.spectrum.square().flip(0).cumsum(0).flip(0)  # Σ_{i ≥ n} σ_i²
    return Decomposed(
        model.weighted(counted.counts), model.vectors, model.right, model.spectrum,
        model.vectors @ model.right.T, F.pad(tail, (0, 1)).sqrt(),
    )  # fmt: skip


@dataclass(frozen=True)
class Near:
    """The words nearest to one by the cosine of their vectors, and that of their whole rows.

    Attributes:
        words: n. cosines, whole: (n,).
    """

    words: list[str]
    cosines: Tensor
    whole: Tensor


def near(counted: Counted, result: Decomposed, word: str, n: int = 10) -> Near:
    """Neighbours of a word after the SVD, with what the matrix itself says of them.

    Raises:
        UserError: the text does not have the word.
    """
    at = counted.find(word)
    ids, cosines = wv.neighbours(result.vectors, at, n)
    rows = F.normalize(result.matrix, dim=1)
    return Near([counted.words[i] for i in ids.tolist()], cosines, rows[ids] @ rows[at])


def plane(result: Decomposed, n: int) -> Tensor:
    """The n most frequent words in the two directions in which their unit vectors differ most: (n, 2)."""
    return wv.plane(F.normalize(result.vectors[:n], dim=1))


# --- Every number of dimensions at once: films ------------------------------------------------------


def approximations(whole: Decomposed, n: int) -> Tensor:
    """Approximations of the n most frequent words with d = 0 … V dimensions: (V + 1, n, n); `whole` has
    all."""
    parts = torch.einsum("id,jd->dij", whole.vectors[:n], whole.right[:n])
    return F.pad(parts.cumsum(0), (0, 0, 0, 0, 1, 0))


def planes(whole: Decomposed, n: int) -> Tensor:
    """`plane` for d = 0 … V, (V + 1, n, 2), each turned so that it lies nearest to the one before."""
    results = [torch.zeros(n, 2, dtype=whole.vectors.dtype)]
    for d in range(1, whole.vectors.shape[1] + 1):
        now = wv.plane(F.normalize(whole.vectors[:n, :d], dim=1))
        U, _, Vh = torch.linalg.svd(now.T @ results[-1])
        results.append(now @ (U @ Vh))  # the rotation (or mirror) that Procrustes finds
    return torch.stack(results)


@dataclass(frozen=True)
class Ranking:
    """The words nearest to one in d = 1 … V dimensions.

    Attributes:
        words: V lists of n. cosines, whole: (V, n), in d dimensions and of the whole rows.
    """

    words: list[list[str]]
    cosines: Tensor
    whole: Tensor


def ranking(counted: Counted, whole: Decomposed, word: str, n: int = 10) -> Ranking:
    """`near` for every d.

    Raises:
        UserError: the text does not have the word.
    """
    at = counted.find(word)
    n = min(n, len(counted.words) - 1)
    dots = (whole.vectors * whole.vectors[at]).cumsum(1)  # (V, V): word, d
    norms = whole.vectors.square().cumsum(1).sqrt()
    cosines = dots / (norms * norms[at]).clamp(min=1e-12)
    cosines[at] = -torch.inf
    best = cosines.sort(dim=0, descending=True, stable=True)
    ids = best.indices[:n].T  # (V, n)
    rows = F.normalize(whole.matrix, dim=1)
    names = [[counted.words[i] for i in row] for row in ids.tolist()]
    return Ranking(names, best.values[:n].T, (rows @ rows[at])[ids])
