"""Two chains: strings of bits from one of two Markov chains, whose entropy is known exactly.

A fair coin picks the chain, another the first bit; each later bit differs from the one before with
probability r_c, one rate for each chain. Which chain it was shows only in how often the string turns:

    p(x) = ½ · ½ Σ_c r_c^k (1 − r_c)^(n − 1 − k),    k turns

A model with a code has one bit to store, the chain; a decoder that reads x_<i can do nearly without it.

Shapes: a batch is x (B, n) float of 0 and 1, and y (B,) int64, the chain.
"""

import math
from typing import Any

import torch
from torch import Tensor

from datamodules.base import Drawn, within


def log_prob(turns: Tensor, length: int, rates: tuple[float, float]) -> Tensor:
    """log p(x), nats, of strings of `length` bits with so many turns; float64."""
    k = turns.double()
    each = [math.log(0.25) + k * math.log(r) + (length - 1 - k) * math.log1p(-r) for r in rates]
    return torch.stack(each).logsumexp(0)


class TwoChains(Drawn):
    """Args:
        length: n, bits in a string.
        rates: how often each chain turns, between 0 and 1.
        batch_size: strings per optimizer step over all processes together.
        seed: of the order of each epoch; the strings themselves are the same for every seed.
        num_train, num_val, num_test: strings in each split.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, length: int = 32, rates: tuple[float, float] = (0.1, 0.4), batch_size: int = 128, seed: int = 0,
        num_train: int = 20_000, num_val: int = 2_000, num_test: int = 4_000,
    ) -> None:  # fmt: skip
        within(2, 4096, length=length)
        super().__init__(batch_size, seed, length, num_train, num_val, num_test)
        if len(rates) != 2 or not all(0 < r < 1 for r in rates):
            raise ValueError(f"rates are {list(rates)}: give two, each between 0 and 1.")
        self.length, self.rates = length, (rates[0], rates[1])

    @property
    def least_nll(self) -> float:
        """The entropy of a string, nats: what no density's mean NLL falls below."""
        k = torch.arange(self.length)
        n = torch.tensor(self.length - 1.0, dtype=torch.float64)
        ways = math.log(2) + (n + 1).lgamma() - (k + 1.0).double().lgamma() - (n - k + 1).lgamma()
        log_p = log_prob(k, self.length, self.rates)
        return -((ways + log_p).exp() * log_p).sum().item()

    @property
    def information(self) -> float:
        """Information of a string on its chain, I(x; chain), nats: the most that a code can hold."""
        each = [-(r * math.log(r) + (1 - r) * math.log(1 - r)) for r in self.rates]
        return self.least_nll - math.log(2) - (self.length - 1) * sum(each) / 2

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(seed)
        y = torch.randint(2, (count,), generator=generator)
        first = torch.randint(2, (count, 1), generator=generator)
        turns = torch.rand(count, self.length - 1, generator=generator) < torch.tensor(self.rates)[y, None]
        return (torch.cat([first, turns], 1).cumsum(1) % 2).float(), y

    @property
    def sizes(self) -> dict[str, Any]:
        return {"event_shape": (self.length,), "num_classes": 2}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "TwoChains",
            "length": self.length,
            "rates": list(self.rates),
            "splits": self.counts,
            "least_nll": self.least_nll,
        }
