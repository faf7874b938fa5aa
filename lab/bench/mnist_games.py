"""Games on MNIST at a small budget, judged by `cnn-mnist`: the means of its last maps, and its classes.

connected    a DCGAN and one whose G is fully connected, of as many weights: distance, precision, classes
classes      conditional GANs: digits that are named as asked, and how unlike those of one class are
enlarged     7 × 7 → 28 × 28 by the shipped network: squared error alone, and the game; bicubic beside them
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from datamodules.mnist import MNIST
from lab import weights
from lab.bench.claims import LARGER, ablated_mnist
from lab.bench.digit_games import of_seeds
from lab.bench.games import features
from lab.bench.timing import Row
from lab.lenses import recipe
from lab.lenses.games import take
from lab.seeding import seeded
from modules.adversarial import metrics
from modules.adversarial.conditional import ConditionalGAN
from modules.adversarial.super_resolution import bicubic, downsample, psnr
from modules.adversarial.translation import gradient_energy

CONDITIONS = ("channel", "auxiliary")  # cGAN and ACGAN


def measure(quick: bool = False) -> list[Row]:
    """One row a case; mean ± standard deviation over seeds."""
    sizes: dict[str, int] = {"seeds": 1, "batches": 1, "count": 70} if quick else {"seeds": 2}
    lines = (recipe.PLAIN, recipe.CONNECTED)
    return [*ablated_mnist(lines=lines, **sizes), *conditional(**sizes), *enlarged(70 if quick else 2000)]


def conditional(seeds: int = 2, batches: int = 300, count: int = 2000) -> Iterator[Row]:
    """Share of digits that `cnn-mnist` names as asked; the mean distance of two digits of a class over that
    of two test digits."""
    data, network = MNIST(binarize="none"), weights.load("cnn-mnist")
    data.setup("fit")
    data.setup("test")
    x, y = data.train_set[torch.arange(10 * count)]
    held, of_held = data.test_set[torch.arange(count)]
    apart = unlike(held, of_held)
    wanted = torch.arange(count) % 10
    for condition in CONDITIONS:
        right, spread = [], []
        for seed in range(seeds):
            settings: dict[str, Any] = LARGER | {"condition": condition, "ema": 0.0}
            model = seeded(partial(ConditionalGAN, **settings), seed)
            model.train()
            players = model.players()
            optimizers: dict[str, torch.optim.Optimizer] = {
                name: torch.optim.Adam(parameters, recipe.RATE, betas=(0.5, 0.999), fused=True)
                for name, parameters in players.items()
            }
            generator = torch.Generator().manual_seed(seed)
            for _ in range(batches):
                i = torch.randint(len(x), (recipe.BATCH,), generator=generator)
                pictures, given = model.unpack((x[i], y[i]))
                take(model.updates(pictures, generator, **given), players, optimizers)
            with torch.no_grad():
                result = model.eval().sample(count, generator=torch.Generator().manual_seed(0)).clamp(0, 1)
            right.append(float((features(network, result)[0].argmax(1) == wanted).double().mean()))
            spread.append(unlike(result, wanted) / apart)
        (mean, text), (_, far) = of_seeds(right, 3), of_seeds(spread)
        note = f"{text}; two of a class {far} as far apart as test digits; {batches} batches, {seeds} seeds"
        yield Row("mnist-games", f"classes: {condition}", mean, unit="as asked", note=note)


def unlike(x: Tensor, y: Tensor) -> float:
    """Mean distance of two pictures of one class, over classes, of (N, 1, H, W) and labels."""
    each = [torch.pdist(x[y == k].flatten(1)).mean() for k in y.unique()]
    return float(torch.stack(each).mean())


@torch.no_grad()
def enlarged(count: int = 2000) -> Iterator[Row]:
    """PSNR, edges beside those of the digits, and distance, of three ways to enlarge test digits."""
    data, network = MNIST(binarize="none"), weights.load("cnn-mnist")
    data.setup("test")
    x = data.test_set[torch.arange(count)][0]
    model: Any = weights.load("srgan-mnist")
    low, real = downsample(x, model.factor), features(network, x)[1]
    edges = float(gradient_energy(x).mean())
    parts = low.split(100)
    ways = {
        "bicubic": bicubic(low, model.factor),
        "squared error": torch.cat([model.enlarge(part, 0.0) for part in parts]),
        "game": torch.cat([model.enlarge(part) for part in parts]),
    }
    for name, result in ways.items():
        sharp = float(gradient_energy(result).mean()) / edges
        far = float(metrics.frechet(features(network, result)[1], real))
        note = f"edges {sharp:.3f} of the digits', distance {far:.3f}; {count:,} test digits, shipped weights"
        yield Row("mnist-games", f"enlarged: {name}", float(psnr(result, x).mean()), unit="dB", note=note)
