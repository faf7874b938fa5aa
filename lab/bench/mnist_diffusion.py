"""Diffusion on MNIST: samples by steps and noise, guidance against diversity, the schedule at one budget.

    steps     `ddpm-mnist` by DDIM: Fréchet distance, precision and recall for each S and η
    guidance  the share of samples that a classifier names as asked, and how far apart those of one class lie,
              for each w; the spread over seeds
    schedule  the network of `ddpm-mnist`, smaller, on the linear and the cosine schedule, of equal length

Distances, precision, recall and spread are those of the means of the last maps of `cnn-mnist`, which is right
of 99.4 % of the test digits. Test digits before the same judges are the floor. What is sampled is as many of
each class, without guidance where none is named.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from datamodules.mnist import MNIST
from lab import weights
from lab.bench.denoising import trained
from lab.bench.digit_games import of_seeds
from lab.bench.games import features
from lab.bench.timing import Row
from lab.seeding import seeded
from modules.adversarial import metrics
from modules.diffusion.ddpm import ImageDDPM

NAME, READER, CLASSES = "ddpm-mnist", "cnn-mnist", 10
WALKS = [(steps, eta) for steps in (5, 10, 20, 50, 100) for eta in (0.0, 0.5, 1.0)]
WEIGHTS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)  # w
SCHEDULES = ("linear", "cosine")
SMALL: dict[str, Any] = {"image_shape": (1, 28, 28), "widths": [16, 32], "patch": 2, "levels": 256}


def measure(quick: bool = False) -> Iterator[Row]:
    """All three."""
    yield from by_steps(quick)
    yield from by_guidance(quick)
    yield from by_schedule(quick)


def looks(pictures: Tensor) -> tuple[Tensor, Tensor]:
    """Logits (N, 10) and features (N, 64) of the classifier."""
    with torch.no_grad():
        return features(weights.load(READER), pictures)


def precision_recall_note(pictures: Tensor, known: Tensor) -> str:
    """Precision and recall beside training digits' features (N, 64)."""
    precision, recall = metrics.precision_recall(known, looks(pictures)[1])
    return f"precision {precision:.3f}, recall {recall:.3f}, {len(pictures):,} samples"


def digits(count: int) -> tuple[Tensor, Tensor]:
    """Training and test digits, (count, 1, 28, 28) each, from 0 to 1."""
    data, first = MNIST(binarize="none"), torch.arange(count)
    data.setup("fit")
    data.setup("test")
    return data.train_set[first][0], data.test_set[first][0]


def by_steps(quick: bool) -> Iterator[Row]:
    """Distance to training digits for each S and η; `ddpm-mnist` has σ of its schedule at η = 1."""
    count = 20 if quick else 1000
    model: Any = weights.load(NAME)
    train, test = digits(count)
    known = looks(train)[1]
    yield distance("steps: test digits", test, known)
    for steps, eta in WALKS[: 1 if quick else None]:
        samples = model.sample(count, steps=steps, eta=eta, generator=torch.Generator().manual_seed(0))
        yield distance(f"steps: S = {steps}, η = {eta:g}", samples, known)


def distance(case: str, pictures: Tensor, known: Tensor) -> Row:
    """A row of the Fréchet distance to features `known`."""
    result = float(metrics.frechet(known, looks(pictures)[1]))
    return Row("mnist", case, result, unit="distance", note=precision_recall_note(pictures, known))


def by_guidance(quick: bool) -> Iterator[Row]:
    """Share named as asked, and the mean distance of two samples of one class, for each w."""
    seeds, each, steps = (1, 2, 2) if quick else (3, 30, 20)
    model: Any = weights.load(NAME)
    y = torch.arange(CLASSES * each) % CLASSES
    _, test = digits(CLASSES * each)
    real, result = looks(test)
    yield Row("mnist", "guidance: test digits", apart(result, real.argmax(1)), unit="apart", note="as read")
    for w in WEIGHTS[: 2 if quick else None]:
        named, spread = [], []
        for seed in range(seeds):
            samples = model.sample(
                len(y), steps=steps, guidance=w, generator=torch.Generator().manual_seed(seed)
            )
            logits, result = looks(samples)
            named.append(float((logits.argmax(1) == y).float().mean()))
            spread.append(apart(result, y))
        mean, text = of_seeds(spread, 3)
        note = f"{text}; named as asked {of_seeds(named, 3)[1]}, S = {steps}, {seeds} seeds of {len(y)}"
        yield Row("mnist", f"guidance: w = {w:g}", mean, unit="apart", note=note)


def apart(result: Tensor, y: Tensor) -> float:
    """Mean distance of two of one class, over the classes with two or more."""
    classes = [c for c in y.unique() if (y == c).sum() > 1]
    return float(torch.stack([torch.pdist(result[y == c]).mean() for c in classes]).mean())


def by_schedule(quick: bool) -> Iterator[Row]:
    """Bound by all terms, and distance of samples in few and in many steps, of each schedule."""
    batches, count, bounded, noise_steps = (2, 20, 2, 50) if quick else (3000, 1000, 50, 1000)
    train, test = digits(count)
    known = looks(train)[1]
    data = MNIST(binarize="none")
    data.setup("fit")
    every = data.train_set[torch.arange(2 * count if quick else 50_000)][0]
    for kind in SCHEDULES:
        model = seeded(
            partial(ImageDDPM, noise_steps=noise_steps, noise_schedule=kind, clip_bound=True, **SMALL), 0
        )
        trained(model, every, batches, batch=64, rate=1e-3, decay=0.999)
        x = model.preprocess(test[:bounded])
        bound = model.bound(x, generator=torch.Generator().manual_seed(0)).total
        bits = bound / (model.event_dim * torch.log(torch.tensor(2.0)))
        error = float(bits.std()) / len(bits) ** 0.5
        note = f"± {error:.3f}, all terms, {bounded} test digits, {batches:,} batches of 64"
        yield Row("mnist", f"schedule: {kind}", float(bits.mean()), unit="bits a dimension", note=note)
        for steps in (10, 20, 50, 250)[: 1 if quick else None]:
            yield distance(
                f"schedule: {kind}, S = {steps}",
                model.sample(count, steps=steps, generator=torch.Generator().manual_seed(0)),
                known,
            )
