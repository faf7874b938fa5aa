r"""Conditional GANs: the generator makes the class it is given, and three ways for D to hold it to that.

    channel      f[x, c]: c, mapped linearly to an image, is one more channel of x                    (cGAN)
    projection   f(x, y) = ψ(φ(x)) + yᵀ V φ(x): without V no network of the two knows classes
    auxiliary    D has 1 + C logits: how real, and which class; both networks also lower the class's
                 cross-entropy, D on real and generated examples, G on generated ones               (ACGAN)

For each class alone the best D is p(x|c)/(p(x|c) + q(x|c)). At zero logits D's loss with classes is
2 log 2 + 2 log C.

Shapes: y (B,) int64; the generator gets z (B, K) and the one-hot of y, (B, K + C).

References: Mirza & Osindero 2014 (cGAN), arXiv:1411.1784; Odena et al. 2017 (ACGAN), arXiv:1610.09585; Miyato
& Koyama 2018 (projection), arXiv:1802.05637; [UDL] §15.4.1–15.4.2, notes.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.adversarial.dcgan import DCGAN
from modules.base import require
from modules.classes import ClassConditional
from modules.former import former
from modules.trace import Trace


class ConditionalGAN(ClassConditional, DCGAN):
    """A `DCGAN` whose methods take the class as `y=`.

    Args:
        num_classes: C; from the data.
        condition: how D is told, see above.
        model: as of `DCGAN`.

    Example:
        >>> model = ConditionalGAN(image_shape=(1, 8, 8), channels=(4, 2))
        >>> model.sample(3, y=7, generator=torch.Generator().manual_seed(0)).shape
        torch.Size([3, 1, 8, 8])
    """

    FORMER_TENSORS: ClassVar = {"discriminator.plane": "discriminator.class_channel"}

    def __init__(
        self, image_shape: Sequence[int] = (1, 28, 28), num_classes: int = 10,
        condition: Literal["channel", "projection", "auxiliary"] = "channel", **model: Any,
    ) -> None:  # fmt: skip
        require(2, num_classes=num_classes)
        if condition not in ("channel", "projection", "auxiliary"):
            raise ValueError(f"condition is {condition!r}: it must be channel, projection or auxiliary.")
        if model.get("pack", 1) > 1:
            raise ValueError("A class belongs to one example: take pack 1.")
        self.num_classes, self.condition = num_classes, condition
        super().__init__(image_shape=image_shape, **model)
        head = self.discriminator.head
        features = head.in_channels * head.kernel_size[0] * head.kernel_size[1]
        if condition == "channel":
            self.discriminator.class_channel = nn.Linear(
                num_classes, self.event_shape[1] * self.event_shape[2]
            )
        if condition == "projection":
            self.discriminator.projection = nn.Embedding(num_classes, features)

    @property
    def z_dim(self) -> int:
        return self.latent_dim + self.num_classes

    @property
    def extra_channels(self) -> int:
        return int(self.condition == "channel")

    @property
    def num_logits(self) -> int:
        return 1 + self.num_classes * (self.condition == "auxiliary")

    def generator_input(self, z: Tensor, y: Tensor | None = None, **given: Any) -> Tensor:
        return torch.cat([z, self.one_hot(y, len(z)).to(z)], 1)

    def discriminate(self, x: Tensor, y: Tensor | None = None, **given: Any) -> Tensor:
        d = self.discriminator
        if self.condition == "channel":
            channel = d.class_channel(self.one_hot(y, len(x)).to(self.dtype)).view(
                -1, 1, *self.event_shape[1:]
            )
            return cast(Tensor, d(torch.cat([x, channel], 1)))
        if self.condition == "projection":
            maps = d.trunk(x)
            classes = self.one_hot(y, len(x)).to(self.dtype)
            inner = (classes @ d.projection.weight * maps.flatten(1)).sum(1)  # yᵀ V φ(x)
            return cast(Tensor, d.head(maps)[:, 0, 0, 0] + inner)
        return cast(Tensor, d(x))

    def classify(self, x: Tensor) -> Tensor:
        """Logits of the class from the auxiliary D, (B, C): x as the networks see it."""
        return cast(Tensor, self.discriminator.maps(x)[:, 1:, 0, 0])

    def class_loss(self, x: Tensor, y: Tensor) -> Tensor:
        """Mean cross-entropy of the class, nats; 0 where D is not asked for it."""
        if self.condition != "auxiliary":
            return x.new_zeros(())
        return F.cross_entropy(self.classify(x), y)

    def d_loss(
        self, x: Tensor, fake: Tensor, generator: torch.Generator | None = None, **given: Any
    ) -> Tensor:
        loss = super().d_loss(x, fake, generator, **given)
        return loss + self.class_loss(x, given["y"]) + self.class_loss(fake, given["y"])

    def g_loss(self, fake: Tensor, x: Tensor, **given: Any) -> Tensor:
        return super().g_loss(fake, x, **given) + self.class_loss(fake, given["y"])

    @former("n", "generator", "seed", "truncation", "label", "y")
    def sample(  # type: ignore[override]
        self, n: int, *, y: int | Sequence[int] | Tensor | None = None,
        generator: torch.Generator | None = None, truncation: float | None = None,
    ) -> Tensor:  # fmt: skip
        """n generated examples, (n, C, H, W).

        Args:
            y: one class for all, or n of them; without it they come in turn, 0, 1, …, C − 1, 0, …
            truncation: keeps each of z's K numbers within so many standard deviations.

        Raises:
            ValueError: no such class, not n of them, or `truncation` as for `DCGAN`.
        """
        return cast(Tensor, self._trace(n, generator, truncation, y=self.device_classes(n, y)).result)

    @former("n", "generator", "seed")
    def sample_trace(  # type: ignore[override]
        self, n: int = 1, *, y: int | Sequence[int] | Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Trace:  # fmt: skip
        """`sample` as steps; without `y` n = C shows each class once."""
        return self._trace(n, generator, y=self.device_classes(n, y))

    def device_classes(self, n: int, y: int | Sequence[int] | Tensor | None) -> Tensor:
        """`classes` on the model's device."""
        return cast(Tensor, self.classes(n, y)).to(self.device)

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        x, _ = super().unpack(batch)
        pair = getattr(batch, "batch", batch)
        return x, {"y": pair[1]}
