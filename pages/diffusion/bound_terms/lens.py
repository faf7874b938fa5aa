"""The bound of one picture in bits, term by term: any chain, any σ², any network of digits."""

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses.bound_terms import (
    VARIANCES,
    Asked,
    Bits,
    ask,
    of_model,
    picture,
    schedule_of,
    terms,
    variance,
)
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.schedule import Schedule
from pages.diffusion.bound_terms.room import BOUND, DDPM, LEARNED


def of_digits(experiment: Experiment) -> bool:
    """Check whether an experiment trains a denoiser of digits."""
    return experiment.module.endswith(".ImageDDPM") and experiment.datamodule.endswith((".Digits", ".MNIST"))


def kinds_of(model: GaussianDiffusion) -> list[str]:
    """The σ² among which this model can choose."""
    return [*VARIANCES, *([LEARNED] if model.variance == LEARNED else [])]


def spent(
    model: GaussianDiffusion, schedule: Schedule, x: Tensor, kind: str, seed: int = 0, clip: bool = False,
    asked: Asked | None = None,
) -> Bits:  # fmt: skip
    """The `terms` of one picture with a σ² of `kinds_of` the model."""
    square = None if kind == LEARNED else variance(model, schedule, kind, clip)
    return terms(model, schedule, x, square, seed, clip, asked)


def every(model: GaussianDiffusion, kind: str, T: int, image: str, seed: int, clip: bool) -> dict[str, Bits]:
    """Those of each σ² of `kinds_of` the model."""
    result, x = schedule_of(kind, T), picture(image, *of_model(model))  # type: ignore[arg-type]
    asked = ask(model, result, x, seed, clip)
    return {which: spent(model, result, x, which, seed, clip, asked) for which in kinds_of(model)}


@dataclass(frozen=True)
class Column:
    """The steps t = first … last, and `shown`, the one in the middle of their logarithms."""

    first: int
    last: int

    @property
    def shown(self) -> int:
        return round(math.sqrt(self.first * self.last))

    @property
    def name(self) -> str:
        return f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"

    def bits(self, bits: Bits) -> float:
        return float(bits.terms[self.first - 1 : self.last].sum())


def columns(T: int) -> list[Column]:
    """t = 1 and t = T alone, and three ranges between them, equally wide on a logarithmic axis."""
    edges = [round(2 * (T / 2) ** share) for share in (0, 1 / 3, 2 / 3, 1)]
    return [Column(1, 1), *(Column(a, b - 1) for a, b in pairwise(edges)), Column(T, T)]


def strip(bits: Bits, among: list[Column]) -> Tensor:
    """x_t over x̂_0 at the middle of each of the columns, (2, C, S, S)."""
    shown = [column.shown - 1 for column in among]
    return torch.stack([bits.noisy[shown], bits.clean[shown]])


def places(bits: Bits, among: list[Column]) -> list[int]:
    """Column that has the t of each frame."""
    return [next(i for i, column in enumerate(among) if t <= column.last) for t in bits.times]


def others(
    model: GaussianDiffusion, usual: GaussianDiffusion, on_the_bound: GaussianDiffusion,
    kind: str, T: int, image: str, seed: int, clip: bool,
) -> dict[str, Bits]:  # fmt: skip
    """Those of the two networks, or of that which is not the model, each with the σ² of its training; none
    beside a network of other pictures."""
    if of_model(model) != of_model(usual):
        return {}
    result, x = schedule_of(kind, T), picture(image)  # type: ignore[arg-type]
    beside = {DDPM: usual, BOUND: on_the_bound}
    return {
        f"{name}, {one.variance}": spent(one, result, x, one.variance, seed, clip)
        for name, one in beside.items()
        if one is not model
    }


def captions(bits: Bits) -> list[str]:
    """Caption of the cost of the step at each frame."""
    return [
        f"t = {t}: {float(bits.terms[t - 1]):.3g} bits; all up to here "
        f"{float(bits.so_far[t - 1]):.1f} of {bits.total:.1f}."
        for t in bits.times
    ]
