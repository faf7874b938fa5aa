"""A game that grows from 4 × 4 pixels on: a fade of a trained one, and the growth to 8 × 8 as it goes.

Shapes: pictures (N, S, S), those of half the size with each pixel doubled where they are shown.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.lenses.games import moves
from lab.lenses.generated import differ
from lab.lenses.recipe import digits
from lab.seeding import seeded
from modules.adversarial.growing import ProgressiveGAN, halve, up
from modules.adversarial.growing import fade as fading
from modules.adversarial.metrics import frechet
from modules.adversarial.stylegan import FIRST
from pages.adversarial.growing.room import ALPHAS

SHEET, DRAWN = 24, 500


# --- The fade -----------------------------------------------------------------------------------


def at(network: Any, level: int, alpha: float) -> Any:
    """The network's own copy, at a level and a fade: what readers share stays as it is."""
    network = copy.deepcopy(network)
    network.level, network.alpha = level, alpha
    return network


@dataclass(frozen=True)
class Fade:
    """A trained game between two levels.

    Attributes:
        pictures: (A, SHEET, S, S) at each of ALPHAS.
        detail: how far they are from the doubled small ones; content: how far their halves are from the
            small ones; both root mean squares over DRAWN pictures, (A,).
        between: how far two small pictures are from each other.
        same: largest change of a pixel and of D's answer that growing makes at α = 0.
        ways: of the pixel in the middle of the first picture before tanh, by the old way and by the new one.
    """

    pictures: Tensor
    detail: list[float]
    content: list[float]
    between: float
    same: tuple[float, float]
    ways: tuple[float, float]


@torch.no_grad()
def fade(game: ProgressiveGAN, seed: int, side: int) -> Fade:
    """A trained game's fade to pictures of this side, at draws of one seed."""
    z = game.noise(DRAWN, torch.Generator().manual_seed(seed))
    generator, discriminator, level = game.ema_generator(), game.discriminator, sides(game).index(side)
    small = at(generator, level - 1, 1.0)(z)
    old, new = at(generator, level, 0.0).old_and_new(z)  # all that lies between is made of these two
    grown = [fading(old, new, alpha).tanh() for alpha in ALPHAS]
    before, after = at(discriminator, level - 1, 1.0)(small), at(discriminator, level, 0.0)(up(small))
    same = float((grown[0] - up(small)).abs().max()), float((after - before).abs().max())
    ends = at(generator, level, 0.0).double().old_and_new(z[:1].double())
    ways = tuple(middle(x[0, 0]) for x in ends)
    small = inked(small)
    pictures = [inked(x) for x in grown]
    return Fade(
        torch.stack([x[:SHEET, 0] for x in pictures]),
        [differ(x, up(small)) for x in pictures],
        [differ(halve(x), small) for x in pictures],
        differ(small, small.roll(1, 0)),
        same,
        (ways[0], ways[1]),
    )


def sides(game: ProgressiveGAN) -> list[int]:
    """Pixels along a side at each level."""
    return [FIRST << level for level in range(game.levels)]


def larger(game: ProgressiveGAN) -> list[int]:
    """Sides that are faded in."""
    return sides(game)[1:]


def largest(game: ProgressiveGAN) -> int:
    """The side of finished pictures."""
    return sides(game)[-1]


