"""Samples of a GPT in training as text, and what is said of its losses."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from lab.lenses import rewind
from lab.lenses import text as texts
from pages.transformer.gpt_trainer import lens

OPTIONS = (
    "not even how often each character comes",
    "how often characters come, but not which follows which",
    "more than which character follows which",
)


def rows(recipe: lens.Recipe, frame: rewind.Frame) -> list[str]:
    """The sample as lines of text."""
    characters = recipe.data.characters
    return ["".join(characters[i] for i in row) for row in frame["sample"].tolist()]


def known_words(recipe: lens.Recipe, frame: rewind.Frame) -> tuple[int, int]:
    """Words of a sample that the training text has, and all of them; the last of a row is cut off, and does
    not count."""
    words = [word for row in rows(recipe, frame) for word in "".join(row.rpartition(" ")[:1]).split()]
    return sum(word in recipe.data.words for word in words), len(words)


def answer(recipe: lens.Recipe, loss: float) -> str:
    """The one of OPTIONS that a loss says."""
    return OPTIONS[(loss < recipe.data.unigram) + (loss < recipe.data.bigram)]


def captions(
    frames: Sequence[rewind.Frame], knobs: Sequence[Mapping[str, float]], recipe: lens.Recipe
) -> list[str]:
    """Losses, words and rate at each frame."""
    found = []
    for number, (frame, turned) in enumerate(zip(frames, knobs, strict=True)):
        steps = number * recipe.stride
        if not np.isfinite(frame["val"]):
            found.append(f"After {steps} steps the training has run away: turn the rate down.")
            continue
        right, words = known_words(recipe, frame)
        rate = lens.rate_of(turned, max(steps - 1, 0))
        found.append(
            f"After {steps} steps: {float(frame['val']):.3f} nats per character held out, "
            f"{float(frame['train']):.3f} in training; {right} of {words} words of the sample are words of "
            f"the text. Rate {rate:.2g}."
        )
    return found


def equations(frames: Sequence[rewind.Frame], recipe: lens.Recipe) -> list[str]:
    """The validation loss beside ln V and the entropies, LaTeX."""
    data = recipe.data
    V = len(data.characters)
    return [
        r"L = -\frac{1}{T}\sum_{t=1}^{T}\log p(x_{t+1}\mid x_{1:t}) = "
        + (f"{float(frame['val']):.3f}" if np.isfinite(frame["val"]) else r"\text{undefined}")
        + rf",\qquad \ln V=\ln {V}={math.log(V):.3f},\; H_1={data.unigram:.3f},\; H_2={data.bigram:.3f}"
        for frame in frames
    ]


def visible(line: str) -> str:
    """A line of a sample with its invisible characters shown, spaces as they are."""
    return line.translate(texts.VISIBLE | {ord(" "): " "})
