"""Swin transformer: attention inside windows, and windows that shift from block to block.

    z = MSA(LN x) + x                  within each window of M×M tokens, scores + b_{Δrow, Δcolumn}
    shifted blocks: roll the grid by (−s, −s), attend, roll back,      s = ⌊M/2⌋
    merging: 2×2 neighbours → concatenate, 4C → linear → 2C            half the rows, half the columns
    Pr(y | x) = softmax(W_o mean(LN z) + b_o)                          there is no <cls>

After the roll a window holds tokens from opposite borders of the picture: a mask lets only tokens of the same
region interact. A window that spans the whole grid is not shifted. Attention among N = hw tokens costs
4NC² + 2N²C multiply-adds, within windows 4NC² + 2M²NC: linear in N.

Shapes: x (B, C, H, W), a grid (B, h, w, C) of `N` = hw tokens, `M` tokens of a window's side, logits (B, K).

References: Liu et al. 2021, arXiv:2103.14030; [UDL] 12.10.3, figure 12.18.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from modules.base import require
from modules.transformer.attention import Attention
from modules.transformer.block import Block
from modules.transformer.feedforward import FeedForward
from modules.transformer.vit import PatchClassifier

Grid = tuple[int, int]  # rows and columns of tokens

# --- Windows --------------------------------------------------------------------------------------


def windows(x: Tensor, M: int) -> Tensor:
    """Cut a grid (B, h, w, C) into windows of M×M tokens, in raster order: (B·windows, M², C)."""
    B, h, w, C = x.shape
    x = x.reshape(B, h // M, M, w // M, M, C)
    return x.transpose(2, 3).reshape(-1, M * M, C)


def grid_of(x: Tensor, M: int, grid: Grid) -> Tensor:
    """Put windows (B·windows, M², C) together again: (B, h, w, C)."""
    h, w = grid
    x = x.reshape(-1, h // M, w // M, M, M, x.shape[-1])
    return x.transpose(2, 3).reshape(-1, h, w, x.shape[-1])


def regions(grid: Grid, M: int, shift: int) -> Tensor:
    """Number of the region of each place of the rolled grid, (h, w): 0 … 8 where windows are shifted.

    Places of one window and one region are neighbours in the picture, too.
    """

    def part(n: int) -> Tensor:
        """0 in all windows but the last; in that, 1 before what came from the other border, then 2."""
        place = torch.arange(n)
        return (place >= n - M).long() + (place >= n - shift).long() if shift else torch.zeros(n).long()

    return 3 * part(grid[0])[:, None] + part(grid[1])


def region_mask(grid: Grid, M: int, shift: int) -> Tensor:
    """True where a token of a window may look at another, (windows, M², M²)."""
    each = windows(regions(grid, M, shift)[None, :, :, None], M)[..., 0]  # (windows, M²)
    return each[:, :, None] == each[:, None, :]


def pairs(grid: Grid, M: int, shift: int) -> Tensor:
    """Interaction matrix of one block in the order of the unrolled grid: (N, N) bool."""
    N = grid[0] * grid[1]
    places = torch.arange(N).view(1, *grid, 1).roll((-shift, -shift), (1, 2))
    tokens = windows(places, M)[..., 0]  # (windows, M²)
    found = torch.zeros(N, N, dtype=torch.bool)
    found[tokens[:, :, None], tokens[:, None, :]] = region_mask(grid, M, shift)
    return found


def multiply_adds(grid: Grid, channels: int, M: int | None = None) -> int:
    """Multiply-adds of one layer of attention: 4NC² + 2N²C, within windows 4NC² + 2M²NC."""
    N = grid[0] * grid[1]
    return 4 * N * channels**2 + 2 * (N if M is None else M * M) * N * channels


class WindowBias(nn.Module):
    """Learned number for each of (2M − 1)² offsets in a window and each head, added to the score.

    Args:
        heads: H. window: M.
    """

    OWN_START = True  # no model draws its parameters anew
    index: Tensor

    def __init__(self, heads: int, window: int) -> None:
        super().__init__()
        require(1, heads=heads, window=window)
        self.window = window
        self.table = nn.Parameter(0.02 * torch.randn((2 * window - 1) ** 2, heads))
        place = torch.cartesian_prod(torch.arange(window), torch.arange(window))  # (M², 2)
        offset = place[None] - place[:, None] + window - 1  # key minus query, from 0: (M², M², 2)
        self.register_buffer("index", offset[..., 0] * (2 * window - 1) + offset[..., 1], persistent=False)

    def extra_repr(self) -> str:
        return f"window={self.window}"

    def forward(self, q: Tensor, k: Tensor, scale: float) -> Tensor:
        """b by the offset of key and query: (H, M², M²)."""
        return self.table[self.index].permute(2, 0, 1)


class WindowAttention(nn.Module):
    """Attention within windows of a grid, a mixer of its tokens.

    Args:
        width: C. heads: H.
        grid: rows and columns of tokens.
        window: M; it divides both.
        shift: s, tokens by which the windows are shifted, below M.
        dropout: of attention weights, while training.

    Raises:
        ValueError: windows do not tile the grid, or a shift that is not below M.
    """

    allowed: Tensor | None

    def __init__(
        self, width: int, heads: int, grid: Grid, window: int, shift: int = 0, dropout: float = 0.0
    ) -> None:
        super().__init__()
        require(1, window=window)
        require(0, below=window, shift=shift)
        if grid[0] % window or grid[1] % window:
            raise ValueError(
                f"window is {window}: it must divide the {grid[0]} × {grid[1]} tokens of a grid."
            )
        self.grid, self.window, self.shift = grid, window, shift
        self.attention = Attention(width, heads, dropout=dropout, relative=WindowBias(heads, window))
        mask = region_mask(grid, window, shift) if shift else None
        self.register_buffer("allowed", mask, persistent=False)

    def extra_repr(self) -> str:
        return f"grid={self.grid}, window={self.window}, shift={self.shift}"

    def forward(
        self, x: Tensor, source: None = None, causal: bool = False, padding: None = None, cache: None = None
    ) -> Tensor:
        """Mix the tokens of a whole grid in raster order: (B, N, C) -> (B, N, C).

        Raises:
            ValueError: a source, a causal mask, padding or a cache: windows are of one whole picture.
        """
        if causal or not (source is padding is cache is None):
            raise ValueError("Windows are those of one whole picture: give its tokens and nothing else.")
        B = len(x)
        x = x.unflatten(1, self.grid)  # (B, h, w, C)
        if self.shift:
            x = x.roll((-self.shift, -self.shift), (1, 2))
        allowed = None if self.allowed is None else self.allowed.repeat(B, 1, 1)[:, None]
        x = self.attention(windows(x, self.window), allowed=allowed)  # (B·windows, M², C)
        x = grid_of(x, self.window, self.grid)
        if self.shift:
            x = x.roll((self.shift, self.shift), (1, 2))
        return x.flatten(1, 2)


class PatchMerging(nn.Module):
    """Neighbours 2×2 joined to one token of twice the channels; 8C² weights and a norm of 4C.

    Args:
        width: C. grid: rows and columns of tokens, both even.
    """

    def __init__(self, width: int, grid: Grid) -> None:
        super().__init__()
        if grid[0] % 2 or grid[1] % 2:
            raise ValueError(f"a grid of {grid[0]} × {grid[1]} tokens has no 2 × 2 neighbours to merge.")
        self.grid = grid
        self.norm = nn.LayerNorm(4 * width)
        self.proj = nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, N, C) -> (B, N/4, 2C)."""
        x = windows(x.unflatten(1, self.grid), 2)  # (B·N/4, 4, C), each in raster order
        x = x.flatten(1).unflatten(0, (-1, self.grid[0] * self.grid[1] // 4))
        return self.proj(self.norm(x))


# --- The model ------------------------------------------------------------------------------------


class Swin(PatchClassifier):
    """Classifier of pictures by attention within shifted windows.

    Args:
        image_shape: (C, H, W).
        num_classes: K.
        patch: P, pixels of a patch's side; it divides H and W.
        window: M, tokens of a window's side; of a grid that has become smaller, its side.
        depths: blocks of each stage; between two stages patches are merged.
        heads, width: H and C of the first stage; merging doubles both.
        dropout: of attention weights and sublayers, while training.
        shift: every other block shifts its windows by ⌊M/2⌋; False shifts none.
        merge: merge patches between stages; False keeps grid, width and heads.

    Raises:
        ValueError: an argument is out of range, or patches or windows do not tile.

    Example:
        >>> Swin((1, 8, 8), patch=1, window=4, depths=(2, 2), heads=2, width=32).grids
        [(8, 8), (4, 4)]
    """

    def __init__(
        self,
        image_shape: Sequence[int] = (1, 28, 28),
        num_classes: int = 10,
        patch: int = 2,
        window: int = 7,
        depths: Sequence[int] = (2, 2),
        heads: int = 2,
        width: int = 32,
        dropout: float = 0.0,
        shift: bool = True,
        merge: bool = True,
        **training: Any,
    ) -> None:
        super().__init__(image_shape, patch, width, **training)
        require(1, num_classes=num_classes, window=window, depths=depths, heads=heads)
        require(0, below=1, dropout=dropout)
        self.grids: list[Grid] = []
        self.blocks, self.merges = nn.ModuleList(), nn.ModuleList()
        self.depths = tuple(depths)
        grid = self.grid
        for stage, depth in enumerate(self.depths):
            if stage and merge:
                self.merges.append(PatchMerging(width, grid))
                grid, width, heads = (grid[0] // 2, grid[1] // 2), 2 * width, 2 * heads
            self.grids.append(grid)
            M = min(window, *grid)
            for i in range(depth):
                s = M // 2 if shift and i % 2 and grid != (M, M) else 0
                mixer = WindowAttention(width, heads, grid, M, s, dropout)
                self.blocks.append(Block(width, mixer, FeedForward(width, 4 * width), dropout=dropout))
        self.final_norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, num_classes)
        self.draw_weights()

    def tokens(self, x: Tensor) -> Tensor:
        """What leaves the last norm: (B, C, H, W) -> (B, N, C) of the last stage."""
        x, first = self.patches(x), 0
        blocks = list(cast(Iterable[Block], self.blocks))
        for stage, depth in enumerate(self.depths):
            if stage and len(self.merges):
                x = self.merges[stage - 1](x)
            for block in blocks[first : first + depth]:
                x = block(x)
            first += depth
        return self.final_norm(x)

    def features(self, x: Tensor) -> Tensor:
        """Mean of all tokens: (B, C, H, W) -> (B, C of the last stage)."""
        return self.tokens(x).mean(1)
