r"""Losses of generator and discriminator: one small class per GAN, all functions of D's plain output f.

                     discriminator, on real x and fake x* = g(z)             generator
    saturating       sp(−f(x)) + sp(f(x*))                                   −sp(f(x*))       = log(1 − D)
    non-saturating   the same                                                sp(−f(x*))       = −log D
    least squares    ½(f(x) − b)² + ½(f(x*) − a)²                            ½(f(x*) − c)²
    hinge            [1 − f(x)]₊ + [1 + f(x*)]₊                              −f(x*)
    relativistic     sp(f(x*) − f(x))                                        sp(f(x) − f(x*))
    energy           E(x) + [m − E(x*)]₊                                     E(x*)
    f-divergence     f*(T(x*)) − T(x)                                        −f*(T(x*))
    Wasserstein      f(x*) − f(x)                                            −f(x*)

sp(t) = log(1 + eᵗ), D = σ(f): no probability is formed, so nothing underflows (torch's softplus
is cut off at 20, its logsigmoid is not). Both losses of the first two
rows have the same fixed points; per sample the generator's gradients differ by the factor (1 − D)/D.

What keeps a critic Lipschitz: weights clipped to [−c, c] (a bound that is unknown and far below 1, [UDL]
§15.2.6 to the contrary), λ (‖∇f‖ − 1)² between x and x* (soft: the norm may exceed 1), or every layer divided
by its largest singular value (torch.nn.utils.parametrizations.spectral_norm).

Shapes: f (B,); x (B, ...); a loss is a scalar, the mean over the batch, or the sum as the text prints it.

References: Goodfellow et al. 2014, arXiv:1406.2661; Mao et al. 2017, arXiv:1611.04076; Lim & Ye 2017 (hinge),
arXiv:1705.02894; Jolicoeur-Martineau 2019, arXiv:1807.00734; Zhao et al. 2017 (energy), arXiv:1609.03126;
Nowozin et al. 2016, arXiv:1606.00709; Arjovsky et al. 2017, arXiv:1701.07875; Gulrajani et al. 2017,
arXiv:1704.00028; Miyato et al. 2018, arXiv:1802.05957; [UDL] §15.1.1–15.1.2, §15.2.6, notes. Only mentioned
there: Wasserstein divergence (Wu et al. 2018, arXiv:1712.01026), Cramér and Banach critics (Bellemare et al.
2017, arXiv:1705.10743; Adler & Lunz 2018, arXiv:1806.06621), unrolled D (Metz et al. 2017, arXiv:1611.02163),
loss-sensitive GAN (Qi 2017, arXiv:1701.06264); comparisons (Lucic et al. 2018, arXiv:1711.10337; Kurach et
al. 2019, arXiv:1807.04720).
"""

from collections.abc import Callable
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm

from modules.adversarial.divergences import F_DIVERGENCES
from modules.base import require

Reduction = Literal["mean", "sum"]


# --- The losses -----------------------------------------------------------------------------------


class GANLoss:
    """Base of a GAN's losses: `discriminator` and `generator` give a scalar each, both to be minimised.

    Args:
        reduction: over each batch; the text prints sums.

    Attributes:
        in_pairs: whether the generator's loss depends on real examples.
        bounded: whether it is a number for every output of D that is one.
    """

    in_pairs: ClassVar[bool] = False
    bounded: ClassVar[bool] = True

    def __init__(self, reduction: Reduction = "mean") -> None:
        if reduction not in ("mean", "sum"):
            raise ValueError(f"reduction is {reduction!r}: it must be mean or sum.")
        self.reduce: Callable[[Tensor], Tensor] = torch.mean if reduction == "mean" else torch.sum

    def discriminator(self, real: Tensor, fake: Tensor) -> Tensor:
        """D's loss, of its outputs on both batches."""
        raise NotImplementedError

    def generator(self, fake: Tensor, real: Tensor) -> Tensor:
        """G's loss, of D's outputs on its batch; losses `in_pairs` need those on real examples too."""
        raise NotImplementedError


class Saturating(GANLoss):
    """[UDL] 15.1.1–15.1.2 as printed: both networks have the same loss, with opposite signs."""

    def discriminator(self, real: Tensor, fake: Tensor) -> Tensor:
        return -self.reduce(F.logsigmoid(real)) - self.reduce(F.logsigmoid(-fake))  # −log D − log(1 − D)

    def generator(self, fake: Tensor, real: Tensor) -> Tensor:
        return self.reduce(F.logsigmoid(-fake))


class NonSaturating(Saturating):
    """The generator raises log D instead of lowering log(1 − D): a gradient where D is sure of itself."""

    def generator(self, fake: Tensor, real: Tensor) -> Tensor:
        return -self.reduce(F.logsigmoid(fake))


class LeastSquares(GANLoss):
    """Targets instead of classes: a for generated, b for real, c for what the generator wants to hear."""

    def __init__(self, reduction: Reduction = "mean", a: float = 0.0, b: float = 1.0, c: float = 1.0) -> None:
        super().__init__(reduction)
        self.a, self.b, self.c = a, b, c

    def discriminator(self, real: Tensor, fake: Tensor) -> Tensor:
        return (self.reduce((real - self.b).square()) + self.reduce((fake - self.a).square())) / 2

    def generator(self, fake: Tensor, real: Tensor) -> Tensor:
        return self.reduce((fake - self.c).square()) / 2


