"""Tasks that ask for memory: what must be kept, for how long, and in which order, is known exactly.

copy      the target is the source                    x_1 … x_S -> x_1 … x_S
reverse   the target is the source from its end       x_1 … x_S -> x_S … x_1
recall    the first symbol, at the end                x_1 d … d ? -> x_1,  d distractors, ? the query
adding    the sum of two marked numbers of T          Σ_t m_t v_t,  v_t ~ U(0, 1), m_t in {0, 1}
selective the data among noise, in their order        · d_1 · · d_2 … · ? ? … -> d_1 d_2 …

Recall: one of 8 symbols comes first, distractors of 8 others follow, drawn anew at each place, and one query
stands at the end, `lag` steps after the symbol; guessing is right once in 8. Adding: one mark is in the first
half, one in the second; the constant 1 has a squared error of 1/6, the variance of the sum.

Selective copying: data tokens, each one of 8, stand at places that are drawn anew; what a token is, not where
it stands, must decide what is kept, so that no filter of fixed lags can do it.

Shapes: copy and reverse as in `translation`; recall is x (B, T, 17) one-hot and y (B,) int64; adding is x
(B, T, 2), numbers and marks, and y (B, 1); selective copying is tokens and labels (B, T + data) int64.

References: Hochreiter and Schmidhuber 1997, Long short-term memory (recall, adding); Sutskever, Vinyals and
Le 2014, arXiv:1409.3215 (the order of the source); Gu, Dao 2023, arXiv:2312.00752 (selective copying);
[GM] 1.6.2; [LLM] part 3.
"""

from typing import Any, Literal, get_args

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from datamodules.base import SPLITS, DataModule, Drawn, within
from datamodules.translation import SentencePairs

Order = Literal["copy", "reverse"]
LONGEST = 10_000
UNSCORED = -100  # label of a place that is not asked for
CLASSES = 8  # symbols that are recalled; as many others are distractors


