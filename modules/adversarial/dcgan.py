r"""DCGAN: convolutions without pooling, up for the generator and down for the discriminator.

    g: z → linear → C₁ maps → [batch norm → ReLU → transposed conv, stride 2] … → tanh
    f: x → conv, stride 2 → leaky ReLU → [conv, stride 2 → batch norm → leaky ReLU] … → conv over all

The recipe, each line with its switch: strided convolutions instead of pooling and resizing (`strided`); batch
norm everywhere but in G's last and D's first layer (`batch_norm`); leaky ReLU in D (`slope`); small normal
first weights (`init_sd`); Adam with β₁ = ½ (the experiment's optimizer). Without `strided`, D pools the
largest of four and G repeats each pixel, with convolutions of 3 × 3.

Shapes: z (B, K), x (B, C, H, W) in [0, 1] for the data, in [−1, 1] for both networks; f (B,).

References: Radford et al. 2016, arXiv:1511.06434; Ioffe & Szegedy 2015, arXiv:1502.03167; [UDL] §15.1.3,
§15.1.4, figs 15.3–15.5. Only mentioned: self-attention in both networks (Zhang et al. 2019,
arXiv:1805.08318); a game on top of quantised codes with a transformer for prior, VQ-GAN (Esser et al. 2021,
arXiv:2012.09841); data that are no pictures, such as molecules (De Cao & Kipf 2018, arXiv:1805.11973).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

from torch import Tensor, nn

from modules.adversarial.diversity import MinibatchStd, packed
from modules.adversarial.game import Game
from modules.base import require
from modules.latent.conv_vae import downsampled_size

BatchNorm = nn.BatchNorm1d | nn.BatchNorm2d


def sides(image_shape: Sequence[int], halvings: int) -> list[tuple[int, int]]:
    """Rows and columns of a picture and after each halving, an odd side rounded up: 28, 14, 7, 4.

    Raises:
        ValueError: `image_shape` is no (C, H, W), or a side of one pixel is left to be halved.
    """
    found = [downsampled_size(image_shape, 0)]
    for _ in range(halvings):
        height, width = found[-1]
        if min(height, width) < 2:
            full = " × ".join(map(str, found[0]))
            raise ValueError(f"{full} pixels cannot be halved {halvings} times: take fewer layers.")
        found.append(((height + 1) // 2, (width + 1) // 2))
    return found


def up(inputs: int, outputs: int, kernel: int, strided: bool, bias: bool) -> nn.Module:
    """Maps (B, inputs, H, W) -> (B, outputs, 2H, 2W)."""
    if strided:  # an odd kernel leaves the last row and column to be padded
        odd = kernel % 2
        return nn.ConvTranspose2d(inputs, outputs, kernel, 2, (kernel - 1) // 2, odd, bias=bias)
    return nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(inputs, outputs, 3, padding=1, bias=bias))


def down(inputs: int, outputs: int, kernel: int, strided: bool, bias: bool) -> nn.Module:
    """Maps (B, inputs, 2H, 2W) -> (B, outputs, H, W)."""
    if strided:
        return nn.Conv2d(inputs, outputs, kernel, 2, (kernel - 1) // 2, bias=bias)
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=bias), nn.MaxPool2d(2))


def odd(height: int, width: int, change: int) -> list[nn.Module]:
    """A row and a column more (1) or less (−1), where that side is odd."""
    if height % 2 + width % 2 == 0:
        return []
    return [nn.ZeroPad2d((0, change * (width % 2), 0, change * (height % 2)))]


def generator_of(
    latent_dim: int, image_shape: Sequence[int], channels: Sequence[int], kernel: int = 4,
    strided: bool = True, batch_norm: bool = True, bias: bool = True, hidden: int = 0,
) -> nn.Sequential:  # fmt: skip
    """z (B, K) -> x (B, C, H, W) in [−1, 1]; `channels` from the smallest maps to those before the last."""
    (height, width), *larger = sides(image_shape, len(channels))[::-1]
    layers: list[nn.Module] = []
    if hidden:
        layers += [nn.Linear(latent_dim, hidden, bias=bias)]
        layers += [nn.BatchNorm1d(hidden)] if batch_norm else []
        layers += [nn.ReLU()]
    layers += [
        nn.Linear(hidden or latent_dim, channels[0] * height * width, bias=bias),
        nn.Unflatten(1, (channels[0], height, width)),
    ]
    for (inputs, outputs), (height, width) in zip(pairwise([*channels, image_shape[0]]), larger, strict=True):
        layers += [nn.BatchNorm2d(inputs)] if batch_norm else []
        layers += [nn.ReLU(), up(inputs, outputs, kernel, strided, bias), *odd(height, width, -1)]
    return nn.Sequential(*layers, nn.Tanh())


class ConvJudge(nn.Module):
    """x (B, C, H, W) -> f (B // pack,); `trunk` gives the maps, `head` a convolution over all of them."""

    def __init__(
        self, image_shape: Sequence[int], channels: Sequence[int], kernel: int = 4, strided: bool = True,
        batch_norm: bool = True, slope: float = 0.2, bias: bool = True, outputs: int = 1, pack: int = 1,
        minibatch_std: bool = False, hidden: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.pack = pack
        layers: list[nn.Module] = []
        *larger, side = sides(image_shape, len(channels))
        widths = pairwise([image_shape[0] * pack, *channels])
        for i, ((inputs, width), here) in enumerate(zip(widths, larger, strict=True)):
            layers += [*odd(*here, 1), down(inputs, width, kernel, strided, bias)]
            layers += [nn.BatchNorm2d(width)] if batch_norm and i else []
            layers.append(nn.LeakyReLU(slope))
        layers += [MinibatchStd()] if minibatch_std else []
        features = channels[-1] + minibatch_std
        if hidden:  # one more layer over all of the maps, (B, hidden, 1, 1)
            layers.append(nn.Conv2d(features, hidden, side, bias=bias))
            layers += [nn.BatchNorm2d(hidden)] if batch_norm else []
            layers.append(nn.LeakyReLU(slope))
            features, side = hidden, (1, 1)
        self.trunk = nn.Sequential(*layers)
        self.head = nn.Conv2d(features, outputs, side, bias=bias)

    def maps(self, x: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, outputs, 1, 1)."""
        return cast(Tensor, self.head(self.trunk(packed(x, self.pack))))

    def forward(self, x: Tensor) -> Tensor:
        return self.maps(x)[:, 0, 0, 0]


class DCGAN(Game):
    """A convolutional game of pictures.

    Args:
        image_shape: (C, H, W), halved once for each of `channels`, odd sides rounded up. From the data.
        latent_dim: K.
        channels: of G's maps, from the smallest ones on; D has the same from the largest ones on.
        kernel: 4 or 5.
        strided, batch_norm, slope, init_sd, bias: the recipe; slope 0 is a plain ReLU in D, without init_sd
            the first weights are torch's own.
        pack, minibatch_std: D's cures against collapse.
        hidden: units of one more layer next to the smallest maps of both networks; 0 for none.
        game: as of `Game`.

    Raises:
        ValueError: a size is out of range, or the sides cannot be halved so often.
    """

    FIXED = ("event_shape",)
    discriminator: Any  # a ConvJudge, with what a game adds to it

    def __init__(
        self, image_shape: Sequence[int] = (1, 28, 28), latent_dim: int = 64,
        channels: Sequence[int] = (64, 32), kernel: int = 4, strided: bool = True, batch_norm: bool = True,
        slope: float = 0.2, init_sd: float | None = 0.02, bias: bool = True, pack: int = 1,
        minibatch_std: bool = False, hidden: int = 0, **game: Any,
    ) -> None:  # fmt: skip
        require(1, channels=channels, pack=pack)
        require(0, slope=slope, init_sd=init_sd or 0, hidden=hidden)
        require(4, below=6, kernel=kernel)
        super().__init__(event_shape=image_shape, latent_dim=latent_dim, **game)
        if self.penalty and (batch_norm or pack > 1):
            raise ValueError("A penalty judges examples one by one: take batch_norm false and pack 1.")
        made = generator_of(self.inputs(), image_shape, channels, kernel, strided, batch_norm, bias, hidden)
        seen = (image_shape[0] + self.planes(), *image_shape[1:])
        back, outputs = [*channels][::-1], self.outputs()
        normed = batch_norm and not self.spectral  # a batch norm would undo the bound on D's slope
        judge = ConvJudge(
            seen, back, kernel, strided, normed, slope, bias, outputs, pack, minibatch_std, hidden
        )
        if init_sd is not None:
            for network in (made, judge):
                network.apply(lambda module: initialise(module, init_sd))
        self.enter(made, judge)

    def inputs(self) -> int:
        """Numbers that the generator gets."""
        return self.latent_dim

    def planes(self) -> int:
        """Maps that D sees beside the picture's own."""
        return 0

    def outputs(self) -> int:
        """Numbers that D answers with; the first says how real."""
        return 1

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        x, given = super().unpack(batch)
        return 2 * x - 1, given  # what tanh can reach

    def shown(self, x: Tensor) -> Tensor:
        return (x + 1) / 2


def initialise(module: nn.Module, sd: float) -> None:
    """First weights of a layer: N(0, sd²), of a batch norm N(1, sd²), and no bias."""
    if isinstance(module, nn.Linear | nn.Conv2d | nn.ConvTranspose2d | BatchNorm):
        nn.init.normal_(module.weight, float(isinstance(module, BatchNorm)), sd)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
