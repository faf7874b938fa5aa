"""Depth: which residual networks of dense layers still train, and what a deleted block costs them.

Networks of K blocks of one dense layer, D = 50 units, on the 4,000 curves of MNIST-1D: 1,500 steps of
gradient descent, rate .01, momentum .9, batches of 100, He weights. Errors are those after the last step,
nothing is chosen. Then every sixth of 48 blocks is left out, one at a time, without training again.

A run is a line of `results/depth-runs.jsonl`: delete it to run it again.

References: [UDL] §11.1–11.4 and notes; Veit, Wilber, Belongie 2016, arXiv:1605.06431 (deletion).
"""

import datetime
import statistics
from dataclasses import dataclass
from math import isnan
from typing import Any

import torch
from torch import nn

from lab.bench import runs_file
from lab.bench.mnist1d import curves, descend, error, he_throughout
from lab.bench.timing import Row, spread
from lab.seeding import seeded
from modules.convolution.classifier import Classifier
from modules.convolution.residual_mlp import ResidualMLP

KEPT = runs_file.RESULTS / "depth-runs.jsonl"
STEPS, SEEDS, DEEP, EVERY = 1_500, 3, 48, 6
RATE, MOMENTUM = 1e-2, 0.9
NETWORKS: dict[str, dict[str, Any]] = {
    "plain": {"shortcut": "none", "norm": "none"},
    "plain, batch norm": {"shortcut": "none", "norm": "batch"},
    "skips": {"norm": "none"},
    "skips, 1/√2": {"norm": "none", "scale": "half"},
    "skips, √(1/K)": {"norm": "none", "scale": "depth"},
    "skips, SkipInit": {"norm": "none", "scale": "skip-init"},
    "skips, last layer 0": {"norm": "none", "scale": "fixup"},
    "skips, batch norm": {"norm": "batch"},
}
DEPTHS: dict[str, tuple[int, ...]] = {
    "plain": (4, 8, 16, 24, 32, 48),
    "skips": (4, 8, 16, 48),
    "skips, 1/√2": (4, 8, 16, 24, 32, 48, 64, 96),
    "skips, batch norm": (16, 48, 96),
}


@dataclass(frozen=True)
class Run:
    """One training: errors in per cent after the last step, and test errors without each sixth block."""

    network: str
    blocks: int
    seed: int
    steps: int
    seconds: float
    date: str
    train: float
    test: float
    without: list[float]


def without_block(model: Classifier, block: int) -> nn.Sequential:
    """The network, its block (1 … K) left out."""
    layers = list(model.layers)  # Flatten, dense, K blocks, dense
    return nn.Sequential(*layers[: 1 + block], *layers[2 + block :])


def trained(network: str, blocks: int, seed: int, steps: int = STEPS) -> tuple[Classifier, float]:
    """A network after its training, in evaluation mode, and seconds of the processor."""
    x, y, _, _ = curves()
    model = seeded(lambda: he_throughout(ResidualMLP(blocks=blocks, **NETWORKS[network])), seed).train()
    optimizer = torch.optim.SGD(model.parameters(), RATE, MOMENTUM)
    seconds = descend(model, optimizer, x, y, seed, steps)
    return model.eval(), seconds


def train(network: str, blocks: int, seed: int, steps: int = STEPS) -> Run:
    """Train once, test once, and once more without each sixth block of the deepest."""
    x, y, test_x, test_y = curves()
    model, seconds = trained(network, blocks, seed, steps)
    errors = error(model, x, y), error(model, test_x, test_y)
    deleted = range(1, blocks + 1, EVERY) if blocks == DEEP else ()
    without = [error(without_block(model, block), test_x, test_y) for block in deleted]
    return Run(network, blocks, seed, steps, seconds, datetime.date.today().isoformat(), *errors, without)


def plan() -> list[tuple[str, int, int]]:
    """Network, number of blocks and seed of all trainings."""
    return [
        (network, blocks, seed)
        for seed in range(SEEDS)
        for network in NETWORKS
        for blocks in DEPTHS.get(network, (DEEP,))
    ]


def said(errors: list[float]) -> str:
    """Mean and deviation of errors, or how many of them are no number."""
    lost = sum(map(isnan, errors))
    if lost:
        return f"no number with {lost} of {len(errors)} seeds"
    return f"{statistics.mean(errors):.1f} {spread(errors, 1)}"


def rows(runs: list[Run]) -> list[Row]:
    """Test error by network and depth, its error in training, and what the loss of a block does."""
    cases: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        cases.setdefault((run.network, run.blocks), []).append(run)
    results = []
    for (network, blocks), mine in cases.items():
        tests = [run.test for run in mine]
        lost, value, unit = sum(map(isnan, tests)), statistics.mean(tests), "% wrong"
        if lost:
            value, unit = lost, f"of {len(tests)} seeds end without a number"
        note = f"test {said(tests)}; training {said([run.train for run in mine])}"
        if mine[0].without and not lost:
            harm = [statistics.mean(errors) for errors in zip(*(run.without for run in mine), strict=True)]
            note += f"; without one block {min(harm):.0f} to {max(harm):.0f}, the first {harm[0]:.0f}"
        results.append(Row("depth", f"{network}: {blocks} blocks", value, note=note, unit=unit))
    return results


def measure(quick: bool = False) -> list[Row]:
    """Error by depth; what is missing is trained first, a quarter of an hour in all."""
    if quick:
        return rows([train(network, DEEP, 0, steps=2) for network in NETWORKS])
    for run in runs_file.missing(plan(), KEPT, Run):
        runs_file.append(train(*run), KEPT)
    return rows(runs_file.kept(plan(), KEPT, Run))
