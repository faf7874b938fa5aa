r"""Progressive growing: learn 4 × 4 pixels first, then add a level at a time, faded in.

    g    z → linear → 4 × 4 → [up, conv, conv] …     each level has its own 1 × 1 convolution to pixels
    f    the mirror image: from pixels → [conv, conv, halve] … → minibatch std → conv → a number
    fade     g:  (1 − α) up(to pixels_old(h)) + α to pixels_new(block(h))
             f:  (1 − α) from pixels_old(halve(x)) + α halve(block(from pixels_new(x)))
             x:  (1 − α) up(halve(x)) + α x              real pictures too

α goes from 0 to 1 in both networks at once while a level is new. At α = 0 the pictures are those from before
the growth, each pixel doubled, and f answers to them as it did before: halving (the mean of four) undoes
doubling. At α = 1 the old layer to pixels has no part any more, and gets no gradient.

Shapes: z (B, K); at level l x is (B, C, 4 · 2^l, 4 · 2^l).

References: Karras et al. 2018, arXiv:1710.10196; [UDL] §15.3, figs 15.9, 15.11, notes (minibatch std). Only
mentioned: GANs at several resolutions at once, LAPGAN (Denton et al. 2015, arXiv:1506.05751), StackGAN
(Zhang et al. 2017, arXiv:1612.03242), several D at different scales (Wang et al. 2018, arXiv:1711.11585).
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.adversarial.base import BaseGAN
from modules.adversarial.diversity import MinibatchStd
from modules.adversarial.stylegan import FIRST
from modules.base import require


def up(x: Tensor) -> Tensor:
    """Nearest-neighbour upsampling: (B, C, H, W) -> (B, C, 2H, 2W)."""
    return F.interpolate(x, scale_factor=2)


def halve(x: Tensor) -> Tensor:
    """The mean of four: (B, C, 2H, 2W) -> (B, C, H, W); of a doubled picture the picture, to the bit."""
    return F.avg_pool2d(x, 2)


def fade(old: Tensor, new: Tensor, alpha: float) -> Tensor:
    """(1 − α) old + α new; at 0 and at 1 the one of them, untouched."""
    return old if alpha == 0 else new if alpha == 1 else torch.lerp(old, new, alpha)


class PixelNorm(nn.Module):
    """h (B, C, ...) with a root mean square of 1 over the channels at each place."""

    def forward(self, h: Tensor) -> Tensor:
        return h * (h.square().mean(1, keepdim=True) + 1e-8).rsqrt()


def block(in_channels: int, out_channels: int, norm: bool) -> nn.Sequential:
    """Two convolutions of 3 × 3, with leaky ReLU and, in the generator, pixel norm."""
    layers: list[nn.Module] = []
    for before in (in_channels, out_channels):
        layers += [nn.Conv2d(before, out_channels, 3, padding=1), nn.LeakyReLU(0.2)]
        layers += [PixelNorm()] if norm else []
    return nn.Sequential(*layers)


class GrowingGenerator(nn.Module):
    """z (B, K) -> x (B, C, S, S) of the present level and fade, in [−1, 1]."""

    def __init__(self, latent_dim: int, colours: int, channels: Sequence[int]) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.Linear(latent_dim, channels[0] * FIRST * FIRST), nn.Unflatten(1, (channels[0], FIRST, FIRST)),
            nn.LeakyReLU(0.2), PixelNorm(),
        )  # fmt: skip
        before = [channels[0], *channels]
        self.blocks = nn.ModuleList(block(a, b, True) for a, b in zip(before, channels, strict=False))
        self.to_pixels = nn.ModuleList(nn.Conv2d(width, colours, 1) for width in channels)
        self.level, self.alpha = 0, 1.0

    def extra_repr(self) -> str:
        return f"level={self.level}, alpha={self.alpha}"

    def maps(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Feature maps of the level below (at the first: its own) and of the present one."""
        before = h = self.blocks[0](self.first(z))
        for level in range(1, self.level + 1):
            before, h = h, self.blocks[level](up(h))
        return before, h

    def old_and_new(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Pixels before tanh by the old layers and by the new ones, where the level is not the first."""
        before, h = self.maps(z)
        return up(self.to_pixels[self.level - 1](before)), self.to_pixels[self.level](h)

    def forward(self, z: Tensor) -> Tensor:
        if self.level and self.alpha < 1:
            return fade(*self.old_and_new(z), self.alpha).tanh()
        x: Tensor = self.to_pixels[self.level](self.maps(z)[1])
        return x.tanh()


class GrowingDiscriminator(nn.Module):
    """x (B, C, S, S) of the present level and fade -> (B,)."""

    def __init__(self, colours: int, channels: Sequence[int]) -> None:
        super().__init__()
        after = [channels[0], *channels]
        self.blocks = nn.ModuleList(block(b, a, False) for a, b in zip(after, channels, strict=False))
        self.from_pixels = nn.ModuleList(
            nn.Sequential(nn.Conv2d(colours, width, 1), nn.LeakyReLU(0.2)) for width in channels
        )
        self.std, self.head = MinibatchStd(), nn.Conv2d(channels[0] + 1, 1, FIRST)
        self.level, self.alpha = 0, 1.0

    def extra_repr(self) -> str:
        return f"level={self.level}, alpha={self.alpha}"

    def forward(self, x: Tensor) -> Tensor:
        h = self.from_pixels[self.level](x)
        for level in range(self.level, 0, -1):
            h = halve(self.blocks[level](h))
            if level == self.level and self.alpha < 1:
                h = fade(self.from_pixels[level - 1](halve(x)), h, self.alpha)
        return self.head(self.std(self.blocks[0](h)))[:, 0, 0, 0]


class ProgressiveGAN(BaseGAN):
    """A GAN that grows: `phase` updates of D for each fade, and as many for each level at rest.

    Args:
        image_shape: (C, S, S) with S = 4 · 2^(levels − 1). From the data.
        latent_dim: K.
        channels: of each level's maps, from 4 × 4 on.
        phase: updates of D at rest at a level, and of a fade; the last level stays until the end.
        first_level: where training begins; the last one, and nothing grows: the control.
        gan: as of `BaseGAN`.

    Raises:
        ValueError: a size is out of range, or the picture is of another size than the levels give.
    """

    FIXED = ("event_shape",)
    generator: Any
    averaged: Any
    discriminator: Any

    def __init__(
        self, image_shape: Sequence[int] = (1, 16, 16), latent_dim: int = 32,
        channels: Sequence[int] = (32, 32, 16), phase: int = 600, first_level: int = 0, **gan: Any,
    ) -> None:  # fmt: skip
        require(1, channels=channels, phase=phase)
        require(0, below=len(channels), first_level=first_level)
        side = FIRST << (len(channels) - 1)
        if tuple(image_shape[1:]) != (side, side):
            raise ValueError(f"{len(channels)} levels make {side} × {side} pixels, not {[*image_shape[1:]]}.")
        super().__init__(event_shape=image_shape, latent_dim=latent_dim, **gan)
        self.phase, self.levels, self.first_level = phase, len(channels), first_level
        generator = GrowingGenerator(latent_dim, image_shape[0], channels)
        discriminator = GrowingDiscriminator(image_shape[0], channels)
        for network in (generator, discriminator):
            network.apply(initialise)
        self.set_networks(generator, discriminator)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # two thirds of the time

    def schedule_position(self) -> tuple[int, float]:
        """Level and α after the updates of D so far: at rest, then a fade, then at rest, …"""
        passed = int(self.num_updates[0]) + 2 * self.phase * self.first_level
        level, into = divmod(passed + self.phase, 2 * self.phase)
        if level >= self.levels:
            return self.levels - 1, 1.0
        return level, min(1.0, into / self.phase) if level else 1.0

    def set_level(self, level: int, alpha: float = 1.0) -> None:
        """Put all networks at a level and a fade.

        Raises:
            ValueError: there is no such level, or α is not from 0 to 1.
        """
        require(0, below=self.levels, level=level)
        require(0, below=1 + 1e-9, alpha=alpha)
        for network in (self.generator, self.discriminator, self.averaged):
            if network is not None:
                network.level, network.alpha = level, alpha

    def at_level(self, x: Tensor) -> Tensor:
        """Real pictures at the present level and fade."""
        level, alpha = self.generator.level, self.generator.alpha
        for _ in range(self.levels - 1 - level):
            x = halve(x)
        return fade(up(halve(x)), x, alpha) if level and alpha < 1 else x

    # --- As a GAN -------------------------------------------------------------------------------

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        self.set_level(*self.schedule_position())
        x, given = super().unpack(batch)
        return (self.at_level(x) if self.training else x), given  # samples are measured at the full size

    def preprocess(self, x: Tensor) -> Tensor:
        """[0, 1] -> [−1, 1], what tanh can reach."""
        return 2 * x - 1

    def postprocess(self, x: Tensor) -> Tensor:
        """[−1, 1] -> [0, 1], at the full size, pixels repeated."""
        while x.shape[-1] < self.event_shape[-1]:
            x = up(x)
        return (x + 1) / 2

    def ema_generator(self) -> nn.Module:
        self.set_level(
            *self.schedule_position()
        )  # weights from a file know by their updates how far they have grown
        return super().ema_generator()

    def discriminate(self, x: Tensor, **given: Any) -> Tensor:
        """D's output of pictures of the present level; larger ones are halved to it."""
        while x.shape[-1] > FIRST << self.discriminator.level:
            x = halve(x)
        return super().discriminate(x)


def initialise(module: nn.Module) -> None:
    """He's first weights."""
    if isinstance(module, nn.Linear | nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, 0.2)
        nn.init.zeros_(module.bias)  # type: ignore[arg-type]
