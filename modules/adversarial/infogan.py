r"""InfoGAN: some of the noise must be readable from what is made of it.

    z = (noise, c),   c = (one of C, n numbers uniform on [−1, 1])
    I(c; x*) ≥ E log Q(c|x*) + H(c)        raised in both turns: by D with its head Q, and by G

Q of the discrete code is a softmax (cross-entropy), of each continuous one a Gaussian of deviation s: the
squared error over 2 s², up to log s √2π. At s = 1, half the squared error, a number that is read perfectly
gains but ⅙ of a nat, at s = 0.3 it gains 1.85, beside log C of the discrete code. The bound is tight where Q
is the posterior. No label is ever seen: with λ = 0 nothing asks c to mean anything.

Where D raises the bound too, its maps learn to read whatever sign G hides in the picture. A Q with a `reader`
of its own stands on maps that learn to tell made from real alone, and is moved in G's turn, with G.

Ten heaps of pictures can be read off by their slants as well as by their digits. With `jitter` Q reads the
discrete code through a random affine map, which changes slant, size and place but not what digit it is; the
continuous ones it reads from the picture itself. The bound holds: I(c; bent x*) ≤ I(c; x*).

Shapes: z (B, K + C + n), the codes last; Q's answer (B, C + n).

References: Chen et al. 2016, arXiv:1606.03657 (Lemma 5.1: the bound); Ojha et al. 2020, arXiv:1910.01112
(codes that outlive a change which keeps the class); [UDL] §15.4.3, fig. 15.15.
"""

import math
from collections.abc import Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributions import Distribution, Independent, OneHotCategorical, Uniform

from modules.adversarial.dcgan import DCGAN, initialise
from modules.base import Split, require
from modules.latent.information import entropy


def information_bound(joint: Tensor, posterior: Tensor) -> Tensor:
    """E log Q(c|x) + H(c), at most I(c; x), of tables (C, X); columns of `posterior` sum to 1."""
    return torch.xlogy(joint, posterior).sum((-2, -1)) + entropy(joint.sum(-1))


def jittered(x: Tensor, most: float, generator: torch.Generator | None = None) -> Tensor:
    """Pictures (B, C, H, W) in [−1, 1], each through an affine map of its own, whose six numbers are off by
    up to `most`, half a side for unit. What lies beyond the edge is −1."""
    like: dict[str, Any] = {"device": x.device, "dtype": x.dtype}
    noise = 2 * torch.rand(len(x), 2, 3, generator=generator, **like) - 1
    grid = F.affine_grid(torch.eye(2, 3, **like) + most * noise, list(x.shape), align_corners=False)
    return F.grid_sample(x + 1, grid, align_corners=False) - 1


