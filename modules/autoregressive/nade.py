"""NADE, neural autoregressive distribution estimator: one hidden state that grows by a column per variable.

    a_1 = c,    h_i = σ(a_i),    p(x_i = 1 | x_<i) = σ(V_i · h_i + b_i),    a_{i+1} = a_i + W_i x_i

All variables share W and c, so the state is never computed anew: all n conditionals cost O(n d), and so
does drawing a sample. It is a linear recurrence without a learned transition: what x_i adds is fixed by
its place, and nothing decays. h_i follows from x_<i; it is no latent variable.
For K values: softmax(V_i h_i + b_i) over K, with x_i / (K - 1) or its one-hot vector as input.

[GM] 1.5.2 adds its bias c again in every σ(a_i + c) of figure 1.9, one "own bias" per unit and step, and
gives no start: with a_1 = c the bias must not be added twice. [GM] 1.5.6 lists NADE with "n passes": its
likelihood is one sweep, parallel by cumulative sums, and only sampling goes variable by variable; that
costs O(n d), where a MADE that starts every pass anew needs O(n² d).

References: Larochelle, Murray 2011; Uria, Côté, Gregor, Murray, Larochelle 2016, arXiv:1605.02226;
[GM] 1.5.2, 1.6.1.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.autoregressive.base import Autoregressive

# --- All states at once -----------------------------------------------------------------------


def distinct_states(u: Tensor, merge: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Distinct states that a chunk of variables meets: an input of zeros adds nothing.

    Of binary digits seven pixels in eight are 0, so a few states serve the whole chunk.

    Args:
        u: (B, m, F) inputs of the m variables of the chunk.
        merge: False keeps equal states apart: an input of zero has a derivative all the same.

    Returns: owner (S,) the example of each state; read (S, m F) the inputs that it has read, 0 for the
        others; place (B m,) where, in an array (S m) of every state's predictions of every variable, the
        prediction of variable t of example b is.
    """
    batch, m, _ = u.shape
    new = torch.ones(batch, m, dtype=torch.bool, device=u.device)
    if merge:
        new[:, 1:] = (u[:, :-1] != 0).any(-1)
    row = new.flatten().cumsum(0) - 1
    owner, first = new.nonzero(as_tuple=True)
    before = torch.arange(m, device=u.device) < first[:, None]  # (S, m)
    read = (u.index_select(0, owner) * before[..., None]).flatten(1)
    return owner, read, row * m + torch.arange(m, device=u.device).repeat(batch)


def read_out(u: Tensor, weight: Tensor, start: Tensor, readout: Tensor, chunk: int) -> Tensor:
    """V_i h_i of all variables: u (B, n, F), weight (n, F, d), start (d,), readout (n, O, d) -> (B, n, O).

    Inside a chunk of variables all states come from one product of matrices; from chunk to chunk the
    state is carried, in the precision of the parameters: it is a sum over all variables before.
    """
    with torch.autocast(u.device.type, enabled=False):
        return _read_out(u.to(start.dtype), weight, start, readout, chunk)


def _read_out(u: Tensor, weight: Tensor, start: Tensor, readout: Tensor, chunk: int) -> Tensor:
    a = start.expand(len(u), -1)  # (B, d), before the chunk
    parts = []
    for inputs, columns, rows in zip(
        u.split(chunk, 1), weight.split(chunk), readout.split(chunk), strict=True
    ):
        columns, rows = columns.flatten(0, 1), rows.flatten(0, 1)  # (m F, d), (m O, d)
        owner, read, place = distinct_states(inputs, merge=not u.requires_grad)
        h = a.index_select(0, owner).addmm_(read, columns).sigmoid_()  # (S, d)
        every = (h @ rows.t()).reshape(-1, readout.shape[1])  # (S, m O) -> (S m, O)
        parts.append(every.index_select(0, place).view(*inputs.shape[:2], readout.shape[1]))
        a = torch.addmm(a, inputs.flatten(1), columns)
    return torch.cat(parts, 1)


# --- The models -------------------------------------------------------------------------------


