"""Masked words against next words: what an encoder and a decoder learn from the same texts in the same steps.

Both have four blocks of width 64, post-norm as BERT and pre-norm as GPT-2, and read the articles of the
gazette, `BATCH` in a step, at one rate. The decoder has a loss at every word, the encoder at 15 % of them,
drawn anew in each step. Then the networks are frozen, and two logistic regressions on the hidden vectors of
`LABELS` texts ask

    verdict   does a review recommend? from the mean of its words' vectors
    tag       is a name that only its sentence can tell a person, a place or an organisation? from its vector

The words that tell stand on both sides of a name; a decoder has seen those on the left.

A run is a line of `results/objectives-runs.jsonl`: delete it to run it again.

References: Devlin et al. 2019, arXiv:1810.04805; [UDL] §12.6, §12.7.
"""

import datetime
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from datamodules import gazette
from datamodules.labelled_gazette import Labelled, Names, Reviews
from datamodules.masking import UNSCORED, are_words, mask_tokens
from datamodules.multi30k import padded
from datamodules.tokenizer import EncoderTokenizer
from lab.bench import runs_file
from lab.bench.fitting import fit
from lab.bench.timing import Row, spread
from lab.lenses.probes import logistic_accuracy
from lab.seeding import seeded
from modules.transformer.bert import BERT
from modules.transformer.gpt import GPT

Objective = Literal["masked words", "next words"]
KEPT = runs_file.RESULTS / "objectives-runs.jsonl"
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
STEPS, SEEDS = (0, 250, 1_000), (0, 1, 2)
BATCH, RATE, LABELS, CONTEXT = 32, 1e-3, 1_000, 64


@dataclass(frozen=True)
class Run:
    """One training: shares of a thousand verdicts and of all ambiguous names in a thousand sentences that are
    right; `terms` of the loss per word; `seconds` of the processor."""

    objective: str
    seed: int
    steps: int
    parameters: int
    seconds: float
    date: str
    terms: float
    verdict: float
    tag: float


class Articles:
    """Rows of the articles, as an objective asks for them: batches of `BERT.step` or of `GPT.step`."""

    def __init__(self, objective: Objective, seed: int) -> None:
        coder = gazette.tokenizer()
        rows = [coder.encode_parts(*article) for article in gazette.articles(20_000, 1)]
        self.tokens, self.lengths = padded(rows, EncoderTokenizer.PAD)
        self.objective, self.kinds = objective, len(coder)
        self.generator = torch.Generator().manual_seed(seed)
        self.asked = self.words = 0

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, ...]:
        tokens = self.tokens[positions, : int(self.lengths[positions].max())]
        if self.objective == "masked words":
            read, targets = mask_tokens(tokens, self.kinds, generator=self.generator)
            none = torch.full((len(tokens),), UNSCORED)
            batch: tuple[Tensor, ...] = (read, targets, none, torch.full_like(tokens, UNSCORED))
        else:
            targets = tokens[:, 1:].where(are_words(tokens[:, 1:]), UNSCORED)
            batch = (tokens[:, :-1], targets)
        self.asked += int((targets != UNSCORED).sum())
        self.words += int(are_words(tokens).sum())
        return batch


@torch.no_grad()
def hidden(model: BERT | GPT, tokens: Tensor) -> Tensor:
    """Vectors of all places, (B, T) -> (B, T, C)."""
    read = model if isinstance(model, BERT) else model.hidden
    return torch.cat([read(rows) for rows in tokens.split(250)])


def verdicts(model: BERT | GPT, tokens: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Mean vectors of the words of reviews, (N, C), and whether they recommend."""
    words = are_words(tokens)[..., None].float()
    return (hidden(model, tokens) * words).sum(1) / words.sum(1), labels


def tags(model: BERT | GPT, tokens: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Vectors of the ambiguous names of sentences, (N, C), and their tags."""
    names = torch.tensor([gazette.tokenizer().encode(name)[0] for name in gazette.AMBIGUOUS])
    at = torch.isin(tokens, names) & (labels > 0)
    return hidden(model, tokens)[at], labels[at]


def train(objective: Objective, seed: int, steps: tuple[int, ...] = STEPS) -> list[Run]:
    """Train once, and look after each number of steps; texts and their order depend on the seed alone."""
    articles = Articles(objective, seed)
    sizes: dict[str, Any] = {"layers": 4, "heads": 4, "width": 64}

    def network() -> BERT | GPT:
        if objective == "masked words":
            return BERT(articles.kinds, CONTEXT, tasks=["masked"], **sizes)
        return GPT(articles.kinds, CONTEXT, **sizes)

    model = seeded(network, seed)
    tasks: list[tuple[Labelled, Any]] = [
        (Reviews(LABELS, seed=seed), verdicts),
        (Names(LABELS, seed=seed), tags),
    ]
    for data, _ in tasks:
        data.setup()
    found: list[tuple[int, list[float]]] = []

    def look(step: int) -> None:
        if step not in steps:
            return
        model.eval()
        right = []
        for data, vectors in tasks:
            train, test = (
                vectors(model, *split[torch.arange(len(split))]) for split in (data.train_set, data.test_set)
            )
            right.append(logistic_accuracy(*train, *test))
        model.train()
        found.append((step, [articles.asked / max(1, articles.words), *right]))

    seconds = fit(model, articles, seed, max(steps), RATE, batch=BATCH, look=look)
    today, size = datetime.date.today().isoformat(), model.num_parameters
    return [
        Run(objective, seed, step, size, seconds, today, *(round(value, 4) for value in values))
        for step, values in found
    ]


def kept(path: Path = KEPT) -> list[Run]:
    """The runs so far, by objective, steps and seed."""
    return sorted(
        runs_file.read(path, Run), key=lambda run: (OBJECTIVES.index(run.objective), run.steps, run.seed)
    )


def missing(path: Path = KEPT) -> list[tuple[Objective, int]]:
    """Trainings that are not there, seed by seed."""
    there = {(run.objective, run.seed) for run in kept(path)}
    return [(objective, seed) for seed in SEEDS for objective in OBJECTIVES if (objective, seed) not in there]


def rows(runs: list[Run]) -> list[Row]:
    """Verdicts and tags by objective and steps, mean over the seeds."""
    found = []
    for objective in OBJECTIVES:
        for steps in sorted({run.steps for run in runs}):
            mine = [run for run in runs if (run.objective, run.steps) == (objective, steps)]
            if not mine:
                continue
            for kind in ("verdict", "tag"):
                values = [getattr(run, kind) for run in mine]
                note = f"{spread(values)}; {statistics.mean(run.terms for run in mine):.2f} losses per word"
                case = f"{objective}, {steps:,} steps: {kind}"
                found.append(Row("objectives", case, statistics.mean(values), note=note, unit="right"))
    return found


def measure(quick: bool = False) -> list[Row]:
    """What probes find after the same steps; what is missing is trained first, five minutes in all."""
    if quick:
        return rows([run for objective in OBJECTIVES for run in train(objective, 0, steps=(2,))])
    for objective, seed in missing():
        for run in train(objective, seed):
            runs_file.append(run, KEPT)
    return rows(kept())
