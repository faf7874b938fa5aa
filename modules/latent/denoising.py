r"""Autoencoders, plain and denoising: a code without a density.

    z = f(x̃),  x̂ = g(z),    loss = −log p(x | x̂),    x̃ a corrupted copy of x, the target the clean one

    "mask"    each pixel is set to 0 with probability `corruption`
    "flip"    each bit is flipped with probability `corruption`
    "noise"   Gaussian noise of standard deviation `corruption` is added

Without corruption it is a plain autoencoder. Linear and with squared error, its best reconstruction is that
of PCA, W_dec W_enc = U_K U_Kᵀ: the same subspace, with weights free up to any invertible map ([UDL] notes
call it PCA).
Nothing ties the codes to a prior: z drawn from N(0, I) decodes to nothing in particular.

Shapes: x (B, ...), flat (B, D); z (B, K).

References: Vincent et al. 2010, Stacked Denoising Autoencoders; Bourlard & Kamp 1988; [GM] §1.5.3; [UDL]
    notes.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from modules.base import Mean, Module, Split, in_rows, require
from modules.latent.bounds import bernoulli_log_prob
from modules.latent.vae import ACTIVATIONS
from modules.mlp import mlp
from modules.noise import normal

Kind = Literal["mask", "flip", "noise"]


def corrupt(x: Tensor, kind: Kind, corruption: float, generator: torch.Generator | None = None) -> Tensor:
    """x̃, of the shape of x. With one seed a greater corruption hits whatever a smaller one has hit."""
    if kind == "noise":
        return x + corruption * normal(*x.shape, like=x, generator=generator)
    hit = torch.rand(x.shape, generator=generator, device=x.device) < corruption
    return torch.where(hit, torch.zeros_like(x) if kind == "mask" else 1 - x, x)


class DenoisingAutoencoder(Module):
    """Args:
        event_shape: shape of one x; D is its product.
        latent_dim: K.
        hidden: widths of the encoder's hidden layers; the decoder has them in reverse.
        activation: as of `VAE`.
        decoder: "bernoulli" (x in [0, 1], cross-entropy) or "gaussian" (squared error).
        kind, corruption: of x̃ in training; 0 damages nothing.

    Example:
        >>> model = DenoisingAutoencoder(event_shape=(64,), latent_dim=2, hidden=[8])
        >>> model.reconstruct(torch.zeros(3, 64)).shape
        torch.Size([3, 64])
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (784,),
        latent_dim: int = 20,
        hidden: Sequence[int] = (400,),
        activation: str = "relu",
        decoder: Literal["bernoulli", "gaussian"] = "bernoulli",
        kind: Kind = "mask",
        corruption: float = 0.3,
        **training: Any,
    ) -> None:
        super().__init__(_measures={"rec": Mean()}, **training)
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation is {activation!r}: choose one of {', '.join(ACTIVATIONS)}.")
        if decoder not in ("bernoulli", "gaussian") or kind not in ("mask", "flip", "noise"):
            raise ValueError(
                f"decoder is {decoder!r}, kind {kind!r}: choose bernoulli or gaussian; mask, flip or noise."
            )
        require(1, event_shape=event_shape, hidden=[1, *hidden], latent_dim=latent_dim)
        require(0, below=math.inf if kind == "noise" else 1, corruption=corruption)
        self.event_shape, self.latent_dim = tuple(event_shape), latent_dim
        self.event_dim = math.prod(self.event_shape)
        self.likelihood, self.kind, self.corruption = decoder, kind, corruption
        layer, hidden = ACTIVATIONS[activation], list(hidden)
        self.encoder = mlp([self.event_dim, *hidden, latent_dim], layer)
        self.decoder = mlp([latent_dim, *reversed(hidden), self.event_dim], layer)

    def extra_repr(self) -> str:
        sizes = f"event_shape={self.event_shape}, latent_dim={self.latent_dim}, decoder={self.likelihood!r}"
        return f"{sizes}, kind={self.kind!r}, corruption={self.corruption}"

    def encode(self, x: Tensor) -> Tensor:
        """x (B, ...) -> z (B, K)."""
        return self.encoder(in_rows(x))

    def decode(self, z: Tensor) -> Tensor:
        """z (..., K) -> x̂ (..., *event_shape)."""
        out = self.decoder(z)
        out = out.sigmoid() if self.likelihood == "bernoulli" else out
        return out.reshape(*z.shape[:-1], *self.event_shape)

    def reconstruct(self, x: Tensor) -> Tensor:
        """x̂ (B, *event_shape)."""
        return self.decode(self.encode(x))

    def corrupt(self, x: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """x̃, of the shape of x."""
        return corrupt(x, self.kind, self.corruption, generator)

    def error(self, x: Tensor, source: Tensor | None = None) -> Tensor:
        """(B,) cross-entropy or squared error of x̂ summed over D, x̂ made of `source` or x itself.

        An anomaly score, and no likelihood: nothing here is normalised over x.
        """
        flat = in_rows(x)
        out = self.decoder(self.encode(x if source is None else source))
        if self.likelihood == "bernoulli":
            return -bernoulli_log_prob(flat, out).sum(-1)
        return (flat - out).square().sum(-1)

    def step(self, batch: Any, split: Split) -> Tensor:
        x = batch[0] if isinstance(batch, (tuple, list)) else batch
        source = self.corrupt(x) if split == "train" and self.corruption else None
        error = self.error(x, source)
        self.log_metric(split, "rec", error.detach())
        return error.mean()
