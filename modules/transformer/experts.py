"""Mixture of experts: a router sends each token to k of E feed-forward layers.

    z = W_r x,    T = top-k(z),    w = softmax(z_T),    y = Σ_{i ∈ T} w_i f_i(x)

Only the chosen experts run: the parameters grow with E, the work per token with k. The softmax is taken once,
over the chosen logits (a text takes one before and one after the choice, which is another function); with
k = 1 its weight is 1 and the router gets no gradient, so that there the weight is the expert's probability
among all E, as of Switch.

    balance = E · Σ_i f_i P_i,    f_i share of assignments, P_i mean probability

is 1 where both are uniform and E where one expert has all; it may be below 1, where f and P disagree. A
capacity ⌈factor · k · N/E⌉ bounds the tokens of an expert: those beyond it keep their residual alone.

Shapes: `N` tokens, `E` experts, `k` of them chosen, `C` channels.

References: Shazeer et al. 2017, arXiv:1701.06538; Fedus et al. 2021, arXiv:2101.03961 (Switch; balance,
capacity); Jiang et al. 2024, arXiv:2401.04088; [GM] 2.0.1 (which gives no formula for the balance).
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from modules.base import require
from modules.transformer.feedforward import Activation, activate, require_activation


@dataclass(frozen=True)
class Routing:
    """Where one call of a layer of experts sent its tokens.

    Attributes:
        probabilities: (N, E), softmax of all logits.
        chosen: (N, k), experts of each token, the likeliest first.
        weights: (N, k), what their outputs were multiplied with.
        kept: (N, k), False where an expert was full.
    """

    probabilities: Tensor
    chosen: Tensor
    weights: Tensor
    kept: Tensor

    @property
    def counts(self) -> Tensor:
        """Assignments that each expert got, (E,); of a full one those that it refused too."""
        return torch.bincount(self.chosen.flatten(), minlength=self.probabilities.shape[1])

    @property
    def taken(self) -> Tensor:
        """Share of all assignments that each took, which is less than `load` where it was full: (E,)."""
        kept = self.chosen[self.kept]
        return torch.bincount(kept, minlength=self.probabilities.shape[1]) / max(1, self.chosen.numel())

    @property
    def load(self) -> Tensor:
        """f, the share of each, (E,)."""
        return self.counts / max(1, self.chosen.numel())


def balance(routing: Routing, load: Tensor | None = None) -> Tensor:
    """E · Σ f_i P_i, a scalar, whose gradient goes through P alone; `load` is f of more tokens than these."""
    P = routing.probabilities.mean(0)
    return len(P) * ((routing.load if load is None else load) * P).sum()


@dataclass
class RoutingRecorder:
    """Routings of all layers of experts, in the order of their calls."""

    calls: dict[nn.Module, list[Routing]]


_RECORDER: ContextVar[RoutingRecorder | None] = ContextVar("routing", default=None)


@contextmanager
def record_routing() -> Iterator[RoutingRecorder]:
    """Within this block every layer of experts reports where it sent its tokens."""
    recorder = RoutingRecorder({})
    token = _RECORDER.set(recorder)
    try:
        yield recorder
    finally:
        _RECORDER.reset(token)


class Experts(nn.Module):
    """E feed-forward layers and their router, in place of one: (..., C) -> (..., C).

    Args:
        width: C. hidden: units of each expert.
        experts: E. active: k.
        activation: of the experts.
        capacity: factor of an expert's most tokens; None lets it have all.
        router_start: added at the start to the logit of the first expert, to show what a bad start does; None
            gives the router no such bias.

    Raises:
        ValueError: more experts are to be chosen than there are, or an argument is out of range.
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        experts: int = 8,
        active: int = 2,
        activation: Activation = "gelu",
        capacity: float | None = None,
        router_start: float | None = None,
    ) -> None:
        super().__init__()
        require(1, experts=experts, active=active, hidden=hidden)
        require_activation(activation)
        if active > experts:
            raise ValueError(f"active is {active}: there are {experts} experts to choose from.")
        if capacity is not None and not capacity > 0:
            raise ValueError(f"capacity is {capacity}: it must be above 0.")
        self.experts, self.active, self.activation, self.capacity = experts, active, activation, capacity
        self.router = nn.Linear(width, experts, bias=False)
        if router_start is None:
            self.router_bias = None
        else:
            self.router_bias = nn.Parameter(torch.zeros(experts))
            with torch.no_grad():
                self.router_bias[0] = router_start
        self.up = nn.Parameter(torch.empty(experts, width, hidden))
        self.down = nn.Parameter(torch.empty(experts, hidden, width))
        for matrices in (self.up, self.down):
            nn.init.normal_(matrices, std=matrices.shape[1] ** -0.5)

    def extra_repr(self) -> str:
        return f"experts={self.experts}, active={self.active}, capacity={self.capacity}"

    def logits(self, x: Tensor) -> Tensor:
        """z of tokens: (N, C) -> (N, E)."""
        z = self.router(x)
        return z if self.router_bias is None else z + self.router_bias

    def most(self, assignments: int) -> int | None:
        """What an expert may have of so many assignments; None is all."""
        return None if self.capacity is None else math.ceil(self.capacity * assignments / self.experts)

    def route(self, x: Tensor) -> Routing:
        """Choose experts for tokens x (N, C)."""
        z = self.logits(x)
        probabilities = z.softmax(-1)
        top, chosen = z.topk(self.active)
        weights = probabilities.gather(1, chosen) if self.active == 1 else top.softmax(-1)
        kept = torch.ones_like(chosen, dtype=torch.bool)
        if (most := self.most(chosen.numel())) is not None:
            # first choices come before second ones, and earlier tokens before later
            line = chosen.T.flatten()  # (k·N,)
            place = nn.functional.one_hot(line, self.experts).cumsum(0).gather(1, line[:, None])[:, 0]
            kept = (place <= most).view(self.active, -1).T
        return Routing(probabilities, chosen, weights, kept)

    def expert(self, index: int, x: Tensor) -> Tensor:
        """f_i of tokens (n, C)."""
        return activate(self.activation, x @ self.up[index]) @ self.down[index]

    def forward(self, x: Tensor) -> Tensor:
        flat = x.flatten(0, -2)  # (N, C)
        routing = self.route(flat)
        recorder = _RECORDER.get()
        if recorder is not None:
            recorder.calls.setdefault(self, []).append(routing)
        expert = routing.chosen.masked_fill(~routing.kept, self.experts).flatten()  # (N·k,)
        order = expert.argsort(stable=True)  # assignments of expert 0, then of expert 1, …
        counts = torch.bincount(expert, minlength=self.experts + 1).tolist()
        token = order // self.active
        outputs = []
        for i, rows in enumerate(token.split(counts)[: self.experts]):
            if len(rows):
                outputs.append(self.expert(i, flat[rows]))
        y = torch.zeros_like(flat)
        if outputs:
            done = order[: sum(counts[: self.experts])]
            weighted = torch.cat(outputs) * routing.weights.flatten()[done, None]
            y = y.index_add(0, token[: len(done)], weighted)
        return y.view_as(x)
