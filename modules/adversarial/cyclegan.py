r"""CycleGAN: two generators between two domains, learned without a single pair.

    g: a → b     h: b → a     f_a, f_b: discriminators of the domains, one logit per patch

    L_G =  L_GAN(f_b[g(a)]) + L_GAN(f_a[h(b)])                               least squares
         + λ (mean |h(g(a)) − a| + mean |g(h(b)) − b|)                       both cycles
         + λ κ · content,  one of
             identity    mean |g(b) − b| + mean |h(a) − a|                   the paper's: inputs of the target
             before      mean |g(a) − a| + mean |h(b) − b|                   the text's: before and after

The text prints one θ for both generators and, for the content, the second form; the networks have weights of
their own, and the paper has the first. A cycle alone does not say which b belongs to which a: between a
N(0, I) and b N(μ, I) both a + μ and μ − a have cycle loss 0 and the right distribution: the content decides.

Each D gets its real pictures and, of the generated ones, now and then one from a history of `history`: with
probability ½ a new picture takes the place of an old one, which D gets instead.

Official code: λ = 10, κ = ½; D's loss is the mean of both squares; the generators move first.

Shapes: a, b (B, C, H, W) in [0, 1] for the data, in [−1, 1] for the networks.

References: Zhu et al. 2017, arXiv:1703.10593; Shrivastava et al. 2017 (history), arXiv:1612.07828; Mao et al.
2017, arXiv:1611.04076; [UDL] §15.5.3, fig. 15.18. Only mentioned there: DiscoGAN (Kim et al. 2017,
arXiv:1703.05192), and one generator for many domains (StarGAN, Choi et al. 2018, arXiv:1711.09020).
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, cast

import torch
from torch import Tensor, nn

from modules.adversarial.alternating import AlternatingTraining, Update
from modules.adversarial.dcgan import initialise
from modules.adversarial.losses import LeastSquares
from modules.adversarial.translation import patch_discriminator
from modules.base import BatchShard, Mean, Split, require
from modules.latent.conv_vae import downsampled_size

Content = Literal["identity", "before", "none"]


def convolution(in_channels: int, out_channels: int, kernel: int, stride: int = 1) -> nn.Conv2d:
    """Convolution with mirrored borders where the grid stays, and zero ones where it halves."""
    mode: Literal["reflect", "zeros"] = "reflect" if stride == 1 else "zeros"
    return nn.Conv2d(in_channels, out_channels, kernel, stride, kernel // 2, padding_mode=mode)


class ResidualBlock(nn.Module):
    """x + norm(conv(ReLU(norm(conv(x)))))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            convolution(width, width, 3), nn.InstanceNorm2d(width), nn.ReLU(),
            convolution(width, width, 3), nn.InstanceNorm2d(width),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return x + cast(Tensor, self.layers(x))