class Copying(DataModule):
    """Symbols to be copied, in their order or backwards; every sequence is drawn anew.

    Args:
        order: "copy" or "reverse".
        symbols: different symbols; they follow <bos> and <eos>.
        length: S of training and validation: 1 to `length`, all equally likely.
        test_length: S of every test sequence; None is as in training.
        batch_size: sequences per optimizer step over all processes together.
        seed: of the order of each epoch; the sequences themselves are the same for every seed.
        num_train, num_val, num_test: sequences in each split.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True

    def __init__(
        self, order: Order = "copy", symbols: int = 10, length: int = 16, test_length: int | None = None,
        batch_size: int = 64, seed: int = 0,
        num_train: int = 20_000, num_val: int = 500, num_test: int = 1_000,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        if order not in get_args(Order):
            raise ValueError(f"order is {order!r}: it must be copy or reverse.")
        within(2, 10_000, symbols=symbols)
        within(1, LONGEST, length=length, test_length=test_length)
        within(1, 10**6, num_train=num_train, num_val=num_val, num_test=num_test)
        self.order, self.symbols, self.length, self.test_length = order, symbols, length, test_length
        self.counts = {"train": num_train, "val": num_val, "test": num_test}

    def _split(self, split: str) -> SentencePairs:
        generator = torch.Generator().manual_seed(SPLITS.index(split) + 1)
        count, least, most = self.counts[split], 1, self.length
        if split == "test" and self.test_length:
            least = most = self.test_length
        lengths = torch.randint(least, most + 1, (count,), generator=generator).tolist()
        symbols = torch.randint(2, 2 + self.symbols, (sum(lengths),), generator=generator)
        rows = [row.tolist() for row in symbols.split(lengths)]
        return SentencePairs(rows, rows if self.order == "copy" else [row[::-1] for row in rows])

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": 2 + self.symbols}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Copying",
            "order": self.order,
            "symbols": self.symbols,
            "length": self.length,
            "test_length": self.test_length,
            "splits": self.counts,
            "seed": self.seed,
        }


class Recall(Drawn):
    """The first symbol, asked for at the end.

    Args:
        lag: steps from the symbol to the query, T − 1.
        batch_size, seed, num_train, num_val, num_test: see `Copying`.

    Raises:
        ValueError: an argument is out of range.
    """

    features = 2 * CLASSES + 1  # symbols, distractors, the query

    def __init__(
        self, lag: int = 20, batch_size: int = 64, seed: int = 0,
        num_train: int = 20_000, num_val: int = 500, num_test: int = 1_000,
    ) -> None:  # fmt: skip
        within(1, LONGEST, lag=lag)
        super().__init__(batch_size, seed, self.features * (lag + 1), num_train, num_val, num_test)
        self.lag, self.length = lag, lag + 1

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(seed)
        x = torch.randint(CLASSES, 2 * CLASSES, (count, self.length), generator=generator)
        y = torch.randint(CLASSES, (count,), generator=generator)
        x[:, 0], x[:, -1] = y, 2 * CLASSES
        return one_hot(x, self.features).float(), y

    @property
    def sizes(self) -> dict[str, Any]:
        return {
            "event_shape": (self.length, self.features),
            "num_features": self.features,
            "num_classes": CLASSES,
        }

    def describe(self) -> dict[str, Any]:
        return {"name": "Recall", "lag": self.lag, "splits": self.counts, "seed": self.seed}


class Adding(Drawn):
    """The sum of two numbers that are marked.

    Args:
        length: T.
        batch_size, seed, num_train, num_val, num_test: see `Copying`.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, length: int = 20, batch_size: int = 64, seed: int = 0,
        num_train: int = 20_000, num_val: int = 500, num_test: int = 1_000,
    ) -> None:  # fmt: skip
        within(2, LONGEST, length=length)
        super().__init__(batch_size, seed, 2 * length, num_train, num_val, num_test)
        self.length = length

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        generator, half = torch.Generator().manual_seed(seed), self.length // 2
        values = torch.rand(count, self.length, generator=generator)
        first = torch.randint(half, (count,), generator=generator)
        second = torch.randint(half, self.length, (count,), generator=generator)
        marks = one_hot(first, self.length) + one_hot(second, self.length)
        return torch.stack([values, marks.float()], -1), (values * marks).sum(1, keepdim=True)

    @property
    def sizes(self) -> dict[str, Any]:
        return {"event_shape": (self.length, 2), "num_features": 2}

    def describe(self) -> dict[str, Any]:
        return {"name": "Adding", "length": self.length, "splits": self.counts, "seed": self.seed}


class SelectiveCopying(Drawn):
    """Data tokens among noise, to be said again in their order.

    Tokens 0 to 7 are data, 8 is noise, 9 asks for the next of the data. Behind `length` places, `data` of
    which hold data, stand `data` questions; their labels are scored, all others are −100.

    Args:
        length: T, places of data and noise. data: data tokens among them.
        batch_size, seed, num_train, num_val, num_test: see `Copying`.

    Raises:
        ValueError: an argument is out of range.
    """

    NOISE, QUESTION = CLASSES, CLASSES + 1

    def __init__(
        self, length: int = 20, data: int = 4, batch_size: int = 64, seed: int = 0,
        num_train: int = 20_000, num_val: int = 500, num_test: int = 1_000,
    ) -> None:  # fmt: skip
        within(1, LONGEST, length=length)
        within(1, length, data=data)
        super().__init__(batch_size, seed, 2 * (length + data), num_train, num_val, num_test)
        self.length, self.data = length, data

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(seed)
        answers = torch.randint(CLASSES, (count, self.data), generator=generator)
        places = torch.rand(count, self.length, generator=generator).argsort(1)[:, : self.data].sort(1).values
        noise = torch.full((count, self.length), self.NOISE)
        x = torch.cat([noise.scatter(1, places, answers), torch.full_like(answers, self.QUESTION)], 1)
        return x, torch.cat([torch.full_like(noise, UNSCORED), answers], 1)

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": CLASSES + 2, "num_classes": CLASSES}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "SelectiveCopying",
            "length": self.length,
            "data": self.data,
            "splits": self.counts,
            "seed": self.seed,
        }
