"""Language models of characters: an RNN, a GRU and an LSTM at equal parameters and equal time.

Each reads tiny Shakespeare as `lstm-shakespeare` does, state carried from chunk to chunk, until the time is
over: `TIME` seconds of the processor for training, the rate falling to almost nothing by then. The states are
as wide as `PARAMETERS` allow; the rate of each cell was the best of 1, 2, 4, 8 and 16 · 10⁻³ on the
validation split after 40 seconds of one other seed. What is measured is the mean −log p of the test split,
read once from its first character to its last, and that of validation.

References: Graves 2013, arXiv:1308.0850; Chung et al. 2014, arXiv:1412.3555; [LLM] part 3.
"""

import bisect
import math
import statistics
import time
from collections.abc import Iterator
from functools import cache
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from datamodules.streams import StreamedText
from lab.bench.timing import Row
from modules.recurrent.language_model import RecurrentLM

Cell = Literal["rnn", "gru", "lstm"]
PARAMETERS, EMBEDDING = 120_000, 32
TIME, RATES, SEEDS = 75.0, {"rnn": 4e-3, "gru": 8e-3, "lstm": 16e-3}, 3


@cache
def text() -> StreamedText:
    data = StreamedText(context=50, batch_size=32)
    data.prepare_data()
    data.setup()
    return data


def network(cell: Cell, parameters: int) -> RecurrentLM:
    """The widest model of a cell that has at most so many parameters."""
    vocab_size = text().sizes["vocab_size"]

    def count(hidden: int) -> int:
        with torch.device("meta"):
            model = RecurrentLM(vocab_size, cell, EMBEDDING, hidden)
        return sum(p.numel() for p in model.parameters())

    width = bisect.bisect_right(range(1, parameters), parameters, key=count)
    return RecurrentLM(vocab_size, cell, EMBEDDING, width)


def chunks() -> Iterator[tuple[Tensor, Tensor, bool]]:
    """Chunks of the training text, pass after pass."""
    while True:
        yield from text().train_dataloader()


def train(
    cell: Cell, seed: int, seconds: float, parameters: int, rate: float | None = None
) -> tuple[RecurrentLM, int]:
    """A model after so many seconds of training, and its steps."""
    rate = RATES[cell] if rate is None else rate
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = network(cell, parameters)
    optimizer = torch.optim.Adam(model.parameters(), rate, (0.9, 0.99), fused=True)
    start, steps = time.process_time(), 0
    for chunk in chunks():
        done = (time.process_time() - start) / seconds
        if done >= 1 and steps:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, done))))
        optimizer.zero_grad()
        model.step(chunk, "train").backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        steps += 1
    return model.eval(), steps


@torch.no_grad()
def nats(model: RecurrentLM, split: Literal["val", "test"] = "test", most: int | None = None) -> float:
    """Mean −log p of the characters of a split, or of its first chunks."""
    sums, count, state = 0.0, 0, None
    loader = text().val_dataloader() if split == "val" else text().test_dataloader()
    for number, (tokens, targets, _) in enumerate(loader):
        if number == most:
            break
        logits, state = model(tokens, state)
        sums += float(nn.functional.cross_entropy(logits[0], targets[0], reduction="sum"))
        count += targets.numel()
    return sums / count


def measure(quick: bool = False) -> list[Row]:
    """Nats per character of each cell."""
    seeds, seconds, parameters, most = (1, 0.2, 5_000, 3) if quick else (SEEDS, TIME, PARAMETERS, None)
    rows = []
    for cell in get_args(Cell):
        tested, validated, steps = [], [], []
        for seed in range(seeds):
            model, taken = train(cell, seed, seconds, parameters)
            tested.append(nats(model, most=most))
            validated.append(nats(model, "val", most))
            steps.append(taken)
        width, size = model.recurrent.hidden, sum(p.numel() for p in model.parameters())
        note = f"{spread(tested)}, of validation {spread(validated)}; {size:,} parameters"
        note += f", {statistics.median(steps):,.0f} steps in {seconds:g} s"
        rows.append(
            Row("characters", f"{cell}, width {width}", statistics.mean(tested), note=note, unit="nats")
        )
    return rows


def spread(values: list[float]) -> str:
    """Least to most of the seeds."""
    return f"{min(values):.3f} to {max(values):.3f}"
