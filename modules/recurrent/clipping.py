"""Clipping of gradients, against their explosion; a gradient that vanishes stays so.

    by norm     g ← g · min(1, τ / ‖g‖),    ‖g‖² = Σ over all parameters: the direction stays
    by value    g_i ← min(max(g_i, −τ), τ):  the direction turns

The norm is one over all parameters. A norm for each tensor would turn the direction too.
The trainer's `gradient_clip_val` and `gradient_clip_algorithm` do the same in training (torch divides by
‖g‖ + 10⁻⁶).

References: Pascanu, Mikolov, Bengio 2013, arXiv:1211.5063; Mikolov 2012 (by value); [GM] 1.6.2; [LLM] 1.17.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from modules.base import require


def global_norm(gradients: Sequence[Tensor]) -> Tensor:
    """Euclidean norm of all gradients as one vector, a scalar."""
    return torch.stack([g.square().sum() for g in gradients]).sum().sqrt()


def clip_by_norm(gradients: Sequence[Tensor], threshold: float) -> list[Tensor]:
    """Gradients of the same direction, whose global norm is at most `threshold`, τ > 0.

    Raises:
        ValueError: the threshold is below 0.
    """
    require(0, threshold=threshold)
    norm = global_norm(gradients)
    scale = torch.where(norm > threshold, threshold / norm, 1.0)
    return [g * scale for g in gradients]


def clip_by_value(gradients: Sequence[Tensor], threshold: float) -> list[Tensor]:
    """Gradients of which no entry is beyond ±`threshold`.

    Raises:
        ValueError: the threshold is below 0.
    """
    require(0, threshold=threshold)
    return [g.clamp(-threshold, threshold) for g in gradients]
