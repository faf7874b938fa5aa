r"""StyleGAN: noise becomes a style, and the style sets every layer of a network that starts from a constant.

    w = mapping(z / rms z)                              z (B, K) -> w (B, K), fully connected
    h ← constant, then conv, [up, conv, conv] …         from 4 × 4 on, two layers a level
    h ← leaky ReLU(h + ψ_c · noise)                     after each: one picture of noise for all channels
    h ← AdaIN(h, y) = y_s · (h − μ) / σ + y_b           y = A w + b; μ, σ over space, by image and channel

Each layer has its style: one w for all is a draw, w of two draws with a crossing is a mixture, and any L of
them are a point of W+. Cut-off styles are w̄ + τ (w − w̄). While it learns, half of the pictures are mixtures,
so that neighbouring layers cannot count on the same w.

[UDL] §15.6 prints a mapping of seven layers; the paper and its code have eight. y scales the standard
deviation, not the variance, and has 2 C numbers, fewer where C shrinks. The picture is tanh of the last
layer here; the paper leaves it linear, and blurs where this doubles pixels.

Shapes: z (B, K); styles (B, L, K); noise (B, Σ HW), zeros for none; x (B, 1, S, S).

References: Karras et al. 2019, arXiv:1812.04948; Huang & Belongie 2017 (AdaIN), arXiv:1703.06868; Mescheder
et al. 2018 (R₁), arXiv:1801.04406; Karras et al. 2020 (R₁ at times), arXiv:1912.04958; [UDL] §15.6, figs
15.19–15.20. Only mentioned there: StyleGAN2's other normalisation (the same paper), D on changed pictures
where data are few (Karras et al. 2020, arXiv:2006.06676), StyleGAN3 without aliases (Karras et al. 2021,
arXiv:2106.12423).
"""

from collections.abc import Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.adversarial.base import BaseGAN
from modules.adversarial.dcgan import ConvDiscriminator
from modules.base import require
from modules.trace import Step, Trace

FIRST = 4  # pixels a side of the constant


def adain(h: Tensor, style: Tensor, eps: float = 1e-8) -> Tensor:
    """Each channel of h (B, C, H, W) with the standard deviation and the mean of `style` (B, 2 C)."""
    scale, shift = style[..., None, None].chunk(2, 1)  # (B, C, 1, 1) each
    return scale * F.instance_norm(h, eps=eps) + shift


class MappingNet(nn.Sequential):
    """z (B, K) -> w (B, K); z is scaled to a root mean square of 1 first."""

    def __init__(self, latent_dim: int, layers: int) -> None:
        super().__init__()
        for _ in range(layers):
            self.extend([nn.Linear(latent_dim, latent_dim), nn.LeakyReLU(0.2)])

    def forward(self, z: Tensor) -> Tensor:
        return super().forward(z * (z.square().mean(1, keepdim=True) + 1e-8).rsqrt())


class StyledLayer(nn.Module):
    """h (B, C, H, W) -> (B, C', H', W'): convolution, noise, leaky ReLU, AdaIN.

    Args:
        convolved: without, h is taken as it is: the constant's layer.
        up: double the pixels before the convolution.
    """

    def __init__(
        self, in_channels: int, out_channels: int, latent_dim: int, convolved: bool, up: bool
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1) if convolved else None
        self.up = up
        self.noise_scale = nn.Parameter(torch.zeros(out_channels, 1, 1))  # ψ
        self.affine = nn.Linear(latent_dim, 2 * out_channels)  # A, b

    def extra_repr(self) -> str:
        return f"up={self.up}"

    def forward(self, h: Tensor, w: Tensor, noise: Tensor) -> Tensor:
        h = F.interpolate(h, scale_factor=2) if self.up else h
        h = self.conv(h) if self.conv is not None else h
        return adain(F.leaky_relu(h + self.noise_scale * noise, 0.2), self.affine(w))


