"""Gain from shared weights: networks of their own for every pixel (untied) against NADE, at equal width.

Both have d sigmoid units per pixel and differ in one thing: untied learns d weights for every pair of pixels,
NADE d for every pixel. Trained on few digits and on many, each kept where validation liked it best.
"""

import copy
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules.digits import Digits
from lab.lenses import stock
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.autoregressive.base import Autoregressive
from modules.autoregressive.nade import NADE
from modules.autoregressive.untied import Untied

SIZES = (100, 200, 400, 800, 1297)  # training digits
STEPS = 500  # of Adam, on BATCH digits each
BATCH = 64
EVERY = 25  # steps between two looks at validation
MODELS: dict[str, tuple[Callable[[int], Autoregressive], float]] = {  # with its learning rate
    "untied": (lambda d: Untied(event_shape=(64,), hidden=d), 3e-3),
    "NADE": (lambda d: NADE(event_shape=(64,), hidden=d), 1e-2),
}
# experiments that ship, by training digits
SHIPPED = {
    "untied": {100: "untied-digits100", 400: "untied-digits400", 1297: "untied-digits"},
    "NADE": {100: "nade32-digits100", 400: "nade32-digits400", 1297: "nade32-digits"},
}


def splits() -> tuple[Tensor, Tensor, Tensor]:
    """Training (1297, 64), validation and test (250, 64) digits, thresholded."""
    train, val, test = (stock.bits(split)[0] for split in ("train", "val", "test"))
    return train, val, test


def drawn(size: int, seed: int) -> Tensor:
    """Training digits (size, 64), a draw without replacement."""
    train = splits()[0]
    return train[torch.randperm(len(train), generator=torch.Generator().manual_seed(seed))[:size]]


@torch.no_grad()
def nll(model: Autoregressive, x: Tensor) -> float:
    """Mean -log p of digits (N, 64), nats."""
    return -float(model.log_prob(x).mean())


def input_weights(name: str, hidden: int) -> int:
    """Number of weights that lead from pixels to hidden units."""
    weight = seeded(lambda: MODELS[name][0](hidden)).weight
    assert isinstance(weight, Tensor)
    return weight.numel()


@dataclass(frozen=True)
class Run:
    """One training. NLLs in nats per digit, of the step that validation liked best.

    Attributes:
        model: name in MODELS. size: training digits.
        train, val, test: of the digits it was trained on, and of the two splits.
        last: test NLL of the last step instead, as if nobody had looked at validation.
        curves: "train" and "val" NLL after each EVERY steps.
    """

    model: str
    size: int
    seed: int
    train: float
    val: float
    test: float
    last: float
    curves: Mapping[str, Sequence[float]]


def train(name: str, size: int, hidden: int, seed: int, steps: int = STEPS) -> Iterator[tuple[float, Run]]:
    """Train one model; yields the share done, and what the best step so far has reached."""
    build, rate = MODELS[name]
    model = seeded(lambda: build(hidden), seed)
    x, (_, val, test) = drawn(size, seed), splits()
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    curves: dict[str, list[float]] = {"train": [nll(model, x)], "val": [nll(model, val)]}
    best = copy.deepcopy(model)

    def loss() -> Tensor:
        rows = torch.randint(size, (min(BATCH, size),), generator=generator)
        return -model.log_prob(x[rows]).mean()

    for done, _ in training_steps(loss, optimizer, steps):
        if done and done % EVERY == 0:
            curves["train"].append(nll(model, x))
            curves["val"].append(nll(model, val))
            if curves["val"][-1] == min(curves["val"]):
                best = copy.deepcopy(model)
            at = curves["val"].index(min(curves["val"]))
            reached = Run(
                name, size, seed, curves["train"][at], curves["val"][at], nll(best, test), nll(model, test),
                {split: list(line) for split, line in curves.items()},
            )  # fmt: skip
            yield done / steps, reached


def sweep(
    sizes: Sequence[int], hidden: int, seeds: int, steps: int = STEPS
) -> Iterator[tuple[float, list[Run]]]:
    """Train both on every number of digits, `seeds` times; yields the share done and the finished runs."""
    tasks = [(size, seed, name) for size in sizes for seed in range(seeds) for name in MODELS]
    runs: list[Run] = []
    for done, (size, seed, name) in enumerate(tasks):
        for share, run in train(name, size, hidden, seed, steps):
            yield (done + share) / len(tasks), [*runs, run]
        runs.append(run)


def curve(runs: Sequence[Run], name: str, split: str) -> tuple[list[int], list[float], list[float]]:
    """Sizes, and over the seeds of each the mean and the standard deviation (0 of one) of a split's NLL."""
    sizes = sorted({run.size for run in runs if run.model == name})
    each = [[getattr(r, split) for r in runs if r.model == name and r.size == size] for size in sizes]
    spread = [statistics.stdev(v) if len(v) > 1 else 0.0 for v in each]
    return sizes, [statistics.fmean(v) for v in each], spread


