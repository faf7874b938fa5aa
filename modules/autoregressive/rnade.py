"""RNADE: NADE on real numbers, each conditional a mixture of Gaussians read out of the running state.

    p(x_i | x_<i) = Σ_k π_ik N(x_i; μ_ik, σ_ik²),    (logit π_i, μ_i, log σ_i) = V_i σ(a_i) + b_i
    log p(x_i | x_<i) = logsumexp_k (log π_ik + log N(x_i; μ_ik, σ_ik²)),    a_{i+1} = a_i + W_i x_i

σ is a standard deviation: [GM] 1.5.2 writes N(x; μ, σ) and calls it that; its square is the variance.
log σ is kept above a floor, or one component could sit on a single training value with unbounded density;
on whole numbers every density is unbounded, so grey levels are dequantized first (uniform noise).

References: Uria, Murray, Larochelle 2013, arXiv:1306.0186; [GM] 1.5.2.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from modules.autoregressive.base import COLDEST
from modules.autoregressive.nade import NADEBase
from modules.autoregressive.orders import Order
from modules.former import former
from modules.noise import pick
from modules.trace import Step, Trace


class RNADE(NADEBase):
    """NADE with mixtures of Gaussians.

    Args:
        event_shape: shape of one example; n is its product.
        hidden: d, number of hidden units.
        components: K, Gaussians per variable.
        min_log_sigma: floor of log σ.
        order: "raster", "reversed", "random", or the variables in the order they are visited.
        chunk: variables computed at once; changes speed and memory only.
        seed: of a random order.
        training: optimizer, lr_scheduler, ... of `modules.base.Module`.

    Shapes: x (B, *event_shape) or (B, n), any real numbers; log_prob (B,), nats of a density.

    Example:
        >>> model = RNADE(event_shape=(2,), hidden=8, components=3)
        >>> model.log_prob(torch.zeros(5, 2)).shape
        torch.Size([5])
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        hidden: int = 100,
        components: int = 10,
        min_log_sigma: float = -5.0,
        order: str | Sequence[int] = "raster",
        chunk: int = 64,
        seed: int = 0,
        **training: Any,
    ) -> None:
        if not math.isfinite(min_log_sigma):
            raise ValueError(f"min_log_sigma is {min_log_sigma}: it must be a finite number.")
        if components < 1:
            raise ValueError(f"components is {components}: a mixture has at least one.")
        super().__init__(event_shape, order, 2, seed, hidden, 1, 3 * components, chunk, **training)
        self.num_categories = 0  # not counted
        self.components, self.min_log_sigma = components, min_log_sigma
        with torch.no_grad():  # apart from each other, or they would all learn the same
            self.bias[:, components : 2 * components] = torch.linspace(-1, 1, components + 2)[1:-1]

    # --- what a conditional is ---

    @property
    def domain(self) -> str:
        return "real numbers"

    def in_support(self, x: Tensor) -> Tensor:
        return x.isfinite()

    def logits(self, x: Tensor, order: Tensor | None = None, index: int = 0) -> Tensor:
        """Parameters of every mixture as they are read out: x (B, n) -> (B, n, 3 K)."""
        return self.outputs(x, order)

    def mixture(self, outputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(..., 3 K) -> log π, μ, log σ, each (..., K)."""
        logit, mean, log_sigma = outputs.chunk(3, -1)
        return logit.log_softmax(-1), mean, log_sigma.clamp(min=self.min_log_sigma)

    def conditional_log_prob(self, logits: Tensor, x: Tensor) -> Tensor:
        log_pi, mean, log_sigma = self.mixture(logits)
        z = (x[..., None] - mean) * (-log_sigma).exp()
        return (log_pi - 0.5 * z**2 - log_sigma - 0.5 * math.log(2 * math.pi)).logsumexp(-1)

    def probabilities(self, logits: Tensor, temperature: float = 1.0) -> Tensor:
        """π, the weights of the mixture."""
        if temperature < COLDEST:
            return torch.zeros_like(logits.chunk(3, -1)[0]).scatter(
                -1, logits.chunk(3, -1)[0].argmax(-1, keepdim=True), 1.0
            )
        return (logits.chunk(3, -1)[0] / temperature).softmax(-1)

    def sample_conditional(self, logits: Tensor, noise: Tensor, temperature: float) -> Tensor:
        """A component by the distribution function of π; what is left of the noise makes the Gaussian."""
        pi = self.probabilities(logits, temperature)
        _, mean, log_sigma = self.mixture(logits)
        upper, k = pi.cumsum(-1), pick(pi, noise)[:, None]
        share = pi.gather(-1, k)[:, 0]
        rest = (noise - upper.gather(-1, k)[:, 0] + share) / share  # uniform in [0, 1) again
        z = torch.special.ndtri(rest.clamp(1e-7, 1 - 1e-7)) * math.sqrt(temperature)
        return mean.gather(-1, k)[:, 0] + z * log_sigma.gather(-1, k)[:, 0].exp()

    def conditionals(
        self, x: Tensor, order: Order | Tensor | None = None, index: int | None = None
    ) -> Tensor:
        """The mean of every conditional, E[x_i | x_<i], (B, *event_shape)."""
        (joint,) = self.in_one_order(order, index)
        log_pi, mean, _ = self.mixture(self.logits(self.as_vectors(x), *joint))
        return (log_pi.exp() * mean).sum(-1).reshape(len(x), *self.event_shape)

    # --- a draw, step by step ---

    @former("given", "order", "temperature", "seed")
    def sample_trace(
        self,
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        given: Tensor | None = None,
        order: Order | Tensor | None = None,
    ) -> Trace:
        """Trace of one draw, variable by variable; arguments as of `sample`.

        Step values: `variable`, `x` (*event_shape, NaN where not yet visited), `weights`, `means`,
        `sigmas` (K,) of its mixture, and the running `log_prob`, nats.
        """
        known = self._checked(given, 1)
        ((visited, _),) = self.joints_given(known, order)
        x, outputs = (t[0].cpu() for t in self._draw(1, known, visited, 0, temperature, generator))
        density = self.conditional_log_prob(outputs, x)
        log_pi, mean, log_sigma = self.mixture(outputs)
        picture, total, steps = torch.full_like(x, torch.nan), 0.0, []
        for j in visited.tolist():
            before, total = total, total + float(density[j])
            picture = picture.clone()
            picture[j] = x[j]
            steps.append(
                Step(
                    f"Variable {j} is {float(x[j]):.3f}: density {math.exp(float(density[j])):.4f}.",
                    {"variable": j, "x": picture.reshape(self.event_shape), "weights": log_pi[j].exp(),
                     "means": mean[j], "sigmas": log_sigma[j].exp(), "log_prob": total},
                    rf"\log p = {before:.2f} + \log {math.exp(float(density[j])):.4f} = {total:.2f}",
                )
            )  # fmt: skip
        return Trace(steps, {"x": x.reshape(self.event_shape), "order": visited})
