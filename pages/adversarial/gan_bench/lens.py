"""A game on points of the plane, watched: what is made, how D judges the plane, and where it sends points.

    an arrow at x* = g(z):  −∂/∂x* of G's loss, what its next turn would have of this example

Shapes: F looks; SHOWN made points (F, SHOWN, 2); D on a grid (F, SIDE, SIDE); the first ARROWS points have
arrows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules import points
from lab.lenses import recorded
from lab.lenses.games import CURES, FAILURES, LOSSES, playing
from lab.lenses.ink import scattered
from modules.adversarial.gan import GAN
from modules.adversarial.judges import nearest_modes
from modules.adversarial.losses import Energy, Saturating
from modules.adversarial.transport import assignment

OWN = "your drawing"
TARGETS = ("ring8", "grid25", "moons", "spirals", OWN)
REACH, SIDE = 4.6, 31  # of the plane, and of D's grid
SHOWN, ARROWS, LOOKS = 400, 40, 30
LONGEST = 0.6  # of an arrow
EXAMPLES, COMPARED = 20_000, 200
SHARE = 0.008  # of all samples that a mode has at least
QUICK = 150  # batches that take about a second
FORMULAS = {
    "saturating": r"L_D=\mathrm{sp}(f(x^*))+\mathrm{sp}(-f(x)),\quad L_G=-\mathrm{sp}(f(x^*))",
    "non-saturating": r"L_D=\mathrm{sp}(f(x^*))+\mathrm{sp}(-f(x)),\quad L_G=\mathrm{sp}(-f(x^*))",
    "least squares": r"L_D=\tfrac12(f(x)-1)^2+\tfrac12f(x^*)^2,\quad L_G=\tfrac12(f(x^*)-1)^2",
    "hinge": r"L_D=[1-f(x)]_++[1+f(x^*)]_+,\quad L_G=-f(x^*)",
    "hinge, spectral norm": r"L_D=[1-f(x)]_++[1+f(x^*)]_+,\quad L_G=-f(x^*)",
    "relativistic": r"L_D=\mathrm{sp}(f(x^*)-f(x)),\quad L_G=\mathrm{sp}(f(x)-f(x^*))",
    "energy": r"L_D=E(x)+[m-E(x^*)]_+,\quad L_G=E(x^*)",
    "f-divergence, Pearson": r"L_D=f^*(T(x^*))-T(x),\quad L_G=-f^*(T(x^*))",
    "Wasserstein, clipped": r"L_D=f(x^*)-f(x),\ |w|\le 0.1,\quad L_G=-f(x^*)",
    "Wasserstein, penalty": r"L_D=f(x^*)-f(x)+(\|\nabla f\|-1)^2,\quad L_G=-f(x^*)",
}  # sp(t) = log(1 + eᵗ)
# the games of a lecture: file -> data, loss, failure, cure, batches, seed
RECORDED = {"bench-greedy": ("ring8", "non-saturating", "5 turns of G", "none", 1000, 0)}
OPTIONS = ["at most half of them", "more than half, not all", "all"]


@dataclass(frozen=True)
class Look:
    """
    Attributes:
        batches: so far. made: (SHOWN, 2). surface: (SIDE, SIDE), D from 0 to 1, rows upwards.
        arrows: (ARROWS, 2), the longest of length LONGEST.
        w1: W₁ between COMPARED made and as many real points.
        modes: that are reached; quality: share within 3 sd of one; None where no modes are known.
    """

    batches: int
    made: Tensor
    surface: Tensor
    arrows: Tensor
    w1: float
    modes: int | None
    quality: float | None


def settings(loss: str, failure: str, cure: str) -> dict[str, Any]:
    """Of the game, as the protocol names them; "none" changes nothing."""
    return LOSSES[loss] | FAILURES.get(failure, {}) | CURES.get(cure, {})


def target(name: str, ink: Tensor) -> Tensor:
    """EXAMPLES points of a law (N, 2), or of the ink of a drawing (S, S)."""
    if name == OWN:
        return scattered(ink, EXAMPLES).float()
    return points.sample(name, EXAMPLES, seed=1)[0]  # type: ignore[arg-type]


def known(name: str, loss: str, failure: str, cure: str, batches: int, seed: int) -> list[Look] | None:
    """The looks of a game that was recorded; None of all others."""
    asked = (name, loss, failure, cure, batches, seed)
    return next((recorded.load(file, Look) for file, of in RECORDED.items() if of == asked), None)


def record() -> None:
    """Play the games of RECORDED anew."""
    for file, (name, loss, failure, cure, batches, seed) in RECORDED.items():
        chosen = settings(loss, failure, cure)
        *_, (_, looks) = watching(name, torch.zeros(1, 1), chosen, batches, seed)
        recorded.save(file, looks)


def watching(
    name: str, ink: Tensor, chosen: Mapping[str, Any], batches: int, seed: int
) -> Iterator[tuple[float, list[Look]]]:
    """The game as it goes: the share done, and all looks so far."""
    x, looks = target(name, ink), list[Look]()
    for done, model, _ in playing(x, chosen, batches, seed, max(1, batches // LOOKS)):
        looks = [*looks, look(model, x, name, done, chosen.get("pack", 1))]
        yield done / batches, looks


def look(model: GAN, x: Tensor, name: str, done: int, pack: int = 1) -> Look:
    """What there is to see of a game; its own random numbers are left alone."""
    z = model.noise(2500, torch.Generator().manual_seed(7))
    with torch.no_grad():
        made = model.generator(z)
    modes = quality = None
    if name in points.MIXTURES:
        centres, sd = points.MIXTURES[name]
        mode, distance = nearest_modes(made, centres)
        near = mode[distance <= 3 * sd]
        modes = int((near.bincount(minlength=len(centres)) >= SHARE * len(made)).sum())
        quality = len(near) / len(made)
    w1 = float(assignment(made[:COMPARED], x[:COMPARED])[1])
    return Look(done, made[:SHOWN], surface(model, pack), arrows(model, made, x), w1, modes, quality)


def surface(model: GAN, pack: int) -> Tensor:
    """σ(f) over the plane; f without a probability is brought to mean 0 and deviation 2 first."""
    side = torch.linspace(-REACH, REACH, SIDE)
    y, x = torch.meshgrid(side, side, indexing="ij")
    each = torch.stack([x, y], -1).reshape(-1, 2).repeat_interleave(pack, 0)  # packs of one point
    with torch.no_grad():
        f = model.judge(each)
    if isinstance(model.game, Energy):
        f = -f  # real examples have little
    if not isinstance(model.game, Saturating):
        f = 2 * (f - f.mean()) / f.std().clamp(min=1e-9)
    return f.sigmoid().reshape(SIDE, SIDE)


def arrows(model: GAN, made: Tensor, x: Tensor) -> Tensor:
    """Downhill of G's loss at the first made points, scaled to LONGEST: (ARROWS, 2)."""
    count = 256
    fake = made[:count].clone().requires_grad_()
    (slope,) = torch.autograd.grad(model.of_generator(fake, x[:count]), fake)
    slope = -slope[:ARROWS]
    return LONGEST * slope / slope.norm(dim=1).max().clamp(min=1e-12)