@dataclass(frozen=True)
class Shipped:
    """A model that ships: test NLL over its seeds from the card, the cost of its own training digits."""

    name: str
    size: int
    experiment: str
    test: float
    std: float
    train: float


def shipped(name: str, size: int, model: Autoregressive, card: Mapping[str, Any]) -> Shipped:
    """Facts of one model of SHIPPED; its training digits are those of its card."""
    x = stock.examples(Digits, "train", **card["config"]["data"]["init_args"])[0].flatten(1)
    std = card.get("std", {}).get("test/nll", 0.0)
    return Shipped(name, size, SHIPPED[name][size], card["metrics"]["test/nll"], std, nll(model, x))


@torch.no_grad()
def columns(model: Autoregressive, units: int) -> Tensor:
    """Additions of each pixel to the first `units` units of the network of each pixel: (64 networks, units,
    64), NaN for the pixels that this network does not read. NADE's networks have the same columns."""
    if isinstance(model, NADE):
        full = model.weight[:, 0].expand(model.n, -1, -1)  # (n, n, d)
    else:
        assert isinstance(model, Untied)
        full = model.columns()
    earlier = torch.ones(model.n, model.n, dtype=torch.bool).tril(-1)
    full = torch.where(earlier[..., None], full, torch.nan)
    return full[..., :units].transpose(1, 2)


def sheets(weights: Tensor, side: int = 8, across: int = 4) -> Tensor:
    """Maps (P, units, side²) as one picture for each of P, NaN between maps: (P, rows, columns)."""
    maps = weights.unflatten(-1, (side, side))
    maps = torch.nn.functional.pad(maps, (0, 1, 0, 1), value=torch.nan)  # (P, units, side + 1, side + 1)
    maps = maps.unflatten(1, (-1, across)).transpose(2, 3)  # (P, rows of maps, side + 1, across, side + 1)
    return maps.flatten(3).flatten(1, 2)[:, :-1, :-1]


def reach(result: Sequence[Tensor]) -> float:
    """The size that all but a hundredth of the weights of some `sheets` stay below."""
    return max(float(sheet[~sheet.isnan()].abs().quantile(0.99)) for sheet in result)


def read_by(name: str, pixel: int, hidden: int) -> str:
    """Say what the network of a pixel (from 0) reads, and whose its weights are."""
    if name == "NADE":
        return "NADE: none of its own."
    return f"Pixel {pixel} reads {pixel} pixels. Untied: {hidden * pixel:,} weights of its own."


def gaps(results: Sequence[Shipped]) -> dict[int, float]:
    """By training size: test NLL of untied less that of NADE, nats; positive where sharing wins."""
    test = {(f.name, f.size): f.test for f in results}
    return {size: test["untied", size] - test["NADE", size] for size in SHIPPED["NADE"]}


def shipped_lines(results: Sequence[Shipped]) -> dict[str, tuple[list[int], list[float], list[float]]]:
    """Test costs with their spread over seeds, and training costs, against the training size."""
    lines = {}
    for split in ("test", "train"):
        for name in MODELS:
            mine = [f for f in results if f.name == name]
            spread = [f.std if split == "test" else 0.0 for f in mine]
            lines[f"{name}, {split}"] = ([f.size for f in mine], [getattr(f, split) for f in mine], spread)
    return lines


def shipped_table(results: Sequence[Shipped]) -> dict[str, list[Any]]:
    """Columns, a row a model that ships."""
    return {
        "experiment": [f.experiment for f in results],
        "training digits": [f.size for f in results],
        "test nats": [f"{f.test:.2f} ± {f.std:.2f}" for f in results],
        "training nats": [f"{f.train:.2f}" for f in results],
    }


def advantage(runs: Sequence[Run], size: int, split: str) -> float:
    """Mean over seeds of a cost of untied less that of NADE, nats."""
    means = {}
    for name in MODELS:
        sizes, mean, _ = curve(runs, name, split)
        means[name] = mean[sizes.index(size)]
    return means["untied"] - means["NADE"]


def overshoot(runs: Sequence[Run], name: str, size: int) -> float:
    """Cost on test of training on after the best step, nats, mean over seeds."""
    mine = [r for r in runs if r.model == name and r.size == size]
    return statistics.fmean(r.last - r.test for r in mine)


def table(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """Columns for every model and size: costs at the best step, and on test at the last."""
    rows: dict[str, list[Any]] = {"model": [], "training digits": []}
    for name in MODELS:
        for split, label in (("train", "training nats"), ("test", "test nats"), ("last", "test, last step")):
            sizes, means, spread = curve(runs, name, split)
            several = sum(r.model == name and r.size == sizes[0] for r in runs) > 1
            cells = [
                f"{m:.2f} ± {s:.2f}" if several else f"{m:.2f}" for m, s in zip(means, spread, strict=True)
            ]
            rows.setdefault(label, []).extend(cells)
        rows["model"] += [name] * len(sizes)
        rows["training digits"] += sizes
    return rows
