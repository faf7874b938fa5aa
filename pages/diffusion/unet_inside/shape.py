"""The U of the network: what every stage holds on the way down and on the way up, and what the skips carry.

Shapes: F = 11 times; pictures (F, S, S); maps (F, M, h, w).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from modules.diffusion import parameterisation
from pages.diffusion.unet_inside.lens import noisy, pictured
from pages.diffusion.unet_inside.room import TIMES


@dataclass(frozen=True)
class Stage:
    """
    Attributes:
        maps: (F, M, h, w), those of its channels that vary most over the grid, two of the finest.
        channels: how many there are.
    """

    maps: Tensor
    channels: int

    @property
    def size(self) -> str:
        """Channels and grid: "64@7×7"."""
        return f"{self.channels}@{self.maps.shape[2]}×{self.maps.shape[3]}"


@dataclass(frozen=True)
class Shape:
    """
    Attributes:
        digit: (S, S), the clean picture.
        x, noise, x0: (F, S, S): x_t and x̂_0 clamped to be drawn, ε̂ as it is.
        left: the stages of each level from the top, down to the first of the middle.
        right: those that answer them, from the second of the middle back up; at the top the last of them
            joined with skip 0, as the last convolution reads it.
        skips: channels of each skip from the top.
        off: which of them are set to zero.
    """

    digit: Tensor
    x: Tensor
    noise: Tensor
    x0: Tensor
    left: dict[str, Stage]
    right: dict[str, Stage]
    skips: list[int]
    off: tuple[int, ...]

    @property
    def error(self) -> Tensor:
        """|x̂_0 − x_0| a pixel, (F,)."""
        return (self.x0 - self.digit).abs().mean((1, 2))

    @property
    def side(self) -> int:
        """Rows of the finest grid."""
        return int(next(iter(self.left.values())).maps.shape[2])


@torch.no_grad()
def shape(
    model: Any, digit: Tensor | None, digit28: Tensor | None, zeroed: Collection[str], seed: int
) -> Shape:
    """Every stage of the network at all TIMES of the digit under noise, some skips ("skip 0", …) set to zero.
    Shown are the channels that vary most while none is."""
    picture = digit28 if digit is None else digit
    assert picture is not None  # one of the two is shown
    x, t = noisy(model, picture, seed)
    whole = watched(model, x, t, ())[1]
    output, result = watched(model, x, t, zeroed)
    x0, noise = parameterisation.to_x0_eps(output, x, model.schedule.alpha_bar[t], model.target)
    side = result["first"].shape[-1]
    stages = {name: stage(h, whole[name], side) for name, h in result.items() if "skip" not in name}
    skips = sorted(name for name in result if "skip" in name)
    downs = [name for name in stages if name == "first" or "down" in name]
    ups = [name for name in stages if "up" in name]
    join = joined(result[ups[-1]], result["skip 0"], whole[ups[-1]], whole["skip 0"])
    return Shape(
        digit=picture, x=pictured(model, x), noise=noise[:, 0], x0=pictured(model, x0),
        left={name: stages[name] for name in [*downs, "middle 1"]},
        right={name: stages[name] for name in ["middle 2", *ups]} | {"join": join},
        skips=[result[name].shape[1] for name in skips],
        off=tuple(k for k, name in enumerate(skips) if name in zeroed),
    )  # fmt: skip


def watched(model: Any, x: Tensor, t: Tensor, zeroed: Collection[str]) -> tuple[Tensor, Mapping[str, Tensor]]:
    """The network's answer, and what each of its stages and skips gave."""
    seen: dict[str, Tensor] = {}

    def hook(name: str, h: Tensor) -> Tensor:
        seen[name] = torch.zeros_like(h) if name in zeroed else h
        return seen[name]

    return model.net(x, t, None, hook), seen


def stage(h: Tensor, whole: Tensor, side: int) -> Stage:
    """A stage (F, C, h, w) with the channels whose `whole` varies most over the grid, mean over times: two
    where the grid is the finest, of `side` rows, eight of half of it."""
    tiles = 2 * max(1, side // h.shape[-1]) ** 2
    best = whole.var((2, 3)).mean(0).argsort(descending=True)[:tiles].sort().values
    return Stage(h[:, best], h.shape[1])


def joined(up: Tensor, skip: Tensor, whole_up: Tensor, whole_skip: Tensor) -> Stage:
    """Input of the last convolution: the maps of the way up and those of skip 0, one of each shown."""
    maps = [stage(h, whole, h.shape[-1]).maps[:, :1] for h, whole in ((up, whole_up), (skip, whole_skip))]
    return Stage(torch.cat(maps, 1), up.shape[1] + skip.shape[1])


def captions(result: Shape) -> list[str]:
    """Caption of how far the prediction is from the digit at every time."""
    without = "" if not result.off else f" without {'these skips' if len(result.off) > 1 else 'this skip'}"
    return [
        f"t = {t}: the prediction x̂₀ is off by {float(e):.3f} per pixel{without}."
        for t, e in zip(TIMES, result.error, strict=True)
    ]


def reads(result: Shape) -> int:
    """Channels that the first stage of the way up reads: those of the middle and those of the skip."""
    return result.right["middle 2"].channels + result.skips[-1]
