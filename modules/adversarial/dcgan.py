r"""DCGAN: convolutions without pooling, up for the generator and down for the discriminator.

    g: z → linear → C₁ maps → [batch norm → ReLU → transposed conv, stride 2] … → tanh
    f: x → conv, stride 2 → leaky ReLU → [conv, stride 2 → batch norm → leaky ReLU] … → conv over all

The recipe, each line with its switch: strided convolutions instead of pooling and resizing (`strided`); batch
norm everywhere but in G's last and D's first layer (`batch_norm`); leaky ReLU in D (`negative_slope`); small
normal first weights (`init_std`); Adam with β₁ = ½ (the experiment's optimizer). Without `strided`, D pools
the largest of four and G repeats each pixel, with convolutions of 3 × 3.

Shapes: z (B, K), x (B, C, H, W) in [0, 1] for the data, in [−1, 1] for both networks; f (B,).

References: Radford et al. 2016, arXiv:1511.06434; Ioffe & Szegedy 2015, arXiv:1502.03167; [UDL] §15.1.3,
§15.1.4, figs 15.3–15.5. Only mentioned: self-attention in both networks (Zhang et al. 2019,
arXiv:1805.08318); a GAN on top of quantised codes with a transformer for prior, VQ-GAN (Esser et al. 2021,
arXiv:2012.09841); data that are no pictures, such as molecules (De Cao & Kipf 2018, arXiv:1805.11973).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

from torch import Tensor, nn

from modules.adversarial.base import BaseGAN
from modules.adversarial.diversity import MinibatchStd, pack_examples
from modules.base import require
from modules.latent.conv_vae import downsampled_size

BatchNorm = nn.BatchNorm1d | nn.BatchNorm2d


def halved_sides(image_shape: Sequence[int], halvings: int) -> list[tuple[int, int]]:
    """Rows and columns of a picture and after each halving, an odd side rounded up: 28, 14, 7, 4.

    Raises:
        ValueError: `image_shape` is no (C, H, W), or a side of one pixel is left to be halved.
    """
    results = [downsampled_size(image_shape, 0)]
    for _ in range(halvings):
        height, width = results[-1]
        if min(height, width) < 2:
            full = " × ".join(map(str, results[0]))
            raise ValueError(f"{full} pixels cannot be halved {halvings} times: take fewer layers.")
        results.append(((height + 1) // 2, (width + 1) // 2))
    return results


def upsample(in_channels: int, out_channels: int, kernel: int, strided: bool, bias: bool) -> nn.Module:
    """Maps (B, in_channels, H, W) -> (B, out_channels, 2H, 2W)."""
    if strided:  # an odd kernel leaves the last row and column to be padded
        odd = kernel % 2
        return nn.ConvTranspose2d(in_channels, out_channels, kernel, 2, (kernel - 1) // 2, odd, bias=bias)
    return nn.Sequential(
        nn.Upsample(scale_factor=2), nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=bias)
    )


def downsample(in_channels: int, out_channels: int, kernel: int, strided: bool, bias: bool) -> nn.Module:
    """Maps (B, in_channels, 2H, 2W) -> (B, out_channels, H, W)."""
    if strided:
        return nn.Conv2d(in_channels, out_channels, kernel, 2, (kernel - 1) // 2, bias=bias)
    return nn.Sequential(nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=bias), nn.MaxPool2d(2))


def fit_odd_sides(height: int, width: int, change: int) -> list[nn.Module]:
    """Padding by a row and a column (1) or cropping by them (−1), where that side is odd."""
    if height % 2 + width % 2 == 0:
        return []
    return [nn.ZeroPad2d((0, change * (width % 2), 0, change * (height % 2)))]


def conv_generator(
    latent_dim: int, image_shape: Sequence[int], channels: Sequence[int], kernel: int = 4,
    strided: bool = True, batch_norm: bool = True, bias: bool = True, hidden: int = 0,
) -> nn.Sequential:  # fmt: skip
    """z (B, K) -> x (B, C, H, W) in [−1, 1]; `channels` from the smallest maps to those before the last."""
    (height, width), *larger = halved_sides(image_shape, len(channels))[::-1]
    layers: list[nn.Module] = []
    if hidden:
        layers += [nn.Linear(latent_dim, hidden, bias=bias)]
        layers += [nn.BatchNorm1d(hidden)] if batch_norm else []
        layers += [nn.ReLU()]
    layers += [
        nn.Linear(hidden or latent_dim, channels[0] * height * width, bias=bias),
        nn.Unflatten(1, (channels[0], height, width)),
    ]
    for (in_channels, out_channels), (height, width) in zip(
        pairwise([*channels, image_shape[0]]), larger, strict=True
    ):
        layers += [nn.BatchNorm2d(in_channels)] if batch_norm else []
        layers += [
            nn.ReLU(),
            upsample(in_channels, out_channels, kernel, strided, bias),
            *fit_odd_sides(height, width, -1),
        ]
    return nn.Sequential(*layers, nn.Tanh())


class ConvDiscriminator(nn.Module):
    """x (B, C, H, W) -> f (B // pack,); `trunk` gives the maps, `head` a convolution over all of them."""

    def __init__(
        self, image_shape: Sequence[int], channels: Sequence[int], kernel: int = 4, strided: bool = True,
        batch_norm: bool = True, negative_slope: float = 0.2, bias: bool = True, num_logits: int = 1,
        pack: int = 1, minibatch_std: bool = False, hidden: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.pack = pack
        layers: list[nn.Module] = []
        *larger, side = halved_sides(image_shape, len(channels))
        widths = pairwise([image_shape[0] * pack, *channels])
        for i, ((in_channels, width), here) in enumerate(zip(widths, larger, strict=True)):
            layers += [*fit_odd_sides(*here, 1), downsample(in_channels, width, kernel, strided, bias)]
            layers += [nn.BatchNorm2d(width)] if batch_norm and i else []
            layers.append(nn.LeakyReLU(negative_slope))
        layers += [MinibatchStd()] if minibatch_std else []
        features = channels[-1] + minibatch_std
        if hidden:  # one more layer over all of the maps, (B, hidden, 1, 1)
            layers.append(nn.Conv2d(features, hidden, side, bias=bias))
            layers += [nn.BatchNorm2d(hidden)] if batch_norm else []
            layers.append(nn.LeakyReLU(negative_slope))
            features, side = hidden, (1, 1)
        self.trunk = nn.Sequential(*layers)
        self.head = nn.Conv2d(features, num_logits, side, bias=bias)

    def extra_repr(self) -> str:
        return f"pack={self.pack}"

    def maps(self, x: Tensor) -> Tensor:
        """(B, C, H, W) -> (B // pack, num_logits, 1, 1)."""
        return cast(Tensor, self.head(self.trunk(pack_examples(x, self.pack))))

    def forward(self, x: Tensor) -> Tensor:
        return self.maps(x)[:, 0, 0, 0]


class DCGAN(BaseGAN):
    """Convolutional generator and discriminator of pictures.

    Args:
        image_shape: (C, H, W), halved once for each of `channels`, odd sides rounded up. From the data.
        latent_dim: K.
        channels: of G's maps, from the smallest ones on; D has the same from the largest ones on.
        kernel: 4 or 5.
        strided, batch_norm, negative_slope, init_std, bias: the recipe; negative_slope 0 is a plain ReLU in
            D, without init_std the first weights are torch's own.
        pack, minibatch_std: D's cures against collapse.
        hidden: units of one more layer next to the smallest maps of both networks; 0 for none.
        gan: as of `BaseGAN`.

    Raises:
        ValueError: a size is out of range, or the sides cannot be halved so often.
    """

    FIXED = ("event_shape",)
    discriminator: Any  # a ConvDiscriminator, with what a subclass adds to it

    def __init__(
        self, image_shape: Sequence[int] = (1, 28, 28), latent_dim: int = 64,
        channels: Sequence[int] = (64, 32), kernel: int = 4, strided: bool = True, batch_norm: bool = True,
        negative_slope: float = 0.2, init_std: float | None = 0.02, bias: bool = True, pack: int = 1,
        minibatch_std: bool = False, hidden: int = 0, **gan: Any,
    ) -> None:  # fmt: skip
        require(1, channels=channels, pack=pack)
        require(0, negative_slope=negative_slope, init_std=init_std or 0, hidden=hidden)
        require(4, below=6, kernel=kernel)
        super().__init__(event_shape=image_shape, latent_dim=latent_dim, **gan)
        if self.penalty and (batch_norm or pack > 1):
            raise ValueError("A penalty is of each example by itself: take batch_norm false and pack 1.")
        generator = conv_generator(
            self.z_dim, image_shape, channels, kernel, strided, batch_norm, bias, hidden
        )
        discriminator = ConvDiscriminator(
            (image_shape[0] + self.extra_channels, *image_shape[1:]),
            channels[::-1],
            kernel,
            strided,
            batch_norm and not self.spectral,  # a batch norm would undo the bound on D's slope
            negative_slope,
            bias,
            self.num_logits,
            pack,
            minibatch_std,
            hidden,
        )
        if init_std is not None:
            for network in (generator, discriminator):
                network.apply(lambda module: initialise(module, init_std))
        self.set_networks(generator, discriminator)

    @property
    def z_dim(self) -> int:
        """Size of the generator's input."""
        return self.latent_dim

    @property
    def extra_channels(self) -> int:
        """Channels that D gets beside the picture's own."""
        return 0

    @property
    def num_logits(self) -> int:
        """Size of D's output; the first number says how real."""
        return 1

    def preprocess(self, x: Tensor) -> Tensor:
        """[0, 1] -> [−1, 1], what tanh can reach."""
        return 2 * x - 1

    def postprocess(self, x: Tensor) -> Tensor:
        """[−1, 1] -> [0, 1]."""
        return (x + 1) / 2


def initialise(module: nn.Module, std: float) -> None:
    """First weights of a layer: N(0, std²), of a batch norm N(1, std²), and no bias."""
    if isinstance(module, nn.Linear | nn.Conv2d | nn.ConvTranspose2d | BatchNorm):
        nn.init.normal_(module.weight, float(isinstance(module, BatchNorm)), std)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
