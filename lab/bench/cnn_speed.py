"""Convolution: a training step of ResNet-18 against that of transformers and of a U-Net against a plain loop,
with the same weights, and what the receptive field of one unit costs.

The field of a unit is where its gradient is not zero: one pass forward and one backward, however many layers.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.bench.gpt import INSTALL
from lab.bench.timing import NAN, Row, interleaved, paired_row
from lab.lenses.receptive_field import measured_field
from lab.seeding import seeded
from modules.convolution.residual import Residual
from modules.convolution.resnet import ResNet, imagenet
from modules.convolution.segmentation import SegmentationUNet

STEP = "ResNet-18, a training step"


class PlainUNet(nn.Module):
    """U-Net with zero padding and skips, without options."""

    def __init__(self, channels: int, classes: int, width: int, levels: int) -> None:
        super().__init__()
        widths = [width * 2**level for level in range(levels + 1)]
        self.down = nn.ModuleList(
            nn.ModuleList([nn.Conv2d(a, b, 3, padding=1), nn.Conv2d(b, b, 3, padding=1)])
            for a, b in zip([channels, *widths], widths, strict=False)
        )
        steps = list(pairwise(reversed(widths)))
        self.grow = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for b, a in steps)
        self.up = nn.ModuleList(
            nn.ModuleList([nn.Conv2d(b, a, 3, padding=1), nn.Conv2d(a, a, 3, padding=1)]) for b, a in steps
        )
        self.last = nn.Conv2d(width, classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept: list[Tensor] = []
        down, up = cast(list[Any], self.down), cast(list[Any], self.up)
        for first, second in down:
            if kept:
                x = F.max_pool2d(x, 2)
            x = F.relu(second(F.relu(first(x))))
            kept.append(x)
        for skip, grow, (first, second) in zip(kept[-2::-1], self.grow, up, strict=True):
            x = F.relu(second(F.relu(first(torch.cat([skip, grow(x)], 1)))))
        return self.last(x)


def same(
    ours: nn.Module,
    parameters: Iterable[Tensor],
    peer: nn.Module,
    logits: Callable[[Tensor], Tensor],
    x: Tensor,
) -> None:
    """Give a peer our weights.

    Args:
        parameters: ours in the order of the peer's.
        logits: of the peer.

    Raises:
        AssertionError: then both do not say the same of x.
    """
    with torch.no_grad():
        for theirs, value in zip(peer.parameters(), parameters, strict=True):
            theirs.copy_(value)
        peer.eval()
        torch.testing.assert_close(ours.eval()(x), logits(x), rtol=1e-3, atol=1e-3)


def step(model: nn.Module, logits: Callable[[], Tensor], y: Tensor) -> Callable[[], None]:
    """A training step by SGD with momentum."""
    optimizer = torch.optim.SGD(model.train().parameters(), lr=1e-4, momentum=0.9)

    def run() -> None:
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(logits(), y).backward()
        optimizer.step()

    return run


def in_their_order(model: ResNet) -> Iterable[Tensor]:
    """Our parameters as transformers has them: the shortcut of a block before its branch."""
    for layer in model.layers:
        if isinstance(layer, Residual) and layer.shortcut is not None:
            yield from layer.shortcut.parameters()
            yield from layer.branch.parameters()
        else:
            yield from layer.parameters()


def resnet(quick: bool) -> Row:
    try:
        from transformers import ResNetConfig, ResNetForImageClassification
    except ImportError:
        return Row("cnn-speed", STEP, NAN, note=INSTALL)
    side, batch = (32, 2) if quick else (112, 8)
    shape = imagenet(18) | {"image_shape": (3, side, side), "num_classes": 10}
    ours = seeded(lambda: ResNet(**shape), 0)
    config = ResNetConfig(
        embedding_size=64, hidden_sizes=list(shape["widths"]), depths=list(shape["blocks"]),
        layer_type="basic", num_labels=10,
    )  # fmt: skip
    peer = seeded(lambda: ResNetForImageClassification(config), 0)
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(batch, 3, side, side, generator=generator), torch.arange(batch) % 10
    same(ours, in_their_order(ours), peer, lambda x: peer(x).logits, x)
    pairs = interleaved(
        step(ours, lambda: ours(x), y),
        step(peer, lambda: peer(x).logits, y),
        repeats=2 if quick else 16,
        warmup=1 if quick else 2,
    )
    note = f"{batch} pictures of {side}²; peer: ResNet of transformers"
    return paired_row("cnn-speed", STEP, pairs, "≤ 1.05", note)


def unet(quick: bool) -> Row:
    side, batch, width, levels = (16, 2, 4, 2) if quick else (128, 4, 16, 4)
    ours = seeded(lambda: SegmentationUNet((3, side, side), 2, width=width, levels=levels, padded=True), 0)
    peer = seeded(lambda: PlainUNet(3, 2, width, levels), 0)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(batch, 3, side, side, generator=generator)
    y = (x[:, 0] > 0).long()
    same(ours, ours.parameters(), peer, peer, x)
    pairs = interleaved(
        step(ours, lambda: ours(x), y), step(peer, lambda: peer(x), y), repeats=3 if quick else 30
    )
    note = f"{batch} pictures of {side}², {ours.num_parameters:,} parameters; peer: a plain loop"
    return paired_row("cnn-speed", "U-Net, a training step", pairs, "≤ 1.05", note)


def field(quick: bool) -> Row:
    """The field of one unit behind 50 layers against a pass forward and backward of the same picture."""
    side = 32 if quick else 224
    model = seeded(lambda: ResNet(**imagenet(50)), 0).eval()
    x = torch.randn(1, 3, side, side, generator=torch.Generator().manual_seed(0))
    last = len(model.layers) - 4  # the last block, before the mean over the map
    chain = model.layers[: last + 1]

    def passes() -> None:
        inputs = x.clone().requires_grad_()
        chain(inputs).sum().backward(inputs=[inputs])

    with torch.no_grad():
        rows, columns = chain(x).shape[2:]
    unit = (0, rows // 2, columns // 2)
    pairs = interleaved(
        lambda: measured_field(model, x, last, unit), passes, repeats=2 if quick else 16, warmup=1
    )
    seen = int((measured_field(model, x, last, unit) > 0).sum())
    note = f"{seen:,} of {side * side:,} pixels; peer: one pass forward and one backward"
    return paired_row("cnn-speed", "receptive field of a unit of ResNet-50", pairs, "≤ 1.05", note)


def measure(quick: bool = False) -> list[Row]:
    return [resnet(quick), unet(quick), field(quick)]
