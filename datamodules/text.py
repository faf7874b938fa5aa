"""Text as one long line of tokens: tiny Shakespeare, the captions of Multi30k, the Python documentation, or a
file of one's own.

Windows of T = `context` tokens, targets one token further:

    tokens = (t_i, ..., t_{i+T-1})        targets = (t_{i+1}, ..., t_{i+T})

Training draws `windows_per_epoch` windows from all possible starts, anew each epoch. Validation and
test go through their split once, window after window: every token but the first is predicted
exactly once; the last window may be shorter and is a batch of its own.

Splits go by character: training is the first 90 %, validation the next 5 %, test the last 5 %, and what
picks an epoch never sees the test. Captions, one in a line, keep their official splits. Published numbers of
tiny Shakespeare are of validation and test as one text, the last 10 % (nanoGPT calls it validation):
`held_out` gives it.

Shapes: a batch is tokens (B, T) and targets (B, T), int64.
"""

import hashlib
import platform
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from datamodules import fetch, multi30k, pydocs
from datamodules.base import MOST, Batches, BatchShard, DataModule, ShardedSplit, within
from datamodules.tokenizer import ASCII, SUBWORDS, BPETokenizer, ByteTokenizer, CharTokenizer, Tokenizer

Tokenization = Literal["char", "byte", "bpe", "wordpiece", "unigram"]


class Windows:
    """Windows of T tokens at any start: positions (B,) are starts; the batch is tokens (B, T) and
    targets (B, T). Without `context` there is one window, the whole split."""

    def __init__(self, ids: Tensor, context: int | None) -> None:
        self.ids, self.context = ids, len(ids) - 1 if context is None else context

    def __len__(self) -> int:
        return len(self.ids) - self.context

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        window = self.ids[positions[:, None] + torch.arange(self.context + 1)].long()  # (B, T + 1)
        return window[:, :-1], window[:, 1:]


class Blocks(Windows):
    """The whole windows of a split, one after the other; what is left over is `tail`."""

    def __len__(self) -> int:
        return (len(self.ids) - 1) // self.context

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        return super().__getitem__(positions * self.context)

    @property
    def tail(self) -> tuple[Tensor, Tensor] | None:
        """The last, shorter window: tokens and targets (1, R) with 1 <= R < T."""
        rest = self.ids[len(self) * self.context :].long()[None]
        return (rest[:, :-1], rest[:, 1:]) if rest.shape[1] > 1 else None


