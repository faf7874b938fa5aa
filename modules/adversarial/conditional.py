r"""Games with classes: the generator makes what it is asked for, and three ways for D to hold it to that.

    channel      f[x, c]: c, mapped linearly to an image, is one more channel of x                    (cGAN)
    projection   f(x, y) = ψ(φ(x)) + yᵀ V φ(x): without V the game knows no classes
    auxiliary    D has 1 + C logits: how real, and which class; both players also lower the class's
                 cross-entropy, D on real and made examples, G on made ones                          (ACGAN)

For each class alone the best D is p(x|c)/(p(x|c) + q(x|c)). At zero logits D's loss with classes is
2 log 2 + 2 log C.

Shapes: y (B,) int64; the generator gets z (B, K) and the one-hot of y, (B, K + C).

References: Mirza & Osindero 2014 (cGAN), arXiv:1411.1784; Odena et al. 2017 (ACGAN), arXiv:1610.09585; Miyato
& Koyama 2018 (projection), arXiv:1802.05637; [UDL] §15.4.1–15.4.2, notes.
"""

from collections.abc import Sequence
from typing import Any, Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.adversarial.dcgan import DCGAN
from modules.base import require
from modules.trace import Trace


class ConditionalGAN(DCGAN):
    """A `DCGAN` whose methods take the class as `y=`.

    Args:
        num_classes: C; from the data.
        condition: how D is told, see above.
        model: as of `DCGAN`.

    Example:
        >>> model = ConditionalGAN(image_shape=(1, 8, 8), channels=(4, 2))
        >>> model.sample(3, y=torch.tensor([7, 7, 7]), seed=0).shape
        torch.Size([3, 1, 8, 8])
    """

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
            self.discriminator.plane = nn.Linear(num_classes, self.event_shape[1] * self.event_shape[2])
        if condition == "projection":
            self.discriminator.projection = nn.Embedding(num_classes, features)

    def inputs(self) -> int:
        return self.latent_dim + self.num_classes

    def planes(self) -> int:
        return int(self.condition == "channel")

    def outputs(self) -> int:
        return 1 + self.num_classes * (self.condition == "auxiliary")

    def hot(self, y: Tensor | None, count: int) -> Tensor:
        """One-hot of the classes, (B, C).

        Raises:
            ValueError: no class is given, or one that there is not.
        """
        if y is None or y.shape != (count,) or not ((y >= 0) & (y < self.num_classes)).all():
            raise ValueError(
                f"Give y, the class of each example: whole numbers from 0 to {self.num_classes - 1}."
            )
        return F.one_hot(y, self.num_classes).to(self.dtype)

    def joined(self, z: Tensor, y: Tensor | None = None, **given: Any) -> Tensor:
        return torch.cat([z, self.hot(y, len(z))], 1)

    def judge(self, x: Tensor, y: Tensor | None = None, **given: Any) -> Tensor:
        judge = self.discriminator
        if self.condition == "channel":
            plane = judge.plane(self.hot(y, len(x))).view(-1, 1, *self.event_shape[1:])
            return cast(Tensor, judge(torch.cat([x, plane], 1)))
        if self.condition == "projection":
            maps = judge.trunk(x)
            of_class = (self.hot(y, len(x)) @ judge.projection.weight * maps.flatten(1)).sum(1)
            return cast(Tensor, judge.head(maps)[:, 0, 0, 0] + of_class)
        return cast(Tensor, judge(x))

    def classify(self, x: Tensor) -> Tensor:
        """Logits of the class from the auxiliary D, (B, C): x as the networks see it."""
        return cast(Tensor, self.discriminator.maps(x)[:, 1:, 0, 0])

    def of_class(self, x: Tensor, y: Tensor) -> Tensor:
        """Mean cross-entropy of the class, nats; 0 where D is not asked for it."""
        if self.condition != "auxiliary":
            return x.new_zeros(())
        return F.cross_entropy(self.classify(x), y)

    def of_discriminator(
        self, x: Tensor, fake: Tensor, generator: torch.Generator | None = None, **given: Any
    ) -> Tensor:
        loss = super().of_discriminator(x, fake, generator, **given)
        return loss + self.of_class(x, given["y"]) + self.of_class(fake, given["y"])

    def of_generator(self, fake: Tensor, x: Tensor, **given: Any) -> Tensor:
        return super().of_generator(fake, x, **given) + self.of_class(fake, given["y"])

    def sample(  # type: ignore[override]
        self, n: int, generator: torch.Generator | None = None, seed: int | None = None,
        truncation: float | None = None, label: int | None = None, y: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """As of `DCGAN`, of class `label`, or of classes y (n,); without both they come in turn.

        Raises:
            ValueError: there is no such class.
        """
        if label is not None and not 0 <= label < self.num_classes:
            raise ValueError(f"label is {label}: it must be from 0 to {self.num_classes - 1}.")
        if y is None:
            y = torch.arange(n) % self.num_classes if label is None else torch.full((n,), label)
        return super().sample(n, generator, seed, truncation, y=y.to(self.device))

    def sample_trace(  # type: ignore[override]
        self, n: int = 1, *args: Any, y: Tensor | None = None, **knobs: Any
    ) -> Trace:
        """As of `DCGAN`; without `y` the classes come in turn, 0, 1, …, so that n = C shows each once."""
        y = torch.arange(n, device=self.device) % self.num_classes if y is None else y
        return super().sample_trace(n, *args, y=y, **knobs)

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        x, _ = super().unpack(batch)
        pair = getattr(batch, "batch", batch)
        return x, {"y": pair[1]}
