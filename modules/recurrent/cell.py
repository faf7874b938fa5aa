"""A recurrent cell: the same weights at every step carry a state through a sequence.

    state_t = cell(x_t, state_{t−1}),    a_t = W_x x_t + b    for all t in one product,    state_0 = 0

`Cell` holds what the Elman RNN, the LSTM and the GRU share: weights of all gates stacked in the order of
torch, the loop over time, and backpropagation through one step (`pull_back`), written by hand and used by
`modules.recurrent.bptt`. A cell has one bias a gate; torch keeps a second of the same effect,
b_h, added to W_h h_{t−1}: a cell has it with `biases=2`.

Shapes: x (B, T, D), h and cell (B, H), gates (B, T, H).

References: [LLM] definitions 1.3 and 1.4; [GM] 1.6.2; Saxe et al. 2014, arXiv:1312.6120 (orthogonal start).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from modules.base import require

Gates = dict[str, Tensor]


@dataclass(frozen=True)
class State:
    """State of a cell, (B, H), or of a stack of them, (B, L, H); `state[rows]` takes rows of the batch.

    Attributes:
        h: what the cell shows.
        cell: memory of an LSTM; None of the others.
    """

    h: Tensor
    cell: Tensor | None = None

    def map(self, f: Callable[..., Tensor], *others: "State") -> "State":
        """f of each tensor, beside those of `others`."""
        cells = [s.cell for s in (self, *others) if s.cell is not None]
        return State(f(self.h, *(s.h for s in others)), f(*cells) if cells else None)

    def __getitem__(self, rows: Any) -> "State":
        return self.map(lambda s: s[rows])

    def detach(self) -> "State":
        """The same numbers, through which no gradient flows: what truncated backpropagation carries on."""
        return self.map(Tensor.detach)


class Cell(nn.Module):
    """Base of the cells: a subclass says in `advance` what one step computes, in `pull_back` its derivative.

    Args:
        inputs: D. hidden: H.
        start: of the recurrent weights: "uniform" in ±1/√H as torch has it, or "orthogonal" for each gate,
            which keeps the length of a state. Biases start at 0.
        frozen: gates that are held at a number, {"f": 1.0}; their weights do nothing.
        biases: 2 has torch's second bias too, and draws both as torch does, in ±1/√H.

    Raises:
        ValueError: a size below 1, an unknown start, no gate of that name, or biases neither 1 nor 2.

    Attributes:
        weight_x: (G H, D), weight_h: (G H, H), bias: (G H,), blocks in the order of `BLOCKS`.
        bias_h: (G H,), the second bias; None with one.
    """

    BLOCKS: ClassVar[tuple[str, ...]]  # stacked in the weights
    GATES: ClassVar[tuple[str, ...]] = ()  # those of them that are gates, between 0 and 1

    def __init__(
        self,
        inputs: int,
        hidden: int,
        start: Literal["uniform", "orthogonal"] = "uniform",
        frozen: Mapping[str, float] | None = None,
        biases: Literal[1, 2] = 1,
    ) -> None:
        require(1, inputs=inputs, hidden=hidden)
        if start not in ("uniform", "orthogonal"):
            raise ValueError(f"start is {start!r}: it must be uniform or orthogonal.")
        if biases not in (1, 2):
            raise ValueError(f"biases is {biases!r}: it must be 1 or 2.")
        for name in frozen or {}:
            if name not in self.GATES:
                gates = f"its gates are {', '.join(self.GATES)}" if self.GATES else "it has no gates"
                raise ValueError(f"frozen has {name!r}: {gates}.")
        super().__init__()
        self.inputs, self.hidden, self.frozen = inputs, hidden, dict(frozen or {})
        rows = len(self.BLOCKS) * hidden
        self.weight_x = nn.Parameter(torch.empty(rows, inputs))
        self.weight_h = nn.Parameter(torch.empty(rows, hidden))
        self.bias = nn.Parameter(torch.zeros(rows))
        self.bias_h = nn.Parameter(torch.empty(rows)) if biases == 2 else None
        both = [] if self.bias_h is None else [self.bias, self.bias_h]
        for weight in (self.weight_x, self.weight_h, *both):  # in torch's order, so that draws are the same
            nn.init.uniform_(weight, -(hidden**-0.5), hidden**-0.5)
        if start == "orthogonal":
            for block in self.weight_h.detach().split(hidden):
                nn.init.orthogonal_(block)

    def extra_repr(self) -> str:
        return f"{self.inputs}, {self.hidden}" + (f", frozen={self.frozen}" if self.frozen else "")

    # --- What a subclass says --------------------------------------------------------------------

    @property
    def kernel(self) -> Callable[..., tuple[Tensor, ...]] | None:
        """The function of torch that computes the same for all steps at once; None where it has none."""
        raise NotImplementedError

    def input_bias(self) -> Tensor:
        """What `project` adds to W_x x (G H,): b, and of b_h all that no gate multiplies."""
        return self.bias if self.bias_h is None else self.bias + self.bias_h

    def recurrent_bias(self) -> Tensor:
        """What is added to W_h h (G H,), as torch's kernels take it; zeros where there is no second bias."""
        return torch.zeros_like(self.bias) if self.bias_h is None else self.bias_h

    def advance(self, a: Tensor, state: State) -> tuple[State, Gates]:
        """The state after a step, and its gates: a = W_x x + b + b_h (B, G H)."""
        raise NotImplementedError

    def pull_back(
        self, gates: Gates, before: State, after: State, grad: State
    ) -> tuple[Tensor, dict[str, Tensor], State]:
        """Derivatives of a loss through one step, from those by the state after it.

        Args:
            gates: of the step. before, after: the states around it.
            grad: ∂L/∂state_t, all paths through later steps included.

        Returns: ∂L/∂a (B, G H); ∂⁺L/∂θ of the parameters θ on the recurrent side by name, with the state
            before held fixed (the immediate partial); ∂L/∂state_{t−1}.
        """
        raise NotImplementedError

    def recurrent_partials(self, d_product: Tensor, h: Tensor) -> dict[str, Tensor]:
        """∂⁺L/∂θ of W_h and b_h from ∂L/∂(W_h h + b_h) (B, G H) and the state before, h (B, H)."""
        partials = {"weight_h": d_product.t() @ h}
        return partials if self.bias_h is None else partials | {"bias_h": d_product.sum(0)}

    # --- One step, all steps ---------------------------------------------------------------------

    def initial_state(self, x: Tensor) -> State:
        """Zeros (B, H) for inputs x (B, ...)."""
        return State(x.new_zeros(len(x), self.hidden))

    def project(self, x: Tensor) -> Tensor:
        """a = W_x x + b + b_h of any number of steps: (..., D) -> (..., G H)."""
        return nn.functional.linear(x, self.weight_x, self.input_bias())

    def forward(self, x: Tensor, state: State) -> State:
        """One step: x (B, D) -> the state after it."""
        return self.advance(self.project(x), state)[0]

    def unroll(
        self, x: Tensor, state: State | None = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, State, list[tuple[State, Gates]]]:
        """Loop over all steps.

        x (B, T, D) -> outputs h (B, T, H), the last state, and state and gates of each step.
        Behind the end of its sequence, `lengths` (B,), a row's state stands still and its output is 0.
        """
        state = self.initial_state(x) if state is None else state
        outputs, steps = [x.new_zeros(len(x), 0, self.hidden)], []
        for t, a in enumerate(self.project(x).unbind(1)):
            after, gates = self.advance(a, state)
            output = after.h
            if lengths is not None:
                on = (t < lengths)[:, None]
                after = after.map(lambda new, old, on=on: torch.where(on, new, old), state)
                output = output * on
            state = after
            outputs.append(output[:, None])
            steps.append((state, gates))
        return torch.cat(outputs, 1), state, steps

    def gate(self, name: str, a: Tensor) -> Tensor:
        """σ(a), or what the gate is frozen at."""
        return torch.full_like(a, self.frozen[name]) if name in self.frozen else a.sigmoid()

    def gate_slope(self, name: str, value: Tensor) -> Tensor:
        """σ'(a) by the value σ(a); 0 of a frozen gate."""
        return torch.zeros_like(value) if name in self.frozen else value * (1 - value)
