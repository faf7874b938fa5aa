"""A picture in three colours, read by a PixelCNN: of each pixel red, then green, then blue given both.

Shapes: side × side pixels, K levels of a colour; n = 3 side², all of red first, then green, then blue.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.shapes import KINDS, LEVELS, PALETTE, outlines
from lab.lenses.drawing import gradient_row
from modules.autoregressive.pixelcnn import PixelModel

MODEL = "pixelcnn-shapes"
SIZES = (5, 6)  # of the shapes that it was trained on
COLOURS = ("red", "green", "blue")


def shape(kind: str, paint: str, ground: str, side: int) -> Tensor:
    """A shape in the middle, levels (n,). Of one colour twice there is no shape, and none was ever seen."""
    masks, kinds = outlines(side, SIZES)
    mine = masks[kinds == KINDS.index(kind)]
    middle = (torch.arange(side) - (side - 1) / 2).abs()
    off = (mine * (middle[:, None] + middle)).flatten(1).sum(1) / mine.flatten(1).sum(1)
    mask = mine[int(off.argmin())]
    inked, paper = (torch.tensor(PALETTE[name]).float()[:, None, None] for name in (paint, ground))
    return torch.where(mask, inked, paper).flatten()


def rgb(x: Tensor, side: int) -> Tensor:
    """Levels (..., n) as (..., 3, side, side) in [0, 1]."""
    return x.unflatten(-1, (3, side, side)) / (LEVELS - 1)


@dataclass(frozen=True)
class Reading:
    """All conditionals of one picture of P pixels.

    Attributes:
        x: (3, P) levels.
        p: (3, P, K) p(level | all pixels before, and the colours before it in its own).
        cost: (3, P) -log p of the picture's own level, nats.
    """

    x: Tensor
    p: Tensor
    cost: Tensor

    @property
    def pixel_cost(self) -> Tensor:
        """(P,) nats, over the three colours."""
        return self.cost.sum(0)

    @property
    def total(self) -> float:
        """-log p of the picture, nats."""
        return float(self.cost.sum())

    def words(self, pixel: int) -> tuple[str, str]:
        """A caption and LaTeX for one pixel."""
        side = round(self.x.shape[1] ** 0.5)
        levels, own = self.x[:, pixel].int().tolist(), (-self.cost[:, pixel]).exp().tolist()
        text = ", ".join(f"{name} {level}" for name, level in zip(COLOURS, levels, strict=True))
        r, g, b = own
        return (
            f"Pixel ({pixel // side}, {pixel % side}): {text}; it costs "
            f"{abs(float(self.pixel_cost[pixel])):.3f} nats.",
            rf"p(r)\,p(g \mid r)\,p(b \mid r, g) = {r:.4f} \cdot {g:.4f} \cdot {b:.4f} = {r * g * b:.4f}",
        )


@torch.no_grad()
def read(model: PixelModel, x: Tensor) -> Reading:
    """All conditionals of a picture (n,) in one pass."""
    log_p = model.logits(x[None])[0].log_softmax(-1)  # (n, K)
    cost = -log_p.gather(1, x.long()[:, None])[:, 0]
    return Reading(x.view(3, -1), log_p.exp().unflatten(0, (3, -1)), cost.view(3, -1))


def before(x: Tensor, pixel: int) -> Tensor:
    """A picture (n,) as far as it comes before a pixel, NaN from there on."""
    return x.view(3, -1).masked_fill(torch.arange(x.numel() // 3) >= pixel, torch.nan).flatten()


def completions(model: PixelModel, x: Tensor, pixel: int, count: int, seed: int) -> Tensor:
    """Draws (count, n) from p(rest | what comes before `pixel`): exact, since the order has it first."""
    generator = torch.Generator().manual_seed(seed)
    return model.sample(count, given=before(x, pixel), generator=generator).flatten(1)


def inside(model: PixelModel, x: Tensor, pixel: int) -> Tensor:
    """Dependence of the colours of one pixel on each other, (3, 3): row reads column, the largest |∂ logit /
    ∂ x| over the levels; exactly 0 on the diagonal and above."""
    places = torch.arange(3) * (x.numel() // 3) + pixel
    rows = [
        torch.stack([gradient_row(model, model.order, x, int(i), k)[places].abs() for k in range(LEVELS)])
        for i in places
    ]
    return torch.stack([row.amax(0) for row in rows])


def inside_table(result: Tensor) -> dict[str, list[str]]:
    """`inside` as columns."""
    rows = [[f"{v:.2f}" if v else "0" for v in row] for row in result.tolist()]
    return {"logit of": list(COLOURS)} | {
        f"reads {name}": [row[c] for row in rows] for c, name in enumerate(COLOURS)
    }
