"""A game on points of the plane with any loss, any failure and any cure, watched as it goes."""

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from datamodules import points
from lab.errors import UserError
from lab.lenses import recorded
from lab.lenses.games import CURES, FAILURES, LOSSES, network, playing
from lab.lenses.ink import scattered
from lab.lenses.plane_games import Look, look
from lab.lenses.training import watch
from lab.seeding import seeded
from modules.adversarial.gan import GAN
from pages.adversarial.gan_bench.room import OWN

LOOKS, EXAMPLES = 30, 20_000
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
RECORDED = {
    "bench-plain": ("ring8", "non-saturating", "nothing", "none", 1000, 0),
    "bench-greedy": ("ring8", "non-saturating", "5 turns of G", "none", 1000, 0),
}
OPTIONS = ["at most half of them", "more than half, not all", "all"]


def failures() -> list[str]:
    """Faults that may spoil a game, last nothing."""
    return ["nothing", *FAILURES]


def settings(loss: str, failure: str, cure: str) -> dict[str, Any]:
    """Settings of the game, as the protocol names them; "none" changes nothing."""
    return LOSSES[loss] | FAILURES.get(failure, {}) | CURES.get(cure, {})


def untrained(loss: str, failure: str, cure: str) -> GAN:
    """The two networks as they begin: what they are made of."""
    chosen = {name: value for name, value in settings(loss, failure, cure).items() if name != "rate"}
    return seeded(lambda: network(chosen), 0)


def sample(target: str, ink: Tensor | None) -> Tensor:
    """EXAMPLES points of a distribution (N, 2), or of the ink of a drawing (S, S).

    Raises:
        UserError: there is no ink.
    """
    if target == OWN:
        if ink is None or not bool(ink.any()):
            raise UserError("There is nothing on the pad: draw where the points should lie.")
        return scattered(ink, EXAMPLES).float()
    return points.sample(target, EXAMPLES, seed=1)[0]  # type: ignore[arg-type]


def known(target: str, loss: str, failure: str, cure: str, batches: int, seed: int) -> list[Look] | None:
    """The looks of a game that was recorded; None of all others."""
    asked = (target, loss, failure, cure, batches, seed)
    return next((recorded.load(file, Look) for file, of in RECORDED.items() if of == asked), None)


def record() -> None:
    """Play the games of RECORDED anew."""
    for file, (target, loss, failure, cure, batches, seed) in RECORDED.items():
        *_, (_, looks) = watching(target, None, loss, failure, cure, batches, seed)
        recorded.save(file, looks)


def watching(
    target: str, ink: Tensor | None, loss: str, failure: str, cure: str, batches: int, seed: int
) -> Iterator[tuple[float, list[Look]]]:
    """The game as it goes: the share done, and all looks so far."""
    x, chosen = sample(target, ink), settings(loss, failure, cure)
    pack = chosen.get("pack", 1)
    game = playing(x, chosen, batches, seed, max(1, batches // LOOKS))
    yield from watch(batches, ((done, look(model, x, target, done, pack)) for done, model, _ in game))


def captions(looks: list[Look]) -> list[str]:
    """Caption of every look."""
    return [
        f"After {one.batches:,} batches: W₁ {one.w1:.3f}"
        + ("." if one.modes is None else f", modes reached {one.modes}, {one.quality:.0%} near one.")
        for one in looks
    ]


def numbers(looks: list[Look], count: int) -> list[dict[str, str]]:
    """Numbers of the machine at each look: modes that are reached, or W₁."""
    return [
        {"made": f"W₁ = {one.w1:.2f}" if one.modes is None else f"modes {one.modes} of {count}"}
        for one in looks
    ]


def reached(one: Look, count: int) -> str:
    """The one of OPTIONS that the number of modes is."""
    modes = one.modes or 0
    return OPTIONS[2] if modes == count else OPTIONS[0] if modes <= count / 2 else OPTIONS[1]


def equations(looks: list[Look], loss: str) -> list[str]:
    """The game's loss, and how far the distributions are apart, LaTeX."""
    return [rf"{FORMULAS[loss]},\qquad W_1={one.w1:.3f}" for one in looks]


def factor(ratio: float) -> str:
    """Factor by which a distance has fallen."""
    return "less than 2" if ratio < 2 else "2 to 5" if ratio <= 5 else "more than 5"
