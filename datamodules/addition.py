"""Addition of two numbers of three digits, written as text: "345+678=1023".

    tokens    \n 3 4 5 + 6 7 8 = 1 0 2        targets   -100 (eight times) 1 0 2 3

A newline stands before every text, as <bos>. Only the answer is a target: the digits of the summands are
drawn at random, nobody can predict them. The sum of 810,000 pairs has four digits with probability 0.6044;
it is filled up with a zero to four always, so that every answer has as many tokens. Reversed, the lowest
digit comes first, "345+678=3201": then each digit follows from three digits and the carry of the digit before
it, while the first digit of a plain answer may hang on all six.

a + b and b + a are in the same split: what is held out was never seen the other way round either.

Shapes: a batch is tokens (B, 12) and targets (B, 12), int64.

References: Lee et al. 2023, arXiv:2307.03381 (the order of digits); [LLM] part 5 (arithmetic as an ability
that emerges).
"""

from typing import Any, Literal, get_args

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from datamodules.base import MOST, DataModule, within
from datamodules.tokenizer import CharTokenizer

Order = Literal["plain", "reversed"]
LEAST, MOST_SUMMAND = 100, 999
DIGITS = 4  # of an answer
LENGTH = 12  # of tokens, and of targets
IGNORED = -100  # a target that is not predicted, as in torch's cross_entropy
CHARACTERS = ["\n", *"0123456789+="]
PLUS, EQUALS = CHARACTERS.index("+"), CHARACTERS.index("=")


def encode(a: Tensor, b: Tensor, order: Order = "plain") -> tuple[Tensor, Tensor]:
    """Tokens and targets (B, 12) of summands a, b (B,): digit d is token d + 1, <bos> is 0."""

    def digits(numbers: Tensor, count: int) -> Tensor:
        powers = 10 ** torch.arange(count - 1, -1, -1)
        return numbers[:, None] // powers % 10 + 1  # (B, count)

    answer = digits(a + b, DIGITS)
    if order == "reversed":
        answer = answer.flip(1)
    bos, plus, equals = (torch.full((len(a), 1), token) for token in (0, PLUS, EQUALS))
    tokens = torch.cat([bos, digits(a, 3), plus, digits(b, 3), equals, answer[:, :-1]], 1)
    targets = torch.cat([torch.full((len(a), LENGTH - DIGITS), IGNORED), answer], 1)
    return tokens, targets


class Sums:
    """Pairs of summands (N, 2); a batch is tokens and targets."""

    def __init__(self, pairs: Tensor, order: Order) -> None:
        self.pairs, self.order = pairs, order

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        a, b = self.pairs[positions].unbind(1)
        return encode(a, b, self.order)


class Addition(DataModule):
    """Sums of two numbers from 100 to 999.

    Args:
        order: of the digits of the answer, "plain" (highest first) or "reversed" (lowest first).
        batch_size: sums per optimizer step over all processes together.
        seed: of the order of each epoch; the splits are the same for every seed.
        per_epoch: training sums in one epoch, drawn anew each epoch; never more than there are.
        num_val, num_test: unordered pairs that are held out, each asked for in one of its two orders.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True

    def __init__(
        self, order: Order = "reversed", batch_size: int = 512, seed: int = 0, per_epoch: int = 51_200,
        num_val: int = 2_000, num_test: int = 10_000,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        if order not in get_args(Order):
            raise ValueError(f"order is {order!r}: it must be plain or reversed.")
        within(1, MOST, per_epoch=per_epoch)
        within(1, 100_000, num_val=num_val, num_test=num_test)
        self.order, self.per_epoch, self.num_val, self.num_test = order, per_epoch, num_val, num_test

    def pairs(self, split: str) -> Tensor:
        """Summands (N, 2) of a split; both orders of each pair in training, one of them elsewhere."""
        generator = torch.Generator().manual_seed(0)
        count = MOST_SUMMAND - LEAST + 1
        both = LEAST + torch.triu_indices(count, count).T  # (405,450, 2), a ≤ b
        both = both[torch.randperm(len(both), generator=generator)]
        swap = torch.rand(len(both), generator=generator) < 0.5
        both = both.where(~swap[:, None], both.flip(1))
        test, val, train = both.tensor_split([self.num_test, self.num_test + self.num_val])
        if split == "train":
            return torch.cat([train, train[train[:, 0] != train[:, 1]].flip(1)])
        return test if split == "test" else val

    def _split(self, split: str) -> Sums:
        return Sums(self.pairs(split), self.order)

    def train_dataloader(self) -> DataLoader:
        return self.batches(self.train_set, shuffle=True, limit=self.per_epoch)

    @property
    def tokenizer(self) -> CharTokenizer:
        """Newline, ten digits, plus and equals."""
        return CharTokenizer(CHARACTERS)

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(CHARACTERS)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Addition",
            "order": self.order,
            "splits": {split: len(self.pairs(split)) for split in ("train", "val", "test")},
            "seed": self.seed,
            "tokenizer": self.tokenizer.to_dict(),
        }
