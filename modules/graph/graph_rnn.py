"""GraphRNN: a graph is made node by node; a recurrent network says to which earlier ones each is joined.

    s_1 = (1, …, 1),   h_i = GRU(h_{i−1}, s_i)            s_i: row of node i, i = 2, 3, …
    p(s_{i+1} | s_2 … s_i) = Π_j Bern(s_{i+1,j}; σ(f_j(h_i)))             independent entries (GraphRNN-S)
    p(s_{i+1} | s_2 … s_i) = Π_j Bern(s_{i+1,j}; σ(f_j(h_i) + g(h'_j)))               in turn (GraphRNN)
    h'_j = GRU'(h'_{j−1}, s_{i+1,j−1}),  h'_0 = U h_i
    s_{i,j} = A_{i,i−j},   j = 1 … M;   a row of zeros ends the graph

A graph of N nodes is N − 1 rows without a row of zeros, and one: every node is joined to an earlier one, so
graphs are connected. Node i has min(i − 1, M) entries. At the most nodes that there may be the graph ends
with certainty, so that the probabilities of all sequences of rows sum to 1.

Of a graph the nodes can be put in many orders, and p(G) sums over the rows of all of them that differ. It is
trained on orders of a breadth-first search alone, in which neighbours come soon after each other: M can be
small, and fewer orders are to be learned. −log p of one order is never below −log p(G).

Shapes: rows (B, T, M) float, 0 or 1, T one less than the most nodes; A (N, N).

Reference: You et al. 2018, arXiv:1802.08773.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import torch
from torch import Tensor, nn

from modules.base import Module, Split, require
from modules.latent.bounds import bernoulli_log_prob
from modules.mlp import mlp
from modules.noise import uniform
from modules.trace import Step, Trace

MOST_ORDERED = 7  # nodes of a graph of which all orders are summed: 5040


def rows_of(a: Tensor, width: int) -> Tensor:
    """Rows (..., N − 1, M) of adjacency matrices (..., N, N); edges that reach farther back are lost."""
    N = a.shape[-1]
    i = torch.arange(1, N, device=a.device)[:, None]
    back = i - 1 - torch.arange(width, device=a.device)  # (N − 1, M), the earlier node of each entry
    return a[..., i, back.clamp(min=0)] * (back >= 0)


def adjacency_of(rows: Tensor) -> Tensor:
    """A (N, N) of the rows (T, M) of one graph: node i + 1 for each row i before the first row of zeros."""
    N = 1 + int(rows.any(-1).long().cumprod(0).sum())
    a = rows.new_zeros(N, N)
    for i in range(1, N):
        reach = min(i, rows.shape[1])
        a[i, i - reach : i] = rows[i - 1, :reach].flip(0)
    return a + a.T


class Entries(nn.Module):
    """GRU over the entries of a row: what those before add to the logit of each.

    Args:
        hidden: width H of the states that rows have. width: of its own states.
    """

    def __init__(self, hidden: int, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(hidden, width)
        self.network = nn.GRU(1, width, batch_first=True)
        self.head = nn.Linear(width, 1)

    def forward(self, h: Tensor, x: Tensor) -> Tensor:
        """(B, T, M), of states h (B, T, H) and rows x (B, T, M)."""
        before = torch.cat([torch.ones_like(x[..., :1]), x[..., :-1]], -1).flatten(0, 1)  # (B T, M)
        out = self.network(before[..., None], self.start(h.flatten(0, 1)))[0]
        return self.head(out)[..., 0].view_as(x)

    def start(self, h: Tensor) -> Tensor:
        """The first state (1, n, width) of states h (n, H)."""
        return self.first(h)[None]

    def advance(self, state: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
        """What an entry's logit gets (n,), after the entry before it (n,), and the next state."""
        out, state = self.network(before[:, None, None], state)
        return self.head(out)[:, 0, 0], state


