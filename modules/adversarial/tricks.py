r"""Tricks that are said to steady a GAN or to diversify its samples, each a switch of one GAN of points.

    smoothing       D's loss on real x:  α sp(−f) + (1 − α) sp(f)                 so that D* = α p/(p + q)
    instance noise  both losses:         f(x + s ε), f(x* + s ε)                  distant p and q overlap
    history         D's loss:            half of x* are kept from earlier updates
    top k           G's loss:            its k most realistic examples alone
    mode seeking    G's loss:            + λ / (‖g(z₁) − g(z₂)‖ / ‖z₁ − z₂‖)
    orthogonal      G's loss:            + β Σ ‖WᵀW ⊙ (1 − I)‖²                   of its inner layers

Shapes: z (B, K), x (B, ...), f (B,); sp(t) = log(1 + eᵗ).

References: Salimans et al. 2016 (one-sided smoothing), arXiv:1606.03498; Sønderby et al. 2017 (noise on D's
input), arXiv:1610.04490; Shrivastava et al. 2017 (history), arXiv:1612.07828; Sinha et al. 2020 (the k best),
arXiv:2002.06224; Mao et al. 2019 (mode seeking), arXiv:1903.05628; Brock et al. 2019 (orthogonal),
arXiv:1809.11096; [UDL] §15 notes.
"""

from typing import Any

import torch
from torch import Tensor, nn

from modules.adversarial.diversity import mode_seeking_ratio, orthogonal_penalty, top_k_scores
from modules.adversarial.gan import GAN
from modules.adversarial.losses import Saturating
from modules.base import require


class TrickGAN(GAN):
    """`GAN` with any of the switches.

    Args:
        smoothing: α, the label of real examples; 1 leaves it. Of the two losses with log D alone.
        instance_noise: s, standard deviation of what is added to all that D gets.
        history: generated examples that are kept for D; 0 keeps none.
        top_share: k/B, the share of its batch from which the generator learns.
        mode_seeking: λ. orthogonal: β.

    Raises:
        ValueError: a setting is out of range, or smoothing with a loss that has no labels.
    """

    def __init__(
        self, smoothing: float = 1.0, instance_noise: float = 0.0, history: int = 0, top_share: float = 1.0,
        mode_seeking: float = 0.0, orthogonal: float = 0.0, **gan: Any,
    ) -> None:  # fmt: skip
        super().__init__(**gan)
        require(
            0,
            instance_noise=instance_noise,
            history=history,
            mode_seeking=mode_seeking,
            orthogonal=orthogonal,
        )
        for name, share in (("smoothing", smoothing), ("top_share", top_share)):
            if not 0 < share <= 1:
                raise ValueError(f"{name} is {share}: it must be above 0 and at most 1.")
        if smoothing < 1 and not isinstance(self.gan_loss, Saturating):
            raise ValueError("Smoothing wants a loss with labels: take saturating or non-saturating.")
        self.smoothing, self.instance_noise, self.top_share = smoothing, instance_noise, top_share
        self.mode_seeking, self.orthogonal = mode_seeking, orthogonal
        self.kept = nn.Buffer(torch.zeros(history, *self.event_shape), persistent=False)  # does not ship
        self.filled = 0

    def add_noise(self, x: Tensor, generator: torch.Generator | None) -> Tensor:
        """x as D gets it: with instance noise."""
        if not self.instance_noise:
            return x
        return x + self.instance_noise * torch.randn(
            x.shape, generator=generator, device=x.device, dtype=x.dtype
        )

    def mix_history(self, fake: Tensor, generator: torch.Generator | None) -> Tensor:
        """The batch with its second half from the history, which then takes over the first half."""
        if not len(self.kept):
            return fake
        half = len(fake) // 2
        if self.filled < len(self.kept):  # nothing is recalled before it is full
            room = len(self.kept) - self.filled
            self.kept[self.filled : self.filled + len(fake)] = fake[:room]
            self.filled += min(room, len(fake))
            return fake
        place = torch.randperm(len(self.kept), generator=generator)[:half]
        old = self.kept[place].clone()
        self.kept[place] = fake[: len(place)]
        return torch.cat([fake[: len(fake) - len(place)], old])

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["history"] = self.kept.clone(), self.filled

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        if "history" in checkpoint:
            kept, self.filled = checkpoint["history"]
            self.kept.copy_(kept)

    def d_update_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        with torch.no_grad():
            fake = self.generator(self.noise(len(x), generator))
            fake = self.mix_history(fake, generator)
        return self.d_loss(self.add_noise(x, generator), self.add_noise(fake, generator), generator)

    def d_loss(
        self, x: Tensor, fake: Tensor, generator: torch.Generator | None = None, **given: Any
    ) -> Tensor:
        loss = super().d_loss(x, fake, generator)
        if self.smoothing < 1:  # sp(−f) becomes α sp(−f) + (1 − α) sp(f): they differ by f
            loss = loss + (1 - self.smoothing) * self.gan_loss.reduce(self.discriminate(x))
        return loss

    def g_update_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        z = self.noise(len(x), generator)
        fake = self.generator(z)
        scores = self.discriminate(self.add_noise(fake, generator))
        real = self.discriminate(self.add_noise(x, generator)) if self.gan_loss.in_pairs else scores
        if self.top_share < 1:
            k = max(1, round(self.top_share * len(scores)))
            real = real[scores.topk(k).indices] if self.gan_loss.in_pairs else real
            scores = top_k_scores(scores, k)
        loss = self.gan_loss.generator(scores, real)
        if self.mode_seeking:
            one, other = (part.split(len(fake) // 2)[:2] for part in (fake, z))
            loss = loss + self.mode_seeking / (mode_seeking_ratio(*one, *other).mean() + 1e-5)
        if self.orthogonal:
            layers = [m.weight for m in self.generator.modules() if isinstance(m, nn.Linear)]
            loss = loss + self.orthogonal * torch.stack([orthogonal_penalty(w) for w in layers[:-1]]).sum()
        return loss
