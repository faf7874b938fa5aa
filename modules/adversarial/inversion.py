r"""GAN inversion: which code generates this picture?

    by optimization     min over c of mean (g(c) − x)² + weight · ‖c − c̄‖²/K, by Adam from a start
    by an encoder       c = (x, 1) V, fitted once by least squares to codes and what g makes of them
    hybrid              the encoder's answer is the start
    pivotal tuning      then the generator moves: min over θ of mean (g_θ(c) − x)² + λ mean (g_θ(c') − g(c'))²
                        at the code that was found; c' are random codes, whose pictures should stay (locality)

A code is whatever `decode` takes: z, one style w for all layers (W), or one for each (W+). The larger the
space, the nearer it comes, and the farther the code may lie from all that was drawn in training. What no
code makes keeps its distance from the range of g, however long one looks; only tuning takes that away.

For a linear g(z) = A z + b the answer is A⁺ (x − b).

Shapes: codes (B, ...), pictures (B, ...), losses (steps + 1, B).

References: Zhu et al. 2016 (iGAN, hybrid), arXiv:1609.03552; Perarnau et al. 2016 (IcGAN, an encoder fitted
afterwards), arXiv:1611.06355; Abdal et al. 2019 (W+), arXiv:1904.03189; Roich et al. 2021 (pivotal tuning),
arXiv:2106.05744; [UDL] §15 notes.
"""

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from modules.base import require

Decode = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class InversionStep:
    """State of the search after some steps: code (B, ...), its picture, and mean squared errors (B,)."""

    step: int
    code: Tensor
    picture: Tensor
    error: Tensor


def mean_squared_error(picture: Tensor, x: Tensor) -> Tensor:
    """Mean squared error of each picture, (B,)."""
    return (picture - x).square().flatten(1).mean(1)


def cosine_rate(step: int, steps: int, rate: float) -> float:
    """Adam's learning rate: half a cosine down to 0."""
    return rate * 0.5 * (1 + math.cos(math.pi * step / steps))


def invert(
    decode: Decode, x: Tensor, start: Tensor, steps: int = 200, rate: float = 0.1, weight: float = 0.0,
    mean: Tensor | None = None,
) -> Iterator[InversionStep]:  # fmt: skip
    """The search, at its start and after each step; pictures of a batch are looked for side by side.

    Args:
        decode: codes -> pictures.
        start: codes (B, ...) to start at.
        weight: of the codes' mean squared distance from `mean` (without one, from 0).

    Raises:
        ValueError: a setting is out of range, or there is not one start for each picture.
    """
    require(1, steps=steps)
    require(0, rate=rate, weight=weight)
    if len(start) != len(x):
        raise ValueError(f"There are {len(start)} starts for {len(x)} pictures: give one for each.")
    if not x.isfinite().all():
        raise ValueError("The picture holds numbers that are not finite: give it without them.")
    code = start.detach().clone().requires_grad_()
    optimizer = torch.optim.Adam([code], rate)
    for step in range(steps + 1):
        with torch.enable_grad():
            picture = decode(code)
            error = mean_squared_error(picture, x)
            distance = (code if mean is None else code - mean).square().flatten(1).mean(1)
            loss = (error + weight * distance).sum()
        yield InversionStep(step, code.detach().clone(), picture.detach(), error.detach())
        if step == steps:
            return
        optimizer.param_groups[0]["lr"] = cosine_rate(step, steps, rate)
        (code.grad,) = torch.autograd.grad(loss, code)
        optimizer.step()


class LinearEncoder:
    """x -> code, linear: ridge regression of codes (N, K) on pictures (N, ...) that were made of them."""

    def __init__(self, pictures: Tensor, codes: Tensor, ridge: float = 1e-2) -> None:
        """
        Raises:
            ValueError: `ridge` is negative, or codes and pictures are not as many.
        """
        require(0, ridge=ridge)
        if len(pictures) != len(codes):
            raise ValueError(f"There are {len(codes)} codes for {len(pictures)} pictures.")
        x, c = pictures.flatten(1).double(), codes.double()
        self.mean_picture, self.mean_code = x.mean(0), c.mean(0)
        centred = x - self.mean_picture
        gram = centred.T @ centred / len(x) + ridge * torch.eye(x.shape[1], dtype=x.dtype)
        self.weight = torch.linalg.solve(gram, centred.T @ (c - self.mean_code) / len(x))  # (D, K)

    def __call__(self, x: Tensor) -> Tensor:
        """(B, ...) -> (B, K)."""
        return ((x.flatten(1).double() - self.mean_picture) @ self.weight + self.mean_code).to(x.dtype)


def tune(
    network: nn.Module, run: Callable[[Any, Tensor], Tensor], x: Tensor, pivot: Tensor, others: Tensor,
    steps: int = 100, rate: float = 2e-3, locality: float = 1.0,
) -> Iterator[tuple[nn.Module, float, float]]:  # fmt: skip
    """Pivotal tuning of a copy of `network`: the copy, its error at the pivot, and how far others have moved.

    Args:
        network: the generator; it stays as it is.
        run: a network and codes -> pictures.
        x: (1, ...) the picture; pivot: (1, ...) its code.
        others: (N, ...) codes whose pictures should stay.
        locality: λ.

    Raises:
        ValueError: a setting is out of range.
    """
    require(1, steps=steps)
    require(0, rate=rate, locality=locality)
    tuned = copy.deepcopy(network).requires_grad_(True)
    optimizer = torch.optim.Adam(tuned.parameters(), rate)
    with torch.no_grad():
        before = run(network, others)
    for step in range(steps + 1):
        with torch.enable_grad():
            error = mean_squared_error(run(tuned, pivot), x).mean()
            moved = mean_squared_error(run(tuned, others), before).mean()
        yield tuned, error.item(), moved.item()
        if step == steps:
            return
        optimizer.param_groups[0]["lr"] = cosine_rate(step, steps, rate)
        optimizer.zero_grad()
        (error + locality * moved).backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def code_direction(codes: Tensor, values: Tensor) -> Tensor:
    """Mean change of the code as a quantity of the picture grows by 1: Cov(c, v) / Var(v), (K,).

    The regression of codes (N, K) on values (N,), not of values on codes: that one's gradient leads to
    codes that are never drawn. Of a quantity v = a · c, a · d = 1.

    Raises:
        ValueError: all values are the same.
    """
    c, v = (codes - codes.mean(0)).double(), (values - values.mean()).double()
    if not v.square().sum() > 0:
        raise ValueError("All values are the same: no direction changes them.")
    return ((c * v[:, None]).sum(0) / v.square().sum()).to(codes.dtype)
