r"""A VAE whose decoder is autoregressive: it could explain x without z, and often does.

    log p(x|z) = Σ_i log p(x_i | x_<i, z)

    "order1"     logit_i = a_i(z) + b_i(z) x_{i−1}                  remembers one bit
    "made"       masked layers, z added to every hidden unit         remembers all
    "pixelcnn"   masked convolutions, z a map added to the first     remembers a neighbourhood
    "gru"        h_i = GRU(h_{i−1}, [x_{i−1}, z])                    remembers all

What a decoder can find in x_<i it need not be told: the bound pays nats for z and gets nothing back. Two
halves of a fair coin shown twice: a decoder that ignores z and one that stores the coin in z have the same
bound, −log 2. The bound cannot tell them apart; the mutual information of x and z can.

Bits alone. Training sees all true x_<i at once; sampling goes one by one.

Shapes: x (B, ...), flat (B, D); z (..., B, K); logits (..., B, D).

References: Bowman et al. 2016, arXiv:1511.06349; Chen et al. 2017, Variational Lossy Autoencoder,
arXiv:1611.02731; Gulrajani et al. 2017, PixelVAE, arXiv:1611.05013; [GM] §3.11.1.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.autoregressive.made import MaskedLinear, draw_degrees, make_masks
from modules.autoregressive.pixelcnn import FULL_PASS, MaskedConv2d, ResidualBlock
from modules.base import in_rows, require, require_one_of
from modules.latent.bounds import bernoulli_log_prob
from modules.latent.vae import VAE
from modules.mlp import mlp
from modules.noise import bernoulli
from modules.recurrent.cell import State
from modules.recurrent.stack import TORCH_NAMES, Recurrent
from modules.trace import Step

Kind = Literal["order1", "made", "pixelcnn", "gru"]


def shift_right(x: Tensor) -> Tensor:
    """x (N, D) -> what stands before each entry, 0 before the first."""
    return F.pad(x, (1, 0))[:, :-1]


class Order1(nn.Module):
    """z alone sets how each bit follows from the one before."""

    def __init__(
        self, size: int, latent_dim: int, hidden: Sequence[int], activation: type[nn.Module]
    ) -> None:
        super().__init__()
        self.network = mlp([latent_dim, *hidden, 2 * size], activation)

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        alone, after = self.network(z).chunk(2, -1)  # (N, D) each
        return alone + after * shift_right(x)


class MADEDecoder(nn.Module):
    """MADE's masked layers in raster order; z reaches all units, which no mask forbids."""

    def __init__(
        self, size: int, latent_dim: int, hidden: Sequence[int], activation: type[nn.Module]
    ) -> None:
        super().__init__()
        hidden = list(hidden) or [size]
        degrees = draw_degrees(size, hidden, "even", torch.Generator())
        masks = make_masks(torch.arange(1, size + 1), degrees, direct=False)
        widths = [size, *hidden, size]
        self.layers = nn.ModuleList(
            MaskedLinear(i, o, mask) for (i, o), mask in zip(pairwise(widths), masks, strict=True)
        )
        self.condition = nn.ModuleList(nn.Linear(latent_dim, o, bias=False) for o in widths[1:])
        self.activation = activation()

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        h = x
        for i, (layer, condition) in enumerate(zip(self.layers, self.condition, strict=True)):
            h = layer(h if i == 0 else self.activation(h)) + condition(z)
        return h


class PixelDecoder(nn.Module):
    """PixelCNN whose first layer reads a map that z has painted."""

    def __init__(self, image_shape: Sequence[int], latent_dim: int, channels: int, blocks: int) -> None:
        super().__init__()
        if len(image_shape) != 3 or image_shape[0] != 1:
            raise ValueError(f"image_shape is {list(image_shape)}: pixelcnn reads (1, height, width).")
        self.image_shape = tuple(image_shape)
        self.first = MaskedConv2d(1, channels, (5, 5), (2, 2), "A")
        self.condition = nn.Linear(latent_dim, channels * image_shape[1] * image_shape[2])
        self.blocks = nn.ModuleList(ResidualBlock(channels, 3, 0, 1) for _ in range(blocks))
        self.last = nn.Conv2d(channels, 1, 1)

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        h = self.first(x.reshape(-1, *self.image_shape))
        h = h + self.condition(z).reshape(h.shape)
        for block in self.blocks:
            h = block(h, FULL_PASS)
        return cast(Tensor, self.last(F.relu(h))).flatten(1)


class GRUDecoder(nn.Module):
    """A recurrent network that is told z at every step."""

    def __init__(self, latent_dim: int, width: int) -> None:
        super().__init__()
        self.start = nn.Linear(latent_dim, width)
        self.gru = Recurrent("gru", 1 + latent_dim, width, biases=2)
        self.last = nn.Linear(width, 1)

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        inputs = torch.cat(
            [shift_right(x)[..., None], z[:, None].expand(-1, x.shape[1], -1)], -1
        )  # (N, D, 1 + K)
        h, _ = self.gru(inputs, State(torch.tanh(self.start(z))[:, None]))
        return cast(Tensor, self.last(h)).squeeze(-1)


