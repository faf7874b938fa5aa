r"""A VAE of lines of text: a recurrent network reads a line into a code, another writes it from the code.

    encoder    h_i = GRU(h_{i−1}, e(x_i)),  (μ, log σ²) = A h_n            n: where the line ends
    decoder    g_i = GRU(g_{i−1}, [e(x_{i−1}), z]),  g_0 = tanh(B z)
               log p(x|z) = Σ_{i ≤ n} log softmax(C g_i + c)[x_i]

The decoder is a language model of its own: what the letters before tell need not be in z, which is left
with how a line begins and little more. While the decoder learns to spell, q(z|x) becomes the prior, and
nothing calls it back. Bowman et al. saw it first, in this model; a price of the KL that rises from 0, or λ
nats that are free, are against it (`modules.latent.collapse`).

A line of tokens ends at the first `end`, the last of the vocabulary; what stands behind it does not count.
A line without one goes on behind its T letters. All lines of up to T tokens, cut there, have probabilities
that sum to 1.

Shapes: x (B, T) int64; z (..., B, K); logits (..., B, T, V).

References: Bowman et al. 2016, Generating Sentences from a Continuous Space, arXiv:1511.06349; Cho et al.
2014 (GRU), arXiv:1406.1078; [GM] §3.11.1; [UDL] notes of ch. 17.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.latent.vae import VAE
from modules.recurrent.cell import State
from modules.recurrent.stack import TORCH_NAMES, Recurrent
from modules.trace import Step


def line_mask(x: Tensor, end: int) -> Tensor:
    """Mask (..., T) of the tokens of x that belong to the line: those up to its first `end`, and this one."""
    ended = x == end
    return ended.cumsum(-1) - ended.long() == 0


class TextEncoder(nn.Module):
    """x (N, T) -> (μ, log σ²) (N, 2K), from the state in which the line ends."""

    def __init__(self, vocab_size: int, embedding: int, width: int, latent_dim: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding)
        self.gru = Recurrent("gru", embedding, width, biases=2)
        self.last = nn.Linear(width, 2 * latent_dim)

    def forward(self, x: Tensor) -> Tensor:
        states, _ = self.gru(self.embedding(x))  # (N, T, width)
        place = line_mask(x, self.embedding.num_embeddings - 1).sum(1) - 1  # (N,)
        return cast(Tensor, self.last(states[torch.arange(len(x), device=x.device), place]))


class TextDecoder(nn.Module):
    """z (N, K) and the tokens before -> logits of each token; z is told at every step."""

    def __init__(self, vocab_size: int, embedding: int, width: int, latent_dim: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding)
        self.start = nn.Linear(latent_dim, width)
        self.gru = Recurrent("gru", embedding + latent_dim, width, biases=2)
        self.last = nn.Linear(width, vocab_size)

    def initial_state(self, z: Tensor) -> State:
        """The state before the first token, (N, 1, width)."""
        return State(torch.tanh(self.start(z))[:, None])

    def step(self, before: Tensor, z: Tensor, state: State) -> tuple[Tensor, State]:
        """Embedded token (N, E) that stands before -> logits (N, V) and the state behind it."""
        h, state = self.gru.step(torch.cat([before, z], -1), state)
        return self.last(h), state

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        before = F.pad(self.embedding(x), (0, 0, 1, 0))[:, :-1]  # nothing stands before the first
        codes = z[:, None].expand(-1, x.shape[1], -1)
        h, _ = self.gru(torch.cat([before, codes], -1), self.initial_state(z))
        return cast(Tensor, self.last(h))


class TextVAE(VAE):
    """A `VAE` of lines of text with recurrent networks on both sides.

    Bounds are nats per line.

    Args:
        event_shape: (T,), the most tokens of a line.
        vocab_size: V; token V − 1 ends a line.
        embedding: numbers that stand for a token.
        width: of the states of both networks.
        model: as of `VAE`: `latent_dim`, and what the KL costs in training.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> vae = TextVAE(event_shape=(12,), vocab_size=28, latent_dim=4, width=16)
        >>> vae.sample(3).shape
        torch.Size([3, 12])
    """

    FORMER_TENSORS: ClassVar[Mapping[str, str]] = {
        f"{side}.gru.{former}": f"{side}.gru.{now}"
        for side in ("encoder", "decoder")
        for former, now in TORCH_NAMES.items()
    }
    FIXED = ("hidden", "activation", "decoder", "sigma", "learn_sigma")

    def __init__(
        self,
        *,
        event_shape: Sequence[int] = (40,),
        vocab_size: int = 28,
        embedding: int = 24,
        width: int = 128,
        latent_dim: int = 16,
        **model: Any,
    ) -> None:
        require(1, event_shape=event_shape, embedding=embedding, width=width)
        require(2, vocab_size=vocab_size)
        if len(event_shape) != 1:
            raise ValueError(f"event_shape is {list(event_shape)}: give the tokens of a line, (T,).")
        self.vocab_size, self.embedding, self.width = vocab_size, embedding, width
        super().__init__(event_shape, latent_dim, (), **model)
        self.length, self.end = self.event_shape[0], vocab_size - 1
        self.event_dim = self.length * vocab_size  # what one pass of the decoder makes of a line

    def networks(self, hidden: list[int], activation: type[nn.Module]) -> tuple[nn.Module, nn.Module]:
        sizes = self.vocab_size, self.embedding, self.width, self.latent_dim
        return TextEncoder(*sizes), TextDecoder(*sizes)

    def lines(self, x: Tensor) -> Tensor:
        """x (..., L) as token numbers.

        Raises:
            ValueError: a line is empty or longer than T.
        """
        if not 1 <= x.shape[-1] <= self.length:
            raise ValueError(f"A line has {x.shape[-1]} tokens: give 1 to {self.length}.")
        return x.long()

    def encode_parameters(self, x: Tensor, **given: Any) -> tuple[Tensor, Tensor]:
        mean, log_var = self.encoder(self.lines(x)).chunk(2, dim=-1)
        return mean, log_var

    def logits(self, x: Tensor, z: Tensor) -> Tensor:
        """Logits of each token given those before it and z: x (..., T), z (..., K) -> (..., T, V)."""
        flat = self.decoder(self.lines(x).reshape(-1, x.shape[-1]), z.reshape(-1, self.latent_dim))
        return cast(Tensor, flat.reshape(*z.shape[:-1], *flat.shape[1:]))

    def pixel_log_likelihood(self, x: Tensor, z: Tensor, **given: Any) -> Tensor:
        """log p(x_i|x_<i, z) of each token, 0 behind the end: x (B, T), z (..., B, K) -> (..., B, T)."""
        x = self.lines(x)
        every = x.expand(*z.shape[:-1], -1)
        result = self.logits(every, z).log_softmax(-1).gather(-1, every[..., None]).squeeze(-1)
        return result.masked_fill(~line_mask(x, self.end), 0.0)

    @torch.no_grad()
    def generate(self, z: Tensor, choose: Callable[[Tensor], Tensor]) -> Tensor:
        """Token after token, each chosen from its probabilities (N, V): z (..., K) -> (..., T), ends behind
        the end."""
        flat = z.reshape(-1, self.latent_dim)
        x = torch.full((len(flat), self.length), self.end, device=z.device)
        writer = cast(TextDecoder, self.decoder)
        before, state = flat.new_zeros(len(flat), self.embedding), writer.initial_state(flat)
        for i in range(self.length):
            logits, state = writer.step(before, flat, state)
            chosen = choose(logits.softmax(-1))
            x[:, i] = chosen if i == 0 else torch.where(x[:, i - 1] == self.end, self.end, chosen)
            before = writer.embedding(x[:, i])
        return x.reshape(*z.shape[:-1], self.length)

    def decode(self, z: Tensor, **given: Any) -> Tensor:
        """z (..., K) -> (..., T): the likeliest token, one after the other; the mean of letters is none."""
        return self.generate(z, lambda p: p.argmax(-1))

    def observation_step(
        self, z: Tensor, x_mean: Tensor, generator: torch.Generator | None, **given: Any
    ) -> Step:
        def draw(p: Tensor) -> Tensor:
            p = p if generator is None else p.to(generator.device)
            return torch.multinomial(p, 1, generator=generator).squeeze(1).to(z.device)

        x = self.generate(z, draw)
        caption = "Draw one letter after the other; each knows those before it."
        return Step(caption, {"x": x}, r"x_i\sim p(x_i|x_{<i},z)")
