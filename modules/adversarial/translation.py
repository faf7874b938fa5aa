r"""Pix2Pix: one picture becomes another; a discriminator that sees patches says whether it looks real.

    L_G = a · L_GAN(f[c, g(c)]) + λ · mean |x − g(c)|             x is the target, not the input c
    L_D = the loss of telling (c, x) from (c, g(c))                f: one logit per patch

[UDL] §15.5.1 says in words that the content loss compares input and output; its formula compares with the
target, as here. To compare with c would teach g to copy.

    U-Net    conv 4 × 4, stride 2 … down to `widths[-1]` maps, and up again; every level's maps are joined
             to the way up, so that detail need not pass through the smallest grid
    patches  n convolutions 4 × 4 of stride 2 and two of stride 1: a logit sees 1 + Σ (k − 1) Π strides
             pixels, n = 1, 2, 3: 16, 34, 70; n = 0 has kernels 1 × 1 and sees one pixel

D's loss is the mean over patches of their losses, as if every patch were an example; the loss of the mean
logit is another number. Without `paired`, D sees the output alone, and needs no pairs: a penalty for what
does not look real on top of any supervised loss.

Text and paper give g no noise; with `noise` maps of z beside c it learns to ignore them.

Shapes: c, x (B, C, H, W) in [0, 1] for the data, in [−1, 1] for both networks; f (B, h, w).

References: Isola et al. 2017, arXiv:1611.07004; Ronneberger et al. 2015, arXiv:1505.04597; [UDL]
§15.5.1–15.5.2, fig. 15.16. Only mentioned there: D at several scales (Denton et al. 2015,
arXiv:1506.05751; Wang et al. 2018, arXiv:1711.11585).
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from modules.adversarial.alternating import AlternatingTraining, Update
from modules.adversarial.dcgan import initialise
from modules.adversarial.losses import LOSSES
from modules.base import BatchShard, Mean, Split, require
from modules.latent.conv_vae import downsampled_size


class UNetGenerator(nn.Module):
    """U-Net c (B, in_channels, H, W) -> x̂ (B, out_channels, H, W) in [−1, 1].

    Args:
        widths: maps after each halving; the last has the smallest grid.
    """

    def __init__(self, in_channels: int, out_channels: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        last = len(widths) - 1
        for level, width in enumerate(widths):
            before = widths[level - 1] if level else in_channels
            layers: list[nn.Module] = [nn.LeakyReLU(0.2)] if level else []
            layers.append(nn.Conv2d(before, width, 4, 2, 1, bias=False))
            layers += [nn.BatchNorm2d(width)] if 0 < level < last else []
            self.down.append(nn.Sequential(*layers))
        for level in reversed(range(last + 1)):
            width = widths[level] * (1 if level == last else 2)  # joined with what was kept
            after = widths[level - 1] if level else out_channels
            layers = [nn.ReLU(), nn.ConvTranspose2d(width, after, 4, 2, 1, bias=level == 0)]
            layers.append(nn.BatchNorm2d(after) if level else nn.Tanh())
            self.up.append(nn.Sequential(*layers))

    def forward(self, c: Tensor) -> Tensor:
        h, kept = c, list[Tensor]()
        for layer in self.down:
            h = layer(h)
            kept.append(h)
        h = self.up[0](kept.pop())
        for layer in self.up[1:]:
            h = layer(torch.cat([h, kept.pop()], 1))
        return h


def patch_discriminator(in_channels: int, width: int, halvings: int) -> nn.Sequential:
    """Discriminator x (B, in_channels, H, W) -> logits (B, 1, h, w), one per patch.

    Args:
        width: maps of the first layer; they double with each, at most to 8 times as many.
        halvings: n, convolutions of stride 2; 0 has a logit for each pixel.
    """
    kernel, edge = (4, 1) if halvings else (1, 0)
    strides = [2] * halvings + [1] if halvings else [1, 1]
    layers: list[nn.Module] = []
    maps = in_channels
    for number, stride in enumerate(strides):
        wider = width * min(2**number, 8)
        layers.append(nn.Conv2d(maps, wider, kernel, stride, edge, bias=number == 0))
        layers += [nn.BatchNorm2d(wider)] if number else []
        layers.append(nn.LeakyReLU(0.2))
        maps = wider
    return nn.Sequential(*layers, nn.Conv2d(maps, 1, kernel, 1, edge))


def patch_size(halvings: int) -> int:
    """Pixels a side that one logit of `patch_discriminator` sees: 1 + Σ (k − 1) Π strides."""
    return 1 + sum(3 * 2**n for n in range(halvings)) + 2 * 3 * 2**halvings if halvings else 1


def gradient_energy(x: Tensor) -> Tensor:
    """Mean squared step from a pixel to its neighbours, (B, C, H, W) -> (B,): what blur takes away."""
    across, down = x.diff(dim=-1), x.diff(dim=-2)
    return (across.square().flatten(1).mean(1) + down.square().flatten(1).mean(1)) / 2


class Pix2Pix(AlternatingTraining):
    """A U-Net and a discriminator of patches.

    Args:
        image_shape: (C, H, W) of c and x; the sides must halve as often as there are `widths`. From the data.
        widths: of the U-Net.
        discriminator_width: maps of D's first layer; halvings: n, which decides the size of a patch.
        loss: of generator and discriminator, see `losses.LOSSES`.
        content: λ of the distance to the target; adversarial: a; 0 trains g alone.
        paired: whether D sees c beside x.
        noise: maps of z that g gets beside c.
        discriminator_rate: D's learning rate, where it is not G's.

    Raises:
        ValueError: a size is out of range, the sides do not halve so often, or both weights are 0.
    """

    def __init__(
        self, image_shape: Sequence[int] = (1, 32, 32), widths: Sequence[int] = (16, 32, 32, 32),
        discriminator_width: int = 16, halvings: int = 1, loss: str = "non-saturating",
        content: float = 100.0, adversarial: float = 1.0, paired: bool = True, noise: int = 0,
        discriminator_rate: float | None = None, **training: Any,
    ) -> None:  # fmt: skip
        require(1, widths=widths, discriminator_width=discriminator_width)
        require(0, content=content, adversarial=adversarial, noise=noise, halvings=halvings)
        require(0, discriminator_rate=discriminator_rate or 0)
        side = min(downsampled_size(image_shape, len(widths)))
        if content == adversarial == 0:
            raise ValueError("content and adversarial are both 0: the generator would have nothing to learn.")
        if halvings and min(image_shape[1:]) >> halvings < 3:
            raise ValueError(f"halvings is {halvings}: nothing is left of {list(image_shape)} for D.")
        if loss not in LOSSES:
            raise ValueError(f"loss is {loss!r}: choose one of {', '.join(LOSSES)}.")
        super().__init__(
            _measures={name: Mean() for name in ("d", "g", "l1", "energy", "energy_gap")}, **training
        )
        self.image_shape, self.noise, self.paired, self.smallest = tuple(image_shape), noise, paired, side
        self.gan_loss, self.content, self.adversarial = LOSSES[loss](), content, adversarial
        self.discriminator_rate = discriminator_rate
        colours = image_shape[0]
        self.generator = UNetGenerator(colours + noise, colours, widths)
        self.discriminator = patch_discriminator(colours * (1 + paired), discriminator_width, halvings)
        for network in (self.generator, self.discriminator):
            network.apply(lambda module: initialise(module, 0.02))

    # --- Surfaces -------------------------------------------------------------------------------

    def preprocess(self, x: Tensor) -> Tensor:
        """[0, 1] -> [−1, 1], what tanh can reach."""
        return 2 * x - 1

    def postprocess(self, x: Tensor) -> Tensor:
        """[−1, 1] -> [0, 1]."""
        return (x + 1) / 2

    def generate(self, c: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """g(c), with new z where it has noise; both in [−1, 1]."""
        if self.noise:
            z = torch.randn(
                len(c), self.noise, *c.shape[2:], generator=generator, device=c.device, dtype=c.dtype
            )
            c = torch.cat([c, z], 1)
        return cast(Tensor, self.generator(c))

    def translate(self, c: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """The picture that c becomes, both (B, C, H, W) in [0, 1]."""
        return self.postprocess(self.generate(self.preprocess(c), generator))

    def discriminate(self, c: Tensor, x: Tensor) -> Tensor:
        """Logits of x, generated or real, for the input c, one per patch: (B, h, w); both in [−1, 1]."""
        pair = torch.cat([c, x], 1) if self.paired else x
        return cast(Tensor, self.discriminator(pair))[:, 0]

    # --- Training -------------------------------------------------------------------------------

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        batch = batch.batch if isinstance(batch, BatchShard) else batch
        return self.preprocess(batch[1]), {"c": self.preprocess(batch[0])}

    def updates(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Iterator[Update]:
        c = given["c"]
        if self.adversarial:
            with torch.no_grad():
                fake = self.generate(c, generator)
            yield (
                "discriminator",
                self.gan_loss.discriminator(self.discriminate(c, x), self.discriminate(c, fake)),
            )
        yield "generator", self.g_loss(c, x, generator)

    def g_loss(self, c: Tensor, x: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """a · L_GAN(f[c, g(c)]) + λ · mean |x − g(c)|, a scalar."""
        fake = self.generate(c, generator)
        loss = self.content * (x - fake).abs().mean()
        if self.adversarial:
            of_fake = self.discriminate(c, fake)
            of_real = self.discriminate(c, x) if self.gan_loss.in_pairs else of_fake
            loss = loss + self.adversarial * self.gan_loss.generator(of_fake, of_real)
        return loss

    def players(self) -> dict[str, list[nn.Parameter]]:
        return {
            "generator": list(self.generator.parameters()),
            "discriminator": list(self.discriminator.parameters()),
        }

    # --- Evaluation -----------------------------------------------------------------------------

    def step(self, batch: Any, split: Split) -> Tensor:
        """Distance to the target on the scale of the data, and gradient energy beside that of the targets."""
        x, given = self.unpack(batch)
        c = given["c"]
        fake = self.generate(c, torch.Generator(c.device).manual_seed(0))
        of_real, of_fake = self.discriminate(c, x), self.discriminate(c, fake)
        self.log_metric(split, "d", self.gan_loss.discriminator(of_real, of_fake))
        self.log_metric(split, "g", self.gan_loss.generator(of_fake, of_real))
        l1 = (x - fake).abs().mean() / 2
        self.log_metric(split, "l1", (x - fake).abs().flatten(1).mean(1) / 2)
        result, real = gradient_energy(fake), gradient_energy(x)
        sharp = self.all_reduce_mean(real)
        self.log_metric(split, "energy", result / sharp)
        self.log_metric(split, "energy_gap", (result - real).abs() / sharp)
        return l1