class StyleGenerator(nn.Module):
    """Both networks of the generator; as a whole z, or z and noise (B, K + Σ HW) -> x in [−1, 1]."""

    def __init__(self, latent_dim: int, colours: int, channels: Sequence[int], layers: int) -> None:
        super().__init__()
        self.latent_dim = latent_dim
        self.mapping = MappingNet(latent_dim, layers)
        self.constant = nn.Parameter(torch.ones(1, channels[0], FIRST, FIRST))
        self.layers, self.sides = nn.ModuleList(), []
        before = channels[0]
        for level, width in enumerate(channels):
            self.layers.append(StyledLayer(before, width, latent_dim, level > 0, level > 0))
            self.layers.append(StyledLayer(width, width, latent_dim, True, False))
            self.sides += [FIRST << level] * 2
            before = width
        self.colour = nn.Conv2d(before, colours, 1)

    def extra_repr(self) -> str:
        return f"latent_dim={self.latent_dim}, sides={self.sides}"

    def maps(self, styles: Tensor, noise: Tensor) -> list[Tensor]:
        """The output of each layer: styles (B, L, K), noise (B, Σ HW) -> L tensors (B, C, H, W)."""
        parts = noise.split([side * side for side in self.sides], 1)
        h, outputs = self.constant.expand(len(styles), -1, -1, -1), []
        for layer, w, part, side in zip(self.layers, styles.unbind(1), parts, self.sides, strict=True):
            h = layer(h, w, part.view(-1, 1, side, side))
            outputs.append(h)
        return outputs

    def synthesise(self, styles: Tensor, noise: Tensor) -> Tensor:
        """x (B, colours, S, S) in [−1, 1]."""
        return self.colour(self.maps(styles, noise)[-1]).tanh()

    def forward(self, z: Tensor) -> Tensor:
        z, noise = z[:, : self.latent_dim], z[:, self.latent_dim :]
        if not noise.shape[1]:
            noise = z.new_zeros(len(z), sum(side * side for side in self.sides))
        return self.synthesise(self.mapping(z)[:, None].expand(-1, len(self.layers), -1), noise)


