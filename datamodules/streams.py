"""Text as contiguous streams, for models that carry a state from each chunk of a text to the next.

    stream b = (t_{bL}, …, t_{bL+L−1}), b < B        chunk k = tokens kK, …, kK + K − 1 of all B streams

The training split is cut into B streams of L tokens, which are read side by side, K tokens a step; the state
behind chunk k is the state before chunk k + 1. Validation and test are one stream each, so that every token
is predicted from all that stands before it in its split.

Shapes: a batch is tokens (B, K), targets (B, K), one token further, int64, and whether it goes on from the
batch before; the last chunk of a stream may be shorter.

References: Zaremba, Sutskever, Vinyals 2014, arXiv:1409.2329 §4.1 (the state of a minibatch carried to the
next); Williams, Peng 1990 (truncated backpropagation through time).
"""

from collections.abc import Iterator
from typing import Any, Literal

from torch import Tensor

from datamodules.base import BatchShard
from datamodules.text import Text, Tokenization

Chunk = tuple[Tensor, Tensor, bool]


class Streams:
    """A split as `count` streams of equal length L; what is left over at the end, fewer than `count` tokens,
    belongs to none. Item k is chunk k: tokens and targets (B, K), and True where k > 0."""

    def __init__(self, ids: Tensor, count: int, context: int) -> None:
        self.length, self.context = (len(ids) - 1) // count, context
        self.tokens, self.targets = (
            ids[shift : shift + count * self.length].view(count, self.length) for shift in (0, 1)
        )

    def __len__(self) -> int:
        return -(-self.length // self.context)

    def __getitem__(self, k: int) -> Chunk:
        part = slice(k * self.context, (k + 1) * self.context)
        return self.tokens[:, part].long(), self.targets[:, part].long(), k > 0


class InOrder:
    """Loader of the chunks of a split, in order; where its state is restored, the pass goes on behind it.

    Args:
        rank, world: this process takes streams rank, rank + world, … of all.
        shared: every process takes all of them, and those of the first count.
    """

    def __init__(self, split: Streams, rank: int = 0, world: int = 1, shared: bool = False) -> None:
        self.split, self.rank, self.world, self.shared = split, rank, world, shared
        self.done = self.start = 0

    def __len__(self) -> int:
        return len(self.split)

    def __iter__(self) -> Iterator[Chunk | BatchShard]:
        start, self.start = self.start, 0
        for k in range(start, len(self)):
            self.done = k + 1
            tokens, targets, goes_on = self.split[k]
            if self.world == 1:
                yield tokens, targets, goes_on
            elif self.shared:
                yield BatchShard((tokens, targets, goes_on), float(self.rank == 0))
            else:
                yield tokens[self.rank :: self.world], targets[self.rank :: self.world], goes_on

    def state_dict(self) -> dict[str, Any]:
        """Chunks of this pass that were given; Lightning keeps it in the checkpoint."""
        return {"done": self.done}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.start = state["done"] % len(self)


class StreamedText(Text):
    """A corpus, a tokenizer and its contiguous streams.

    Args:
        corpus, tokenizer, bpe_vocab_size: see `Text`.
        context: K, tokens of each stream in a step: gradients flow through so many, states through all.
        batch_size: B, streams of the training split over all processes together.

    Raises:
        ValueError: as `Text`; the processes cannot share the streams evenly.
    """

    def __init__(
        self,
        corpus: str = "shakespeare",
        tokenizer: Tokenization = "char",
        context: int = 64,
        batch_size: int = 32,
        bpe_vocab_size: int = 512,
    ) -> None:
        super().__init__(corpus, tokenizer, context, batch_size, bpe_vocab_size=bpe_vocab_size)

    def _streams(self, split: Literal["train", "val", "test"], count: int) -> Any:
        ids = self._ids(split)
        if len(ids) <= count:
            raise ValueError(f"The {split} split has {len(ids)} tokens, too few for {count} streams.")
        assert self.context is not None
        return Streams(ids, count, self.context)

    def setup(self, stage: str | None = None) -> None:
        if stage in (None, "fit", "validate") and not hasattr(self, "train_set"):
            self.train_set = self._streams("train", self.batch_size)
            self.val_set = self._streams("val", 1)
        if stage in (None, "test", "predict") and not hasattr(self, "test_set"):
            self.test_set = self._streams("test", 1)

    def train_dataloader(self) -> Any:
        return self._in_order(self.train_set, shared=False)

    def _once(self, blocks: Any) -> Any:
        return self._in_order(blocks, shared=True)

    def _in_order(self, split: Any, shared: bool) -> InOrder:
        rank, world = (self.trainer.global_rank, self.trainer.world_size) if self.trainer else (0, 1)
        if not shared and self.batch_size % world:
            raise ValueError(f"{world} processes cannot share {self.batch_size} streams evenly.")
        return InOrder(split, rank, world, shared)

    def describe(self) -> dict[str, Any]:
        """For the card; nothing is drawn, so there is no seed."""
        facts = super().describe() | {"name": "StreamedText", "streams": self.batch_size}
        del facts["seed"]
        return facts
