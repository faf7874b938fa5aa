"""MNIST-1D: a CNN against the dense network that contains it, with positions in order and shuffled.

the text's protocol   all 4,000 curves, gradient descent without momentum, rate .01, batches of 100, 100,000
                      steps; the last weights are tested, nothing is chosen ([UDL] §10.2.7, problem 10.12)
the data's recipe     the benchmark's own networks, Adam, rate .01, 6,000 steps (Greydanus & Kobak 2020)

The test curves are read once, after the last step. A run is a line of `results/mnist1d-runs.jsonl`: delete it
to run it again.

References: [UDL] §10.2.7, figure 10.8; arXiv:2011.14439.
"""

import datetime
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from datamodules.mnist1d import MNIST1D, generate
from lab.bench import runs_file
from lab.bench.timing import Row, spread
from lab.seeding import seeded
from modules.convolution.classifier import HEAD_GAIN, Classifier
from modules.convolution.cnn1d import CNN1d
from modules.convolution.mlp import MLP
from modules.convolution.residual import dense_block

Network = Literal["CNN", "MLP"]
Recipe = Literal["text", "data"]
KEPT = runs_file.RESULTS / "mnist1d-runs.jsonl"
BATCH, RATE = 100, 1e-2
STEPS: dict[Recipe, int] = {"text": 100_000, "data": 6_000}
SEEDS: dict[Recipe, int] = {"text": 4, "data": 3}
# Error of the texts in per cent: of positions in order, and shuffled where it is published.
PUBLISHED: dict[tuple[Recipe, Network, bool], str] = {
    ("text", "CNN", False): "about 17",
    ("text", "MLP", False): "about 40",
    ("data", "CNN", False): "6",
    ("data", "CNN", True): "44",
    ("data", "MLP", False): "32",
    ("data", "MLP", True): "32",
}


@dataclass(frozen=True)
class Run:
    """One training: errors in per cent after the last step; `seconds` of the processor."""

    recipe: Recipe
    network: Network
    shuffled: bool
    seed: int
    steps: int
    parameters: int
    seconds: float
    date: str
    train: float
    test: float


@cache
def curves(shuffled: bool = False) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """x (4000, 1, 40) and y (4000,) to train on, x (1000, 1, 40) and y (1000,) to test on."""
    points, digits = generate(shuffle_positions=shuffled)
    x, y, n = torch.tensor(points).float()[:, None], torch.tensor(digits), MNIST1D.num_train
    return x[:n], y[:n], x[n:], y[n:]


def descend(
    model: nn.Module, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor, seed: int, steps: int
) -> float:
    """Train in place on all of x (N, …) and y (N,), in a new order each epoch: seconds of the processor."""
    generator, start = torch.Generator().manual_seed(1_000_003 * (seed + 1)), time.process_time()
    order: list[Tensor] = []
    for _ in range(steps):
        order = order or list(torch.randperm(len(x), generator=generator).split(BATCH))
        rows = order.pop()
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return round(time.process_time() - start, 1)


@torch.no_grad()
def he_throughout(model: Classifier) -> Classifier:
    """The classifier, its last layer too with He weights."""
    model.layers[-1].weight.div_(HEAD_GAIN)  # type: ignore[operator, union-attr]
    return model


@torch.no_grad()
def error(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """Share of wrong classes in per cent; NaN where a logit is none."""
    logits = model(x)
    wrong = (logits.argmax(-1) != y).double().mean() * 100
    return round(float(wrong if logits.isfinite().all() else torch.nan), 2)


def of_the_text(network: Network) -> Classifier:
    """Network of the text: 2,050 or 59,065 parameters."""
    return he_throughout(CNN1d() if network == "CNN" else MLP())


def of_the_data(network: Network) -> nn.Module:
    """Network of the benchmark, with the library's weights: 5,210 or 78,858 parameters."""
    if network == "CNN":
        convolutions = [nn.Conv1d(1, 25, 5, 2, 1), *(nn.Conv1d(25, 25, 3, 2, 1) for _ in range(2))]
        return nn.Sequential(
            *(layer for convolution in convolutions for layer in (convolution, nn.ReLU())),
            nn.Flatten(),  # (B, 25, 5) -> (B, 125)
            nn.Linear(125, 10),
        )
    block = dense_block(256, "linear-first")
    return nn.Sequential(nn.Flatten(), nn.Linear(40, 256), nn.ReLU(), block, nn.Linear(256, 10))


NETWORKS: dict[Recipe, Callable[[Network], nn.Module]] = {"text": of_the_text, "data": of_the_data}


def train(recipe: Recipe, network: Network, shuffled: bool, seed: int, steps: int | None = None) -> Run:
    """Train once, and test once."""
    x, y, test_x, test_y = curves(shuffled)
    steps = steps or STEPS[recipe]
    model = seeded(lambda: NETWORKS[recipe](network), seed).train()
    parameters = list(model.parameters())
    optimizer: torch.optim.Optimizer = (
        torch.optim.SGD(parameters, RATE) if recipe == "text" else torch.optim.Adam(parameters, RATE)
    )
    seconds, size = descend(model, optimizer, x, y, seed, steps), sum(p.numel() for p in parameters)
    errors = error(model.eval(), x, y), error(model, test_x, test_y)
    today = datetime.date.today().isoformat()
    return Run(recipe, network, shuffled, seed, steps, size, seconds, today, *errors)


def plan() -> list[tuple[Recipe, Network, bool, int]]:
    """Recipe, network, whether positions are shuffled, and seed of all trainings."""
    return [
        (recipe, network, shuffled, seed)
        for recipe in STEPS
        for seed in range(SEEDS[recipe])
        for shuffled in (False, True)
        for network in ("CNN", "MLP")
    ]


def rows(runs: list[Run]) -> list[Row]:
    """Test error by recipe, order of positions and network, mean over the seeds."""
    cases: dict[tuple[Recipe, bool, Network], list[Run]] = {}
    for run in runs:
        cases.setdefault((run.recipe, run.shuffled, run.network), []).append(run)
    names: dict[Recipe, str] = {"text": "the text's protocol", "data": "the data's recipe"}
    results = []
    for recipe, shuffled, network in sorted(cases, key=lambda case: (case[0] == "data", case[1], case[2])):
        mine = cases[recipe, shuffled, network]
        published = PUBLISHED.get((recipe, network, shuffled))
        notes = [
            spread([run.test for run in mine], 1),
            f"{statistics.mean(run.train for run in mine):.2f} on training curves",
            *([f"published {published}"] if published else []),
            f"{mine[0].parameters:,} parameters",
        ]
        case = f"{names[recipe]}, {'shuffled' if shuffled else 'in order'}: {network}"
        mean = statistics.mean(run.test for run in mine)
        results.append(Row("mnist1d", case, mean, note="; ".join(notes), unit="% wrong"))
    return results


def measure(quick: bool = False) -> list[Row]:
    """Error on test curves; what is missing is trained first, an hour and a half in all."""
    if quick:
        return rows([train(recipe, network, False, 0, 2) for recipe in STEPS for network in ("CNN", "MLP")])
    for run in runs_file.missing(plan(), KEPT, Run):
        runs_file.append(train(*run), KEPT)
    return rows(runs_file.kept(plan(), KEPT, Run))
