"""Position schemes: small language models of characters, trained at one length and tested at longer ones.

Five GPTs of two blocks differ in how they know where a token stands. All see the same `STEPS` batches of
windows of `CONTEXT` characters of the Python documentation, with AdamW, a warm-up and a cosine; the rate is
one for all, not tuned for each. The test text is read in windows of `LONGEST` characters, every `CONTEXT`
characters one begins, so that every place in a window sees nearly the same text: the mean of the first L
places is the loss at length L, for a causal model does not see what comes later. Positions that are learned
end at `CONTEXT`: there the model refuses, and the numbers end.

A run is a line of `results/positions-runs.jsonl`, appended as soon as it has ended; a run that is there is
not run again: delete its line for that.

References: Press et al. 2021, arXiv:2108.12409; [UDL] §12.3.1, [LLM] part 4.
"""

import datetime
import statistics
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from datamodules.text import Text, Windows
from lab.bench import runs_file
from lab.bench.fitting import fit
from lab.bench.timing import Row, spread
from lab.seeding import seeded
from modules.transformer.gpt import GPT
from modules.transformer.positions import Learned

Scheme = Literal["learned", "sinusoidal", "relative", "rotary", "alibi"]
KEPT = runs_file.RESULTS / "positions-runs.jsonl"
SCHEMES: tuple[Scheme, ...] = ("learned", "sinusoidal", "relative", "rotary", "alibi")
SEEDS = (0, 1, 2)
CONTEXT, LONGEST, BIN = 64, 512, 16
STEPS, BATCH, RATE = 3_000, 32, 2e-3


@dataclass(frozen=True)
class Run:
    """One training.

    Attributes:
        parameters: that are trained. seconds: of the processor. date: when it ended.
        windows: of the test text.
        nats: per character of the test text, mean of the places 0 … 15, 16 … 31, …, up to the longest length
            that the model reads.
    """

    scheme: Scheme
    seed: int
    parameters: int
    steps: int
    batch: int
    seconds: float
    date: str
    windows: int
    nats: list[float]

    def at(self, length: int) -> float:
        """Loss at a length, a multiple of BIN: mean of all its places."""
        return statistics.mean(self.nats[: length // BIN])


@lru_cache(maxsize=1)
def text() -> Text:
    """The corpus by characters."""
    data = Text("pydocs", tokenizer="char", context=CONTEXT)
    data.setup()
    return data


def network(scheme: Scheme, vocab_size: int) -> GPT:
    """Two blocks that know positions by a scheme, and a head of their own.

    Sinusoids would drown embeddings of N(0, 0.02²), with which a GPT begins: those to which they are added
    begin at N(0, 1), as in the original, which multiplies them by √C.
    """
    model = GPT(vocab_size, context=CONTEXT, layers=2, heads=4, width=64, positions=scheme, tied=False)
    if scheme == "sinusoidal":
        nn.init.normal_(model.embedding.weight)
    return model


@torch.no_grad()
def nats_by_place(model: GPT, ids: Tensor, longest: int = LONGEST) -> Tensor:
    """Mean −log p of the character behind each place of windows (longest,), as far as the model reads.

    Learned positions end at the context of the training.
    """
    length = min(longest, model.context) if isinstance(model.positions, Learned) else longest
    windows = Windows(ids, longest)
    starts = torch.arange(0, len(windows), CONTEXT)
    total = torch.zeros(length, dtype=torch.float64)
    for some in starts.split(32):
        tokens, targets = (each[:, :length] for each in windows[some])
        nll = F.cross_entropy(model(tokens).mT, targets, reduction="none")  # (B, V, T) against (B, T)
        total += nll.double().sum(0)
    return total / len(starts)


def train(scheme: Scheme, seed: int, steps: int = STEPS, longest: int = LONGEST) -> Run:
    """Train once, and read the test text."""
    data = text()
    model = seeded(lambda: network(scheme, data.sizes["vocab_size"]), seed)
    seconds = fit(model, cast(Windows, data.train_set), seed, steps, RATE, batch=BATCH)
    ids = cast(Windows, data.test_set).ids
    by_place = nats_by_place(model.eval(), ids, longest)
    nats = [round(float(part.mean()), 5) for part in by_place.split(BIN)]
    size, today = model.num_parameters, datetime.date.today().isoformat()
    count = len(range(0, len(ids) - longest, CONTEXT))
    return Run(scheme, seed, size, steps, BATCH, seconds, today, count, nats)


def kept(path: Path = KEPT) -> list[Run]:
    """The runs so far, by scheme and seed."""
    return sorted(runs_file.read(path, Run), key=lambda run: (SCHEMES.index(run.scheme), run.seed))


def missing(path: Path = KEPT) -> list[tuple[Scheme, int]]:
    """Schemes and seeds that are not there, seed by seed."""
    there = {(run.scheme, run.seed) for run in kept(path)}
    return [(scheme, seed) for seed in SEEDS for scheme in SCHEMES if (scheme, seed) not in there]


def rows(runs: list[Run]) -> list[Row]:
    """Nats per character at three lengths, mean over the seeds of a scheme."""
    found = []
    for scheme in SCHEMES:
        mine = [run for run in runs if run.scheme == scheme]
        for length in (CONTEXT, 2 * CONTEXT, LONGEST):
            values = [run.at(length) for run in mine if len(run.nats) * BIN >= length]
            if values:
                found.append(Row("positions", f"{scheme}, {length} characters", statistics.mean(values),
                                 note=spread(values), unit="nats"))  # fmt: skip
    return found


def measure(quick: bool = False) -> list[Row]:
    """Nats per character by scheme and length; what is missing is trained first, half an hour in all."""
    if quick:
        return rows([train("alibi", 0, steps=2, longest=2 * CONTEXT)])
    for scheme, seed in missing():
        runs_file.append(train(scheme, seed), KEPT)
    return rows(kept())
