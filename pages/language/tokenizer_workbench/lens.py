"""One text under six tokenizers, learned from one training text: what the tokenizer page draws.

WordPiece and unigram come twice: learned and run by this project, and by the `tokenizers` library on the
same words.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from datamodules.tokenizer import SubwordTokenizer, UnigramTokenizer, WordPieceTokenizer
from lab.lenses.text import VISIBLE
from modules.language import subwords
from modules.language.tokenization import (
    BPE,
    BYTES,
    END,
    Kind,
    Tie,
    as_bytes,
    merge,
    presplit,
    split_words,
)  # fmt: skip
from modules.trace import Trace

MERGES = 60  # at most
KINDS = ("word", "character", "byte", "BPE", "WordPiece", "unigram")
LIBRARY = ("WordPiece, library", "unigram, library")  # the same as above, learned by the library


@dataclass(frozen=True)
class Coded:
    """A text as one tokenizer sees it.

    Attributes:
        tokens: as shown. ids: their numbers, -1 where unknown. vocabulary: how many tokens there are.
    """

    name: str
    tokens: list[str]
    ids: list[int]
    vocabulary: int

    @property
    def unknown(self) -> int:
        return sum(i < 0 for i in self.ids)


def learn(text: str, merges: int, kind: Kind, tie: Tie) -> Trace:
    """BPE's merges on a text, a step each."""
    return BPE.train_trace(text, merges, kind, tie)


def readable(unit: str, kind: Kind) -> str:
    """A token with its invisible characters made visible; bytes that are no whole character as \\xNN."""
    if kind == "byte":
        try:
            unit = unit.encode("latin-1").decode()
        except UnicodeDecodeError:
            return "".join(c if " " < c < "\x7f" else f"\\x{ord(c):02X}" for c in unit)
    return unit.replace(END, "·").translate(VISIBLE)


@dataclass(frozen=True)
class Bench:
    """Tokenizers learned from `training`, subwords with about the same vocabulary as `bpe`."""

    training: str
    bpe: BPE

    @cached_property
    def words(self) -> Counter[str]:
        return Counter(split_words(self.training))

    @cached_property
    def wordpieces(self) -> list[str]:
        return subwords.wordpiece_train(self.words, len(self.bpe.merges))

    @cached_property
    def pieces(self) -> dict[str, float]:
        letters = len(set("".join(self.words)))
        return subwords.unigram_train(self.words, letters + len(self.bpe.merges))

    @cached_property
    def library(self) -> dict[str, SubwordTokenizer]:
        """LIBRARY, as large as ours with [UNK] in the vocabulary, learned from the same words."""
        result = list(self.words.elements())
        return {
            LIBRARY[0]: WordPieceTokenizer.train(result, len(self.wordpieces) + 1),
            LIBRARY[1]: UnigramTokenizer.train(result, len(self.pieces) + 1, every_byte=False),
        }

    def encode(self, text: str) -> list[Coded]:
        """The text under each of KINDS, then of LIBRARY."""
        letters = sorted(set(self.training))
        result = split_words(text)
        inner = [subwords.wordpiece_encode(word, self.wordpieces) for word in result]
        best = [subwords.viterbi(word, self.pieces)[0] or [subwords.UNKNOWN] for word in result]
        bpe = self.bpe.encode(text)
        return [
            coded("word", result, list(self.words)),
            coded("character", list(text), letters),
            Coded("byte", [readable(c, "byte") for c in as_bytes(text)], list(text.encode()), len(BYTES)),
            Coded("BPE", [readable(u, self.bpe.kind) for u in bpe], self.bpe.ids(bpe),
                  len(self.bpe.vocabulary)),
            coded("WordPiece", [p for pieces in inner for p in pieces], self.wordpieces),
            coded("unigram", [p for pieces in best for p in pieces], list(self.pieces)),
            *(by_library(name, coder, result) for name, coder in self.library.items()),
        ]  # fmt: skip


def by_library(name: str, coder: SubwordTokenizer, words: list[str]) -> Coded:
    """Each word encoded alone."""
    ids = [i for word in words for i in coder.encode(word)]
    tokens = [coder.tokens[i].translate(VISIBLE) for i in ids]
    return Coded(name, tokens, [-1 if i == coder.unknown else i for i in ids], len(coder))


def coded(name: str, tokens: list[str], vocabulary: list[str]) -> Coded:
    numbers = {token: i for i, token in enumerate(vocabulary)}
    return Coded(
        name, [t.translate(VISIBLE) for t in tokens], [numbers.get(t, -1) for t in tokens], len(vocabulary)
    )


@dataclass(frozen=True)
class Merging:
    """The training text after some merges.

    Attributes:
        units: as BPE has them. tokens: as shown. ids: their numbers. new: whether the last merge made them.
    """

    units: list[str]
    tokens: list[str]
    ids: list[int]
    new: list[bool]


def merged(training: str, bpe: BPE) -> list[Merging]:
    """The training text after 1, 2, … all merges, each made in the text of the one before."""
    words, steps = presplit(training, bpe.kind), []
    for count, pair in enumerate(bpe.merges, start=1):
        words = [merge(word, pair) for word in words]
        units = [unit for word in words for unit in word]
        text = "".join(pair)
        ids = bpe.first(count).ids(units)
        steps.append(Merging(units, [readable(u, bpe.kind) for u in units], ids, [u == text for u in units]))
    return steps


@dataclass(frozen=True)
class MergeTree:
    """Tree of how a token came about: it is node 0, the units that it began with are the leaves.

    Attributes:
        tokens: of each node. parent: its index, −1 for node 0.
        x: leaves in the order of the text, a merged token amid its two parts. y: 0 for leaves, else one
            above the higher part. merge: the number of the merge that made it, from 1; 0 for leaves.
    """

    tokens: list[str]
    parent: list[int]
    x: list[float]
    y: list[int]
    merge: list[int]


def merge_tree(bpe: BPE, token: str) -> MergeTree:
    """The merges that made a token."""
    results = {a + b: (rank, a, b) for rank, (a, b) in reversed(list(enumerate(bpe.merges, start=1)))}
    result = MergeTree([], [], [], [], [])
    leaves = 0

    def grow(unit: str, parent: int) -> int:
        nonlocal leaves
        node = len(result.tokens)
        result.tokens.append(unit)
        result.parent.append(parent)
        result.x.append(0.0)
        result.y.append(0)
        result.merge.append(0)
        if unit in results:
            rank, a, b = results[unit]
            left, right = grow(a, node), grow(b, node)
            result.x[node] = (result.x[left] + result.x[right]) / 2
            result.y[node] = 1 + max(result.y[left], result.y[right])
            result.merge[node] = rank
        else:
            result.x[node], leaves = float(leaves), leaves + 1
        return node

    grow(token, -1)
    return result
