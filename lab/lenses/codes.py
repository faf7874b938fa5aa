"""Meanings that the codes of an InfoGAN have come to: beside classes that it never saw, slant and thickness.

A code is given the class that fits it best, one to one, and errs where the picture is of another. Two ways to
ask: pictures made of the code, as a classifier names them; and real digits, whose code Q reads, as labelled.

    slant       −Σ ink·dx·dy / Σ ink·dy² about a picture's centre, columns to the right a row upwards
    thickness   2 Σ ink / Σ ‖∇ink‖, pixels: a stroke of width t has t of ink and two edges a unit of length

Shapes: pictures (N, H, W); codes and classes (N,).
"""

from typing import Any

import torch
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from modules.adversarial.infogan import InfoGAN


def slants(x: Tensor) -> Tensor:
    """Slant of pictures (N, H, W): 1 leans to the right by as much as it is high; 0 stands. (N,)"""
    share = x / x.sum((1, 2), keepdim=True).clamp(min=1e-6)
    column, row = torch.arange(x.shape[2]).to(x), torch.arange(x.shape[1]).to(x)[:, None]
    dx = column - (share * column).sum((1, 2), keepdim=True)
    dy = row - (share * row).sum((1, 2), keepdim=True)
    spread = (share * dy.square()).sum((1, 2)).clamp(min=1e-6)
    return -(share * dx * dy).sum((1, 2)) / spread


def thicknesses(x: Tensor) -> Tensor:
    """Thickness of the strokes of pictures (N, H, W), pixels; nothing is drawn beyond the edge. (N,)"""
    padded = F.pad(x, (1, 1, 1, 1))
    down, right = padded[:, 1:, 1:] - padded[:, :-1, 1:], padded[:, 1:, 1:] - padded[:, 1:, :-1]
    return 2 * x.sum((1, 2)) / (down.square() + right.square()).sqrt().sum((1, 2)).clamp(min=1e-6)


def table(asked: Tensor, answer: Tensor, classes: int = 10) -> Tensor:
    """Counts (classes, classes) of what was asked × what is named."""
    return (classes * asked + answer).bincount(minlength=classes**2).view(classes, classes)


def fitting(counts: Tensor) -> Tensor:
    """The class of each code, one to one, so that most pictures are named right: counts (C, C) -> (C,)."""
    return torch.from_numpy(linear_sum_assignment(-counts.numpy())[1])


def error(codes: Tensor, classes: Tensor) -> float:
    """Share of pictures that are of another class than their code's."""
    counts = table(codes, classes)
    return 1 - float(counts.gather(1, fitting(counts)[:, None]).sum() / counts.sum())


def code_of(model: InfoGAN, z: Tensor) -> Tensor:
    """The discrete code in z (B, K + C + n): (B,)."""
    return z[:, model.latent_dim : model.latent_dim + model.categories].argmax(1)


@torch.no_grad()
def error_of_samples(model: InfoGAN, network: Any, count: int = 2000, seed: int = 0) -> float:
    """`error` of pictures made of the codes, as a classifier names them."""
    z = model.noise(count, torch.Generator().manual_seed(seed))
    named = torch.cat([network.predict(model.decode(part)).argmax(1) for part in z.split(500)])
    return error(code_of(model, z), named)


@torch.no_grad()
def error_of_read(model: InfoGAN, x: Tensor, y: Tensor) -> float:
    """`error` of the codes that Q reads from real pictures x (N, 1, H, W) in [0, 1], of classes y (N,)."""
    return error(torch.cat([model.infer_codes(2 * part - 1)[0].argmax(1) for part in x.split(500)]), y)


@torch.no_grad()
def meanings(model: InfoGAN, count: int = 2000, seed: int = 0) -> Tensor:
    """Correlations of the numbers (rows) with slant and thickness (columns) of what is made: (n, 2)."""
    z = model.noise(count, torch.Generator().manual_seed(seed))
    x = torch.cat([model.decode(part)[:, 0] for part in z.split(500)])
    numbers = z[:, z.shape[1] - model.continuous :].T
    return torch.corrcoef(torch.cat([numbers, slants(x)[None], thicknesses(x)[None]]))[
        : model.continuous, -2:
    ]
