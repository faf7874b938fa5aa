"""Tokens of a published BERT, and running text that is hidden and paired under them."""

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers

from datamodules.masked_text import MaskedText
from datamodules.tokenizer import BertTokenizer, EncoderTokenizer, MaskTokenizer, Tokenizer, words

LETTERS = [chr(c) for c in range(97, 123)]
PIECES = [
    "[PAD]", *LETTERS, *(f"##{c}" for c in LETTERS), ".", "!", "[", "]", "<", ">", "[UNK]", "[CLS]", "[SEP]",
    "[MASK]", "the", "cat", "##s",
]  # fmt: skip
PIECES = list(dict.fromkeys(PIECES))


def library(pieces: list[str], **more: Any) -> str:
    """JSON of a WordPiece as a BERT has it."""
    made = tokenizers.Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.enable_truncation(4)
    made.enable_padding(length=9, pad_token="[PAD]")
    made.add_special_tokens(["[CLS]", "[SEP]", "[MASK]"])
    return json.dumps(json.loads(made.to_str()) | more)


CODER = BertTokenizer(library(PIECES))


@given(st.text(alphabet=st.sampled_from("abcxyzABC .!<>[]é日\n"), max_size=40))
def test_there_and_back_up_to_case_spaces_and_the_unknown(text: str) -> None:
    ids = CODER.encode(text)
    assert all(0 <= i < len(CODER) for i in ids) and CODER.MASK not in ids
    again = CODER.decode(ids)
    assert CODER.encode(again.replace("[UNK]", "日")) == ids
    if not any(c in text for c in "é日"):
        assert words(again) == words(text)
    whole = CODER.encode_parts(text, "cat")
    assert whole == [CODER.CLS, *ids, CODER.SEP, *CODER.encode("cat"), CODER.SEP]
    assert CODER.decode(torch.tensor(whole)) == f"{again} cat".strip()


def test_masks_and_marks() -> None:
    assert CODER.encode("the <mask> cats[mask]") == [
        CODER.tokens.index(piece) for piece in ("the", "[MASK]", "cat", "##s", "[MASK]")
    ]
    assert CODER.decode(CODER.encode("the [CLS] cats")) == "the [ cls ] cats", "what spells [CLS] is text"
    assert len(CODER.encode("cat " * 50)) == 50, "nothing is cut or filled up"
    assert CODER.encode("") == [] and CODER.decode([]) == "" and CODER.encode("日") == [CODER.UNKNOWN]
    assert sorted(CODER.special) == sorted(CODER.tokens.index(name) for name in CODER.SPECIAL)
    twin = Tokenizer.from_dict(json.loads(json.dumps(CODER.to_dict())))
    assert type(twin) is BertTokenizer and twin.tokens == CODER.tokens
    assert twin.encode("the cats [MASK]") == CODER.encode("the cats [MASK]") and twin.special == CODER.special
    with pytest.raises(ValueError, match=f"Token {len(CODER)} is not in the vocabulary"):
        CODER.decode([len(CODER)])


def test_words_that_were_added_are_pieces() -> None:
    added = {
        "id": len(PIECES), "content": "lectern", "single_word": False, "lstrip": False, "rstrip": False,
        "normalized": False, "special": False,
    }  # fmt: skip
    coder = BertTokenizer(library(PIECES, added_tokens=[added]))
    assert coder.encode("the lectern") == [coder.tokens.index("the"), len(PIECES)]


def test_what_is_no_tokenizer_of_a_bert_is_refused() -> None:
    with pytest.raises(ValueError, match="no token \\[PAD\\]"):
        BertTokenizer(library(PIECES[1:]))
    given = json.loads(library(PIECES))
    given["model"]["vocab"]["cat"] = 10**6
    with pytest.raises(ValueError, match="gaps"):
        BertTokenizer(json.dumps(given))
    given["model"]["continuing_subword_prefix"] = "@@"
    with pytest.raises(ValueError, match="##"):
        BertTokenizer(json.dumps(given))
    for model in ({}, {"model": 3}, {"model": {"type": "BPE"}}):
        with pytest.raises(ValueError, match="tokenizer"):
            Tokenizer.from_dict({"kind": "bert", "model": model})


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "own.txt"
    path.write_text("the cat sat on a mat . a cat ran to the cats . once " * 100)
    return path


@pytest.fixture
def coder(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_text(library(PIECES))
    return path


@pytest.mark.parametrize("kind", ["word", "bert"])
def test_rows_go_through_the_text_once_and_have_two_parts(text: Path, coder: Path, kind: str) -> None:
    data = MaskedText(str(text), "word" if kind == "word" else str(coder), context=16, batch_size=8, seed=1)
    data.setup()
    own: MaskTokenizer = data.tokenizer
    assert isinstance(own, EncoderTokenizer if kind == "word" else BertTokenizer)
    ids = own.encode(data.source.split_text("test"))
    read, targets, pair, replaced = data.test_set[torch.arange(len(data.test_set))]
    assert read.shape[1] == 16 and (replaced == -100).all()
    whole = read.where(targets == -100, targets)
    rows = [[i for i in row.tolist() if i not in (own.CLS, own.SEP, own.PAD)] for row in whole[pair == 0]]
    pieces = [ids[i : i + 13] for i in range(0, len(ids), 13)]
    true = [piece for piece, label in zip(pieces, pair.tolist(), strict=False) if label == 0]
    assert rows == true and 0 < len(rows) < len(pieces)
    assert (whole[:, 0] == own.CLS).all() and ((whole == own.SEP).sum(1) == 2).all()
    special = torch.isin(whole, torch.tensor(own.special))
    assert (targets[special] == -100).all() and (read == own.MASK).any()
    assert not torch.isin(read[(read != whole) & (read != own.MASK)], torch.tensor(own.special)).any()
    assert data.sizes == {"vocab_size": len(own), "tasks": ["masked", "next"]}
    first = data.train_set[torch.arange(4)][0]
    data.train_set.set_epoch(1)  # type: ignore[attr-defined]
    assert not torch.equal(first, data.train_set[torch.arange(4)][0])
    assert Tokenizer.from_dict(json.loads(json.dumps(data.describe()))["tokenizer"]).tokens == own.tokens


def test_bad_arguments_get_a_sentence(text: Path, tmp_path: Path) -> None:
    for wrong, words_ in (
        ({"tokenizer": "char"}, "must be word, or the path"),
        ({"tasks": []}, "tasks is"),
        ({"tasks": ["next", "order"]}, "one of them"),
        ({"rate": 1.0}, "rate is"),
        ({"context": 4}, "context is 4"),
    ):
        with pytest.raises(ValueError, match=words_):
            MaskedText(str(text), **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no tokenizer of a BERT"):
        _ = MaskedText(str(text), str(tmp_path / "none.json")).tokenizer
    for nothing in ("", " ".join(f"word{i}" for i in range(4000))):
        text.write_text(nothing)
        with pytest.raises(ValueError, match="No word comes twice"):
            MaskedText(str(text)).setup()
