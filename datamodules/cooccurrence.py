"""Words and the words near them: (centre, context) windows of a corpus, and their counts.

    C_ij = how often word j stands within k places of word i, in the same sentence

Two ways to give a corpus to a model:

- `windows`: a batch is centres (B,) and contexts (B, 2k), the words at −k … −1, 1 … k, with −1 where
  the sentence has ended;
- `matrix`: a batch is C itself, (V, V). The skip-gram loss needs no more than C: one step through the
  matrix is one through all the pairs of the corpus.

References: [GM] §1.6.1.
"""

import collections
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, get_args

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from datamodules import fetch, relations, senses
from datamodules.base import DataModule, TensorSplit, within
from datamodules.multi30k import sentences
from datamodules.tokenizer import words

Examples = Literal["windows", "matrix"]
UNKNOWN = "<unk>"
BATCH = 1024  # windows, where nothing is said
SPLITS = ("train", "val", "test")
PLANTED = ("relations", "senses")

# Relations that the words of captions have: (a, b) and (c, d) of one line make an analogy a : b = c : d.
CAPTION_RELATIONS = {
    "one → many": "man men, woman women, boy boys, girl girls, dog dogs, child children, person people, "
    "bike bikes, car cars, ball balls, tree trees, player players, horse horses, building buildings, "
    "worker workers, street streets, hand hands, hat hats",
    "male → female": "man woman, boy girl, men women, boys girls, he she, his her, guy lady, male female",
    "stem → ing": "walk walking, run running, play playing, sit sitting, stand standing, ride riding, "
    "jump jumping, look looking, swim swimming, hold holding, eat eating, sleep sleeping, talk talking, "
    "work working, dance dancing, climb climbing, watch watching, throw throwing",
    "s → ing": "walks walking, runs running, plays playing, sits sitting, stands standing, rides riding, "
    "jumps jumping, looks looking, swims swimming, holds holding, eats eating, sleeps sleeping, "
    "talks talking, works working, dances dancing, climbs climbing, watches watching, throws throwing",
    "person → place": "swimmer pool, skier snow, surfer ocean, skateboarder ramp, cyclist road",
}


def windows(sentences: Sequence[Tensor], k: int) -> tuple[Tensor, Tensor]:
    """Words with their neighbours: centres (N,) and contexts (N, 2k), −1 where there is none.

    Args:
        sentences: each (T,) int64; no window crosses their borders.
        k: neighbours on each side.
    """
    if k < 1:
        raise ValueError(f"window is {k}: look at least one word to each side.")
    if not len(sentences):
        return torch.zeros(0, dtype=torch.int64), torch.zeros(0, 2 * k, dtype=torch.int64)
    gap = torch.full((k,), -1)
    line = torch.cat([gap, *(part for s in sentences for part in (s, gap))])  # k blanks between any two
    inside = line[k:-k]
    contexts = torch.stack([line[k + o : len(line) - k + o] for o in range(-k, k + 1) if o], dim=1)
    useful = (inside >= 0) & (contexts >= 0).any(1)  # a word alone in its sentence teaches nothing
    return inside[useful], contexts[useful]


def counts(centres: Tensor, contexts: Tensor, vocab_size: int) -> Tensor:
    """C (V, V) float32 of windows: centres (N,), contexts (N, 2k)."""
    there = contexts >= 0
    cells = centres[:, None].expand_as(contexts)[there] * vocab_size + contexts[there]
    return torch.bincount(cells, minlength=vocab_size**2).reshape(vocab_size, vocab_size).float()


