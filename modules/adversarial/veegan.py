r"""VEEGAN: noise that the generator ignores cannot be reconstructed.

    D         sp(−f(F(x), x)) + sp(f(z, g(z)))             of pairs of noise and example
    G, F      −log-odds or −log D of (z, g(z))  +  λ E‖z − F(g(z))‖²

F, the reconstructor, is trained with G and leads examples back to noise. A mode that G leaves out shows in
F(x), which then is not distributed as z.

Shapes: z (B, K), x (B, ...) flattened to D numbers; D gets (B, D + K).

References: Srivastava et al. 2017, arXiv:1705.07761; [UDL] §15 notes.
"""

from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from modules.adversarial.diversity import noise_reconstruction_error
from modules.adversarial.gan import GAN, Discriminator
from modules.base import require
from modules.mlp import mlp


class VEEGAN(GAN):
    """`GAN` with a way back to the noise.

    Args:
        weight: λ.

    Raises:
        ValueError: λ is below 0, or a setting of D that is not for pairs.
    """

    FORMER_TENSORS: ClassVar = {"back": "reconstructor"}

    def __init__(self, weight: float = 1.0, hidden: Any = (128, 128), **gan: Any) -> None:
        super().__init__(hidden=hidden, **gan)
        require(0, weight=weight)
        discriminator = cast(Discriminator, self.discriminator)
        if self.penalty or self.gan_loss.in_pairs or discriminator.energy or discriminator.pack > 1:
            raise ValueError("D gets pairs of noise and example: leave penalty, pack and paired losses out.")
        self.weight, dims = weight, int(torch.Size(self.event_shape).numel())
        widths = gan.get("discriminator_hidden") or hidden
        self.set_networks(
            self.generator,
            Discriminator(dims + self.latent_dim, widths, 1, gan.get("minibatch_std", False), False),
        )
        self.reconstructor = mlp([dims, *hidden, self.latent_dim], nn.ReLU)

    def discriminate(self, x: Tensor, z: Tensor | None = None, **given: Any) -> Tensor:
        """D's output for x with its noise, or with the noise that F finds."""
        z = self.reconstructor(x.flatten(1)) if z is None else z
        return cast(Tensor, self.discriminator(torch.cat([x.flatten(1), z], 1)))

    def d_update_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        z = self.noise(len(x), generator)
        with torch.no_grad():
            fake, reconstruction = self.generator(z), self.reconstructor(x.flatten(1))
        return self.gan_loss.discriminator(self.discriminate(x, reconstruction), self.discriminate(fake, z))

    def g_update_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        z = self.noise(len(x), generator)
        fake = self.generator(z)
        scores = self.discriminate(fake, z)
        error = noise_reconstruction_error(z, self.reconstructor(fake.flatten(1)))
        return self.gan_loss.generator(scores, scores) + self.weight * error

    def players(self) -> dict[str, list[nn.Parameter]]:
        players = super().players()
        return players | {"generator": [*players["generator"], *self.reconstructor.parameters()]}
