r"""SRGAN: enlarge a picture, and rather invent detail that looks real than average over all that fits.

    L_G = p · mean (x − g(c))²  +  q · mean (φ(x) − φ(g(c)))²  +  a · L_GAN(f[g(c)])

c is x made smaller (the mean of each block of pixels), φ the activations of a classifier's middle layer. Many
x fit one c: squared error wants their mean, which is blurred; classifier and discriminator do not.

    g    conv 9 × 9 → residual blocks (conv, batch norm, PReLU, conv, batch norm) with a skip over all of them
         → [conv to 4 times the maps → pixel shuffle → PReLU] for every doubling → conv 9 × 9

Pixel shuffle only moves numbers: 4 maps (H, W) become one of (2H, 2W), each the pixels of one corner.

For the first `warmup` batches the plain network learns by squared error, and the classifier its classes. Then
both stand: the classifier is frozen, and g starts as a copy of the plain network, which goes on as before, so
that both have had equally many batches. Text: all three terms, no weights; paper: a = 10⁻³, the classifier's
distance in place of the pixels' (p = 0), 16 blocks of 64 maps.

Shapes: x (B, C, H, W), c (B, C, H/r, W/r), in [0, 1]; outputs may leave it, and `enlarge` clamps them.

References: Ledig et al. 2017, arXiv:1609.04802; Shi et al. 2016 (pixel shuffle), arXiv:1609.05158; Johnson
et al. 2016 (perceptual loss), arXiv:1603.08155; Wang et al. 2018 (ESRGAN: networks blended),
arXiv:1809.00219; [UDL] §15.5.2, fig. 15.17.
"""

import copy
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.adversarial.alternating import AlternatingTraining, Update
from modules.adversarial.dcgan import ConvDiscriminator
from modules.adversarial.losses import NonSaturating
from modules.adversarial.translation import gradient_energy
from modules.base import BatchShard, Mean, Split, require
from modules.convolution.cnn2d import CNN2d
from modules.latent.conv_vae import downsampled_size

MIDDLE = 7  # layers of the classifier up to the ReLU of its second block


def psnr(x: Tensor, y: Tensor) -> Tensor:
    """Peak signal to noise, −10 log₁₀ mean (x − y)², decibels of pictures in [0, 1]: (B, ...) -> (B,)."""
    return -10 * (x - y).square().flatten(1).mean(1).clamp(min=1e-10).log10()


def downsample(x: Tensor, factor: int) -> Tensor:
    """The mean of each block of factor × factor pixels: (B, C, H, W) -> (B, C, H/factor, W/factor)."""
    return F.avg_pool2d(x, factor)


def bicubic(low: Tensor, factor: int) -> Tensor:
    """Bicubic interpolation, which needs no learning: a cubic through 4 × 4 neighbours, clamped to [0, 1]."""
    return F.interpolate(low, scale_factor=float(factor), mode="bicubic").clamp(0, 1)


