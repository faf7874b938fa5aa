"""Base of all data: splits that are indexable by a tensor of positions, and their batches.

A split is any object with `__len__` and `__getitem__(positions: LongTensor) -> batch`: a whole
batch is one tensor operation. The order of an epoch depends on (seed, epoch) alone, so a resumed
run sees the order that an uninterrupted run would have seen, on any number of processes.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import lightning as L
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Sampler

SPLITS = ("train", "val", "test")
POOL = 50  # batches
MOST = 2**28  # of anything that data have: examples, or numbers in all of them (1 GiB in single precision)


class Split(Protocol):
    """A data set that answers a whole batch at once."""

    def __len__(self) -> int: ...

    def __getitem__(self, positions: Tensor) -> Any: ...


def within(least: float, most: float, **arguments: float | None) -> None:
    """Refuse arguments of a constructor that are out of range, before anything is made of them; None is none.

    Raises:
        ValueError: one is below `least` or above `most`; one sentence.
    """
    for name, value in arguments.items():
        if value is not None and not least <= value <= most:
            raise ValueError(f"{name} is {value}: it must be at least {least} and at most {most:,}.")


class TensorSplit:
    """Tensors of equal length N; a batch is the tuple of their rows."""

    def __init__(self, *tensors: Tensor) -> None:
        self.tensors = tensors

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, ...]:
        return tuple(t[positions] for t in self.tensors)


class BatchShard(NamedTuple):
    """Part of one process of a batch whose examples do not divide evenly among the processes.

    The processes' gradients are averaged as if all had equally many examples. With each loss times its
    `weight` their average is the gradient of the mean over the whole batch, each example once.

    Attributes:
        batch: own examples, or where there are none one of another process, which is not to count.
        weight: own examples × processes / examples of the whole batch; 0 where nothing counts.
    """

    batch: Any
    weight: float


class ShardedSplit:
    """Split that is asked for positions, or for a `BatchShard` of them: it answers with one of examples."""

    def __init__(self, split: Split) -> None:
        self.split = split

    def __getitem__(self, positions: Tensor | BatchShard) -> Any:
        if isinstance(positions, BatchShard):
            return positions._replace(batch=self.split[positions.batch])
        return self.split[positions]


class Batches(Sampler[Tensor | BatchShard]):
    """Batches of positions for one process out of `world`.

    The global batch is `batch_size` positions; process `rank` takes every `world`-th of them, so
    that `world` processes together see exactly what one process would see. In training the last
    incomplete global batch is dropped; in evaluation nothing is dropped. All processes have equally
    many batches, as they wait for each other in each; where their parts are unequal, each is a `BatchShard`.

    Args:
        batch_size: more than there are is all of them.
        limit: in training, an epoch is this many of the `length` positions, drawn anew each epoch.
        on_epoch: told the number of each epoch before it starts.
        lengths: (length,) of sequences; in training, those of like length come in one batch, which is padded
            to its longest: positions are sorted within `POOL` batches, and batches shuffled.
    """

    def __init__(
        self,
        length: int,
        batch_size: int,
        shuffle: bool,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        limit: int | None = None,
        on_epoch: Callable[[int], None] | None = None,
        lengths: Tensor | None = None,
    ) -> None:
        if length < 1:
            raise ValueError("A split is empty: give it at least one example.")
        self.length, self.shuffle = length, shuffle
        self.drawn = min(length, limit) if shuffle and limit else length  # positions in one epoch
        self.asked, self.batch_size = batch_size, min(batch_size, self.drawn)
        self.seed, self.rank, self.world, self.epoch = seed, rank, world, 0
        self.on_epoch, self.lengths = on_epoch, lengths

    def set_epoch(self, epoch: int) -> None:
        """Called by the trainer before each epoch."""
        self.epoch = epoch
        if self.on_epoch:
            self.on_epoch(epoch)

    def __len__(self) -> int:
        whole, rest = divmod(self.drawn, self.batch_size)
        return whole if self.shuffle else whole + (rest > 0)

    def __iter__(self) -> Iterator[Tensor | BatchShard]:
        if self.shuffle:
            # One seed from two numbers, without the overlaps of seed + epoch: torch uses 32 bits of it,
            # and multiples of the golden ratio × 2³² stay millions apart for thousands of seeds.
            generator = torch.Generator().manual_seed((self.seed * 0x9E3779B1 + self.epoch) % 2**32)
            order = torch.randperm(self.length, generator=generator)
        else:
            order = torch.arange(self.length)
        batches = order[: self.drawn].split(self.batch_size)[: len(self)]
        if self.shuffle and self.lengths is not None:
            pools = torch.cat(batches).split(POOL * self.batch_size)
            alike = torch.cat([pool[self.lengths[pool].argsort(stable=True)] for pool in pools])
            batches = alike.split(self.batch_size)
            batches = [batches[i] for i in torch.randperm(len(batches), generator=generator)]
        for batch in batches:
            yield self.shard(batch)

    def shard(self, batch: Tensor) -> Tensor | BatchShard:
        """Part of this process of a whole batch of positions."""
        mine = batch[self.rank :: self.world]
        if len(batch) % self.world == 0:
            return mine
        return BatchShard(mine if len(mine) else batch[:1], len(mine) * self.world / len(batch))


class DataModule(L.LightningDataModule):
    """Base of every datamodule.

    A subclass makes each split in `_split`, or sets `train_set`, `val_set` and `test_set` in a `setup` of
    its own, and says in `sizes` what a model must know of the data. The test split is read by `test` alone.

    Args:
        batch_size: examples per optimizer step over all processes together; more than an epoch has is all.
        seed: of the validation split and of the order of each epoch.
    """

    embedded = False  # True where no file and no network is ever needed
    in_order = False  # True where training sees the same batches in every epoch, to overfit them

    train_set: Split
    val_set: Split
    test_set: Split

    def __init__(self, batch_size: int = 64, seed: int = 0) -> None:
        super().__init__()
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}: it must be at least 1.")
        within(0, 2**32 - 1, seed=seed)
        self.batch_size, self.seed = batch_size, seed

    def _split(self, split: str) -> Any:
        """The split "train", "val" or "test"."""
        raise NotImplementedError

    def setup(self, stage: str | None = None) -> None:
        """Make the splits that `stage` reads, once; all of them without a stage."""
        if stage in (None, "fit", "validate") and not hasattr(self, "train_set"):
            self.train_set, self.val_set = self._split("train"), self._split("val")
        if stage in (None, "test", "predict") and not hasattr(self, "test_set"):
            self.test_set = self._split("test")

    @property
    def sizes(self) -> dict[str, Any]:
        """Model arguments that follow from the data: `event_shape`, `image_shape`, `num_features`,
        `num_classes`, `vocab_size`. The command line links them to the model of the same argument."""
        return {}

    def describe(self) -> dict[str, Any]:
        """Facts of the data for the card: name, split sizes, binarization, tokenizer, ..."""
        return {"name": type(self).__name__}

    def batches(self, split: Split, shuffle: bool, limit: int | None = None) -> DataLoader:
        """Loader of `split`; a split with a method `set_epoch` is told each epoch of training, and one with
        `sequence_lengths` (N,) has those of like length in one batch of it."""
        trainer, shuffle = self.trainer, shuffle and not self.in_order
        rank, world = (trainer.global_rank, trainer.world_size) if trainer else (0, 1)
        on_epoch = getattr(split, "set_epoch", None) if shuffle else None
        lengths = getattr(split, "sequence_lengths", None)
        sampler = Batches(
            len(split), self.batch_size, shuffle, self.seed, rank, world, limit, on_epoch, lengths
        )
        # a generator of its own: starting an epoch must not draw from the one that the model draws from
        generator = torch.Generator().manual_seed(self.seed)
        return DataLoader(ShardedSplit(split), sampler=sampler, batch_size=None, generator=generator)  # type: ignore[arg-type]

    def train_dataloader(self) -> DataLoader:
        return self.batches(self.train_set, shuffle=True)

    def val_dataloader(self) -> DataLoader:
        return self.batches(self.val_set, shuffle=False)

    def test_dataloader(self) -> DataLoader:
        return self.batches(self.test_set, shuffle=False)

    def predict_dataloader(self) -> DataLoader:
        return self.batches(self.test_set, shuffle=False)


class Drawn(DataModule):
    """Base of data that are drawn from a known distribution: every split is its own draw, whatever the seed.

    A subclass implements `draw(count, seed)`, the tensors of a split.

    Args:
        batch_size, seed: see `DataModule`.
        size: numbers in one example.
        num_train, num_val, num_test: examples in each split.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True

    def __init__(
        self, batch_size: int, seed: int, size: int, num_train: int, num_val: int, num_test: int
    ) -> None:
        super().__init__(batch_size, seed)
        within(1, MOST // size, num_train=num_train, num_val=num_val, num_test=num_test)
        self.counts = {"train": num_train, "val": num_val, "test": num_test}

    def draw(self, count: int, seed: int) -> tuple[Tensor, ...]:
        """`count` examples, as the tensors that a batch has of them."""
        raise NotImplementedError

    def _split(self, split: str) -> TensorSplit:
        return TensorSplit(*self.draw(self.counts[split], seed=SPLITS.index(split) + 1))
