"""WordPiece and the unigram model taken apart, against the `tokenizers` library that trains them."""

import math
import re

import pytest

from datamodules import pydocs
from datamodules.tokenizer import UnigramTokenizer, WordPieceTokenizer
from modules.language import subwords
from modules.language.tokenization import BPE

CLASSIC = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


@pytest.fixture(scope="module")
def words() -> list[str]:
    """A few thousand different words, among them some that are not in training."""
    result = dict.fromkeys(re.findall(r"[A-Za-z]+", pydocs.text()[:300_000]))
    return [*result, "unaffable", "qqqq", "Xylophones"]


@pytest.fixture(scope="module")
def training() -> str:
    return pydocs.text()[:150_000]


def test_wordpiece_takes_the_longest_match_as_the_library_does(words: list[str], training: str) -> None:
    library = WordPieceTokenizer.train(training, 700)
    known = set(library.tokens)
    assert len(words) > 3000
    unknown = 0
    for word in words:
        ours, theirs = subwords.wordpiece_encode(word, known), library.encode(word)
        assert ours == [library.tokens[i] for i in theirs], word
        unknown += ours == [subwords.UNKNOWN]
    assert unknown < len(words) / 100


def test_viterbi_finds_the_librarys_pieces(words: list[str], training: str) -> None:
    library = UnigramTokenizer.train(training, 800)
    p = {token: math.exp(v) for token, v in zip(library.tokens, library.log_probs, strict=True)}
    same, words = 0, words[::4]
    for word in words:
        ids = library.encode(word)
        pieces, log_p = subwords.viterbi(word, p)
        assert log_p == pytest.approx(sum(library.log_probs[i] for i in ids), abs=1e-5), word
        same += pieces == [library.tokens[i] for i in ids]
    assert same >= 0.999 * len(words)  # of equally probable cuts either may be taken


def test_the_library_learns_wordpiece_by_counts_not_by_scores() -> None:
    """The score takes w+##i first, the count of BPE e+s; the library takes the latter."""
    letters = {subwords.wordpiece_start(word): n for word, n in CLASSIC.items()}
    scores = subwords.wordpiece_scores(letters)
    best = max(scores.values())
    assert best == pytest.approx(1 / 3) and scores["w", "##i"] == scores["##i", "##d"] == best
    units = {unit for word in letters for unit in word} | set("".join(CLASSIC))  # each also as a beginning
    corpus = [word for word, n in CLASSIC.items() for _ in range(n)]
    library = WordPieceTokenizer.train(corpus, len(units) + 2)  # [UNK] and one merge
    assert set(library.tokens) == {"[UNK]", *units, "##es"}
    assert BPE.train(CLASSIC, 1).merges == [("e", "s")]
    ours = subwords.wordpiece_train(CLASSIC, 1)
    assert ours[-1] in ("wi", "##id") and scores["##e", "##s"] < best
