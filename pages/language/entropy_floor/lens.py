"""Models against a source whose entropy rate is known: how near the floor do they come?

    H = Σ_i π_i H(A_i)    π A = π,    H(A_i) the entropy of row i of the transition matrix

No model has a smaller cross-entropy than H on average over texts; on one finite text it may.

Shapes: `S` states, transition matrix A (S, S) with rows that sum to 1, texts (B, T) int64. In nats.

References: Shannon 1948; Cover and Thomas 2006, §4.2; [LLM] eq. 1.4-1.7; [BB] 5.1.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from modules.autoregressive import markov
from modules.language.information import LN2, entropy
from modules.language.ngram import NGram
from modules.noise import pick, uniform

MANY = 50  # texts that are drawn symbol by symbol
ROUNDING = 1e-9  # bits; values so near to each other are one value


def walk(state: np.ndarray, below: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Texts (B, T) that start in the states (B,), by uniform numbers (T, B) and distribution functions
    (S, S); numpy, since so small a step costs it a fifth of what it costs torch."""
    texts = np.empty(u.shape, np.int64)
    texts[0] = state
    for t in range(1, len(u)):
        if below.shape[1] == 2:
            np.greater_equal(u[t], below[texts[t - 1], 0], out=texts[t], casting="unsafe")
        else:
            texts[t] = (u[t, :, None] >= below[texts[t - 1]]).sum(1)
    return np.ascontiguousarray(texts.T)


@dataclass(frozen=True)
class Source:
    """A stationary Markov chain that writes texts."""

    transition: Tensor

    @property
    def stationary(self) -> Tensor:
        """π (S,), the distribution of a symbol far from the start: solves π A = π, Σ π = 1."""
        return markov.stationary(self.transition).clamp(min=0)

    @property
    def entropy_rate(self) -> float:
        """H, nats per symbol: the floor."""
        return float((self.stationary * entropy(self.transition)).sum())

    @property
    def symbol_entropy(self) -> float:
        """Entropy of one symbol without its past, nats: the floor of a model that has no context."""
        return float(entropy(self.stationary))

    def entropies(self) -> list[float]:
        """Entropy of the symbol after each state, in bits."""
        return (entropy(self.transition) / LN2).tolist()

    def sample(self, texts: int, length: int, seed: int = 0) -> Tensor:
        """Stationary texts (B, T).

        A uniform number makes a map of S states to S states. Of few texts the maps are composed by doubling,
        log T steps; many texts go on together, symbol by symbol.
        """
        generator = torch.Generator().manual_seed(seed)
        u = uniform(texts, length, like=self.transition, generator=generator)
        state = pick(self.stationary, u[:, 0])  # (B,)
        if texts >= MANY:
            below = self.transition.cumsum(1)
            below = below.masked_fill(below >= below[:, -1:], torch.inf)  # as `pick`: what is never drawn
            return torch.from_numpy(walk(state.numpy(), below.numpy(), u.T.contiguous().numpy()))
        maps = pick(self.transition, u[:, 1:, None])  # (B, T - 1, S): the next state after each state
        shift = 1
        while shift < maps.shape[1]:
            maps = torch.cat([maps[:, :shift], maps[:, shift:].gather(-1, maps[:, :-shift])], dim=1)
            shift *= 2
        rest = maps.gather(-1, state[:, None, None].expand(-1, maps.shape[1], 1))[..., 0]
        return torch.cat([state[:, None], rest], dim=1)

    def log_prob(self, texts: Tensor) -> Tensor:
        """log P of whole texts (B, T) under the source itself, (B,) nats."""
        start = self.stationary.log()[texts[:, 0]]
        return start + self.transition.log()[texts[:, :-1], texts[:, 1:]].sum(1)

    def contexts(self, length: int) -> tuple[Tensor, Tensor]:
        """All texts of `length` symbols (S^length, length), and their probabilities (S^length,)."""
        S = len(self.transition)
        if length == 0:
            return torch.zeros(1, 0, dtype=torch.int64), torch.ones(1).double()
        texts = torch.cartesian_prod(*[torch.arange(S)] * length).reshape(-1, length)
        return texts, self.log_prob(texts).exp()


def cross_entropy(source: Source, model: NGram) -> float:
    """Expected nats per symbol of `model` on the source's text, far from its start; exact."""
    contexts, weights = source.contexts(max(model.order - 1, 1))
    truth = source.transition[contexts[:, -1]]  # (contexts, S)
    log_q = model.next_log_probs(contexts)
    return -float((weights[:, None] * torch.special.xlogy(truth, log_q.exp())).sum())


@dataclass(frozen=True)
class Ladder:
    """Models of order 1 to n, trained on one text of the source. All in bits per symbol.

    Attributes:
        orders: 1..n. train: on the training text. test: on one other text. expected: over all texts.
    """

    orders: list[int]
    train: Tensor
    test: Tensor
    expected: Tensor


def ladder(source: Source, train: Tensor, test: Tensor, most: int, alpha: float) -> Ladder:
    """Train add-α models of order 1..`most` on train (1, T) and measure them on test (1, T')."""
    rows = []
    for order in range(1, most + 1):
        model = NGram(len(source.transition), order, smoothing="add", alpha=alpha)
        model.fit(train)
        nats = [-float(model.log_prob(text)) / text.shape[1] for text in (train, test)]
        rows.append([*nats, cross_entropy(source, model)])
    table = torch.tensor(rows).T / torch.tensor(2.0).log()
    return Ladder(list(range(1, most + 1)), *table)


def scatter_of_texts(source: Source, texts: int, length: int, seed: int) -> Tensor:
    """Bits per symbol of many texts under the source itself, (B,): the perfect model on finite texts."""
    drawn = source.sample(texts, length, seed)
    return -source.log_prob(drawn) / length / torch.tensor(2.0).double().log()


def share_below(values: Tensor, floor: float) -> float:
    """Share of values that lie below the floor by more than rounding."""
    return float((values < floor - ROUNDING).double().mean())


def histogram(values: Tensor, bins: int = 24) -> tuple[list[str], Tensor, Tensor]:
    """Labels, centres and counts of equal bins over the range of `values`."""
    low, high = float(values.min()), float(values.max())
    if high - low < ROUNDING:  # one value, one bar
        return [f"{low:.3f}"], values[:1], torch.tensor([len(values)])
    edges = torch.linspace(low, high, bins + 1, dtype=torch.float64)
    counts = torch.histogram(values.double(), edges).hist.long()
    centres = (edges[1:] + edges[:-1]) / 2
    return [f"{c:.3f}" for c in centres.tolist()], centres, counts


def two_states(a: float, b: float) -> Source:
    """The source of two symbols that goes from 0 to 1 with probability a, and from 1 to 0 with b."""
    return Source(torch.tensor([[1 - a, a], [b, 1 - b]], dtype=torch.float64))
