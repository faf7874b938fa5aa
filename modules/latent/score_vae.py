r"""VAE whose encoder learns by the score function: no gradient passes through z.

    ∇_φ ELBO(x) = E_q[(f(x, z) − b) ∇_φ log q(z|x)],    f = log p(x|z) + log p(z) − log q(z|x)

for any b that does not depend on z. Without b the estimator is unbiased too, but f is some −30 nats, nearly
the same for every z, and times ∇ log q it is mostly noise. Baselines: the running mean of f; the mean of the
other samples of the same x (leave-one-out); a network b(x) that learns f by squared error beside the model
(neural variational inference), where one sample is enough: its weights are its own, so its error moves
neither encoder nor decoder. The decoder's gradient is the plain one.

Shapes: x (B, *event_shape), z (S, B, K), f and b (S, B) or (B,); nats.
References: Mnih & Gregor 2014, arXiv:1402.0030; Kool, van Hoof, Welling 2019; see `gradient_estimators` for
the variances; [GM] §3.6; [UDL] notes of ch. 17.
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from modules.base import require, require_one_of
from modules.latent.bounds import ElboTerms, reparameterize
from modules.latent.vae import ACTIVATIONS, VAE
from modules.latent.variational import log_q
from modules.mlp import mlp

Estimator = Literal["score", "running_mean", "leave_one_out", "learned", "pathwise"]


class ScoreVAE(VAE):
    """Diagonal Gaussian q as in `VAE`, the estimator of its gradient at choice.

    Args:
        estimator: "score" has no baseline; "pathwise" is the VAE's own, for comparison.
        samples: S, draws of z for each x and step.
        decay: of the running mean.

    Raises:
        ValueError: leave-one-out of one sample; free bits, of which the score function knows no gradient.

    Example:
        >>> ScoreVAE(event_shape=(64,), latent_dim=4, hidden=[8], samples=2).encode(torch.zeros(2, 64)).shape
        torch.Size([2, 4])
    """

    running: Tensor

    def __init__(
        self,
        event_shape: Sequence[int] = (784,),
        latent_dim: int = 20,
        hidden: Sequence[int] = (400,),
        activation: str = "relu",
        estimator: Estimator = "learned",
        samples: int = 1,
        decay: float = 0.9,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, latent_dim, hidden, activation, **training)
        require_one_of(Estimator, estimator=estimator)
        require(1, samples=samples)
        require(0, 1, decay=decay)
        if estimator == "leave_one_out" and samples < 2:
            raise ValueError("Leave-one-out needs at least 2 samples: set samples to 2 or more.")
        if estimator != "pathwise" and self.free_bits:
            raise ValueError("The score function has no free bits: leave free_bits out, or take pathwise.")
        self.estimator, self.samples, self.decay = estimator, samples, decay
        if estimator == "learned":
            self.baseline = mlp([self.event_dim, *hidden, 1], ACTIVATIONS[activation])
        if estimator == "running_mean":
            self.register_buffer("running", torch.zeros(()))

    def objective(self, x: Tensor, parts: ElboTerms, **given: Any) -> Tensor:
        """Loss of training; its value is −ELBO, estimated, plus the baseline's own error."""
        noise = self._noise(self.samples, len(x), None)
        if self.estimator == "pathwise":
            return super().objective(x, self.elbo_terms(x, noise=noise), **given)
        z = reparameterize(parts.mean, parts.log_var, noise).detach()
        log_density = log_q(z, parts.mean, parts.log_var)  # (S, B), gradient by the encoder alone
        result = self.log_likelihood(x, z)  # gradient by the decoder alone
        f = (result + self.current_weight * (self.prior.log_prob(z) - log_density)).detach()
        b, error = self.baseline_of(x, f)
        slope = (f - b) * (log_density - log_density.detach())  # 0 in value
        return (error - f - slope - (result - result.detach())).mean()

    def baseline_of(self, x: Tensor, f: Tensor) -> tuple[Tensor, Tensor]:
        """b for values f (S, B), without gradient, and the error that teaches it."""
        zero = f.new_zeros(())
        if self.estimator == "leave_one_out":
            return (f.sum(0) - f) / (len(f) - 1), zero
        if self.estimator == "learned":
            text = self.baseline(self.flatten(x)).squeeze(-1)  # (B,)
            return text.detach(), (f - text).square()
        if self.estimator == "running_mean":
            before = self.running.clone()  # of the batches before: it does not depend on this z
            self.running.lerp_(self.all_reduce_mean(f.flatten()), 1 - self.decay)
            return before, zero
        return zero, zero
