"""From an outline to a picture: what a distance alone makes of it, what a game makes, and what D says.

The outline does not tell where the stripes of the paper lie: every phase is as true as any other.
"""

from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from datamodules.pairs import hatched, outline
from lab.errors import UserError
from lab.lenses import drawing, receptive_field
from lab.lenses.receptive_field import Span
from modules.adversarial.translation import Pix2Pix, gradient_energy
from pages.adversarial.translate.room import DISTANCE, GAME, PHASES, SIDE, TRUE

# parts of the GAN that work, by what D sees
LIT = {GAME: ["z", "G", "made", "D"], DISTANCE: ["D"], TRUE: ["D", "x"]}


@dataclass(frozen=True)
class Look:
    """
    Attributes:
        digit: as drawn. outline: c. alone, game: what both generators make of it.
        truths: (PHASES, …), one a phase. All SIDE × SIDE in [0, 1].
        distances: by generator, mean |x − x̂| at every phase, (PHASES,).
        energies: by generator, gradient energy as a share of the true pictures'.
        verdict: of the judged picture among ten others of its kind, σ of D's logits (h, w).
    """

    digit: Tensor
    outline: Tensor
    alone: Tensor
    game: Tensor
    truths: Tensor
    distances: dict[str, Tensor]
    energies: dict[str, float]
    verdict: Tensor


@torch.no_grad()
def look(alone: Pix2Pix, game: Pix2Pix, digit: Tensor, judged: str, at: int) -> Look:
    """All of it for a digit (SIDE, SIDE); a true picture is judged at the phase `at`.

    Raises:
        UserError: there is no ink.
    """
    if not bool((digit > 0.5).any()):
        raise UserError("There is no ink: draw something dark enough to have an outline.")
    c = outline(digit)[None, None]
    results = {DISTANCE: alone.translate(c), GAME: game.translate(c)}
    others = torch.stack([x for _, x in drawing.examples(SIDE)])[:, None]
    truths = hatched(digit.expand(PHASES, 1, SIDE, SIDE), torch.arange(PHASES) / PHASES)
    real = gradient_energy(truths).mean()
    network = game if judged == GAME else alone
    if judged == TRUE:
        company = hatched(others, torch.arange(len(others)) / len(others))
        picture = truths[at : at + 1]
    else:
        company, picture = network.translate(outline(others)), results[judged]
    return Look(
        digit,
        c[0, 0],
        results[DISTANCE][0, 0],
        results[GAME][0, 0],
        truths[:, 0],
        {name: (truths - x).abs().flatten(1).mean(1) for name, x in results.items()},
        {name: float(gradient_energy(x) / real) for name, x in results.items()},
        verdicts(game, torch.cat([c, outline(others)]), torch.cat([picture, company]))[0],
    )


@torch.no_grad()
def verdicts(game: Pix2Pix, c: Tensor, x: Tensor) -> Tensor:
    """σ of D's logits (B, h, w) of pictures of one kind, its batch norms by this batch, as in training.

    The running means are of real and made batches mixed: with those D has never judged.
    """
    discriminator = deepcopy(game.discriminator).train()
    result = torch.cat([2 * c - 1, 2 * x - 1], 1) if game.paired else 2 * x - 1
    return discriminator(result)[:, 0].sigmoid()


def box(game: Pix2Pix, row: int, column: int) -> list[Span]:
    """Rows and columns of the picture that one logit of D sees."""
    windows = [
        receptive_field.windows(layer, 2)[0]  # type: ignore[index]
        for layer in game.discriminator
        if isinstance(layer, nn.Conv2d)
    ]
    field = receptive_field.fields(windows)[-1]
    return [field.box(unit, SIDE) or (0, SIDE - 1) for unit in (row, column)]


def falsest(verdict: Tensor) -> tuple[int, int]:
    """The logit that D is least pleased with."""
    row, column = divmod(int(verdict.argmin()), verdict.shape[1])
    return row, column


def equations(result: Look) -> list[str]:
    """The distance of both generators at every phase, LaTeX."""
    one, other = result.distances[DISTANCE], result.distances[GAME]
    return [
        rf"\tfrac1n\|x-\hat x_{{\ell_1}}\|_1={a:.3f},\qquad "
        rf"\tfrac1n\|x-\hat x_{{\mathrm{{game}}}}\|_1={b:.3f}"
        for a, b in zip(one.tolist(), other.tolist(), strict=True)
    ]


def captions(result: Look) -> list[str]:
    """Caption of every phase."""
    one, other = result.distances[DISTANCE], result.distances[GAME]
    return [
        f"Target shifted by {p / PHASES:.0%} of a period: the output of "
        f"{'ℓ₁ alone' if a < b else 'the adversarial loss'} is nearer."
        for p, (a, b) in enumerate(zip(one.tolist(), other.tolist(), strict=True))
    ]
