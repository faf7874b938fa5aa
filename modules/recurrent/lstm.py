"""LSTM, long short-term memory: a memory that is added to, behind gates.

    i, f, o = σ(W_• [h_{t−1}, x_t] + b_•),    c̃ = tanh(W_c [h_{t−1}, x_t] + b_c)
    cell_t = f ⊙ cell_{t−1} + i ⊙ c̃,    h_t = o ⊙ tanh(cell_t)

The derivative along the memory has a direct path and three indirect ones, through h_{t−1}:

    ∂cell_t/∂cell_{t−1} = diag(f) + [diag(cell_{t−1} f (1−f)) W_fh + diag(c̃ i (1−i)) W_ih
                          + diag(i (1−c̃²)) W_ch] diag(o_{t−1} (1 − tanh² cell_{t−1}))

The direct path over T steps is ∏ f: it decays exponentially unless f ≈ 1 ([GM] says that it does not; with a
forget bias of 1 and nothing else, f = .731 and 100 steps leave 2.5e-14). `frozen={"f": 1.0}` is the cell of
1997, which cannot forget; forget gates came in 2000 ([LLM] dates them to 1997).

References: Hochreiter, Schmidhuber 1997, Long short-term memory; Gers, Schmidhuber, Cummins 2000, Learning to
forget; Jozefowicz et al. 2015 (forget bias of 1); [LLM] definition 1.4, 1.18; [GM] definition 1.10.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from modules.recurrent.cell import Cell, Gates, State


class LSTMCell(Cell):
    """LSTM cell without peepholes, 4 (H (H + D) + H) parameters.

    Args:
        inputs, hidden, start, frozen, biases: see `Cell`; the gates are i, f and o.
        forget_bias: b_f at the start, on top of what is drawn. The half-life of the memory in steps is
            −ln 2 / ln σ(b_f): 2.2 at 1, 103 at 5.

    Example:
        >>> sum(p.numel() for p in LSTMCell(128, 256).parameters())
        394240
    """

    BLOCKS = ("i", "f", "candidate", "o")
    GATES = ("i", "f", "o")

    def __init__(self, inputs: int, hidden: int, forget_bias: float = 1.0, **cell: Any) -> None:
        super().__init__(inputs, hidden, **cell)
        self.bias.data[hidden : 2 * hidden] += forget_bias

    @property
    def kernel(self) -> Callable[..., tuple[Tensor, ...]] | None:
        return None if self.frozen else torch._VF.lstm  # type: ignore[attr-defined]

    def initial_state(self, x: Tensor) -> State:
        zeros = x.new_zeros(len(x), self.hidden)
        return State(zeros, zeros)

    def advance(self, a: Tensor, state: State) -> tuple[State, Gates]:
        assert state.cell is not None
        a_i, a_f, a_c, a_o = torch.addmm(a, state.h, self.weight_h.t()).chunk(4, -1)
        i, f, o = self.gate("i", a_i), self.gate("f", a_f), self.gate("o", a_o)
        candidate = a_c.tanh()
        cell = f * state.cell + i * candidate
        return State(o * cell.tanh(), cell), {"i": i, "f": f, "candidate": candidate, "o": o}

    def pull_back(
        self, gates: Gates, before: State, after: State, grad: State
    ) -> tuple[Tensor, dict[str, Tensor], State]:
        assert before.cell is not None and after.cell is not None and grad.cell is not None
        i, f, candidate, o = (gates[name] for name in self.BLOCKS)
        shown = after.cell.tanh()
        d_cell = grad.cell + grad.h * o * (1 - shown.square())
        da = torch.cat(
            [
                d_cell * candidate * self.gate_slope("i", i),
                d_cell * before.cell * self.gate_slope("f", f),
                d_cell * i * (1 - candidate.square()),
                grad.h * shown * self.gate_slope("o", o),
            ],
            -1,
        )  # (B, 4H)
        return da, self.recurrent_partials(da, before.h), State(da @ self.weight_h, d_cell * f)


def cell_jacobian(cell: LSTMCell, gates: Gates, before: State, output_gate: Tensor) -> tuple[Tensor, Tensor]:
    """∂cell_t/∂cell_{t−1} as its direct path diag(f) and the sum of the indirect ones, each (B, H, H).

    Args:
        gates: of step t. before: the state of step t − 1.
        output_gate: o_{t−1} (B, H), which let cell_{t−1} into h_{t−1} and does not depend on it.
    """
    assert before.cell is not None
    i, f, candidate = gates["i"], gates["f"], gates["candidate"]
    w_i, w_f, w_c, _ = cell.weight_h.chunk(4)
    by_h = (
        (before.cell * cell.gate_slope("f", f))[..., None] * w_f
        + (candidate * cell.gate_slope("i", i))[..., None] * w_i
        + (i * (1 - candidate.square()))[..., None] * w_c
    )  # (B, H, H)
    return torch.diag_embed(f), by_h * (output_gate * (1 - before.cell.tanh().square()))[..., None, :]
