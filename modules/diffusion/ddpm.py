r"""Denoising diffusion: a network learns what noise was added; sampling takes it away again, step by step.

    x_t = √ᾱ_t x_0 + √(1−ᾱ_t) ε,     t ~ U{1 … T},  ε ~ N(0, I) per example
    L   = E w_t ‖target − net(x_t, t, y)‖² / D       target ε, x_0 or v;  w = 1, or min-SNR-γ's

`elbo` is the variational bound (in nats; discretised grey levels for images), not the loss: the loss weighs
its terms otherwise. With a share of the labels dropped one network learns p(x|y) and p(x), which guidance
needs. Data are shifted and scaled to about [−1, 1]; samples come back in the data's own units.

The weights that are saved are averages over the training steps (EMA), which the recipes ask of Lightning's
EMAWeightAveraging.

Shapes: x (B, *event_shape), t (B,) from 1 to T, y (B,) int64.
References: Ho, Jain, Abbeel 2020, arXiv:2006.11239; Salimans & Ho 2022, arXiv:2202.00512 (v); Hang et al.
2023, arXiv:2303.09556; Ho & Salimans 2022, arXiv:2207.12598. The texts only name this family ([GM] 3.12,
[UDL] 14.3; the title of [BB] announces it). Not built: preconditioned networks (Karras et al. 2022,
arXiv:2206.00364), consistency models (Song et al. 2023, arXiv:2303.01469), progressive distillation (with v,
above), transformers in the U-Net's place (Peebles & Xie 2023, arXiv:2212.09748), discrete noise (Austin et
al. 2021, arXiv:2107.03006), other damage than noise (Bansal et al. 2023, arXiv:2208.09392), ControlNet (Zhang
et al. 2023, arXiv:2302.05543).
"""

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from modules.convolution.unet import Hook, UNet, no_hook
from modules.diffusion.denoisers import MLPDenoiser, TimeEmbedding
from modules.diffusion.gaussian_diffusion import GaussianDiffusion


class DDPM(GaussianDiffusion):
    """Diffusion model of points, with `MLPDenoiser`.

    Args:
        width, blocks, embedding: see there.
    """

    def __init__(
        self, event_shape: Sequence[int] = (2,), width: int = 128, blocks: int = 3, embedding: int = 64,
        num_classes: int | None = None, **training: Any,
    ) -> None:  # fmt: skip
        super().__init__(event_shape, num_classes=num_classes, **training)
        if len(self.event_shape) != 1:
            raise ValueError("This network takes vectors; for images take ImageDDPM.")
        outputs = self.event_dim * self.output_factor
        self.net = MLPDenoiser(self.event_dim, width, blocks, embedding, self.num_classes, outputs)


class TimedUNet(nn.Module):
    """U-Net that is given t and y."""

    def __init__(self, unet: UNet, embedding: int, num_classes: int) -> None:
        super().__init__()
        self.time, self.unet = TimeEmbedding(embedding, num_classes), unet

    def forward(self, x: Tensor, t: Tensor, y: Tensor | None = None, hook: Hook = no_hook) -> Tensor:
        return self.unet(x, self.time(t, y), hook)


class ImageDDPM(GaussianDiffusion):
    """Diffusion model of images in [0, 1], with a U-Net; 28×28 pixels take two levels or three.

    Args:
        widths, blocks, attention, heads, patch: see `UNet`. embedding: see `TimeEmbedding`.
        levels: grey levels of the data.
    """

    FIXED = ("shift", "scale", "clip")

    def __init__(
        self, image_shape: Sequence[int] = (1, 8, 8), widths: Sequence[int] = (32, 64), blocks: int = 1,
        attention: Sequence[int] = (), heads: int = 4, embedding: int = 128, levels: int = 256,
        num_classes: int | None = None, patch: int = 1, **training: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            image_shape, num_classes=num_classes, levels=levels, shift=0.5, scale=0.5, clip=1.0, **training
        )
        outputs = image_shape[0] * self.output_factor
        unet = UNet(image_shape[0], widths, blocks, attention, heads, embedding, outputs, patch)
        self.net = TimedUNet(unet, embedding, self.num_classes)
