"""Subwords by other rules than BPE's: WordPiece, and the unigram language model of pieces.

    WordPiece  merge the pair with the largest c(ab) / (c(a) c(b));  encode: longest match from the left
    unigram    P(pieces) = Π p(piece);  encode: argmax by Viterbi;  P(word) = Σ over all segmentations
               train: EM on a large set of pieces, then drop those whose loss costs the least likelihood

[UDL]'s notes have WordPiece and BPE differ in their first tokens: it is the criterion that differs. The
unigram model proposes no merges, it prunes. BPE-dropout (Provilkov) skips merges to regularise, not to
save time.

References: Schuster and Nakajima 2012; Kudo 2018, arXiv:1804.10959; Provilkov, Emelianenko and Voita 2020,
arXiv:1910.13267; [UDL] ch. 12, notes.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from modules.language.tokenization import Pair, merge

# --- WordPiece ----------------------------------------------------------------------------------------

UNKNOWN = "[UNK]"


def wordpiece_start(word: str) -> tuple[str, ...]:
    """The letters of a word; inner ones begin with ##."""
    return (word[0], *(f"##{c}" for c in word[1:]))


def wordpiece_scores(words: Mapping[tuple[str, ...], int]) -> dict[Pair, float]:
    """c(ab) / (c(a) c(b)) of every adjacent pair: how much more often together than by chance."""
    units: Counter[str] = Counter()
    pairs: Counter[Pair] = Counter()
    for word, n in words.items():
        for unit in word:
            units[unit] += n
        for pair in pairwise(word):
            pairs[pair] += n
    return {(a, b): c / (units[a] * units[b]) for (a, b), c in pairs.items()}


def wordpiece_train(corpus: Mapping[str, int], merges: int) -> list[str]:
    """The vocabulary after at most `merges` merges; of ties the first seen."""
    words = {wordpiece_start(word): n for word, n in corpus.items()}
    vocabulary = dict.fromkeys(unit for word in words for unit in word)
    for _ in range(merges):
        scores = wordpiece_scores(words)
        if not scores:
            break
        a, b = max(scores, key=scores.__getitem__)
        joined = a + b.removeprefix("##")
        vocabulary[joined] = None
        renamed = {}
        for word, n in words.items():
            renamed[tuple(joined if u == a + b else u for u in merge(word, (a, b)))] = n
        words = renamed
    return list(vocabulary)


def wordpiece_encode(word: str, vocabulary: Sequence[str] | set[str]) -> list[str]:
    """The longest piece that fits, from the left; the whole word is [UNK] where none does."""
    known, pieces, start = set(vocabulary), [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in known:
                break
        else:
            return [UNKNOWN]
        pieces.append(piece)
        start = end
    return pieces


# --- The unigram model ----------------------------------------------------------------------------------


def segmentations(word: str, p: Mapping[str, float]) -> Iterator[tuple[str, ...]]:
    """Ways to write a word as pieces of positive probability; exponentially many."""
    if not word:
        yield ()
    for end in range(1, len(word) + 1):
        if p.get(word[:end], 0) > 0:
            for rest in segmentations(word[end:], p):
                yield (word[:end], *rest)


def viterbi(word: str, p: Mapping[str, float]) -> tuple[list[str], float]:
    """The most probable pieces and their log-probability; no pieces and -∞ where there are none."""
    best = [0.0] + [-math.inf] * len(word)  # of the first `end` characters
    start = [0] * (len(word) + 1)
    for end in range(1, len(word) + 1):
        for begin in range(end):
            piece = p.get(word[begin:end], 0)
            if piece > 0 and best[begin] + math.log(piece) > best[end]:
                best[end], start[end] = best[begin] + math.log(piece), begin
    if best[-1] == -math.inf:
        return [], best[-1]
    pieces, end = [], len(word)
    while end:
        pieces.append(word[start[end] : end])
        end = start[end]
    return pieces[::-1], best[-1]


def marginal(word: str, p: Mapping[str, float]) -> float:
    """P(word), the sum over all segmentations, forwards through the word."""
    total = [1.0] + [0.0] * len(word)
    for end in range(1, len(word) + 1):
        total[end] = sum(total[begin] * p.get(word[begin:end], 0) for begin in range(end))
    return total[-1]


def expected_counts(corpus: Mapping[str, int], p: Mapping[str, float]) -> tuple[dict[str, float], float]:
    """Expected number of uses of each piece over all segmentations, and log P(corpus)."""
    counts: defaultdict[str, float] = defaultdict(float)
    total = 0.0
    for word, n in corpus.items():
        size = len(word)
        ahead = [1.0] + [0.0] * size  # P of the first `end` characters
        behind = [0.0] * size + [1.0]  # P of what follows
        for end in range(1, size + 1):
            ahead[end] = sum(ahead[begin] * p.get(word[begin:end], 0) for begin in range(end))
        for begin in range(size - 1, -1, -1):
            behind[begin] = sum(p.get(word[begin:end], 0) * behind[end] for end in range(begin + 1, size + 1))
        for begin in range(size):
            for end in range(begin + 1, size + 1):
                if piece := p.get(word[begin:end], 0):
                    counts[word[begin:end]] += n * ahead[begin] * piece * behind[end] / ahead[-1]
        total += n * math.log(ahead[-1])
    return counts, total


def unigram_train(
    corpus: Mapping[str, int], size: int, longest: int = 8, rounds: int = 3
) -> dict[str, float]:
    """Pieces and their probabilities; single characters are always kept, so `size` may be exceeded.

    Args:
        corpus: words and their counts. size: how many pieces to keep.
        longest: characters of a piece at first. rounds: EM steps between two prunings.
    """
    counter: Counter[str] = Counter()
    for word, n in corpus.items():
        for begin in range(len(word)):
            for end in range(begin + 1, min(begin + longest, len(word)) + 1):
                counter[word[begin:end]] += n
    pieces = {piece: float(n) for piece, n in counter.items() if n > 1 or len(piece) == 1}
    while True:
        for _ in range(rounds):
            mass = sum(pieces.values())
            counts, _log_p = expected_counts(corpus, {piece: c / mass for piece, c in pieces.items()})
            pieces = {piece: c for piece, c in counts.items() if c > 1e-6 or len(piece) == 1}
        mass = sum(pieces.values())
        p = {piece: c / mass for piece, c in pieces.items()}
        removable = [piece for piece in p if len(piece) > 1]
        if len(p) <= size or not removable:
            return p

        def loss(piece: str, p: Mapping[str, float] = p, pieces: Mapping[str, float] = pieces) -> float:
            without = {other: q for other, q in p.items() if other != piece and other in piece}
            return pieces[piece] * (math.log(p[piece]) - viterbi(piece, without)[1])

        drop = min(len(p) - size, max(1, len(removable) // 5), len(removable))
        for piece in sorted(removable, key=lambda piece: (loss(piece), piece))[:drop]:
            del pieces[piece]
