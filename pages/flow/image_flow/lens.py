r"""A picture on its way through a Glow: squeezed, stepped, split; and back with one level drawn anew.

    log p(x + u) = Σ_n log p_Z(z_n) + Σ ladj,    log P(x) ≥ E_u log p(x + u)

Grey levels 0 … 16 become real by noise; here it is fixed, so that every number can be computed again.
Shapes: x (1, 1, H, W); a stage's values (C, H, W); z (B, D).
References: Kingma & Dhariwal 2018, arXiv:1807.03039; [UDL] 16.4, 16.5.2.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses.glows import noise, pictures, white
from modules.flow.glow import Glow
from modules.flow.image import Conv1x1, Squeeze
from modules.flow.norm import ActNorm

NAMES = {ActNorm: "actnorm", Conv1x1: "1×1 convolution", Squeeze: "squeeze"}


def noisy(x: Tensor) -> Tensor:
    """x and its noise in double precision, in which the page computes."""
    return x.double() + noise(x)


def unmodelled(model: Glow) -> float:
    """Bits per pixel where all grey levels are equally likely."""
    return math.log2(model.num_categories)


@dataclass(frozen=True)
class Stage:
    """A place on the way.

    Attributes:
        name: what was done last.
        level: from 1; 0 is the picture.
        values: (C, H, W) that go on.
        left: what has left at this stage, (C, H, W), or None.
        ladj: sum of all log-determinants so far, nats.
        base: log p_Z of what has left so far, nats.
    """

    name: str
    level: int
    values: Tensor
    left: Tensor | None
    ladj: float
    base: float

    @property
    def shape(self) -> str:
        c, h, w = self.values.shape
        return f"{c} × {h} × {w}"


@torch.no_grad()
def journey(model: Glow, x: Tensor) -> list[Stage]:
    """Stages of x (1, 1, H, W) and its noise on the way to z: each a squeeze, a step of the flow or a split.

    By a model in double precision: in single precision log p of a checkerboard of MNIST's size, −64,171, is
    off by 0.7.
    """
    y = noisy(x)
    h, total = model.stack.layers[-1].normalize(y)  # type: ignore[index, operator, union-attr]
    stages = [
        Stage("grey levels and noise", 0, y[0], None, 0.0, 0.0),
        Stage("each pixel alone", 0, h[0], None, float(total), 0.0),
    ]
    base, last, ladj = 0.0, len(model.scales.levels) - 1, float(total)
    for number, level in enumerate(model.scales.levels):
        steps = 0
        for layer in reversed(level.layers):  # type: ignore[arg-type, union-attr]
            h, more = layer.normalize(h)  # type: ignore[operator]
            ladj += float(more)
            kind = type(layer)
            if kind is Squeeze:
                stages.append(Stage("squeeze", number + 1, h[0], None, ladj, base))
            elif kind not in NAMES:  # a step of the flow ends with its coupling
                steps += 1
                stages.append(Stage(f"step {steps}", number + 1, h[0], None, ladj, base))
        left = h
        if number < last:
            left, h = h.chunk(2, 1)
        base += float(model_base(left))
        rest = h[0] if number < last else h[0][:0]
        stages.append(Stage("split" if number < last else "end", number + 1, rest, left[0], ladj, base))
    return stages


def model_base(z: Tensor) -> Tensor:
    """log N(z; 0, I) of one piece."""
    return -0.5 * (z.square().sum() + z.numel() * math.log(2 * math.pi))


@torch.no_grad()
def anew(model: Glow, x: Tensor, count: int, temperature: float, seed: int) -> tuple[Tensor, Tensor]:
    """Pictures with one level of z drawn anew and the others kept: (levels + 1, count, H, W) grey levels, the
    last row all levels anew; and their share of pixels that changed by more than a grey level (rows,)."""
    z = model.encode(x + noise(x))
    generator = torch.Generator().manual_seed(seed)
    fresh = temperature * torch.randn(count, model.event_dim, generator=generator)
    sizes = [math.prod(shape) for shape in model.scales.pieces]
    rows, start = [], 0
    for size in sizes:
        mixed = z.expand(count, -1).clone()
        mixed[:, start : start + size] = fresh[:, start : start + size]
        rows.append(pictures(model, mixed))
        start += size
    rows.append(pictures(model, fresh))
    table = torch.stack(rows)
    changed = ((table - x[0, 0]).abs() > 1).float().mean((1, 2, 3))
    return table, changed


@torch.no_grad()
def round_trip(model: Glow, x: Tensor) -> float:
    """Largest difference of a grey level after z and back."""
    y = noisy(x)
    return float((model.decode(model.encode(y)) - y).abs().max())


# --- Words ----------------------------------------------------------------------------------------


def gone(stages: list[Stage], at: int) -> list[Tensor]:
    """Pieces that have left up to this stage, the first to leave first."""
    return [s.left for s in stages[: at + 1] if s.left is not None]


def reach(model: Glow, stage: Stage) -> float:
    """End of the colour scale: grey levels on the picture, else 3 standard deviations of the base."""
    return float(white(model) + 1) if stage.level == 0 and stage.name.startswith("grey") else 3.0


def caption(stages: list[Stage], at: int) -> str:
    """Sentence on a stage."""
    s = stages[at]
    where = f"Level {s.level}, {s.name}" if s.level else f"Picture, {s.name}"
    left = sum(z.numel() for z in gone(stages, at))
    goes = f"{s.shape} numbers go on" if s.values.numel() else "nothing goes on"
    return f"{where}: {goes}, {left} have left."


def formula(stage: Stage) -> str:
    """The sums so far, LaTeX."""
    total = stage.ladj + stage.base
    return rf"\log p_Z+\mathrm{{ladj}}={stage.base:.2f}+({stage.ladj:.2f})={total:.2f}"


def row_names(model: Glow) -> list[str]:
    """Row labels of `anew`."""
    return [f"level {n + 1} anew" for n in range(len(model.scales.pieces))] + ["all anew"]


def size(model: Glow, level: int) -> int:
    return math.prod(model.scales.pieces[level])


def stack(parts: list[Tensor]) -> Tensor:
    return torch.stack(parts)
