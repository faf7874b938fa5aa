"""The sentences of Multi30k as words, and the word tokenizer."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from datamodules import multi30k
from datamodules.multi30k import Multi30k, Sentences
from datamodules.tokenizer import Tokenizer, WordTokenizer, words


def test_words() -> None:
    assert words("A man's hat, isn't it?") == ["a", "man", "'", "s", "hat", ",", "isn", "'", "t", "it", "?"]


def test_word_tokenizer() -> None:
    coder = WordTokenizer.train(["The cat sat.", "the dog", "A cat"], min_count=2)
    assert coder.tokens == ["<bos>", "<eos>", "<unk>", "the", "cat"]
    assert coder.encode("The CAT barks") == [3, 4, 2]
    assert coder.decode([0, 3, 4, 2, 1]) == "the cat <unk>"
    again = Tokenizer.from_dict(coder.to_dict())
    assert isinstance(again, WordTokenizer) and again.encode("the dog") == coder.encode("the dog") == [3, 2]
    with pytest.raises(ValueError, match="behind"):
        WordTokenizer(["the", "cat"])
    with pytest.raises(ValueError, match="different"):
        WordTokenizer([*WordTokenizer.SPECIAL, "the", "the"])


def test_a_batch_is_cut_to_its_longest_sentence() -> None:
    split = Sentences([[3, 4], [5, 6, 7, 8], [3]])
    tokens, targets = split[torch.tensor([0, 2])]
    assert tokens.tolist() == [[0, 3, 4], [0, 3, 0]]
    assert targets.tolist() == [[3, 4, 1], [3, 1, -100]]
    assert split[torch.tensor([1])][1].tolist() == [[5, 6, 7, 8, 1]]


def test_unknown_words_come_from_training_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"train": ["a cat .", "a dog .", "a cat"], "val": ["a bird ."], "test": ["a dog"]}
    monkeypatch.setattr(multi30k, "sentences", texts.__getitem__)
    data = Multi30k(min_count=2, batch_size=3)
    data.setup()
    assert data.tokenizer.tokens[3:] == ["a", ".", "cat"] or data.tokenizer.tokens[3:] == ["a", "cat", "."]
    assert data.sizes == {"vocab_size": 6}
    ((tokens, targets),) = data.val_dataloader()
    assert targets[0].tolist() == [3, 2, data.tokenizer.encode(".")[0], 1] and tokens[0, 0] == 0
    card = data.describe()
    assert Tokenizer.from_dict(card["tokenizer"]).encode("a cat") == data.tokenizer.encode("a cat")
    with pytest.raises(ValueError, match="min_count"):
        Multi30k(min_count=0)
    # the same predictions as pairs of a context and the word after it
    pairs = Multi30k(min_count=2, batch_size=10, context=2)
    pairs.setup()
    ((contexts, words),) = pairs.val_dataloader()
    a, stop = data.tokenizer.encode("a .")
    assert contexts.tolist() == [[0, 0], [0, a], [a, 2], [2, stop]] and words.tolist() == [a, 2, stop, 1]
    with pytest.raises(ValueError, match="context is 0"):
        Multi30k(context=0)


@pytest.mark.real_data
def test_multi30k(real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("multi30k")))
    data = Multi30k(min_count=1)
    assert data.sizes == {"vocab_size": 9779 + 3}
    data.setup("fit")
    assert len(data.train_set) == 29_000 and len(data.val_set) == 1014
    _, targets = data.train_set[torch.arange(29_000)]
    assert int((targets != -100).sum()) == 380_728 + 29_000
    assert Multi30k(min_count=2).sizes == {"vocab_size": 5894 + 3}
    test = [w for s in multi30k.sentences("test") for w in data.tokenizer.encode(s)]
    assert test.count(WordTokenizer.UNKNOWN) / len(test) == pytest.approx(0.0102, abs=5e-5)
    packed = real_data("multi30k") / "multi30k" / "train.en.gz"
    assert gzip.decompress(packed.read_bytes()).count(b"\n") == 29_000
