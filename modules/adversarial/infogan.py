r"""InfoGAN: some of the noise must be readable from the generated example.

    z = (noise, c),   c = (one of C, n numbers uniform on [−1, 1])
    I(c; x*) ≥ E log Q(c|x*) + H(c)        raised in both updates: by D with its head Q, and by G

Q of the discrete code is a softmax (cross-entropy), of each continuous one a Gaussian of deviation s: the
squared error over 2 s², up to log s √2π. At s = 1, half the squared error, a number that is read perfectly
gains but ⅙ of a nat, at s = 0.3 it gains 1.85, beside log C of the discrete code. The bound is tight where Q
is the posterior. No label is ever seen: with λ = 0 nothing asks c to mean anything.

Where D raises the bound too, its maps learn to read whatever sign G hides in the picture. A Q with layers of
its own (`q_hidden`) stands on maps that learn to tell generated from real alone, and is updated with G.

Ten heaps of pictures can be read off by their slants as well as by their digits. With `jitter` Q reads the
discrete code through a random affine map, which changes slant, size and place but not what digit it is; the
continuous ones it reads from the picture itself. The bound holds: I(c; bent x*) ≤ I(c; x*).

Shapes: z (B, K + C + n), the codes last; Q's output (B, C + n).

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


def jitter_affine(x: Tensor, most: float, generator: torch.Generator | None = None) -> Tensor:
    """Pictures (B, C, H, W) in [−1, 1], each through an affine map of its own, whose six numbers are off by
    up to `most`, half a side for unit. What lies beyond the edge is −1."""
    like: dict[str, Any] = {"device": x.device, "dtype": x.dtype}
    noise = 2 * torch.rand(len(x), 2, 3, generator=generator, **like) - 1
    grid = F.affine_grid(torch.eye(2, 3, **like) + most * noise, list(x.shape), align_corners=False)
    return F.grid_sample(x + 1, grid, align_corners=False) - 1


class Concatenated(Distribution):
    """Independent vectors as one, (…, sum of their sizes)."""

    def __init__(self, *parts: Distribution) -> None:
        self.parts, self.sizes = parts, [part.event_shape[0] for part in parts]
        super().__init__(event_shape=torch.Size([sum(self.sizes)]), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return torch.cat([part.sample(sample_shape) for part in self.parts], -1)

    def log_prob(self, value: Tensor) -> Tensor:
        pairs = zip(self.parts, value.split(self.sizes, -1), strict=True)
        return torch.stack([part.log_prob(v) for part, v in pairs]).sum(0)


class InfoGAN(DCGAN):
    """A `DCGAN` with readable codes.

    Args:
        categories: C, values of the discrete code; 0 for none. continuous: n, continuous codes.
        weight: λ of the bound, which is measured as `info`, nats.
        continuous_std: s of the continuous codes.
        q_hidden: units of a layer of Q's own, on D's maps; 0 lets Q be more of D's outputs.
        jitter: by how much each number of the affine map is off through which the discrete code is read.
        model: as of `DCGAN`.
    """

    MEASURES = (*DCGAN.MEASURES, "info")

    def __init__(
        self, image_shape: Sequence[int] = (1, 28, 28), latent_dim: int = 32, categories: int = 10,
        continuous: int = 2, weight: float = 1.0, continuous_std: float = 1.0, q_hidden: int = 0,
        jitter: float = 0.0, **model: Any,
    ) -> None:  # fmt: skip
        require(
            0, categories=categories, continuous=continuous, weight=weight, q_hidden=q_hidden, jitter=jitter
        )
        require(1e-6, continuous_std=continuous_std)
        if categories + continuous == 0:
            raise ValueError(
                "categories and continuous are both 0: give the generator something to be read from it."
            )
        if model.get("pack", 1) > 1:
            raise ValueError("A code belongs to one example: take pack 1.")
        self.categories, self.continuous, self.weight = categories, continuous, weight
        self.continuous_std, self.q_hidden, self.jitter = continuous_std, q_hidden, jitter
        super().__init__(image_shape=image_shape, latent_dim=latent_dim, **model)
        if q_hidden:
            head, std = self.discriminator.head, model.get("init_std", 0.02)
            first = nn.Conv2d(head.in_channels, q_hidden, head.kernel_size)
            q = nn.Sequential(first, nn.LeakyReLU(0.1), nn.Conv2d(q_hidden, categories + continuous, 1))
            self.q = q if std is None else q.apply(lambda module: initialise(module, std))

    @property
    def z_dim(self) -> int:
        return self.latent_dim + self.categories + self.continuous

    @property
    def num_logits(self) -> int:
        return 1 if self.q_hidden else 1 + self.categories + self.continuous

    def players(self) -> dict[str, list[nn.Parameter]]:
        players = super().players()
        return (
            players | {"generator": [*players["generator"], *self.q.parameters()]}
            if self.q_hidden
            else players
        )

    def noise(self, n: int, generator: torch.Generator | None = None) -> Tensor:
        """n draws of noise and codes, (n, K + C + n)."""
        device = self.device if generator is None else generator.device
        parts = [super().noise(n, generator)]
        if self.categories:
            chosen = torch.randint(self.categories, (n,), generator=generator, device=device)
            parts.append(F.one_hot(chosen, self.categories).to(parts[0]))
        if self.continuous:
            u = torch.rand(n, self.continuous, generator=generator, device=device, dtype=self.dtype)
            parts.append((2 * u - 1).to(self.device))
        return torch.cat(parts, 1)

    @property
    def prior(self) -> Distribution:
        """p of noise and codes, the codes last; that of the discrete code is a mass."""
        one = torch.ones(self.continuous, device=self.device, dtype=self.dtype)
        parts = [super().prior]
        if self.categories:
            parts.append(OneHotCategorical(logits=one.new_zeros(self.categories)))
        if self.continuous:
            parts.append(Independent(Uniform(-one, one), 1))
        return Concatenated(*parts)

    def infer_codes(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Q's logits of the discrete code (B, C) and means of the continuous ones (B, n)."""
        output = self.q(self.discriminator.trunk(x)) if self.q_hidden else self.discriminator.maps(x)[:, 1:]
        output = cast(Tensor, output[:, :, 0, 0])
        return output[:, : self.categories], output[:, self.categories :]

    def bound(
        self, z: Tensor, fake: Tensor, jitter: float = 0.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """Mean of log Q(c|x*) + H(c) over a batch, nats, a scalar."""
        logits, means = self.infer_codes(fake)
        if jitter:
            logits, _ = self.infer_codes(jitter_affine(fake, jitter, generator))
        one_hot, numbers = z[:, self.latent_dim :].split([self.categories, self.continuous], 1)
        discrete = (one_hot * logits.log_softmax(1)).sum(1).mean() + math.log(max(self.categories, 1))
        error = ((numbers - means) / self.continuous_std).square().sum(1).mean() / 2
        height = self.continuous * (math.log(2) - math.log(self.continuous_std * math.sqrt(2 * math.pi)))
        return discrete - error + height

    def d_update_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        z = self.noise(len(x), generator)
        with torch.no_grad():  # the generator is held fixed
            fake = self.generator(z)
        loss = self.d_loss(x, fake, generator)
        return loss if self.q_hidden else loss - self.weight * self.bound(z, fake, self.jitter, generator)

    def g_update_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        z = self.noise(len(x), generator)
        fake = self.generator(z)
        return self.g_loss(fake, x) - self.weight * self.bound(z, fake, self.jitter, generator)

    def log_samples(self, split: Split, z: Tensor, x: Tensor, fake: Tensor) -> None:
        super().log_samples(split, z, x, fake)
        self.log_metric(split, "info", self.bound(z, fake))
