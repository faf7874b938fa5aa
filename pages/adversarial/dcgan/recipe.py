"""The recipe of DCGAN with a line left out, beside the whole one: two games on the same small digits.

Shapes: pictures (N, 8, 8); what a game trains on (N, 1, 8, 8).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.lenses import recipe
from lab.lenses.games import moves
from lab.lenses.recipe import BATCH, PLAIN, SWITCHES, digits
from lab.lenses.training import watch
from modules.adversarial.dcgan import DCGAN
from modules.adversarial.metrics import frechet
from pages.adversarial.dcgan.one_number import SHEET

LOOKS, MEASURED = 20, 500


@dataclass(frozen=True)
class Round:
    """Both games at one look.

    Attributes:
        batches: so far. whole, other: pictures (SHEET, 8, 8) of the whole recipe and without a line.
        distances: of both to held-out digits.
    """

    batches: int
    whole: Tensor
    other: Tensor
    distances: tuple[float, float]


def switches() -> list[str]:
    """Changes that the recipe allows, first nothing."""
    return list(SWITCHES)


def game(switch: str, seed: int) -> tuple[DCGAN, dict[str, torch.optim.Optimizer]]:
    """A game of small digits with a line of the recipe changed, and its optimizers."""
    return recipe.game(SWITCHES[switch], seed)


def playing(switch: str, batches: int, seed: int) -> Iterator[tuple[float, list[Round]]]:
    """Both games, batch by batch: the share done, and all looks so far."""
    known, held = digits()
    pairs = [game(name, seed) for name in (PLAIN, switch)]
    every = max(1, batches // LOOKS)
    games = [moves(model, optimizers, known, batches, seed, every, BATCH) for model, optimizers in pairs]

    def look(done: int) -> Round:
        (one, a), (other, b) = (measured(model, held) for model, _ in pairs)
        return Round(done, one, other, (a, b))

    yield from watch(batches, ((done, look(done)) for (done, _), _ in zip(*games, strict=True)))


@torch.no_grad()
def measured(model: DCGAN, held: Tensor) -> tuple[Tensor, float]:
    """Pictures (SHEET, 8, 8), and the Fréchet distance of the pixels of as many as are held out."""
    model.eval()
    result = model.decode(model.noise(len(held), torch.Generator().manual_seed(7)))
    return result[:SHEET, 0], float(frechet(result.flatten(1), held.flatten(1)))


def floor() -> float:
    """The distance between as many digits of training and those held out: what no game need go below."""
    known, held = digits()
    order = torch.randperm(len(known), generator=torch.Generator().manual_seed(0))
    return float(frechet(known[order[: len(held)]].flatten(1), held.flatten(1)))


def round_captions(rounds: Sequence[Round], switch: str) -> list[str]:
    """A sentence for every look."""
    return [
        f"After {one.batches:,} batches: distance {one.distances[0]:.2f} with all of it, "
        f"{one.distances[1]:.2f} with: {switch}."
        for one in rounds
    ]


def round_equations(rounds: Sequence[Round]) -> list[str]:
    """The distance, LaTeX."""
    return [
        rf"\|\mu-\mu^*\|^2+\mathrm{{tr}}(S+S^*-2(SS^*)^{{1/2}})={a:.3f},\qquad {b:.3f}"
        for a, b in (one.distances for one in rounds)
    ]


OUTCOMES = ["less than half", "within a factor of 2", "more than twice"]


def outcome(last: Round) -> str:
    """Compare the other game's distance with the whole recipe's."""
    ratio = last.distances[1] / last.distances[0]
    return OUTCOMES[0] if ratio < 0.5 else OUTCOMES[2] if ratio > 2 else OUTCOMES[1]


def recipe_notice(switch: str, least: float) -> str:
    """Sentences that hold of all the recipe's games."""
    model, _ = game(switch, 0)
    result = sum(p.numel() for p in model.generator.parameters())
    return (
        "Two games on the same batches of small digits and the same seed, one with the whole recipe, one "
        f"with: {switch} (its G has {result:,} parameters). Fréchet distance of the pixels to "
        f"{MEASURED} held-out digits; as many digits of training come to {least:.2f}. With seeds 0 and 1, "
        "400 batches, batch norm and a small β₁ decide; strides, leaky ReLU and convolutions do not matter "
        "by this distance at this size. The distance knows means and covariances alone."
    )
