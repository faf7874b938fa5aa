r"""What is said to steady a GAN or to keep its samples apart, each a switch of one game of points.

    smoothing      D's loss on real x:   α sp(−f) + (1 − α) sp(f)                 so that D* = α p/(p + q)
    noise          both turns:           f(x + s ε), f(x* + s ε)                  laws that are apart overlap
    history        D's turn:             half of x* are kept from earlier turns
    best           G's turn:             its k most realistic examples alone
    seeking        G's loss:             + λ / (‖g(z₁) − g(z₂)‖ / ‖z₁ − z₂‖)      mode seeking
    orthogonal     G's loss:             + β Σ ‖WᵀW ⊙ (1 − I)‖²                   of its inner layers

Shapes: z (B, K), x (B, ...), f (B,); sp(t) = log(1 + eᵗ).

References: Salimans et al. 2016 (one-sided smoothing), arXiv:1606.03498; Sønderby et al. 2017 (noise on D's
input), arXiv:1610.04490; Shrivastava et al. 2017 (history), arXiv:1612.07828; Sinha et al. 2020 (the k best),
arXiv:2002.06224; Mao et al. 2019 (mode seeking), arXiv:1903.05628; Brock et al. 2019 (orthogonal),
arXiv:1809.11096; [UDL] §15 notes.
"""

from typing import Any

import torch
from torch import Tensor, nn

from modules.adversarial.diversity import mode_seeking_ratio, most_realistic, orthogonal_penalty
from modules.adversarial.gan import GAN
from modules.adversarial.losses import Saturating
from modules.base import require


class TrickGAN(GAN):
    """`GAN` with any of the switches.

    Args:
        smoothing: α, the label of real examples; 1 leaves it. Of the two games with log D alone.
        noise: s, standard deviation of what is added to all that D sees.
        history: made examples that are kept for D; 0 keeps none.
        best: share of its batch from which the generator learns.
        seeking: λ. orthogonal: β.

    Raises:
        ValueError: a setting is out of range, or smoothing with a loss that has no labels.
    """

    def __init__(
        self, smoothing: float = 1.0, noise: float = 0.0, history: int = 0, best: float = 1.0,
        seeking: float = 0.0, orthogonal: float = 0.0, **game: Any,
    ) -> None:  # fmt: skip
        super().__init__(**game)
        require(0, noise=noise, history=history, seeking=seeking, orthogonal=orthogonal)
        for name, share in (("smoothing", smoothing), ("best", best)):
            if not 0 < share <= 1:
                raise ValueError(f"{name} is {share}: it must be above 0 and at most 1.")
        if smoothing < 1 and not isinstance(self.game, Saturating):
            raise ValueError("Smoothing wants a loss with labels: take saturating or non-saturating.")
        self.smoothing, self.blur, self.best = smoothing, noise, best
        self.seeking, self.orthogonal = seeking, orthogonal
        self.kept = nn.Buffer(torch.zeros(history, *self.event_shape), persistent=False)  # does not ship
        self.filled = 0

    def blurred(self, x: Tensor, generator: torch.Generator | None) -> Tensor:
        """What D sees of x."""
        if not self.blur:
            return x
        return x + self.blur * torch.randn(x.shape, generator=generator, device=x.device, dtype=x.dtype)

    def recalled(self, fake: Tensor, generator: torch.Generator | None) -> Tensor:
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

    def discriminator_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        with torch.no_grad():
            fake = self.generator(self.noise(len(x), generator))
            fake = self.recalled(fake, generator)
        return self.of_discriminator(self.blurred(x, generator), self.blurred(fake, generator), generator)

    def of_discriminator(
        self, x: Tensor, fake: Tensor, generator: torch.Generator | None = None, **given: Any
    ) -> Tensor:
        loss = super().of_discriminator(x, fake, generator)
        if self.smoothing < 1:  # sp(−f) becomes α sp(−f) + (1 − α) sp(f): they differ by f
            loss = loss + (1 - self.smoothing) * self.game.reduce(self.judge(x))
        return loss

    def generator_loss(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Tensor:
        z = self.noise(len(x), generator)
        fake = self.generator(z)
        scores = self.judge(self.blurred(fake, generator))
        real = self.judge(self.blurred(x, generator)) if self.game.in_pairs else scores
        if self.best < 1:
            k = max(1, round(self.best * len(scores)))
            real = real[scores.topk(k).indices] if self.game.in_pairs else real
            scores = most_realistic(scores, k)
        loss = self.game.generator(scores, real)
        if self.seeking:
            one, other = (part.split(len(fake) // 2)[:2] for part in (fake, z))
            loss = loss + self.seeking / (mode_seeking_ratio(*one, *other).mean() + 1e-5)
        if self.orthogonal:
            layers = [m.weight for m in self.generator.modules() if isinstance(m, nn.Linear)]
            loss = loss + self.orthogonal * torch.stack([orthogonal_penalty(w) for w in layers[:-1]]).sum()
        return loss
