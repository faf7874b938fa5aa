"""Measure what a denoiser of the small digits owes to its parts: the average of its weights, attention,
skips.

One protocol: a U-Net of 16 and 32 maps, cosine schedule, 500 steps of 64 digits, Adam at a constant rate.
Told are the squared error of ε̂ on held-out digits, the same times and noise for all, and the Fréchet distance
of 500 samples in 20 steps of DDIM, in the 64 means of the last maps of `cnn-digits`; digits of training are
its floor.
"""

from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn

from lab import weights
from lab.bench.games import features
from lab.bench.timing import Row
from lab.lenses import recipe
from lab.seeding import seeded
from modules.adversarial import metrics
from modules.convolution.unet import Level
from modules.diffusion.ddpm import ImageDDPM

WHOLE, PARTS = "whole", ("whole", "no attention", "no skips")
BATCH, RATE, DECAY, SAMPLER_STEPS = 64, 2e-3, 0.99, 20


def measure(quick: bool = False) -> list[Row]:
    """One row a case: mean squared error of ε̂ over seeds, and the distance in the note."""
    seeds, steps, count = (1, 2, 40) if quick else (2, 500, 500)
    known, held = recipe.digits()
    network = weights.load("cnn-digits")
    of_held = features(network, held[:count])[1]
    results: dict[str, list[tuple[float, float]]] = {}
    for seed in range(seeds):
        for part in PARTS:
            for name, model in trained(part, known, steps, seed):
                samples = model.sample(count, steps=SAMPLER_STEPS, generator=torch.Generator().manual_seed(0))
                distance = float(metrics.frechet(of_held, features(network, samples)[1]))
                results.setdefault(name, []).append((error(model, held), distance))
    rows = []
    for name, pairs in results.items():
        (mse, far), (spread, wide) = (
            each(torch.tensor(pairs).double()).tolist() for each in (mean, deviation)
        )
        note = f"± {spread:.4f}; FD of cnn-digits {far:.3f} ± {wide:.3f}, {seeds} seeds"
        rows.append(Row("parts", f"digits: {name}", mse, unit="a pixel", note=note))
    floor = metrics.frechet(of_held, features(network, known[:count])[1])
    return [*rows, Row("parts", "digits: floor of the distance", float(floor), unit="FD")]


def mean(x: Tensor) -> Tensor:
    return x.mean(0)


def deviation(x: Tensor) -> Tensor:
    return x.std(0, correction=int(len(x) > 1))


def no_skip(name: str, h: Tensor) -> Tensor:
    """Zeros in place of what goes on through a skip of a U-Net."""
    return torch.zeros_like(h) if name.startswith("skip") else h


def built(part: str) -> ImageDDPM:
    """A denoiser without a part; what is left out of the middle is only the look from place to place."""
    model = ImageDDPM((1, 8, 8), widths=(16, 32), noise_schedule="cosine", embedding=64)
    net: Any = model.net
    if part == "no attention":
        cast(Level, net.unet.middle[0]).attend = None
    elif part == "no skips":
        net.forward = partial(net.forward, hook=no_skip)
    return model


def trained(part: str, x: Tensor, steps: int, seed: int) -> Iterator[tuple[str, ImageDDPM]]:
    """The model with the average of its weights; of the whole one, with its last weights too."""
    model = seeded(partial(built, part), seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    generator = torch.Generator().manual_seed(seed)
    average = deepcopy(model.state_dict())
    for step in range(1, steps + 1):
        batch = model.preprocess(x[torch.randint(len(x), (BATCH,), generator=generator)])
        t = model.sample_timesteps(BATCH, "train", generator)
        optimizer.zero_grad()
        loss, _ = model.losses(batch, t, torch.randn(batch.shape, generator=generator))
        loss.mean().backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        for name, value in model.state_dict().items():
            if value.is_floating_point():
                average[name].lerp_(value, 1 - min(DECAY, (1 + step) / (10 + step)))
    model.eval()
    if part == WHOLE:
        yield "whole, last weights", model
    model.load_state_dict(average)
    yield f"{part}, averaged weights", model


@torch.no_grad()
def error(model: ImageDDPM, x: Tensor) -> float:
    """Mean squared error of ε̂ a pixel on pictures (N, 1, 8, 8), at evenly spread times."""
    generator = torch.Generator().manual_seed(1)
    t = model.sample_timesteps(len(x), "test", generator)
    return float(model.losses(model.preprocess(x), t, torch.randn(x.shape, generator=generator))[1].mean())
