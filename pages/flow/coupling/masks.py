"""Couplings of a picture: which pixels are copied, which move, and which pixels a moved one hears.

    checkerboard   neighbours are never alike, so a changed pixel stands among copied ones
    channels       2×2 pixels become four channels, of which two are copied at every place

A layer maps pixels to pixels here: channels are made for the layer and undone after it. The networks' weights
are random, not zero as before training. Shapes: pictures (H, W), H and W even.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.seeding import seeded
from modules.flow.coupling import Coupling, MaskedCoupling, checkerboard
from modules.flow.glow import ConvConditioner
from modules.flow.image import Squeeze
from modules.flow.layer import FlowLayer, FlowStack, Inverse
from modules.flow.monotone import Affine

PATTERNS = {
    "checkerboard": ("checkerboard", "checkerboard, turned"),
    "channels": ("first channels", "last channels"),
    "both in turn": ("checkerboard", "checkerboard, turned", "first channels", "last channels"),
}
WIDTH = 8


@dataclass(frozen=True)
class Look:
    """One layer at work on a picture.

    Attributes:
        name: of its mask.
        before, after: (H, W). copied: (H, W) bool, by the mask.
        heard: (H·W, H, W) |∂ after_p / ∂ before| of every pixel p.
        ladj: of the layer. changed: (H, W) whether any layer so far has changed the pixel.
    """

    name: str
    before: Tensor
    after: Tensor
    copied: Tensor
    heard: Tensor
    ladj: float
    changed: Tensor


def layer(name: str, side: int, seed: int) -> tuple[FlowLayer, Tensor]:
    """A coupling of pixels (B, 1, H, W) with random weights, float64, and its mask (H, W): True is copied."""
    flip = name in ("checkerboard, turned", "last channels")

    def build() -> tuple[FlowLayer, Tensor]:
        if name.startswith("checkerboard"):
            mask = checkerboard((1, side, side), flip)
            result: FlowLayer = MaskedCoupling(mask, Affine(2.0), initialise(ConvConditioner(1, 1, 2, WIDTH)))
            return result, mask[0].bool()
        coupling = Coupling(4, Affine(2.0), initialise(ConvConditioner(2, 2, 2, WIDTH)), flip, event_dims=3)
        quarter = torch.zeros(2, side // 2, side // 2)
        kept = coupling.merge(quarter + 1, quarter)  # (4, H/2, W/2)
        result = FlowStack([Inverse(Squeeze()), coupling, Squeeze()])
        return result, Squeeze().generate(kept[None])[0][0, 0].bool()

    result, mask = seeded(build, seed)
    return result.double().eval().requires_grad_(False), mask


def initialise(net: ConvConditioner) -> ConvConditioner:
    """The same with weights that do something."""
    for parameter in net.parameters():
        parameter.data.normal_(0, 0.2)
    return net


def looks(h: Tensor, pattern: str, depth: int, seed: int) -> Iterator[Look]:
    """Each of `depth` layers at work on a picture h (H, W); the masks of the pattern take turns."""
    names, changed = PATTERNS[pattern], torch.zeros_like(h, dtype=torch.bool)
    for number in range(depth):
        name = names[number % len(names)]
        results, copied = layer(name, h.shape[-1], 100 * seed + number)
        count = h.numel()
        with torch.enable_grad():
            copies = h.expand(count, 1, *h.shape).clone().requires_grad_()
            after, ladj = results.generate(copies)
            (slopes,) = torch.autograd.grad(after.flatten(1), copies, torch.eye(count, dtype=h.dtype))
        changed = changed | ~copied
        result = after[0, 0].detach()
        yield Look(name, h, result, copied, slopes[:, 0].abs(), float(ladj[0].detach()), changed)
        h = result


def captions(results: list[Look], place: tuple[int, int]) -> list[str]:
    """A sentence for every layer; `place` is the framed pixel, row and column from 0."""
    texts = []
    for number, look in enumerate(results, start=1):
        own = look.heard[place[0] * look.before.shape[1] + place[1]] > 1e-12
        own[place] = False
        what = "is copied" if look.copied[place] else f"hears {int(own.sum())} copied pixels beside itself"
        left = int((~look.changed).sum())
        texts.append(
            f"Layer {number}, {look.name}: {int(look.copied.sum())} pixels are copied, "
            f"{int((~look.copied).sum())} move; the framed one {what}. "
            + (f"{left} pixels have never moved." if left else "Every pixel has moved.")
        )
    return texts
