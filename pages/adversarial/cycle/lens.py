"""Digits and their outlines, learned without a pair: there, back, and the partner that nobody has shown.

Two of the trainings dropped a term of the loss; all saw one half of the digits as they are and the outlines
of the other half.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.pairs import outline
from lab import experiments, weights
from lab.errors import UserError
from modules.adversarial.cyclegan import CycleGAN
from pages.adversarial.cycle.room import OUTLINES, TRAININGS


@dataclass(frozen=True)
class Trip:
    """One picture on its way, all SIDE × SIDE in [0, 1].

    Attributes:
        source: where it starts. translation: in the other domain. around: and back again.
        partner: the true picture of the other domain.
        verdict: what the other domain's D says of `translation`, (h, w); 1 is real, 0 is made.
    """

    source: Tensor
    translation: Tensor
    around: Tensor
    partner: Tensor
    verdict: Tensor

    @property
    def cycle(self) -> float:
        """mean |back(there(a)) − a|."""
        return float((self.around - self.source).abs().mean())

    @property
    def to_partner(self) -> float:
        """mean |there(a) − its partner|, which no loss asks for."""
        return float((self.translation - self.partner).abs().mean())

    @property
    def copied(self) -> float:
        """mean |a − its partner|: what copying the picture would cost."""
        return float((self.source - self.partner).abs().mean())


@torch.no_grad()
def trip(model: CycleGAN, digit: Tensor, way: str) -> Trip:
    """The way of a digit (SIDE, SIDE), or of its outline, there and back."""
    a, b = digit[None, None], outline(digit)[None, None]
    if way == OUTLINES:
        result = model.translate(a)
        around, text = model.translate_back(result), model.discriminator_b(2 * result - 1)
        return Trip(digit, result[0, 0], around[0, 0], b[0, 0], text[0, 0])
    result = model.translate_back(b)
    around, text = model.translate(result), model.discriminator_a(2 * result - 1)
    return Trip(b[0, 0], result[0, 0], around[0, 0], digit, text[0, 0])


def trips(
    whole: CycleGAN, no_content: CycleGAN, no_cycle: CycleGAN, digit: Tensor, way: str
) -> dict[str, Trip]:
    """By training.

    Raises:
        UserError: there is no ink.
    """
    if not bool((digit > 0.5).any()):
        raise UserError("There is no ink: draw something dark enough to have an outline.")
    models = zip(TRAININGS, (whole, no_content, no_cycle), strict=True)
    return {name: trip(model, digit, way) for name, model in models}


def measured(name: str, way: str) -> tuple[float, float]:
    """Measures of the test digits: mean |there(a) − partner| and the mean of both cycles, as the training's
    card has them."""
    metrics = weights.read_card(experiments.ZOO / TRAININGS[name])["metrics"]
    return metrics[f"test/l1_{'there' if way == OUTLINES else 'back'}"], metrics["test/cycle"]


def equation(result: Trip) -> str:
    """Cycle, partner and copy, LaTeX."""
    return (
        rf"\tfrac1n\|g'(g(a))-a\|_1={result.cycle:.3f},\quad "
        rf"\tfrac1n\|g(a)-b\|_1={result.to_partner:.3f},\quad \tfrac1n\|a-b\|_1={result.copied:.3f}"
    )