class AutoregressiveVAE(VAE):
    """A `VAE` of bits with an autoregressive decoder.

    Args:
        kind: "order1", "made", "pixelcnn" or "gru".
        hidden: of the encoder; order1 and made have them too, the GRU is as wide as the last.
        image_shape: what pixelcnn reads, (1, H, W); None for all others.
        channels, blocks: of pixelcnn.
        model: as of `VAE`; the decoder is Bernoulli.

    Example:
        >>> vae = AutoregressiveVAE(event_shape=(32,), latent_dim=2, hidden=[16], kind="gru")
        >>> vae.sample(3).shape
        torch.Size([3, 32])
    """

    FORMER_TENSORS: ClassVar[Mapping[str, str]] = {"decoder.told": "decoder.condition"} | {
        f"decoder.gru.{former}": f"decoder.gru.{now}" for former, now in TORCH_NAMES.items()
    }

    def __init__(
        self,
        *,
        kind: Kind = "made",
        hidden: Sequence[int] = (400,),
        image_shape: Sequence[int] | None = None,
        channels: int = 16,
        blocks: int = 2,
        decoder: Literal["bernoulli"] = "bernoulli",
        **model: Any,
    ) -> None:
        require_one_of(Kind, kind=kind)
        if decoder != "bernoulli":
            raise ValueError(f"decoder is {decoder!r}: an autoregressive decoder here is one of bits.")
        if model.get("learn_sigma") or model.get("sigma", 1.0) != 1:
            raise ValueError("Bits have no σ: leave sigma and learn_sigma out.")
        require(1, channels=channels)
        require(0, blocks=blocks)
        self.kind, self.image_shape = kind, image_shape
        self.channels, self.blocks = channels, blocks
        super().__init__(hidden=hidden, decoder=decoder, **model)

    def networks(self, hidden: list[int], activation: type[nn.Module]) -> tuple[nn.Module, nn.Module]:
        encoder = mlp([self.event_dim, *hidden, 2 * self.latent_dim], activation)
        turned = list(reversed(hidden))
        if self.kind == "pixelcnn":
            shape = self.event_shape if self.image_shape is None else tuple(self.image_shape)
            return encoder, PixelDecoder(shape, self.latent_dim, self.channels, self.blocks)
        if self.kind == "gru":
            return encoder, GRUDecoder(self.latent_dim, hidden[-1] if hidden else 32)
        make = Order1 if self.kind == "order1" else MADEDecoder
        return encoder, make(self.event_dim, self.latent_dim, turned, activation)

    def logits(self, x: Tensor, z: Tensor) -> Tensor:
        """Logits of every bit given those before it and z: x (..., D), z (..., K) -> (..., D)."""
        flat = self.decoder(x.reshape(-1, self.event_dim), z.reshape(-1, self.latent_dim))
        return cast(Tensor, flat.reshape(*z.shape[:-1], self.event_dim))

    def pixel_log_likelihood(self, x: Tensor, z: Tensor, **given: Any) -> Tensor:
        flat = in_rows(x)
        return bernoulli_log_prob(flat, self.logits(flat.expand(*z.shape[:-1], -1), z))

    def generate(self, z: Tensor, choose: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        """Bit after bit, each chosen from its probability: z (..., K) -> bits and probabilities (..., D)."""
        x = z.new_zeros(*z.shape[:-1], self.event_dim)
        probabilities = torch.zeros_like(x)
        for i in range(self.event_dim):
            probabilities[..., i] = self.logits(x, z)[..., i].sigmoid()
            x[..., i] = choose(probabilities[..., i])
        return x, probabilities

    @torch.no_grad()
    def decode(self, z: Tensor, **given: Any) -> Tensor:
        """z (..., K) -> (..., *event_shape): probability of each 1 after the likelier of each bit before it.

        The mean of p(x|z) itself would be an average over all 2^D pictures.
        """
        _, probabilities = self.generate(z, lambda p: (p > 0.5).to(z))
        return probabilities.reshape(*z.shape[:-1], *self.event_shape)

    def observation_step(
        self, z: Tensor, x_mean: Tensor, generator: torch.Generator | None, **given: Any
    ) -> Step:
        x, probabilities = self.generate(z, lambda p: bernoulli(p, generator))
        values = {"x": x.reshape(x_mean.shape), "probability": probabilities.reshape(x_mean.shape)}
        return Step(
            "Toss one coin after the other; each knows those before it.", values, r"x_i\sim p(x_i|x_{<i},z)"
        )
