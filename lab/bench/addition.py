"""Emergence by addition: GPTs of eleven sizes learn sums of three digits, at equal steps.

Each has two blocks; only the width differs, from 504 to 1,004,904 parameters. All see `STEPS` batches of
`BATCH` sums, drawn from those that are not held out, with AdamW, a warm-up of a twentieth and a cosine. The
rate is 0.2/width and at most 0.01, which did well on validation sums at six sizes; it is not tuned for each.
At `LOOKS` steps 2,000 validation sums are scored, at the end 10,000 test sums, by four metrics
(`modules.transformer.answer`).

A run is a line of `results/addition-runs.jsonl`, appended as soon as it has ended; a run that is there is not
run again: delete its line for that. Orders and seeds: `RUNS`, the most telling first.

References: [LLM] part 5; Schaeffer et al. 2023, arXiv:2304.15004; Lee et al. 2023, arXiv:2307.03381.
"""

import datetime
import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from datamodules.addition import CHARACTERS, DIGITS, LENGTH, Addition, Order, Sums
from lab.bench import runs_file
from lab.bench.fitting import fit
from lab.bench.timing import Row
from lab.seeding import seeded
from modules.transformer.answer import METRICS, scores
from modules.transformer.gpt import GPT

KEPT = runs_file.RESULTS / "addition-runs.jsonl"
STEPS, BATCH, LOOKS = 1_000, 256, 20
WIDTHS = (4, 6, 8, 10, 12, 16, 20, 36, 64, 112, 204)
SMALL, LARGE = WIDTHS[:9], WIDTHS[9:]
RUNS: list[tuple[Order, int, int]] = [  # order, seed, width
    *[("reversed", 0, width) for width in WIDTHS],  # type: ignore[list-item]
    *[("plain", 0, width) for width in SMALL],  # type: ignore[list-item]
    *[("reversed", seed, width) for seed in (1, 2) for width in SMALL],  # type: ignore[list-item]
    *[("plain", 0, width) for width in LARGE],  # type: ignore[list-item]
    *[("reversed", seed, width) for seed in (1, 2) for width in LARGE],  # type: ignore[list-item]
]


@dataclass(frozen=True)
class Run:
    """One training.

    Attributes:
        rate: of learning, at its height. seconds: of the processor. date: when it ended.
        looks: of each look at validation sums its step, the four metrics, and `digits`, the accuracies of the
            four digits in the order in which they are written.
        test: the same of 10,000 test sums at the end.
    """

    order: Order
    seed: int
    width: int
    parameters: int
    rate: float
    steps: int
    batch: int
    seconds: float
    date: str
    looks: list[dict[str, Any]]
    test: dict[str, Any]


def rate(width: int) -> float:
    """Height of the learning rate: wide layers want a low one."""
    return round(min(0.01, 0.2 / width), 5)


def network(width: int) -> GPT:
    """Two blocks of a width."""
    heads = 2 if width < 32 else 4
    return GPT(len(CHARACTERS), context=LENGTH, layers=2, heads=heads, width=width)


@torch.no_grad()
def look(model: GPT, sums: Sums) -> dict[str, Any]:
    """The four metrics of a split, and the accuracy of each digit."""
    found: dict[str, list[Tensor]] = defaultdict(list)
    for positions in torch.arange(len(sums)).split(1_000):
        tokens, targets = sums[positions]
        answer = targets[:, -DIGITS:]
        log_probs = model(tokens)[:, -DIGITS:].log_softmax(-1)
        for name, values in scores(log_probs, answer).items():
            found[name].append(values)
        found["digits"].append((log_probs.argmax(-1) == answer).float())
    means = {name: torch.cat(parts).double().mean(0) for name, parts in found.items()}
    return {
        name: [round(v, 6) for v in m.tolist()] if m.ndim else round(m.item(), 6) for name, m in means.items()
    }


def train(order: Order, seed: int, width: int, steps: int = STEPS) -> Run:
    """Train once."""
    data = Addition(order)
    data.setup()
    highest = rate(width)
    model = seeded(lambda: network(width), seed)
    looks, every = [], max(1, steps // LOOKS)

    def watch(step: int) -> None:
        if step % every == 0:
            looks.append({"step": step, **look(model, cast(Sums, data.val_set))})

    sums = cast(Sums, data.train_set)
    seconds = fit(model, sums, seed, steps, highest, batch=BATCH, floor=0.02, look=watch)
    test, today = look(model, cast(Sums, data.test_set)), datetime.date.today().isoformat()
    size = model.num_parameters
    return Run(order, seed, width, size, highest, steps, BATCH, seconds, today, looks, test)


def kept(path: Path = KEPT) -> list[Run]:
    """The runs so far, by order, width and seed."""
    return sorted(runs_file.read(path, Run), key=lambda run: (run.order != "reversed", run.width, run.seed))


def missing(path: Path = KEPT) -> list[tuple[Order, int, int]]:
    """What of `RUNS` is not there."""
    there = {(run.order, run.seed, run.width) for run in kept(path)}
    return [run for run in RUNS if run not in there]


def by_size(runs: list[Run]) -> Iterator[list[Run]]:
    """Runs that differ in their seed alone."""
    groups: dict[tuple[Order, int], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.order, run.width].append(run)
    yield from groups.values()


def row(runs: list[Run]) -> Row:
    """Exact match of one size, mean over its seeds, and the other metrics in words."""
    first, last = runs[0], WIDTHS[-1]
    mean = {name: statistics.mean(run.test[name] for run in runs) for name in METRICS}
    exact = [run.test["exact"] for run in runs]
    note = f"{min(exact):.2%} to {max(exact):.2%} over {len(runs)} seeds; " if len(runs) > 1 else "one seed; "
    note += f"digits {mean['accuracy']:.2%}, log-likelihood {mean['log_likelihood']:.3g} nats, "
    note += f"Brier {mean['brier']:.3g}"
    target = ""
    if first.order == "reversed" and first.width in (WIDTHS[0], last):
        target = "≥ 99.9 %" if first.width == last else "≤ 5 %"
    return Row("addition", f"{first.parameters:,} parameters, {first.order}", 100 * mean["exact"],
               target=target, note=note, unit="% exact")  # fmt: skip


def measure(quick: bool = False) -> list[Row]:
    """Exact match by size, of both orders; what is missing is trained first, hours in all."""
    if quick:
        return [row([train("reversed", 0, WIDTHS[0], steps=3)])]
    for order, seed, width in missing():
        runs_file.append(train(order, seed, width), KEPT)
    return [row(runs) for runs in by_size(kept())]
