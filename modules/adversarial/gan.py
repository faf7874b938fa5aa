r"""GAN of points: both networks fully connected, any loss, any remedy against collapse.

    g: z → hidden, ReLU → … → x            f: x → hidden, leaky ReLU → … → a number

Bring `loss: Wasserstein` with `penalty: 10` for WGAN-GP, with `clip: 0.01` for WGAN, `loss: energy` for an
autoencoder as discriminator, `loss: f-divergence` with `loss_settings: {divergence: Pearson}`, and so on.
There is no batch norm: a penalty is of a critic that takes each example by itself.

Shapes: z (B, K), x (B, ...) flattened to D numbers.

References: Goodfellow et al. 2014, arXiv:1406.2661; Arjovsky et al. 2017, arXiv:1701.07875; Gulrajani et al.
2017, arXiv:1704.00028; Lin et al. 2018 (PacGAN), arXiv:1712.04086; Karras et al. 2018 (minibatch std),
arXiv:1710.10196; Zhao et al. 2017 (energy), arXiv:1609.03126; [UDL] §15.1, §15.2.6, §15.3.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn

from modules.adversarial.base import BaseGAN
from modules.adversarial.diversity import MinibatchStd, pack_examples
from modules.adversarial.losses import Energy
from modules.base import require
from modules.mlp import mlp


class Discriminator(nn.Module):
    """x (B, D) -> (B,), or (B // pack,) of packs; an `energy` is the squared error of an autoencoder."""

    def __init__(
        self, dims: int, hidden: Sequence[int], pack: int, minibatch_std: bool, energy: bool
    ) -> None:
        super().__init__()
        self.pack, self.energy = pack, energy
        sizes = [dims * pack, *hidden]
        leaky = partial(nn.LeakyReLU, 0.2)
        last = dims * pack if energy else 1
        self.trunk = nn.Sequential(mlp(sizes, leaky), nn.LeakyReLU(0.2))  # type: ignore[arg-type]
        self.std = MinibatchStd() if minibatch_std else nn.Identity()
        self.head = nn.Linear(sizes[-1] + minibatch_std, last)

    def extra_repr(self) -> str:
        return f"pack={self.pack}, energy={self.energy}"

    def forward(self, x: Tensor) -> Tensor:
        x = pack_examples(x.flatten(1), self.pack)  # (B, D) -> (B // pack, pack · D)
        out = self.head(self.std(self.trunk(x)))
        return cast(Tensor, (out - x).square().mean(1) if self.energy else out[:, 0])


class GAN(BaseGAN):
    """Two fully connected networks.

    Args:
        event_shape: shape of one example; from the data.
        latent_dim: K.
        hidden, discriminator_hidden: widths; the latter None is the former.
        pack: examples that D gets joined as one (PacGAN).
        minibatch_std: D sees how much its batch varies.
        gan: as of `BaseGAN`: loss, d_steps, g_steps, clip, penalty, spectral, ema, ...

    Raises:
        ValueError: a size or a rate is out of range, or settings that do not go together.
    """

    def __init__(
        self, event_shape: Sequence[int] = (2,), latent_dim: int = 16, hidden: Sequence[int] = (128, 128),
        discriminator_hidden: Sequence[int] | None = None, pack: int = 1, minibatch_std: bool = False,
        **gan: Any,
    ) -> None:  # fmt: skip
        super().__init__(event_shape=event_shape, latent_dim=latent_dim, **gan)
        require(1, hidden=hidden, discriminator_hidden=discriminator_hidden or [1], pack=pack)
        dims = int(torch.Size(self.event_shape).numel())
        if pack > 1 and self.penalty:
            raise ValueError("A penalty is of each example by itself: take pack 1, or no penalty.")
        generator = mlp([latent_dim, *hidden, dims], nn.ReLU)
        if len(self.event_shape) > 1:
            generator = nn.Sequential(*generator, nn.Unflatten(1, self.event_shape))
        discriminator = Discriminator(
            dims, discriminator_hidden or hidden, pack, minibatch_std, isinstance(self.gan_loss, Energy)
        )
        self.set_networks(generator, discriminator)
