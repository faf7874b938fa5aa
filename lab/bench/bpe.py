"""Byte pair encoding: our own, which is written to be read, against the `tokenizers` library."""

from typing import Any

from lab.bench.timing import Row, interleaved, paired_row
from modules.language.tokenization import BPE


def library(text: str, merges: int) -> Any:
    """The library's byte-level BPE, trained on the same text."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    peer = Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=256 + merges,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        special_tokens=[],
    )
    peer.train_from_iterator([text], trainer)
    return peer


def measure(quick: bool = False) -> list[Row]:
    """Training, and encoding of 1 MB with nothing kept from an earlier call."""
    from datamodules import pydocs

    size, merges, repeats = (20_000, 30, 3) if quick else (1_000_000, 500, 5)
    text = pydocs.text()[:size]
    ours, peer = BPE.train(text, merges, "byte", "id"), library(text, merges)
    if ours.ids(ours.encode(text)) != peer.encode(text).ids:
        raise AssertionError("the library encodes otherwise: nothing to compare.")
    encoding = interleaved(
        lambda: ours.first(merges).encode(text), lambda: peer.encode(text).ids, repeats, warmup=1
    )
    training = interleaved(
        lambda: BPE.train(text, merges, "byte", "id"),
        lambda: library(text, merges),
        max(3, repeats // 2),
        warmup=0,
    )
    what = f"{size / 1e6:g} MB, {256 + merges} tokens"
    return [
        paired_row("bpe", f"encoding {what}", encoding, "≤ 20", "peer: tokenizers"),
        paired_row("bpe", f"training on {what}", training, "", "peer: tokenizers"),
    ]