def resnet_generator(colours: int, width: int, blocks: int) -> nn.Sequential:
    """(B, C, H, W) -> the same, in [−1, 1]: two halvings, residual blocks, two doublings."""
    layers: list[nn.Module] = [convolution(colours, width, 7), nn.InstanceNorm2d(width), nn.ReLU()]
    for wider in (2 * width, 4 * width):
        layers += [convolution(wider // 2, wider, 3, 2), nn.InstanceNorm2d(wider), nn.ReLU()]
    layers += [ResidualBlock(4 * width) for _ in range(blocks)]
    for narrower in (2 * width, width):
        layers += [
            nn.ConvTranspose2d(2 * narrower, narrower, 3, 2, 1, 1), nn.InstanceNorm2d(narrower), nn.ReLU(),
        ]  # fmt: skip
    return nn.Sequential(*layers, convolution(width, colours, 7), nn.Tanh())


class History(nn.Module):
    """The last generated pictures, of which D gets one now and then; empty until it has been filled.

    Args:
        size: number of pictures; 0 keeps none. shape: of one.
    """

    def __init__(self, size: int, shape: Sequence[int]) -> None:
        super().__init__()
        self.kept = nn.Buffer(torch.zeros(size, *shape), persistent=False)  # not of the weights that ship
        self.filled = 0

    def extra_repr(self) -> str:
        return f"size={len(self.kept)}"

    def swap(self, fresh: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Pictures that D gets in place of the new ones (B, ...)."""
        if not len(self.kept):
            return fresh
        swapped = fresh.clone()
        for i, picture in enumerate(fresh):
            if self.filled < len(self.kept):
                self.kept[self.filled] = picture
                self.filled += 1
            elif torch.rand((), generator=generator) < 0.5:
                place = int(torch.randint(len(self.kept), (), generator=generator))
                swapped[i], self.kept[place] = self.kept[place].clone(), picture
        return swapped


class CycleGAN(AlternatingTraining):
    """Two generators and two discriminators.

    Args:
        image_shape: (C, H, W), sides multiples of 4. From the data.
        width, blocks: of both generators.
        discriminator_width, halvings: of both D, see `patch_discriminator`.
        cycle: λ. content: which term; content_weight: κ, a share of λ.
        history: generated pictures of each domain that are kept for D.
        discriminator_rate: D's learning rate, where it is not G's.

    Raises:
        ValueError: a size is out of range, or there is no such content term.
    """

    FORMER_TENSORS: ClassVar = {
        "there": "a_to_b",
        "back": "b_to_a",
        "judge_a": "discriminator_a",
        "judge_b": "discriminator_b",
    }

    def __init__(
        self, image_shape: Sequence[int] = (1, 32, 32), width: int = 8, blocks: int = 3,
        discriminator_width: int = 16, halvings: int = 1, cycle: float = 10.0, content: Content = "identity",
        content_weight: float = 0.5, history: int = 50, discriminator_rate: float | None = None,
        **training: Any,
    ) -> None:  # fmt: skip
        require(1, width=width, discriminator_width=discriminator_width)
        require(0, blocks=blocks, halvings=halvings, cycle=cycle, content_weight=content_weight)
        require(0, history=history, discriminator_rate=discriminator_rate or 0)
        if content not in ("identity", "before", "none"):
            raise ValueError(f"content is {content!r}: it must be identity, before or none.")
        if min(downsampled_size(image_shape, 2)) < 2:  # a mirror needs a second row
            raise ValueError(f"image_shape is {list(image_shape)}: the sides must be at least 8.")
        super().__init__(
            _measures={name: Mean() for name in ("d", "g", "cycle", "l1_there", "l1_back")}, **training
        )
        self.cycle, self.content, self.content_weight = cycle, content, content_weight
        self.discriminator_rate, self.gan_loss = discriminator_rate, LeastSquares()
        colours = image_shape[0]
        self.a_to_b, self.b_to_a = (resnet_generator(colours, width, blocks) for _ in range(2))
        self.discriminator_a, self.discriminator_b = (
            patch_discriminator(colours, discriminator_width, halvings) for _ in range(2)
        )
        self.history_a, self.history_b = (History(history, image_shape) for _ in range(2))
        for network in (self.a_to_b, self.b_to_a, self.discriminator_a, self.discriminator_b):
            network.apply(lambda module: initialise(module, 0.02))

    # --- Surfaces -------------------------------------------------------------------------------

    def preprocess(self, x: Tensor) -> Tensor:
        """[0, 1] -> [−1, 1], what tanh can reach."""
        return 2 * x - 1

    def postprocess(self, x: Tensor) -> Tensor:
        """[−1, 1] -> [0, 1]."""
        return (x + 1) / 2

    def translate(self, a: Tensor) -> Tensor:
        """Pictures of the first domain as ones of the second: (B, C, H, W) in [0, 1]."""
        return self.postprocess(self.a_to_b(self.preprocess(a)))

    def translate_back(self, b: Tensor) -> Tensor:
        """Pictures of the second domain as ones of the first."""
        return self.postprocess(self.b_to_a(self.preprocess(b)))

    # --- Training -------------------------------------------------------------------------------

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        batch = batch.batch if isinstance(batch, BatchShard) else batch
        return self.preprocess(batch[0]), {"b": self.preprocess(batch[1])}

    def g_loss(self, a: Tensor, b: Tensor, fake_a: Tensor, fake_b: Tensor) -> Tensor:
        """Adversarial losses of both domains, both cycles and the content, a scalar."""
        of_a, of_b = self.discriminator_a(fake_a), self.discriminator_b(fake_b)
        loss = self.gan_loss.generator(of_a, of_a) + self.gan_loss.generator(of_b, of_b)
        if self.cycle:
            loss = loss + self.cycle * (distance(self.b_to_a(fake_b), a) + distance(self.a_to_b(fake_a), b))
        scale = (self.cycle or 1.0) * self.content_weight  # without a cycle κ stands alone
        if self.content == "identity" and scale:
            loss = loss + scale * (distance(self.a_to_b(b), b) + distance(self.b_to_a(a), a))
        if self.content == "before" and scale:
            loss = loss + scale * (distance(fake_b, a) + distance(fake_a, b))
        return loss

    def d_loss(self, a: Tensor, b: Tensor, fake_a: Tensor, fake_b: Tensor) -> Tensor:
        """Discriminators' losses of both domains, a scalar."""
        return self.gan_loss.discriminator(
            self.discriminator_a(a), self.discriminator_a(fake_a)
        ) + self.gan_loss.discriminator(self.discriminator_b(b), self.discriminator_b(fake_b))

    def updates(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Iterator[Update]:
        a, b = x, given["b"]
        fake_a, fake_b = self.b_to_a(b), self.a_to_b(a)
        yield "generator", self.g_loss(a, b, fake_a, fake_b)
        old_a = self.history_a.swap(fake_a.detach(), generator)
        old_b = self.history_b.swap(fake_b.detach(), generator)
        yield "discriminator", self.d_loss(a, b, old_a, old_b)

    def players(self) -> dict[str, list[nn.Parameter]]:
        return {
            "generator": [*self.a_to_b.parameters(), *self.b_to_a.parameters()],
            "discriminator": [*self.discriminator_a.parameters(), *self.discriminator_b.parameters()],
        }

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["histories"] = [(h.kept.clone(), h.filled) for h in (self.history_a, self.history_b)]

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        histories = checkpoint.get("histories") or []
        for history, (kept, filled) in zip((self.history_a, self.history_b), histories, strict=False):
            history.kept.copy_(kept)
            history.filled = filled

    # --- Evaluation -----------------------------------------------------------------------------

    def step(self, batch: Any, split: Split) -> Tensor:
        """Adversarial losses and the cycle; of true pairs, unseen in training, also the distance."""
        a, given = self.unpack(batch)
        b = given["b"]
        fake_a, fake_b = self.b_to_a(b), self.a_to_b(a)
        around = distance(self.b_to_a(fake_b), a) + distance(self.a_to_b(fake_a), b)
        self.log_metric(split, "d", self.d_loss(a, b, fake_a, fake_b))
        of_a, of_b = self.discriminator_a(fake_a), self.discriminator_b(fake_b)
        self.log_metric(split, "g", self.gan_loss.generator(of_a, of_a) + self.gan_loss.generator(of_b, of_b))
        self.log_metric(split, "cycle", around / 2)  # on the scale of the data
        self.log_metric(split, "l1_there", (fake_b - b).abs().flatten(1).mean(1) / 2)
        self.log_metric(split, "l1_back", (fake_a - a).abs().flatten(1).mean(1) / 2)
        return around


def distance(x: Tensor, y: Tensor) -> Tensor:
    """mean |x − y|, a scalar."""
    return (x - y).abs().mean()
