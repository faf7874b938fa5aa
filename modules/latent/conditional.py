r"""Conditional VAE: both networks see the class, so the code need not hold it.

    log p(x|c) ≥ E_q log p(x|z, c) − KL(q(z|x, c) ‖ p(z)),    c one-hot, appended to x and to z

z holds what c does not say: style. A class that the decoder alone is told would stay in z wherever the
encoder finds it cheaper; a class that the encoder alone is told never reaches the picture.
log p(x) is then a mixture over the classes: log Σ_c p(c) p(x|c).

Shapes: x (B, ...), flat (B, D); y (B,) int64; z (..., B, K); one-hot (B, C).

References: Sohn, Lee & Yan 2015, Learning Structured Output Representation; Kingma et al. 2014,
Semi-Supervised Learning with Deep Generative Models (M2), arXiv:1406.5298; [UDL] notes of ch. 17.
"""

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from modules.base import require
from modules.classes import ClassConditional
from modules.former import former
from modules.latent.vae import VAE
from modules.mlp import mlp
from modules.trace import Trace


class CVAE(ClassConditional, VAE):
    """A `VAE` whose methods take the class as `y=`.

    Args:
        num_classes: C.
        model: as of `VAE`.

    Example:
        >>> cvae = CVAE(event_shape=(64,), latent_dim=2, hidden=[8], num_classes=10)
        >>> cvae.sample(3, y=7).shape
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

    def concat_class(self, numbers: Tensor, y: Tensor | None) -> Tensor:
        """numbers (..., B, N) and the class's one-hot, (..., B, N + C).

        Raises:
            ValueError: no class is given, or one that there is not.
        """
        one_hot = self.one_hot(y, numbers.shape[-2]).to(numbers)
        return torch.cat([numbers, one_hot.expand(*numbers.shape[:-1], -1)], -1)

    def encode_parameters(self, x: Tensor, y: Tensor | None = None, **given: Any) -> tuple[Tensor, Tensor]:
        mean, log_var = self.encoder(self.concat_class(self.flatten(x), y)).chunk(2, dim=-1)
        return mean, log_var

    def outputs(self, z: Tensor, y: Tensor | None = None, **given: Any) -> Tensor:
        return cast(Tensor, self.decoder(self.concat_class(z, y)))

    @former("n", "temperature", "mean", "generator", "seed")
    def sample(  # type: ignore[override]
        self,
        n: int,
        *,
        y: int | Sequence[int] | Tensor | None = None,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        mean: bool = False,
    ) -> Tensor:
        """n draws as of `VAE`, of class y; without it the classes come in turn: n = C shows each once."""
        return self.sample_trace(n, y=y, temperature=temperature, generator=generator, mean=mean).result

    @former("n", "temperature", "mean", "generator", "seed")
    def sample_trace(  # type: ignore[override]
        self,
        n: int = 1,
        *,
        y: int | Sequence[int] | Tensor | None = None,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        mean: bool = False,
    ) -> Trace:
        """`sample` as steps."""
        classes = cast(Tensor, self.classes(n, y)).to(self.device)
        return self._trace(n, temperature, mean, generator, y=classes)

    def layer_steps(self, z: Tensor, y: Tensor | None = None, **given: Any) -> list[Any]:
        return super().layer_steps(self.concat_class(z, y))

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        return batch[0], {"y": batch[1]}

    def class_log_weights(
        self, x: Tensor, samples: int = 500, generator: torch.Generator | None = None
    ) -> Tensor:
        """L_S of log p(x|c) for every class, (B, C), nats: its softmax is p(c|x) of equal classes."""
        ys = torch.arange(self.num_classes, device=x.device)
        return torch.stack([self.iwae(x, samples, generator, y=c.expand(len(x))) for c in ys], 1)
