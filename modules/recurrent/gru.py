"""GRU, gated recurrent unit: two gates, and a state that is its own memory.

    r, z = σ(W_• x_t + U_• h_{t−1} + b_•)
    n = tanh(W_n x_t + b_n + r ⊙ (U_n h_{t−1} + b_hn))    reset after the product
    n = tanh(W_n x_t + b_n + U_n (r ⊙ h_{t−1}))           reset before it, as in the paper
    h_t = (1 − z) ⊙ n + z ⊙ h_{t−1}                       an update gate of 1 keeps the old state

The two are different functions; after the product all of U h is one product of matrices, which is what
kernels want. The texts give no equations.

References: Cho et al. 2014, arXiv:1406.1078 (before); Chung et al. 2014, arXiv:1412.3555; named in [GM]
1.6.3, [LLM], [DGM], [UDL] notes of ch. 12.
"""

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from modules.recurrent.cell import Cell, Gates, State


class GRUCell(Cell):
    """GRU cell, 3 (H (H + D) + H) parameters, and H more for b_hn where the reset comes after.

    With two biases b_hn is the last block of the second.

    Args:
        inputs, hidden, start, frozen, biases: see `Cell`; the gates are r and z.
        reset: "after" or "before" the product with U_n.
        update_bias: b_z at the start, on top of what is drawn; a high one keeps the state for long, as an
            LSTM's forget bias does.

    Raises:
        ValueError: reset is neither, and what `Cell` refuses.

    Example:
        >>> sum(p.numel() for p in GRUCell(128, 256, reset="before").parameters())
        295680
    """

    BLOCKS = ("r", "z", "candidate")
    GATES = ("r", "z")

    def __init__(
        self,
        inputs: int,
        hidden: int,
        reset: Literal["after", "before"] = "after",
        update_bias: float = 0.0,
        **cell: Any,
    ) -> None:
        if reset not in ("after", "before"):
            raise ValueError(f"reset is {reset!r}: it must be after or before.")
        super().__init__(inputs, hidden, **cell)
        self.reset = reset
        self.bias.data[hidden : 2 * hidden] += update_bias
        own = reset == "after" and self.bias_h is None
        self.bias_hn = nn.Parameter(torch.zeros(hidden)) if own else None

    @property
    def kernel(self) -> Callable[..., tuple[Tensor, ...]] | None:
        after = self.reset == "after" and not self.frozen
        return torch._VF.gru if after else None  # type: ignore[attr-defined]

    def product_bias(self) -> Tensor | None:
        """b_hn (H,), which the reset gate multiplies; None where it comes before the product."""
        if self.reset == "before":
            return None
        return self.bias_hn if self.bias_h is None else self.bias_h[2 * self.hidden :]

    def input_bias(self) -> Tensor:
        if self.bias_h is None or self.reset == "before":
            return super().input_bias()
        return self.bias + F.pad(self.bias_h[: 2 * self.hidden], (0, self.hidden))

    def recurrent_bias(self) -> Tensor:
        if self.bias_hn is None:
            return super().recurrent_bias()
        return F.pad(self.bias_hn, (2 * self.hidden, 0))

    def advance(self, a: Tensor, state: State) -> tuple[State, Gates]:
        h, width = state.h, 2 * self.hidden
        u_gates, u_n = self.weight_h[:width], self.weight_h[width:]
        a_r, a_z = torch.addmm(a[:, :width], h, u_gates.t()).chunk(2, -1)
        r, z = self.gate("r", a_r), self.gate("z", a_z)
        if (bias_n := self.product_bias()) is None:
            candidate = torch.addmm(a[:, width:], r * h, u_n.t()).tanh()
        else:
            candidate = (a[:, width:] + r * torch.addmm(bias_n, h, u_n.t())).tanh()
        return State((1 - z) * candidate + z * h), {"r": r, "z": z, "candidate": candidate}

    def pull_back(
        self, gates: Gates, before: State, after: State, grad: State
    ) -> tuple[Tensor, dict[str, Tensor], State]:
        r, z, candidate = (gates[name] for name in self.BLOCKS)
        h, u_n = before.h, self.weight_h[2 * self.hidden :]
        da_n = grad.h * (1 - z) * (1 - candidate.square())
        da_z = grad.h * (h - candidate) * self.gate_slope("z", z)
        if (bias_n := self.product_bias()) is None:
            d_bias, d_product = da_n, da_n @ u_n  # by r ⊙ h
            d_reset, d_h = d_product * h, d_product * r
            d_un = da_n.t() @ (r * h)
        else:
            d_bias = da_n * r  # by U_n h + b_hn
            d_reset, d_h = da_n * torch.addmm(bias_n, h, u_n.t()), d_bias @ u_n
            d_un = d_bias.t() @ h
        da_gates = torch.cat([d_reset * self.gate_slope("r", r), da_z], -1)  # (B, 2H)
        by_parameter = {"weight_h": torch.cat([da_gates.t() @ h, d_un])}
        if self.bias_h is not None:
            by_parameter["bias_h"] = torch.cat([da_gates, d_bias], -1).sum(0)
        elif self.bias_hn is not None:
            by_parameter["bias_hn"] = d_bias.sum(0)
        d_before = grad.h * z + d_h + da_gates @ self.weight_h[: 2 * self.hidden]
        return torch.cat([da_gates, da_n], -1), by_parameter, State(d_before)
