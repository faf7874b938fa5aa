"""Units of a network on textured shapes, all seeds: whether textures or shapes fit them best, layer by layer.

The networks are those of `lab fit cnn-textured`, three seeds, on the 1,000 test pictures. A unit is on above
its threshold, which 5 % of all places exceed, and is held against the pixels of three textures and three
shapes, which cover equally many. What fits best is the concept of the largest IoU; a unit that fits none
counts too.

References: [UDL] notes of chapter 10; Bau et al. 2017, arXiv:1704.05796.
"""

import statistics
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor

from datamodules.textured_shapes import TEXTURES, TexturedShapes, concepts, drawn
from lab import weights
from lab.bench.fitting import all_seeds
from lab.bench.timing import Row, spread
from modules.base import Module
from modules.convolution.cnn2d import CNN2d
from modules.convolution.visualization import cuts, excited, intersection_over_union

SHARE, TEST = 0.05, 3  # of places above a threshold; seed of the test split


@torch.no_grad()
def by_layer(network: CNN2d, x: Tensor, masks: Tensor) -> list[Tensor]:
    """IoU (K, M) of the units of each layer with maps, of pictures x (B, 1, H, W), masks (M, B, H, W)."""
    size = (x.shape[-2], x.shape[-1])
    ends = cuts(network.layers)[:-1]
    return [
        intersection_over_union(excited(network.layers[:end](x), [SHARE], size)[0], masks) for end in ends
    ]


def rows(each: Sequence[Sequence[Tensor]]) -> list[Row]:
    """Of IoU (K, M) by seed and layer: share of units that a texture fits best, and mean best IoU of both."""
    found = []
    for layer, tables in enumerate(zip(*each, strict=True), 1):
        textures = [table[:, : len(TEXTURES)].amax(1) for table in tables]
        shapes = [table[:, len(TEXTURES) :].amax(1) for table in tables]
        leaning = [float((a > b).float().mean()) for a, b in zip(textures, shapes, strict=True)]
        cases = {
            "units that a texture fits best": leaning,
            "best IoU with a texture": [float(best.mean()) for best in textures],
            "best IoU with a shape": [float(best.mean()) for best in shapes],
            "best IoU with a shape, of any unit": [float(best.max()) for best in shapes],
        }
        found += [
            Row("dissection", f"layer {layer}: {case}", statistics.mean(values), note=spread(values), unit="")
            for case, values in cases.items()
        ]
    return found


def measure(quick: bool = False) -> list[Row]:
    """Concepts of all units of all seeds; networks that no run has are trained first, two minutes."""
    data = TexturedShapes()
    x, y, mask = drawn(40 if quick else data.counts["test"], TEST, data.side, data.noise)
    networks: Sequence[Module] = [weights.load("cnn-textured")] if quick else all_seeds("cnn-textured")
    return rows([by_layer(cast(CNN2d, network), x, concepts(y, mask)) for network in networks])
