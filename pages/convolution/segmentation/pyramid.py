"""The grids of a U-Net for a picture of some side: what is pooled, cropped and joined, and where it fails.

References: [UDL] §11.5.3, figure 11.10, problem 11.9.
"""

from dataclasses import dataclass

from modules.convolution.segmentation import sizes, smallest_side


@dataclass(frozen=True)
class Grid:
    """A level of the way down or up.

    Attributes:
        level: 0 is the top.
        up: it is of the way up.
        before: side before its two convolutions; after: behind them, 0 where nothing is left.
        crop: pixels cropped on each side from what was kept at this level; of the way up alone.
        fails: it should be halved and is odd, or nothing is left of it.
    """

    level: int
    up: bool
    before: int
    after: int
    crop: int = 0
    fails: bool = False


@dataclass(frozen=True)
class Pyramid:
    """
    Attributes:
        n, levels, kernel, padded: what was asked for.
        grids: in their order; if the side is not legal, up to the one where it fails.
        least, step: legal sides are least, least + step, …
    """

    n: int
    levels: int
    kernel: int
    padded: bool
    grids: list[Grid]
    least: int
    step: int

    @property
    def output(self) -> int | None:
        """Side of the classified pixels, None where the picture's side is not legal."""
        return None if self.grids[-1].fails else self.grids[-1].after

    @property
    def next(self) -> int:
        """The smallest legal side that the picture fits into."""
        return self.least + max(0, -(-(self.n - self.least) // self.step)) * self.step

    @property
    def lost(self) -> int:
        """Pixels of a side that two convolutions take."""
        return 0 if self.padded else 2 * (self.kernel - 1)

    def legal(self, most: int) -> list[tuple[int, int]]:
        """Legal sides up to `most`, and the side that is classified of each."""
        every = range(self.least, most + 1, self.step)
        gone = self.least - sizes(self.least, self.levels, self.padded, self.kernel).output
        return [(n, n - gone) for n in every]


def pyramid(n: int, levels: int, kernel: int, zeros: bool) -> Pyramid:
    """Grids of a U-Net, level by level: two convolutions K × K, then pooling 2 × 2; and up again."""
    lost = 0 if zeros else 2 * (kernel - 1)
    grids: list[Grid] = []
    side = n
    for level in range(levels + 1):
        after = max(side - lost, 0)
        fails = after == 0 or (level < levels and after % 2 == 1)
        grids.append(Grid(level, False, side, after, fails=fails))
        if fails:
            break
        side = after // 2
    side = grids[-1].after
    for level in reversed(range(0 if grids[-1].fails else levels)):
        before = 2 * side
        side = max(before - lost, 0)
        crop = (grids[level].after - before) // 2
        grids.append(Grid(level, True, before, side, crop, side == 0))
        if side == 0:
            break
    least = 2**levels if zeros else smallest_side(levels, kernel)
    return Pyramid(n, levels, kernel, zeros, grids, least, 2**levels)
