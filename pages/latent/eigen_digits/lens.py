r"""Pictures as a mean and a sum of components, one more at each step, and pictures of which a part is hidden.

    x̂_k = μ + Σ_{j≤k} c_j w_j,    of PCA: c = U_Kᵀ(x − μ), w = U;    of PPCA and FA: c = E[z|x], w = W R

R is the rotation that W leaves free: here the one that makes the factors independent given x, the most
certain first. For PPCA these are the principal components, each shrunk by (λ − σ²)/λ.

Shapes: pictures (side, side) or (N, D) in [0, 1]; K factors, D = side² pixels.
References: Turk, Pentland 1991; Tipping, Bishop 1999; [GM] §3.2.1.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import latent
from modules.latent.linear_gaussian import LinearGaussian
from modules.latent.pca import PCA
from modules.latent.vae import VAE

HIDES = {"right": (1, False), "left": (1, True), "lower": (0, False), "upper": (0, True)}


@dataclass(frozen=True)
class Basis:
    """A linear model as a sum of components.

    Attributes:
        mean: (D,); components: w (K, D), the first explains most.
        reads: (K, D): c = reads (x − mean).
        scales: (K,) standard deviation of c over the data that the model expects.
    """

    mean: Tensor
    components: Tensor
    reads: Tensor
    scales: Tensor

    @classmethod
    def of(cls, model: PCA | LinearGaussian) -> "Basis":
        if isinstance(model, PCA):
            mean, components = model.mean.double(), model.components.double()
            return cls(mean, components, components, model.variances[: model.factors].double().sqrt())
        loadings, noise = model.loadings.double(), model.noise.double()
        _, lengths, rotation = torch.linalg.svd(loadings / noise.sqrt()[:, None], full_matrices=False)
        w = loadings @ rotation.T  # (D, K): now Wᵀ Ψ⁻¹ W = diag(lengths²)
        sign = w.gather(0, w.abs().argmax(0, keepdim=True)).sign()  # as PCA's, so that both look alike
        w = w * sign
        reads = (w / noise[:, None]).T / (1 + lengths.square())[:, None]
        scales = (lengths.square() / (1 + lengths.square())).sqrt()  # of E[z_j|x] over p(x)
        return cls(model.mean.double(), w.T, reads, scales)

    def codes(self, x: Tensor) -> Tensor:
        """c (N, K) of pictures (N, D)."""
        return (x.double() - self.mean) @ self.reads.T

    def sums(self, codes: Tensor) -> Tensor:
        """x̂_0, …, x̂_K (K + 1, D) of one code (K,)."""
        parts = torch.cat([self.mean[None], codes[:, None] * self.components])
        return parts.cumsum(0)

    def lost(self, x: Tensor) -> Tensor:
        """Mean over pictures (N, D) of ‖x − x̂_k‖², for k = 0 … K, (K + 1,)."""
        left, codes = x.double() - self.mean, self.codes(x)
        results = [left.square().sum(1).mean()]
        for c, w in zip(codes.T, self.components, strict=True):
            left = left - c[:, None] * w
            results.append(left.square().sum(1).mean())
        return torch.stack(results)


def tail(model: PCA) -> Tensor:
    """Σ_{j>k} λ_j for k = 0 … K: what a picture of the training data loses on average."""
    total, kept = model.variances.sum(), model.variances.cumsum(0)[: model.factors]
    return torch.cat([total[None], total - kept])


def mixed(basis: Basis, values: list[float]) -> tuple[Tensor, Tensor]:
    """The mean plus the first components, each `values` of its standard deviations: the sum (D,), and the
    parts (n, D)."""
    parts = (torch.tensor(values).double() * basis.scales[: len(values)])[:, None]
    parts = parts * basis.components[: len(values)]
    return basis.mean + parts.sum(0), parts


def nonlinear_loss(model: VAE, pictures: Tensor) -> float:
    """Mean ‖x − decode(encode(x))‖² of pictures (N, side, side)."""
    x = latent.as_input(model, pictures)
    back = latent.decoded(model, latent.codes(model, x))
    return float((back - pictures).square().sum((1, 2)).mean())


# --- Hidden pixels --------------------------------------------------------------------------------


def masks(kind: str, side: int, brush: Tensor | None = None) -> Tensor:
    """Masks of hidden pixels, (side + 1, side, side) bool: none, then more and more of them.

    Args:
        kind: the edge from which the picture is covered, or "brush": the inked pixels of `brush`
            (side, side), from above.
    """
    step = torch.arange(side + 1)[:, None, None]
    if brush is not None and kind == "brush":
        inked = (brush > 0.5).flatten()
        order = inked.cumsum(0).reshape(side, side)  # 1, 2, … in the order of reading
        share = (order / max(1, int(inked.sum()))) * side
        return (brush > 0.5) & (share <= step + 1e-4)
    axis, first = HIDES[kind]
    place = torch.arange(side)
    far = place if first else side - 1 - place
    line = far[:, None] if axis == 0 else far[None, :]
    return (line < step).expand(side + 1, side, side)


@dataclass(frozen=True)
class Filled:
    """A picture of which more and more is hidden, filled in by a model.

    Attributes:
        pictures: (F, D) what is seen, and the mean of what is not; deviations (F, D), 0 where it is seen.
        log_seen: (F,) log p of the pixels that are seen, nats.
        error: (F,) root mean squared error of the hidden pixels; 0 where none is.
    """

    pictures: Tensor
    deviations: Tensor
    log_seen: Tensor
    error: Tensor


def filled(model: LinearGaussian, x: Tensor, hidden: Tensor) -> Filled:
    """Args:
    x: (D,); hidden: (F, D) bool.
    """
    part = torch.where(hidden, torch.nan, x.double())
    pictures, variances = model.impute(part)
    return Filled(pictures, variances.sqrt(), model.log_prob(part), error(pictures, x, hidden))


def error(pictures: Tensor, x: Tensor, hidden: Tensor) -> Tensor:
    """Root mean squared error over the hidden pixels, (F,); pictures (F, D)."""
    squares = torch.where(hidden, (pictures - x.double()).square(), 0.0).sum(1)
    return (squares / hidden.sum(1).clamp(min=1)).sqrt()


def covered(x: Tensor, hidden: Tensor) -> Tensor:
    """Visible part of x (D,), (F, D): hidden pixels are white."""
    return torch.where(hidden, 0.0, x.double())


def middle(side: int) -> Tensor:
    """A brush to begin with, (side, side): the middle of the picture."""
    place = (torch.arange(side) - (side - 1) / 2).abs() < side / 5
    return (place[:, None] & place).float()
