"""Vision transformers on few pictures, and windows that shift.

few      a vision transformer and a CNN of as many weights on 500, 2,000 and 8,000 pictures of digits and of
         clothes, for the same `STEPS` steps, without augmentation; the rate of each is that of its recipe
strokes  are two strokes in opposite corners of a picture parallel? A vision transformer, and Swins of four
         blocks with and without shifts of the windows and merging of the patches

In the second task no window of the first grid holds both strokes, and a mean of all tokens cannot compare
them: what is read from one stroke has to reach the other.

A run is a line of `results/vision-runs.jsonl`: delete it to run it again. Test pictures are read once a run.

References: Dosovitskiy et al. 2020, arXiv:2010.11929; Liu et al. 2021, arXiv:2103.14030; [UDL] §12.10.
"""

import datetime
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import torch

from datamodules.base import Split, TensorSplit
from datamodules.mnist import MNIST
from lab.bench import runs_file
from lab.bench.fitting import fit
from lab.bench.timing import Row, spread
from lab.seeding import seeded
from modules.base import Module
from modules.convolution.cnn2d import CNN2d
from modules.transformer.swin import Swin
from modules.transformer.vit import ViT

Data = Literal["MNIST", "FashionMNIST"]
Task = Literal["strokes", "MNIST", "FashionMNIST"]
KEPT = runs_file.RESULTS / "vision-runs.jsonl"
SEEDS, BATCH, STEPS, RATE = (0, 1, 2), 64, 1_000, 2e-3
DATA: tuple[Data, ...] = get_args(Data)
PICTURES = (500, 2_000, 8_000)
NETWORKS: dict[str, Callable[[], Module]] = {
    "ViT": lambda: ViT(layers=4, heads=4, width=32, patch=4),
    "CNN": lambda: CNN2d(channels=[16, 32, 64], kernel_sizes=[5, 3, 3]),
}
SIDE, LENGTH, DRAWN = 16, 4, 4_096  # pixels of a picture, of a stroke; pictures that are drawn


def swin(shift: bool, merge: bool) -> Swin:
    """Four blocks with windows of 4 × 4 patches, on 8 × 8 patches, or 4 × 4 after merging."""
    shape = (1, SIDE, SIDE)
    return Swin(shape, 2, patch=2, window=4, depths=(2, 2), heads=2, width=32, shift=shift, merge=merge)


STROKES: dict[str, Callable[[], Module]] = {
    "ViT": lambda: ViT((1, SIDE, SIDE), 2, patch=2, layers=4, heads=2, width=32, pool="mean"),
    "Swin without shifts and merging": lambda: swin(False, False),
    "Swin without merging": lambda: swin(True, False),
    "Swin without shifts": lambda: swin(False, True),
    "Swin": lambda: swin(True, True),
}


@dataclass(frozen=True)
class Run:
    """One training: `acc` of the test pictures; `seconds` of the processor."""

    task: str
    network: str
    pictures: int
    seed: int
    steps: int
    parameters: int
    seconds: float
    date: str
    acc: float


# --- Data --------------------------------------------------------------------------------------------


@cache
def photographs(name: Data) -> tuple[TensorSplit, TensorSplit]:
    """Training and test pictures with their labels."""
    data = MNIST(name=name, binarize="none")
    data.prepare_data()
    data.setup()
    train_set, test_set = (
        TensorSplit(*split[torch.arange(len(split))][:2]) for split in (data.train_set, data.test_set)
    )
    return train_set, test_set


def first(split: TensorSplit, count: int, seed: int) -> TensorSplit:
    """That many pictures, drawn by the seed: fewer are part of more."""
    order = torch.randperm(len(split), generator=torch.Generator().manual_seed(seed))
    return TensorSplit(*split[order[:count]])


def strokes(count: int, seed: int) -> TensorSplit:
    """Pictures (N, 1, SIDE, SIDE) of two strokes, each level or upright, and whether they are parallel."""
    generator = torch.Generator().manual_seed(seed)
    upright = torch.randint(2, (count, 2), generator=generator)
    places = torch.randint(3, (count, 2, 2), generator=generator)  # (N, stroke, row and column)
    places[:, 1] += SIDE - LENGTH - 2  # in the opposite corner
    along = torch.arange(LENGTH)
    rows = places[..., 0, None] + along * upright[..., None]  # (N, 2, LENGTH)
    columns = places[..., 1, None] + along * (1 - upright[..., None])
    x = torch.zeros(count, SIDE, SIDE)
    x[torch.arange(count)[:, None, None], rows, columns] = 1
    return TensorSplit(x[:, None], (upright[:, 0] == upright[:, 1]).long())


# --- Trainings ---------------------------------------------------------------------------------------


@torch.no_grad()
def accuracy(model: Module, test: Split) -> float:
    """Share of the pictures whose class is right."""
    right = []
    for rows in torch.arange(len(test)).split(500):
        x, y = test[rows]
        right.append((model(x).argmax(-1) == y).float())
    return float(torch.cat(right).mean())


def train(task: Task, network: str, pictures: int, seed: int, steps: int = STEPS) -> Run:
    """Train once: pictures, their order and the first weights depend on the seed alone."""
    if task == "strokes":
        build, train_set, test_set = STROKES[network], strokes(pictures, seed), strokes(DRAWN, -1)
    else:
        build, (whole, test_set) = NETWORKS[network], photographs(task)
        train_set = first(whole, pictures, seed)
    model = seeded(build, seed)
    seconds = fit(model.train(), train_set, seed, steps, RATE, batch=BATCH, floor=0.01)
    acc = accuracy(model.eval(), test_set)
    today, size = datetime.date.today().isoformat(), model.num_parameters
    return Run(task, network, pictures, seed, steps, size, seconds, today, round(acc, 5))


def plan() -> list[tuple[Task, str, int, int]]:
    """Task, network, pictures and seed of all trainings, seed by seed."""
    found: list[tuple[Task, str, int, int]] = []
    for seed in SEEDS:
        found += [("strokes", network, DRAWN, seed) for network in STROKES]
        found += [(data, network, n, seed) for data in DATA for n in PICTURES for network in NETWORKS]
    return found


def rows(runs: list[Run]) -> list[Row]:
    """Accuracy by task, number of pictures and network, mean over the seeds."""
    cases: dict[tuple[str, str, int], list[Run]] = {}
    for run in runs:
        cases.setdefault((run.task, run.network, run.pictures), []).append(run)
    return [
        Row("vision", f"{task}, {pictures:,} pictures: {network}", statistics.mean(run.acc for run in mine),
            note=f"{spread([run.acc for run in mine], 4)}; {mine[0].parameters:,} parameters", unit="right")
        for (task, network, pictures), mine in cases.items()
    ]  # fmt: skip


def measure(quick: bool = False) -> list[Row]:
    """Accuracy of pictures; what is missing is trained first, half an hour in all."""
    if quick:
        return rows([train("strokes", network, 64, 0, steps=2) for network in STROKES])
    for run in runs_file.missing(plan(), KEPT, Run):
        runs_file.append(train(*run), KEPT)
    return rows(runs_file.kept(plan(), KEPT, Run))
