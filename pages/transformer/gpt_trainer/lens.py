r"""A GPT of characters in training: its losses beside entropies of the text, samples, the loss by position.

    L = −(1/T) Σ_t log p(x_{t+1} | x_{1:t}),   ln V at the start
    H₁ = −Σ_a p(a) ln p(a),   H₂ = −Σ_{a,b} p(a, b) ln p(b | a)     of the training text, nats

A model that sees no character before the next can reach H₁ on that text at best, one that sees a single one
H₂: at the first position of a window a single one is all there is. The rate rises over the first W steps,
rate · min(1, step / W).

Shapes: B windows, T positions, V characters; F frames, a sample has ROWS rows of COLUMNS characters.

References: Radford et al. 2019 (GPT-2); [UDL] 12.7; [LLM] part 4.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from datamodules import gazette, pydocs
from datamodules.tokenizer import CharTokenizer
from lab.errors import UserError
from lab.lenses import recorded, rewind
from modules.language.information import entropy
from modules.transformer.gpt import GPT
from pages.transformer.gpt_trainer.room import (
    DEFAULT,
    DOCS,
    FIRST,
    GAZETTE,
    MOST,
    MOST_TEXT,
    MOST_WEIGHTS,
    STRIDE,
    WITHIN,
)

ARTICLES, DOCUMENTS = 4_000, 300_000  # of the gazette; characters of the documentation
BATCH = 16  # windows of a step
JUDGED = {"train": 32, "val": 128}  # windows, at most, that each loss is the mean of
ROWS, COLUMNS = 5, 40  # of a sample
LAST, FILE = 40, "gpt-trainer"  # of the recorded training: its last frame; its file


@dataclass(frozen=True)
class Read:
    """A text as a training reads it.

    Attributes:
        train, val: ids of its characters, the first 90 % and the rest. characters: V of them, sorted.
        unigram, bigram: H₁ and H₂ of the training text. words: those of the training text.
    """

    train: Tensor
    val: Tensor
    characters: list[str]
    unigram: float
    bigram: float
    words: frozenset[str]


def corpus(source: str, text: str) -> str:
    """The text by the name of its source; `text` is the reader's own.

    Raises:
        UserError: there is no text.
    """
    if source == GAZETTE:
        return gazette_text()
    if source == DOCS:
        return pydocs.text()[:DOCUMENTS]
    if len(set(text)) < 2:
        raise UserError("Type a text of at least two different characters: there is nothing to learn here.")
    return text[:MOST_TEXT]


@lru_cache(maxsize=1)
def gazette_text() -> str:
    """Articles, a line each."""
    return "".join(f"{one.text} {one.following}\n" for one in gazette.articles(ARTICLES, seed=0))


@lru_cache(maxsize=4)
def read(text: str) -> Read:
    """Characters, splits and entropies of a text."""
    coder = CharTokenizer(sorted(set(text)))
    ids, end = torch.tensor(coder.encode(text)), int(0.9 * len(text))
    train = ids[:end]
    V = len(coder)
    pairs = (train[:-1] * V + train[1:]).bincount(minlength=V * V).double().view(V, V)
    p = pairs / pairs.sum()
    unigram = float(entropy(train.bincount(minlength=V).double() / len(train)))
    bigram = float(entropy(p.flatten()) - entropy(p.sum(1)))
    return Read(train, ids[end:], coder.tokens, unigram, bigram, frozenset(text[:end].split()))


def windows(ids: Tensor, T: int, most: int) -> Tensor:
    """Up to `most` windows of T + 1 characters, evenly over a text (N,): (B, T + 1)."""
    starts = torch.linspace(0, len(ids) - T - 1, min(most, len(ids) - T)).long()
    return ids[starts[:, None] + torch.arange(T + 1)]


def nll(model: GPT, window: Tensor) -> Tensor:
    """−log p of the next character at each place of windows (B, T + 1): (B, T)."""
    logits = model(window[:, :-1])  # (B, T, V)
    return F.cross_entropy(logits.mT, window[:, 1:], reduction="none")


@dataclass(frozen=True)
class Recipe(rewind.OfOneLoss):
    """A GPT of characters that learns a text."""

    text: str
    layers: int
    width: int
    heads: int
    context: int
    seed: int
    stride: int = STRIDE

    @cached_property
    def data(self) -> Read:
        return read(self.text)

    def build(self) -> GPT:
        return GPT(len(self.data.characters), self.context, self.layers, self.heads, self.width)

    def step(
        self, model: nn.Module, optimizers: rewind.Optimizers, knobs: Mapping[str, float],
        generator: torch.Generator,
    ) -> None:  # fmt: skip
        """A step of Adam at the rate of this step; the gradient is not clipped."""
        rate = rate_of(knobs, steps_of(optimizers["all"]))
        super().step(model, optimizers, dict(knobs, rate=rate, clip=0.0), generator)

    def loss(self, model: GPT, knobs: Mapping[str, float], generator: torch.Generator) -> Tensor:
        """Mean −log p of a character, over BATCH windows at any place."""
        train, T = self.data.train, self.context
        starts = torch.randint(len(train) - T, (BATCH,), generator=generator)
        return nll(model, train[starts[:, None] + torch.arange(T + 1)]).mean()

    def look(self, model: GPT, knobs: Mapping[str, float]) -> dict[str, np.ndarray]:
        """train, val: mean losses; places (T,): validation loss by position; sample (ROWS, COLUMNS): ids."""
        data, T = self.data, self.context
        places = nll(model, windows(data.val, T, JUDGED["val"])).mean(0)
        return {
            "train": nll(model, windows(data.train, T, JUDGED["train"])).mean().numpy(),
            "val": places.mean().numpy(),
            "places": places.numpy(),
            "sample": self.sample(model),
        }

    def sample(self, model: GPT) -> np.ndarray:
        """Rows of text, each behind a new line where the text has one; the same draws at every frame.
        Zeros of a model whose numbers have run away."""
        characters = self.data.characters
        start = characters.index("\n") if "\n" in characters else int(self.data.train[0])
        prompt = torch.full((ROWS, 1), start)
        if not model.next_logits(prompt).isfinite().all():
            return np.zeros((ROWS, COLUMNS), np.int16)
        drawn = model.generate(prompt, COLUMNS, generator=torch.Generator().manual_seed(self.seed))
        return drawn[:, 1:].numpy().astype(np.int16)


def warmed(rate: float, warmup: float, done: int) -> float:
    """The rate of a step, after `done` others: it rises to `rate` over `warmup` steps."""
    return rate * min(1.0, (done + 1) / max(1.0, warmup))


def rate_of(knobs: Mapping[str, float], done: int) -> float:
    """The rate of a step by the knobs, after `done` others."""
    return warmed(knobs["rate"], knobs["warmup"], done)


def steps_of(optimizer: torch.optim.Optimizer) -> int:
    """Steps that an Adam has taken."""
    return max((int(of["step"]) for of in optimizer.state.values()), default=0)


def recipe(source: str, text: str, layers: int, width: int, heads: int, context: int, seed: int) -> Recipe:
    """The training of a text.

    Raises:
        UserError: the text is too short for windows of `context`, or the model too large.
    """
    made = Recipe(corpus(source, text), layers, width, heads, context, seed)
    least = 10 * (context + 1)
    if len(made.text) < least:
        raise UserError(
            f"The text has {len(made.text)} characters: windows of {context} need at least {least}, of which "
            "a tenth is held out."
        )
    count, V = weights(made), len(made.data.characters)
    if count > MOST_WEIGHTS:
        raise UserError(
            f"With {V:,} different characters this GPT has {count:,} weights, more than {MOST_WEIGHTS:,}: "
            "take less width or a text of fewer characters."
        )
    return made


def weights(recipe: Recipe) -> int:
    """Weights of the GPT: a block has 12 d² and two gains, the table and the positions (V + T) d."""
    d, V = recipe.width, len(recipe.data.characters)
    return recipe.layers * (12 * d * d + 2 * d) + (V + recipe.context) * d + d


# --- A training that was recorded ------------------------------------------------------------------------


def first() -> rewind.History:
    """The knobs as they stand at first."""
    return rewind.parse(f"0:{FIRST}", WITHIN, MOST)


def known(recipe: Recipe) -> rewind.Run | None:
    """The training that was recorded; None of all others."""
    return recording() if recipe == default() else None


@lru_cache(maxsize=1)
def recording() -> rewind.Run:
    return rewind.Run(default(), first(), frames=recorded.load_frames(FILE))


def default() -> Recipe:
    return Recipe(gazette_text(), **DEFAULT)


def record() -> None:
    """Train the poster's GPT anew."""
    run = rewind.Run(default(), first())
    run.advance(LAST, math.inf)
    recorded.save_frames(FILE, run.frames())


def levels(recipe: Recipe) -> dict[str, float]:
    """What a loss is compared with, in nats: by its name in a figure."""
    data, V = recipe.data, len(recipe.data.characters)
    return {"ln V": math.log(V), "H<sub>1</sub>": data.unigram, "H<sub>2</sub>": data.bigram}