class GraphRNN(Module):
    """GraphRNN in its simple form.

    `nll` is in nats per graph, of the order that the data give.

    Args:
        event_shape: (T, M): T + 1 nodes at most, M entries in a row.
        hidden: width of the GRU, and of the layer behind it.
        layers: of the GRU.
        entries: width of a second GRU, through which entries of a row depend on those before, nearest nodes
            first; 0 for none, entries are independent.

    Raises:
        ValueError: an argument is out of range.

    >>> GraphRNN(event_shape=(19, 19)).num_parameters
    21715
    """

    valid: Tensor

    def __init__(
        self,
        event_shape: Sequence[int],
        hidden: int = 64,
        layers: int = 1,
        entries: int = 0,
        **training: Any,
    ) -> None:
        if len(event_shape) != 2:
            raise ValueError(f"event_shape is {list(event_shape)}: give the number of rows and their width.")
        require(1, event_shape=event_shape, hidden=hidden, layers=layers)
        require(0, entries=entries)
        super().__init__(**training)
        self.event_shape = T, M = tuple(event_shape)
        self.network = nn.GRU(M, hidden, layers, batch_first=True)
        self.head = mlp([hidden, hidden, M], nn.ReLU)
        self.second = Entries(hidden, entries) if entries else None
        # node i + 2 has i + 1 earlier ones
        valid = torch.ones(T, M, dtype=torch.bool).tril()
        self.register_buffer("valid", valid, persistent=False)

    # --- Surfaces: Density ----------------------------------------------------------------------

    def logits(self, x: Tensor) -> Tensor:
        """Logits (B, T, M) of every entry, given those before."""
        start = x.new_ones(len(x), 1, x.shape[2])
        h = self.network(torch.cat([start, x[:, :-1]], 1))[0]  # (B, T, H)
        logits = self.head(h)
        return logits if self.second is None else logits + self.second(h, x)

    def log_prob(self, x: Tensor) -> Tensor:
        """log p of rows (B, T, M), nats; −∞ where a row comes after the end or names no node.

        Raises:
            ValueError: the rows have another shape.
        """
        if x.shape[1:] != self.event_shape:
            raise ValueError(f"rows are {tuple(x.shape[1:])} per graph: this model has {self.event_shape}.")
        some = x.any(-1)  # (B, T)
        goes_on = torch.cat([torch.ones_like(some[:, :1]), some[:, :-1].long().cumprod(1).bool()], 1)
        counted = self.valid & goes_on[..., None]
        log_p = (bernoulli_log_prob(x, self.logits(x)) * counted).sum((1, 2))
        return log_p.masked_fill((x.bool() & ~counted).any(2).any(1), -torch.inf)

    def graph_log_prob(self, a: Tensor) -> Tensor:
        """log p(G), a scalar in nats: the sum over all orders of its nodes whose rows differ.

        Args:
            a: A (N, N).

        Raises:
            ValueError: there are too many orders.
        """
        N, (T, M) = len(a), self.event_shape
        if N > MOST_ORDERED:
            raise ValueError(f"A graph of {N} nodes has {N}! orders: give at most {MOST_ORDERED} nodes.")
        if N > T + 1:
            return self.valid.new_tensor(-torch.inf, dtype=torch.get_default_dtype())
        orders = torch.tensor(list(permutations(range(N))), device=a.device)  # (N!, N)
        rows = rows_of(a[orders[:, :, None], orders[:, None, :]].to(next(self.parameters())), M)
        kept = rows.any(2).all(1) & (rows.sum((1, 2)) == a.sum() / 2)
        x = rows.new_zeros(len(rows), T, M)
        x[:, : N - 1] = rows
        return self.log_prob(x[kept].unique(dim=0)).logsumexp(0)

    def step(self, batch: tuple[Tensor, ...], split: Split) -> Tensor:
        """−log p of the rows, in nats per graph."""
        nll = -self.log_prob(batch[0])
        self.log_metric(split, "nll", nll.detach())
        return nll.mean()

    # --- Surfaces: Sampler ----------------------------------------------------------------------

    def sample(
        self,
        n: int,
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        given: Tensor | None = None,
    ) -> Tensor:
        """Draw n graphs, as rows (n, T, M).

        Args:
            temperature: logits are divided by it; at 0 the likelier value is taken.
            given: (R, M), rows that all graphs begin with.

        Raises:
            ValueError: a temperature below 0, or rows that no graph begins with.
        """
        return self._drawn(n, temperature, generator, given)[0]

    @torch.no_grad()
    def _drawn(
        self, n: int, temperature: float, generator: torch.Generator | None, given: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Rows (n, T, M), and the probability with which each of their entries was drawn to be 1."""
        if temperature < 0:
            raise ValueError(f"temperature is {temperature}: it must be at least 0.")
        T, M = self.event_shape
        like = next(self.parameters())
        known = like.new_zeros(0, M) if given is None else given.to(like)
        R = len(known)
        fits = R <= T and known.shape[1:] == (M,) and bool(known.any(1).all())
        if not fits or (known.bool() & ~self.valid[:R]).any():
            raise ValueError(f"given: rows (R, {M}), R ≤ {T}, each with a 1, of earlier nodes only.")
        noise = uniform(n, T, M, like=like, generator=generator)
        x, p = like.new_zeros(n, T, M), like.new_zeros(n, T, M)
        row, h = like.new_ones(n, M), None
        alive = torch.ones(n, 1, dtype=torch.bool, device=like.device)
        for t in range(T):
            out, h = self.network(row[:, None], h)
            logits = self.head(out[:, 0])  # (n, M)
            row = torch.zeros_like(row)
            inner = None if self.second is None else self.second.start(out[:, 0])
            for j in range(min(t + 1, M)):
                at = logits[:, j]
                if self.second is not None and inner is not None:
                    more, inner = self.second.advance(inner, row[:, j - 1] if j else torch.ones_like(at))
                    at = at + more
                p[:, t, j] = (at / temperature).sigmoid() if temperature else (at > 0).to(at)
                row[:, j] = known[t, j] if t < R else (noise[:, t, j] < p[:, t, j]).to(row)
            row = row * alive
            x[:, t] = row
            p[:, t] *= alive
            alive = alive & row.any(1, keepdim=True)
        return x, p

    def sample_trace(
        self,
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        given: Tensor | None = None,
    ) -> Trace:
        """Trace of one graph, a step per row, the one that ends it too. Arguments as of `sample`.

        Step values: `node`, `row` (M,), `p` (M,), as drawn from, of valid entries, and the running `log_p` of
        the rows at `temperature`, in nats; a row that is given counts 0. `result`: A (N, N).
        """
        drawn, ps = (values[0].cpu() for values in self._drawn(1, temperature, generator, given))
        steps: list[Step] = []
        total, R = 0.0, 0 if given is None else len(given)
        for t, (row, p) in enumerate(zip(drawn, ps, strict=True)):
            reach = min(t + 1, len(row))
            q = torch.where(row[:reach] > 0, p[:reach], 1 - p[:reach])
            mine = 0.0 if t < R else float(q.log().sum())
            total += mine
            joined = [str(t - j) for j in row.nonzero()[:, 0].tolist()]
            end = not joined
            how = "is given, joined to" if t < R else "is joined to"
            caption = (
                f"Row of node {t + 1}: all zeros, so the graph ends with {t + 1} nodes."
                if end
                else f"Node {t + 1} {how} {' and '.join(joined)}."
            )
            values = {"node": t + 1, "row": row, "p": p, "log_p": total}
            what = r"\text{end}" if end else rf"s_{{{t + 1}}}"
            steps.append(Step(caption, values, rf"\log p({what}) = {mine:.2f}, \quad \Sigma = {total:.2f}"))
            if end:
                break
        return Trace(steps, adjacency_of(drawn))
