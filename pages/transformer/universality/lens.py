"""Networks of tokens in training: their errors, the floors of what they see, outputs beside targets.

    MSE = mean over positions and sequences of (ŷ_i − y_i)²,    floors: `datamodules.sequence_targets`

Shapes: `B` sequences, `T` positions. The setting is that of `lab.bench.universality`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.sequence_targets import SequenceTargets, Target
from lab.bench import universality as bench
from lab.lenses import rewind
from modules.transformer.stack import Positions
from pages.transformer.universality.room import ALIBI, ATTENTION, NONE, STRIDE

HELD_OUT, DRAWN = 1_000, 60  # sequences that are judged, and those of them that are drawn
OPTIONS = ["0", "a floor above 0"]


@lru_cache(maxsize=16)
def held_out(target: str, length: int) -> tuple[Tensor, Tensor]:
    """Sequences and targets (HELD_OUT, T, 1), the same for every training.

    The sequences have mean 0 and covariance I exactly, so that the errors of the best outputs, where these
    are linear in x, are the floors and not a draw around them.
    """
    data = SequenceTargets(cast(Target, target), length)
    x = data.draw(HELD_OUT, 2)[0][..., 0].double()  # (N, T)
    x = x - x.mean(0)
    x = torch.linalg.solve_triangular(torch.linalg.cholesky(x.T @ x / len(x)), x.T, upper=False).T
    x = x.float()[..., None]
    return x, data.of(x)


@dataclass(frozen=True)
class Recipe(rewind.OfOneLoss):
    """A network that learns a target."""

    target: str
    network: str
    positions: str
    layers: int
    length: int
    seed: int
    stride: int = STRIDE

    @property
    def data(self) -> SequenceTargets:
        return SequenceTargets(cast(Target, self.target), self.length)

    @property
    def floor(self) -> float:
        """Least error of what the network sees."""
        return self.data.floor(self.network == ATTENTION, self.positions != NONE, self.positions == ALIBI)

    def build(self) -> bench.Network:
        return bench.Network(
            self.length, self.network == ATTENTION, cast(Positions, self.positions), self.layers
        )

    def loss(self, model: bench.Network, knobs: Mapping[str, float], generator: torch.Generator) -> Tensor:
        """Mean squared error of new sequences."""
        x, y = self.data.draw(bench.BATCH, int(torch.randint(2**31, (), generator=generator)))
        return F.mse_loss(model(x), y)

    def look(self, model: bench.Network, knobs: Mapping[str, float]) -> dict[str, np.ndarray]:
        """error: of the held-out sequences; outputs: (DRAWN, T)."""
        x, y = held_out(self.target, self.length)
        outputs = model(x)
        return {"error": F.mse_loss(outputs, y).numpy(), "outputs": outputs[:DRAWN, :, 0].numpy()}


def targets(target: str, length: int) -> np.ndarray:
    """Targets of the sequences that are drawn, (DRAWN, T)."""
    values: np.ndarray = held_out(target, length)[1][:DRAWN, :, 0].numpy()
    return values


# --- In words ----------------------------------------------------------------------------------------


def draws(recipe: Recipe) -> str:
    """How exact the floor is for the sequences that are judged."""
    linear = recipe.target != "sort" or recipe.positions == NONE or recipe.floor == 0
    how = "have mean 0 and covariance I exactly" if linear else "may by chance have a little less"
    return f": the {HELD_OUT:,} held-out sequences {how}"


def formula(recipe: Recipe) -> str:
    """The floor as a formula of T, LaTeX."""
    attends, placed = recipe.network == ATTENTION, recipe.positions != NONE
    T, even = recipe.length, recipe.length % 2 == 0
    if attends and recipe.positions == ALIBI and recipe.floor:
        return f"{recipe.floor:.4g}"
    if attends and (placed or recipe.target == "mean"):
        return "0"
    if recipe.target == "mean":
        return rf"\frac{{T - 1}}{{T^2}} = {recipe.floor:.4f}"
    if recipe.target == "reverse" and even:
        return "1" if not attends else (rf"1 - \frac{{1}}{{T - 1}} = {recipe.floor:.4f}" if T > 2 else "0")
    if not attends and placed and recipe.target == "sort":
        return f"{recipe.floor:.4f}"
    square = "" if attends or placed else "^2"
    return rf"1 - \frac{{1}}{{T{square}}} = {recipe.floor:.4f}"


def captions(frames: Sequence[rewind.Frame], recipe: Recipe) -> list[str]:
    """Error at each frame beside the floor."""
    return [
        f"After {number * STRIDE} steps the squared error of {HELD_OUT:,} new sequences is "
        f"{float(frame['error']):.4f}; the floor of this network is {recipe.floor:.4f}."
        for number, frame in enumerate(frames)
    ]


def equations(frames: Sequence[rewind.Frame], recipe: Recipe) -> list[str]:
    """Error and floor, LaTeX."""
    return [
        rf"\mathrm{{MSE}} = \text{{mean}}\,(\hat y_i - y_i)^2 = {float(frame['error']):.4f},\qquad "
        rf"f = {formula(recipe)}"
        for frame in frames
    ]
