"""Untied neural conditionals: a network of its own for every variable; the baseline that NADE shares.

    h_i = σ(A^i x_<i + c),    p(x_i = 1 | x_<i) = σ(V_i · h_i + b_i),    A^i of size d × (i - 1)

Nothing but c is shared: d n(n - 1)/2 input weights, where NADE has d n, and each A^i learns from its own
pixel alone. On few examples that overfits; and no state can be carried from one variable to the next.

References: Bengio, Bengio 2000, Modeling high-dimensional discrete data; [GM] 1.5.2.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from modules.autoregressive.base import Autoregressive
from modules.autoregressive.orders import ranks


class Untied(Autoregressive):
    """Untied conditionals with one hidden layer per variable, on bits.

    Args:
        event_shape: shape of one example; n is its product. Memory grows with d n².
        hidden: d, hidden units of each variable.
        order: "raster", "reversed", "random", or the variables in the order they are visited.
        seed: of a random order.
        training: optimizer, lr_scheduler, ... of `modules.base.Module`.

    Shapes: x (B, *event_shape) or (B, n), entries 0 or 1; log_prob (B,), nats.

    Example:
        >>> Untied(event_shape=(64,), hidden=32).weight.numel()
        64512
    """

    place: Tensor

    def __init__(
        self,
        event_shape: Sequence[int] = (64,),
        hidden: int = 32,
        order: str | Sequence[int] = "raster",
        seed: int = 0,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, order, 2, seed, **training)
        if hidden < 1:
            raise ValueError(f"hidden is {hidden}: it must be at least 1.")
        self.hidden = hidden
        later, earlier = torch.tril_indices(self.n, self.n, -1)  # pairs of ranks, from 0
        # only the columns that exist are stored: for each pair (i, j) what x_j adds to the units of i
        self.register_buffer("place", self.order[later] * self.n + self.order[earlier], persistent=False)
        uniform = nn.init.uniform_
        self.weight = nn.Parameter(uniform(torch.empty(len(later), hidden), -1, 1) / max(self.n, 1) ** 0.5)
        self.start = nn.Parameter(torch.zeros(hidden))
        self.readout = nn.Parameter(uniform(torch.empty(self.n, hidden), -1, 1) / hidden**0.5)
        self.bias = nn.Parameter(torch.zeros(self.n))

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, hidden={self.hidden}"

    def columns(self, order: Tensor | None = None) -> Tensor:
        """A (n, n, d): what x_j (second) adds to the units of x_i (first), 0 where j comes later."""
        full = self.weight.new_zeros(self.n * self.n, self.hidden).index_copy(0, self.place, self.weight)
        full = full.reshape(self.n, self.n, self.hidden)
        if order is None or torch.equal(order, self.order):
            return full
        rank = ranks(order).to(full.device)
        return full * (rank[:, None] > rank[None, :])[..., None]

    def logits(self, x: Tensor, order: Tensor | None = None, index: int = 0) -> Tensor:
        a = self.start + torch.einsum("bj,ijd->bid", x, self.columns(order))
        return torch.einsum("bid,id->bi", a.sigmoid(), self.readout) + self.bias  # (B, n)

    def _sequential_logits(self, x: Tensor, order: Tensor, index: int, start: int) -> Iterator[Tensor]:
        columns = self.columns(order)
        for j in order[start:].tolist():
            yield torch.sigmoid(self.start + x @ columns[j]) @ self.readout[j] + self.bias[j]
