"""Tokenizers taken apart: characters, bytes, and byte pair encoding learned merge by merge.

    train   start from characters or bytes; repeat: merge the most frequent adjacent pair into a token
    encode  merge in the order in which the merges were learned (never the longest match)

Merges stay within words. "word": letters and a mark that ends each word (the classic form). "byte": UTF-8
bytes of words with their leading space, punctuation and spaces: nothing is ever unknown, and decoding
gives back every text. Byte tokens are written as strings of the characters U+0000 to U+00FF.

Counts: each adjacent pair counts, "aaa" has two; the merge goes from the left, "aaa" becomes "aa a". Ties:
"first" takes the pair that comes first in the text, "id" the smaller token numbers, which is what the
`tokenizers` library does.

The texts: [LLM] says about 256 characters "for ASCII", which has 128; 256 is bytes, and only the byte base
is closed. [GM]'s example (I, am, drink, ing) does not decode: words need a mark. [UDL] fig. 12.8f counts
the token types that occur in the text, which rise and fall; the vocabulary, base and merges, only grows.

References: Gage 1994; Sennrich et al. 2016, arXiv:1508.07909; Radford et al. 2019 (bytes); [LLM] part 1;
[UDL] 12.5.1.
"""

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from modules.trace import Step, Trace

Kind = Literal["word", "byte"]
Tie = Literal["first", "id"]
Pair = tuple[str, str]
END = "</w>"

