r"""Conditional VAE: both networks are told the class, so the code need not tell it again.

    log p(x|c) ≥ E_q log p(x|z, c) − KL(q(z|x, c) ‖ p(z)),    c one-hot beside x and beside z

z holds what c does not say: style. A class that the decoder alone is told would stay in z wherever the
encoder finds it cheaper; a class that the encoder alone is told never reaches the picture.
log p(x) is then a mixture over the classes: log Σ_c p(c) p(x|c).

Shapes: x (B, ...), flat (B, D); y (B,) int64; z (..., B, K); one-hot (B, C).

References: Sohn, Lee & Yan 2015, Learning Structured Output Representation; Kingma et al. 2014,
Semi-Supervised Learning with Deep Generative Models (M2), arXiv:1406.5298; [UDL] notes of ch. 17.
"""

from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.latent.vae import VAE
from modules.mlp import mlp
from modules.trace import Trace


class CVAE(VAE):
    """A `VAE` whose methods take the class as `y=`.

    Args:
        num_classes: C.
        model: as of `VAE`.

    Example:
        >>> cvae = CVAE(event_shape=(64,), latent_dim=2, hidden=[8], num_classes=10)
        >>> cvae.sample(3, y=torch.tensor([7, 7, 7]), seed=0).shape
        torch.Size([3, 64])
    """

    def __init__(self, *, num_classes: int = 10, **model: Any) -> None:
        require(1, num_classes=num_classes)
        self.num_classes = num_classes
        super().__init__(**model)

    def networks(self, hidden: list[int], activation: type[nn.Module]) -> tuple[nn.Module, nn.Module]:
        encoder = mlp([self.event_dim + self.num_classes, *hidden, 2 * self.latent_dim], activation)
        inputs = self.latent_dim + self.num_classes
        return encoder, mlp([inputs, *reversed(hidden), self.event_dim], activation)

    def beside(self, numbers: Tensor, y: Tensor | None) -> Tensor:
        """numbers (..., B, N) and the class's one-hot, (..., B, N + C).

        Raises:
            ValueError: no class is given, or one that there is not.
        """
        if y is None or y.shape != numbers.shape[-2:-1] or not ((y >= 0) & (y < self.num_classes)).all():
            raise ValueError(
                f"Give y, the class of each example: whole numbers from 0 to {self.num_classes - 1}."
            )
        hot = F.one_hot(y, self.num_classes).to(numbers)
        return torch.cat([numbers, hot.expand(*numbers.shape[:-1], -1)], -1)

    def encode_parameters(self, x: Tensor, y: Tensor | None = None, **given: Any) -> tuple[Tensor, Tensor]:
        mean, log_var = self.encoder(self.beside(self.flat(x), y)).chunk(2, dim=-1)
        return mean, log_var

    def outputs(self, z: Tensor, y: Tensor | None = None, **given: Any) -> Tensor:
        return cast(Tensor, self.decoder(self.beside(z, y)))

    def sample_trace(  # type: ignore[override]
        self, n: int = 1, *args: Any, y: Tensor | None = None, **knobs: Any
    ) -> Trace:
        """As of `VAE`; without `y` the classes come in turn, 0, 1, …, so that n = C shows each once."""
        y = torch.arange(n, device=self.device) % self.num_classes if y is None else y
        return super().sample_trace(n, *args, y=y, **knobs)

    def layer_steps(self, z: Tensor, y: Tensor | None = None, **given: Any) -> list[Any]:
        return super().layer_steps(self.beside(z, y))

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        return batch[0], {"y": batch[1]}

    def class_log_weights(
        self, x: Tensor, samples: int = 500, generator: torch.Generator | None = None
    ) -> Tensor:
        """L_S of log p(x|c) for every class, (B, C), nats: its softmax is p(c|x) of equal classes."""
        ys = torch.arange(self.num_classes, device=x.device)
        return torch.stack([self.iwae(x, samples, generator, y=c.expand(len(x))) for c in ys], 1)
