"""Tokenizers against known examples, against brute force, and merge for merge against the library."""

import itertools
import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import contracts
import pytest

from modules.language import subwords
from modules.language import tokenization as t
from modules.language.tokenization import BPE

RHYME = (
    "a sailor went to sea sea sea to see what he could see see see but all that he could see see see "
    "was the bottom of the deep blue sea sea sea"
)
TYPES = {"first": 29, "id": 31}  # the most types at a time
CLASSIC = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


# --- The rhyme ------------------------------------------------------------------------------------


def test_rhyme() -> None:
    pairs = BPE.counts(RHYME, end="_")
    units: Counter[str] = Counter()
    for word, n in zip(pairs.words, pairs.times, strict=True):
        units.update({u: word.count(u) * n for u in word})
    assert sum(pairs.times) == 33 and pairs.tokens() == 140 and pairs.types() == 19
    assert units.most_common(5) == [("_", 33), ("e", 28), ("s", 15), ("a", 12), ("t", 11)]
    for tie in ("first", "id"):
        trace = BPE.train_trace(RHYME, 50, tie=tie, end="_")
        merges = [(s.values["pair"], s.values["count"]) for s in trace]
        assert merges[:2] == [(("s", "e"), 13), (("e", "_"), 12)]
        assert {m for m in merges[2:4]} == {(("a", "_"), 7), (("se", "e_"), 7)}
        assert merges[4] == (("se", "a_"), 6)
        types = [s.values["types"] for s in trace]
        assert types[:3] == [20, 21, 22] and types[4] == 23
        assert max(types) == TYPES[tie] and types[-1] == 18 and len(trace) == 50
        assert [s.values["vocabulary"] for s in trace] == list(range(20, 70))  # it only grows
        assert trace[21].values["tokens"] == 61 and trace[-1].values["tokens"] == 33
        assert trace.result.encode("sea see") == ["sea_", "see_"]


def test_counts_of_the_pair_table_are_of_the_text() -> None:
    trace = BPE.train_trace(RHYME, 30, end="_")
    words = Counter(t.presplit(RHYME, "word", "_"))
    for step in trace:

        def count(pair):
            return sum(n for w, n in words.items() for p in itertools.pairwise(w) if p == pair)  # noqa: B023

        assert step.values["count"] == count(step.values["pair"]) == max(map(count, all_pairs(words)))
        assert [c for _, c in step.values["table"]] == [count(p) for p, _ in step.values["table"]]
        joined = Counter()
        for w, n in words.items():
            joined[t.merge(w, step.values["pair"])] += n
        words = joined
        assert step.values["after"] == [count(p) for p, _ in step.values["table"]]
        assert step.values["tokens"] == sum(len(w) * n for w, n in words.items())
    # the pairs of s and e drop when "se" appears
    contracts.trace_replays(lambda seed: BPE.train_trace(RHYME, 10, end="_"))


def all_pairs(words):
    return {p for w in words for p in itertools.pairwise(w)}


# --- Classic corpus, replay -----------------------------------------------------------------------


def test_classic_merges_and_words_never_seen() -> None:
    trace = BPE.train_trace(CLASSIC, 10)
    assert ["".join(s.values["pair"]) for s in trace] == [
        "es", "est", "est</w>", "lo", "low", "ne", "new", "newest</w>", "low</w>", "wi"
    ]  # fmt: skip
    assert [s.values["count"] for s in trace] == [9, 9, 9, 7, 7, 6, 6, 6, 5, 3]
    bpe = trace.result
    assert bpe == BPE.train(CLASSIC, 10)
    assert bpe.encode("lowest") == ["low", "est</w>"]
    assert bpe.encode("newer") == ["new", "e", "r", "</w>"]
    assert bpe.encode("wide") == ["wi", "d", "e", "</w>"]
    assert bpe.encode("zoo")[0] == "z" and bpe.ids(["z"]) == [-1]  # characters can be unknown
    assert bpe.tree("est</w>") == [("est", "</w>"), ("es", "t"), ("e", "s")] and bpe.tree("e") == []


def test_encoding_replays_merges_it_does_not_take_the_longest() -> None:
    bpe = BPE(list("abcd"), [("b", "c"), ("a", "b"), ("c", "d")])
    assert bpe.encode_word(tuple("abcd")) == ("a", "bc", "d")
    runs = BPE(["a"], [("a", "a")])
    assert runs.encode_word(tuple("aaa")) == ("aa", "a")
    assert runs.encode_word(tuple("aaaaa")) == ("aa", "aa", "a")
    assert BPE.counts("aaa", end="_").counts[("a", "a")] == 2  # each adjacent pair counts


