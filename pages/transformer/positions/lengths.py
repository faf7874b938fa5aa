"""Loss of five schemes of positions against the length of the text, as the bench has trained them.

Shapes: F lengths.
"""

import math
from functools import lru_cache

import numpy as np
import torch

from lab.bench import positions as bench
from lab.seeding import seeded
from modules.transformer.positions import Learned
from pages.transformer.positions.room import LENGTHS

OPTIONS = ["higher than at place 64", "lower than at place 64", "the same as at place 64"]


@lru_cache(maxsize=1)
def whole() -> list[bench.Run]:
    """Runs of the seeds with which every scheme was trained."""
    there = {(run.scheme, run.seed) for run in bench.kept()}
    return [run for run in bench.kept() if all((scheme, run.seed) in there for scheme in bench.SCHEMES)]


@lru_cache(maxsize=1)
def runs() -> dict[str, np.ndarray]:
    """Scheme -> loss at each of `LENGTHS`, (seeds, F); NaN where the model does not read that far."""
    found: dict[str, list[list[float]]] = {}
    for run in whole():
        reach = len(run.nats) * bench.BIN
        values = [run.at(length) if length <= reach else math.nan for length in LENGTHS]
        found.setdefault(run.scheme, []).append(values)
    return {name: np.array(values) for name, values in found.items()}


def seeds() -> int:
    """Runs of each scheme, the fewest."""
    return min(map(len, runs().values()))


@lru_cache(maxsize=1)
def by_place() -> dict[str, np.ndarray]:
    """Scheme -> mean over seeds of the loss in each stretch of 16 places, (F,), NaN as above."""
    found: dict[str, list[list[float]]] = {}
    for run in whole():
        found.setdefault(run.scheme, []).append([*run.nats, *[math.nan] * (len(LENGTHS) - len(run.nats))])
    return {name: np.array(values).mean(0) for name, values in found.items()}


def refusal(length: int) -> str:
    """What learned positions say of a longer text."""
    try:
        seeded(lambda: Learned(bench.CONTEXT, 2))(torch.zeros(1, length, 2))
    except ValueError as error:
        return str(error)
    return ""


def captions() -> list[str]:
    """Who reads each length."""
    texts = []
    for length in LENGTHS:
        how = f"{length / bench.CONTEXT:g} times" if length > bench.CONTEXT else "within"
        no = refusal(length)
        texts.append(
            f"{length} characters, {how} the length of the training. "
            + (f"Learned positions: “{no}”" if no else "All schemes read them.")
        )
    return texts


def equations() -> list[str]:
    """Loss of each scheme at each length, LaTeX."""
    texts = []
    for f, length in enumerate(LENGTHS):
        parts = [
            rf"\text{{{name}}}\ {values[:, f].mean():.3f}"
            for name, values in runs().items()
            if not np.isnan(values[:, f]).any()
        ]
        texts.append(rf"\mathcal{{L}}(L={length}):\quad " + r",\ \ ".join(parts))
    return texts


def said(length: int) -> str:
    """Mean of each scheme at a length, with its standard deviation over the seeds."""
    f, words = LENGTHS.index(length), []
    for name, values in runs().items():
        spread = f" ± {values[:, f].std(ddof=1):.3f}" if len(values) > 1 else ""
        words.append(f"{name} {values[:, f].mean():.3f}{spread}")
    return ", ".join(words)


def answer(scheme: str) -> str:
    """How the loss at the last places of the longest windows differs from that at the last trained ones."""
    values = by_place()[scheme]
    change = values[-1] - values[LENGTHS.index(bench.CONTEXT)]
    return OPTIONS[0] if change > 0.05 else OPTIONS[1] if change < -0.05 else OPTIONS[2]
