r"""K Gaussians side by side: what a mixture's components and a hidden Markov model's emissions share.

    log N(x; μ_k, Σ_k) = −½ (D log 2π + log det Σ_k + (x − μ_k)ᵀ Σ_k⁻¹ (x − μ_k))
    weighted fit:  μ_k = Σ_n r_nk x_n / N_k,   Σ_k = Σ_n r_nk (x_n − μ_k)(x_n − μ_k)ᵀ / N_k,   N_k = Σ_n r_nk

Σ_k is `full`, `diag`, `spherical` (σ_k² I) or `tied` (one Σ for all). No eigenvalue goes below a floor, for
the likelihood has no maximum: a Gaussian that sits on one point with Σ → 0 sends it to infinity. Clipping the
eigenvalues is the best fit under that bound, and who reaches it is named in a warning.

Shapes: x (N, D), r (N, K), means (K, D); covariances (K, D, D), (K, D), (K,) or (D, D) by their kind.

References: [GM] §3.2.2; [BB] ex. 6.3, where each Σ_z is d×d; Day 1969 (the singularity).
"""

import math
import warnings
from typing import Literal

import torch
from torch import Tensor, nn

from modules.base import require, require_one_of
from modules.latent.em import CollapseWarning
from modules.latent.kmeans import kmeans_plus_plus, squared_distances
from modules.noise import normal

Covariance = Literal["full", "diag", "spherical", "tied"]
FEW = 8  # features
LOG_2PI = math.log(2 * math.pi)
LOSES = 1e-9  # nats that rounding may cost