@pytest.mark.parametrize("kind", ["word", "byte"])
def test_encoding_is_the_replay_of_all_merges_in_order(kind) -> None:
    bpe = BPE.train(RHYME * 2, 60, kind)
    for text in (RHYME, "the seashore has all that could be", "see\n\n  sea!"):
        words = t.presplit(text, kind)
        for pair in bpe.merges:
            words = [t.merge(word, pair) for word in words]
        assert bpe.encode(text) == [u for word in words for u in word]
    half = bpe.first(30)
    assert half.merges == bpe.merges[:30] and len(half.encode(RHYME)) > len(bpe.encode(RHYME))


# --- Bytes ----------------------------------------------------------------------------------------


def test_bytes_give_back_every_text() -> None:
    bpe = BPE.train(RHYME + " a café costs 3 € 😀", 40, "byte")
    assert len(bpe.vocabulary) == 256 + 40
    rng = random.Random(0)
    texts = ["", "café", "€", "😀", "a   b\n\n\n  c  ", "it's we'll _x_ 12½ ²", "\x00\x85 \u2028"]
    alphabet = "abé€😀 \n\t'½_x٣中"
    texts += ["".join(rng.choice(alphabet) for _ in range(rng.randint(0, 40))) for _ in range(200)]
    for text in texts:
        tokens = bpe.encode(text)
        assert bpe.decode(tokens) == text and -1 not in bpe.ids(tokens)
    assert [len(t.as_bytes(s)) for s in ("café", "€", "😀")] == [5, 3, 4]
    assert t.from_bytes(t.as_bytes("😀")[:2]) == "\ufffd"
    # joined texts may merge across the seam, but not where the pre-split has a border
    assert bpe.encode(" se" + "e") != bpe.encode(" se") + bpe.encode("e")
    assert bpe.encode("sea" + " sea") == bpe.encode("sea") + bpe.encode(" sea")


def test_ascii_has_128_codes_bytes_256_and_pieces_without_marks_do_not_decode() -> None:
    assert len({chr(i) for i in range(256) if chr(i).isascii()}) == 128 and len(set(t.BYTES)) == 256
    assert "é" not in {chr(i) for i in range(128)}
    joined, apart = ["I", "am", "drink", "ing", "coffee"], ["I", "am", "drinking", "coffee"]
    assert "".join(joined) == "".join(apart)  # spaces are lost: two texts, one string
    bpe = BPE.train("I am drinking coffee . drink ing", 20)
    assert (
        bpe.decode(bpe.encode("I am drinking")) == "I am drinking" != bpe.decode(bpe.encode("I am drink ing"))
    )


# --- WordPiece ------------------------------------------------------------------------------------


def test_wordpiece() -> None:
    vocabulary = ["un", "u", "aff", "##n", "##aff", "##able", "##a", "##b", "##l", "##e", "##f"]
    assert subwords.wordpiece_encode("unaffable", vocabulary) == ["un", "##aff", "##able"]
    assert subwords.wordpiece_encode("unaffordable", vocabulary) == ["[UNK]"]
    words = {subwords.wordpiece_start(w): n for w, n in CLASSIC.items()}
    scores = subwords.wordpiece_scores(words)
    assert scores["w", "##i"] == scores["##i", "##d"] == max(scores.values()) == pytest.approx(1 / 3)
    assert "wi" in subwords.wordpiece_train(CLASSIC, 1) or "##id" in subwords.wordpiece_train(CLASSIC, 1)
    assert BPE.train(CLASSIC, 1).merges == [("e", "s")]  # another criterion, another merge
    learned = subwords.wordpiece_train(CLASSIC, 40)
    assert all(subwords.wordpiece_encode(word, learned) == [word] for word in CLASSIC)
    assert subwords.wordpiece_encode("lows", learned)[0] == "low"


# --- The unigram model ----------------------------------------------------------------------------

PIECES = {"u": 0.1, "n": 0.1, "h": 0.05, "a": 0.1, "p": 0.05, "y": 0.05, "un": 0.12, "hap": 0.06,
          "happy": 0.15, "py": 0.08, "unhappy": 0.001}  # fmt: skip


def probability(pieces) -> float:
    p = 1.0
    for piece in pieces:
        p *= PIECES[piece]
    return p


