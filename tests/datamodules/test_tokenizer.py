"""Tokenizers: there and back, through a card, and what they say to bad input."""

import json
import math
import random

import pytest
import torch

from datamodules.tokenizer import (
    ASCII,
    BPETokenizer,
    ByteTokenizer,
    CharTokenizer,
    Tokenizer,
    UnigramTokenizer,
    WordPieceTokenizer,
)

TEXT = (
    "To be, or not to be: that is the question.\n\n  Ünïcödé 日本 🙂, tabs\tand\r\nreturns.\n"
    "## [UNK] a##b ‿\n" * 20
)


def tokenizers() -> list[Tokenizer]:
    return [
        CharTokenizer(sorted(set(TEXT))), ByteTokenizer(), BPETokenizer.train(TEXT, 300),
        WordPieceTokenizer.train(TEXT, 150), UnigramTokenizer.train(TEXT, 280),
    ]  # fmt: skip


@pytest.mark.parametrize("tokenizer", tokenizers(), ids=lambda t: t.kind)
def test_there_and_back(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode(TEXT)
    assert tokenizer.decode(ids) == TEXT
    assert tokenizer.decode(torch.tensor(ids)) == TEXT
    assert max(ids) < len(tokenizer) == len(tokenizer.tokens)
    assert tokenizer.encode("") == [] and tokenizer.decode([]) == ""
    # a piece of text means the same alone
    assert tokenizer.decode(tokenizer.encode("be: that")) == "be: that"


@pytest.mark.parametrize("tokenizer", tokenizers(), ids=lambda t: t.kind)
def test_travels_in_a_card(tokenizer: Tokenizer) -> None:
    card = json.loads(json.dumps(tokenizer.to_dict()))
    twin = Tokenizer.from_dict(card)
    assert type(twin) is type(tokenizer)
    assert twin.tokens == tokenizer.tokens
    assert twin.encode(TEXT) == tokenizer.encode(TEXT)


@pytest.mark.parametrize("tokenizer", tokenizers(), ids=lambda t: t.kind)
@pytest.mark.parametrize("token", [-1, 300])
def test_numbers_outside_the_vocabulary(tokenizer: Tokenizer, token: int) -> None:
    with pytest.raises(
        ValueError, match=f"Token {token} is not in the vocabulary of {len(tokenizer)} tokens"
    ):
        tokenizer.decode([0, token])


def test_unknown_character_is_named() -> None:
    tokenizer = CharTokenizer(ASCII)
    with pytest.raises(ValueError, match=r"The character 'é' \(U\+00E9\) is not in the vocabulary") as error:
        tokenizer.encode("café")
    assert "\n" not in str(error.value)
    many = CharTokenizer(chr(c) for c in range(0x4E00, 0x4F00))
    with pytest.raises(ValueError, match="256 characters"):
        many.encode("a")


def test_bytes() -> None:
    tokenizer = ByteTokenizer()
    assert tokenizer.encode("é") == [0xC3, 0xA9]
    assert tokenizer.tokens[65] == "A" and tokenizer.tokens[0xC3] == "\\xC3"
    assert tokenizer.decode([0xC3]) == "\ufffd"  # half a character, as a sample may break off


def test_bpe_merges_the_most_frequent_pair_first() -> None:
    tokenizer = BPETokenizer.train("ab" * 50 + " " + "cd" * 20, 258)
    assert tokenizer.tokens[256:] == ["ab", "abab"]  # 50 times, then 25 against 20 of cd
    assert len(tokenizer.encode("abab")) < 4
    assert sorted(tokenizer.tokens[:256]) == sorted(ByteTokenizer().tokens)


def test_bpe_by_hand() -> None:
    """Counted by hand: 'low' 5 times, 'lower' 2, 'newest' 6, 'widest' 3 (Sennrich et al. 2016, with
    the space as the head of a word instead of a mark at its end)."""
    words = " ".join(["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3)
    tokenizer = BPETokenizer.train(" " + words, 259)
    # es: 9 times; est: 9 times; then ' l', 'lo' and 'ow': 7 times each
    assert tokenizer.tokens[256:258] == ["es", "est"]
    assert tokenizer.tokens[258] in {" l", "lo", "ow"}


def test_bpe_is_deterministic_and_shortens() -> None:
    random.seed(0)
    text = " ".join(random.choice(["alpha", "beta", "gamma", "delta"]) for _ in range(2000))
    first, second = BPETokenizer.train(text, 270), BPETokenizer.train(text, 270)
    assert first.to_dict() == second.to_dict()
    assert len(first) == 270
    assert len(first.encode(text)) < len(text) / 2.5


@pytest.mark.parametrize("kind", [WordPieceTokenizer, UnigramTokenizer])
def test_the_librarys_hashes_decide_nothing(kind: type[WordPieceTokenizer] | type[UnigramTokenizer]) -> None:
    first, *others = (kind.train(TEXT, 290).to_dict() for _ in range(4))
    assert all(first == other for other in others)


def test_a_word_that_does_not_divide_is_one_unknown() -> None:
    tokenizer = WordPieceTokenizer.train("unhappy unable happy able " * 9, 60)
    assert tokenizer.tokens[0] == "[UNK]" and tokenizer.unknown == 0
    assert tokenizer.encode("unhappily able") == [0, *tokenizer.encode(" able")]  # no i in training
    assert 0 not in tokenizer.encode("unha peable")
    assert tokenizer.decode([0]) == "\ufffd"
    pieces = [tokenizer.tokens[i] for i in tokenizer.encode("unable")]
    assert not pieces[0].startswith("##") and "".join(p.removeprefix("##") for p in pieces) == "unable"


def test_unigram_pieces_have_probabilities() -> None:
    text = "the cat and the hat and the bat sat. " * 40
    every, result = UnigramTokenizer.train(text, 300), UnigramTokenizer.train(text, 40, every_byte=False)
    assert every.unknown is None and every.decode(every.encode("zoë 🙂")) == "zoë 🙂"
    assert (
        result.unknown == 0
        and 0 in result.encode("zoo")
        and result.decode(result.encode("the bat")) == "the bat"
    )
    for tokenizer, first in ((every, 0), (result, 1)):
        log_probs = tokenizer.log_probs[first:]
        assert log_probs == sorted(log_probs, reverse=True) and len(log_probs) == len(tokenizer) - first
    assert sum(math.exp(v) for v in result.log_probs[1:]) == pytest.approx(1, abs=0.1)
    small = UnigramTokenizer.train(["€", "5", "ab"], 2, every_byte=False)  # its six bytes stay all the same
    assert len(small) == 7 and small.decode(small.encode("a€5")) == "a€5"
    unseen = [every.log_probs[every.tokens.index(c)] for c in "XYZ"]
    assert len(set(unseen)) == 1  # of bytes never seen none is likelier than another


def test_bad_vocabularies() -> None:
    with pytest.raises(ValueError, match="at least the 256 bytes"):
        UnigramTokenizer.train(TEXT, 255)
    with pytest.raises(ValueError, match="at least the 256 bytes"):
        BPETokenizer.train(TEXT, 100)
    with pytest.raises(ValueError, match="different single characters"):
        CharTokenizer(["a", "a"])
    for card in ({}, {"kind": "word"}, {"kind": "char"}, {"kind": "bpe", "model": {"x": 1}}, {"kind": "bpe"}):
        with pytest.raises(ValueError, match="tokenizer"):
            Tokenizer.from_dict(card)
