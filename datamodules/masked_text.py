"""Running text with tokens hidden and pieces paired, as an encoder is pre-trained on it.

    row = <cls> t_i … t_j <sep> t_{j+1} … t_k <sep>        k − i + 1 = T − 3, both halves equally long

The rows go through a split once, one after the other; the last one may be shorter. "next" puts the second
half of another row behind the first in half of them.

Shapes: as of `datamodules.masking`; rows have up to T tokens.

References: Devlin et al. 2019, arXiv:1810.04805.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from datamodules.base import DataModule, within
from datamodules.masking import Pairs, Task, drawn_by, require_tasks
from datamodules.text import Text
from datamodules.tokenizer import BertTokenizer, EncoderTokenizer, MaskTokenizer

MIN_COUNT = 2  # what comes once in a text teaches its own word alone


class MaskedText(DataModule):
    """A corpus, a tokenizer for encoders, and rows of pairs.

    Args:
        corpus: as of `Text`.
        tokenizer: "word", the words that come twice or more in the training split; or the path of a
            `tokenizer.json` of a BERT, whose model needs the `separator` and the `padding` of that file.
        context: T, the tokens of a row.
        tasks, rate: as of `Gazette`.
        batch_size, seed: see `DataModule`.

    Raises:
        ValueError: an argument is out of range, or the corpus is unknown, unreadable or too short.
        MissingData: the corpus is not on disk and cannot be fetched.
    """

    def __init__(
        self, corpus: str = "pydocs", tokenizer: str = "word", context: int = 128,
        tasks: Sequence[Task] = ("masked", "next"), rate: float = 0.15, batch_size: int = 32, seed: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        if tokenizer != "word" and not tokenizer.endswith(".json"):
            raise ValueError(f"tokenizer is {tokenizer!r}: it must be word, or the path of a tokenizer.json.")
        require_tasks(tasks, rate)
        within(5, 2**16, context=context)
        self.source, self.tokenization, self.context = Text(corpus), tokenizer, context
        self.tasks, self.rate = tuple(tasks), rate
        self.embedded = self.source.embedded

    def prepare_data(self) -> None:
        self.source.prepare_data()

    @cached_property
    def tokenizer(self) -> MaskTokenizer:
        """Made from the corpus, or read."""
        if self.tokenization == "word":
            learned = EncoderTokenizer.train([self.source.split_text("train")], MIN_COUNT)
            assert isinstance(learned, EncoderTokenizer)
            if len(learned) == len(EncoderTokenizer.SPECIAL):
                raise ValueError(
                    f"No word comes twice in the training split of {self.source.corpus}: take a longer text."
                )
            return learned
        try:
            return BertTokenizer(Path(self.tokenization).read_text())
        except Exception as error:  # the tokenizers library raises bare Exceptions
            raise ValueError(f"{self.tokenization} is no tokenizer of a BERT: {error}.") from None

    def _split(self, split: Literal["train", "val", "test"]) -> Pairs:  # type: ignore[override]
        ids, whole = self.tokenizer.encode(self.source.split_text(split)), self.context - 3
        rows = [ids[i : i + whole] for i in range(0, len(ids), whole)]
        halves = [(row[: (len(row) + 1) // 2], row[(len(row) + 1) // 2 :]) for row in rows if len(row) > 1]
        if not halves:
            raise ValueError(f"The {split} split of {self.source.corpus} is empty: take a longer text.")
        first, second = (list(part) for part in zip(*halves, strict=True))
        return Pairs(first, second, self.tokenizer, self.tasks, self.rate, *drawn_by(split, self.seed))

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer), "tasks": list(self.tasks)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "MaskedText",
            "corpus": self.source.corpus,
            "characters": len(self.source.text),
            "splits": {name: list(bounds) for name, bounds in self.source.bounds.items()},
            "context": self.context,
            "tasks": list(self.tasks),
            "rate": self.rate,
            "seed": self.seed,
            "tokenizer": self.tokenizer.to_dict(),
        }