def segments(looks: list[Look]) -> Tensor:
    """The arrows as lines with gaps: (F, 3 · ARROWS, 2)."""
    start = torch.stack([one.made[:ARROWS] for one in looks])
    end = start + torch.stack([one.arrows for one in looks])
    gap = torch.full_like(start, torch.nan)
    return torch.stack([start, end, gap], 2).flatten(1, 2)


def captions(looks: list[Look]) -> list[str]:
    """What every look says."""
    return [
        f"After {one.batches:,} batches: W₁ {one.w1:.3f}"
        + ("." if one.modes is None else f", modes reached {one.modes}, {one.quality:.0%} near one.")
        for one in looks
    ]


def reached(one: Look, count: int) -> str:
    """Which of OPTIONS the number of modes is."""
    modes = one.modes or 0
    return OPTIONS[2] if modes == count else OPTIONS[0] if modes <= count / 2 else OPTIONS[1]


def modes_of(name: str) -> int:
    """How many modes a target has, where they are known."""
    return len(points.MIXTURES[name][0]) if name in points.MIXTURES else 0


def equations(looks: list[Look], loss: str) -> list[str]:
    """The game's loss, and how far the laws are apart, LaTeX."""
    return [rf"{FORMULAS[loss]},\qquad W_1={one.w1:.3f}" for one in looks]


def factor(ratio: float) -> str:
    """How much a distance has fallen."""
    return "less than 2" if ratio < 2 else "2 to 5" if ratio <= 5 else "more than 5"