def test_unigram() -> None:
    ways = sorted(subwords.segmentations("unhappy", PIECES), key=probability, reverse=True)
    assert len(ways) == 11
    assert ways[:3] == [("un", "happy"), ("u", "n", "happy"), ("unhappy",)]
    assert [probability(w) for w in ways[:3]] == pytest.approx([0.018, 0.0015, 0.001])
    pieces, log_p = subwords.viterbi("unhappy", PIECES)
    assert tuple(pieces) == ways[0] and 2.718281828459045**log_p == pytest.approx(0.018)
    total = subwords.marginal("unhappy", PIECES)
    assert total == pytest.approx(0.0211462, abs=5e-8) == pytest.approx(sum(map(probability, ways)))
    assert 0.018 / total == pytest.approx(0.8512175, abs=5e-8)
    rng = random.Random(0)
    for _ in range(100):
        word = "".join(rng.choice("unhapy") for _ in range(rng.randint(1, 9)))
        every = list(subwords.segmentations(word, PIECES))
        best, _ = subwords.viterbi(word, PIECES)
        assert probability(best) == pytest.approx(max(map(probability, every)))
        assert subwords.marginal(word, PIECES) == pytest.approx(sum(map(probability, every)))
    assert subwords.viterbi("unz", PIECES)[0] == [] and subwords.marginal("unz", PIECES) == 0


def test_unigram_training_raises_the_likelihood_and_keeps_what_it_needs() -> None:
    corpus = Counter(RHYME.split())
    p = {c: 1.0 for w in corpus for c in w} | {w: 0.1 for w in corpus}
    p = {piece: v / sum(p.values()) for piece, v in p.items()}
    before = -float("inf")
    for _ in range(6):  # EM never decreases the likelihood
        counts, log_p = subwords.expected_counts(corpus, p)
        assert log_p >= before - 1e-12
        by_hand = sum(n * math.log(subwords.marginal(w, p)) for w, n in corpus.items())
        assert log_p == pytest.approx(by_hand)
        before, p = log_p, {piece: c / sum(counts.values()) for piece, c in counts.items()}
    letters = set("".join(corpus))
    for size in (40, 25):
        trained = subwords.unigram_train(corpus, size)
        assert len(letters) < len(trained) <= size and letters <= trained.keys()
        assert sum(trained.values()) == pytest.approx(1)
    assert all(subwords.viterbi(word, trained)[0] for word in corpus)
    assert subwords.viterbi("sea", subwords.unigram_train(corpus, 40))[0] == ["sea"]


# --- the library ----------------------------------------------------------------------------------


def library(text: str, merges: int):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    peer = Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=256 + merges, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
        special_tokens=[],
    )  # fmt: skip
    peer.train_from_iterator([text], trainer)
    return peer


def library_alphabet() -> list[str]:
    from tokenizers import pre_tokenizers

    return pre_tokenizers.ByteLevel.alphabet()


def test_every_merge_is_the_librarys() -> None:
    text = Path(t.__file__).read_text()
    ours, peer = BPE.train(text, 250, "byte", "id"), library(text, 250)
    letters = dict(zip(t.BYTES, sorted(library_alphabet()), strict=True))
    theirs = [tuple(pair) for pair in json.loads(peer.to_str())["model"]["merges"]]
    assert [tuple("".join(letters[c] for c in unit) for unit in pair) for pair in ours.merges] == theirs
    for other in (text, Path(__file__).read_text(), "I'll see 12 seas, won't I?  Yes!\n\n\tcafé 😀 _x_"):
        assert ours.ids(ours.encode(other)) == peer.encode(other).ids


@pytest.mark.real_data
def test_tiny_shakespeare(real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes a token against the vocabulary, with the pre-split that the published numbers used."""
    text = (real_data("tinyshakespeare") / "tinyshakespeare" / "input.txt").read_text()
    text = text[: int(len(text) * 0.9)]
    monkeypatch.setattr(t, "PRESPLIT", re.compile(r" ?\w+|[^\w\s]+|\s+"))
    pairs, learned, lengths = BPE.counts(text, "byte"), [], {}
    for merges in range(1, 245):
        pair, _ = pairs.best("first")
        pairs.merge(pair)
        learned.append(pair)
        if merges in (100, 244):
            lengths[merges] = pairs.tokens()
    assert learned[:5] == [(" ", "t"), ("h", "e"), (" ", "a"), ("o", "u"), (" ", "s")]
    assert lengths[100] == 614_528 and len(text.encode()) == 1_003_854
    assert 1_003_854 / lengths[244] == pytest.approx(1.938, abs=5e-4)
