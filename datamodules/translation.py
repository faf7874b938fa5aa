"""Translation: captions of photographs in two languages (Multi30k; Elliott et al. 2016, arXiv:1605.00459).

29,000 pairs for training, 1,014 for validation, 1,000 for test (2016, Flickr), official splits, words as they
are written. Both languages share one vocabulary of byte pairs, learned from the training text of both
(Sennrich, Haddow and Birch 2016, arXiv:1508.07909), so that one table can embed source and target; no word is
unknown.

Shapes: a batch is source (B, S), its lengths (B,), inputs and targets of the decoder (B, T), all int64; S and
T are of the longest sentence of the batch:

    source  x_1 … x_S                    padded with <bos>; what is at or behind the length is not to be read
    inputs  <bos> y_1 … y_m <bos> …      targets  y_1 … y_m <eos> -100 …
"""

from functools import cached_property
from typing import Any, Literal, get_args

from torch import Tensor

from datamodules import multi30k
from datamodules.base import DataModule, within
from datamodules.multi30k import Sentences, padded
from datamodules.tokenizer import SentenceTokenizer, WordTokenizer

Language = Literal["de", "en", "fr"]
LARGEST = 30_000  # tokens


class SentencePairs:
    """Source sentences and their targets as token numbers, none empty; a batch is cut to its longest ones."""

    def __init__(self, sources: list[list[int]], targets: list[list[int]]) -> None:
        self.source, self.lengths = padded(sources, WordTokenizer.BOS)  # (N, S), (N,)
        self.target = Sentences(targets)
        self.sequence_lengths = self.lengths + self.target.lengths  # an epoch batches like with like

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        lengths = self.lengths[positions]
        return self.source[positions, : int(lengths.max())], lengths, *self.target[positions]


class Translation(DataModule):
    """Pairs of captions.

    Args:
        source, target: two different languages of "de", "en", "fr".
        vocab_size: tokens of the joint vocabulary: <bos>, <eos>, the 256 bytes, and pairs merged.
        batch_size: pairs per optimizer step over all processes together.
        seed: of the order of each epoch.

    Raises:
        ValueError: an argument is out of range, or the languages are the same.
        MissingData: the files are not on disk and cannot be fetched.
    """

    def __init__(
        self, source: Language = "de", target: Language = "en", vocab_size: int = 5_000,
        batch_size: int = 64, seed: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        for name, language in (("source", source), ("target", target)):
            if language not in get_args(Language):
                raise ValueError(f"{name} is {language!r}: it must be de, en or fr.")
        if source == target:
            raise ValueError(f"source and target are both {source!r}: take two languages.")
        within(258, LARGEST, vocab_size=vocab_size)
        self.source, self.target, self.vocab_size = source, target, vocab_size

    def prepare_data(self) -> None:
        for language in (self.source, self.target):
            multi30k.fetch_language(language)

    def texts(self, split: str) -> tuple[list[str], list[str]]:
        """Sentences of a split ("train", "val" or "test") as written, in source and target language."""
        return multi30k.sentences(split, self.source), multi30k.sentences(split, self.target)

    @cached_property
    def tokenizer(self) -> SentenceTokenizer:
        """Byte pairs of both training texts; the same in either direction."""
        languages = sorted((self.source, self.target))
        texts = [line for language in languages for line in multi30k.sentences("train", language)]
        return SentenceTokenizer.train(texts, self.vocab_size)

    def _split(self, split: str) -> SentencePairs:
        sources, targets = ([self.tokenizer.encode(line) for line in lines] for lines in self.texts(split))
        return SentencePairs(sources, targets)

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Translation",
            "corpus": "multi30k",
            "source": self.source,
            "target": self.target,
            "splits": {"train": 29_000, "val": 1014, "test": 1000},
            "seed": self.seed,
            "tokenizer": self.tokenizer.to_dict(),
        }
