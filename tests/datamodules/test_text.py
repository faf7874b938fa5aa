"""Corpora, splits and windows."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from datamodules import multi30k, pydocs
from datamodules.base import BatchShard
from datamodules.text import Text
from datamodules.tokenizer import Tokenizer


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.txt"
    path.write_text("".join(chr(97 + i * i % 26) + (" " if i % 5 == 0 else "") for i in range(2503)))
    return path


def ready(**knobs: Any) -> Text:
    data = Text(**knobs)
    data.prepare_data()
    data.setup()
    return data


@pytest.mark.parametrize("tokenizer", ["char", "byte", "bpe", "wordpiece", "unigram"])
def test_evaluation_predicts_every_token_once(own: Path, tokenizer: Any) -> None:
    data = ready(corpus=str(own), tokenizer=tokenizer, context=16, batch_size=3, bpe_vocab_size=270)
    for split, loader in (("val", data.val_dataloader()), ("test", data.test_dataloader())):
        ids = data.tokenizer.encode(data.split_text(split))  # type: ignore[arg-type]
        batches = list(loader)
        assert len(batches) == len(loader)
        tokens = torch.cat([t.flatten() for t, _ in batches])
        targets = torch.cat([t.flatten() for _, t in batches])
        assert tokens.tolist() == ids[:-1]
        assert targets.tolist() == ids[1:]
        assert all(t.shape[1] == 16 for t, _ in batches[:-1])


@pytest.mark.parametrize("length", [20 * 16 + 1, 20 * 17, 20 * 30])
@pytest.mark.parametrize("world", [1, 2, 3])
def test_processes_share_the_evaluation(tmp_path: Path, length: int, world: int) -> None:
    path = tmp_path / "own.txt"
    path.write_text("abcdefghij" * (length // 10) + "abcdefghij"[: length % 10])
    whole = list(ready(corpus=str(path), context=4, batch_size=3).val_dataloader())
    alone = [row.tolist() for _, targets in whole for row in targets]
    results = []
    for rank in range(world):
        data = ready(corpus=str(path), context=4, batch_size=3)
        data.trainer = type("Trainer", (), {"global_rank": rank, "world_size": world})()
        batches = list(data.val_dataloader())
        assert len(batches) == len(data.val_dataloader()) == len(whole)  # they wait for each other
        for batch in batches:
            (_, targets), weight = batch if isinstance(batch, BatchShard) else (batch, 1)
            results += [row.tolist() for row in targets] if weight else []
    assert sorted(results) == sorted(alone)
    assert sum(map(len, alone)) == len(data.split_text("val")) - 1


def test_targets_are_one_token_further(own: Path) -> None:
    data = ready(corpus=str(own), context=8, batch_size=5, windows_per_epoch=50)
    text = data.split_text("train")
    batches = list(data.train_dataloader())
    assert len(batches) == 10
    for tokens, targets in batches:
        assert tokens.shape == targets.shape == (5, 8)
        assert tokens.dtype == targets.dtype == torch.int64
        for window, further in zip(tokens, targets, strict=True):
            assert data.tokenizer.decode(window)[1:] == data.tokenizer.decode(further)[:-1]
            assert data.tokenizer.decode(window) + data.tokenizer.decode(further[-1:]) in text


def test_training_reaches_every_start(own: Path) -> None:
    data = ready(corpus=str(own), context=8, batch_size=1)
    first, last = data.train_set[torch.tensor([0, len(data.train_set) - 1])][1]
    ids = data.tokenizer.encode(data.split_text("train"))
    assert first.tolist() == ids[1:9] and last.tolist() == ids[-8:]


def test_epochs_differ_and_repeat(own: Path) -> None:
    def epoch(number: int) -> torch.Tensor:
        data = ready(corpus=str(own), context=8, batch_size=10, windows_per_epoch=100)
        loader = data.train_dataloader()
        loader.sampler.set_epoch(number)  # type: ignore[attr-defined]
        return torch.cat([tokens for tokens, _ in loader])

    assert epoch(0).shape == (100, 8)
    assert not torch.equal(epoch(0), epoch(1))
    assert torch.equal(epoch(1), epoch(1))


def test_splits_are_apart(own: Path) -> None:
    data = ready(corpus=str(own), context=8)
    assert "".join(data.split_text(s) for s in ("train", "val", "test")) == data.text  # type: ignore[arg-type]
    assert data.split_text("train") + data.held_out == data.text


def test_describe_lets_the_tokenizer_travel(own: Path) -> None:
    data = ready(corpus=str(own), tokenizer="bpe", bpe_vocab_size=260, context=8)
    card = data.describe()
    assert card["sha256"] == hashlib.sha256(own.read_bytes()).hexdigest()
    assert Tokenizer.from_dict(card["tokenizer"]).encode("abc") == data.tokenizer.encode("abc")
    assert data.sizes == {"vocab_size": len(data.tokenizer)} == {"vocab_size": 260}


def test_a_token_is_so_many_bytes(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("é" * 1000)
    card = ready(corpus=str(path), context=4).describe()
    assert card["bytes_per_token"] == {"val": 2.0, "test": 2.0}
    assert ready(corpus=str(path), tokenizer="byte", context=4).bytes_per_token("train") == 1.0
    bpe = ready(corpus=str(path), tokenizer="bpe", bpe_vocab_size=258, context=4)
    assert bpe.bytes_per_token("train") == 4.0  # é, then éé


def test_bpe_learns_from_training_alone(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("ab " * 900 + "xyz " * 75)  # the last tenth is all xyz
    tokens = ready(corpus=str(path), tokenizer="bpe", bpe_vocab_size=300, context=4).tokenizer.tokens[256:]
    assert "ab" in tokens and not any("xy" in token for token in tokens)


@pytest.mark.parametrize(
    "content, knobs, match",
    [
        (None, {}, "shakespeare, multi30k, pydocs or the path"),
        (b"\xff\xfe\x00", {}, r"is not UTF-8 text \(byte 0\)"),
        (b"short", {}, "take a longer text or a shorter context"),
        (b"", {}, "take a longer text"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes | None, knobs: dict[str, Any], match: str) -> None:
    path = tmp_path / "own.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=match) as error:
        ready(corpus=str(path), **knobs)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "knobs, match",
    [
        ({"tokenizer": "word"}, "char, byte, bpe, wordpiece, unigram"),
        ({"context": 0}, "context is 0"),
        ({"windows_per_epoch": 0}, "windows_per_epoch is 0"),
    ],
)
def test_bad_arguments(knobs: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Text(**knobs)


# --- the Python documentation -------------------------------------------------------------------


def test_pydocs_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(tmp_path / "nothing"))
    data = ready(corpus="pydocs")
    assert data.embedded and not Text("shakespeare").embedded
    # about 1.2 million characters of a fixed vocabulary, whatever the version of Python
    assert 1_100_000 < len(data.text) < 1_400_000
    assert data.sizes == {"vocab_size": 96}
    assert set(data.text) <= set(data.tokenizer.tokens)
    for phrase in (
        'The "if" statement is used for conditional execution',
        "Command-line parsing library",
    ):
        assert phrase in data.text
    assert not (tmp_path / "nothing").exists()


def test_pydocs_does_not_quote_itself() -> None:
    """A paragraph of the test split that also stands in training would flatter the model."""
    paragraphs = [p.strip() for p in pydocs.text().split("\n\n") if p.strip()]
    assert len(paragraphs) == len(set(paragraphs))


def test_pydocs_order_goes_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document more, as in a newer Python, leaves the order of the others alone."""
    documents = [(f"topic {i}", f"text {i} line\n\nmore {i}") for i in range(1500)]

    def paragraphs(docs: list[tuple[str, str]]) -> list[str]:
        monkeypatch.setattr(pydocs, "_documents", lambda: iter(docs))
        return pydocs.text.__wrapped__().strip().split("\n\n")

    old = paragraphs(documents[:-1])
    new = paragraphs(documents[::-1])
    assert [p for p in new if p in set(old)] == old
    assert len(new) == len(old) + 2


