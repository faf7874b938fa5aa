r"""Emissions: what a hidden state shows. One distribution a state, fitted to weighted observations.

    categorical   p(x = v | k) = B_kv                  B_kv = Σ_n r_nk [x_n = v] / N_k
    Bernoulli     p(x | k) = Π_d p_kd^x_d (1−p_kd)^(1−x_d)    p_kd = Σ_n r_nk x_nd / N_k
    Gaussian      `modules.latent.gaussians.Gaussians`

All have `log_prob(x) -> (N, K)`, `initialize`, `moments(x, r)`, `m_step(stats)`, `draw(z)` and `num_free`;
those of several numbers `marginal` and `partial_moments` too, for rows of which only some are known.

Shapes: x (N,) int64, or (N, D); r (N, K).

References: Rabiner 1989; [GM] §3.2.3.
"""

from typing import Protocol

import torch
from torch import Tensor, nn

from modules.base import require
from modules.noise import pick, uniform


class Emission(Protocol):
    """Protocol of the distributions of a hidden Markov model's states."""

    @property
    def num_free(self) -> int: ...

    def log_prob(self, x: Tensor) -> Tensor: ...

    def initialize(self, x: Tensor, generator: torch.Generator | None = None) -> object: ...

    def moments(self, x: Tensor, r: Tensor) -> dict[str, Tensor]: ...

    def m_step(self, stats: dict[str, Tensor]) -> None: ...

    def draw(self, z: Tensor, generator: torch.Generator | None = None) -> Tensor: ...


class Categorical(nn.Module):
    """One of V symbols. Args: states K, symbols V."""

    probs: Tensor

    def __init__(self, states: int, symbols: int) -> None:
        super().__init__()
        require(1, states=states, symbols=symbols)
        self.states, self.symbols = states, symbols
        self.register_buffer("probs", torch.full((states, symbols), 1 / symbols, dtype=torch.float64))

    def extra_repr(self) -> str:
        return f"states={self.states}, symbols={self.symbols}"

    @property
    def num_free(self) -> int:
        return self.states * (self.symbols - 1)

    def log_prob(self, x: Tensor) -> Tensor:
        return self.probs.log().T[x.long()]  # (V, K)[x]

    def initialize(self, x: Tensor, generator: torch.Generator | None = None) -> None:
        """Start near the frequencies of x, each state another way."""
        frequency = torch.bincount(x.long(), minlength=self.symbols) / len(x)
        u = torch.rand(self.states, self.symbols, generator=generator, dtype=torch.float64).to(self.probs)
        rows = (frequency + 1 / self.symbols / 100) * (0.1 - torch.log1p(-u))  # exponential: far apart
        self.probs.copy_(rows / rows.sum(1, keepdim=True))

    def moments(self, x: Tensor, r: Tensor) -> dict[str, Tensor]:
        counts = r.new_zeros(self.symbols, self.states).index_add_(0, x.long(), r)
        return {"symbols": counts.T}

    def m_step(self, stats: dict[str, Tensor]) -> None:
        counts = stats["symbols"]
        members = counts.sum(1, keepdim=True)
        self.probs.copy_(torch.where(members > 0, counts / members.clamp(min=1e-300), self.probs))

    def draw(self, z: Tensor, generator: torch.Generator | None = None) -> Tensor:
        return pick(self.probs[z], uniform(len(z), like=self.probs, generator=generator))


class Bernoulli(nn.Module):
    """D bits, independent given the state. Args: states K, features D, floor: the least chance of a bit."""

    probs: Tensor

    def __init__(self, states: int, features: int, floor: float = 1e-6) -> None:
        super().__init__()
        require(1, states=states, features=features)
        require(0, below=0.5, floor=floor)
        self.states, self.features, self.floor = states, features, floor
        self.register_buffer("probs", torch.full((states, features), 0.5, dtype=torch.float64))

    def extra_repr(self) -> str:
        return f"states={self.states}, features={self.features}, floor={self.floor:g}"

    @property
    def num_free(self) -> int:
        return self.probs.numel()

    def log_prob(self, x: Tensor) -> Tensor:
        zero, one = torch.log1p(-self.probs), self.probs.log()
        if self.floor > 0:
            return x @ (one - zero).T + zero.sum(1)
        chosen = torch.where(x[:, None, :] > 0.5, one, zero)  # (N, K, D): −∞ may stand in either
        return chosen.sum(2)

    def initialize(self, x: Tensor, generator: torch.Generator | None = None) -> None:
        noise = torch.rand(self.states, self.features, generator=generator, dtype=torch.float64)
        rows = x.mean(0) * (0.5 + noise.to(x))
        self.probs.copy_(rows.clamp(max(self.floor, 0.01), 1 - max(self.floor, 0.01)))

    def moments(self, x: Tensor, r: Tensor) -> dict[str, Tensor]:
        return {"ones": r.T @ x, "members": r.sum(0)}

    def marginal(self, seen: Tensor) -> "Bernoulli":
        """The distribution of those bits alone that `seen` (D,) names."""
        kept = Bernoulli(self.states, int(seen.sum()), self.floor).to(self.probs)
        kept.probs.copy_(self.probs[:, seen])
        return kept

    def partial_moments(self, x: Tensor, r: Tensor, seen: Tensor) -> dict[str, Tensor]:
        """`moments` of rows of which only the bits `seen` are known, x (N, |seen|): of the others their
        chances."""
        members = r.sum(0)
        ones = self.probs * members[:, None]
        ones[:, seen] = r.T @ x
        return {"ones": ones, "members": members}

    def m_step(self, stats: dict[str, Tensor]) -> None:
        members = stats["members"][:, None]
        result = (stats["ones"] / members.clamp(min=1e-300)).clamp(self.floor, 1 - self.floor)
        self.probs.copy_(torch.where(members > 0, result, self.probs))

    def draw(self, z: Tensor, generator: torch.Generator | None = None) -> Tensor:
        u = uniform(len(z), self.features, like=self.probs, generator=generator)
        return (u < self.probs[z]).to(self.probs)
