"""Markov chains as densities: the next variable depends on the last k alone.

    p(x) = p(x_1, …, x_k) Π_{i > k} p(x_i | x_{i-k}, …, x_{i-1})
    k = 1:  ν_i = p(x_1 = i),  A_ij = p(x_{t+1} = j | x_t = i),  distribution of x_{1+m}: ν A^m

Homogeneous: one table A for all steps. Position-specific: a table for every step, A_1, A_2, … (time-
inhomogeneous). A function of a chain, such as several states that look the same, need not be a chain of any
order: `history_distribution` counts how far back it remembers. The process of whole histories always is one,
which is why an autoregressive model may need all of x_<i.

[BB] 5.1, example 5.10.3, prints a matrix whose rows sum to 1.2, 1.2, .7, 1.2, .7; its columns sum to 1, so
its transpose is the transition matrix (`FIVE_STATES`). What is seen of an HMM is such an image too: its
memory is unbounded, so [DGM]'s list of autoregressive models is right only with all of the past.

References: [GM] 1.2.2; [BB] 5.1; Norris 1997.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from modules.autoregressive.tables import ConditionalTables

# [BB] 5.1, example 5.10.3, as printed; its transpose is the transition matrix
PRINTED = [
    [0, 1, 0, 1 / 5, 0],
    [0, 0, 1, 1 / 5, 0],
    [1 / 2, 0, 0, 1 / 5, 0],
    [0, 0, 0, 1 / 5, 1],
    [1 / 2, 0, 0, 1 / 5, 0],
]
FIVE_STATES = [list(column) for column in zip(*PRINTED, strict=True)]


class MarkovChain(ConditionalTables):
    """Args:
    event_shape: shape of one example, read in raster order.
    memory: k, how many variables back.
    homogeneous: one table for all variables that have k before them.
    num_categories: K states.
    smoothing: α, see `tables`.
    training: metrics, ... of `modules.base.Module`.
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (784,),
        memory: int = 1,
        homogeneous: bool = False,
        num_categories: int = 2,
        smoothing: float = 0.5,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, "raster", num_categories, **training)
        if memory < 0:
            raise ValueError(f"memory is {memory}: it must be at least 0.")
        self.memory, self.homogeneous = memory, homogeneous
        parents = [list(range(max(0, i - memory), i))[::-1] for i in range(self.n)]  # the last one first
        tables = [min(i, memory) for i in range(self.n)] if homogeneous else None
        self.set_parents(parents, smoothing, tables)

    @property
    def initial(self) -> Tensor:
        """ν, (K,): the distribution of the first variable."""
        return self.table[0]

    def transition(self, i: int = 1) -> Tensor:
        """A of the step to variable i, (K, K), row: from, column: to.

        Raises:
            ValueError: the chain does not remember exactly one variable, or i has none before it.
        """
        if self.memory != 1 or not 1 <= i < self.n:
            raise ValueError("a transition matrix needs memory 1 and a variable after the first.")
        first = int(self.first[i])
        return self.table[first : first + self.num_categories]

    def marginals(self) -> Tensor:
        """The distribution of every variable, (n, K): ν, νA_1, νA_1A_2, …"""
        distributions = [self.initial]
        for i in range(1, self.n):
            distributions.append(distributions[-1] @ self.transition(i))
        return torch.stack(distributions)


def check_transition(transition: Tensor) -> None:
    """Raises ValueError: not square, negative, or a row that does not sum to 1."""
    if transition.ndim != 2 or transition.shape[0] != transition.shape[1] or (transition < 0).any():
        raise ValueError("a transition matrix is square, without negative entries.")
    sums = transition.sum(1)
    if (sums - 1).abs().max() > 1e-6:
        worst = int((sums - 1).abs().argmax())
        raise ValueError(f"row {worst + 1} sums to {float(sums[worst]):.4g}: every row must sum to 1.")


def distribution_after(initial: Tensor, transition: Tensor, steps: int) -> Tensor:
    """ν A^m, (K,)."""
    return initial @ torch.linalg.matrix_power(transition, steps)


def stationary(transition: Tensor) -> Tensor:
    """π with πA = π and Σπ = 1, (K,); of one that is not unique, some solution."""
    size = len(transition)
    system = torch.cat(
        [transition.t() - torch.eye(size, dtype=transition.dtype), transition.new_ones(1, size)]
    )
    target = torch.cat([transition.new_zeros(size), transition.new_ones(1)])
    return torch.linalg.lstsq(system, target[:, None], driver="gelsd").solution[:, 0]


def history_distribution(
    transition: Tensor, symbols: Sequence[int], history: Sequence[int], initial: Tensor | None = None
) -> Tensor:
    """p(next symbol | the last symbols), of y_t = symbols[x_t], x a chain: (S,); NaN if they never occur.

    Args:
        history: oldest first.
        initial: distribution of the chain where the history begins; None is the stationary one.
    """
    images = torch.as_tensor(symbols)
    count = int(images.max()) + 1
    p = stationary(transition) if initial is None else initial
    for step, symbol in enumerate(history):
        p = (p if step == 0 else p @ transition) * (images == symbol)  # p(x_t, y_≤t)
    following = p @ transition if len(history) else p
    by_symbol = torch.zeros(count, dtype=transition.dtype).index_add(0, images, following)
    return by_symbol / by_symbol.sum()
