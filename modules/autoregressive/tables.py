"""Tables: conditionals that are counted, one number for every value a variable's parents can take together.

    p(x_i = k | Pa(x_i) = c) = (N_i(c, k) + α) / (N_i(c) + K α)

N_i(c, k): how many training examples have x_i = k under the context c; α = 0 is maximum likelihood, ½ is
Krichevsky and Trofimov's. A context that was never met has the uniform distribution. The parents come
earlier in some order, so the product of all conditionals is a density, whoever the parents are:

    joint table     one number for each of the K^n strings
    chain rule      all earlier variables are parents: the same number of numbers, 1 + 2 + 4 + … = 2^n - 1
    Bayesian net    any parents (`bayesnet`);  Markov chain: the last k variables (`markov`)

The chain rule alone saves nothing: only leaving out parents does. [GM] 1.5.1 says that a conditional on m
bits needs 2^m - 1 numbers; it needs 2^m, one for each context, as the text's own sum has it.

Shapes: x (B, *event_shape), entries 0..K-1; log_prob (B,), nats.

References: [GM] 1.1, 1.1.1; [UDL] eq. 12.15; Krichevsky, Trofimov 1981 (α = ½).
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.autoregressive.base import Autoregressive
from modules.base import CountModel, require

OUTSIDE = -1  # a parent that does not exist, such as a pixel beyond the margin: it is always 0
LARGEST = 2**24  # contexts of one table that a model may keep


class TableModel(CountModel, Autoregressive):
    """Base of all tables: `counts`, and conditionals that may be certain."""

    counts: Tensor

    def conditional_log_prob(self, logits: Tensor, x: Tensor) -> Tensor:
        if self.num_categories > 2:
            return super().conditional_log_prob(logits, x)
        # an infinite logit is a certain bit, which binary_cross_entropy_with_logits turns into NaN
        return F.logsigmoid(torch.where(x == 1, logits, -logits))

    def put(self, table: Tensor) -> None:
        """Use these probabilities, shaped as `counts`, in the place of counts."""
        self.counts.copy_(table)

    def reset_counts(self) -> None:
        self.counts.zero_()


class ConditionalTables(TableModel):
    """Base of models whose conditionals are rows of counted tables.

    A constructor calls `set_parents`. `counts` (rows, K) holds N(c, k) of all tables, one
    below the other; a variable's row is its table's first row plus the number that its parents spell.
    """

    def set_parents(
        self, parents: Sequence[Sequence[int]], smoothing: float, tables: Sequence[int] | None = None
    ) -> None:
        """Args:
            parents: of each variable, `OUTSIDE` where one is missing but keeps its digit.
            smoothing: α, added to every count.
            tables: which table each variable uses, 0, 1, …; None gives each its own.

        Raises:
            ValueError: parents later in the order, tables too large, or shared by variables with
                different numbers of parents.
        """
        require(0, smoothing=smoothing)
        if len(parents) != self.n:
            raise ValueError(f"{len(parents)} lists of parents for {self.n} variables: give one each.")
        rank = {int(j): r for r, j in enumerate(self.order)}
        for i, own in enumerate(parents):
            if any(p != OUTSIDE and (p not in rank or rank[p] >= rank[i]) for p in own):
                raise ValueError(f"variable {i} has a parent that does not come before it: {list(own)}.")
        own_tables = list(range(self.n)) if tables is None else list(tables)
        widths: dict[int, int] = {}
        for table, own in zip(own_tables, parents, strict=True):
            if widths.setdefault(table, len(own)) != len(own):
                raise ValueError("variables that share a table must have equally many parents.")
        sizes = [self.num_categories ** widths[t] for t in range(len(widths))]
        if max(sizes) > LARGEST:
            raise ValueError(f"{max(widths.values())} parents need {max(sizes):,} contexts: take fewer.")
        firsts = torch.tensor([0, *sizes]).cumsum(0)
        self.parents = [list(own) for own in parents]
        self.smoothing, self.tables = smoothing, own_tables
        most = max(len(own) for own in parents)
        padded = [[*own, *[OUTSIDE] * (most - len(own))] for own in self.parents]
        slots = torch.tensor(padded).reshape(self.n, most) % (self.n + 1)  # OUTSIDE becomes n, always 0
        self.register_buffer("slots", slots, persistent=False)  # (n, most)
        self.register_buffer("first", firsts[own_tables], persistent=False)  # (n,)
        self.register_buffer("counts", torch.zeros(int(firsts[-1]), self.num_categories, dtype=torch.float64))

    slots: Tensor
    first: Tensor

    def extra_repr(self) -> str:
        tables = len(set(self.tables))
        return f"{super().extra_repr()}, tables={tables}, rows={len(self.counts)}, smoothing={self.smoothing}"

    @property
    def free_numbers(self) -> Tensor:
        """The numbers that say everything, (rows, K - 1): the last of each row's K probabilities follows."""
        return self.table[:, 1:]

    @property
    def num_parameters(self) -> int:
        return self.free_numbers.numel()

    @property
    def table(self) -> Tensor:
        """p(x_i = k | context), (rows, K)."""
        weights = self.counts + self.smoothing
        total = weights.sum(1, keepdim=True)
        return torch.where(total > 0, weights / total, 1 / self.num_categories)

    @property
    def log_odds(self) -> Tensor:
        """Logits of every row: (rows,) for bits, (rows, K) for more values."""
        log_p = self.table.log()
        return log_p[:, 1] - log_p[:, 0] if self.num_categories == 2 else log_p

    def rows(self, x: Tensor) -> Tensor:
        """Row of each variable's conditional in `table`: x (B, n) -> (B, n) int64."""
        digits = F.pad(x.t().int(), (0, 0, 0, 1))  # (n + 1, B): the last row is what is OUTSIDE
        rows = self.first.int()[:, None].repeat(1, len(x))  # half the bytes, and 2³¹ rows fit nowhere
        for place in range(self.slots.shape[1]):  # of whole rows, which is faster than of columns
            rows.add_(digits[self.slots[:, place]], alpha=self.num_categories**place)
        return rows.t().contiguous().long()

    def logits(self, x: Tensor, order: Tensor | None = None, index: int = 0) -> Tensor:
        """See `Autoregressive.logits`.

        Raises:
            ValueError: another order than the parents allow.
        """
        self.check_order(order)
        return self.log_odds[self.rows(x)]

    def check_order(self, order: Tensor | None) -> None:
        if order is None or torch.equal(order, self.order):
            return
        met: set[int] = {OUTSIDE}
        for i in order.tolist():
            if not met.issuperset(self.parents[i]):
                raise ValueError(f"in this order variable {i} comes before one of its parents.")
            met.add(i)

    def _sequential_logits(self, x: Tensor, order: Tensor, index: int, start: int) -> Iterator[Tensor]:
        """Logits by one look into one table per variable."""
        self.check_order(order)
        log_odds, powers = self.log_odds, self.num_categories ** torch.arange(self.slots.shape[1])
        for j in order[start:].tolist():
            parents = torch.tensor(self.parents[j], dtype=torch.int64)
            values = x[:, parents].long() * (
                parents != OUTSIDE
            )  # (B, parents); OUTSIDE reads the last, times 0
            yield log_odds[self.first[j] + (values * powers[: len(parents)]).sum(1)]

    # --- fitting ---

    def count(self, batch: Any) -> None:
        x = self.as_vectors(batch[0] if isinstance(batch, (tuple, list)) else batch)
        cells = self.rows(x).mul_(self.num_categories).add_(x.long())  # (B, n)
        self.counts += torch.bincount(cells.flatten(), minlength=self.counts.numel()).view_as(self.counts)


