"""Pairs of sentences in two languages, and the byte pairs that both share."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from datamodules import multi30k
from datamodules.tokenizer import SentenceTokenizer, Tokenizer
from datamodules.translation import SentencePairs, Translation

TEXTS = {
    ("train", "de"): ["Ein Hund läuft.", "Zwei Hunde laufen."], ("val", "de"): ["Ein Hund."],
    ("train", "en"): ["A dog runs.", "Two dogs run."], ("val", "en"): ["A dog."],
}  # fmt: skip


def test_a_batch_is_cut_to_its_longest_sentences() -> None:
    pairs = SentencePairs([[5], [6, 7, 8], [6, 7]], [[9, 9, 9], [9], [9, 8]])
    source, lengths, inputs, targets = pairs[torch.tensor([2, 0])]
    assert source.tolist() == [[6, 7], [5, 0]] and lengths.tolist() == [2, 1]
    assert inputs.tolist() == [[0, 9, 8, 0], [0, 9, 9, 9]]
    assert targets.tolist() == [[9, 8, 1, -100], [9, 9, 9, 1]]


def test_ends_come_before_the_bytes_and_no_text_spells_them() -> None:
    text = ["<bos> ein Mädchen <eos>", "ein Mann"] * 3
    coder = SentenceTokenizer.train(text, 270)
    assert len(coder) == 270 and coder.tokens[:2] == ["<bos>", "<eos>"]
    for line in text:
        ids = coder.encode(line)
        assert min(ids) > 1 and coder.decode([0, *ids, 1]) == line
    again = Tokenizer.from_dict(coder.to_dict())
    assert again.encode(text[0]) == coder.encode(text[0]) and again.tokens == coder.tokens
    with pytest.raises(ValueError, match="256 bytes"):
        SentenceTokenizer.train(text, 257)


def test_both_languages_share_the_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multi30k, "sentences", lambda split, language="en": TEXTS[split, language])
    data = Translation("de", "en", vocab_size=280, batch_size=2)
    back = Translation("en", "de", vocab_size=280)
    data.setup("fit")
    ((source, lengths, inputs, targets),) = data.val_dataloader()
    coder = Tokenizer.from_dict(data.describe()["tokenizer"])
    assert coder.to_dict() == back.tokenizer.to_dict() and data.sizes == {"vocab_size": 280}
    assert coder.decode(source[0, : lengths[0]]) == "Ein Hund." and coder.decode(targets[0]) == "A dog."
    assert coder.decode(inputs[0]) == "A dog." and (inputs[0, 0], targets[0, -1]) == (0, 1)
    assert {" Hund", " dog"} <= {*coder.tokens}  # pieces of both training texts
    for wrong, sentence in (
        ({"source": "en"}, "both 'en'"), ({"target": "es"}, "target is 'es'"),
        ({"vocab_size": 257}, "vocab_size"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=sentence):
            Translation(**wrong)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("source", "target", "longest"),
    [("de", "en", (44, 38)), ("en", "fr", (36, 47))],
)
def test_multi30k(
    source: str, target: str, longest: tuple[int, int],
    real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("LECTERN_DATA", str(real_data("multi30k")))
    real_data("multi30k-de" if source == "de" else "multi30k-fr")
    data = Translation(source, target)  # type: ignore[arg-type]
    data.prepare_data()
    sizes = [len(lines) for split in ("train", "val", "test") for lines in data.texts(split)]
    assert sizes == [29_000, 29_000, 1014, 1014, 1000, 1000]
    data.setup("test")
    pairs, coder = data.test_set, data.tokenizer
    assert (pairs.source.shape[1], pairs.target.tokens.shape[1]) == longest and len(coder) == 5000
    # every test sentence comes back as it was written
    decoded = [coder.decode(row) for row in data.test_set.target.tokens]
    assert decoded == data.texts("test")[1]
