"""Pre-training: what an encoder that has filled in hidden words is worth where labels are few.

A sentence, a token and a span task on the texts of the gazette are learned from `LABELS` texts, from random
weights and from those of bert-gazette, for `STEPS` steps at one rate, that of the committed recipes. Texts
differ by seed, test texts are the same for all; the last weights are tested, once.

A run is a line of `results/pretraining-runs.jsonl`: delete it to run it again.

References: Devlin et al. 2019, arXiv:1810.04805; [UDL] §12.6.
"""

import datetime
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import torch
from torchmetrics import Metric

from datamodules.base import TensorSplit
from datamodules.labelled_gazette import Labelled, Names, Questions, Reviews
from lab import weights
from lab.bench import runs_file
from lab.bench.fitting import fit
from lab.bench.timing import Row, spread
from lab.seeding import seeded
from modules.transformer.bert_heads import FineTuned, SentenceClassifier, SpanExtractor, TokenClassifier

Start = Literal["random weights", "bert-gazette"]
KEPT = runs_file.RESULTS / "pretraining-runs.jsonl"
TASKS: dict[str, tuple[type[Labelled], Callable[..., FineTuned]]] = {
    "reviews": (Reviews, SentenceClassifier),
    "names": (Names, TokenClassifier),
    "questions": (Questions, SpanExtractor),
}
STARTS: tuple[Start, ...] = ("random weights", "bert-gazette")
LABELS, SEEDS = (50, 200, 1_000), (0, 1, 2)
STEPS, BATCH, RATE = 300, 32, 1e-3


@dataclass(frozen=True)
class Run:
    """One training: `acc` of the test texts, words or spans; `seconds` of the processor."""

    task: str
    start: Start
    labels: int
    seed: int
    steps: int
    seconds: float
    date: str
    acc: float


def network(task: str, start: Start, data: Labelled) -> FineTuned:
    """The encoder of bert-gazette's shape, with its weights or without."""
    model = TASKS[task][1](**data.sizes)
    if start != "random weights":
        trained: Any = weights.load(start)
        model.encoder.load_state_dict(trained.encoder.state_dict())
    return model


@torch.no_grad()
def accuracy(model: FineTuned, test: TensorSplit) -> float:
    """Share that is right, by the model's own measure."""
    for rows in torch.arange(len(test)).split(250):
        model.step(test[rows], "test")
    return float(cast(Metric, model.meters["test_acc"]).compute())


def train(task: str, start: Start, labels: int, seed: int, steps: int = STEPS) -> Run:
    """Train once; texts, their order and the new layer depend on the seed alone."""
    data = TASKS[task][0](labels=labels, seed=seed)
    data.setup()
    model = seeded(lambda: network(task, start, data), seed)
    texts = cast(TensorSplit, data.train_set)
    seconds = fit(model, texts, seed, steps, RATE, batch=BATCH, betas=(0.9, 0.999), floor=0.0)
    today = datetime.date.today().isoformat()
    acc = accuracy(model.eval(), cast(TensorSplit, data.test_set))
    return Run(task, start, labels, seed, steps, seconds, today, round(acc, 5))


def kept(path: Path = KEPT) -> list[Run]:
    """The runs so far, by task, start, labels and seed."""
    tasks = list(TASKS)
    return sorted(
        runs_file.read(path, Run),
        key=lambda run: (tasks.index(run.task), run.labels, STARTS.index(run.start), run.seed),
    )


def missing(path: Path = KEPT) -> list[tuple[str, Start, int, int]]:
    """Runs that are not there, seed by seed."""
    there = {(run.task, run.start, run.labels, run.seed) for run in kept(path)}
    every = ((t, start, n, seed) for seed in SEEDS for n in LABELS for t in TASKS for start in STARTS)
    return [run for run in every if run not in there]


def rows(runs: list[Run]) -> list[Row]:
    """Accuracy by task, labels and start, mean over the seeds."""
    found = []
    for task in TASKS:
        for labels in LABELS:
            for start in STARTS:
                mine = [r.acc for r in runs if (r.task, r.labels, r.start) == (task, labels, start)]
                if mine:
                    case = f"{task}, {labels:,} labels, {start}"
                    found.append(
                        Row("pretraining", case, statistics.mean(mine), note=spread(mine), unit="right")
                    )
    return found


def measure(quick: bool = False) -> list[Row]:
    """Accuracy where labels are few; what is missing is trained first, ten minutes in all."""
    if quick:
        return rows([train("reviews", "bert-gazette", 50, 0, steps=2)])
    for task, start, labels, seed in missing():
        runs_file.append(train(task, start, labels, seed), KEPT)
    return rows(kept())
