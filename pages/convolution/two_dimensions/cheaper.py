"""Convolutions of C channels to C with fewer weights, as blocks of one matrix.

Shapes: weight (C_o, C_i, K, K), drawn as (C_o K, C_i K): block (o, c) is the kernel from channel c to o.

References: [UDL] §10.4.3, notes of chapter 10.
"""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from lab.seeding import seeded
from modules.convolution.separable import DepthwiseSeparable, RankOne


@dataclass(frozen=True)
class Kind:
    """
    Attributes:
        name: of the convolution. weight: (C_o, C_i, K, K) of the full convolution that it equals, NaN where
            no weight can stand. parameters: weights it has; as many multiply-adds at each position.
    """

    name: str
    weight: Tensor
    parameters: int

    @property
    def blocks(self) -> Tensor:
        """(C_o K, C_i K), the largest weight 1."""
        w = self.weight / self.weight.nan_to_num().abs().max()
        return w.permute(0, 2, 1, 3).flatten(0, 1).flatten(1)


def divisors(channels: int) -> list[int]:
    """Groups that divide the channels."""
    return [g for g in range(1, channels + 1) if channels % g == 0]


def spread(weight: Tensor, groups: int, size: int) -> Tensor:
    """Weight (C, C/G, k, k) in the blocks of its groups and the middle of K × K, NaN elsewhere."""
    C, each, k, _ = weight.shape
    whole, at = weight.new_full((C, C, size, size), torch.nan), (size - k) // 2
    for o in range(C):
        start = o // (C // groups) * each
        whole[o, start : start + each, at : at + k, at : at + k] = weight[o]
    return whole


def kinds(channels: int, groups: int, size: int, seed: int) -> list[Kind]:
    """The six kinds, each with weights drawn from the seed."""
    C, K, results = channels, size, list[Kind]()
    for name, G, k in (("full", 1, K), ("1×1", 1, 1), ("grouped", groups, K), ("depthwise", C, K)):
        layer = seeded(partial(nn.Conv2d, C, C, k, groups=G, bias=False), seed)
        results.append(Kind(name, spread(layer.weight.detach(), G, K), weights_of(layer)))
    rank_one = seeded(partial(RankOne, C, C, K), seed)
    results.append(Kind("rank one", rank_one.kernel().detach(), weights_of(rank_one)))
    both = seeded(partial(DepthwiseSeparable, C, C, K), seed)
    depth, point = (p.detach() for p in both.parameters())  # (C, 1, K, K), (C, C, 1, 1)
    results.append(Kind("depthwise, 1×1", point * depth.transpose(0, 1), weights_of(both)))
    return results


def weights_of(layer: nn.Module) -> int:
    return sum(p.numel() for p in layer.parameters())