class Cooccurrence(DataModule):
    """The windows of a corpus.

    Args:
        corpus: "relations" or "senses" (planted, embedded), "multi30k" (English captions), or
            "shakespeare" (lines).
        window: k, words on each side.
        min_count: rarer words become `<unk>`.
        examples: "windows" or "matrix".
        batch_size: windows per optimizer step; "matrix" takes none, as a batch is always all of C.
        steps_per_epoch: with "matrix", how often an epoch goes through C.
        seed: of the order of the windows, and of the planted corpus.
        num_sentences: of a planted corpus. subsample: of the relations, see `relations.sentences`.

    Raises:
        ValueError: an argument is out of range.
        MissingData: the corpus is not on disk and cannot be fetched.
    """

    def __init__(
        self,
        corpus: str = "relations",
        window: int = 2,
        min_count: int = 5,
        examples: Examples = "windows",
        batch_size: int = BATCH,
        steps_per_epoch: int = 10,
        seed: int = 0,
        num_sentences: int = 6000,
        subsample: float = 1.0,
    ) -> None:
        super().__init__(batch_size, seed)
        if corpus not in (*PLANTED, "multi30k", "shakespeare"):
            raise ValueError(f"corpus is {corpus!r}: it must be relations, senses, multi30k or shakespeare.")
        if examples not in get_args(Examples):
            raise ValueError(f"examples is {examples!r}: it must be windows or matrix.")
        if examples == "matrix" and batch_size != BATCH:
            raise ValueError(f"batch_size is {batch_size}, but a batch is the whole matrix: leave it out.")
        within(1, 100, window=window)
        within(1, 10**6, min_count=min_count, steps_per_epoch=steps_per_epoch)
        within(4, 10**6, num_sentences=num_sentences)
        self.corpus, self.window, self.min_count, self.examples = corpus, window, min_count, examples
        self.steps_per_epoch, self.num_sentences, self.subsample = steps_per_epoch, num_sentences, subsample
        self.embedded = corpus in PLANTED

    def prepare_data(self) -> None:
        if self.corpus == "shakespeare":
            fetch.fetch("tinyshakespeare")
        elif self.corpus == "multi30k":
            fetch.fetch("multi30k")

    def lines(self, split: str) -> list[list[str]]:
        """The sentences of a split as words."""
        if self.corpus == "relations":
            seed = 3 * self.seed + SPLITS.index(split)
            drawn = relations.sentences(self.num_sentences, seed, self.subsample)
            return [[relations.VOCABULARY[i] for i in s] for s in drawn.tolist()]
        if self.corpus == "senses":
            planted, _ = senses.sentences(self.num_sentences, 3 * self.seed + SPLITS.index(split))
            return [line.split() for line in planted]
        if self.corpus == "multi30k":
            return [words(line) for line in sentences(split)]
        source = fetch.SOURCES["tinyshakespeare"]
        text = fetch.content(source, source.files[0]).decode()
        n = len(text)
        first, last = {"train": (0, 0.9), "val": (0.9, 0.95), "test": (0.95, 1)}[split]
        return [words(line) for line in text[int(first * n) : int(last * n)].splitlines() if line]

    @cached_property
    def vocabulary(self) -> list[str]:
        """`<unk>`, then the words of the training split that are frequent enough, the most frequent first."""
        if self.corpus == "relations":
            return relations.VOCABULARY
        if self.corpus == "senses":
            return senses.VOCABULARY
        result = collections.Counter(word for line in self.lines("train") for word in line)
        return [UNKNOWN, *(word for word, n in result.most_common() if n >= self.min_count)]

    @cached_property
    def ids(self) -> dict[str, int]:
        """The number of each word."""
        return {word: i for i, word in enumerate(self.vocabulary)}

    def encode(self, words: Iterable[str]) -> Tensor:
        """Numbers of words, 0 where a word is unknown: (T,) int64."""
        return torch.tensor([self.ids.get(word, 0) for word in words], dtype=torch.int64)

    def _windows(self, split: str) -> tuple[Tensor, Tensor]:
        return windows([self.encode(line) for line in self.lines(split)], self.window)

    def _split(self, split: str) -> TensorSplit:
        centres, contexts = self._windows(split)
        if self.examples == "windows":
            return TensorSplit(centres, contexts)
        return Matrix(counts(centres, contexts, len(self.vocabulary)), self.steps_per_epoch)

    def batches(self, split: Any, shuffle: bool, limit: int | None = None) -> DataLoader:
        if isinstance(split, Matrix):  # one batch is the whole matrix, however many steps there are
            passes = torch.arange(split.passes if shuffle else 1)[:, None]
            return DataLoader(split, sampler=passes, batch_size=None)  # type: ignore[arg-type]
        return super().batches(split, shuffle, limit)

    @property
    def analogies(self) -> Mapping[str, list[tuple[str, str]]]:
        """Pairs of each relation that the corpus has, both words known; see `modules.language`."""
        if self.corpus == "relations":
            return relations.pairs()
        if self.corpus == "senses":
            return {}
        results = {
            name: [tuple(p.split()) for p in line.split(", ")] for name, line in CAPTION_RELATIONS.items()
        }
        return {
            name: [(a, b) for a, b in pairs if a in self.ids and b in self.ids]
            for name, pairs in results.items()
        }

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.vocabulary)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Cooccurrence",
            "corpus": self.corpus,
            "window": self.window,
            "min_count": self.min_count,
            "seed": self.seed,
            "vocabulary": self.vocabulary,
            "analogies": {name: [list(p) for p in pairs] for name, pairs in self.analogies.items()},
        }


class Matrix(TensorSplit):
    """A split whose every example is the whole of C; an epoch goes through it `passes` times."""

    def __init__(self, matrix: Tensor, passes: int) -> None:
        super().__init__(matrix)
        self.matrix, self.passes = matrix, passes

    def __len__(self) -> int:
        return self.passes

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, ...]:
        return (self.matrix,)
