"""One step down of a picture, or one up, and which cells each cell is computed from.

Nearest, bilinear and transposed convolution are linear along each axis, y = M z Mᵀ; so are subsampling,
mean pooling and a strided convolution with a kernel ω ωᵀ. Matrices say which rows and columns are read.

References: [UDL] §10.4.1-10.4.2; Shi et al. 2016, arXiv:1609.05158 (pixel shuffle).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.errors import UserError
from modules.convolution import matrices, pooling, upsampling
from modules.convolution.convolution import convolve, transposed_convolve
from pages.convolution.down_up import room


def square(taps: Tensor) -> Tensor:
    """ω ωᵀ as weights (1, 1, K, K)."""
    return (taps[:, None] * taps)[None, None]


# --- Down -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Level:
    """A picture and what it was computed from.

    Attributes:
        values: (H, W). of: (h, w), the picture that its terms are taken from, None where it is no sum.
        weights: rows (H, h) and columns (W, w) of that sum, values = rows of columnsᵀ.
        reads: which rows (H, h) and columns (W, w) of the picture before are read.
        places: (H, W) flat places in the picture before, that unpooling writes to.
        sources: (H·W,) of unpooling alone: the cell that is read, −1 for none.
    """

    values: Tensor
    reads: tuple[Tensor, Tensor]
    of: Tensor | None = None
    weights: tuple[Tensor, Tensor] | None = None
    places: Tensor | None = None
    sources: Tensor | None = None


def block_reads(n: int, size: int) -> Tensor:
    """(n // s, n): the inputs of each block."""
    return torch.stack([matrices.tap_matrix(n, k, size, size) for k in range(size)]).sum(0)


def line(weights: Tensor, n: int, stride: int, padding: int) -> Tensor:
    """A (n_out, n) of a convolution along one axis."""
    return matrices.convolution_matrix(weights[None, None], [n], stride, padding)


def blurring(n: int) -> Tensor:
    """(n, n) of the filter 1 2 1 where the values at the ends are repeated."""
    places = torch.arange(n)
    result = torch.zeros(n, n, dtype=torch.float64)
    for offset, weight in ((-1, 0.25), (0, 0.5), (1, 0.25)):
        result[places, (places + offset).clamp(0, n - 1)] += weight
    return result


def reduced(x: Tensor, how: str, size: int, power: int, form: str, seed: int, smooth: Tensor) -> Level:
    """One step down of a picture (H, W).

    Raises:
        UserError: the picture is smaller than the block, or negative where that has no meaning.
    """
    H, W = x.shape
    if min(H, W) < size:
        raise UserError(
            f"A picture of {H} × {W} has no block of {size} × {size}: take smaller blocks or fewer."
        )
    if how in (room.POWER, room.STOCHASTIC) and bool((x < 0).any()):
        raise UserError(
            f"The {how} is of numbers that are not negative: this picture has {float(x.min()):g}."
        )
    grid, flat = x[None, None], torch.arange(H * W).reshape(H, W)
    if how == room.STRIDED:
        padding = (len(smooth) - 1) // 2
        z = convolve(grid, square(smooth), stride=size, padding=padding)[0, 0]
        each = (line(smooth, H, size, padding), line(smooth, W, size, padding))
        read = (
            line(torch.ones_like(smooth), H, size, padding),
            line(torch.ones_like(smooth), W, size, padding),
        )
        return Level(z, read, x, each, flat[::size, ::size][: len(z), : z.shape[1]])
    if how == room.BLUR:
        z = pooling.max_blur_pool(grid, size, size, mode="replicate")[0, 0]
        largest = pooling.max_pool(F.pad(grid, [0, size - 1] * 2, mode="replicate"), size, 1)[0][0, 0]
        kept = [matrices.sampling_matrix(n, size) @ blurring(n) for n in (H, W)]
        ahead = [torch.ones(n, n).triu().tril(size - 1).double() for n in (H, W)]
        near, wide = (k @ a for k, a in zip(kept, ahead, strict=True))
        return Level(z, (near, wide), largest, (kept[0], kept[1]), flat[::size, ::size])
    if how == room.SUBSAMPLE:
        z = pooling.subsample(grid, size)[0, 0]
        rows, columns = matrices.sampling_matrix(H, size), matrices.sampling_matrix(W, size)
        return Level(z, (rows, columns), x, (rows, columns), flat[::size, ::size])
    rows, columns = block_reads(H, size), block_reads(W, size)
    places = flat[::size, ::size][: len(rows), : len(columns)]
    if how == room.MAX:
        largest, found = pooling.max_pool(grid, size)
        return Level(largest[0, 0], (rows, columns), places=found[0, 0])
    if how == room.MEAN:
        mean = pooling.mean_pool(grid, size)[0, 0]
        return Level(mean, (rows, columns), x, (rows / size, columns / size), places)
    if how == room.POWER:
        z = pooling.power_pool(grid, power, size, form="mean" if form == room.AVERAGE else "sum")
    else:
        z = pooling.stochastic_pool(grid, size, generator=torch.Generator().manual_seed(seed))
    return Level(z[0, 0], (rows, columns), places=places)


# --- Up -------------------------------------------------------------------------------------------


def fit(taps: int, size: int) -> tuple[int, int]:
    """Padding and output padding with which a transposed convolution gives s·n outputs."""
    padding = max(0, -(-(taps - size) // 2))
    return padding, size - taps + 2 * padding


def phases(z: Tensor, taps: Tensor, size: int) -> Tensor:
    """The s² channels (s², h, w) that pixel shuffle interleaves into the transposed convolution of z (h, w):
    channel (a, b) is a convolution with every s-th weight, flipped."""
    padding, _ = fit(len(taps), size)
    along = []
    for phase in range(size):
        first = (phase + padding) % size
        mine = taps[first::size].flip(0) if first < len(taps) else taps.new_zeros(1)
        after = (phase + padding - first) // size  # how far the first weight reads ahead
        along.append((mine, len(mine) - 1 - after, after))
    channels = []
    for down, top, bottom in along:
        for across, left, right in along:
            framed = F.pad(z[None, None], [left, right, top, bottom])  # negative ones crop
            channels.append(convolve(framed, (down[:, None] * across)[None, None])[0, 0])
    return torch.stack(channels)


def widening(n: int, how: str, size: int, grid: str, taps: Tensor) -> Tensor:
    """M (s·n, n) of a linear upsampling along one axis."""
    if how == room.NEAREST:
        return torch.eye(n, dtype=torch.float64).repeat_interleave(size, 0)
    if how == room.BILINEAR:
        return upsampling.interpolation_matrix(n, size, grid)  # type: ignore[arg-type]
    return line(taps, size * n, size, fit(len(taps), size)[0]).T


def enlarged(z: Tensor, how: str, size: int, grid: str, taps: Tensor, before: Level | None = None,
             sizes: Sequence[int] = ()) -> Level:  # fmt: skip
    """One step up of a picture (h, w).

    Args:
        before: the step down that unpooling undoes. sizes: of the picture before it.
    """
    if how == room.UNPOOL:
        assert before is not None and before.places is not None
        y = upsampling.max_unpool(z[None, None], before.places[None, None], sizes)[0, 0]
        sources = torch.full((y.numel(),), -1)
        sources[before.places.flatten()] = torch.arange(z.numel())
        rows, columns = (torch.zeros(n, m) for n, m in zip(sizes, z.shape, strict=True))
        return Level(y, (rows, columns), sources=sources)
    rows, columns = (widening(n, how, size, grid, taps) for n in z.shape)
    if how == room.NEAREST:
        y = upsampling.nearest(z[None, None], size)
    elif how == room.BILINEAR:
        y = upsampling.bilinear(z[None, None], size, grid)  # type: ignore[arg-type]
    elif how == room.TRANSPOSED:
        padding, more = fit(len(taps), size)
        y = transposed_convolve(z[None, None], square(taps), None, size, padding, more)
    else:
        y = upsampling.pixel_shuffle(phases(z, taps, size)[None], size)
    return Level(y[0, 0], (rows.abs(), columns.abs()), z, (rows, columns))


# --- What is lit ----------------------------------------------------------------------------------


def spread(level: Level, lit: Tensor) -> Tensor:
    """Cells of the picture before, (F, h, w), that those (F, H, W) of a level are computed from."""
    rows, columns = level.reads
    if level.sources is None:
        return torch.einsum("fij,ia,jb->fab", lit.double(), rows.double(), columns.double()) > 0
    result = torch.zeros(len(lit), len(rows.T) * len(columns.T) + 1, dtype=torch.bool)
    frames, cells = lit.flatten(1).nonzero().T
    result[frames, level.sources[cells]] = True  # −1 is the last, which is none
    return result[:, :-1].unflatten(1, (len(rows.T), len(columns.T)))


def boxes(lit: Tensor) -> Tensor:
    """Edges x0, x1, y0, y1 (F, 4) of the lit cells of each frame; far outside where there is none."""
    found = []
    for cells in lit:
        places = cells.nonzero()
        if not len(places):
            found.append([-9.0, -9.0, -9.0, -9.0])
            continue
        (top, left), (bottom, right) = places.amin(0).tolist(), places.amax(0).tolist()
        found.append([left - 0.5, right + 0.5, top - 0.5, bottom + 0.5])
    return torch.tensor(found)


def one_by_one(H: int, W: int) -> Tensor:
    """(H·W, H, W): each cell alone, row by row."""
    return torch.eye(H * W, dtype=torch.bool).unflatten(1, (H, W))
