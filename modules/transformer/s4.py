"""S4: a state-space layer whose state remembers the whole past, computed as one convolution.

HiPPO-LegS is the system whose state at time t holds the coefficients of the best polynomial, in Legendre's
basis on [0, t], for the signal so far:

    ċ = (A c + B x) / t,   A_nk = −√((2n+1)(2k+1)) for n > k, −(n+1) for n = k, 0 for n < k;   B_n = √(2n+1)

A is normal minus low rank: A = V Λ V* − P Pᵀ, P_n = √(n + ½), Λ = −½ + iω. In that basis the kernel of the
bilinear system comes from its generating function, cut off at L, at the L-th roots of unity z:

    K̂(z) = Σ_{t<L} C Ā^t B̄ z^t = C̃ (I − Ā z)⁻¹ B̄,   C̃ = C (I − Ā^L)
         = 2 [ k(C̃, B) − (1 + z) k(C̃, P) k(Q, B) / (1 + (1 + z) k(Q, P)) ]
    k(u, v) = Σ_n u_n v_n / (2 (1 − z) / Δ − (1 + z) Λ_n),   Q = P̄        a Cauchy sum: O(N L), no matrix

(written so that z = −1 needs no care), and K̄ from K̂ by an inverse FFT.

Shapes: `D` channels, `N` states, `L` length; Λ, P, B, C (..., N) complex.

References: Gu et al. 2020, arXiv:2008.07669 (HiPPO); Gu, Goel, Ré 2021, arXiv:2111.00396 (S4); [LLM] part 4.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.transformer.mixing import StateCache, require_causal, tokens_alone
from modules.transformer.state_space import Discrete, bilinear, fft_convolution, states


def hippo_legs(N: int) -> tuple[Tensor, Tensor]:
    """A (N, N) and B (N,) of HiPPO-LegS, in double precision."""
    root = (2 * torch.arange(N, dtype=torch.float64) + 1).sqrt()
    A = -torch.outer(root, root).tril(-1) - torch.diag(torch.arange(1, N + 1, dtype=torch.float64))
    return A, root


class LowRank(NamedTuple):
    """A system in the basis in which its normal part is diagonal: A = diag(Λ) − P P*, each (..., N)."""

    eigenvalues: Tensor
    P: Tensor
    B: Tensor

    @property
    def A(self) -> Tensor:
        """(..., N, N)."""
        return torch.diag_embed(self.eigenvalues) - self.P[..., :, None] * self.P.conj()[..., None, :]


def normal_minus_low_rank(N: int) -> tuple[LowRank, Tensor]:
    """HiPPO-LegS as A = V (Λ − P P*) V*, and V (N, N)."""
    A, B = hippo_legs(N)
    P = (torch.arange(N, dtype=torch.float64) + 0.5).sqrt()
    skew = A + torch.outer(P, P) + 0.5 * torch.eye(N, dtype=torch.float64)
    omega, V = torch.linalg.eigh(-1j * skew)  # Hermitian: real eigenvalues, V unitary
    to_basis = V.mH
    return LowRank(-0.5 + 1j * omega, to_basis @ P.to(V.dtype), to_basis @ B.to(V.dtype)), V


def cauchy_kernel(system: LowRank, C: Tensor, delta: Tensor, length: int) -> Tensor:
    """K̄_t = C Ā^t B̄, t < L, of the bilinear system: Λ, P, B, C (..., N) and Δ (...) -> (..., L), complex.

    C̃ takes Ā^L, by squaring: O(N³ log L). The rest is four Cauchy sums.
    """
    if not length:
        return C[..., :0]
    A = bilinear(system.A, system.B, delta).A
    cut = C - (C[..., None, :] @ torch.linalg.matrix_power(A, length))[..., 0, :]  # C̃ (..., N)
    angle = torch.arange(length, device=C.device, dtype=C.real.dtype) * (-2 * math.pi / length)
    z = torch.polar(torch.ones_like(angle), angle)  # (L,): the points of an FFT
    below = (
        2 * (1 - z) / delta[..., None, None] - (1 + z) * system.eigenvalues[..., None]
    ).reciprocal()  # (..., N, L)

    def cauchy(u: Tensor, v: Tensor) -> Tensor:
        return ((u * v)[..., None, :] @ below)[..., 0, :]  # (..., L)

    Q = system.P.conj()
    low_rank = (1 + z) * cauchy(cut, system.P) * cauchy(Q, system.B) / (1 + (1 + z) * cauchy(Q, system.P))
    return torch.fft.ifft(2 * (cauchy(cut, system.B) - low_rank))


class S4(nn.Module):
    """S4 as a mixer: one system per channel, then GELU and a gated linear layer: (B, T, C) -> (B, T, C).

    Without a cache it is a convolution; with one, the recurrence of the same system. It is linear and time
    invariant: a padded token counts as an input of zero, which leaves no trace on the left, where the state
    is still zero.

    Args:
        width: C. states: N of each channel.
        delta: least and largest Δ at the start, drawn log-uniformly: a channel remembers about 1/Δ steps.

    Raises:
        ValueError: an argument is out of range.
    """

    OWN_START = True  # no model draws its parameters anew

    def __init__(self, width: int, states: int = 16, delta: tuple[float, float] = (1e-3, 1e-1)) -> None:
        super().__init__()
        require(1, width=width, states=states)
        self.width, self.states = width, states
        self.log_delta = nn.Parameter(log_uniform(width, delta))
        legs, _ = normal_minus_low_rank(states)
        C = torch.randn(width, states, 2) / math.sqrt(states)
        self.log_decay = nn.Parameter(torch.full((width, states), math.log(0.5)))  # Re Λ = −exp
        self.frequency = nn.Parameter(legs.eigenvalues.imag.float().repeat(width, 1))
        self.P = nn.Parameter(torch.view_as_real(legs.P.to(torch.complex64)).repeat(width, 1, 1))
        self.B = nn.Parameter(torch.view_as_real(legs.B.to(torch.complex64)).repeat(width, 1, 1))
        self.C = nn.Parameter(C)
        self.skip = nn.Parameter(torch.ones(width))
        self.out = nn.Linear(width, 2 * width)

    def extra_repr(self) -> str:
        return f"width={self.width}, states={self.states}"

    @property
    def system(self) -> LowRank:
        """Of every channel, (C, N) each."""
        eigenvalues = torch.complex(-self.log_decay.exp(), self.frequency)
        return LowRank(eigenvalues, torch.view_as_complex(self.P), torch.view_as_complex(self.B))

    @property
    def discrete(self) -> Discrete:
        """Ā (C, N, N) and B̄ (C, N)."""
        return bilinear(self.system.A, self.system.B, self.log_delta.exp())

    def kernel(self, length: int) -> Tensor:
        """Impulse response of every channel, (C, T)."""
        return cauchy_kernel(
            self.system, torch.view_as_complex(self.C), self.log_delta.exp(), length
        ).real.contiguous()

    def new_cache(
        self, batch: int, size: int, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> StateCache:
        """State of `batch` rows before their first token; it holds any number of tokens, `size` too."""
        dtype = torch.complex128 if dtype == torch.float64 else torch.complex64
        return StateCache(torch.zeros(batch, self.width, self.states, device=device, dtype=dtype))

    def forward(
        self,
        x: Tensor,
        source: Tensor | None = None,
        causal: bool = True,
        padding: Tensor | None = None,
        cache: StateCache | None = None,
    ) -> Tensor:
        """(B, T, C) -> (B, T, C); arguments as in `Attention`, of which it is causal and takes no source."""
        require_causal(source, causal)
        if padding is not None:
            x = x * tokens_alone(padding, x)
        u = x.transpose(1, 2)  # (B, C, T)
        if cache is None:
            y = fft_convolution(self.kernel(u.shape[-1]), u)
        else:
            h = states(self.discrete, u.to(cache.state.dtype), cache.state)  # (B, C, T, N)
            y = (h * torch.view_as_complex(self.C)[:, None]).sum(-1).real
            if u.shape[-1]:
                cache.advance(u.shape[-1], h[:, :, -1])
        y = F.gelu(y + self.skip[:, None] * u).transpose(1, 2)  # (B, T, C)
        return F.glu(self.out(y))


def log_uniform(n: int, bounds: tuple[float, float]) -> Tensor:
    """ln Δ of n channels, uniform between the logarithms of both bounds: (n,).

    Raises:
        ValueError: they are no positive numbers in this order.
    """
    low, high = bounds
    if not 0 < low <= high < math.inf:
        raise ValueError(f"delta is {list(bounds)}: give the least and the largest step, both positive.")
    return torch.rand(n) * (math.log(high) - math.log(low)) + math.log(low)
