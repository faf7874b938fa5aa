r"""A game of two networks in training, round by round, and what tells how far it is.

A round: n_D turns of D, then n_G turns of G, each on a batch of its own; 0 lets a player stand still.

    D_JS(p, q) ≥ log 2 − L_D / 2      for any D, of L_D = −E log D(x) − E log(1 − D(x*)); = for the best D

so D's loss on new points tells a distance that D has found, and a histogram another: p and q are counted in
square cells, whose Jensen–Shannon divergence is at most that of the points.

Shapes: see `lab.lenses.plane_games`. Nats.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import games, plane_games, recorded, rewind
from lab.lenses.ink import Distribution
from lab.lenses.plane_games import ARROWS, REACH, SHOWN, Look
from lab.seeding import seeded
from modules.adversarial.alternating import Update
from modules.adversarial.divergences import LOG2, jensen_shannon
from modules.adversarial.gan import GAN
from modules.adversarial.losses import LOSSES, Saturating
from pages.adversarial.live_gan.room import FIRST, MOST, OWN, TURNS, WITHIN

CELLS = 46  # of the histogram, a side
SIDE = 2 * REACH / CELLS  # of a cell
LOW, ROOM = 2.9, 0.7  # of the window: least height above 0, and room beyond the data
TRAIN, TEST, COUNTED, DRAWN = 20_000, 5_000, 200_000, 10_000
# the poster's game: its data, loss, seed; its last frame; its file
POSTER, LAST, FILE = ("ring8", "non-saturating", 0), 50, "live-gan"


@lru_cache(maxsize=8)
def split(distribution: Distribution, part: int) -> Tensor:
    """The points of a distribution to train on (part 1), and new ones (part 3)."""
    return distribution.sample(TRAIN if part == 1 else TEST, seed=part)


def height(data: Tensor) -> float:
    """Height of the window above and below 0 that the data (N, 2) need, with room for points that miss
    them."""
    return min(REACH, max(LOW, float(data[:, 1].abs().max()) + ROOM))


@lru_cache(maxsize=8)
def shares(distribution: Distribution) -> Tensor:
    """Shares of a distribution in each cell of the histogram, CELLS² + 1."""
    return histogram(distribution.sample(COUNTED, seed=2))


def histogram(x: Tensor) -> Tensor:
    """Share of points (N, 2) in each cell, float64; the last cell is all that lies outside the window."""
    cell = ((x + REACH) / SIDE).floor().long()
    inside = ((cell >= 0) & (cell < CELLS)).all(1)
    number = torch.where(inside, cell[:, 1] * CELLS + cell[:, 0], CELLS**2)
    return number.bincount(minlength=CELLS**2 + 1).double() / len(x)


def knobs(
    turns: str = "1 and 1", d_rate: float = games.RATE, g_rate: float = games.RATE, batch: int = games.BATCH
) -> dict[str, float]:
    """By the names that stand in the link."""
    d, g = TURNS[turns]
    return dict(d=d, g=g, d_rate=d_rate, g_rate=g_rate, batch=batch)


@dataclass(frozen=True)
class GameRecipe:
    """The bench's game with one of its losses, on the points of a distribution."""

    distribution: Distribution
    loss: str
    seed: int
    stride: int = 20

    def build(self) -> GAN:
        return games.network(games.LOSSES[self.loss])

    def optimizers(self, model: GAN) -> dict[str, torch.optim.Optimizer]:
        return games.adams(model)

    def step(
        self, model: GAN, optimizers: rewind.Optimizers, knobs: Mapping[str, float],
        generator: torch.Generator,
    ) -> None:  # fmt: skip
        """A round."""
        rewind.set_rate(optimizers["generator"], knobs["g_rate"])
        rewind.set_rate(optimizers["discriminator"], knobs["d_rate"])
        games.take(self.round(model, knobs, generator), model.players(), optimizers)

    def round(self, model: GAN, knobs: Mapping[str, float], generator: torch.Generator) -> Iterator[Update]:
        x = split(self.distribution, 1)

        def batch() -> Tensor:
            return x[torch.randint(len(x), (int(knobs["batch"]),), generator=generator)]

        for _ in range(int(knobs["d"])):
            yield from model.update_discriminator(batch(), generator)
        for _ in range(int(knobs["g"])):
            yield from model.update_generator(batch(), generator)

    def look(self, model: GAN, knobs: Mapping[str, float]) -> dict[str, np.ndarray]:
        """made, surface (a byte a place), arrows, w1, modes, quality as of the bench's `Look`; losses (2,) of
        D and G on new points; js, of the histograms. NaN where the game has run away."""
        x = split(self.distribution, 3)
        result = model.generator(model.noise(DRAWN, torch.Generator().manual_seed(self.seed)))
        real, fake = model.discriminate(x), model.discriminate(result[: len(x)])
        losses = torch.stack([model.gan_loss.discriminator(real, fake), model.gan_loss.generator(fake, real)])
        if not (result.isfinite().all() and losses.isfinite().all()):
            return ruined()
        with torch.enable_grad():  # the arrows are a slope
            results = plane_games.look(model, x, self.distribution.name, 0)
        return {
            "made": results.made.numpy(),
            "surface": (255 * results.surface).round().to(torch.uint8).numpy(),
            "arrows": results.arrows.numpy(),
            "w1": np.array(results.w1, np.float32),
            "modes": np.array(math.nan if results.modes is None else results.modes, np.float32),
            "quality": np.array(math.nan if results.quality is None else results.quality, np.float32),
            "losses": losses.numpy(),
            "js": jensen_shannon(shares(self.distribution), histogram(result)).float().numpy(),
        }

    @property
    def tells(self) -> bool:
        """Check whether D's loss bounds the Jensen–Shannon divergence."""
        return issubclass(LOSSES[games.LOSSES[self.loss]["loss"]], Saturating)  # type: ignore[arg-type]


