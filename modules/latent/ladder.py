r"""Hierarchical VAE: several layers of codes, each the parent of the one below.

    p(x, z) = p(x|z_1) Π_i p(z_i|z_{i+1}) p(z_m),    p(z_m) = N(0, I)
    bound   = E log p(x|z_1) − Σ_i E KL(q(z_i|·) ‖ p(z_i|z_{i+1})) − KL(q(z_m|·) ‖ p(z_m))

The expectation of each KL runs over the draws of the layers that its two distributions depend on. Two forms
of the approximate posterior:

    bottom-up   q(z_1|x) q(z_2|z_1) …               layer i of the bound has no closed form: from the draws
    top-down    q(z_m|x), then q(z_i|x, z_{i+1})    ladder: what x says, merged with what z_{i+1} says

Two Gaussians merge by precision: 1/σ² = 1/σ_a² + 1/σ_b², μ = σ² (μ_a/σ_a² + μ_b/σ_b²).
Upper layers tend to collapse, as the lower one can do without them: the KL is reported for each.

Shapes: codes of all layers side by side, lowest first: z (..., K_1 + … + K_m); KL (B, m).

References: Sønderby et al. 2016, Ladder Variational Autoencoders, arXiv:1602.02282; Burda et al. 2016 (two
layers), arXiv:1509.00519; [GM] §3.1.1; [UDL] §17.8.2 and notes.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, cast

import torch
from torch import Tensor, nn
from torch.distributions import Distribution, constraints

from modules.base import require
from modules.latent.bounds import PosteriorSample, gaussian_kl, gaussian_log_prob, reparameterize
from modules.latent.vae import ACTIVATIONS, VAE
from modules.mlp import mlp
from modules.noise import normal

Gaussian = tuple[Tensor, Tensor]  # mean, log σ²


def merge(a: Gaussian, b: Gaussian) -> Gaussian:
    """The product of two Gaussians, normalised: mean and log σ² of the same shape."""
    log_precision = torch.logaddexp(-a[1], -b[1])
    mean = a[0] * (-a[1] - log_precision).exp() + b[0] * (-b[1] - log_precision).exp()
    return mean, -log_precision


def kl_between(a: Gaussian, b: Gaussian) -> Tensor:
    """KL(N_a ‖ N_b) of every dimension, nats."""
    scale = (-0.5 * b[1]).exp()
    return gaussian_kl((a[0] - b[0]) * scale, a[1] - b[1])


class HierarchicalPrior(Distribution):
    """The prior over the codes of all layers, event shape (K,)."""

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}

    def __init__(self, model: "LadderVAE") -> None:
        self.model = model
        super().__init__(event_shape=torch.Size([model.latent_dim]), validate_args=False)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:  # type: ignore[override]
        noise = normal(*sample_shape, self.model.latent_dim, like=self.model.decoder_log_var)
        return self.model.from_noise(noise)

    def log_prob(self, z: Tensor) -> Tensor:
        return self.model.prior_log_prob(z)


class LadderVAE(VAE):
    """A `VAE` with m layers of codes.

    Args:
        latent_dims: K_1 … K_m, lowest first.
        widths: hidden units between two layers, one number a layer: two hidden layers of so many units; 0 has
            none.
        inference: "top-down" or "bottom-up".
        activation: as of `VAE`.
        model: as of `VAE`, without `latent_dim` and `hidden`.

    Example:
        >>> LadderVAE(event_shape=(64,), latent_dims=[8, 2], widths=[16, 8]).sample(3).shape
        torch.Size([3, 64])
    """

    FIXED = ("latent_dim", "hidden")

    def __init__(
        self,
        *,
        event_shape: Sequence[int] = (784,),
        latent_dims: Sequence[int] = (20, 10),
        widths: Sequence[int] = (200, 100),
        inference: Literal["top-down", "bottom-up"] = "top-down",
        activation: str = "relu",
        **model: Any,
    ) -> None:
        require(1, latent_dims=latent_dims)
        require(0, widths=widths)
        if len(widths) != len(latent_dims):
            raise ValueError(
                f"{len(latent_dims)} layers of codes and {len(widths)} widths: give one for each."
            )
        if inference not in ("top-down", "bottom-up"):
            raise ValueError(f"inference is {inference!r}: choose top-down or bottom-up.")
        self.latent_dims, self.widths, self.inference = list(latent_dims), list(widths), inference
        super().__init__(
            event_shape=event_shape,
            latent_dim=sum(latent_dims),
            hidden=[w for w in self.widths[:1] for _ in range(2) if w],
            activation=activation,
            **model,
        )
        layer = ACTIVATIONS[activation]
        dims = self.latent_dims
        between = [[w, w] if w else [] for w in self.widths]  # hidden layers of each level
        # p(z_i|z_{i+1}), i = 1 … m − 1
        self.down = nn.ModuleList(
            mlp([above, *between[i + 1], 2 * below], layer) for i, (below, above) in enumerate(pairwise(dims))
        )
        if inference == "bottom-up":  # q(z_{i+1}|z_i)
            self.up = nn.ModuleList(
                mlp([below, *between[i + 1], 2 * above], layer)
                for i, (below, above) in enumerate(pairwise(dims))
            )
        else:  # features of x, one network on the other, and what each says of its layer
            sizes = [self.event_dim]
            for w in self.widths:
                sizes.append(w or sizes[-1])
            self.up = nn.ModuleList(
                nn.Sequential(mlp([before, *hidden], layer), layer()) if hidden else nn.Identity()
                for before, hidden in zip(sizes, between, strict=False)
            )
            self.heads = nn.ModuleList(nn.Linear(w, 2 * k) for w, k in zip(sizes[1:], dims, strict=True))

    def networks(self, hidden: list[int], activation: type[nn.Module]) -> tuple[nn.Module, nn.Module]:
        lowest = self.latent_dims[0]
        encoder: nn.Module = nn.Identity()  # top-down has features of its own
        if self.inference == "bottom-up":
            encoder = mlp([self.event_dim, *hidden, 2 * lowest], activation)
        return encoder, mlp([lowest, *hidden, self.event_dim], activation)

    # --- The chain downwards ---

    def levels(self, z: Tensor) -> list[Tensor]:
        """z (..., K) -> the codes of each layer, lowest first."""
        return list(z.split(self.latent_dims, -1))

    def prior_parameters(self, level: int, upper: Tensor) -> Gaussian:
        """Mean and log σ² of p(z_i|z_{i+1}), `level` = i − 1 from 0."""
        mean, log_var = self.down[level](upper).chunk(2, -1)
        return mean, log_var

    def from_noise(self, noise: Tensor) -> Tensor:
        """Standard normal noise (..., K) -> a draw of the prior, top layer first."""
        parts = self.levels(noise)
        codes = [parts[-1]]
        for level in reversed(range(len(self.down))):
            codes.insert(0, reparameterize(*self.prior_parameters(level, codes[0]), parts[level]))
        return torch.cat(codes, -1)

    def prior_log_prob(self, z: Tensor) -> Tensor:
        """log p(z_1, …, z_m), (...,), nats."""
        codes = self.levels(z)
        total = gaussian_log_prob(codes[-1], 0 * codes[-1], 0 * codes[-1]).sum(-1)
        for level in range(len(self.down)):
            total = total + gaussian_log_prob(
                codes[level], *self.prior_parameters(level, codes[level + 1])
            ).sum(-1)
        return total

    @property
    def prior(self) -> HierarchicalPrior:  # type: ignore[override]
        return HierarchicalPrior(self)

    def sample_prior(
        self, n: int, *, temperature: float = 1.0, generator: torch.Generator | None = None
    ) -> Tensor:
        noise = normal(n, self.latent_dim, like=self.decoder_log_var, generator=generator)
        return self.from_noise(temperature * noise)

    def resample_below(self, z: Tensor, level: int, generator: torch.Generator | None = None) -> Tensor:
        """z (B, K) with the layers under number `level` drawn anew from p(·|z_level); 0 is the lowest."""
        codes = self.levels(z)
        for i in reversed(range(level)):
            noise = normal(*codes[i].shape, like=self.decoder_log_var, generator=generator)
            codes[i] = reparameterize(*self.prior_parameters(i, codes[i + 1]), noise)
        return torch.cat(codes, -1)

    def outputs(self, z: Tensor, **given: Any) -> Tensor:
        return cast(Tensor, self.decoder(z[..., : self.latent_dims[0]]))

    def layer_steps(self, z: Tensor, **given: Any) -> list[Any]:
        return super().layer_steps(z[..., : self.latent_dims[0]])

    # --- The posterior ---

    def sample_posterior(self, x: Tensor, noise: Tensor, **given: Any) -> PosteriorSample:
        draw = self._bottom_up if self.inference == "bottom-up" else self._top_down
        codes, q = draw(self.flatten(x), self.levels(noise))
        p: list[Gaussian] = [self.prior_parameters(i, codes[i + 1]) for i in range(len(self.down))]
        p.append((torch.zeros_like(codes[-1]), torch.zeros_like(codes[-1])))
        each = [  # log p(z_i|z_{i+1}) − log q(z_i|·) of the draws
            (gaussian_log_prob(z, *pi) - gaussian_log_prob(z, *qi)).sum(-1)
            for z, pi, qi in zip(codes, p, q, strict=True)
        ]
        if self.inference == "top-down":  # both depend on the layers above alone: exact
            kls = [kl_between(qi, pi).sum(-1) for qi, pi in zip(q, p, strict=True)]
        else:  # the top's prior depends on nothing; the others' on a draw that comes later
            kls = [-e for e in each[:-1]] + [kl_between(q[-1], p[-1]).sum(-1)]
        kl = torch.stack([k.expand_as(each[0]).mean(0) for k in kls], -1)  # (B, m)
        mean = torch.cat([m.expand_as(z) for (m, _), z in zip(q, codes, strict=True)], -1).mean(0)
        log_var = torch.cat([v.expand_as(z) for (_, v), z in zip(q, codes, strict=True)], -1).mean(0)
        return PosteriorSample(torch.cat(codes, -1), torch.stack(each).sum(0), kl, mean, log_var)

    def _bottom_up(self, x: Tensor, noise: list[Tensor]) -> tuple[list[Tensor], list[Gaussian]]:
        """Draws (S, B, K_i) of every layer, and the distributions they come from."""
        q: list[Gaussian] = [cast(Gaussian, self.encoder(x).chunk(2, -1))]
        codes = [reparameterize(*q[0], noise[0])]
        for up, e in zip(self.up, noise[1:], strict=True):
            q.append(cast(Gaussian, up(codes[-1]).chunk(2, -1)))
            codes.append(reparameterize(*q[-1], e))
        return codes, q

    def _top_down(self, x: Tensor, noise: list[Tensor]) -> tuple[list[Tensor], list[Gaussian]]:
        """Draws (S, B, K_i) of every layer, and the distributions they come from."""
        gaussians: list[Gaussian] = []
        for up, head in zip(self.up, self.heads, strict=True):
            x = up(x)
            gaussians.append(cast(Gaussian, head(x).chunk(2, -1)))
        q, codes = [gaussians[-1]], [reparameterize(*gaussians[-1], noise[-1])]
        for level in reversed(range(len(self.down))):
            q.insert(0, merge(gaussians[level], self.prior_parameters(level, codes[0])))
            codes.insert(0, reparameterize(*q[0], noise[level]))
        return codes, q

    def encode_parameters(self, x: Tensor, **given: Any) -> Gaussian:
        """μ and log σ² (B, K) of every layer, the layers before it at their means."""
        draw = self._bottom_up if self.inference == "bottom-up" else self._top_down
        _, q = draw(self.flatten(x), self.levels(x.new_zeros(1, len(x), self.latent_dim)))
        mean = torch.cat([m.expand(1, len(x), -1)[0] for m, _ in q], -1)
        return mean, torch.cat([v.expand(1, len(x), -1)[0] for _, v in q], -1)
