"""One text under six tokenizers, learned from one training text: what the tokenizer page draws."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from lab.lenses.text import VISIBLE
from modules.language import subwords
from modules.language.tokenization import BPE, BYTES, END, Kind, Tie, as_bytes, split_words
from modules.trace import Trace

MERGES = 60  # at most
KINDS = ("word", "character", "byte", "BPE", "WordPiece", "unigram")


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
    """Six tokenizers learned from `training`, of about the same vocabulary as `bpe`."""

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

    def encode(self, text: str) -> list[Coded]:
        """The text under each of KINDS."""
        letters = sorted(set(self.training))
        found = split_words(text)
        inner = [subwords.wordpiece_encode(word, self.wordpieces) for word in found]
        best = [subwords.viterbi(word, self.pieces)[0] or [subwords.UNKNOWN] for word in found]
        bpe = self.bpe.encode(text)
        return [
            coded("word", found, list(self.words)),
            coded("character", list(text), letters),
            Coded("byte", [readable(c, "byte") for c in as_bytes(text)], list(text.encode()), len(BYTES)),
            Coded("BPE", [readable(u, self.bpe.kind) for u in bpe], self.bpe.ids(bpe),
                  len(self.bpe.vocabulary)),
            coded("WordPiece", [p for pieces in inner for p in pieces], self.wordpieces),
            coded("unigram", [p for pieces in best for p in pieces], list(self.pieces)),
        ]  # fmt: skip


def coded(name: str, tokens: list[str], vocabulary: list[str]) -> Coded:
    numbers = {token: i for i, token in enumerate(vocabulary)}
    return Coded(
        name, [t.translate(VISIBLE) for t in tokens], [numbers.get(t, -1) for t in tokens], len(vocabulary)
    )


def segmented(training: str, bpe: BPE, pair: tuple[str, str] | None) -> tuple[list[str], list[bool]]:
    """The training text in tokens after the merges of `bpe`, and which of them the last merge made."""
    units = bpe.encode(training)
    made = "".join(pair) if pair else None
    return [readable(u, bpe.kind) for u in units], [u == made for u in units]


def tree(bpe: BPE, token: str) -> list[str]:
    """How a token came about, in words: its merges from the last one back."""
    return [
        f"{readable(a + b, bpe.kind)} = {readable(a, bpe.kind)} + {readable(b, bpe.kind)}"
        for a, b in bpe.tree(token)
    ]


def words_of(text: str) -> int:
    """Words in the sense of the word tokenizer."""
    return len(re.findall(r"\w+|[^\w\s]", text))
