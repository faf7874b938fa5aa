"""Trained models of the small digits side by side: numbers, cost on unseen digits, and measured times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from lab.lenses.neighbours import digits
from modules.autoregressive.base import Autoregressive
from pages.autoregressive.parameters.asymmetry import seconds

# what the picture calls it -> experiment
RACERS = {
    "chain, k = 1": "chain-digits",
    "4 neighbours": "neighbours-digits",
    "FVSBN": "fvsbn-digits",
    "MADE, d = 32": "made32-digits",
    "NADE, d = 32": "nade32-digits",
    "NADE, d = 100": "nade-digits",
    "chain, k = 8": "chain8-digits",
    "untied, d = 32": "untied-digits",
}
BUDGETS = (500, 1_000, 3_000, 5_000, 20_000, 100_000)  # numbers that a model may have
SAMPLES = 16


@dataclass(frozen=True)
class Racer:
    """One trained model.

    Attributes:
        numbers: free ones. nll: of test digits, nats, from the card.
        score: milliseconds of log p of all test digits; draw: of SAMPLES samples.
    """

    name: str
    numbers: int
    nll: float
    score: float
    draw: float


def race(models: Mapping[str, tuple[Autoregressive, Mapping[str, Any]]]) -> list[Racer]:
    """By name the model and its card; timed here and now."""
    x = digits()[1]
    results = []
    for name, (model, card) in models.items():
        with torch.no_grad():
            score = seconds(lambda model=model: model.log_prob(x))  # type: ignore[misc]
            own = torch.Generator().manual_seed(0)
            draw = seconds(lambda model=model, own=own: model.sample(SAMPLES, generator=own))  # type: ignore[misc]
        results.append(
            Racer(name, model.num_parameters, card["metrics"]["test/nll"], 1000 * score, 1000 * draw)
        )
    return results


def within(racers: Sequence[Racer], budget: int) -> list[Racer]:
    """Those with at most so many numbers, the lowest cost first."""
    return sorted((racer for racer in racers if racer.numbers <= budget), key=lambda racer: racer.nll)
