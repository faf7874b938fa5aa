"""NADE: the running state against taking every state anew, and the price of its likelihood."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lab.bench.timing import Row, interleaved, paired_row
from modules.autoregressive.base import Autoregressive
from modules.autoregressive.made import MADE
from modules.autoregressive.nade import NADE
from modules.noise import uniform

HIDDEN = 500  # the published width
INK = 0.13  # share of ones in binarized MNIST


def measure(quick: bool = False) -> list[Row]:
    """Sampling against three ways without a running state; log_prob against MADE."""
    n, hidden, images, digits = (16, 8, 4, 32) if quick else (784, HIDDEN, 64, 1000)
    torch.manual_seed(0)
    model = NADE(event_shape=(n,), hidden=hidden).eval()
    torch.nn.init.constant_(model.bias, math.log(INK / (1 - INK)))  # pictures with as much ink as digits
    modules = by_modules(model)
    # by count the first costs 196 times as many multiply-adds; each of our 784 steps is so short that
    # calling its operations takes longer than their arithmetic
    peers = {
        "each state anew, of the pixels before it": lambda: recomputed(model, images),
        "a loop over a module per pixel": lambda: modules(images),
        "all conditionals anew for each pixel": lambda: passes(model, images),
    }
    for peer in peers.values():
        if not torch.equal(model.sample(images, generator=seeded()), peer()):
            raise AssertionError("two ways of sampling draw different pictures: nothing to compare.")
    case = f"{images} images of {n} pixels, {hidden} units"
    rows = [
        faster(f"sampling {case}", model, images, peer, target, f"peer: {how}", repeats)
        for (how, peer), target, repeats in zip(
            peers.items(), ("≥ 3.5", "≥ 3.5", ""), (1, 1, 1) if quick else (3, 3, 1), strict=True
        )
    ]

    result = MADE(event_shape=(n,), hidden=[hidden]).eval()
    x = (torch.rand(digits, n, generator=seeded()) < INK).float()

    def log_prob(model: Autoregressive) -> Callable[[], Tensor]:
        return torch.no_grad()(lambda: torch.cat([model.log_prob(part) for part in x.split(1000)]))

    pairs = interleaved(log_prob(model), log_prob(result), 3 if quick else 9, warmup=1)
    rows.append(
        paired_row("nade", f"log_prob of {digits:,} digits, {n}-{hidden}-{n}", pairs, "≤ 3", "peer: MADE")
    )
    return rows


def faster(
    case: str, model: NADE, images: int, peer: Callable[[], Tensor], target: str, note: str, repeats: int
) -> Row:
    """A row whose ratio is peer / ours: how many times faster ours is."""
    pairs = interleaved(lambda: model.sample(images, generator=seeded()), peer, repeats, warmup=0)
    row = paired_row("nade", case, pairs)
    return Row(row.bench, row.case, row.ours, row.peer, 1 / row.ratio, target, note)


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@torch.no_grad()
def passes(model: NADE, images: int) -> Tensor:
    """Sampling by a full pass for every pixel, as a model without a running state must."""
    x, noise = start(model, images)
    for i, logits in enumerate(Autoregressive._sequential_logits(model, x, model.order, 0, 0)):
        x[:, i] = model.sample_conditional(logits, noise[:, i], 1.0)
    return x


@torch.no_grad()
def recomputed(model: NADE, images: int) -> Tensor:
    """Sampling as the definition reads: the state of every pixel summed over all pixels before it."""
    x, noise = start(model, images)
    for i in range(model.n):
        a = model.start + x[:, :i] @ model.weight[:i, 0]
        logit = F.linear(a.sigmoid(), model.readout[i], model.bias[i])[:, 0]
        x[:, i] = model.sample_conditional(logit, noise[:, i], 1.0)
    return x


class Pixel(nn.Module):
    """One conditional as a module of its own, as a list of small networks would have it; weights shared."""

    def __init__(self, model: NADE, i: int) -> None:
        super().__init__()
        self.hidden, self.out = nn.Linear(1, 1, device="meta"), nn.Linear(1, 1, device="meta")
        weight, start = model.weight[:i, 0].t(), model.start
        self.hidden.weight, self.hidden.bias = (nn.Parameter(t, requires_grad=False) for t in (weight, start))
        readout, bias = model.readout[i], model.bias[i]
        self.out.weight, self.out.bias = (nn.Parameter(t, requires_grad=False) for t in (readout, bias))
        self.activation = nn.Sigmoid()

    def forward(self, past: Tensor) -> Tensor:
        return self.out(self.activation(self.hidden(past)))[:, 0]


def by_modules(model: NADE) -> Callable[[int], Tensor]:
    """Sampling by a loop over `Pixel` modules."""
    pixels = nn.ModuleList([Pixel(model, i) for i in range(model.n)])

    @torch.no_grad()
    def draw(images: int) -> Tensor:
        x, noise = start(model, images)
        for i, pixel in enumerate(pixels):
            x[:, i] = model.sample_conditional(pixel(x[:, :i]), noise[:, i], 1.0)
        return x

    return draw


def start(model: NADE, images: int) -> tuple[Tensor, Tensor]:
    """Empty pictures (B, n), and the noise that `sample` would draw."""
    x = torch.zeros(images, model.n)
    return x, uniform(images, model.n, like=x, generator=seeded())