def test_python_without_documentation(monkeypatch: pytest.MonkeyPatch) -> None:
    from datamodules.fetch import MissingData

    monkeypatch.setattr(pydocs, "_documents", lambda: iter([("topic a", "little")]))
    with pytest.raises(MissingData, match="gpt-shakespeare"):
        pydocs.text.__wrapped__()


# --- tiny Shakespeare ---------------------------------------------------------------------------


@pytest.mark.real_data
def test_shakespeare(real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("tinyshakespeare")))
    data = ready(corpus="shakespeare")
    assert len(data.text) == 1_115_394
    assert data.sizes == {"vocab_size": 65}
    # the numbers that nanoGPT's preparation prints
    assert len(data.split_text("train")) == 1_003_854
    assert len(data.held_out) == 111_540
    assert data.tokenizer.tokens[:4] == ["\n", " ", "!", "$"]
    # what picks an epoch (the first half) and what is reported (the second) share no character
    first, last = data.describe()["splits"]["val"], data.describe()["splits"]["test"]
    assert (first, last) == ([1_003_854, 1_059_624], [1_059_624, 1_115_394])
    assert sum(targets.numel() for _, targets in data.val_dataloader()) == 55_769
    assert sum(targets.numel() for _, targets in data.test_dataloader()) == 55_769


def test_captions_keep_their_official_splits(
    real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("multi30k")))
    data = ready(corpus="multi30k", tokenizer="bpe", bpe_vocab_size=300)
    for split, n in {"train": 29_000, "val": 1014, "test": 1000}.items():
        assert data.split_text(split) == "\n".join(multi30k.sentences(split)) + "\n"
        assert data.split_text(split).count("\n") == n
    assert data.held_out == data.text[len(data.split_text("train")) :]
    assert not data.embedded and data.describe()["corpus"] == "multi30k"


def test_no_shakespeare_names_the_sister(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datamodules.fetch import MissingData

    monkeypatch.setenv("LECTERN_DATA", str(tmp_path))
    with pytest.raises(MissingData) as error:
        _ = Text("shakespeare").sizes
    for word in ("input.txt", str(tmp_path / "tinyshakespeare"), "gpt-pydocs"):
        assert word in str(error.value)
