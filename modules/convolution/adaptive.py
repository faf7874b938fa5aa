"""Convolutions that look at their input before they weigh it.

    partial     h = (K²/n) Σ ω m x + β where n = Σ m > 0 of the mask are known, else 0; the mask grows
    gated       h = f(x) ⊙ σ(g(x)), two convolutions
    squeeze-and-excitation   x_c · s_c,   s = σ(W₂ ReLU(W₁ mean(x)))     one gate a channel
    inception   kernels of several sizes side by side, their channels concatenated
    predicted   the kernel is a function of the mean of the input: each example has its own
    deformable  tap k of position i reads x at i + k + Δ_{k,i}, between pixels, Δ from a convolution of x

Shapes: (B, C_i, H, W) -> (B, C_o, H, W), K odd, zeros outside.
References: [UDL] notes of chapter 10; Liu et al. 2018, arXiv:1804.07723 (partial); Yu et al. 2019,
arXiv:1806.03589 (gated); Hu et al. 2018, arXiv:1709.01507 (squeeze-and-excitation); Szegedy et al. 2015,
arXiv:1409.4842 (inception); Jia et al. 2016, arXiv:1605.09673 (predicted); Dai et al. 2017, arXiv:1703.06211.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.convolution.separable import require_centre


class PartialConvolution(nn.Conv2d):
    """Convolution of what is known, scaled as if all of the window were; padding is unknown, too."""

    def __init__(self, c_in: int, c_out: int, kernel: int = 3) -> None:
        require_centre(kernel)
        super().__init__(c_in, c_out, kernel, padding=kernel // 2)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """h (B, C_o, H, W) and the grown mask (B, 1, H, W) of x (B, C_i, H, W) and mask (B, 1, H, W)."""
        ones = torch.ones_like(self.weight[:1, :1])  # (1, 1, K, K)
        count = F.conv2d(mask.to(x), ones, padding=self.padding)  # type: ignore[arg-type]
        h = F.conv2d(x * mask, self.weight, padding=self.padding)  # type: ignore[arg-type]
        known = count > 0
        assert self.bias is not None
        h = h * (ones.numel() / count.clamp(min=1)) + self.bias[:, None, None]
        return torch.where(known, h, 0.0), known.to(mask)


class GatedConvolution(nn.Module):
    """Convolution whose every output a second convolution lets through, or not."""

    def __init__(self, c_in: int, c_out: int, kernel: int = 3) -> None:
        super().__init__()
        require_centre(kernel)
        self.both = nn.Conv2d(c_in, 2 * c_out, kernel, padding=kernel // 2)

    def forward(self, x: Tensor) -> Tensor:
        features, gates = self.both(x).chunk(2, 1)
        return features * gates.sigmoid()


class SqueezeExcitation(nn.Module):
    """One gate for each channel, from the means of all of them.

    Args:
        channels: C.
        reduction: r; the gates are found through C/r units. 2C²/r weights, no biases.
    """

    def __init__(self, channels: int, reduction: int = 16) -> None:
        super().__init__()
        require(1, channels=channels, reduction=reduction)
        if reduction > channels:
            raise ValueError(f"A reduction by {reduction} leaves none of {channels} channels: reduce less.")
        self.squeeze = nn.Linear(channels, channels // reduction, bias=False)
        self.excite = nn.Linear(channels // reduction, channels, bias=False)

    def gates(self, x: Tensor) -> Tensor:
        """s (B, C)."""
        return self.excite(F.relu(self.squeeze(x.mean((2, 3))))).sigmoid()

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gates(x)[..., None, None]


class Inception(nn.Module):
    """Kernels of several sizes side by side, and the maximum of 3×3 if `pool`; channels are concatenated.

    Args:
        channels: C_o of each branch, one for each kernel.
        kernels: odd K of each branch.
        pool: channels of a branch of max pooling and 1×1; 0 has none.
    """

    def __init__(
        self, c_in: int, channels: Sequence[int], kernels: Sequence[int] = (1, 3, 5), pool: int = 0
    ) -> None:
        super().__init__()
        require(1, channels=channels)
        require(0, pool=pool)
        if len(channels) != len(kernels):
            raise ValueError(f"{len(channels)} channels for {len(kernels)} kernels: give one of each.")
        for kernel in kernels:
            require_centre(kernel)
        self.branches = nn.ModuleList(
            nn.Conv2d(c_in, c_out, k, padding=k // 2) for c_out, k in zip(channels, kernels, strict=True)
        )
        if pool:
            self.branches.append(nn.Sequential(nn.MaxPool2d(3, 1, 1), nn.Conv2d(c_in, pool, 1)))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


class PredictedConvolution(nn.Module):
    """Convolution by a kernel that a dense layer makes of the means of the input's channels."""

    def __init__(self, c_in: int, c_out: int, kernel: int = 3) -> None:
        super().__init__()
        require_centre(kernel)
        self.shape = (c_out, c_in, kernel, kernel)
        self.predict = nn.Linear(c_in, c_out * c_in * kernel**2)
        nn.init.normal_(self.predict.bias, std=(2 / (c_in * kernel**2)) ** 0.5)  # He, before any input speaks

    def kernels(self, x: Tensor) -> Tensor:
        """One weight (C_o, C_i, K, K) for each example."""
        return self.predict(x.mean((2, 3))).unflatten(1, self.shape)

    def forward(self, x: Tensor) -> Tensor:
        weight, (size, _, height, width) = self.kernels(x), x.shape
        if not size:
            return x.new_zeros(0, self.shape[0], height, width)
        together = x.reshape(1, -1, height, width)  # (B, C_i, H, W) -> (1, B·C_i, H, W): an example a group
        h = F.conv2d(together, weight.flatten(0, 1), padding=self.shape[2] // 2, groups=size)
        return h.unflatten(1, (size, -1))[0]


class DeformableConvolution(nn.Module):
    """Convolution whose taps are moved, at each position, by offsets (rows, columns) from a convolution.

    The offsets start at 0, where it is the ordinary convolution.
    """

    def __init__(self, c_in: int, c_out: int, kernel: int = 3) -> None:
        super().__init__()
        require_centre(kernel)
        self.kernel = kernel
        self.convolution = nn.Conv2d(c_in, c_out, kernel, padding=kernel // 2)
        self.offsets = nn.Conv2d(c_in, 2 * kernel**2, kernel, padding=kernel // 2)
        nn.init.zeros_(self.offsets.weight)
        nn.init.zeros_(self.offsets.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        moves = self.offsets(x).unflatten(1, (-1, 2))  # (B, K², 2, H, W)
        height, width, reach = *x.shape[2:], self.kernel // 2
        rows, columns = torch.meshgrid(
            *(torch.arange(n, dtype=x.dtype, device=x.device) for n in (height, width)), indexing="ij"
        )
        read = []
        for tap in range(self.kernel**2):
            row = rows + tap // self.kernel - reach + moves[:, tap, 0]  # (B, H, W)
            column = columns + tap % self.kernel - reach + moves[:, tap, 1]
            # grid_sample takes (column, row), the pixels' areas from −1 to 1, zeros outside
            places = torch.stack([(2 * column + 1) / width - 1, (2 * row + 1) / height - 1], -1)
            read.append(F.grid_sample(x, places, align_corners=False))
        weight = self.convolution.weight.flatten(2)  # (C_o, C_i, K, K) -> (C_o, C_i, K²)
        h = torch.einsum("bkchw,ock->bohw", torch.stack(read, 1), weight)
        assert self.convolution.bias is not None
        return h + self.convolution.bias[:, None, None]
