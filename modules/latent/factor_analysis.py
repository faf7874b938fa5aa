r"""Factor analysis: a few common causes, and for each measured number a noise of its own.

    x = W z + μ + ε,   z ~ N(0, I_K),   ε_d ~ N(0, ψ_d)

    E   ẑ_n = M Wᵀ Ψ⁻¹ (x_n − μ),   Σ_n E[zzᵀ] = N M + Σ_n ẑ_n ẑ_nᵀ
    M   W = (Σ_n x_n ẑ_nᵀ)(Σ_n E[zzᵀ])⁻¹,   Ψ = diag(S − W · 1/N Σ_n ẑ_n x_nᵀ)

Rescaling a coordinate rescales its row of W and its ψ and changes nothing else: a noisy axis is explained by
its own noise, where PCA follows it. With equal ψ this is probabilistic PCA.

Shapes: see `modules.latent.linear_gaussian`, which has the inference, missing entries included.

References: Spearman 1904; Rubin, Thayer 1982 (EM); [GM] §3.2.1, eq. 3.2.
"""

from torch import Tensor

from modules.latent.linear_gaussian import LinearGaussian


class FactorAnalysis(LinearGaussian):
    """See `LinearGaussian` for the arguments.

    Example:
        >>> model = FactorAnalysis(event_shape=(2,), factors=1)
        >>> model.set_parameters(torch.tensor([[1.0], [2.0]]), torch.tensor([0.5, 1.0]))
        >>> x = torch.tensor([[1.0, 1.0]])
        >>> round(float(model.log_prob(x)), 6), round(float(model.encode(x)), 6)
        (-2.821401, 0.571429)
    """

    @property
    def num_parameters(self) -> int:
        """Free numbers: W up to a rotation, Ψ and μ."""
        d, k = self.n, self.factors
        return d * k - k * (k - 1) // 2 + 2 * d

    def new_noise(self, left: Tensor, seen: Tensor) -> Tensor:
        return (left / seen.clamp(min=1)).clamp(min=self.floor)
