"""FVSBN, fully visible sigmoid belief network: each bit is a logistic regression on the bits before it.

    log p(x) = Σ_i log p(x_i | x_<i),    p(x_i = 1 | x_<i) = σ(b_i + Σ_{j before i} A_ij x_j)

A is lower triangular in the order of the variables; with the biases it has n(n + 1)/2 numbers. The loss
is convex, so training finds the best network of its kind; but a conditional that is not logistic, such as
x_3 = x_1 xor x_2, stays out of reach, and the best loss depends on the order: the bias is that of the
restricted conditionals. ([GM] 1.5.4 blames the fixed order itself, in which late variables are unseen by
early ones; with unrestricted conditionals every order is exact.)

[GM] calls the model FVSN in its headings and FVSBN in the text.

References: Neal 1992, Connectionist learning of belief networks; Frey 1998; [GM] 1.5.1.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.autoregressive.base import Autoregressive
from modules.autoregressive.orders import ranks


class FVSBN(Autoregressive):
    """A logistic regression per variable, on bits.

    Args:
        event_shape: shape of one example; n is its product.
        order: "raster", "reversed", "random", or the variables in the order they are visited.
        seed: of a random order.
        training: optimizer, lr_scheduler, ... of `modules.base.Module`.

    Shapes: x (B, *event_shape) or (B, n), entries 0 or 1; log_prob (B,), nats.

    Example:
        >>> model = FVSBN(event_shape=(4,))
        >>> model.num_parameters, model.log_prob(torch.zeros(1, 4)).item()
        (10, -2.7725887298583984)
    """

    place: Tensor

    def __init__(
        self,
        event_shape: Sequence[int] = (784,),
        order: str | Sequence[int] = "raster",
        seed: int = 0,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, order, 2, seed, **training)
        later, earlier = torch.tril_indices(self.n, self.n, -1)  # pairs of ranks, from 0
        # only the live half of A is stored, row by row in the order; here is where it lies in A
        self.register_buffer("place", self.order[later] * self.n + self.order[earlier], persistent=False)
        self.weight = nn.Parameter(torch.zeros(len(self.place)))  # (n(n-1)/2,)
        self.bias = nn.Parameter(torch.zeros(self.n))

    def matrix(self, order: Tensor | None = None) -> Tensor:
        """A (n, n): row i holds what x_i's logit reads. Under another order, what it puts later is 0."""
        flat = self.weight.new_zeros(self.n * self.n).scatter(0, self.place, self.weight)
        matrix = flat.reshape(self.n, self.n)
        if order is None or torch.equal(order, self.order):
            return matrix
        rank = ranks(order).to(matrix.device)
        return matrix * (rank[:, None] > rank[None, :])

    def logits(self, x: Tensor, order: Tensor | None = None, index: int = 0) -> Tensor:
        return F.linear(x, self.matrix(order), self.bias)  # (B, n) -> (B, n)

    def _sequential_logits(self, x: Tensor, order: Tensor, index: int, start: int) -> Iterator[Tensor]:
        matrix = self.matrix(order)
        for j in order[start:].tolist():
            yield x @ matrix[j] + self.bias[j]  # what comes later is not yet drawn, and 0 in A's row