class Gaussians(nn.Module):
    """Args:
    components: K.
    features: D.
    covariance: "full", "diag", "spherical" or "tied".
    floor: the least eigenvalue of a covariance; 0 lets a fit run into the singularity.
    noun: what a warning calls one of them.
    """

    means: Tensor
    covariances: Tensor

    def __init__(
        self,
        components: int,
        features: int,
        covariance: Covariance = "full",
        floor: float = 1e-6,
        noun: str = "Component",
    ) -> None:
        super().__init__()
        require(1, components=components, features=features)
        require(0, floor=floor)
        require_one_of(Covariance, covariance=covariance)
        self.components, self.features = components, features
        self.kind: Covariance = covariance
        self.floor, self.noun = floor, noun
        eye = torch.eye(features, dtype=torch.float64)
        ones = torch.ones(components, features, dtype=torch.float64)
        shapes = {
            "full": eye.repeat(components, 1, 1), "tied": eye, "diag": ones, "spherical": ones[:, 0].clone(),
        }  # fmt: skip
        self.register_buffer("means", torch.zeros_like(ones))
        self.register_buffer("covariances", shapes[covariance])

    def extra_repr(self) -> str:
        sizes = f"components={self.components}, features={self.features}"
        return f"{sizes}, covariance={self.kind!r}, floor={self.floor:g}"

    @property
    def separate(self) -> bool:
        """True if the coordinates are independent: no matrix is needed."""
        return self.kind in ("diag", "spherical")

    @property
    def num_free(self) -> int:
        """Free numbers: means, and covariances that are symmetric."""
        k, d = self.components, self.features
        each = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d, "spherical": k}
        return k * d + each[self.kind]

    def set_parameters(self, means: Tensor, covariances: Tensor) -> None:
        """Use these means and covariances, in the shape of their kind."""
        self.means.copy_(means)
        self.covariances.copy_(covariances)

    @property
    def matrices(self) -> Tensor:
        """Every Σ_k as a matrix, (K, D, D)."""
        k, d, c = self.components, self.features, self.covariances
        if self.kind == "tied":
            return c.expand(k, d, d)
        if self.kind == "spherical":
            return c[:, None, None] * torch.eye(d).to(c)
        return c if self.kind == "full" else torch.diag_embed(c)

    # --- density ---

    def log_prob(self, x: Tensor) -> Tensor:
        """log N(x; μ_k, Σ_k), (N, K), nats."""
        constant = self.features * LOG_2PI
        if self.separate:
            variance = self.covariances if self.kind == "diag" else self.covariances[:, None]
            precision = (1 / variance).expand(self.components, self.features)
            y, m = self._about(x)
            if self._apart(y, m, precision):
                pairs = zip(m, precision, strict=True)
                distance = torch.stack([(y - mean).square() @ row for mean, row in pairs], 1)
            else:  # (y − m)²/σ² as products of matrices alone
                distance = (
                    y.square() @ precision.T - 2 * y @ (m * precision).T + (m.square() * precision).sum(1)
                )
            return -0.5 * (constant + distance.clamp(min=0)) + 0.5 * precision.log().sum(1)
        cholesky = torch.linalg.cholesky(self.covariances)  # Σ = L Lᵀ; (x − μ) L⁻ᵀ is standard
        inverse = torch.linalg.solve_triangular(cholesky, torch.eye(self.features).to(cholesky), upper=False)
        factor = inverse.mT.expand(self.components, -1, -1)
        log_det = factor.diagonal(dim1=-2, dim2=-1).log().sum(1)
        wide = factor.permute(1, 2, 0).reshape(self.features, -1)  # (D, D·K): all in one product
        y, m = self._about(x)
        white = (y @ wide).sub_(torch.einsum("kd,kde->ek", m, factor).reshape(-1))
        distance = white.square_().reshape(len(x), self.features, self.components).sum(1)
        return -0.5 * (constant + distance) + log_det

    def _about(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x and the means about a point between them: of large numbers squares would lose what matters."""
        centre = self.means.mean(0)
        return x - centre, self.means - centre

    def _apart(self, y: Tensor, m: Tensor, precision: Tensor) -> bool:
        """True if y² − 2ym + m² would lose digits that count: means or points many deviations apart."""
        far = torch.maximum(y.abs().amax(), m.abs().amax()) if y.numel() else m.abs().amax()
        return float(far.square() * precision.amax()) * torch.finfo(y.dtype).eps > LOSES

    def marginal(self, seen: Tensor) -> "Gaussians":
        """The Gaussians of those coordinates alone that `seen` (D,) names."""
        kept = Gaussians(self.components, int(seen.sum()), self.kind, self.floor, self.noun).to(self.means)
        parts = self.covariances
        if self.kind != "spherical":
            parts = parts[..., seen] if self.kind == "diag" else parts[..., seen, :][..., seen]
        kept.set_parameters(self.means[:, seen], parts)
        return kept

    # --- weighted fit ---

    def moments(self, x: Tensor, r: Tensor) -> dict[str, Tensor]:
        """Σ r, Σ r (x − μ) and Σ r (x − μ)(x − μ)ᵀ about the present means."""
        members = r.sum(0)
        y, m = self._about(x)
        first = r.T @ y - members[:, None] * m
        if self.separate:
            variance = self.covariances if self.kind == "diag" else self.covariances[:, None]
            if self._apart(y, m, 1 / variance):
                pairs = zip(m, r.T, strict=True)
                square = torch.stack([shares @ (y - mean).square() for mean, shares in pairs])
            else:
                square = r.T @ y.square() - 2 * m * (r.T @ y) + members[:, None] * m.square()
        else:
            # wide ones gain nothing by being taken at once
            each = 1 if self.features > FEW else self.components
            squares = []
            for means, shares in zip(self.means.split(each), r.T.split(each), strict=True):
                centred = x - means[:, None]  # (K, N, D)
                squares.append((centred * shares[..., None]).mT @ centred)
            square = torch.cat(squares)
        return {"members": members, "first": first, "square": square}

    def partial_moments(self, x: Tensor, r: Tensor, seen: Tensor) -> dict[str, Tensor]:
        """`moments` of rows of which only the coordinates `seen` (D,) are known, x (N, |seen|): of the others
        their mean and covariance given those,

            E x_m = μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o),   Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om
        """
        deviation = x.new_zeros(self.components, len(x), self.features)
        deviation[..., seen] = x - self.means[:, None, seen]
        rest = torch.zeros_like(self.matrices)
        for k, matrix in enumerate(self.matrices):
            gain = torch.linalg.solve(matrix[seen][:, seen], matrix[seen][:, ~seen]).T  # Σ_mo Σ_oo⁻¹
            deviation[k][:, ~seen] = deviation[k][:, seen] @ gain.T
            left = matrix[~seen][:, ~seen] - gain @ matrix[seen][:, ~seen]
            rest[k] = rest[k].masked_scatter(~seen[:, None] & ~seen, left)
        members, weighted = r.sum(0), deviation * r.T[..., None]
        square = weighted.mT @ deviation + members[:, None, None] * rest
        if self.separate:
            square = square.diagonal(dim1=-2, dim2=-1)
        return {"members": members, "first": weighted.sum(1), "square": square}

    def m_step(self, stats: dict[str, Tensor], prior: Tensor | float = 0.0, warn: bool = True) -> None:
        """Fit means and covariances to sums of `moments`.

        Args:
            prior: variance that is added to every direction.
            warn: name those that are at the floor.
        """
        members, square = stats["members"], stats["square"]
        there = members > 1e-10  # who has no points stays as it was
        safe = members.clamp(min=1e-10)
        delta = stats["first"] / safe[:, None]  # how far each mean moves
        if self.separate:
            result = square / safe[:, None] - delta.square()
            result = (result.mean(1) if self.kind == "spherical" else result) + prior
            least = result.reshape(self.components, -1).amin(1)
            result = result.clamp(min=self.floor)
            kept = there if self.kind == "spherical" else there[:, None]
        else:
            result = square / safe[:, None, None] - delta[:, :, None] * delta[:, None, :]
            kept = there[:, None, None]
            if self.kind == "tied":
                result = (result * members[:, None, None]).sum(0) / members.sum()
                kept = there.any()
            result = result + prior * torch.eye(self.features).to(result)
            values, vectors = torch.linalg.eigh(result)
            least = values[..., 0]
            if self.floor > 0 and bool((least < self.floor).any()):
                raised = (vectors * values.clamp(min=self.floor)[..., None, :]) @ vectors.mT
                result = torch.where((least < self.floor)[..., None, None], raised, result)
        self.covariances.copy_(torch.where(kept, result, self.covariances))
        self.means += torch.where(there[:, None], delta, 0.0)
        if warn and self.floor > 0:
            self._warn(least <= self.floor, there, members)

    def _warn(self, at_floor: Tensor, there: Tensor, members: Tensor) -> None:
        if self.kind == "tied":
            if at_floor:
                message = f"The tied covariance is at its floor of {self.floor:g}: the points lie in a plane."
                warnings.warn(message, CollapseWarning, stacklevel=4)
            return
        for k in (at_floor & there).nonzero().flatten().tolist():
            warnings.warn(
                f"{self.noun} {k} has collapsed: on {float(members[k]):.1f} points its variance is at the "
                f"floor of {self.floor:g}. Raise the floor, take fewer, or restart.",
                CollapseWarning,
                stacklevel=4,
            )

    def initialize(self, x: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Start from k-means++ and its hard clusters; the clusters as r (N, K).

        A cluster of few points has no covariance of its own, so each begins with a tenth of the spread of
        all the data besides."""
        centres = kmeans_plus_plus(x, self.components, generator)
        hard = nn.functional.one_hot(squared_distances(x, centres).argmin(1), self.components).to(x)
        self.means.copy_(centres)
        spread = x.var(0, unbiased=False).mean().clamp(min=max(self.floor, 1e-12))
        self.m_step(self.moments(x, hard), prior=0.1 * spread, warn=False)
        return hard

    def draw(self, z: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """A point of each Gaussian that z (N,) names, (N, D)."""
        noise = normal(len(z), self.features, like=self.means, generator=generator, dtype=torch.float64)
        scale = torch.linalg.cholesky(self.matrices)[z]  # (N, D, D)
        return self.means[z] + (scale @ noise[..., None])[..., 0]