# A word with its leading space, digits, punctuation, and the spaces in between (GPT-2's rule, nearly).
PRESPLIT = re.compile(r"'(?:[stmd]|re|ve|ll)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
# The order in which the library numbers bytes: printable ones first. Ties by id depend on it.
_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
BYTES = [chr(b) for b in (*_PRINTABLE, *sorted(set(range(256)) - set(_PRINTABLE)))]


# --- Bases: words, characters, bytes ------------------------------------------------------------------


def split_words(text: str) -> list[str]:
    """Words and single punctuation marks."""
    return re.findall(r"\w+|[^\w\s]", text)


def as_bytes(text: str) -> str:
    """UTF-8 bytes as the characters U+0000 to U+00FF."""
    return text.encode().decode("latin-1")


def from_bytes(units: str) -> str:
    """The text of bytes; what is not UTF-8 becomes U+FFFD."""
    return units.encode("latin-1").decode(errors="replace")


def presplit(text: str, kind: Kind, end: str = END) -> list[tuple[str, ...]]:
    """The words of a text, each as its first units: nothing is merged across their borders."""
    if kind == "word":
        return [(*word, end) for word in text.split()]
    return [tuple(as_bytes(word)) for word in PRESPLIT.findall(text)]


def merge(units: Sequence[str], pair: Pair) -> tuple[str, ...]:
    """Merge every occurrence of the pair, from the left."""
    merged, i, last = [], 0, len(units) - 1
    while i <= last:
        if i < last and units[i] == pair[0] and units[i + 1] == pair[1]:
            merged.append(pair[0] + pair[1])
            i += 2
        else:
            merged.append(units[i])
            i += 1
    return tuple(merged)


# --- Byte pair encoding -------------------------------------------------------------------------------


class PairCounts:
    """Counts of adjacent pairs, kept up to date where a merge happens.

    Work goes over different words, each weighted by how often it occurs.

    Args:
        words: word as units -> occurrences, in order of first appearance.
        order: base units in the order of their ids.
    """

    def __init__(self, words: Mapping[tuple[str, ...], int], order: Sequence[str]) -> None:
        self.words = list(words)
        self.times = list(words.values())
        self.ids = {unit: i for i, unit in enumerate(order)}
        self.counts: Counter[Pair] = Counter()
        self.where: defaultdict[Pair, set[int]] = defaultdict(set)  # words that hold the pair
        for i, word in enumerate(self.words):
            for pair in pairwise(word):
                self.counts[pair] += self.times[i]
                self.where[pair].add(i)
        self.heap = [(-count, pair) for pair, count in self.counts.items()]
        heapq.heapify(self.heap)

    def best(self, tie: Tie) -> tuple[Pair, int] | None:
        """The most frequent pair and its count; None where nothing is left to merge."""
        tied: list[Pair] = []
        most = 0
        while self.heap and (not tied or -self.heap[0][0] == most):
            count, pair = heapq.heappop(self.heap)
            if self.counts.get(pair, 0) == -count and pair not in tied:  # else the entry is out of date
                tied.append(pair)
                most = -count
        if not tied:
            return None
        chosen = min(tied, key=self._id if tie == "id" else self._first)
        for pair in tied:
            if pair != chosen:
                heapq.heappush(self.heap, (-most, pair))
        return chosen, most

    def _id(self, pair: Pair) -> tuple[int, int]:
        return self.ids[pair[0]], self.ids[pair[1]]

    def _first(self, pair: Pair) -> tuple[int, int]:
        word = min(self.where[pair])
        return word, next(i for i, p in enumerate(pairwise(self.words[word])) if p == pair)

    def merge(self, pair: Pair) -> None:
        """Merge the pair in every word that holds it, and recount those words alone."""
        self.ids.setdefault(pair[0] + pair[1], len(self.ids))
        changed: set[Pair] = set()
        for i in self.where.pop(pair):
            old, new = self.words[i], merge(self.words[i], pair)
            for p in pairwise(old):
                self.counts[p] -= self.times[i]
                self.where[p].discard(i)
                changed.add(p)
            for p in pairwise(new):
                self.counts[p] += self.times[i]
                self.where[p].add(i)
                changed.add(p)
            self.words[i] = new
        for p in changed:
            if self.counts[p] > 0:
                heapq.heappush(self.heap, (-self.counts[p], p))
            else:
                del self.counts[p]
                self.where.pop(p, None)

    def types(self) -> int:
        """Different tokens that occur in the text."""
        return len({unit for word in self.words for unit in word})

    def tokens(self) -> int:
        """Length of the text in tokens."""
        return sum(len(word) * n for word, n in zip(self.words, self.times, strict=True))

    def top(self, n: int) -> list[tuple[Pair, int]]:
        """The n most frequent pairs."""
        return heapq.nsmallest(n, self.counts.items(), key=lambda item: (-item[1], item[0]))


@dataclass
class BPE:
    """Merges in the order they were learned.

    Attributes:
        base: units before any merge, by id. merges: the id of a merge's token is len(base) + its place.
        kind, end: how text is split into words, see `presplit`.

    Example:
        >>> bpe = BPE.train("low low low lower", 2)
        >>> bpe.merges, bpe.encode("slow")
        ([('l', 'o'), ('lo', 'w')], ['s', 'low', '</w>'])
    """

    base: list[str]
    merges: list[Pair]
    kind: Kind = "word"
    end: str = END
    _cache: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.ranks = {pair: rank for rank, pair in reversed(list(enumerate(self.merges)))}
        self.vocabulary = list(dict.fromkeys([*self.base, *(a + b for a, b in self.merges)]))

    @staticmethod
    def counts(text: str | Mapping[str, int], kind: Kind = "word", end: str = END) -> PairCounts:
        """Pairs of a text, or of words with their counts."""
        words: Counter[tuple[str, ...]] = Counter()
        for part, n in text.items() if isinstance(text, Mapping) else ((text, 1),):
            for word, times in Counter(presplit(part, kind, end)).items():
                words[word] += n * times
        units = BYTES if kind == "byte" else sorted({unit for word in words for unit in word})
        return PairCounts(words, units)

    @classmethod
    def train(
        cls,
        text: str | Mapping[str, int],
        merges: int,
        kind: Kind = "word",
        tie: Tie = "first",
        end: str = END,
    ) -> "BPE":
        """Learn at most `merges` merges from a text, or from words with their counts."""
        pairs = cls.counts(text, kind, end)
        base = list(pairs.ids)
        learned: list[Pair] = []
        while len(learned) < merges and (result := pairs.best(tie)):
            pairs.merge(result[0])
            learned.append(result[0])
        return cls(base, learned, kind, end)

    @classmethod
    def train_trace(
        cls,
        text: str | Mapping[str, int],
        merges: int,
        kind: Kind = "word",
        tie: Tie = "first",
        end: str = END,
        table: int = 10,
    ) -> Trace:
        """The same, one step a merge; result: the BPE.

        Values: `pair`, `count`, `table` (the most frequent pairs before), `after` (the counts of the same
        pairs then), `types` (different tokens in the text), `vocabulary` (base + merges), `tokens` (length).
        """  # fmt: skip
        pairs = cls.counts(text, kind, end)
        base, steps = list(pairs.ids), []
        learned: list[Pair] = []
        while len(learned) < merges and (result := pairs.best(tie)):
            (pair, count), before = result, pairs.top(table)
            if pair not in dict(before):  # a tie that the table cut off
                before = [(pair, count), *before[:-1]]
            pairs.merge(pair)
            learned.append(pair)
            values = {
                "pair": pair, "count": count, "table": before,
                "after": [pairs.counts.get(p, 0) for p, _ in before], "types": pairs.types(),
                "vocabulary": len(base) + len(learned), "tokens": pairs.tokens(),
            }  # fmt: skip
            caption = f"Merge {len(learned)}: {pair[0]!r} and {pair[1]!r} stand side by side {count} times."
            steps.append(Step(caption, values, rf"c = {count}"))
        return Trace(steps, cls(base, learned, kind, end))

    def first(self, merges: int) -> "BPE":
        """The same tokenizer after its first `merges` merges."""
        return BPE(self.base, self.merges[:merges], self.kind, self.end)

    def encode(self, text: str) -> list[str]:
        """The tokens of a text."""
        tokens: list[str] = []
        for word in presplit(text, self.kind, self.end):
            result = self._cache.get(word)
            if result is None:
                result = self._cache[word] = self.encode_word(word)
            tokens += result
        return tokens

    def encode_word(self, units: tuple[str, ...]) -> tuple[str, ...]:
        """Merge, of all pairs present, the one learned first, until none is left."""
        while len(units) > 1:
            pair = min(pairwise(units), key=lambda p: self.ranks.get(p, math.inf))
            if pair not in self.ranks:
                break
            units = merge(units, pair)
        return units

    def decode(self, tokens: Sequence[str]) -> str:
        """The text of tokens; of bytes exactly, of words with single spaces."""
        text = "".join(tokens)
        return from_bytes(text) if self.kind == "byte" else text.replace(self.end, " ").strip()

    def ids(self, tokens: Sequence[str]) -> list[int]:
        """Numbers of tokens; -1 for a character that was not in training."""
        numbers = {token: i for i, token in enumerate(self.vocabulary)}
        return [numbers.get(token, -1) for token in tokens]

    def tree(self, token: str) -> list[Pair]:
        """The merges that a token was made by, the last one first."""
        results = {a + b: (a, b) for a, b in reversed(self.merges)}
        if token not in results:
            return []
        return [results[token], *self.tree(results[token][0]), *self.tree(results[token][1])]
