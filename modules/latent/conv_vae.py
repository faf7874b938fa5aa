r"""Convolutional VAE: the same bound, with networks that know of neighbouring pixels.

    encoder   x → conv, stride 2 → … → flatten → (μ, log σ²)
    decoder   z → linear → … → transposed conv, stride 2 → logits or mean

Every layer halves or doubles the side: kernel 4, stride 2, padding 1, so that all pixels are written by
equally many taps, which keeps checkerboards away (Odena et al. 2016).

Shapes: x (B, 1, H, W) or (B, D); after layer l maps (B, C_l, H / 2^l, W / 2^l).

References: Kingma & Welling 2014, arXiv:1312.6114; Radford et al. 2016 (strided convolutions),
arXiv:1511.06434; [UDL] §17.8.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from torch import nn

from modules.base import require, require_picture
from modules.latent.vae import VAE, AnyLeading


def downsampling(
    image_shape: Sequence[int], channels: Sequence[int], activation: type[nn.Module]
) -> nn.Sequential:
    """x (B, D) -> maps (B, C, H / 2^L, W / 2^L) by L strided convolutions."""
    layers: list[nn.Module] = [nn.Unflatten(1, tuple(image_shape))]
    for inputs, outputs in pairwise([image_shape[0], *channels]):
        layers += [nn.Conv2d(inputs, outputs, 4, stride=2, padding=1), activation()]
    return nn.Sequential(*layers)


def upsampling(
    image_shape: Sequence[int], channels: Sequence[int], activation: type[nn.Module]
) -> nn.Sequential:
    """Maps (B, C, H / 2^L, W / 2^L) -> (B, colours, H, W), the mirror of `downsampling`."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise([*reversed(channels), image_shape[0]]):
        layers += [nn.ConvTranspose2d(inputs, outputs, 4, stride=2, padding=1), activation()]
    return nn.Sequential(*layers[:-1])


def downsampled_size(image_shape: Sequence[int], halvings: int) -> tuple[int, int]:
    """Rows and columns after so many halvings.

    Raises:
        ValueError: `image_shape` is no (C, H, W), or a side cannot be halved so often.
    """
    require_picture(image_shape)
    _, height, width = image_shape
    if height % 2**halvings or width % 2**halvings:
        raise ValueError(f"{height} × {width} pixels cannot be halved {halvings} times: take fewer layers.")
    return height // 2**halvings, width // 2**halvings


class ConvVAE(VAE):
    """A `VAE` with convolutions.

    Args:
        image_shape: colours, height, width.
        channels: maps of each layer of the encoder; the decoder has them in reverse.
        model: as of `VAE`, without `event_shape`; `hidden` are linear layers between maps and code.

    Example:
        >>> vae = ConvVAE(image_shape=(1, 8, 8), channels=[8, 16], latent_dim=4)
        >>> vae.decode(torch.zeros(2, 4)).shape
        torch.Size([2, 1, 8, 8])
    """

    FIXED = ("event_shape",)

    def __init__(
        self,
        *,
        image_shape: Sequence[int] = (1, 28, 28),
        channels: Sequence[int] = (32, 64),
        hidden: Sequence[int] = (),
        latent_dim: int = 20,
        **model: Any,
    ) -> None:
        self.image_shape, self.channels = tuple(image_shape), list(channels)
        require(1, channels=channels)
        self.small = downsampled_size(image_shape, len(self.channels))
        super().__init__(self.image_shape, latent_dim, hidden, **model)

    def networks(self, hidden: list[int], activation: type[nn.Module]) -> tuple[nn.Module, nn.Module]:
        maps = (self.channels[-1], *self.small)
        sizes = [maps[0] * maps[1] * maps[2], *hidden]
        encoder = downsampling(self.image_shape, self.channels, activation).append(nn.Flatten())
        for inputs, outputs in pairwise(sizes):
            encoder.extend([nn.Linear(inputs, outputs), activation()])
        encoder.append(nn.Linear(sizes[-1], 2 * self.latent_dim))
        decoder = nn.Sequential()
        for inputs, outputs in pairwise([self.latent_dim, *reversed(sizes)]):
            decoder.extend([nn.Linear(inputs, outputs), activation()])
        decoder.append(nn.Unflatten(1, maps)).extend(upsampling(self.image_shape, self.channels, activation))
        return encoder, AnyLeading(decoder.append(nn.Flatten()))