class Residual(nn.Module):
    """x + norm(conv(PReLU(norm(conv(x)))))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.PReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return x + cast(Tensor, self.layers(x))


class SRResNet(nn.Module):
    """c (B, C, H, W) -> (B, C, 2ᵏH, 2ᵏW) for k doublings."""

    def __init__(self, colours: int, width: int, blocks: int, doublings: int) -> None:
        super().__init__()
        self.head = nn.Sequential(nn.Conv2d(colours, width, 9, padding=4), nn.PReLU())
        self.body = nn.Sequential(
            *(Residual(width) for _ in range(blocks)),
            nn.Conv2d(width, width, 3, padding=1),
            nn.BatchNorm2d(width),
        )
        up: list[nn.Module] = []
        for _ in range(doublings):
            up += [nn.Conv2d(width, 4 * width, 3, padding=1), nn.PixelShuffle(2), nn.PReLU()]
        self.up = nn.Sequential(*up, nn.Conv2d(width, colours, 9, padding=4))

    def forward(self, c: Tensor) -> Tensor:
        h = self.head(c)
        return cast(Tensor, self.up(h + self.body(h)))


class SuperResolution(AlternatingTraining):
    """SRGAN beside the plain SRResNet and the classifier of its perceptual loss.

    Args:
        image_shape: (C, H, W) of the large picture. num_classes: of the classifier. Both from the data.
        factor: r, 2, 4 or 8; the sides must be multiples of it.
        width, blocks: of both generators.
        discriminator_channels: maps of D's layers, each of which halves the picture.
        classifier_channels: maps of its blocks, two at least.
        warmup: batches of the plain network and the classifier before adversarial training begins.
        pixels, perceptual, adversarial: p, q and a.
        discriminator_rate: D's learning rate, where it is not G's.

    Raises:
        ValueError: a size is out of range, or the sides are no multiples of what divides them.
    """

    FORMER_TENSORS: ClassVar = {"played": "num_batches"}

    def __init__(
        self, image_shape: Sequence[int] = (1, 28, 28), num_classes: int = 10, factor: int = 4,
        width: int = 16, blocks: int = 4, discriminator_channels: Sequence[int] = (16, 32),
        classifier_channels: Sequence[int] = (8, 16, 32), warmup: int = 1000, pixels: float = 0.0,
        perceptual: float = 1.0, adversarial: float = 1e-3, discriminator_rate: float | None = None,
        **training: Any,
    ) -> None:  # fmt: skip
        require(1, width=width, num_classes=num_classes)
        require(1, discriminator_channels=discriminator_channels, classifier_channels=classifier_channels)
        require(0, blocks=blocks, warmup=warmup, pixels=pixels, perceptual=perceptual)
        require(0, adversarial=adversarial, discriminator_rate=discriminator_rate or 0)
        if factor not in (2, 4, 8):
            raise ValueError(f"factor is {factor}: it must be 2, 4 or 8.")
        if len(classifier_channels) < 2:
            raise ValueError("The classifier has one block: it takes two, of which the second is compared.")
        if pixels == perceptual == adversarial == 0:
            raise ValueError("pixels, perceptual and adversarial are all 0: there would be nothing to learn.")
        doublings = factor.bit_length() - 1
        downsampled_size(image_shape, doublings)
        downsampled_size(image_shape, len(discriminator_channels))
        names = ("p", "c", "d", "g", "psnr", "psnr_plain", "psnr_bicubic", "energy", "energy_plain", "acc")
        super().__init__(_measures={name: Mean() for name in names}, **training)
        self.factor, self.warmup, self.gan_loss = factor, warmup, NonSaturating()
        self.pixels, self.perceptual, self.adversarial = pixels, perceptual, adversarial
        self.discriminator_rate = discriminator_rate
        colours = image_shape[0]
        self.plain = SRResNet(colours, width, blocks, doublings)
        self.generator = SRResNet(colours, width, blocks, doublings)
        self.discriminator = ConvDiscriminator(image_shape, discriminator_channels)
        shape = (image_shape[0], image_shape[1], image_shape[2])
        self.classifier = CNN2d(shape, num_classes, classifier_channels, (3,), 2, 0.2).layers
        self.num_batches = nn.Buffer(torch.zeros((), dtype=torch.int64))  # so far

    # --- Surfaces -------------------------------------------------------------------------------

    def enlarge(self, low: Tensor, blend: float = 1.0) -> Tensor:
        """low (B, C, h, w) in [0, 1] -> (B, C, r·h, r·w) in [0, 1].

        Args:
            blend: of the weights, statistics included, from the plain network's at 0 to the GAN's at 1.
        """
        if blend in (0, 1):
            return cast(Tensor, (self.generator if blend else self.plain)(low)).clamp(0, 1)
        one, other = self.plain.state_dict(), self.generator.state_dict()
        mixed = {
            name: one[name].lerp(other[name], blend) if one[name].is_floating_point() else other[name]
            for name in one
        }
        network = copy.deepcopy(self.generator)  # several readers may ask one model at a time
        network.load_state_dict(mixed)
        return cast(Tensor, network(low)).clamp(0, 1)

    def features(self, x: Tensor) -> Tensor:
        """φ(x): activations of the classifier's second block, (B, C', H/2, W/2)."""
        return cast(Tensor, self.classifier[:MIDDLE](x))

    # --- Training -------------------------------------------------------------------------------

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        batch = batch.batch if isinstance(batch, BatchShard) else batch
        return batch[0], {"y": batch[1]}

    def updates(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Iterator[Update]:
        low = downsample(x, self.factor)
        if int(self.num_batches) == self.warmup:
            self.generator.load_state_dict(self.plain.state_dict())
        yield "plain", F.mse_loss(self.plain(low), x)
        if int(self.num_batches) < self.warmup:
            yield "classifier", F.cross_entropy(self.classifier(x), given["y"])
        else:
            self.classifier.eval()  # frozen, its statistics too
            if self.adversarial:
                with torch.no_grad():
                    fake = self.generator(low)
                yield (
                    "discriminator",
                    self.gan_loss.discriminator(self.discriminator(x), self.discriminator(fake)),
                )
            yield "generator", self.g_loss(x, low)
        self.num_batches.add_(1)

    def g_loss(self, x: Tensor, low: Tensor) -> Tensor:
        """The three terms, a scalar."""
        fake = self.generator(low)
        loss: Tensor = self.pixels * F.mse_loss(fake, x)
        loss = loss + self.perceptual * F.mse_loss(self.features(fake), self.features(x).detach())
        if self.adversarial:
            of_fake = self.discriminator(fake)
            loss = loss + self.adversarial * self.gan_loss.generator(of_fake, of_fake)
        return loss

    def players(self) -> dict[str, list[nn.Parameter]]:
        names = ("generator", "discriminator", "plain", "classifier")
        return {name: list(getattr(self, name).parameters()) for name in names}

    # --- Evaluation -----------------------------------------------------------------------------

    def step(self, batch: Any, split: Split) -> Tensor:
        """PSNR and gradient energy of three ways to enlarge, and the accuracy of the classifier."""
        x, given = self.unpack(batch)
        low = downsample(x, self.factor)
        enlarged, plain = self.enlarge(low), self.enlarge(low, 0.0)
        of_real, of_fake = self.discriminator(x), self.discriminator(enlarged)
        logits = self.classifier(x)
        self.log_metric(split, "p", F.mse_loss(plain, x))
        self.log_metric(split, "c", F.cross_entropy(logits, given["y"]))
        self.log_metric(split, "d", self.gan_loss.discriminator(of_real, of_fake))
        self.log_metric(split, "g", self.g_loss(x, low))
        self.log_metric(split, "acc", (logits.argmax(1) == given["y"]).float())
        small = bicubic(low, self.factor)
        for name, picture in (("psnr", enlarged), ("psnr_plain", plain), ("psnr_bicubic", small)):
            self.log_metric(split, name, psnr(picture, x))
        sharp = self.all_reduce_mean(gradient_energy(x))
        self.log_metric(split, "energy", gradient_energy(enlarged) / sharp)
        self.log_metric(split, "energy_plain", gradient_energy(plain) / sharp)
        return F.mse_loss(enlarged, x)
