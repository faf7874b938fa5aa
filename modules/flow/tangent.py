r"""Networks that carry tangents along: J v of every example, without differentiating through autograd.

    a_l = W_l h_{l−1} + b_l,   h_l = act(a_l)         J v:  v ← act'(a_l) ⊙ (W_l v), layer by layer

A batch of tangents (..., n, D) costs n passes of matrix products and works where nothing else may be
differentiated (inference mode). The trace of J is exact with the D unit vectors, and estimated with random
ones (Hutchinson: tr A = E εᵀ A ε for E εεᵀ = I).

`Lipschitz` divides a weight by its largest singular value where that exceeds c: c < 1 makes h + f(h)
invertible. [UDL] 16.3.7 asks for the largest eigenvalue: a matrix with eigenvalues ½ can have norm 10. Of a
convolution it is the norm of the operator, which the reshaped kernel underestimates.

References: Hutchinson 1989; Behrmann et al. 2019, arXiv:1811.00995; Gouk et al. 2021, arXiv:1804.04368.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.noise import normal

Push = Callable[[Tensor], Tensor]  # tangents (..., n, D) -> (..., n, D_out)


class Lipschitz(nn.Linear):
    """A linear layer of spectral norm at most c.

    In training the norm comes from a few steps of power iteration, which go on from step to step; else
    from as many as converge.
    """

    u: Tensor

    def __init__(self, inputs: int, outputs: int, coefficient: float = 0.9, steps: int = 5) -> None:
        super().__init__(inputs, outputs)
        require(1e-3, below=1, coefficient=coefficient)
        self.coefficient, self.steps = coefficient, steps
        self.register_buffer("u", F.normalize(torch.ones(inputs) + 0.1 * torch.randn(inputs), dim=0))

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, coefficient={self.coefficient}"

    def norm(self) -> Tensor:
        """The largest singular value of the weight."""
        with torch.no_grad():
            u = operator_vector(
                lambda v: self.weight @ v, lambda w: self.weight.T @ w, self.u,
                self.steps if self.training else 300,
            )  # fmt: skip
            if self.training:
                self.u.copy_(u)
        return (self.weight @ u.clone()).norm()

    def matrix(self) -> Tensor:
        """The weight as it is used, (out, in)."""
        return self.weight * (self.coefficient / self.norm().clamp(min=self.coefficient))

    def forward(self, h: Tensor) -> Tensor:
        return F.linear(h, self.matrix(), self.bias)


def operator_vector(forward: Push, adjoint: Push, start: Tensor, steps: int) -> Tensor:
    """Power iteration: the right singular vector of the largest singular value, from `start`."""
    u = start
    for _ in range(steps):
        new = adjoint(forward(u))
        size = new.norm()
        # where nothing comes through, all vectors are alike: the one there is stays, as 0 would for ever
        u = torch.where(size > 0, new / size.clamp(min=torch.finfo(new.dtype).tiny), u)
    return u


def conv_norm(kernel: Tensor, size: Sequence[int], steps: int = 200, padding: int = 1) -> Tensor:
    """Largest singular value of a zero-padded convolution (C_out, C_in, k, k) on images of that size."""
    # noise, of no symmetry: from a constant the iteration never sees the waves that mirror to their negatives
    start = torch.randn(1, kernel.shape[1], *size, generator=torch.Generator().manual_seed(0)).to(kernel)
    with torch.no_grad():  # u is a singular vector: the gradient of ‖K u‖ with u held is that of the norm
        u = operator_vector(
            lambda v: F.conv2d(v, kernel, padding=padding),
            lambda w: F.conv_transpose2d(w, kernel, padding=padding),
            start,
            steps,
        )
    return F.conv2d(u, kernel, padding=padding).norm() / u.norm()


class TangentMLP(nn.Module):
    """A multilayer perceptron that can push tangents.

    Args:
        sizes: of input, hidden layers and output.
        coefficient: with it, every weight has a spectral norm of at most that, and the net too.
        activation: "tanh" or "elu"; neither is steeper than 1.
    """

    def __init__(
        self, sizes: Sequence[int], coefficient: float | None = None, activation: str = "tanh"
    ) -> None:
        super().__init__()
        require(1, sizes=sizes)
        if activation not in ("tanh", "elu"):
            raise ValueError(f"activation is {activation!r}: choose tanh or elu.")
        self.activation = activation
        self.layers = nn.ModuleList(
            [
                nn.Linear(i, o) if coefficient is None else Lipschitz(i, o, coefficient)
                for i, o in pairwise(sizes)
            ]
        )

    def extra_repr(self) -> str:
        return f"activation={self.activation!r}"

    def matrices(self) -> list[tuple[Tensor, Tensor]]:
        """Weight and bias of every layer, as they are used."""
        return [
            (layer.matrix() if isinstance(layer, Lipschitz) else layer.weight, layer.bias)  # type: ignore[misc]
            for layer in self.layers
        ]

    def act(self, a: Tensor) -> tuple[Tensor, Tensor]:
        """Value and slope."""
        if self.activation == "tanh":
            h = a.tanh()
            return h, 1 - h * h
        return F.elu(a), a.clamp(max=0).exp()

    def forward(self, h: Tensor) -> Tensor:
        return self.linearise(h)[0]

    def linearise(
        self, h: Tensor, matrices: list[tuple[Tensor, Tensor]] | None = None
    ) -> tuple[Tensor, Push]:
        """f(h) (..., D_out), and the map v → J v of tangents (..., n, D_in) at h (..., D_in).

        `matrices` are those of an earlier call of `matrices`, where that is to be done once.
        """
        *inner, (last, bias) = self.matrices() if matrices is None else matrices
        slopes = []
        for weight, b in inner:
            h, slope = self.act(F.linear(h, weight, b))
            slopes.append((weight, slope))

        def push(v: Tensor) -> Tensor:
            for weight, slope in slopes:
                v = F.linear(v, weight) * slope[..., None, :]
            return F.linear(v, last)

        return F.linear(h, last, bias), push


def unit_vectors(h: Tensor) -> Tensor:
    """The D unit vectors for every example: h (..., D) -> (..., D, D)."""
    return torch.eye(h.shape[-1], dtype=h.dtype, device=h.device).expand(*h.shape, h.shape[-1])


def probes(h: Tensor, count: int, noise: str, generator: torch.Generator | None = None) -> Tensor:
    """Random vectors with E εεᵀ = I, (..., count, D): "rademacher" (±1) or "gaussian"."""
    normals = normal(*h.shape[:-1], count, h.shape[-1], like=h, generator=generator)
    return normals.sign() if noise == "rademacher" else normals
