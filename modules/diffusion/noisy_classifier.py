r"""A classifier of noisy pictures: the class of x_t, by a network that is given t, to guide a diffusion
model.

    x_t = √ᾱ_t x_0 + √(1−ᾱ_t) ε,   t ~ U{0 … T},  ε ~ N(0, I), of each example its own
    L   = E −log p(y | x_t)         in nats; under pure noise it is the entropy of the classes

The network is the way down of a U-Net whose blocks know t, a mean over what is left of the grid, and a line.
Its gradient ∇ log p(y | x_t) leads a denoiser that knows no classes (`guidance.classifier_guidance`); one
that has seen clean pictures alone takes noise for strokes, and leads astray. Schedule and units must be those
of the denoiser.

Shapes: x (B, C, H, W), t (B,) from 0 to T, y (B,) int64.
References: Sohl-Dickstein et al. 2015, arXiv:1503.03585; Song et al. 2021, arXiv:2011.13456, §5; Dhariwal &
Nichol 2021, arXiv:2105.05233, §4. Beyond the texts.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchmetrics.classification import MulticlassAccuracy

from modules.base import Mean, Module, Split, require
from modules.convolution.unet import Block, norm
from modules.diffusion import schedule
from modules.diffusion.denoisers import TimeEmbedding
from modules.noise import Generators, normal_like, per_example, uniform32


class NoisyClassifier(Module):
    """Classifier of x_t; `nll` and `acc` are measured over all times, from no noise to noise alone.

    Args:
        image_shape: of a picture in [0, 1]. num_classes: of y.
        widths: channels of each level; the grid halves between two. embedding: see `TimeEmbedding`.
        noise_steps: T. noise_schedule: see `GaussianDiffusion`.
    """

    def __init__(
        self, image_shape: Sequence[int] = (1, 8, 8), num_classes: int = 10, widths: Sequence[int] = (16, 32),
        embedding: int = 64, noise_steps: int = 1000, noise_schedule: schedule.Kind = "cosine",
        **training: Any,
    ) -> None:  # fmt: skip
        require(1, image_shape=image_shape, num_classes=num_classes, widths=widths)
        require(2, noise_steps=noise_steps)
        accuracy = MulticlassAccuracy(num_classes, average="micro", validate_args=False)
        super().__init__(_measures={"nll": Mean(), "acc": accuracy}, **training)
        self.image_shape = tuple(image_shape)
        self.schedule = schedule.named(noise_schedule, noise_steps)
        self.time = TimeEmbedding(embedding)
        self.first = nn.Conv2d(image_shape[0], widths[0], 3, padding=1)
        before = [widths[0], *widths[:-1]]
        self.blocks = nn.ModuleList(Block(a, b, embedding) for a, b in zip(before, widths, strict=True))
        self.shrink = nn.ModuleList(nn.Conv2d(c, c, 3, stride=2, padding=1) for c in widths[:-1])
        self.norm, self.last = norm(widths[-1]), nn.Linear(widths[-1], num_classes)
        nn.init.zeros_(self.last.weight)  # the first prediction is uniform
        nn.init.zeros_(self.last.bias)

    def logits(self, x: Tensor, t: Tensor) -> Tensor:
        """Logits (B, num_classes) of x_t in the denoiser's units, about [−1, 1] where there is no noise.

        Raises:
            ValueError: x are no pictures of `image_shape`.
        """
        if x.shape[1:] != self.image_shape:
            raise ValueError(f"The pictures are {list(x.shape[1:])}: give {list(self.image_shape)}.")
        tau, h = self.time(t), self.first(x)
        for number, block in enumerate(self.blocks):
            h = block(self.shrink[number - 1](h) if number else h, tau)
        return self.last(F.silu(self.norm(h)).mean((2, 3)))

    def log_class(self, y: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
        """Function (x_t, t) -> log p(y | x_t) (B,), for `guidance.classifier_guidance`."""
        return lambda x, t: self.logits(x, t).log_softmax(1).gather(1, y[:, None])[:, 0]

    def preprocess(self, x: Tensor) -> Tensor:
        """Denoiser's units of pictures in [0, 1]."""
        return 2 * x - 1

    def predict(self, x: Tensor) -> Tensor:
        """Logits (B, num_classes) of pictures in [0, 1] without noise."""
        return self.logits(self.preprocess(x), torch.zeros(len(x), dtype=torch.long, device=x.device))

    def noised_logits(self, x: Tensor, t: Tensor, generator: Generators = None) -> Tensor:
        """Logits (B, num_classes) of pictures in [0, 1] after noise of times t."""
        x0 = self.preprocess(x)
        return self.logits(self.schedule.noised(x0, t, normal_like(x0, generator)), t)

    def step(self, batch: tuple[Tensor, Tensor], split: Split) -> Tensor:
        x, y = batch
        generator = None if split == "train" else per_example(x)
        t = ((self.schedule.T + 1) * uniform32((len(x),), generator)).long().to(x.device)
        logits = self.noised_logits(x, t, generator)
        nll = F.cross_entropy(logits, y, reduction="none")
        self.log_metric(split, "nll", nll.detach())
        self.log_metric(split, "acc", logits.detach(), y)
        return nll.mean()
