"""A language of unlimited length whose entropy is known: a Markov source of order two over 64 symbols.

    P[b] ~ Dirichlet(16 z),  z_v ∝ 1/v        what tends to follow b: Zipf's law, bent
    P[a, b] ~ Dirichlet(8 P[b])               what follows b behind a: bent again, differently for each a
    x_t ~ P[x_{t-2}, x_{t-1}]

    E = −Σ_ab π(a, b) Σ_c P[a, b, c] log P[a, b, c],     π the stationary law of pairs

4,096 pairs each have a law of their own, and come at very unequal rates: a small model learns the frequent
ones, a larger one more of the rare. No model has fewer nats per token than E once it sees two tokens; the
first target of a line sees one, and its least is known too.

Shapes: a batch is tokens (B, T) and targets (B, T), int64, as of `text`. The language is drawn once, by
`LANGUAGE`; `seed` is of the order of an epoch.
"""

from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from datamodules.base import Drawn, within

V = 64  # symbols
LANGUAGE = 0  # the seed of the tables
LEAST = 1e-4  # of each row is uniform, so that nothing has probability 0


class Language:
    """The tables of the source.

    Attributes:
        table: P (V², V); row aV + b is that of the pair (a, b).
        pairs: π (V²,).
        entropy_rate: E, in nats. first: entropy of a token behind one that is known.
    """

    def __init__(self) -> None:
        rng = np.random.default_rng(LANGUAGE)
        zipf = 1 / np.arange(1, V + 1)
        after_one = self._bent(rng, np.tile(zipf / zipf.sum(), (V, 1)), 16.0)
        self.table = self._bent(rng, np.tile(after_one, (V, 1)), 8.0)
        self.pairs = self._stationary()
        joint = self.pairs[:, None] * self.table  # (V², V)
        self.entropy_rate = -float((joint * np.log(self.table)).sum())
        bigrams = joint.reshape(V, V, V).sum(0)  # (V, V): b, then c
        self.first = -float((bigrams * np.log(bigrams / bigrams.sum(1, keepdims=True))).sum())
        self._keep, self._other = self._alias()

    @staticmethod
    def _bent(rng: np.random.Generator, means: np.ndarray, strength: float) -> np.ndarray:
        """Rows drawn from Dirichlet(strength · mean), a little of the uniform law mixed in."""
        gammas = np.maximum(rng.standard_gamma(np.maximum(strength * means, 1e-4)), 1e-30)
        return (1 - LEAST) * gammas / gammas.sum(1, keepdims=True) + LEAST / V

    def _stationary(self) -> np.ndarray:
        pairs = np.full(V * V, 1 / V**2)
        for _ in range(10_000):
            # the flow out of (a, b) by c ends in (b, c)
            new = (pairs[:, None] * self.table).reshape(V, V, V).sum(0).ravel()
            done, pairs = np.abs(new - pairs).sum() < 1e-14, new
            if done:
                break
        return pairs / pairs.sum()

    def _alias(self) -> tuple[Tensor, Tensor]:
        """Walker's alias method: of slot c of a row, the share that is c, and the symbol of the rest."""
        mass, rows = self.table * V, np.arange(V * V)
        keep, other = np.ones_like(mass), np.tile(np.arange(V), (V * V, 1))
        for _ in range(V):
            small, large = np.where(mass > 0, mass, np.inf).argmin(1), mass.argmax(1)
            share = np.minimum(mass[rows, small], 1)
            keep[rows, small], other[rows, small] = share, large
            mass[rows, large] -= 1 - share
            mass[rows, small] = 0
        return torch.tensor(keep, dtype=torch.float32).flatten(), torch.tensor(other).flatten()

    def draw(self, count: int, length: int, generator: torch.Generator) -> Tensor:
        """Lines (count, length) that begin anywhere: their first two symbols follow π."""
        uniform = torch.rand(count, generator=generator, dtype=torch.float64)
        pair = torch.searchsorted(torch.from_numpy(self.pairs.cumsum()), uniform).clamp(max=V * V - 1)
        symbols = [pair // V, pair % V]
        places = torch.rand(max(0, length - 2), count, generator=generator, dtype=torch.float64) * V
        for place in places:
            slot = place.long()
            at = pair * V + slot
            symbol = torch.where(place - slot < self._keep[at], slot, self._other[at])
            symbols.append(symbol)
            pair = (pair * V + symbol) % V**2
        return torch.stack(symbols[:length], 1)

    def probs(self, lines: Tensor) -> Tensor:
        """p(x_t | x_{t-2}, x_{t-1}) of all symbols, (B, T) -> (B, T - 2, V): of x_2 … x_{T-1}."""
        table = torch.from_numpy(self.table)
        return table[lines[:, :-2] * V + lines[:, 1:-1]]


@cache
def language() -> Language:
    """The one language of this file."""
    return Language()


class MarkovText(Drawn):
    """Lines of the language; every split is its own draw.

    Args:
        context: T, tokens of a line that are read.
        batch_size: lines per step over all processes together.
        seed: of the order of each epoch; the lines themselves are the same for every seed.
        num_train, num_val, num_test: lines in each split.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, context: int = 32, batch_size: int = 64, seed: int = 0,
        num_train: int = 20_000, num_val: int = 500, num_test: int = 1_000,
    ) -> None:  # fmt: skip
        within(1, 10_000, context=context)
        super().__init__(batch_size, seed, context + 1, num_train, num_val, num_test)
        self.context = context

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        lines = language().draw(count, self.context + 1, torch.Generator().manual_seed(seed))
        return lines[:, :-1], lines[:, 1:]

    @property
    def least_nll(self) -> float:
        """Nats per token that no model goes below, over whole lines: the first target sees one token."""
        return (language().first + (self.context - 1) * language().entropy_rate) / self.context

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": V}

    def describe(self) -> dict[str, Any]:
        return {
            "name": type(self).__name__,
            "language": LANGUAGE,
            "entropy_rate": language().entropy_rate,
            "least_nll": self.least_nll,
            "context": self.context,
            "splits": self.counts,
            "seed": self.seed,
        }