class SideBySide(Distribution):
    """Independent vectors as one, (…, sum of their sizes)."""

    def __init__(self, *parts: Distribution) -> None:
        self.parts, self.sizes = parts, [part.event_shape[0] for part in parts]
        super().__init__(event_shape=torch.Size([sum(self.sizes)]), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return torch.cat([part.sample(sample_shape) for part in self.parts], -1)

    def log_prob(self, value: Tensor) -> Tensor:
        said = zip(self.parts, value.split(self.sizes, -1), strict=True)
        return torch.stack([part.log_prob(v) for part, v in said]).sum(0)


class InfoGAN(DCGAN):
    """A `DCGAN` with readable codes.

    Args:
        codes: C, values of the discrete code; 0 for none. numbers: n, continuous codes.
        weight: λ of the bound, which is measured as `info`, nats.
        number_sd: s of the continuous codes.
        reader: units of a layer of Q's own, on D's maps; 0 lets Q be more of D's outputs.
        jitter: by how much each number of the affine map is off through which the discrete code is read.
        model: as of `DCGAN`.
    """

    MEASURES = (*DCGAN.MEASURES, "info")

    def __init__(
        self, image_shape: Sequence[int] = (1, 28, 28), latent_dim: int = 32, codes: int = 10,
        numbers: int = 2, weight: float = 1.0, number_sd: float = 1.0, reader: int = 0,
        jitter: float = 0.0, **model: Any,
    ) -> None:  # fmt: skip
        require(0, codes=codes, numbers=numbers, weight=weight, reader=reader, jitter=jitter)
        require(1e-6, number_sd=number_sd)
        if codes + numbers == 0:
            raise ValueError("codes and numbers are both 0: give the generator something to be read from it.")
        if model.get("pack", 1) > 1:
            raise ValueError("A code belongs to one example: take pack 1.")
        self.codes, self.numbers, self.weight = codes, numbers, weight
        self.number_sd, self.reader, self.jitter = number_sd, reader, jitter
        super().__init__(image_shape=image_shape, latent_dim=latent_dim, **model)
        if reader:
            head, sd = self.discriminator.head, model.get("init_sd", 0.02)
            first = nn.Conv2d(head.in_channels, reader, head.kernel_size)
            q = nn.Sequential(first, nn.LeakyReLU(0.1), nn.Conv2d(reader, codes + numbers, 1))
            self.q = q if sd is None else q.apply(lambda module: initialise(module, sd))

    def inputs(self) -> int:
        return self.latent_dim + self.codes + self.numbers

    def outputs(self) -> int:
        return 1 if self.reader else 1 + self.codes + self.numbers

    def players(self) -> dict[str, list[nn.Parameter]]:
        every = super().players()
        return every | {"generator": [*every["generator"], *self.q.parameters()]} if self.reader else every

    def noise(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """n draws of noise and codes, (n, K + C + n)."""
        like: dict[str, Any] = {"device": self.device, "dtype": self.dtype}
        parts = [super().noise(n, generator)]
        if self.codes:
            chosen = torch.randint(self.codes, (n,), generator=generator, device=self.device)
            parts.append(F.one_hot(chosen, self.codes).to(self.dtype))
        if self.numbers:
            parts.append(2 * torch.rand(n, self.numbers, generator=generator, **like) - 1)
        return torch.cat(parts, 1)

    @property
    def prior(self) -> Distribution:
        """p of noise and codes, the codes last; of the discrete one a mass."""
        one = torch.ones(self.numbers, device=self.device, dtype=self.dtype)
        parts = [super().prior]
        if self.codes:
            parts.append(OneHotCategorical(logits=one.new_zeros(self.codes)))
        if self.numbers:
            parts.append(Independent(Uniform(-one, one), 1))
        return SideBySide(*parts)

    def read(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Q's logits of the discrete code (B, C) and means of the continuous ones (B, n)."""
        answer = self.q(self.discriminator.trunk(x)) if self.reader else self.discriminator.maps(x)[:, 1:]
        answer = cast(Tensor, answer[:, :, 0, 0])
        return answer[:, : self.codes], answer[:, self.codes :]

    def bound(
        self, z: Tensor, fake: Tensor, jitter: float = 0.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """Mean of log Q(c|x*) + H(c) over a batch, nats, a scalar."""
        logits, means = self.read(fake)
        if jitter:
            logits, _ = self.read(jittered(fake, jitter, generator))
        hot, numbers = z[:, self.latent_dim :].split([self.codes, self.numbers], 1)
        discrete = (hot * logits.log_softmax(1)).sum(1).mean() + math.log(max(self.codes, 1))
        error = ((numbers - means) / self.number_sd).square().sum(1).mean() / 2
        height = self.numbers * (math.log(2) - math.log(self.number_sd * math.sqrt(2 * math.pi)))
        return discrete - error + height

    def discriminator_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        z = self.noise(len(x), generator)
        with torch.no_grad():  # the generator is held fixed
            fake = self.generator(z)
        loss = self.of_discriminator(x, fake, generator)
        return loss if self.reader else loss - self.weight * self.bound(z, fake, self.jitter, generator)

    def generator_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        z = self.noise(len(x), generator)
        fake = self.generator(z)
        return self.of_generator(fake, x) - self.weight * self.bound(z, fake, self.jitter, generator)

    def look(self, split: Split, z: Tensor, x: Tensor, fake: Tensor) -> None:
        super().look(split, z, x, fake)
        self.log_metric(split, "info", self.bound(z, fake))
