r"""Neural autoregressive map: a network of positive weights and increasing units is an increasing map.

    v_i = logit Σ_j W_ij σ(a_j h + b_j),     y = logit Σ_i w_i σ(c_i v_i + d_i)

a, c > 0 and every row of W, as w, is positive with sum 1, so that each sum lies between 0 and 1 and each step
rises. One such layer alone is a mixture of logistics, with scales 1/a and means −b/a; the second mixes K of
them. All weights are θ: a masked network gives them, which makes this the transformer of NAF.

θ: K² + 5 K numbers: a, b, W; c, d, w. The hidden units start apart; y is no identity at θ = 0.
`NAF` takes the closed form from data to noise, which training asks for; to sample it is solved.
Shapes: h (...), θ (..., k).
References: Huang et al. 2018, Neural autoregressive flows, arXiv:1804.00779 ("deep sigmoidal flow"); [UDL]
notes to chapter 16.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import require
from modules.flow.flow import Flow
from modules.flow.layer import FlowStack, ValueAndLogDet
from modules.flow.maf import MaskedAutoregressive
from modules.flow.monotone import InverseMonotone, Monotone, soft_clamp


class NeuralMonotone(Monotone):
    """Two layers of K increasing units.

    Args:
        units: K.
    """

    starts: Tensor

    def __init__(self, units: int = 4) -> None:
        super().__init__()
        require(1, units=units)
        self.units, self.num_params = units, units * units + 5 * units
        self.register_buffer("starts", torch.linspace(-1, 1, units + 2)[1:-1], persistent=False)

    def extra_repr(self) -> str:
        return f"units={self.units}"

    def generate(self, z: Tensor, theta: Tensor) -> ValueAndLogDet:
        k = self.units
        log_a, b, mixing, log_c, d, last = theta.split([k, k, k * k, k, k, k], -1)
        log_a, log_c, mixing = soft_clamp(log_a), soft_clamp(log_c), mixing.unflatten(-1, (k, k))
        b = b + self.starts
        v, slope = mixture_logit(z[..., None, None], log_a[..., None, :], b[..., None, :], mixing)
        y, outer = mixture_logit(
            v[..., None, :], log_c[..., None, :], d[..., None, :], last[..., None, :], slope
        )
        return y[..., 0], outer[..., 0]


def mixture_logit(
    h: Tensor, log_a: Tensor, b: Tensor, logits: Tensor, slope: Tensor | None = None
) -> ValueAndLogDet:
    """logit Σ_j w_j σ(a_j h_j + b_j), w = softmax(logits), and its log slope; j is the last dimension.

    Args:
        slope: log dh_j/dz, where h_j is itself a function of z.
    """
    u = log_a.exp() * h + b
    up, down, log_w = F.logsigmoid(u), F.logsigmoid(-u), logits.log_softmax(-1)
    below, above = (log_w + up).logsumexp(-1), (log_w + down).logsumexp(-1)
    inner = log_w + up + down + log_a
    if slope is not None:
        inner = inner + slope[..., None, :]
    return below - above, inner.logsumexp(-1) - below - above


class NAF(Flow):
    """Neural autoregressive flow: L masked layers of neural maps, the order reversed in every other one.

    Args:
        layers: L; one can bend each number's distribution at will, given those before it.
        hidden: widths of every masked network.
        units: K.
    """

    def __init__(
        self,
        event_shape: Sequence[int] = (2,),
        layers: int = 2,
        hidden: Sequence[int] = (64, 64),
        units: int = 4,
        **training: Any,
    ) -> None:
        super().__init__(event_shape, **training)
        require(1, layers=layers)
        stack = []
        for number in range(layers):
            monotone = InverseMonotone(NeuralMonotone(units))
            stack.append(
                MaskedAutoregressive(self.event_dim, monotone, hidden, number % 2 == 1, self.context_features)
            )
        self.stack = FlowStack(stack)
