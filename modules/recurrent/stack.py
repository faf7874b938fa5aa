"""A recurrent network: layers of cells, each reading the states of the one below, one or both ways.

    h^(l)_t = cell^(l)(h^(l−1)_t, h^(l)_{t−1}),    h^(0)_t = x_t
    both ways:  z_t = [h→_t ; h←_t], from two networks with separate weights       ([GM] writes one symbol)

A padded batch gives what its sequences give alone: the way back begins at the end of each sequence, and
nothing is computed of what stands behind it. Torch's fused kernels run where torch has them; a sigmoid or
the identity, a reset before the product and frozen gates run our loop, as does whoever looks in (`unroll`).

Shapes: x (B, T, D); outputs (B, T, H), or (B, T, 2H) both ways; states (B, L, H), or (B, 2L, H) both ways,
in the order forward 1, backward 1, forward 2, ...

References: Schuster, Paliwal 1997, Bidirectional recurrent neural networks; Graves 2013, arXiv:1308.0850
(stacks); [GM] 1.1 to 1.6; [DGM] deck 1, annotations.
"""

import inspect
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from modules.base import require
from modules.recurrent.cell import Cell, Gates, State
from modules.recurrent.gru import GRUCell
from modules.recurrent.lstm import LSTMCell
from modules.recurrent.rnn import RNNCell

CELLS: dict[str, type[Cell]] = {"rnn": RNNCell, "lstm": LSTMCell, "gru": GRUCell}

# names of tensors of torch's recurrent layer -> those of a `Recurrent` of one layer with two biases
TORCH_NAMES = {
    "weight_ih_l0": "cells.0.weight_x",
    "weight_hh_l0": "cells.0.weight_h",
    "bias_ih_l0": "cells.0.bias",
    "bias_hh_l0": "cells.0.bias_h",
}


