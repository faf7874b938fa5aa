r"""A posterior that is no Gaussian: the encoder's guess is bent by a flow before it is used.

    z_0 = μ(x) + σ(x) ε,   z_L = f_L(… f_1(z_0; h) …; h),   h = h(x)
    log q(z_L|x) = log N(z_0; μ, σ²) − Σ_l log |det ∂f_l/∂z_{l−1}|

Only the way there is needed, as the bound is asked of its own draws: that is IAF's fast direction. Its layers
z_i ← g z_i + (1 − g) m, m and g functions of z_<i and h, turn around between each other. [GM] 3.82 adds the
log-determinants; 3.87, which subtracts them, is right.

A diagonal Gaussian leaves a gap wherever the true posterior is correlated, a single affine layer closes it
for every Gaussian one, and more layers follow bent ones.

Shapes: z_0, z (S, B, K); h (B, E); ladj (S, B).

References: Rezende & Mohamed 2015, arXiv:1505.05770 (planar); Kingma et al. 2016, arXiv:1606.04934 (IAF);
[GM] §3.11.2, §3.12.4; [UDL] §16.5.3.
"""

from collections.abc import Sequence
from typing import Any, Literal

from torch import Tensor, nn

from modules.base import require
from modules.flow.layer import FlowLayer, FlowStack
from modules.flow.maf import InverseAutoregressive
from modules.flow.monotone import Gated
from modules.flow.planar import Planar
from modules.latent.bounds import PosteriorSample, gaussian_log_prob, reparameterize
from modules.latent.vae import VAE
from modules.mlp import mlp


class FlowPosteriorVAE(VAE):
    """A `VAE` whose posterior is a flow of the encoder's Gaussian; its KL is that of all dimensions together.

    Args:
        flow: "iaf" or "planar".
        layers: L.
        flow_hidden: units in the masked networks of IAF.
        context: E, numbers that tell every layer of x.
        model: as of `VAE`.

    Example:
        >>> FlowPosteriorVAE(event_shape=(64,), latent_dim=4, hidden=[8]).encode(torch.zeros(2, 64)).shape
        torch.Size([2, 4])
    """

    def __init__(
        self,
        *,
        flow: Literal["iaf", "planar"] = "iaf",
        layers: int = 2,
        flow_hidden: Sequence[int] = (64,),
        context: int = 16,
        **model: Any,
    ) -> None:
        if flow not in ("iaf", "planar"):
            raise ValueError(f"flow is {flow!r}: choose iaf or planar.")
        require(1, layers=layers, flow_hidden=flow_hidden, context=context)
        self.flow, self.context = flow, context
        super().__init__(**model)
        flow_layers: list[FlowLayer] = [
            Planar(self.latent_dim, context)
            if flow == "planar"
            else InverseAutoregressive(
                self.latent_dim, Gated(), flow_hidden, reverse=number % 2 == 1, context=context
            )
            for number in range(layers)
        ]
        self.stack = FlowStack(flow_layers)

    def networks(self, hidden: list[int], activation: type[nn.Module]) -> tuple[nn.Module, nn.Module]:
        _, decoder = super().networks(hidden, activation)
        return mlp([self.event_dim, *hidden, 2 * self.latent_dim + self.context], activation), decoder

    def read(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x (B, ...) -> μ and log σ² (B, K) of z_0, and h (B, E)."""
        k = self.latent_dim
        mean, log_var, context = self.encoder(self.flatten(x)).split([k, k, self.context], -1)
        return mean, log_var, context

    def encode_parameters(self, x: Tensor, **given: Any) -> tuple[Tensor, Tensor]:
        """μ and log σ² (B, K) of z_0, before the flow."""
        return self.read(x)[:2]

    def encode(self, x: Tensor, **given: Any) -> Tensor:
        """x (B, ...) -> where the flow takes the mean of z_0, (B, K)."""
        mean, _, context = self.read(x)
        return self.stack.generate(mean, context)[0]

    def sample_posterior(self, x: Tensor, noise: Tensor, **given: Any) -> PosteriorSample:
        mean, log_var, context = self.read(x)
        start = reparameterize(mean, log_var, noise)
        z, ladj = self.stack.generate(start, context)
        log_q = gaussian_log_prob(start, mean, log_var).sum(-1) - ladj
        log_ratio = gaussian_log_prob(z, 0 * z, 0 * z).sum(-1) - log_q
        return PosteriorSample(z, log_ratio, -log_ratio.mean(0)[:, None], mean, log_var)
