"""The Elman RNN: the state is a nonlinear function of the state before and of the input.

    h_t = φ(W_h h_{t−1} + W_x x_t + b),    φ = tanh, sigmoid, ReLU or the identity

    J_t = ∂h_t/∂h_{t−1} = diag(φ'(a_t)) W_h,    φ' by h itself: 1 − h²,  h (1 − h),  [h > 0],  1

References: Elman 1990, Finding structure in time; [LLM] definition 1.3, 1.16; [GM] 1.6.2, definition 1.9
([GM] bounds |φ'| ≤ α < 1 also for tanh, whose slope at 0 is 1).
"""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor

from modules.recurrent.cell import Cell, Gates, State

NONLINEARITIES: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor], float]] = {
    # φ, φ' as a function of h = φ(a), and γ = sup φ'
    "tanh": (torch.tanh, lambda h: 1 - h.square(), 1.0),
    "sigmoid": (torch.sigmoid, lambda h: h * (1 - h), 0.25),
    "relu": (torch.relu, lambda h: (h > 0).to(h.dtype), 1.0),
    "identity": (lambda a: a, torch.ones_like, 1.0),
}


class RNNCell(Cell):
    """Elman cell, H (H + D) + H parameters.

    Args:
        inputs, hidden, start, biases: see `Cell`.
        nonlinearity: φ; torch has kernels for tanh and ReLU.

    Raises:
        ValueError: an unknown nonlinearity, and what `Cell` refuses.

    Example:
        >>> sum(p.numel() for p in RNNCell(128, 256).parameters())
        98560
    """

    BLOCKS = ("h",)

    def __init__(
        self,
        inputs: int,
        hidden: int,
        nonlinearity: Literal["tanh", "sigmoid", "relu", "identity"] = "tanh",
        **cell: Any,
    ) -> None:
        if nonlinearity not in NONLINEARITIES:
            raise ValueError(f"nonlinearity is {nonlinearity!r}: it must be {', '.join(NONLINEARITIES)}.")
        super().__init__(inputs, hidden, **cell)
        self.nonlinearity = nonlinearity
        self.slope_bound = NONLINEARITIES[nonlinearity][2]

    @property
    def phi(self) -> Callable[[Tensor], Tensor]:
        """φ: a -> h, elementwise."""
        return NONLINEARITIES[self.nonlinearity][0]  # not an attribute: a lambda cannot be pickled

    @property
    def slope(self) -> Callable[[Tensor], Tensor]:
        """φ' as a function of h."""
        return NONLINEARITIES[self.nonlinearity][1]

    @property
    def kernel(self) -> Callable[..., tuple[Tensor, ...]] | None:
        kernels = {"tanh": torch._VF.rnn_tanh, "relu": torch._VF.rnn_relu}  # type: ignore[attr-defined]
        return kernels.get(self.nonlinearity)

    def advance(self, a: Tensor, state: State) -> tuple[State, Gates]:
        return State(self.phi(torch.addmm(a, state.h, self.weight_h.t()))), {}

    def pull_back(
        self, gates: Gates, before: State, after: State, grad: State
    ) -> tuple[Tensor, dict[str, Tensor], State]:
        da = grad.h * self.slope(after.h)  # (B, H)
        return da, self.recurrent_partials(da, before.h), State(da @ self.weight_h)
