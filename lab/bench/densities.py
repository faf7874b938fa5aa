"""Flows as densities: kinds of layers by depth, tables of measurements, levels and noise of small pictures.

    depth     additive, affine and spline couplings of equal depth on two shapes in the plane: nats above the
              entropy of the distribution, which is known
    tables    breast cancer, wine and irises of scikit-learn, standardized: −log p of held-out rows by the
              fitted Gaussian, by affine and spline couplings and by MAF, stopped by validation
    pictures  Glow of the 8 × 8 digits with one scale and with two, with uniform and with variational noise,
              at one budget; bits a dimension of test digits by 8 draws of the noise

Every number is a mean ± standard deviation over seeds; a seed is that of the weights, the batches and, of a
table, the split.
"""

import math
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any

import torch
from sklearn import datasets
from torch import Tensor

from datamodules import points
from datamodules.digits import Digits
from lab.bench.denoising import trained
from lab.bench.digit_games import of_seeds
from lab.bench.timing import Row
from lab.seeding import seeded
from modules.flow.coupling import NICE, NSF, RealNVP
from modules.flow.dequantize import bits_per_dim
from modules.flow.flow import Flow
from modules.flow.glow import Glow
from modules.flow.maf import MAF

SEEDS = 3
SHAPES: tuple[points.Shape, ...] = ("moons", "ring8")
COUPLINGS: dict[str, Callable[..., Flow]] = {"additive": NICE, "affine": RealNVP, "spline": NSF}
DEPTHS = (2, 4, 8)
TABLES: dict[str, Callable[..., tuple[Any, Any]]] = {
    "breast cancer": datasets.load_breast_cancer, "wine": datasets.load_wine, "irises": datasets.load_iris,
}  # fmt: skip
OF_TABLES: dict[str, Callable[[int], Flow]] = {
    "affine couplings": lambda d: RealNVP((d,), layers=6, hidden=[32], permute=True),
    "spline couplings": lambda d: NSF((d,), layers=4, hidden=[32], permute=True),
    "MAF": lambda d: MAF((d,), layers=3, hidden=[64]),
}
# of equal cost for the smaller pictures: six steps a level, or twelve at one
GLOWS: dict[str, dict[str, Any]] = {
    "two scales, uniform noise": {"levels": 2, "steps": 6},
    "one scale, uniform noise": {"levels": 1, "steps": 12},
    "two scales, variational noise": {"levels": 2, "steps": 6, "dequantize": "variational"},
}


def measure(quick: bool = False) -> Iterator[Row]:
    """All three."""
    yield from by_depth(quick)
    yield from of_tables(quick)
    yield from of_pictures(quick)


def by_depth(quick: bool) -> Iterator[Row]:
    """Nats above the entropy, of 5,000 points whose own −log p is the entropy's estimate."""
    seeds, steps, count = (1, 2, 50) if quick else (SEEDS, 1500, 5000)
    for shape in SHAPES[: 1 if quick else None]:
        x, test = points.sample(shape, 50_000, seed=0)[0], points.sample(shape, count, seed=1)[0]
        least = -float(points.log_density(shape, test).mean())
        for kind, build in COUPLINGS.items():
            for layers in DEPTHS[: 1 if quick else None]:
                gaps = []
                for seed in range(seeds):
                    model: Flow = seeded(partial(build, layers=layers), seed)
                    trained(model, x, steps, batch=256, rate=2e-3, seed=seed)
                    with torch.no_grad():
                        gaps.append(-float(model.log_prob(test).mean()) - least)
                mean, text = of_seeds(gaps, 3)
                note = f"{text}, {seeds} seeds, entropy {least:.3f}"
                yield Row("densities", f"{shape}: {kind}, {layers} layers", mean, unit="nats", note=note)


def of_tables(quick: bool) -> Iterator[Row]:
    """−log p of the held-out 20 % of the rows; another 20 % say when to stop."""
    seeds, steps = (1, 4) if quick else (SEEDS, 1500)
    for name, load in list(TABLES.items())[: 1 if quick else None]:
        x = torch.as_tensor(load(return_X_y=True)[0], dtype=torch.float32)
        splits = [standardized(x, seed) for seed in range(seeds)]
        cases: dict[str, list[float]] = {"Gaussian": [gaussian(train, test) for train, _, test in splits]}
        for kind, build in OF_TABLES.items():
            cases[kind] = [
                stopped(seeded(partial(build, x.shape[1]), seed), split, steps, seed)
                for seed, split in enumerate(splits)
            ]
        for kind, values in cases.items():
            mean, text = of_seeds(values)
            note = f"{text}, {seeds} splits, {x.shape[1]} columns, {len(splits[0][0])} rows to fit"
            yield Row("densities", f"{name}: {kind}", mean, unit="nats", note=note)


def standardized(x: Tensor, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Rows (N, D) for training, validation and test, 60, 20 and 20 %, in units of the training rows'."""
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    first, second = round(0.6 * len(x)), round(0.8 * len(x))
    train = x[order[:first]]
    x = (x[order] - train.mean(0)) / train.std(0)
    return x[:first], x[first:second], x[second:]


def gaussian(train: Tensor, test: Tensor) -> float:
    """−log p of test rows by the Gaussian of greatest likelihood, with its whole covariance."""
    x = train.double()
    covariance = torch.cov(x.T, correction=0)
    fitted = torch.distributions.MultivariateNormal(x.mean(0), covariance)
    return -float(fitted.log_prob(test.double()).mean())


def stopped(model: Flow, split: tuple[Tensor, Tensor, Tensor], steps: int, seed: int) -> float:
    """−log p of test rows after the step, of each fiftieth, that is best on validation."""
    train, held, test = split
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
    generator = torch.Generator().manual_seed(seed)
    best, kept = math.inf, deepcopy(model.state_dict())
    for step in range(steps + 1):
        if step % 50 == 0:
            with torch.no_grad():
                result = -float(model.log_prob(held).mean())
            if result < best:
                best, kept = result, deepcopy(model.state_dict())
        batch = train[torch.randint(len(train), (128,), generator=generator)]
        optimizer.zero_grad()
        (-model.log_prob(batch).mean()).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.load_state_dict(kept)
    with torch.no_grad():
        return -float(model.log_prob(test).mean())


def of_pictures(quick: bool) -> Iterator[Row]:
    """Bits a dimension of test digits, of the averaged weights after 600 batches of 64."""
    seeds, steps = (1, 2) if quick else (SEEDS, 600)
    data = Digits(binarize="levels")
    data.setup()
    x, test = (s[torch.arange(len(s))][0].float() for s in (data.train_set, data.test_set))
    for case, settings in GLOWS.items():
        bits = []
        for seed in range(seeds):
            model = seeded(partial(Glow, width=32, num_categories=17, margins=True, **settings), seed)
            trained(model, x, steps, batch=64, rate=2e-3, decay=0.98, seed=seed)
            with torch.no_grad():
                bound = model.iw_elbo(test, 8, generator=torch.Generator().manual_seed(0))
            bits.append(float(bits_per_dim(bound, model.event_dim).mean()))
        mean, text = of_seeds(bits, 3)
        weights = sum(p.numel() for p in model.parameters())
        note = f"{text}, {seeds} seeds, {weights:,} parameters"
        yield Row("densities", f"digits: {case}", mean, unit="bits a dimension", note=note)