def recipe(law: str, ink: Tensor | None, loss: str, seed: int) -> GameRecipe:
    """The game on a shape by its name, or on the ink of a drawing (S, S).

    Raises:
        UserError: nothing is drawn.
    """
    if law != OWN:
        return GameRecipe(Distribution(law), loss, seed)
    if ink is None or not ink.any():
        raise UserError("There is nothing on the pad: draw where the points should lie.")
    return GameRecipe(Distribution(law, tuple(map(tuple, ink.tolist()))), loss, seed)


def first() -> rewind.History:
    """Every knob as it stands at first."""
    return rewind.parse(f"0:{FIRST}", WITHIN, MOST)


def known(law: str, loss: str, seed: int) -> rewind.Run | None:
    """The game that was recorded; None of all others."""
    if (law, loss, seed) != POSTER:
        return None
    return rewind.Run(recipe(law, None, loss, seed), first(), frames=recorded.load_frames(FILE))


def record() -> None:
    """Play the game of the poster anew."""
    law, loss, seed = POSTER
    run = rewind.Run(recipe(law, None, loss, seed), first())
    run.advance(LAST, math.inf)
    recorded.save_frames(FILE, run.frames())


def untrained(loss: str) -> GAN:
    """The two networks of a game as they begin: what they are made of."""
    return seeded(lambda: games.network(games.LOSSES[loss]), 0)


def ruined() -> dict[str, np.ndarray]:
    """The frame of a game whose numbers have run away."""
    lost = np.array(math.nan, np.float32)
    return {
        "made": np.full((SHOWN, 2), lost),
        "surface": np.zeros((plane_games.SIDE, plane_games.SIDE), np.uint8),
        "arrows": np.full((ARROWS, 2), lost), "w1": lost, "modes": lost, "quality": lost,
        "losses": np.full(2, lost), "js": lost,
    }  # fmt: skip


@dataclass(frozen=True)
class Panel:
    """Curves that share an ordinate.

    Attributes:
        title: above the lines.
        lines: name -> (F,) values.
        span: of the ordinate; None fits it to the lines.
        level: height of a dotted line.
    """

    title: str
    lines: Mapping[str, Sequence[float]]
    span: tuple[float, float] | None = None
    level: float | None = None


def panels(frames: Sequence[rewind.Frame], tells: bool, count: int) -> list[Panel]:
    """The measures of a game; `count` modes of the data are known."""
    distance = {"histograms": rewind.stacked(frames, "js").tolist()}
    if tells:
        distance["log 2 − L_D/2"] = js_estimates(frames)
    w1 = rewind.stacked(frames, "w1").tolist()
    shares = {
        "modes reached": [float(frame["modes"]) / max(1, count) for frame in frames],
        "samples near": [float(frame["quality"]) for frame in frames],
    }
    return [
        Panel("Jensen–Shannon divergence", distance, (-0.15, 0.78), LOG2),
        Panel("shares", shares, (-0.05, 1.08))
        if count
        else Panel("Wasserstein distance", {"W₁": w1}, (0.0, 1.1 * float(np.nanmax(w1)))),
    ]


def looks(frames: Sequence[rewind.Frame], stride: int) -> list[Look]:
    """The frames as the bench draws them."""
    return [
        Look(
            number * stride, torch.from_numpy(frame["made"]), torch.from_numpy(frame["surface"]) / 255,
            torch.from_numpy(frame["arrows"]), float(frame["w1"]), *counts(frame),
        )
        for number, frame in enumerate(frames)
    ]  # fmt: skip


def counts(frame: rewind.Frame) -> tuple[int | None, float | None]:
    """Modes that are reached, and the share of samples near one; None where no modes are known."""
    modes = float(frame["modes"])
    return (None, None) if math.isnan(modes) else (int(modes), float(frame["quality"]))


def js_estimates(frames: Sequence[rewind.Frame]) -> list[float]:
    """log 2 − L_D / 2 at every frame."""
    return [LOG2 - float(frame["losses"][0]) / 2 for frame in frames]