class _WithTail:
    """A split that answers the batch [-1] with its tail."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        tail = self.blocks.tail
        return tail if tail is not None and positions[0] < 0 else self.blocks[positions]


class _BatchesWithTail(Batches):
    """Batches of every window once over the processes, then the tail, which counts on the first process."""

    def __len__(self) -> int:
        return super().__len__() + 1

    def __iter__(self) -> Iterator[Tensor | BatchShard]:
        yield from super().__iter__()
        yield self.shard(torch.tensor([-1]))


class Text(DataModule):
    """A corpus, a tokenizer and windows.

    Args:
        corpus: "shakespeare", "multi30k" (English captions), "pydocs" (embedded), or the path of a UTF-8
            text file.
        tokenizer: "char" (vocabulary: all characters of the corpus), "byte", or subwords of bytes learned
            on the training split: "bpe", "wordpiece" or "unigram"; or the path of a `tokenizer.json`, byte
            pairs that were learned elsewhere.
        context: tokens in a window; None makes each split one window (for models that count).
        batch_size: windows per optimizer step over all processes together.
        seed: of the windows drawn in each epoch.
        windows_per_epoch: training windows in one epoch; never more than there are starts.
        bpe_vocab_size: tokens of "bpe", "wordpiece" or "unigram", their single bytes included.

    Raises:
        ValueError: an argument is out of range, or the corpus is unknown, unreadable or too short.
        MissingData: tiny Shakespeare or Multi30k is not on disk and cannot be fetched.
    """

    def __init__(
        self,
        corpus: str = "shakespeare",
        tokenizer: Tokenization | str = "char",
        context: int | None = 64,
        batch_size: int = 12,
        seed: int = 0,
        windows_per_epoch: int = 2400,
        bpe_vocab_size: int = 512,
    ) -> None:
        super().__init__(batch_size, seed)
        if tokenizer not in get_args(Tokenization) and not tokenizer.endswith(".json"):
            raise ValueError(
                f"tokenizer is {tokenizer!r}: it must be one of {', '.join(get_args(Tokenization))}, or the "
                "path of a tokenizer.json."
            )
        within(1, MOST, context=context, windows_per_epoch=windows_per_epoch)
        within(1, 2**20, bpe_vocab_size=bpe_vocab_size)
        self.corpus, self.tokenization, self.context = corpus, tokenizer, context
        self.windows_per_epoch, self.bpe_vocab_size = windows_per_epoch, bpe_vocab_size
        self.embedded = corpus == "pydocs"

    def prepare_data(self) -> None:
        if self.corpus == "shakespeare":
            fetch.fetch("tinyshakespeare")
        elif self.corpus == "multi30k":
            fetch.fetch("multi30k")

    @cached_property
    def text(self) -> str:
        """The whole corpus."""
        if self.corpus == "shakespeare":
            source = fetch.SOURCES["tinyshakespeare"]
            return fetch.content(source, source.files[0]).decode()
        if self.corpus == "pydocs":
            return pydocs.text()
        if self.corpus == "multi30k":
            return "".join(self._captions.values())
        path = Path(self.corpus)
        try:
            path = path.expanduser()
            if not path.is_file():
                raise ValueError(
                    f"corpus is {self.corpus!r}: it must be shakespeare, multi30k, pydocs or the path of a "
                    "text file."
                )
            return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8.") from None
        except (OSError, RuntimeError) as error:  # a home of nobody is a RuntimeError
            reason = getattr(error, "strerror", None) or str(error).rstrip(".")
            raise ValueError(f"{path} cannot be read: {reason}.") from None

    @cached_property
    def _captions(self) -> dict[str, str]:
        """Captions of each split, each with its end of line."""
        return {split: "".join(f"{line}\n" for line in multi30k.sentences(split)) for split in multi30k.FILES}

    @property
    def bounds(self) -> dict[str, tuple[int, int]]:
        """First and last character (exclusive) of each split."""
        n = len(self.text)
        train, middle = int(n * 0.9), int(n * 0.95)
        if self.corpus == "multi30k":
            train = len(self._captions["train"])
            middle = train + len(self._captions["val"])
        return {"train": (0, train), "val": (train, middle), "test": (middle, n)}

    def split_text(self, split: Literal["train", "val", "test"]) -> str:
        """The characters of a split."""
        first, last = self.bounds[split]
        return self.text[first:last]

    @property
    def held_out(self) -> str:
        """Text that is not training, the last 10 %: the text that published numbers are of."""
        return self.split_text("val") + self.split_text("test")

    def bytes_per_token(self, split: Literal["train", "val", "test"]) -> float:
        """Bytes of text per token: what makes losses under different tokenizers comparable,
        bits per byte = nats per token / ln 2 / bytes per token."""
        text = self.split_text(split)
        return len(text.encode()) / max(1, len(self.tokenizer.encode(text)))

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Made from the corpus; from a card it comes without the corpus by `Tokenizer.from_dict`."""
        if self.tokenization == "byte":
            return ByteTokenizer()
        if self.tokenization in SUBWORDS:
            return SUBWORDS[self.tokenization].train(self.split_text("train"), self.bpe_vocab_size)
        if self.tokenization.endswith(".json"):
            try:
                return BPETokenizer(Path(self.tokenization).read_text())
            except Exception as error:  # the tokenizers library raises bare Exceptions
                raise ValueError(f"{self.tokenization} is no tokenizer of byte pairs: {error}.") from None
        # a fixed vocabulary keeps a model of the documentation usable under every version of Python
        return CharTokenizer(ASCII if self.corpus == "pydocs" else sorted(set(self.text)))

    def _ids(self, split: Literal["train", "val", "test"]) -> Tensor:
        ids = torch.tensor(self.tokenizer.encode(self.split_text(split)), dtype=torch.int32)
        if len(ids) <= (self.context or 1):
            raise ValueError(
                f"The {split} split of {self.corpus} has {len(ids)} tokens, too few for a context of "
                f"{self.context or 1}: take a longer text or a shorter context."
            )
        return ids

    def setup(self, stage: str | None = None) -> None:
        """Encode the splits that `stage` reads; all of them without a stage."""
        if stage in (None, "fit", "validate") and not hasattr(self, "train_set"):
            self.train_set = Windows(self._ids("train"), self.context)
            self.val_set = Blocks(self._ids("val"), self.context)
        if stage in (None, "test", "predict") and not hasattr(self, "test_set"):
            self.test_set = Blocks(self._ids("test"), self.context)

    def train_dataloader(self) -> DataLoader:
        return self.batches(self.train_set, shuffle=True, limit=self.windows_per_epoch)

    def val_dataloader(self) -> DataLoader:
        return self._once(self.val_set)

    def test_dataloader(self) -> DataLoader:
        return self._once(self.test_set)

    def predict_dataloader(self) -> DataLoader:
        return self._once(self.test_set)

    def _once(self, blocks: Any) -> DataLoader:
        loader = self.batches(blocks, shuffle=False)
        if blocks.tail is None:
            return loader
        old: Any = loader.sampler
        sampler = _BatchesWithTail(old.length, old.batch_size, False, self.seed, old.rank, old.world)
        return DataLoader(ShardedSplit(_WithTail(blocks)), sampler=sampler, batch_size=None)  # type: ignore[arg-type]

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer)}

    def describe(self) -> dict[str, Any]:
        """For the card; the hash tells whether another machine's documentation is the same text."""
        return {
            "name": "Text",
            "corpus": self.corpus,
            "characters": len(self.text),
            "sha256": hashlib.sha256(self.text.encode()).hexdigest(),
            **({"python": platform.python_version()} if self.corpus == "pydocs" else {}),
            "splits": {name: list(bounds) for name, bounds in self.bounds.items()},
            "context": self.context,
            "seed": self.seed,
            "bytes_per_token": {split: self.bytes_per_token(split) for split in ("val", "test")},
            "tokenizer": self.tokenizer.to_dict(),
        }