def middle(x: Tensor) -> float:
    """The pixel of (S, S) whose arithmetic is shown."""
    return float(x[len(x) // 2, len(x) // 2])


def inked(x: Tensor) -> Tensor:
    """From [−1, 1] to [0, 1]."""
    return (x + 1) / 2


def fade_captions(result: Fade) -> list[str]:
    """A sentence for every α."""
    return [
        f"α = {alpha:g}: a pixel is {detail:.3f} from the doubled small picture; halved again, {content:.3f} "
        "from the small one."
        for alpha, detail, content in zip(ALPHAS, result.detail, result.content, strict=True)
    ]


def fade_equations(result: Fade) -> list[str]:
    """The arithmetic of one pixel, LaTeX."""
    old, new = result.ways
    texts = []
    for alpha, pictures in zip(ALPHAS, result.pictures, strict=True):
        ink = middle(pictures[0])
        texts.append(
            rf"\tfrac12\left(1+\tanh\left({1 - alpha:.2f}\cdot({old:.3f})+{alpha:.2f}\cdot({new:.3f})\right)"
            rf"\right)={ink:.3f}"
        )
    return texts


def half_way(result: Fade, frame: int) -> str:
    """Check whether this frame is nearer to the grown picture than to the doubled one."""
    to_new = differ(result.pictures[frame], result.pictures[-1])
    to_old = differ(result.pictures[frame], result.pictures[0])
    return "the grown one" if to_new < to_old else "the doubled small one"


# --- The growth as it goes ----------------------------------------------------------------------

LATENT, CHANNELS, RATE, BATCH, EMA = 32, (32, 16), 1e-3, 64, 0.98
LOOKS = 10  # of a phase


@dataclass(frozen=True)
class Look:
    """The game at one turn.

    Attributes:
        turns: of D so far. level, alpha: of the networks. pictures: (SHEET, 8, 8), of the same z always.
        distance: Fréchet distance of pixels to held-out digits. kept: correlation of the halved pictures
            with those that stood when 4 × 4 pixels were all; None before that.
    """

    turns: int
    level: int
    alpha: float
    pictures: Tensor
    distance: float
    kept: float | None


def growing(phase: int, seed: int) -> ProgressiveGAN:
    """A game that has not begun."""
    return seeded(lambda: ProgressiveGAN((1, 8, 8), LATENT, CHANNELS, phase=phase, ema=EMA), seed)


def playing(phase: int, seed: int) -> Iterator[tuple[float, list[Look]]]:
    """The game of four phases: the share done, and all looks so far."""
    known, held = digits()
    model = growing(phase, seed)
    optimizers: dict[str, torch.optim.Optimizer] = {
        name: torch.optim.Adam(parameters, lr=RATE, betas=(0.5, 0.999), fused=True)
        for name, parameters in model.players().items()
    }
    z = model.noise(len(held), torch.Generator().manual_seed(seed))
    looks, small = list[Look](), None
    every = max(1, phase // LOOKS)
    for done, _ in moves(model, optimizers, known, 4 * phase, seed, every, BATCH):
        with torch.no_grad():
            x = model.decode(z)
        if done == phase:
            small = halve(x)  # of doubled pixels: the picture itself
        level, alpha = model.schedule_position()
        kept = None if small is None else correlation(halve(x), small)
        distance = float(frechet(x.flatten(1), held.flatten(1)))
        looks = [*looks, Look(done, level, alpha, x[:SHEET, 0], distance, kept)]
        yield done / (4 * phase), looks


def correlation(x: Tensor, y: Tensor) -> float:
    """Correlation of what pictures (N, ...) are beyond their mean: over draws and pixels together, −1 to
    1."""
    x, y = x - x.mean(0), y - y.mean(0)
    return float((x * y).sum() / (x.square().sum() * y.square().sum()).sqrt().clamp(min=1e-12))


def look_captions(looks: Sequence[Look]) -> list[str]:
    """A sentence for every look."""
    texts = []
    for one in looks:
        if one.level == 0:
            state = "4 × 4 pixels"
        else:
            state = f"8 × 8 pixels faded in, α = {one.alpha:.2f}" if one.alpha < 1 else "8 × 8 pixels"
        kept = "" if one.kept is None else f", correlation with the last small pictures {one.kept:.2f}"
        texts.append(f"Turn {one.turns:,}: {state}; distance {one.distance:.2f}{kept}.")
    return texts


def look_equations(looks: Sequence[Look], phase: int) -> list[str]:
    """Equation of where α comes from, LaTeX."""
    return [
        rf"\alpha=\min\left(1,\tfrac{{{one.turns}-{phase}}}{{{phase}}}\right)={one.alpha:.2f}"
        if one.level
        else rf"{one.turns}<{phase}:\ 4\times 4"
        for one in looks
    ]


OPTIONS = ["below 0.5", "0.5 to 0.8", "above 0.8"]


def much(value: float | None) -> str:
    """The one of OPTIONS that a correlation is."""
    value = value or 0.0
    return OPTIONS[0] if value < 0.5 else OPTIONS[1] if value <= 0.8 else OPTIONS[2]
