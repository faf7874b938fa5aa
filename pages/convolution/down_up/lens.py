"""A picture that is made smaller and larger again, with what each cell is computed from.

References: [UDL] §10.4.1-10.4.2, notebook 10.4.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.errors import UserError
from lab.lenses import typed as reading
from pages.convolution.down_up import room
from pages.convolution.down_up.levels import Level, boxes, enlarged, one_by_one, phases, reduced, spread
from pages.convolution.down_up.words import (
    block_of,
    down_equation,
    listed,
    number,
    power_equation,
    up_equation,
)

MOST = 100.0  # of a number that is typed


def typed(text: str) -> Tensor:
    """(H, W) of rows between semicolons.

    Raises:
        UserError: as of `typed.matrix`.
    """
    return torch.tensor(reading.matrix(text, MOST, 8), dtype=torch.float64)


def some(text: str, most: int, what: str) -> Tensor:
    values = reading.numbers(text, MOST * 10, most)
    if not values:
        raise UserError(f"The {what} is empty: write 1 to {most} numbers such as 1 2 1.")
    return torch.tensor(values, dtype=torch.float64)


def kernel(text: str) -> Tensor:
    """(K,) weights of a kernel."""
    return some(text, 6, "kernel")


def signal(text: str) -> Tensor:
    """(n,) numbers."""
    return some(text, 8, "input")


# --- The three views of pictures ------------------------------------------------------------------


@dataclass(frozen=True)
class Panel:
    """A picture (H, W) under its name, and the edges of what each frame lights in it (F, 4).

    Attributes:
        tile: sides of the tiles that it is made of, where it is.
    """

    name: str
    values: Tensor
    boxes: Tensor
    tile: tuple[int, int] | None = None


@dataclass(frozen=True)
class Shown:
    """
    Attributes:
        panels: in rows of `across`. y: which of them has a frame for each cell; None where frames are blocks.
        first: the picture. last: what became of it.
    """

    panels: list[Panel]
    across: int
    captions: list[str]
    equations: list[str]
    first: Tensor
    last: Tensor
    y: int | None = None


def picture(source: str, x: Tensor, digit: Tensor | None) -> Tensor:
    return x if source == room.NUMBERS or digit is None else digit.double()


def sized(name: str, values: Tensor) -> str:
    return f"{name}, {len(values)} × {len(values.T)}"


def passed(
    source: str, x: Tensor, digit: Tensor | None, down: str, size: int, power: int, form: str, seed: int,
    smooth: Tensor, times: int, up: str, grid: str, taps: Tensor,
) -> Shown:  # fmt: skip
    """A picture down and up again, so many times; a frame for each cell of the result."""
    first = picture(source, x, digit)
    pictures, downs = [first], []
    for _ in range(times):
        downs.append(reduced(pictures[-1], down, size, power, form, seed, smooth))
        pictures.append(downs[-1].values)
    ups: list[Level] = []
    for before, of in zip(reversed(downs), reversed(pictures[:-1]), strict=True):
        z = ups[-1].values if ups else pictures[-1]
        ups.append(enlarged(z, up, size, grid, taps, before, of.shape))
    y = ups[-1].values
    lit = [one_by_one(len(y), len(y.T))]
    for level in reversed([*downs, *ups]):
        lit.append(spread(level, lit[-1]))
    lit.reverse()  # x first, y last
    upper = [
        Panel(sized("z" if k == times else f"x{k or ''}", p), p, boxes(lit[k]))
        for k, p in enumerate(pictures)
    ]
    lower = [
        Panel(
            sized("y" if k == times - 1 else f"z{k + 1}", level.values),
            level.values,
            boxes(lit[times + 1 + k]),
        )
        for k, level in enumerate(ups)
    ]
    if times > 1:
        gap = (
            [Panel(sized("|y − x|", y), (y - first).abs(), boxes(lit[-1]))] if y.shape == first.shape else []
        )
        panels, across, at = [*upper, *reversed(lower), *gap], times + 1, times + 1
    else:
        middle = [channels(downs[0].values, taps, size)] if up == room.SHUFFLE else []
        across = 3 if not middle else 2 if source == room.NUMBERS else 4
        panels, at = [*upper, *middle, *lower], 2 + len(middle)
    names, equations = [], []
    for frame in range(y.numel()):
        i, j = divmod(frame, len(y.T))
        counts = [int(cells[frame].sum()) for cells in lit]
        names.append(
            f"Row {i}, column {j} of y: from {counts[times]} of {pictures[-1].numel()} numbers of z, and "
            f"these from {counts[0]} of {first.numel()} of x."
            if counts[times]
            else f"Row {i}, column {j} of y: nothing was stored for this place."
        )
        words = [up_equation(ups[-1], up, size, taps, i, j)]
        if times == 1 and up == room.UNPOOL:
            block = [min(a // size, n - 1) for a, n in zip((i, j), pictures[1].shape, strict=True)]
            words.insert(0, down_equation(first, downs[0], down, size, power, form, *block))
        elif times == 1 and counts[1] == 1:
            block = lit[1][frame].nonzero()[0].tolist()
            words.insert(0, down_equation(first, downs[0], down, size, power, form, *block))
        equations.append(r",\qquad ".join(words))
    return Shown(panels, across, names, equations, first, y, at)


def channels(z: Tensor, taps: Tensor, size: int) -> Panel:
    """The channels that pixel shuffle interleaves, as tiles."""
    (h, w), tiles = z.shape, phases(z, taps, size).unflatten(0, (size, size))
    lit = [
        (j % size * w + j // size, i % size * h + i // size) for i in range(size * h) for j in range(size * w)
    ]
    edges = torch.tensor([[x - 0.5, x + 0.5, y - 0.5, y + 0.5] for x, y in lit])
    return Panel(
        f"{size**2} channels c", tiles.permute(0, 2, 1, 3).flatten(2, 3).flatten(0, 1), edges, (h, w)
    )


def pooled(source: str, x: Tensor, digit: Tensor | None, size: int, power: int, form: str) -> Shown:
    """Five poolings of one picture; a frame for each block."""
    first = picture(source, x, digit)
    blank = torch.ones(1, dtype=torch.float64)
    ways = (room.SUBSAMPLE, room.MEAN, room.POWER, room.MAX, room.BLUR)
    levels = {way: reduced(first, way, size, power, form, 0, blank) for way in ways}
    h, w = levels[room.MEAN].values.shape
    names = ("subsampling", "mean", f"L{power} {form}" if power > 1 else f"L1 {form}", "max", "max-blur")
    blocks = one_by_one(h, w)
    panels = [Panel("input x", first, boxes(spread(levels[room.MAX], blocks)))]
    for name, level in zip(names, levels.values(), strict=True):
        lit = F.pad(blocks, [0, level.values.shape[1] - w, 0, level.values.shape[0] - h])
        panels.append(Panel(name, level.values, boxes(lit)))
    captions, equations = [], []
    for frame in range(h * w):
        i, j = divmod(frame, w)
        values = block_of(first, size, i, j)
        found = [number(level.values[i, j]) for level in levels.values()]
        captions.append(
            f"Block {i}, {j}: subsampling {found[0]}, mean {found[1]}, {names[2]} {found[2]}, maximum "
            f"{found[3]}, max-blur {found[4]}."
        )
        equations.append(
            rf"\mathrm{{mean}} = {found[1]},\quad "
            rf"{power_equation(values, power, form, levels[room.POWER].values[i, j])},\quad "
            rf"\max({listed(values, ', ')}) = {found[3]}"
        )
    return Shown(panels, 3, captions, equations, first, levels[room.MAX].values)


def filled(
    source: str, x: Tensor, digit: Tensor | None, down: str, size: int, power: int, form: str, seed: int,
    smooth: Tensor, taps: Tensor,
) -> Shown:  # fmt: skip
    """Five upsamplings of one small picture; a frame for each cell of the results."""
    first = picture(source, x, digit)
    z = reduced(first, down, size, power, form, seed, smooth).values
    ways = [(room.NEAREST, ""), (room.TRANSPOSED, ""), *((room.BILINEAR, grid) for grid in room.GRIDS)]
    levels = [enlarged(z, way, size, grid, taps) for way, grid in ways]
    names = ("nearest", "transposed", *room.GRIDS)
    h, w = levels[0].values.shape
    cells = one_by_one(h, w)
    panels = [Panel("z", z, boxes(spread(levels[2], cells)))]
    panels += [Panel(name, level.values, boxes(cells)) for name, level in zip(names, levels, strict=True)]
    captions, equations = [], []
    for frame in range(h * w):
        i, j = divmod(frame, w)
        found = [number(level.values[i, j]) for level in levels]
        captions.append(
            f"Row {i}, column {j}: " + ", ".join(f"{n} {v}" for n, v in zip(names, found, strict=True)) + "."
        )
        equations.append(
            r",\quad ".join(
                rf"\text{{{grid}}}\ u = ({number(place(i, len(z), size, grid))}, "
                rf"{number(place(j, len(z.T), size, grid))}):\ {value}"
                for grid, value in zip(room.GRIDS, found[2:], strict=True)
            )
        )
    return Shown(panels, 3, captions, equations, z, levels[2].values)


def place(output: int, n: int, size: int, grid: str) -> float:
    """Where an output lies on the grid of n inputs."""
    if grid == room.HALF:
        return min(max((output + 0.5) / size - 0.5, 0), n - 1)
    return output * (n - 1) / max(size * n - 1, 1) if grid == room.CORNERS else output / size