class Hinge(GANLoss):
    """D gains nothing beyond ±1."""

    def discriminator(self, real: Tensor, fake: Tensor) -> Tensor:
        return self.reduce(F.relu(1 - real)) + self.reduce(F.relu(1 + fake))

    def generator(self, fake: Tensor, real: Tensor) -> Tensor:
        return -self.reduce(fake)


class Relativistic(GANLoss):
    """D compares a real example with a generated one: in pairs, so both batches have one size."""

    in_pairs = True

    def discriminator(self, real: Tensor, fake: Tensor) -> Tensor:
        return -self.reduce(F.logsigmoid(real - fake))

    def generator(self, fake: Tensor, real: Tensor) -> Tensor:
        return -self.reduce(F.logsigmoid(fake - real))


class Energy(GANLoss):
    """f is an energy ≥ 0, such as an autoencoder's error: low on real, above the margin on fake examples."""

    def __init__(self, reduction: Reduction = "mean", margin: float = 1.0) -> None:
        super().__init__(reduction)
        require(0, margin=margin)
        self.margin = margin

    def discriminator(self, real: Tensor, fake: Tensor) -> Tensor:
        return self.reduce(real) + self.reduce(F.relu(self.margin - fake))

    def generator(self, fake: Tensor, real: Tensor) -> Tensor:
        return self.reduce(fake)


class FDivergenceLoss(GANLoss):
    """Variational bound of an f-divergence; an output activation maps f into the domain of the conjugate.

    Some of its terms grow like e^|f|: beyond the dtype's range they are +∞, see `BaseGAN.check_loss`.
    """

    bounded = False

    def __init__(self, reduction: Reduction = "mean", divergence: str = "KL") -> None:
        super().__init__(reduction)
        if divergence not in F_DIVERGENCES:
            raise ValueError(f"divergence is {divergence!r}: choose one of {', '.join(F_DIVERGENCES)}.")
        self.row = F_DIVERGENCES[divergence]

    def discriminator(self, real: Tensor, fake: Tensor) -> Tensor:
        return self.reduce(self.row.conjugate_activation(fake)) - self.reduce(self.row.activation(real))

    def generator(self, fake: Tensor, real: Tensor) -> Tensor:
        return -self.reduce(self.row.conjugate_activation(fake))


class Wasserstein(GANLoss):
    """The gap of the critic's means: at the best 1-Lipschitz critic it is −W₁."""

    def discriminator(self, real: Tensor, fake: Tensor) -> Tensor:
        return self.reduce(fake) - self.reduce(real)

    def generator(self, fake: Tensor, real: Tensor) -> Tensor:
        return -self.reduce(fake)


LOSSES: dict[str, Callable[..., GANLoss]] = {
    "saturating": Saturating,
    "non-saturating": NonSaturating,
    "least squares": LeastSquares,
    "hinge": Hinge,
    "relativistic": Relativistic,
    "energy": Energy,
    "f-divergence": FDivergenceLoss,
    "Wasserstein": Wasserstein,
}


# --- What keeps a critic smooth --------------------------------------------------------------------


@torch.no_grad()
def clip_weights(network: nn.Module, bound: float) -> None:
    """Clamp every parameter, biases and norms included, to [−bound, bound]."""
    for parameter in network.parameters():
        parameter.clamp_(-bound, bound)


def gradient_norms(critic: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """‖∇f(x)‖₂ over all dimensions of each example, to be differentiated again: (B, ...) -> (B,)."""
    if not x.requires_grad:
        x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return gradient.flatten(1).norm(dim=1)  # of all dimensions, whatever the shape of an example


def gradient_penalty(
    critic: Callable[[Tensor], Tensor],
    real: Tensor,
    fake: Tensor,
    epsilon: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Mean (‖∇f(x̂)‖ − 1)² at x̂ = ε x + (1 − ε) x*, one ε for each example: a scalar.

    The critic must take each example by itself: batch statistics make ∇ a thing of the whole batch.

    Args:
        real, fake: (B, ...).
        epsilon: (B,); None draws them from U(0, 1).
    """
    if epsilon is None:
        epsilon = torch.rand(len(real), generator=generator, device=real.device, dtype=real.dtype)
    epsilon = epsilon.view(-1, *[1] * (real.ndim - 1))  # (B,) -> (B, 1, ...)
    between = epsilon * real.detach() + (1 - epsilon) * fake.detach()
    return (gradient_norms(critic, between) - 1).square().mean()


def with_spectral_norm(network: nn.Module) -> nn.Module:
    """Divide the weight of every linear and convolutional layer by its largest singular value, in place.

    torch keeps such a network by its state alone: it can be copied and saved, but not pickled whole.

    Raises:
        ValueError: there is no such layer.
    """
    layers = [m for m in network.modules() if isinstance(m, nn.Linear | nn.Conv2d | nn.ConvTranspose2d)]
    if not layers:
        raise ValueError("This discriminator has no layers to normalise: leave spectral out.")
    for module in layers:
        spectral_norm(module)
    return network