class NADEBase(Autoregressive):
    """Base of NADE and RNADE: the running state and its readout.

    Args:
        event_shape, order, num_categories, seed: see `Autoregressive`.
        hidden: d. inputs: F, outputs: O, numbers a variable feeds to the state and reads out of it.
        chunk: variables computed at once.

    Raises:
        ValueError: a width or a chunk below 1.

    Attributes:
        weight: (n, F, d) what each input of each variable adds to the state, W of the text transposed.
        start: (d,) the first state, c.
        readout: (n, O, d), V; bias: (n, O), b.
    """

    def __init__(
        self,
        event_shape: Sequence[int],
        order: str | Sequence[int],
        num_categories: int,
        seed: int,
        hidden: int,
        inputs: int,
        outputs: int,
        chunk: int,
        /,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, order, num_categories, seed, **training)
        if hidden < 1 or chunk < 1:
            raise ValueError(f"hidden is {hidden}, chunk {chunk}: each must be at least 1.")
        self.hidden, self.chunk = hidden, chunk
        uniform = nn.init.uniform_
        self.weight = nn.Parameter(uniform(torch.empty(self.n, inputs, hidden), -1, 1) / self.n**0.5)
        self.start = nn.Parameter(torch.zeros(hidden))
        self.readout = nn.Parameter(uniform(torch.empty(self.n, outputs, hidden), -1, 1) / hidden**0.5)
        self.bias = nn.Parameter(torch.zeros(self.n, outputs))

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, hidden={self.hidden}, chunk={self.chunk}"

    def inputs(self, x: Tensor) -> Tensor:
        """Inputs to the state: x (..., n) -> (..., n, F)."""
        return x[..., None]

    def outputs(self, x: Tensor, order: Tensor | None = None) -> Tensor:
        """Readout of every variable: x (B, n) -> (B, n, O)."""
        order = self.order if order is None else order
        u: Tensor = self.inputs(x)
        weight: Tensor = self.weight
        readout: Tensor = self.readout
        in_place = torch.equal(order, torch.arange(self.n))
        if not in_place:
            u, weight, readout = u[:, order], weight[order], readout[order]
        # a chunk predicts each of its variables from each of its states: with O outputs, take fewer
        chunk = max(1, self.chunk // readout.shape[1])
        out = read_out(u, weight, self.start, readout, chunk)
        return (out if in_place else out[:, order.argsort()]) + self.bias

    def states(self, x: Tensor, order: Tensor | None = None) -> Tensor:
        """a_i before each variable, x (B, n) -> (B, n, d): all of them kept, for looking at few."""
        order = self.order if order is None else order
        added = torch.einsum("bnf,nfd->bnd", self.inputs(x), self.weight)[:, order]
        return (self.start + added.cumsum(1) - added)[:, order.argsort()]  # sums over those before

    def _sequential_logits(self, x: Tensor, order: Tensor, index: int, start: int) -> Iterator[Tensor]:
        past = order[:start]
        a = self.start + self.inputs(x)[:, past].flatten(1) @ self.weight[past].flatten(0, 1)  # (B, d)
        h = a.sigmoid()
        rows = self.readout.transpose(1, 2)  # (n, d, O)
        for j in order[start:].tolist():
            out = torch.addmm(self.bias[j], h, rows[j])  # (B, O)
            yield out[:, 0] if out.shape[1] == 1 else out
            u = self.inputs(x[:, j])  # (B, F)
            if u.any():  # an input of zeros leaves the state, and so h, as it is
                a.addmm_(u, self.weight[j])  # one column is added
                h = torch.sigmoid(a, out=h)


class NADE(NADEBase):
    """NADE on bits or on K values.

    Args:
        event_shape: shape of one example; n is its product.
        hidden: d, number of hidden units.
        num_categories: K; 2 has one logit per variable, more have K.
        one_hot: feed the one-hot vector of x_i instead of x_i / (K - 1); W has K times as many columns.
        order: "raster", "reversed", "random", or the variables in the order they are visited.
        chunk: variables computed at once; changes speed and memory only.
        seed: of a random order.
        training: optimizer, lr_scheduler, ... of `modules.base.Module`.

    Shapes: x (B, *event_shape) or (B, n), entries 0..K-1; log_prob (B,), nats.

    Example:
        >>> model = NADE(event_shape=(3,), hidden=2)
        >>> model.num_parameters, model.sample(5).shape
        (17, torch.Size([5, 3]))
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (784,),
        hidden: int = 500,
        num_categories: int = 2,
        one_hot: bool = False,
        order: str | Sequence[int] = "raster",
        chunk: int = 16,
        seed: int = 0,
        **training: Any,
    ) -> None:
        inputs, outputs = num_categories if one_hot else 1, 1 if num_categories == 2 else num_categories
        super().__init__(event_shape, order, num_categories, seed, hidden, inputs, outputs, chunk, **training)
        self.one_hot = one_hot

    def inputs(self, x: Tensor) -> Tensor:
        if self.one_hot:
            return F.one_hot(x.long(), self.num_categories).to(x)
        return x[..., None] if self.num_categories == 2 else x[..., None] / (self.num_categories - 1)

    def logits(self, x: Tensor, order: Tensor | None = None, index: int = 0) -> Tensor:
        out = self.outputs(x, order)
        return out[..., 0] if self.num_categories == 2 else out
