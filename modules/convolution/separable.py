"""Convolutions with fewer weights: blocks, or products, in place of C_o C_i K² of them.

    full                  C² K²      every output channel reads every input channel
    grouped               C² K² / G  channels of one group only
    depthwise             C K²       G = C: each channel by itself
    rank-one              C (C + K + K)   ω_{o,c,m,n} = w_{oc} u_{om} v_{on}: three in one dimension each
    depthwise-separable   C K² + C²  depthwise, then 1×1

[UDL] calls the rank-one kernel "separable", libraries the last line; both are here under a name of their
own. Grouped and depthwise are `nn.Conv2d(groups=G)`. Shapes: (B, C_i, H, W) -> (B, C_o, H, W), K odd.

References: [UDL] notes of chapter 10; Chollet 2017, arXiv:1610.02357 (depthwise-separable).
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require


def require_centre(kernel: int) -> None:
    """Refuse an even kernel, which no padding on both sides keeps on the grid."""
    if kernel % 2 == 0:
        raise ValueError(f"A kernel of {kernel} has no centre to keep the grid: give an odd one.")


class RankOne(nn.Module):
    """Convolution with the kernel w ⊗ u ⊗ v, one for each output channel: channels, then rows, then columns.

    `kernel()` is the weight of the full convolution that it equals.
    """

    def __init__(self, c_in: int, c_out: int, kernel: int = 3) -> None:
        super().__init__()
        require(1, c_in=c_in, c_out=c_out, kernel=kernel)
        require_centre(kernel)
        self.mix = nn.Parameter(torch.empty(c_out, c_in))  # w
        self.rows, self.columns = (nn.Parameter(torch.empty(c_out, kernel)) for _ in range(2))  # u, v
        for weight in (self.mix, self.rows, self.columns):  # each keeps the variance
            nn.init.normal_(weight, std=weight.shape[1] ** -0.5)

    def kernel(self) -> Tensor:
        """Full weight (C_o, C_i, K, K)."""
        return torch.einsum("oc,om,on->ocmn", self.mix, self.rows, self.columns)

    def forward(self, x: Tensor) -> Tensor:
        c_out, kernel = self.rows.shape
        h = F.conv2d(x, self.mix[..., None, None])  # (B, C_i, H, W) -> (B, C_o, H, W)
        h = F.conv2d(h, self.rows[:, None, :, None], padding=(kernel // 2, 0), groups=c_out)
        return F.conv2d(h, self.columns[:, None, None], padding=(0, kernel // 2), groups=c_out)


class DepthwiseSeparable(nn.Sequential):
    """Depthwise convolution, then 1×1: space and channels one after the other."""

    def __init__(self, c_in: int, c_out: int, kernel: int = 3, bias: bool = False) -> None:
        require(1, c_in=c_in, c_out=c_out, kernel=kernel)
        require_centre(kernel)
        super().__init__(
            nn.Conv2d(c_in, c_in, kernel, padding=kernel // 2, groups=c_in, bias=False),
            nn.Conv2d(c_in, c_out, 1, bias=bias),
        )
