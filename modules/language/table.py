"""A language model written out: one row of next-token probabilities for every prefix.

    P(x_1 … x_T) = ∏_t P(x_t | x_<t),      row of x_<t in table t:  Σ_i x_i V^(t−1−i)

Exact and hopeless: table t has V^t rows. It is the model on which decoding can be checked against the
best of all strings.

References: [LLM] eq. 1.1; [UDL] eq. 12.14-12.15.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from modules.language.sampling import TextSampler


class TableLM(TextSampler, nn.Module):
    """Table of all conditionals of strings up to length T over V tokens.

    Args:
        tables: T tensors; number t is (V^t, V), rows in lexicographic order of the prefix, each
            summing to 1.

    Raises:
        ValueError: a table has another shape, or a row is no distribution.

    Example:
        >>> model = TableLM.from_rows(2, 2, {(): (0.6, 0.4), (0,): (0.55, 0.45), (1,): (0.95, 0.05)})
        >>> model.log_prob(torch.tensor([[0, 0]])).exp().item()  # doctest: +ELLIPSIS
        0.33...
    """

    tables: list[Tensor]

    def __init__(self, tables: Sequence[Tensor]) -> None:
        super().__init__()
        self.vocab_size = tables[0].shape[-1]
        for t, table in enumerate(tables):
            if table.shape != (self.vocab_size**t, self.vocab_size):
                raise ValueError(
                    f"table {t} is {tuple(table.shape)}: it must be {(self.vocab_size**t, self.vocab_size)}."
                )
            if (table < 0).any() or not torch.allclose(table.sum(-1), torch.ones_like(table[:, 0])):
                raise ValueError(f"table {t} has a row that is no distribution: make each sum to 1.")
        self.tables = [table.double() for table in tables]

    @classmethod
    def from_rows(
        cls, vocab_size: int, length: int, rows: Mapping[tuple[int, ...], Sequence[float]]
    ) -> "TableLM":
        """Rows by prefix; every prefix that is not named is followed by anything with equal probability."""
        tables = [
            torch.full((vocab_size**t, vocab_size), 1 / vocab_size, dtype=torch.float64)
            for t in range(length)
        ]
        for prefix, row in rows.items():
            index = 0
            for token in prefix:
                index = index * vocab_size + token
            tables[len(prefix)][index] = torch.tensor(row, dtype=torch.float64)
        return cls(tables)

    @classmethod
    def from_joint(cls, joint: Tensor) -> "TableLM":
        """The chain rule: a joint over strings, (V,) * T, as its conditionals."""
        V, T = joint.shape[0], joint.ndim
        sums = [joint.double().reshape(V ** (t + 1), -1).sum(1).reshape(-1, V) for t in range(T)]
        return cls([s / s.sum(-1, keepdim=True) for s in sums])

    def extra_repr(self) -> str:
        return f"vocab_size={self.vocab_size}, length={self.length}"

    @property
    def length(self) -> int:
        """T, the longest string it knows."""
        return len(self.tables)

    sample_length = trace_length = length  # type: ignore[assignment]

    def next_log_probs(self, prefix: Tensor, padding: Tensor | None = None) -> Tensor:
        """The row of each prefix in nats: (B, T) int64 -> (B, V); `padding` as in `NextToken`.

        Raises:
            ValueError: the prefix is as long as the longest string.
        """
        if padding is not None:  # each row has a table of its own
            texts = zip(prefix, padding, strict=True)
            return torch.cat([self.next_log_probs(text[~hidden][None]) for text, hidden in texts])
        t = prefix.shape[1]
        if t >= self.length:
            raise ValueError(f"The table ends after {self.length} tokens: nothing follows {t} of them.")
        powers = self.vocab_size ** torch.arange(t - 1, -1, -1)
        return self.tables[t][(prefix * powers).sum(1)].log()

    def log_prob(self, tokens: Tensor) -> Tensor:
        """Σ_t log P(x_t | x_<t): (B, T) -> (B,)."""
        steps = [self.next_log_probs(tokens[:, :t]) for t in range(tokens.shape[1])]
        return torch.stack(steps, 1).gather(-1, tokens[..., None]).sum((1, 2))
