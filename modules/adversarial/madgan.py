r"""MAD-GAN: several generators and one discriminator, which also tells them apart.

    D      −E_p log D_{k+1} − Σ_i E_{q_i} log D_i       over k + 1 names, "real" the last
    G_i    −E_{q_i} log D_{k+1}

At the best D and p = mean of the q_i without overlap D's loss is (k + 1) log(k + 1) − k log k: to be told
apart costs the generators nothing, so they part; `diversity.mad_value` is this of tables.

Shapes: z (B, K), x (B, ...), logits (B, k + 1). Row r of a batch is of generator r mod k.

References: Ghosh et al. 2018, arXiv:1704.02906; [UDL] §15 notes.
"""

import copy
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.adversarial.gan import GAN, Discriminator
from modules.adversarial.losses import Saturating
from modules.base import require


def initialise(network: nn.Module) -> nn.Module:
    """A copy with first weights of its own."""
    other = copy.deepcopy(network)
    for module in other.modules():
        if isinstance(module, nn.Linear):
            module.reset_parameters()
    return other


class Generators(nn.Module):
    """Several generators, row r of a batch for generator r mod k: z (B, K) -> x (B, ...)."""

    def __init__(self, networks: list[nn.Module]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, z: Tensor) -> Tensor:
        count = len(self.networks)
        parts = [network(z[i::count]) for i, network in enumerate(self.networks)]
        x = z.new_empty(len(z), *parts[0].shape[1:])
        for i, part in enumerate(parts):
            x[i::count] = part
        return x


class MADGAN(GAN):
    """`GAN` with k generators.

    Args:
        generators: k.

    Raises:
        ValueError: k is below 2, or a setting of D that cannot name generators.
    """

    def __init__(self, generators: int = 4, **gan: Any) -> None:
        super().__init__(**gan)
        require(2, generators=generators)
        if self.penalty or not isinstance(self.gan_loss, Saturating):
            raise ValueError("D names generators by probabilities: take a loss with log D and no penalty.")
        self.count = generators
        discriminator = cast(Discriminator, self.discriminator)
        if discriminator.pack > 1 or self.spectral:
            raise ValueError("D names the generator of each example: leave pack and spectral out.")
        discriminator.head = nn.Linear(discriminator.head.in_features, generators + 1)
        others = (initialise(self.generator) for _ in range(generators - 1))
        self.set_networks(Generators([self.generator, *others]), discriminator)

    def logits(self, x: Tensor) -> Tensor:
        """Logits of every name, "real" last: (B, k + 1)."""
        discriminator = cast(Discriminator, self.discriminator)
        return cast(Tensor, discriminator.head(discriminator.std(discriminator.trunk(x.flatten(1)))))

    def discriminate(self, x: Tensor, **given: Any) -> Tensor:
        """Logit of "real" against all other names."""
        logits = self.logits(x)
        return logits[:, -1] - logits[:, :-1].logsumexp(1)

    def d_loss(
        self, x: Tensor, fake: Tensor, generator: torch.Generator | None = None, **given: Any
    ) -> Tensor:
        names = torch.arange(len(fake), device=fake.device) % self.count
        real = torch.full_like(names[: len(x)], self.count)
        of_real, of_fake = F.cross_entropy(self.logits(x), real), F.cross_entropy(self.logits(fake), names)
        return of_real + self.count * of_fake  # Σ_i E_{q_i}: each generator has a k-th of the rows
