"""Games on small modes: how many does each loss, each failing preset and each cure reach, over seeds.

One protocol for all: two layers of 128 units, Adam at 10⁻³ with β₁ = ½, 256 examples a batch, no averaging.
A mode is reached that has 20 of 2,500 samples within three deviations; quality is the share of all samples
that are so near to some mode.

Then metrics of generators of MNIST: 5,000 samples beside 5,000 training digits (as many of each
class, where one is asked for), by the 64 means of the last maps of cnn-mnist (right of 99.4 % of the test
digits); the metrics of test digits are the floor.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from datamodules import points
from datamodules.mnist import MNIST
from lab import weights
from lab.bench.timing import Row
from lab.lenses.games import CURES, FAILURES, LOSSES, SLOW, playing
from modules.adversarial import metrics
from modules.adversarial.metrics import ModeCoverage

DATA = ("ring8", "grid25")
# on the ring alone: what makes the plain game fail, and what is said to help
PRESETS: dict[str, dict[str, Any]] = FAILURES | {
    f"5 turns of G, {name}": SLOW | cure for name, cure in CURES.items()
}


def play(data: Any, settings: dict[str, Any], batches: int, seed: int) -> dict[str, float]:
    """Train one game; modes, quality and KL of 2,500 samples."""
    x = points.sample(data, 20_000, seed=1)[0]
    ((_, model, generator),) = deque(playing(x, settings, batches, seed, batches), maxlen=1)
    result = model.eval().sample(2500, generator=generator)
    centres, sd = points.MIXTURES[data]
    results = {}
    for measure in ("modes", "quality", "kl"):
        metric = ModeCoverage(centres.tolist(), sd, measure)  # type: ignore[arg-type]
        metric.update(result)
        results[measure] = metric.compute().item()
    return results


def measure(quick: bool = False) -> list[Row]:
    """One row a case: modes on average, and the rest as mean ± standard deviation over seeds."""
    seeds, batches = (2, 3) if quick else (5, 2000)
    rows = []
    for data in DATA:
        cases = LOSSES | (PRESETS if data == "ring8" else {})
        for name, settings in cases.items():
            runs = [play(data, settings, batches, seed) for seed in range(seeds)]
            values = {key: torch.tensor([run[key] for run in runs]) for key in runs[0]}
            text = ", ".join(f"{key} {v.mean():.2f} ± {v.std():.2f}" for key, v in values.items())
            rows.append(
                Row("games", f"{data}: {name}", values["modes"].mean().item(), unit="modes", note=text)
            )
    return rows if quick else rows + judged()


SIDE = MNIST.native_size
SEEDS = 4  # of what a game draws
# name of a generator of MNIST -> knobs of its samples
JUDGED: list[tuple[str, dict[str, Any]]] = [
    ("dcgan-mnist", {}),
    ("progressive-mnist", {}),
    *(("ddpm-mnist", {"steps": steps, "eta": eta}) for steps in (10, 20, 50) for eta in (0.0, 1.0)),
]


def judged(count: int = 5000, generators: Sequence[tuple[str, dict[str, Any]]] = JUDGED) -> list[Row]:
    """Precision, recall, Fréchet distance and the rarest and commonest class of each generator's samples."""
    data, network = MNIST(binarize="none"), weights.load("cnn-mnist")
    data.setup("fit")
    data.setup("test")
    first = torch.arange(count)
    train, y = data.train_set[first]
    known, classes = features(network, train)[1], y.bincount(minlength=10).tolist()
    seen = {"floor": [data.test_set[first][0]]}
    for name, knobs in generators:
        text = ", ".join(f"{knob} {value:g}" for knob, value in knobs.items())
        model, seeds = weights.load(name), 1 if knobs else SEEDS  # a chain of S steps is drawn once
        seen[f"{name} {text}".strip()] = [samples(model, classes, knobs, seed) for seed in range(seeds)]
    rows = []
    for name, draws in seen.items():
        looks = [features(network, pictures) for pictures in draws]
        both = torch.tensor([metrics.precision_recall(known, result, 3) for _, result in looks])
        logits, result = looks[0]
        shares = logits.argmax(1).bincount(minlength=10) / count
        spread = [f" ± {s:.3f}" for s in both.std(0).tolist()] if len(draws) > 1 else ["", ""]
        precision, recall = both.mean(0).tolist()
        note = (
            f"precision {precision:.3f}{spread[0]}, recall {recall:.3f}{spread[1]}, {len(draws)} draws; "
            f"FD of cnn-mnist {metrics.frechet(known, result):.3f}, "
            f"classes {shares.min():.1%} to {shares.max():.1%} of the first"
        )
        rows.append(Row("games", f"mnist: {name}", precision, unit="precision", note=note))
    return rows


@torch.no_grad()
def samples(model: Any, classes: Sequence[int], knobs: dict[str, Any], seed: int = 0) -> Tensor:
    """Pictures (N, 1, 28, 28) of one seed: the middle of larger ones, whose border is black.

    Args:
        classes: how many of each, N in all; a model without classes makes as many as it likes.
    """
    generator = torch.Generator().manual_seed(seed)
    if getattr(model, "num_classes", 0):
        parts = [(count, {"y": y}) for y, count in enumerate(classes) if count]
    else:
        parts = [(len(part), {}) for part in torch.arange(sum(classes)).split(1000)]
    result = torch.cat([model.sample(count, generator=generator, **given, **knobs) for count, given in parts])
    border = (result.shape[-1] - SIDE) // 2
    return result[..., border : border + SIDE, border : border + SIDE]


@torch.no_grad()
def features(network: Any, pictures: Tensor) -> tuple[Tensor, Tensor]:
    """Logits (N, 10) and means of the last maps (N, 64) of a classifier."""
    flatten = next(i for i, layer in enumerate(network.layers) if isinstance(layer, nn.Flatten))
    parts = [network.layers[:flatten](part) for part in pictures.split(500)]
    return torch.cat([network.layers[flatten:](m) for m in parts]), torch.cat([m.mean((2, 3)) for m in parts])