class StyleGAN(BaseGAN):
    """A StyleGAN of small pictures, with R₁ on real ones.

    Args:
        image_shape: (C, S, S) with S = 4 · 2^(levels − 1). From the data.
        latent_dim: K of z and of w.
        channels: of the maps of each level, from 4 × 4 on.
        mapping_layers: of the mapping network.
        discriminator_channels: of D's maps, from the largest ones on; each halves the sides.
        mixing: share of batches whose styles are mixed.
        r1: γ of γ/2 E‖∇f(x)‖², paid on every `r1_every`-th update of D with so many times the weight.
        gan: as of `BaseGAN`.

    Raises:
        ValueError: a size or a rate is out of range, or the picture is of another size than the levels give.
    """

    FIXED = ("event_shape",)
    generator: Any  # StyleGenerator
    averaged: Any

    def __init__(
        self, image_shape: Sequence[int] = (1, 16, 16), latent_dim: int = 48,
        channels: Sequence[int] = (48, 48, 24), mapping_layers: int = 8,
        discriminator_channels: Sequence[int] = (32, 64), mixing: float = 0.5, r1: float = 1.0,
        r1_every: int = 4, **gan: Any,
    ) -> None:  # fmt: skip
        require(
            1, channels=channels, mapping_layers=mapping_layers, discriminator_channels=discriminator_channels
        )
        require(1, r1_every=r1_every)
        require(0, r1=r1)
        require(0, below=1 + 1e-9, mixing=mixing)
        side = FIRST << (len(channels) - 1)
        if tuple(image_shape[1:]) != (side, side):
            raise ValueError(f"{len(channels)} levels make {side} × {side} pixels, not {[*image_shape[1:]]}.")
        super().__init__(event_shape=image_shape, latent_dim=latent_dim, **gan)
        if self.penalty:
            raise ValueError("StyleGAN has a penalty of its own: set r1, and leave penalty at 0.")
        self.mixing, self.r1, self.r1_every = mixing, r1, r1_every
        generator = StyleGenerator(latent_dim, image_shape[0], channels, mapping_layers)
        discriminator = ConvDiscriminator(
            image_shape, discriminator_channels, batch_norm=False, minibatch_std=True
        )
        for network in (generator, discriminator):
            network.apply(initialise)
        self.set_networks(generator, discriminator)

    # --- Styles ---------------------------------------------------------------------------------

    @property
    def network(self) -> StyleGenerator:
        """The generator that samples."""
        return cast(StyleGenerator, self.ema_generator())

    @property
    def noise_dim(self) -> int:
        """Numbers of noise of one picture, Σ HW over the layers."""
        return sum(side * side for side in self.generator.sides)

    def noise(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """z, and the noise of all layers: (n, K + Σ HW)."""
        device = self.device if generator is None else generator.device
        layers = torch.randn(n, self.noise_dim, generator=generator, device=device, dtype=self.dtype)
        return torch.cat([super().noise(n, generator), layers.to(self.device)], 1)

    def styles(self, z: Tensor, truncation: float = 1.0) -> Tensor:
        """The same w for each layer, cut off towards their mean: (B, K) -> (B, L, K)."""
        w = self.network.mapping(z)
        w = w if truncation == 1 else self.mean_style().lerp(w, truncation)
        return w[:, None].expand(-1, len(self.generator.layers), -1)

    def mean_style(self, draws: int = 4096) -> Tensor:
        """w̄ (K,), the mean of so many draws, always the same ones."""
        z = super().noise(draws, torch.Generator(self.device).manual_seed(0))
        return self.network.mapping(z).mean(0)

    def mix_styles(self, styles: Tensor, others: Tensor, crossing: int) -> Tensor:
        """`styles` up to layer `crossing`, `others` from it on: (B, L, K) each."""
        return torch.cat([styles[:, :crossing], others[:, crossing:]], 1)

    def pictures(self, styles: Tensor, noise: Tensor | None = None) -> Tensor:
        """x of styles (B, L, K); without `noise` (B, Σ HW) the layers get none."""
        noise = styles.new_zeros(len(styles), self.noise_dim) if noise is None else noise
        return self.postprocess(self.network.synthesise(styles, noise))

    @torch.no_grad()
    def _trace(
        self, n: int, generator: torch.Generator | None, truncation: float | None = None, **given: Any
    ) -> Trace:
        """z, w, and every layer."""
        z, noise = self.draw_z(n, generator, truncation).split([self.latent_dim, self.noise_dim], 1)
        styles, network = self.styles(z), self.network
        steps = [
            Step(f"Draw z, {self.latent_dim} numbers.", {"z": z}, r"z\sim p(z)"),
            Step(f"{len(network.mapping) // 2} layers make it a style.", {"w": styles[:, 0]}, "w=f(z)"),
        ]
        maps = network.maps(styles, noise)
        for i, h in enumerate(maps):
            shape = " × ".join(map(str, h.shape[1:]))
            steps.append(Step(f"Layer {i + 1}: {shape} numbers.", {"h": h}, r"h=\mathrm{AdaIN}(h,Aw)"))
        return Trace(steps, self.postprocess(network.colour(maps[-1]).tanh()))

    # --- Training -------------------------------------------------------------------------------

    def preprocess(self, x: Tensor) -> Tensor:
        """[0, 1] -> [−1, 1], what tanh can reach."""
        return 2 * x - 1

    def postprocess(self, x: Tensor) -> Tensor:
        """[−1, 1] -> [0, 1]."""
        return (x + 1) / 2

    def training_samples(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """n examples of the generator that learns; in a share of batches with mixed styles."""
        z, noise = self.noise(n, generator).split([self.latent_dim, self.noise_dim], 1)
        count = len(self.generator.layers)
        styles = self.generator.mapping(z)[:, None].expand(-1, count, -1)
        if torch.rand((), generator=generator) < self.mixing:
            crossing = int(torch.randint(1, count, (), generator=generator))
            styles = self.mix_styles(styles, styles.roll(1, 0), crossing)
        return self.generator.synthesise(styles, noise)

    def d_update_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        with torch.no_grad():
            fake = self.training_samples(len(x), generator)
        loss = self.d_loss(x, fake, generator)
        if self.r1 and self.num_updates[0] % self.r1_every == 0:
            x = x.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(self.discriminate(x).sum(), x, create_graph=True)
            loss = loss + self.r1_every * self.r1 / 2 * gradient.square().flatten(1).sum(1).mean()
        return loss

    def g_update_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        return self.g_loss(self.training_samples(len(x), generator), x)


def initialise(module: nn.Module) -> None:
    """He's first weights; a style begins near scale 1 and shift 0."""
    if isinstance(module, nn.Linear | nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, 0.2)
        nn.init.zeros_(module.bias)  # type: ignore[arg-type]
    if isinstance(module, StyledLayer):
        with torch.no_grad():
            module.affine.weight.mul_(0.5)
            module.affine.bias[: len(module.affine.bias) // 2] = 1.0