def reverse(x: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Each sequence backwards, what stands behind its end left where it is: x (B, T, ...)."""
    if lengths is None:
        return x.flip(1)
    t = torch.arange(x.shape[1], device=x.device)
    place = torch.where(t < lengths[:, None], lengths[:, None] - 1 - t, t)  # (B, T)
    return x[torch.arange(len(x), device=x.device)[:, None], place]


class Recurrent(nn.Module):
    """RNN, LSTM or GRU of several layers, one or both ways.

    Args:
        cell: "rnn", "lstm" or "gru".
        inputs: D. hidden: H.
        layers: number of layers.
        bidirectional: read both ways; for encoding only, since a step would have to know what comes.
        dropout: probability of dropping a value between two layers.
        options: of the cell: `nonlinearity` of "rnn"; `forget_bias`, `frozen` of "lstm"; `reset`,
            `update_bias`, `frozen` of "gru"; `start`, `biases` of all.

    Raises:
        ValueError: an argument is out of range, dropout is given for one layer, or the cell has no such
            option.

    Example:
        >>> network = Recurrent("lstm", 8, 16, layers=2, bidirectional=True)
        >>> outputs, state = network(torch.zeros(3, 5, 8), lengths=torch.tensor([5, 2, 4]))
        >>> outputs.shape, state.h.shape, state[torch.tensor([2, 2])].h.shape
        (torch.Size([3, 5, 32]), torch.Size([3, 4, 16]), torch.Size([2, 4, 16]))
    """

    def __init__(
        self,
        cell: Literal["rnn", "lstm", "gru"],
        inputs: int,
        hidden: int,
        layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        **options: Any,
    ) -> None:
        require(1, layers=layers)
        require(0, 1, dropout=dropout)
        if cell not in CELLS:
            raise ValueError(f"cell is {cell!r}: it must be {', '.join(CELLS)}.")
        known = {name for cls in (CELLS[cell], Cell) for name in inspect.signature(cls).parameters}
        if unknown := sorted(options.keys() - known | options.keys() & {"inputs", "hidden", "cell"}):
            raise ValueError(f"{cell} has no option {', '.join(unknown)}.")
        if dropout and layers == 1:
            raise ValueError(f"dropout is {dropout}: it is between layers, and there is one.")
        super().__init__()
        self.hidden, self.layers, self.bidirectional, self.dropout = hidden, layers, bidirectional, dropout
        self.directions = 2 if bidirectional else 1
        self.outputs = hidden * self.directions  # width of what `forward` returns
        widths = [inputs] + [self.outputs] * (layers - 1)
        self.cells = nn.ModuleList(
            CELLS[cell](width, hidden, **options) for width in widths for _ in range(self.directions)
        )

    def initial_state(self, x: Tensor) -> State:
        """Zeros (B, L, H) for inputs x (B, ...)."""
        return self._stack([cell.initial_state(x) for cell in self._cells()])

    def forward(
        self, x: Tensor, state: State | None = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """Read sequences x (B, T, D) -> outputs (B, T, H or 2H), and the state behind the end of each.

        Args:
            state: before the first step; zeros without one.
            lengths: (B,) steps of each sequence, 1 to T; outputs behind them are 0.

        Raises:
            ValueError: a length is out of range.
        """
        kernel = self._cells()[0].kernel
        if kernel is None or not x.shape[0] * x.shape[1]:
            return self.unroll(x, state, lengths)[:2]
        if x.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
            # the LSTM of oneDNN reads half precision on some processors alone: it runs in that of the weights
            dtype = self._cells()[0].weight_x.dtype
            state = state and state.map(lambda s: s.to(dtype))
            with torch.autocast("cpu", enabled=False):
                return self(x.to(dtype), state, lengths)
        self._check(x, lengths)
        state = self.initial_state(x) if state is None else state
        start = state.map(lambda s: s.transpose(0, 1).contiguous())  # (L, B, H) as torch has it
        weights = [w for c in self._cells() for w in (c.weight_x, c.weight_h, c.bias, c.recurrent_bias())]
        settings = True, self.layers, self.dropout, self.training, self.bidirectional
        if lengths is None:
            out, *end = kernel(x, self._pair(start), weights, *settings, True)
        else:
            packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            start = start.map(lambda s: s[:, packed.sorted_indices])
            out, *end = kernel(packed.data, packed.batch_sizes, self._pair(start), weights, *settings)
            out, _ = pad_packed_sequence(packed._replace(data=out), batch_first=True, total_length=x.shape[1])
            end = [s[:, packed.unsorted_indices] for s in end]
        return out, State(*end).map(lambda s: s.transpose(0, 1))

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Read one more input x (B, D) -> output (B, H), and the state after it.

        Raises:
            ValueError: the network reads both ways.
        """
        if self.bidirectional:
            raise ValueError("A bidirectional network has no step: it reads the whole sequence at once.")
        outputs, state = self(x[:, None], state)
        return outputs[:, 0], state

    def unroll(
        self, x: Tensor, state: State | None = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, State, list[Gates]]:
        """What `forward` gives, computed step by step, and all that happens inside.

        Returns: outputs; state; for each layer and direction h, an LSTM's cell, candidate and gates by name,
            each (B, T, H), at the place of the input that they read.
        """
        self._check(x, lengths)
        states = self.initial_state(x) if state is None else state
        ends, inside = [], []
        for layer in range(self.layers):
            x = F.dropout(x, self.dropout, self.training and layer > 0)
            outputs = []
            for way in range(self.directions):
                number = layer * self.directions + way
                read = reverse(x, lengths) if way else x
                output, end, steps = self._cells()[number].unroll(read, states[:, number], lengths)
                names = {"h": [s.h for s, _ in steps]}
                if end.cell is not None:
                    names["cell"] = [s.cell for s, _ in steps if s.cell is not None]
                for name in steps[0][1] if steps else ():
                    names[name] = [gates[name] for _, gates in steps]
                seen = {name: torch.stack(values, 1) for name, values in names.items() if values}
                if way:
                    output = reverse(output, lengths)
                    seen = {name: reverse(values, lengths) for name, values in seen.items()}
                outputs.append(output)
                ends.append(end)
                inside.append(seen)
            x = torch.cat(outputs, -1)
        return x, self._stack(ends), inside

    # --- Forms ---------------------------------------------------------------------------------

    def _cells(self) -> list[Cell]:
        return list(self.cells)  # type: ignore[arg-type]

    @staticmethod
    def _stack(states: list[State]) -> State:
        """States (B, H) of all cells -> (B, L, H)."""
        return states[0].map(lambda *s: torch.stack(s, 1), *states[1:])

    @staticmethod
    def _pair(state: State) -> Any:
        return state.h if state.cell is None else (state.h, state.cell)

    @staticmethod
    def _check(x: Tensor, lengths: Tensor | None) -> None:
        if lengths is not None and not ((lengths >= 1) & (lengths <= x.shape[1])).all():
            raise ValueError(f"lengths are {lengths.tolist()}: each must be between 1 and {x.shape[1]}.")