class ChainRuleTable(ConditionalTables):
    """p(x) = Π p(x_i | all earlier variables), each conditional a table; exact, in any order.

    Args:
        event_shape: shape of one example.
        order: see `resolve_order`.
        num_categories: K.
        smoothing: α.
        training: metrics, ... of `modules.base.Module`.
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (3,),
        order: str | Sequence[int] = "raster",
        num_categories: int = 2,
        smoothing: float = 0.5,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, order, num_categories, **training)
        if self.num_categories**self.n > LARGEST:
            raise ValueError(f"{num_categories}^{self.n} strings are too many for a table.")
        rank = {int(j): r for r, j in enumerate(self.order)}
        self.set_parents([self.order[: rank[i]].tolist() for i in range(self.n)], smoothing)


class JointTable(TableModel):
    """Probability of each of the K^n strings; the conditionals follow by summing, in any order.

    Args: as `ChainRuleTable`; α is added to the count of every string.
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (3,),
        num_categories: int = 2,
        smoothing: float = 0.5,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, "raster", num_categories, **training)
        if num_categories**self.n > LARGEST:
            raise ValueError(f"{num_categories}^{self.n} strings are too many for a table.")
        require(0, smoothing=smoothing)
        self.smoothing = smoothing
        self.register_buffer("counts", torch.zeros(num_categories**self.n, dtype=torch.float64))

    @property
    def order_agnostic(self) -> bool:
        return True

    @property
    def table(self) -> Tensor:
        """p(x) of every string, (K^n,), in lexicographic order."""
        weights = self.counts + self.smoothing
        return weights / weights.sum() if weights.sum() > 0 else torch.full_like(weights, 1 / len(weights))

    @property
    def num_parameters(self) -> int:
        return self.table[1:].numel()  # the last one follows: they sum to 1

    def strings(self, x: Tensor) -> Tensor:
        """The number of each string: x (B, n) -> (B,) int64."""
        return (x.long() * self.num_categories ** torch.arange(self.n - 1, -1, -1)).sum(1)

    def log_prob(self, x: Tensor, order: Any = None) -> Tensor:
        """log p(x) in nats, (B,): one look into the table; the same in every order."""
        return self.table.log()[self.strings(self.as_vectors(x))]

    def logits(self, x: Tensor, order: Tensor | None = None, index: int = 0) -> Tensor:
        """p(x_i | x_<i) = p(x_≤i) / p(x_<i), both sums over the table."""
        order = self.order if order is None else order
        joint = self.table.view([self.num_categories] * self.n).permute(order.tolist())
        digits, code = x.long(), torch.zeros(len(x), dtype=torch.int64)
        out = x.new_empty(len(x), self.n, self.num_categories, dtype=torch.float64)
        for r, i in enumerate(order.tolist()):
            prefix = joint.reshape(self.num_categories ** (r + 1), -1).sum(1)  # p(x_≤i) of every prefix
            p = prefix.view(-1, self.num_categories)[code]  # (B, K)
            certain = p.sum(1, keepdim=True)
            out[:, i] = torch.where(certain > 0, p / certain, 1 / self.num_categories).log()
            code = code * self.num_categories + digits[:, i]
        return out[..., 1] - out[..., 0] if self.num_categories == 2 else out

    def count(self, batch: Any) -> None:
        x = self.as_vectors(batch[0] if isinstance(batch, (tuple, list)) else batch)
        self.counts += torch.bincount(self.strings(x), minlength=len(self.counts))
