r"""VEEGAN: noise that the generator ignores cannot be found again.

    D         sp(−f(F(x), x)) + sp(f(z, g(z)))             judges pairs of noise and example
    G, F      −log-odds or −log D of (z, g(z))  +  λ E‖z − F(g(z))‖²

F, a second network of G's player, leads examples back to noise. A mode that G leaves out is seen in F(x),
which then is not distributed as z.

Shapes: z (B, K), x (B, ...) flattened to D numbers; D judges (B, D + K).

References: Srivastava et al. 2017, arXiv:1705.07761; [UDL] §15 notes.
"""

from typing import Any, cast

import torch
from torch import Tensor, nn

from modules.adversarial.diversity import noise_reconstruction
from modules.adversarial.gan import GAN, Judge
from modules.base import require
from modules.mlp import mlp


class VEEGAN(GAN):
    """`GAN` with a way back to the noise.

    Args:
        weight: λ.

    Raises:
        ValueError: λ is below 0, or a setting of D that judges no pairs.
    """

    def __init__(self, weight: float = 1.0, hidden: Any = (128, 128), **game: Any) -> None:
        super().__init__(hidden=hidden, **game)
        require(0, weight=weight)
        judge = cast(Judge, self.discriminator)
        if self.penalty or self.game.in_pairs or judge.energy or judge.pack > 1:
            raise ValueError(
                "D judges pairs of noise and example: leave penalty, pack and paired losses out."
            )
        self.weight, dims = weight, int(torch.Size(self.event_shape).numel())
        widths = game.get("discriminator_hidden") or hidden
        self.enter(
            self.generator,
            Judge(dims + self.latent_dim, widths, 1, game.get("minibatch_std", False), False),
        )
        self.back = mlp([dims, *hidden, self.latent_dim], nn.ReLU)

    def judge(self, x: Tensor, z: Tensor | None = None, **given: Any) -> Tensor:
        """D of x with its noise, or with the noise that F finds."""
        z = self.back(x.flatten(1)) if z is None else z
        return cast(Tensor, self.discriminator(torch.cat([x.flatten(1), z], 1)))

    def discriminator_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        z = self.noise(len(x), generator)
        with torch.no_grad():
            fake, found = self.generator(z), self.back(x.flatten(1))
        return self.game.discriminator(self.judge(x, found), self.judge(fake, z))

    def generator_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        z = self.noise(len(x), generator)
        fake = self.generator(z)
        scores = self.judge(fake, z)
        lost = noise_reconstruction(z, self.back(fake.flatten(1)))
        return self.game.generator(scores, scores) + self.weight * lost

    def players(self) -> dict[str, list[nn.Parameter]]:
        both = super().players()
        return both | {"generator": [*both["generator"], *self.back.parameters()]}
