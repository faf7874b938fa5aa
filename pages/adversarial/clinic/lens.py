"""The same game twice, once with a cure: which modes each holds, look by look.

Both begin with the same seed. Shares are of 2,500 samples: each belongs to its nearest mode, however far;
near one are those within three deviations.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules import points
from lab.lenses import recorded
from lab.lenses.games import CURES, FAILURES, TRICKS, network, playing
from lab.lenses.training import watch
from lab.seeding import seeded
from modules.adversarial.gan import GAN
from modules.adversarial.metrics import ModeCoverage
from pages.adversarial.clinic.room import NOTHING

HELP = CURES | TRICKS
BATCHES, EVERY = 600, 20
SHOWN, SAMPLES = 400, 2500
# the lanes of a lecture, on eight modes with seed 0 and five turns of G: cure -> file
RECORDED = {"": "clinic-greedy", "packs of 4": "clinic-packs", "minibatch std": "clinic-std",
            "penalty": "clinic-penalty", "mode seeking": "clinic-seeking"}  # fmt: skip
OPTIONS = ("the spoiled game", "the game with the cure", "both the same")


@dataclass(frozen=True)
class Look:
    """
    Attributes:
        batches: so far. made: (SHOWN, 2). shares: (K,) of all samples, by nearest mode.
        quality: share near any mode; kl: of the shares from even ones, nats.
    """

    batches: int
    made: Tensor
    shares: Tensor
    quality: float
    kl: float

    @property
    def even(self) -> float:
        """As many modes, held evenly, have this KL: K e^−KL."""
        return len(self.shares) * math.exp(-self.kl)


def failures() -> list[str]:
    """Faults that may spoil a game, last nothing."""
    return [*FAILURES, NOTHING]


def cures() -> list[str]:
    """Cures that may help it."""
    return list(HELP)


def sample(target: str) -> Tensor:
    """Points of the data, (20,000, 2)."""
    return points.sample(target, 20_000, seed=1)[0]  # type: ignore[arg-type]


def modes(target: str) -> Tensor:
    """Middles of the data's modes, (K, 2)."""
    return points.MIXTURES[target][0]


def untrained(failure: str, cure: str) -> GAN:
    """The two networks of the game with the cure as they begin: what they are made of."""
    chosen = {k: v for k, v in (FAILURES.get(failure, {}) | HELP[cure]).items() if k != "rate"}
    return seeded(lambda: network(chosen), 0)


Pair = tuple[Look, Look]  # the spoiled game, and the one with the cure


def known(target: str, failure: str, cure: str, seed: int) -> list[Pair] | None:
    """The looks of two games that were recorded; None of all others."""
    if (target, failure, seed) != ("ring8", "5 turns of G", 0) or cure not in RECORDED:
        return None
    one, other = (recorded.load(RECORDED[each], Look) for each in ("", cure))
    return list(zip(one, other, strict=True))


def record() -> None:
    """Play the lanes of RECORDED anew."""
    for cure, file in RECORDED.items():
        recorded.save(file, list(lane("ring8", FAILURES["5 turns of G"] | HELP.get(cure, {}), 0)))


def watching(target: str, failure: str, cure: str, seed: int) -> Iterator[tuple[float, list[Pair]]]:
    """Both games as they go: the share done, and all looks so far."""
    spoiled = FAILURES.get(failure, {})
    pairs = zip(lane(target, spoiled, seed), lane(target, spoiled | HELP[cure], seed), strict=True)
    yield from watch(BATCHES, ((pair[0].batches, pair) for pair in pairs))


def lane(name: str, settings: Mapping[str, Any], seed: int, batches: int = BATCHES) -> Iterator[Look]:
    """One game, look by look."""
    for done, model, _ in playing(sample(name), settings, batches, seed, EVERY):
        yield look(model, name, done)


@torch.no_grad()
def look(model: GAN, name: str, done: int) -> Look:
    """Look at what a game holds now; its own random numbers are left alone."""
    result = model.generator(model.noise(SAMPLES, torch.Generator().manual_seed(7)))
    centres, sd = points.MIXTURES[name]
    mode_coverage = ModeCoverage(centres.tolist(), sd, "kl")
    mode_coverage.update(result)
    return Look(
        done,
        result[:SHOWN],
        mode_coverage.count / SAMPLES,
        float(mode_coverage.value("quality")),
        float(mode_coverage.value("kl")),
    )


def captions(looks: list[Pair]) -> list[str]:
    """Caption of both games at every look."""
    return [
        f"After {one.batches} batches G holds {held(one)}, and {one.quality:.0%} of its samples lie on one; "
        f"with the cure {held(other)}, {other.quality:.0%}."
        for one, other in looks
    ]


def held(one: Look) -> str:
    """Number of modes that it holds, in words."""
    return f"{one.even:.1f} modes"


def numbers(looks: list[Pair]) -> list[dict[str, str]]:
    """Numbers of the machine at each look: as many modes, held evenly, have the KL of the samples."""
    return [{"made": f"{other.even:.1f} modes"} for _, other in looks]


def equations(looks: list[Pair]) -> list[str]:
    """Equation of how unevenly the modes are held, LaTeX."""
    return [
        rf"\mathrm{{KL}}(\hat p\,\|\,\tfrac1K)={one.kl:.3f},\qquad\text{{with the cure }}{other.kl:.3f}"
        for one, other in looks
    ]


def evener(pair: Pair) -> str:
    """The one of OPTIONS that holds the modes more evenly; the same where their KL are within 0.1 nats."""
    one, other = pair
    return OPTIONS[2] if abs(one.kl - other.kl) < 0.1 else OPTIONS[other.kl < one.kl]
