"""Mamba: a state-space model whose step, input and output matrices depend on the token.

    Δ_t = softplus(W_Δ u_t + b),   B_t = W_B u_t,   C_t = W_C u_t,   A = −exp(A_log), diagonal, per channel
    h_t = e^{Δ_t A} h_{t−1} + B̄_t u_t,   y_t = C_t · h_t + D u_t
    B̄_t = A⁻¹ (e^{Δ_t A} − 1) B_t  (zero-order hold)   or   Δ_t B_t  (shortcut; the published code has it)

A large Δ_t forgets the past and writes the token, Δ_t near 0 passes it by: with N = 1, A = −1, B = 1 and
zero-order hold, h_t = (1 − σ(z)) h_{t−1} + σ(z) u_t for Δ = softplus(z), the gate of a GRU. With Δ, B, C that
do not depend on the token it is linear and time invariant (LTI): it treats all tokens alike.

    block:  u, g = W_in x;   u ← SiLU(conv(u));   y = SSM(u);   out = W_out (y ⊙ SiLU(g))

Read as attention, the output of a channel is a weighted sum of the tokens so far, with weights of any sign:

    y_t = Σ_{s ≤ t} M_ts u_s,   M_ts = C_t · (Π_{r=s+1}^t e^{Δ_r A}) B̄_s + D [s = t]

Training costs O(T D N), a step and its state O(D N), whatever T ([LLM] part 4 counts O(D²) or O(1)).

Shapes: `B` batch, `T` time, `C` width, `D` = expand · C channels, `N` states of a channel, `K` taps.

References: Gu, Dao 2023, arXiv:2312.00752; Ali et al. 2024, arXiv:2403.01590 (its hidden attention); [LLM]
part 4.
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.transformer.mixing import StateCache, require_causal, tokens_alone
from modules.transformer.recorder import AttentionRecord, current_recorder, switched
from modules.transformer.s4 import log_uniform
from modules.transformer.scan import Method, scan


@dataclass(frozen=True)
class Selection:
    """What a selective SSM did with each token.

    Attributes:
        delta: (B, T, D). decay: e^{ΔA}, (B, T, D, N). write: B̄ u, (B, T, D, N). read: C_t, (B, T, N), or
            (D, N) of the LTI twin. states: h_1 … h_T, (B, T, D, N).
    """

    delta: Tensor
    decay: Tensor
    write: Tensor
    read: Tensor
    states: Tensor


class SelectiveSSM(nn.Module):
    """The recurrence alone: (B, T, D) -> (B, T, D).

    Args:
        channels: D. states: N.
        rank: of the map from u to Δ; None is D/16, rounded up.
        selective: False is the LTI twin: Δ (D,), B and C (D, N) are parameters.
        hold: "zoh" or the shortcut "euler".
        delta: least and largest Δ at the start, drawn log-uniformly; b is its inverse softplus.
        method: of the scan; None takes what `fastest` says.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        channels: int,
        states: int = 16,
        rank: int | None = None,
        selective: bool = True,
        hold: Literal["zoh", "euler"] = "zoh",
        delta: tuple[float, float] = (1e-3, 1e-1),
        method: Method | None = None,
    ) -> None:
        super().__init__()
        require(1, channels=channels, states=states)
        if hold not in ("zoh", "euler"):
            raise ValueError(f"hold is {hold!r}: choose zoh or euler.")
        self.channels, self.states, self.hold, self.method = channels, states, hold, method
        self.rank = math.ceil(channels / 16) if rank is None else rank
        require(1, rank=self.rank)
        start = log_uniform(channels, delta).exp()
        self.delta_bias = nn.Parameter(start + (-(-start).expm1()).log())  # softplus(b) = Δ
        self.A_log = nn.Parameter(torch.arange(1, states + 1).float().log().repeat(channels, 1))
        self.skip = nn.Parameter(torch.ones(channels))
        self.select: nn.Linear | None = None
        if selective:
            self.select = nn.Linear(channels, self.rank + 2 * states, bias=False)
            self.delta_up = nn.Linear(self.rank, channels, bias=False)
            nn.init.uniform_(self.delta_up.weight, -(self.rank**-0.5), self.rank**-0.5)
        else:
            self.B = nn.Parameter(torch.ones(channels, states))
            self.C = nn.Parameter(torch.randn(channels, states) / math.sqrt(states))

    def extra_repr(self) -> str:
        return f"channels={self.channels}, states={self.states}, hold={self.hold}"

    def matrices(self, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Δ (B, T, D); B and C, (B, T, N) each where they depend on the token, else (D, N)."""
        if self.select is None:
            return F.softplus(self.delta_bias).expand_as(u), self.B, self.C
        low, B, C = self.select(u).split([self.rank, self.states, self.states], -1)
        return F.softplus(self.delta_up(low) + self.delta_bias), B, C

    def discrete(
        self, u: Tensor, padding: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Δ (B, T, D); Δ A and the factor that makes B̄ of B, broadcastable to (B, T, D, N); B (…, N), too;
        C as of `matrices`."""
        delta, B, C = self.matrices(u)
        if padding is not None:
            delta = delta * tokens_alone(padding, u)
        A = -self.A_log.exp()  # (D, N)
        exponent = delta[..., None] * A  # (B, T, D, N)
        held = exponent.expm1() / A if self.hold == "zoh" else delta[..., None]
        return delta, exponent, held, B if B.ndim == 2 else B[:, :, None], C

    def hidden_attention(self, u: Tensor, padding: Tensor | None = None) -> Tensor:
        """M (B, D, T, T) of u (B, T, D), whose row t times the channel's u is y_t from an empty state."""
        _, exponent, held, B, C = self.discrete(u, padding)
        writes = (held * B).expand_as(exponent)  # B̄, (B, T, D, N)
        reads = (C if C.ndim == 2 else C[:, :, None]).expand_as(exponent)
        decayed = exponent.cumsum(1).transpose(1, 2)  # (B, D, T, N)
        T = u.shape[1]
        later = torch.ones(T, T, dtype=torch.bool, device=u.device).triu(1)
        M = torch.diag_embed(self.skip[:, None].expand(u.shape[0], -1, T))  # (B, D, T, T)
        for n in range(self.states):  # one state at a time: T² D N numbers may be many
            since = (decayed[..., :, None, n] - decayed[..., None, :, n]).masked_fill(later, -math.inf)
            read, write = (x[..., n].transpose(1, 2) for x in (reads, writes))  # (B, D, T) each
            M = M + read[..., None] * since.exp() * write[..., None, :]
        return M

    def recur(
        self, u: Tensor, padding: Tensor | None = None, initial: Tensor | None = None
    ) -> tuple[Tensor, Selection]:
        """Outputs (B, T, D) of u (B, T, D), and what was done with each token.

        Args:
            padding: (B, S), True where the state is to stay as it is: there Δ is 0.
            initial: h_0 (B, D, N); None is 0.
        """
        delta, exponent, held, B, C = self.discrete(u, padding)
        decay, write = exponent.exp(), held * u[..., None] * B
        states = scan(decay, write, initial, self.method)
        y = torch.einsum("btdn,dn->btd" if C.ndim == 2 else "btdn,btn->btd", states, C) + self.skip * u
        return y, Selection(delta, decay, write, C, states)

    def forward(self, u: Tensor) -> Tensor:
        return self.recur(u)[0]


class Mamba(nn.Module):
    """Mamba block as a mixer: (B, T, C) -> (B, T, C), causal.

    Its cache holds the last K − 1 inputs of the convolution and the state, D (K − 1 + N) numbers a row
    whatever the number of tokens. Padded tokens do not exist for it: a row that is padded on the left gives
    what the row alone gives. To a recorder it reports M as the weights of D heads, with neither queries nor
    keys, and u as their values (one feature each); of what a cache held before, M says nothing.

    Args:
        width: C. states: N. expand: D / C. kernel: K, taps of the convolution.
        rank, selective, hold, delta, method: see `SelectiveSSM`.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> mixer = Mamba(8, states=4)
        >>> x, cache = torch.randn(1, 5, 8), mixer.new_cache(1, 5)
        >>> steps = torch.cat([mixer(x[:, t : t + 1], cache=cache) for t in range(5)], 1)
        >>> torch.allclose(steps, mixer(x), atol=1e-6)
        True
    """

    OWN_START = True  # no model draws its parameters anew

    def __init__(
        self,
        width: int,
        states: int = 16,
        expand: int = 2,
        kernel: int = 4,
        rank: int | None = None,
        selective: bool = True,
        hold: Literal["zoh", "euler"] = "zoh",
        delta: tuple[float, float] = (1e-3, 1e-1),
        method: Method | None = None,
    ) -> None:
        super().__init__()
        require(1, width=width, expand=expand, kernel=kernel)
        self.width, self.channels, self.kernel = width, expand * width, kernel
        self.into = nn.Linear(width, 2 * self.channels, bias=False)
        self.convolution = nn.Conv1d(self.channels, self.channels, kernel, groups=self.channels)
        self.ssm = SelectiveSSM(self.channels, states, rank, selective, hold, delta, method)
        self.out = nn.Linear(self.channels, width, bias=False)

    def new_cache(
        self, batch: int, size: int, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> StateCache:
        """State of `batch` rows before their first token; it holds any number of tokens, `size` too."""
        state = torch.zeros(batch, self.channels, self.ssm.states, device=device, dtype=dtype)
        return StateCache(state, state.new_zeros(batch, self.channels, self.kernel - 1))

    def forward(
        self,
        x: Tensor,
        source: Tensor | None = None,
        causal: bool = True,
        padding: Tensor | None = None,
        cache: StateCache | None = None,
    ) -> Tensor:
        """Arguments as in `Attention`; it is causal and takes no source."""
        require_causal(source, causal)
        return self.mix(x, padding, cache)[0]

    def mix(
        self, x: Tensor, padding: Tensor | None = None, cache: StateCache | None = None
    ) -> tuple[Tensor, Selection]:
        """What the block makes of x (B, T, C), and what its SSM did with each token."""
        u, gate = self.into(x).chunk(2, -1)  # (B, T, D) each
        if padding is not None:
            u = u * tokens_alone(padding, u)
        u = u.transpose(1, 2)  # (B, D, T)
        before = u.new_zeros(*u.shape[:2], self.kernel - 1) if cache is None else cache.tail
        assert before is not None
        u = torch.cat([before, u], 2)  # (B, D, K − 1 + T)
        tail = u[:, :, u.shape[2] - self.kernel + 1 :]
        # (B, T, D); torch refuses to convolve no token
        u = F.silu(self.convolution(u)).transpose(1, 2) if x.shape[1] else gate
        y, done = self.ssm.recur(u, padding, None if cache is None else cache.state)
        if (recorder := current_recorder()) is not None:
            if recorder.store:
                M = self.ssm.hidden_attention(u, padding)
                recorder.record(self, AttentionRecord(M, values=u.transpose(1, 2)[..., None]))
            y = switched(self, y.transpose(1, 2)[..., None])[..., 0].transpose(1, 2)
        if cache is not None and x.shape[1]:
            cache.advance(x.shape[1], done.states[:, -1], tail)
        return self.out(y * F.silu(gate)), done
