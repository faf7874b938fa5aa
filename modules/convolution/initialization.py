"""Initialisations of convolutions that keep the scale of what goes through them.

    He        bias 0, Var ω = 2 / (C_i K²)  keeps E[h²] forwards through ReLU, 2 / (C_o K²)  the gradient's
    Xavier    Var ω = 2 / ((C_i + C_o) K²), the compromise, without the ReLU's factor 2
    delta-orthogonal    the centre tap an orthogonal matrix, all other taps 0: ‖h‖ is kept exactly

The size of the image plays no part, as each unit sums over its own window ([UDL] P10.19). With zero padding
units at the border sum over less. A delta-orthogonal layer is, at the start, one orthogonal matrix at every
position: a linear stack of any depth keeps every length, where one with Gaussian weights of variance
1/(C K²) keeps it only in the mean and drifts.

Shapes: weight (C_o, C_i, K, ...), changed in place.
References: He et al. 2015, arXiv:1502.01852; Glorot & Bengio 2010; Xiao et al. 2018, arXiv:1806.05393
(delta-orthogonal); [UDL] §7.5, P10.19 and notes of chapter 10.
"""

from math import prod, sqrt
from typing import Literal

import torch
from torch import Tensor

from modules.convolution.convolution import at

Way = Literal["forward", "backward", "both"]


def standard_deviation(weight: Tensor, way: Way = "forward", gain: float = 2.0) -> float:
    """√(gain / n), n the weights into one output ("forward"), out of one input, or the mean of the two."""
    taps = prod(weight.shape[2:])
    forward, backward = weight.shape[1] * taps, weight.shape[0] * taps
    if way not in ("forward", "backward", "both"):
        raise ValueError(f"way is {way!r}: give forward, backward or both.")
    return sqrt(gain / {"forward": forward, "backward": backward, "both": (forward + backward) / 2}[way])


@torch.no_grad()
def he(weight: Tensor, way: Way = "forward", generator: torch.Generator | None = None) -> Tensor:
    """Gaussian weights for ReLU."""
    return weight.normal_(0, standard_deviation(weight, way), generator=generator)


@torch.no_grad()
def xavier(weight: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Gaussian weights for a unit that is linear around 0, such as tanh."""
    return weight.normal_(0, standard_deviation(weight, "both", 1.0), generator=generator)


@torch.no_grad()
def delta_orthogonal(weight: Tensor, gain: float = 1.0, generator: torch.Generator | None = None) -> Tensor:
    """Zeros, and in the centre orthonormal columns: C_o ≥ C_i, K odd.

    Raises:
        ValueError: fewer outputs than inputs, or no centre.
    """
    c_out, c_in, *kernel = weight.shape
    if c_out < c_in or any(k % 2 == 0 for k in kernel):
        raise ValueError(
            f"A weight of {tuple(weight.shape)}: delta-orthogonal takes at least as many outputs as inputs, "
            "and an odd kernel."
        )
    gaussian = torch.empty(c_out, c_in, dtype=weight.dtype, device=weight.device)
    q, r = torch.linalg.qr(gaussian.normal_(generator=generator))
    centre = at(k // 2 for k in kernel)
    weight.zero_()[centre] = gain * q * r.diagonal().sign()  # the signs make q uniform (Haar)
    return weight
