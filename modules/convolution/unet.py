r"""U-Net: an image goes down to small grids and up again; each level's features are joined to the way up.

    down   block … block ↓2        kept at every block
    middle block, attention, block
    up     [h, kept] → block … ↑2  concatenated, not added

Coarse levels see the whole image, kept features bring back its detail. A block is twice (GroupNorm, SiLU,
3×3 convolution) around a shortcut; a vector τ (the time and class of a diffusion model) scales and shifts
its features between the two. Self-attention joins all positions of a small grid. The last convolution
starts at zero.

Shapes: x (B, C, H, W), τ (B, E) -> (B, C_out, H, W); H and W divisible by 2^(levels − 1).
References: Ronneberger et al. 2015, arXiv:1505.04597; [UDL] §11.5.3; with GroupNorm, SiLU and attention: Ho
et al. 2020, arXiv:2006.11239; scale and shift: Dhariwal & Nichol 2021, arXiv:2105.05233.
"""

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.base import require
from modules.transformer.attention import Attention


def norm(channels: int) -> nn.GroupNorm:
    """Normalisation in at most 8 groups of whole channels."""
    return nn.GroupNorm(math.gcd(8, channels), channels)


class Block(nn.Module):
    """Residual block shortcut(x) + conv(SiLU(norm(conv(SiLU(norm(x)))) ⊙ (1 + s) + b)), s and b from τ."""

    def __init__(self, c_in: int, c_out: int, embedding: int = 0) -> None:
        super().__init__()
        self.norm1, self.conv1 = norm(c_in), nn.Conv2d(c_in, c_out, 3, padding=1)
        self.norm2, self.conv2 = norm(c_out), nn.Conv2d(c_out, c_out, 3, padding=1)
        self.modulate = nn.Linear(embedding, 2 * c_out) if embedding else None
        self.shortcut = nn.Conv2d(c_in, c_out, 1) if c_in != c_out else nn.Identity()

    def forward(self, x: Tensor, tau: Tensor | None = None) -> Tensor:
        h = self.norm2(self.conv1(F.silu(self.norm1(x))))
        if self.modulate is not None:
            if tau is None:
                raise ValueError("This network takes a vector τ with every image: give it one.")
            scale, shift = self.modulate(F.silu(tau))[..., None, None].chunk(2, 1)  # (B, C, 1, 1) each
            h = h * (1 + scale) + shift
        return self.shortcut(x) + self.conv2(F.silu(h))


class GridAttention(nn.Module):
    """Residual attention x + attention over the H·W positions of a grid."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.norm, self.attention = norm(channels), Attention(channels, heads)

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.norm(x).flatten(2).mT  # (B, C, H, W) -> (B, H·W, C)
        return x + self.attention(tokens).mT.unflatten(2, x.shape[2:])


class Level(nn.Module):
    """Block and perhaps attention, at one size of the grid."""

    def __init__(self, c_in: int, c_out: int, embedding: int, heads: int) -> None:
        super().__init__()
        self.block = Block(c_in, c_out, embedding)
        self.attend = GridAttention(c_out, heads) if heads else None

    def forward(self, x: Tensor, tau: Tensor | None) -> Tensor:
        x = self.block(x, tau)
        return x if self.attend is None else self.attend(x)


Hook = Callable[[str, Tensor], Tensor]


def no_hook(name: str, h: Tensor) -> Tensor:
    """Hook that changes nothing."""
    return h


class UNet(nn.Module):
    """U-Net of any number of levels.

    Args:
        channels: C of the input and of the output.
        widths: channels of each level; the grid halves between two.
        blocks: per level, each way.
        attention: levels, 0 is the full grid, with self-attention; the middle always has it.
        heads: of attention.
        embedding: E of τ; 0 takes none.
        outputs: channels of the output, where they are not C.
        patch: side P of a patch, whose pixels are read and written as channels: the full grid is then one of
            patches, its convolutions P² times as cheap (Luhman & Luhman 2022, arXiv:2207.04316).
    """

    def __init__(
        self,
        channels: int = 1,
        widths: Sequence[int] = (32, 64),
        blocks: int = 1,
        attention: Sequence[int] = (),
        heads: int = 4,
        embedding: int = 0,
        outputs: int | None = None,
        patch: int = 1,
    ) -> None:
        super().__init__()
        outputs = channels if outputs is None else outputs
        require(1, outputs=outputs, patch=patch)
        require(1, channels=channels, widths=widths, blocks=blocks, heads=heads)
        require(0, embedding=embedding)
        self.patch, self.divisor = patch, patch * 2 ** (len(widths) - 1)
        self.first = nn.Conv2d(channels * patch**2, widths[0], 3, padding=1)
        self.down, self.shrink = nn.ModuleList(), nn.ModuleList()
        self.up, self.grow = nn.ModuleList(), nn.ModuleList()
        now, kept = widths[0], [widths[0]]
        for level, width in enumerate(widths):
            for _ in range(blocks):
                self.down.append(Level(now, width, embedding, heads if level in attention else 0))
                now = width
                kept.append(now)
            if level < len(widths) - 1:
                self.shrink.append(nn.Conv2d(now, now, 3, stride=2, padding=1))
        self.middle = nn.ModuleList([Level(now, now, embedding, heads), Level(now, now, embedding, 0)])
        for level, width in reversed([*enumerate(widths)]):
            for _ in range(blocks):
                self.up.append(Level(now + kept.pop(), width, embedding, heads if level in attention else 0))
                now = width
            if level:
                self.grow.append(nn.Conv2d(now, now, 3, padding=1))
        self.join = norm(now + kept[0])
        self.last = nn.Conv2d(now + kept[0], outputs * patch**2, 3, padding=1)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)  # type: ignore[arg-type]
        self.blocks = blocks

    def extra_repr(self) -> str:
        return f"patch={self.patch}, blocks={self.blocks}"

    def forward(self, x: Tensor, tau: Tensor | None = None, hook: Hook = no_hook) -> Tensor:
        """Output (B, C_out, H, W).

        Args:
            hook: is given every stage's name and output ("first", "down 1", "middle 1", "up 1", …) and every
                skip where it is joined ("skip 0" is that of "first"), and returns what goes on.

        Raises:
            ValueError: the grid cannot be halved that often, or τ is missing.
        """
        if x.shape[-1] % self.divisor or x.shape[-2] % self.divisor:
            patches = f" in patches of {self.patch}" if self.patch > 1 else ""
            raise ValueError(
                f"An image of {x.shape[-2]}×{x.shape[-1]}{patches} cannot be halved "
                f"{len(self.shrink)} times: its sides must be multiples of {self.divisor}."
            )
        first = h = hook("first", self.first(F.pixel_unshuffle(x, self.patch)))
        kept = []
        for number, level in enumerate(self.down):
            h = hook(f"down {number + 1}", level(h, tau))
            kept.append(h)
            if (number + 1) % self.blocks == 0 and number + 1 < len(self.down):
                h = self.shrink[number // self.blocks](h)
        for number, level in enumerate(self.middle):
            h = hook(f"middle {number + 1}", level(h, tau))
        for number, level in enumerate(self.up):
            skip = hook(f"skip {len(kept)}", kept.pop())
            h = hook(f"up {number + 1}", level(torch.cat([h, skip], 1), tau))
            if (number + 1) % self.blocks == 0 and number + 1 < len(self.up):
                h = self.grow[number // self.blocks](F.interpolate(h, scale_factor=2.0))
        output = self.last(F.silu(self.join(torch.cat([h, hook("skip 0", first)], 1))))
        return F.pixel_shuffle(output, self.patch)
